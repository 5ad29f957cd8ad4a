#include "app/partial.h"

#include "app/analyze.h"
#include "app/baseline.h"
#include "app/collectives.h"
#include "app/compare.h"
#include "app/individual_report.h"
#include "app/page.h"
#include "app/part_set.h"
#include "app/rank_needs.h"
#include "base/counters.h"
#include "base/pointers.h"
#include "model/gpu_arch.h"
#include "os/output_file.h"
#include "os/scratch_folder.h"
#include "os/whole_file.h"
#include "readers/trace_stamp.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Takes a file of parts that is finished.
using Sink = std::function<Result<void>(PartFile)>;

/// One run of `partial`.
class Partial {
public:
  Partial(Session& session, const PartialRequest& request, Sink sink, std::string folder)
      : session_(session), request_(request), sink_(std::move(sink)), folder_(std::move(folder)) {}

  Result<PartialResult> operator()() {
    RS_CHECK(discover());
    std::optional<ScratchFolder> scratch;
    if (request_.wanted.analyze)
      reports_.emplace(kAnalyzeReport, analyze_options());
    if (request_.wanted.compare)
      reports_.emplace(kCompareReport, compare_report_options());
    if (!reports_.empty()) {
      RS_TRY(ScratchFolder made, ScratchFolder::create());
      scratch_ = scratch.emplace(std::move(made)).path();
    }
    std::vector<RunPlan> plans = choose();
    RS_CHECK(reuse(plans));
    RS_CHECK(extract(plans));
    name_replaced();
    RS_CHECK(put({shard_file_name(shard_.index, shard_.count), encode_shard_file(shard_)}));
    out_.folder = folder_;
    return std::move(out_);
  }

  Result<std::vector<PlannedPart>> plan() {
    RS_CHECK(discover());
    const std::vector<RunPlan> all = choose();
    std::vector<RunPlan> missing = all;
    RS_CHECK(reuse(missing));
    std::set<std::string> absent;
    for (const RunPlan& plan : missing)
      for (const RankFile& file : plan.ranks)
        absent.insert(rank_part_name(file));
    std::vector<PlannedPart> out;
    for (const RunPlan& plan : all)
      for (const RankFile& file : plan.ranks) {
        const std::string part = rank_part_name(file);
        out.push_back({plan.configuration.label, file, part, absent.count(part) == 0});
      }
    return out;
  }

private:
  Result<void> discover() {
    if (request_.shard_count == 0 || request_.shard_index >= request_.shard_count)
      return Error{
          ErrorCode::kUsage, "partial",
          fmt::format("there is no shard {} of {}", request_.shard_index, request_.shard_count),
          "--shard I/N with I from 0 to N - 1"};
    std::error_code ec;
    shard_.index = request_.shard_index;
    shard_.count = request_.shard_count;
    shard_.local = request_.local;
    shard_.inputs = request_.inputs;
    shard_.one_file = request_.inputs.size() == 1 && !fs::is_directory(request_.inputs.front(), ec);
    DiscoverOptions options_here = request_.discover;
    if (request_.local)
      options_here.require_all_ranks = false; // the others are on other nodes
    Result<RunPlan> run = discover_run(request_.inputs, options_here, shard_.run.diagnostics);
    if (run)
      shard_.run.plans.push_back({std::move(*run), {}});
    else
      shard_.run.error = run.error();
    // a second listing, whose heads of files are read again: only for those that take a sweep
    if (!request_.wanted.analyze && !request_.wanted.page) {
      shard_.sweep.error = Error{ErrorCode::kUsage, "", "no sweep was asked for", ""};
    } else if (request_.inputs.size() == 1) {
      Result<std::vector<RunPlan>> sweep =
          discover_sweep(request_.inputs.front(), options_here, shard_.sweep.diagnostics);
      if (sweep)
        for (RunPlan& plan : *sweep)
          shard_.sweep.plans.push_back({std::move(plan), {}});
      else
        shard_.sweep.error = sweep.error();
    } else {
      shard_.sweep.error = Error{ErrorCode::kUsage, "", "a sweep is one folder", ""};
    }
    if (shard_.run.error && shard_.sweep.error)
      return *shard_.run.error;
    if (shard_.local)
      ask_heads();
    for (KnownPlans* of : {&shard_.run, &shard_.sweep})
      for (const KnownPlan& known : of->plans)
        for (const RankFile& file : known.plan.ranks)
          shard_.modified_ns.emplace(file.path, trace_stamp(file.path).changed_ns);
    PartOptions& options = shard_.options;
    options.wanted = request_.wanted;
    options.gpu_arch = request_.gpu_arch;
    if (!request_.gpu_arch.empty() && request_.gpu_arch != "none")
      RS_CHECK(load_gpu_arch(request_.gpu_arch)); // else each rank would be lost by it
    if (fs::is_regular_file(request_.gpu_arch, ec))
      options.gpu_arch_mark = content_mark(request_.gpu_arch);
    options.top_k = request_.top_k;
    options.rank_by = request_.rank_by;
    options.legacy_gemm_layout = request_.legacy_gemm_layout;
    shard_.page_ranks = page_ranks();
    return {};
  }

