#include "app/page.h"

#include "app/analyze_state.h"
#include "app/gpu_work.h"
#include "app/page_links.h"
#include "app/rank_needs.h"
#include "app/sweep_pages.h"
#include "app/top_parts.h"
#include "base/counters.h"
#include "base/pointers.h"
#include "engine/rank_source.h"
#include "engine/shard_file.h"
#include "engine/spilled_bytes.h"
#include "os/output_file.h"
#include "pages/data/comparison_data.h"
#include "pages/data/run_page.h"
#include "pages/data/shown_ranks.h"
#include "pages/data/sweep_data.h"
#include "pages/page_file.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace rankscope {
namespace {

/// The page data of all ranks. If there are more ranks than a page shows separately, the data are
/// put in a store; memory contains only rank numbers and times.
class RankPages {
public:
  explicit RankPages(std::size_t ranks) : aside_(ranks > ShownRanks::kMost) {}

  Result<void> put(std::int64_t rank, RankPage page) {
    page.rank = rank;
    if (!aside_) {
      pages_.insert_or_assign(rank, std::move(page));
      return {};
    }
    const std::string bytes = page_bytes(page);
    RankPage head;
    head.rank = rank;
    head.start_ns = page.start_ns;
    head.end_ns = page.end_ns;
    head.base_ns = page.base_ns;
    RS_TRY(const std::uint64_t at, store_.put(bytes));
    places_.insert_or_assign(rank, std::pair(at, bytes.size()));
    pages_.insert_or_assign(rank, std::move(head));
    return {};
  }
  /// Moves the pages to `to`, ascending by rank. Pages in the store are still loaded through this
  /// object.
  void give(RunPageInput& to) {
    for (auto& [rank, page] : pages_)
      to.ranks.push_back(std::move(page));
    if (aside_)
      to.load_rank = [this, &to](std::size_t at) { return load(to.ranks[at].rank); };
  }

private:
  Result<RankPage> load(std::int64_t rank) const {
    const auto [at, size] = places_.at(rank);
    RS_TRY(const std::string bytes, store_.get(at, size));
    RS_TRY(RankPage page, page_of_bytes(bytes));
    page.rank = rank;
    return page;
  }

  bool aside_;
  std::map<std::int64_t, RankPage> pages_;
  std::map<std::int64_t, std::pair<std::uint64_t, std::size_t>> places_;
  SpilledBytes store_;
};

Result<std::size_t> write_page(OutputFile file, const std::string& title, const std::string& blob) {
  RS_TRY(const std::string text, page_text(title, blob));
  file.write(text);
  RS_CHECK(file.commit());
  return text.size();
}

/// Returns the links of an input folder; inputs that are files have no links.
std::vector<PageLink> links_of(const PageRequest& request) {
  std::error_code ec;
  if (request.run.inputs.size() != 1 ||
      !std::filesystem::is_directory(request.run.inputs.front(), ec))
    return {};
  return links_to_outputs(request.run.inputs.front(), request.output);
}

/// Returns the facts of a sweep that analyze has not processed.
Result<SweepFacts> read_sweep(Session& session, const std::vector<RunPlan>& plans,
                              const PageRequest& request) {
  std::vector<ConfigResult> configs(plans.size());
  std::vector<std::vector<GemmFacts>> gemms(plans.size());
  std::vector<std::vector<RankCollectives>> collectives(plans.size());
  std::vector<std::vector<RankIdentity>> identities(plans.size());
  for (std::size_t p = 0; p < plans.size(); ++p)
    configs[p].configuration = plans[p].configuration;
  Needs needs;
  const SweepPageNeeds keys(needs, request.run.report);
  FactSteps steps{needs, {}};
  steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
    name_rank(item, facts[keys.record]);
    name_rank(item, facts[keys.gemms]);
    configs[item.plan_index].records.push_back(std::move(facts[keys.record]));
    gemms[item.plan_index].push_back(std::move(facts[keys.gemms]));
    collectives[item.plan_index].push_back(std::move(facts[keys.collectives]));
    identities[item.plan_index].push_back(std::move(facts[keys.identity]));
    return {};
  };
  steps.usable = [&](const RankItem& item, RankFacts& facts) {
    return require_gpu_work(item.file.path, facts[keys.notes].diagnostics);
  };
  steps.lost = [&](const RankItem& item, const Error& error) {
    add_lost_rank(configs[item.plan_index], item.file.rank, error);
  };
  RankRun run;
  run.memory_bytes = request.run.memory_bytes;
  run.progress = true;
  RS_CHECK(run_ranks(session, pointers_to(plans), run, std::move(steps)));
  for (std::size_t p = 0; p < plans.size(); ++p) {
    configs[p].gemms = join_gemm_facts(pointers_to(gemms[p]), GemmRanking::kRange);
    if (const Result<CollectiveFacts> facts = collective_facts(collectives[p], {}))
      set_collectives(configs[p], *facts, identities[p]);
  }
  return facts_of(configs, kGemmsOfPage, GemmRanking::kRange);
}

/// Returns the number of ranks that determines the page's detail. For parts, this is the number of
/// ranks that they were made for.
std::size_t ranks_of_page(Session& session, const RunPlan& plan) {
  const std::size_t ranks = plan.ranks.size(), planned = ranks_of_run(plan);
  if (planned != ranks)
    session.diagnostics.add(counters::page_detail(planned, ranks), plan.folder);
  return planned;
}