  /// How many ranks the run has by the heads of its traces: no shard sees all of them.
  void ask_heads() {
    std::map<std::string, std::optional<std::int64_t>> worlds;
    for (KnownPlans* of : {&shard_.run, &shard_.sweep})
      for (KnownPlan& known : of->plans)
        for (const RankFile& file : known.plan.ranks) {
          const auto [at, fresh] = worlds.emplace(file.path, std::nullopt);
          if (fresh)
            at->second = inspect_file(file.path, request_.discover.known).world_size;
          if (at->second)
            ++known.worlds[*at->second];
        }
  }

  /// Whether a page of the parts may be that of a sweep.
  [[nodiscard]] bool of_a_sweep() const { return shard_.local || shard_.sweep.plans.size() > 1; }

  [[nodiscard]] std::size_t page_ranks() const {
    if (request_.world_size > 0)
      return request_.world_size;
    if (shard_.run.plans.empty())
      return 0;
    const KnownPlan& known = shard_.run.plans.front();
    std::size_t ranks = known.plan.ranks.size();
    for (const auto& [world, heads] : known.worlds)
      if (world > 0 && world <= std::int64_t{1} << 20)
        ranks = std::max(ranks, static_cast<std::size_t>(world));
    return ranks;
  }

  /// The ranks of this shard, each trace once: as the sweep has them, then what only the run has.
  /// What the run lacks is said by reduce: it is no fault of a shard.
  std::vector<RunPlan> choose() {
    std::vector<RunPlan> out;
    std::set<std::string> seen;
    std::size_t at = 0;
    const auto add = [&](const KnownPlans& of) {
      for (const KnownPlan& known : of.plans) {
        RunPlan mine = known.plan;
        mine.ranks.clear();
        for (const RankFile& file : known.plan.ranks)
          if (seen.insert(rank_part_name(file)).second &&
              (shard_.local || at++ % shard_.count == shard_.index))
            mine.ranks.push_back(file);
        out_.ranks += mine.ranks.size();
        out.push_back(std::move(mine));
      }
    };
    add(shard_.sweep);
    add(shard_.run);
    return out;
  }

  /// Of another run in the same folder the parts stay, and nobody reads them any more.
  void name_replaced() {
    if (folder_.empty())
      return;
    const std::string path = folder_ + "/" + shard_file_name(shard_.index, shard_.count);
    const Result<std::string> bytes = read_own(path);
    const Result<ShardFile> before = bytes ? decode_shard_file(*bytes) : bytes.error();
    if (before && before->inputs != shard_.inputs)
      session_.diagnostics.add(
          counters::parts_replaced(fmt::format("{}", fmt::join(before->inputs, ", "))), path);
  }

  /// Takes out the ranks whose parts are there and are of these traces and options. Errors: kOutput
  /// for a part of another node's trace that is called the same.
  Result<void> reuse(std::vector<RunPlan>& plans) {
    const std::string options = shard_.options.text();
    std::optional<Error> of_another_node;
    for (RunPlan& plan : plans) {
      for (const RankFile& file : plan.ranks)
        marks_[rank_part_name(file)] =
            trace_stamp(file.path).text() +
            (request_.wanted.page
                 ? fmt::format(" {}{}", shard_.page_ranks, of_a_sweep() ? " sweep" : "")
                 : "");
      if (request_.force || folder_.empty())
        continue;
      std::erase_if(plan.ranks, [&](const RankFile& file) {
        const std::string name = rank_part_name(file);
        std::error_code ec;
        if (!fs::exists(folder_ + "/" + name, ec))
          return false;
        const Result<std::string> bytes = read_own(folder_ + "/" + name);
        const Result<RankParts> parts = bytes ? decode_rank_parts(*bytes) : bytes.error();
        const auto by = parts && shard_.local ? parts->node : std::nullopt;
        if (by && by->count == shard_.count && by->index != shard_.index)
          of_another_node = Error{
              ErrorCode::kOutput, folder_ + "/" + name,
              fmt::format("is shard {}'s, whose node calls its trace {} too", by->index, file.path),
              "give each node a folder of parts: reduce takes several"};
        if (!parts || parts->options != options || parts->mark != marks_[name] ||
            parts->node != node() || parts->lost || !has_reports(name))
          return false;
        ++out_.reused;
        out_.trace_bytes += file.bytes;
        out_.part_bytes += bytes->size();
        return true;
      });
    }
    std::erase_if(plans, [](const RunPlan& plan) { return plan.ranks.empty(); });
    if (of_another_node)
      return *of_another_node;
    return {};
  }

  [[nodiscard]] bool has_reports(const std::string& part) const {
    return std::all_of(reports_.begin(), reports_.end(), [&](const auto& report) {
      std::error_code ec;
      return fs::exists(folder_ + "/" + report_name(part, report.first), ec);
    });
  }

  Result<void> extract(const std::vector<RunPlan>& plans) {
    if (plans.empty())
      return {};
    RankRun run;
    run.memory_bytes = request_.memory_bytes;
    run.progress = true;
    std::optional<Error> failed;
    const Needs needs = wanted_needs();
    FactSteps steps{needs, {}};
    steps.also = [this](const RankItem& item, const LoadedTrace& trace) {
      return write_reports(item, trace);
    };
    steps.take = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
      if (failed)
        return *failed;
      out_.trace_bytes += item.file.bytes;
      RankParts parts = begin(item);
      needs.hold(facts, parts);
      for (const auto& [kind, report] : reports_) {
        const std::string name = report_name(rank_part_name(item.file), kind);
        RS_TRY(std::string bytes, take_file(scratch_ + "/" + name));
        RS_CHECK(put({name, std::move(bytes)}));
      }
      return put({rank_part_name(item.file), encode_rank_parts(parts)});
    };
    steps.lost = [&](const RankItem& item, const Error& error) {
      RankParts parts = begin(item);
      parts.lost = error;
      ++out_.lost;
      if (Result<void> done = put({rank_part_name(item.file), encode_rank_parts(parts)}); !done)
        failed = done.error();
    };
    RS_CHECK(run_ranks(session_, pointers_to(plans), run, std::move(steps)));
    if (failed)
      return *failed;
    return {};
  }

  [[nodiscard]] std::optional<NodeShard> node() const {
    return shard_.local ? std::optional(NodeShard{shard_.index, shard_.count}) : std::nullopt;
  }

  [[nodiscard]] RankParts begin(const RankItem& item) const {
    RankParts parts;
    parts.rank = item.file.rank;
    parts.path = item.file.path;
    parts.rank_in_file = item.file.rank_in_file;
    parts.options = shard_.options.text();
    parts.mark = marks_.at(rank_part_name(item.file));
    parts.trace_bytes = item.file.bytes;
    parts.modified_ns = shard_.modified_ns.at(item.file.path);
    parts.node = node();
    return parts;
  }

  /// What the commands need that the parts are for.
  [[nodiscard]] Needs wanted_needs() const {
    Needs needs;
    const CollectivesNeeds collectives(needs);
    const PartsFor& wanted = shard_.options.wanted;
    if (wanted.analyze)
      const AnalyzeNeeds analyze(needs, {analyze_options(), request_.top_k, request_.rank_by});
    if (wanted.compare)
      const CompareNeeds compare(needs);
    if (wanted.page) {
      const ReportOptions report = page_options(shard_.options);
      const TopNeeds top(needs, report);
      (void)need_page(needs, report, shard_.page_ranks);
      if (of_a_sweep())
        const SweepPageNeeds page(needs, report);
    }
    return needs;
  }

  [[nodiscard]] ReportOptions analyze_options() const {
    ReportOptions out = sweep_report_options();
    out.gpu_arch = request_.gpu_arch;
    out.legacy_gemm_layout = request_.legacy_gemm_layout;
    return out;
  }

  /// The workbooks of a rank, to the scratch folder.
  Result<void> write_reports(const RankItem& item, const LoadedTrace& trace) const {
    for (const auto& [kind, report] : reports_)
      RS_CHECK(write_individual_report(
          trace, report, scratch_ + "/" + report_name(rank_part_name(item.file), kind)));
    return {};
  }