Result<PageResult> page_of_run(Session& session, const PageRequest& request, const RunPlan& plan) {
  RS_TRY(OutputFile file, OutputFile::create(request.output));
  TopRequest all = request.run;
  all.top_k = 0;
  RankPages pages(plan.ranks.size());
  TopAlso also;
  const FactOf<RankPage> page = need_page(also.needs, all.report, ranks_of_page(session, plan));
  also.use = [&](const RankItem& item, RankFacts& facts) {
    return pages.put(item.file.rank, std::move(facts[page]));
  };
  RS_TRY(TopRead read, read_top(session, plan, all, std::move(also)));
  const std::optional<CollectiveFacts> collectives = collectives_of_top(read.parts);
  const CollectiveFacts* const facts = collectives ? &*collectives : nullptr;
  RS_TRY(const TopFacts top, combine_top(session, plan, read.parts, facts, all, &read.cached));
  RunPageInput input{&top, &read.parts, facts, {}, {}, request.command, links_of(request)};
  if (read.cached.causes)
    input.path = std::move(read.cached.causes->path);
  pages.give(input);
  PageResult out{"run", input.ranks.size(), 0};
  RS_TRY(const std::string blob, run_page_data(input));
  RS_TRY(out.bytes, write_page(std::move(file), top.overview.title, blob));
  return out;
}

Result<PageResult> page_of_sweep(Session& session, OutputFile file, const SweepFacts& facts,
                                 const PageRequest& request) {
  const std::string& folder = request.run.inputs.front();
  if (facts.empty())
    return no_rank_left(session, folder);
  const SweepPageInput input{&facts, leaf_name(folder), request.command, links_of(request)};
  PageResult out{"sweep", facts.records.size(), 0};
  RS_TRY(out.bytes, write_page(std::move(file), input.title, sweep_page_data(input)));
  return out;
}

} // namespace

std::string command_of_page(const std::vector<std::string>& inputs, const std::string& output) {
  std::vector<std::string> words = {"rankscope", "page"};
  words.insert(words.end(), inputs.begin(), inputs.end());
  words.insert(words.end(), {"-o", output});
  return shell_text(words);
}

std::string command_of_comparison_page(const std::vector<std::string>& folders,
                                       const std::string& output) {
  std::vector<std::string> words = {"rankscope", "page"};
  for (std::size_t i = 0; i < folders.size(); ++i)
    words.insert(words.end(), {i == 0 ? "--baseline" : "--test", folders[i]});
  words.insert(words.end(), {"-o", output});
  return shell_text(words);
}

PageDetail page_detail(std::size_t ranks) {
  PageDetail out;
  if (ranks <= 1)
    return out;
  out.events = std::max<std::size_t>(2000, 480'000 / ranks);
  out.columns = std::clamp<std::size_t>(16'384 / ranks, 256, 1024);
  out.tiles = out.columns / 4;
  out.kernels = false;
  return out;
}

Result<PageResult> write_run_page(Session& session, const PageRequest& request) {
  RS_CHECK(can_make_pages());
  RS_TRY(const RunPlan plan, plan_top(session, request.run));
  return page_of_run(session, request, plan);
}

bool is_sweep(const Session& session, const PageRequest& request) {
  const std::vector<std::string>& inputs = request.run.inputs;
  std::error_code ec;
  if (session.source == nullptr &&
      (inputs.size() != 1 || !std::filesystem::is_directory(inputs.front(), ec)))
    return false;
  Diagnostics aside;
  const Result<std::vector<RunPlan>> plans =
      find_sweep(session, inputs.front(), request.run.discover, aside);
  return plans && plans->size() > 1;
}

Result<PageResult> write_sweep_data_page(Session& session, const PageRequest& request) {
  RS_CHECK(can_make_pages());
  const std::string& folder = request.run.inputs.front();
  RS_TRY(OutputFile file, OutputFile::create(request.output));
  if (session.source == nullptr)
    if (const Result<SweepFacts> facts = load_analysed(folder))
      return page_of_sweep(session, std::move(file), *facts, request);
  RS_TRY(const std::vector<RunPlan> plans,
         find_sweep(session, folder, request.run.discover, session.diagnostics));
  RS_TRY(const SweepFacts facts, read_sweep(session, plans, request));
  return page_of_sweep(session, std::move(file), facts, request);
}

Result<PageResult> write_comparison_page(Session& session, const PageRequest& request,
                                         const CompareRequest& runs) {
  RS_CHECK(can_make_pages());
  RS_TRY(OutputFile file, OutputFile::create(request.output));
  CompareRequest quiet = runs;
  quiet.write_reports = false;
  RS_TRY(const Comparison comparison, load_comparison(session, quiet));
  const ComparisonFindings findings = comparison_findings(comparison);
  const ComparisonPageInput input{&comparison, &findings, runs.folders, request.command};
  PageResult out{"comparison", comparison.base.ranks.size(), 0};
  for (const ComparedRun& test : comparison.tests)
    out.ranks += test.ranks.size();
  RS_TRY(out.bytes, write_page(std::move(file), "comparison with " + comparison.base.label,
                               comparison_page_data(input)));
  return out;
}

} // namespace rankscope