public:
  [[nodiscard]] static ReportOptions page_options(const PartOptions& options) {
    ReportOptions out;
    out.gpu_arch = options.gpu_arch;
    out.include_unlinked_kernels = true; // as every command
    return out;
  }

private:
  static Result<std::string> take_file(const std::string& path) {
    RS_TRY(std::string bytes, read_own(path));
    std::error_code ec;
    fs::remove(path, ec);
    return bytes;
  }

  Result<void> put(PartFile file) {
    out_.part_bytes += file.bytes.size();
    return sink_(std::move(file));
  }

  Session& session_;
  const PartialRequest& request_;
  Sink sink_;
  std::string folder_; ///< "" = in memory
  std::string scratch_;
  std::map<std::string, ReportOptions> reports_; ///< workbooks of each rank, by kind
  ShardFile shard_;
  std::map<std::string, std::string> marks_; ///< of traces before they are read, by name of part
  PartialResult out_;
};

/// A run of parts on its way into a command.
struct Opened {
  std::unique_ptr<PartSet> parts;
  [[nodiscard]] const ShardFile& facts() const { return parts->facts(); }
};

Result<Opened> open_run(Session& session, const ReduceRequest& request, std::size_t run) {
  Opened out;
  const std::vector<std::string> no_folders;
  const std::vector<PartFile> no_files;
  RS_TRY(out.parts,
         PartSet::open(session, run < request.runs.size() ? request.runs[run] : no_folders,
                       run < request.files.size() ? request.files[run] : no_files));
  return out;
}

Result<void> check_wanted(const Opened& run, bool PartsFor::*of, const char* command) {
  if (run.facts().options.wanted.*of)
    return {};
  return Error{ErrorCode::kUsage, "reduce",
               fmt::format("these parts were made without what {} needs", command),
               fmt::format("rankscope partial --for {}", command)};
}

/// Before anything is made of them. Errors: kUnreadable for what --require-all-ranks is about.
Result<void> check_all_there(const ReduceRequest& request, const PartSet& parts,
                             const std::vector<RunPlan>& plans) {
  if (!request.require_all_ranks)
    return {};
  if (!parts.absent_shards().empty())
    return Error{ErrorCode::kUnreadable, "reduce", parts.absent_shards(), ""};
  for (const RunPlan& plan : plans)
    if (!plan.missing_ranks.empty())
      return Error{ErrorCode::kUnreadable, plan.folder, missing_ranks_text(plan.missing_ranks), ""};
  return {};
}

Result<RunPlan> run_of(Session& session, const ReduceRequest& request, const PartSet& parts) {
  RS_TRY(RunPlan plan, parts.run_plan(session));
  RS_CHECK(check_all_there(request, parts, {plan}));
  return plan;
}

Result<std::vector<RunPlan>> sweep_of(Session& session, const ReduceRequest& request,
                                      const PartSet& parts) {
  RS_TRY(std::vector<RunPlan> plans, parts.sweep_plans(session));
  RS_CHECK(check_all_there(request, parts, plans));
  return plans;
}

Result<ReduceResult> reduce_collectives(Session& session, const ReduceRequest& request) {
  RS_TRY(const Opened run, open_run(session, request, 0));
  CollectivesRequest of;
  of.outputs.file = request.output;
  of.outputs.csv_dir = request.csv_dir;
  of.options = request.collectives;
  of.parts = run.parts.get();
  RS_CHECK(check_outputs(of.outputs, Sheets::kSeveral));
  RS_TRY(const RunPlan plan, run_of(session, request, *run.parts));
  name_too_few(session, plan, request.world_size);
  RS_TRY(CollectivesResult result, collect_collectives(session, plan, of));
  ReduceResult out{result.ranks, result.written};
  out.collectives = std::move(result);
  return out;
}

Result<ReduceResult> reduce_analyze(Session& session, const ReduceRequest& request) {
  const std::size_t count = std::max(request.runs.size(), request.files.size());
  std::vector<Opened> runs;
  std::vector<NamedSweep> named;
  for (std::size_t i = 0; i < count; ++i) {
    RS_TRY(Opened run, open_run(session, request, i));
    RS_CHECK(check_wanted(run, &PartsFor::analyze, "analyze"));
    named.push_back({run.facts().inputs.front(), request.sweep_labels.at(i)});
    runs.push_back(std::move(run));
  }
  AnalyzeRequest shared;
  shared.report = sweep_report_options();
  shared.align = request.align;
  shared.plots = request.plots;
  shared.svg = request.svg;
  std::vector<AnalyzeRequest> requests = requests_for(shared, named, request.output, false);
  std::vector<AnalyzedSweep> sweeps;
  ReduceResult out;
  for (std::size_t i = 0; i < count; ++i) {
    const PartOptions& options = runs[i].facts().options;
    AnalyzeRequest& of = requests[i];
    of.report.gpu_arch = options.gpu_arch;
    of.report.legacy_gemm_layout = options.legacy_gemm_layout;
    of.top_k = options.top_k;
    of.rank_by = options.rank_by;
    of.parts = runs[i].parts.get();
    RS_TRY(std::vector<RunPlan> plans, sweep_of(session, request, *runs[i].parts));
    RS_TRY(AnalyzedSweep sweep, analyze_plans(session, of, std::move(plans)));
    out.ranks += sweep.facts.records.size();
    out.written.push_back(of.layout.folder());
    sweeps.push_back(std::move(sweep));
  }
  const bool pictured = std::none_of(sweeps.begin(), sweeps.end(),
                                     [](const AnalyzedSweep& s) { return !!s.picture_error; });
  if (pictured && (count > 1 || !request.html.empty())) {
    RS_TRY(out.sides_page, write_sides_page(requests, sweeps, request.output, request.html));
    out.written.push_back(out.sides_page);
  }
  for (std::size_t i = 0; i < count; ++i) {
    requests[i].parts = nullptr;
    out.sweeps.push_back({std::move(requests[i]), std::move(sweeps[i])});
  }
  return out;
}

/// The runs of a comparison, from parts or saved baselines, into `of`. What it then refers to is in
/// `opened`.
Result<void> open_sides(Session& session, const ReduceRequest& request, CompareRequest& of,
                        std::vector<Opened>& opened) {
  of.folders.clear();
  of.parts.clear();
  for (std::size_t i = 0; i < request.runs.size(); ++i) {
    if (is_one_baseline(request.runs[i])) {
      of.folders.push_back(request.runs[i].front());
      of.parts.emplace_back();
      continue;
    }
    RS_TRY(Opened run, open_run(session, request, i));
    RS_CHECK(check_wanted(run, &PartsFor::compare, "compare"));
    RS_TRY(RunPlan plan, run_of(session, request, *run.parts));
    of.folders.push_back(run.facts().inputs.front());
    of.parts.push_back({std::move(plan), run.parts.get()});
    opened.push_back(std::move(run));
  }
  RS_TRY(of.labels, labels_for(of.folders, request.labels));
  return {};
}

Result<ReduceResult> reduce_compare(Session& session, const ReduceRequest& request) {
  CompareRequest of = request.comparison;
  of.output = request.output;
  std::vector<Opened> opened;
  RS_CHECK(open_sides(session, request, of, opened));
  RS_TRY(CompareResult result, compare_folders(session, of));
  ReduceResult out{result.comparison.base.ranks.size(), result.written};
  for (const ComparedRun& test : result.comparison.tests)
    out.ranks += test.ranks.size();
  out.comparison = std::move(result);
  return out;
}

Result<ReduceResult> reduce_baseline(Session& session, const ReduceRequest& request) {
  RS_TRY(const Opened run, open_run(session, request, 0));
  RS_CHECK(check_wanted(run, &PartsFor::compare, "compare"));
  BaselineSaveRequest of;
  of.folder = run.facts().inputs.front();
  of.output = request.output;
  of.label = request.labels.all.empty() ? "" : request.labels.all.front();
  of.align = request.align.value_or(of.align);
  RS_TRY(RunPlan plan, run_of(session, request, *run.parts));
  of.parts = {std::move(plan), run.parts.get()};
  RS_TRY(const BaselineSaved saved, save_baseline(session, of));
  return ReduceResult{saved.baseline.run.ranks.size(), {request.output}};
}

Result<ReduceResult> reduce_comparison_page(Session& session, const ReduceRequest& request) {
  CompareRequest of;
  std::vector<Opened> opened;
  RS_CHECK(open_sides(session, request, of, opened));
  PageRequest page;
  page.output = request.output;
  page.command = command_of_comparison_page(of.folders, request.output);
  RS_TRY(const PageResult made, write_comparison_page(session, page, of));
  return ReduceResult{made.ranks, {request.output}};
}

Result<ReduceResult> reduce_page(Session& session, const ReduceRequest& request) {
  if (std::max(request.runs.size(), request.files.size()) > 1)
    return reduce_comparison_page(session, request);
  RS_TRY(const Opened run, open_run(session, request, 0));
  RS_CHECK(check_wanted(run, &PartsFor::page, "page"));
  const ShardFile& facts = run.facts();
  if (facts.one_file)
    return Error{ErrorCode::kUsage, "reduce", "these parts are of one trace, not of a run",
                 "rankscope page " + facts.inputs.front()};
  PageRequest of;
  of.run.inputs = facts.inputs;
  of.run.elsewhere = true;
  of.run.report = Partial::page_options(facts.options);
  of.output = request.output;
  of.command = command_of_page(facts.inputs, request.output);
  PageResult made;
  if (facts.sweep.plans.size() > 1) {
    RS_TRY(const std::vector<RunPlan> plans, sweep_of(session, request, *run.parts));
    RS_TRY(made, write_sweep_page_of_parts(session, of, plans, *run.parts));
  } else {
    RunOfParts from{{}, run.parts.get()};
    RS_TRY(from.plan, run_of(session, request, *run.parts));
    if (from.plan.ranks.size() != facts.page_ranks)
      session.diagnostics.add(counters::page_detail(facts.page_ranks, from.plan.ranks.size()),
                              from.plan.folder);
    RS_TRY(made, write_page_of_parts(session, of, from, facts.page_ranks));
  }
  return ReduceResult{made.ranks, {request.output}};
}

} // namespace

Result<std::vector<PlannedPart>> plan_partial(Session& session, const PartialRequest& request,
                                              const std::string& folder) {
  const Sink none = [](const PartFile&) -> Result<void> { return {}; };
  return Partial(session, request, none, folder).plan();
}

Result<PartialResult> write_partial(Session& session, const PartialRequest& request,
                                    const std::string& folder) {
  RS_CHECK(make_folder(folder));
  return Partial(
      session, request,
      [&](const PartFile& file) { return write_whole(folder + "/" + file.name, file.bytes); },
      folder)();
}

Result<std::vector<PartFile>> partial_in_memory(Session& session, const PartialRequest& request) {
  std::vector<PartFile> out;
  RS_CHECK([&]() -> Result<void> {
    RS_TRY(const PartialResult done, Partial(
                                         session, request,
                                         [&](PartFile file) -> Result<void> {
                                           out.push_back(std::move(file));
                                           return {};
                                         },
                                         "")());
    return {};
  }());
  return out;
}

Result<ReduceResult> reduce_parts(Session& session, const ReduceRequest& request) {
  switch (request.as) {
  case ReduceAs::kCollectives:
    return reduce_collectives(session, request);
  case ReduceAs::kAnalyze:
    return reduce_analyze(session, request);
  case ReduceAs::kCompare:
    return reduce_compare(session, request);
  case ReduceAs::kPage:
    return reduce_page(session, request);
  case ReduceAs::kBaseline:
    return reduce_baseline(session, request);
  }
  return Error{ErrorCode::kInternal, "", "no such command", ""};
}

} // namespace rankscope
