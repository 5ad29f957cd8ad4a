#include "app/partial.h"

#include "app/analyze_state.h"
#include "app/batch_folders.h"
#include "app/individual_report.h"
#include "app/rank_commands.h"
#include "app/rank_needs.h"
#include "base/counters.h"
#include "base/pointers.h"
#include "engine/fact_cache.h"
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

/// Accepts a finished part file.
using Sink = std::function<Result<void>(PartFile)>;

/// One run of `partial`.
class Partial {
public:
  Partial(Session& session, const PartialRequest& request, Sink sink, std::string folder)
      : session_(session), request_(request), sink_(std::move(sink)), folder_(std::move(folder)) {}

  Result<PartialResult> operator()() {
    RS_CHECK(discover());
    std::optional<ScratchFolder> scratch;
    for (const RankCommand& command : rank_commands())
      if (shard_.options.workbooks && command.workbook != nullptr && wants(command.name))
        reports_.emplace(command.workbook, command.workbook_options(shard_.options));
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
    shard_.options = request_.options;
    RS_CHECK(wants_folders() ? find_folders() : find_ranks());
    if (shard_.local)
      ask_heads();
    for (KnownPlans* known_plans : {&shard_.run, &shard_.sweep})
      for (const KnownPlan& known : known_plans->plans)
        for (const RankFile& file : known.plan.ranks)
          shard_.modified_ns.emplace(file.path, trace_modified_ns(file.path));
    PartOptions& options = shard_.options;
    if (!options.gpu_arch.empty() && options.gpu_arch != "none")
      RS_CHECK(load_gpu_arch(options.gpu_arch)); // otherwise a bad file would make each rank fail
    if (fs::is_regular_file(options.gpu_arch, ec))
      options.gpu_arch_mark = content_mark(options.gpu_arch);
    shard_.page_ranks = page_ranks();
    return {};
  }

  [[nodiscard]] bool wants(const char* command) const {
    return std::ranges::find(shard_.options.wanted, command) != shard_.options.wanted.end();
  }
  [[nodiscard]] bool wants_folders() const {
    return std::ranges::any_of(rank_commands(), [this](const RankCommand& command) {
      return command.ranks == RanksOf::kBatchFolders && wants(command.name);
    });
  }
  [[nodiscard]] bool wants_a_sweep() const {
    return std::ranges::any_of(rank_commands(), [this](const RankCommand& command) {
      return command.ranks != RanksOf::kRun && wants(command.name);
    });
  }

  /// Finds the folders of the batch report, as the configurations of a sweep.
  Result<void> find_folders() {
    if (shard_.options.wanted.size() > 1 || shard_.local || shard_.inputs.size() != 1)
      return Error{ErrorCode::kUsage, "partial",
                   "batch has its own search for traces: give one folder, no --local, and only "
                   "batch in --for",
                   "rankscope partial FOLDER -o PARTS --for batch"};
    BatchSearch search;
    static_cast<BatchNames&>(search) = shard_.options.batch_names;
    search.base = shard_.inputs.front();
    Session aside;
    RS_TRY(std::vector<BatchFolder> folders, find_batch_folders(aside, search));
    shard_.sweep.diagnostics = aside.diagnostics;
    for (BatchFolder& folder : folders)
      shard_.sweep.plans.push_back({std::move(folder.plan), {}});
    shard_.run.error = Error{ErrorCode::kUsage, "", "no run was requested", ""};
    return {};
  }

  Result<void> find_ranks() {
    DiscoverOptions options_here = request_.discover;
    if (request_.local)
      options_here.require_all_ranks = false; // other ranks are on other nodes
    Result<RunPlan> run = discover_run(request_.inputs, options_here, shard_.run.diagnostics);
    if (run)
      shard_.run.plans.push_back({std::move(*run), {}});
    else
      shard_.run.error = run.error();
    // only commands over sweeps need this second listing, which reads the file headers again
    if (!wants_a_sweep()) {
      shard_.sweep.error = Error{ErrorCode::kUsage, "", "no sweep was requested", ""};
    } else if (request_.inputs.size() == 1) {
      Result<std::vector<RunPlan>> sweep =
          discover_sweep(request_.inputs.front(), options_here, shard_.sweep.diagnostics);
      if (sweep)
        for (RunPlan& plan : *sweep)
          shard_.sweep.plans.push_back({std::move(plan), {}});
      else
        shard_.sweep.error = sweep.error();
    } else {
      shard_.sweep.error = Error{ErrorCode::kUsage, "", "expected one sweep folder", ""};
    }
    if (shard_.run.error && shard_.sweep.error)
      return *shard_.run.error;
    return {};
  }

  /// Counts the world sizes in the headers of the traces: no shard sees all ranks of the run.
  void ask_heads() {
    std::map<std::string, std::optional<std::int64_t>> worlds;
    for (KnownPlans* known_plans : {&shard_.run, &shard_.sweep})
      for (KnownPlan& known : known_plans->plans)
        for (const RankFile& file : known.plan.ranks) {
          const auto [at, fresh] = worlds.emplace(file.path, std::nullopt);
          if (fresh)
            at->second = inspect_file(file.path, request_.discover.known).world_size;
          if (at->second)
            ++known.worlds[*at->second];
        }
  }

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

  /// Returns the ranks of this shard, each trace once: first the ranks of the sweep, then the ranks
  /// that only the run has. A shard does not report missing ranks: reduce reports them.
  std::vector<RunPlan> choose() {
    std::vector<RunPlan> out;
    std::set<std::string> seen;
    std::size_t at = 0;
    const auto add = [&](const KnownPlans& known_plans) {
      for (const KnownPlan& known : known_plans.plans) {
        RunPlan share = known.plan;
        share.ranks.clear();
        for (const RankFile& file : known.plan.ranks)
          if (seen.insert(rank_part_name(file)).second &&
              (shard_.local || at++ % shard_.count == shard_.index))
            share.ranks.push_back(file);
        out_.ranks += share.ranks.size();
        out.push_back(std::move(share));
      }
    };
    add(shard_.sweep);
    add(shard_.run);
    return out;
  }

  /// Reports another run that used the same folder: its parts stay, but no command reads them any
  /// more.
  void name_replaced() {
    if (folder_.empty())
      return;
    const std::string path = folder_ + "/" + shard_file_name(shard_.index, shard_.count);
    const Result<std::string> bytes = read_unregistered(path);
    const Result<ShardFile> before = bytes ? decode_shard_file(*bytes) : bytes.error();
    if (before && before->inputs != shard_.inputs)
      session_.diagnostics.add(
          counters::parts_replaced(fmt::format("{}", fmt::join(before->inputs, ", "))), path);
  }

  /// Removes the ranks with existing parts of the same traces and options from the plans. Errors:
  /// kOutput for a part of another node's trace with the same name.
  Result<void> reuse(std::vector<RunPlan>& plans) {
    const std::string options = shard_.options.text();
    std::optional<Error> node_error;
    for (RunPlan& plan : plans) {
      for (const RankFile& file : plan.ranks)
        if (const TraceIdentity trace = trace_identity(file); trace.unique)
          marks_[rank_part_name(file)] =
              trace.text + (wants("page") ? fmt::format(" {}{}", shard_.page_ranks,
                                                        shard_.of_a_sweep() ? " sweep" : "")
                                          : "");
      if (request_.force || folder_.empty())
        continue;
      std::erase_if(plan.ranks, [&](const RankFile& file) {
        const std::string name = rank_part_name(file);
        std::error_code ec;
        if (!fs::exists(folder_ + "/" + name, ec))
          return false;
        const Result<std::string> bytes = read_unregistered(folder_ + "/" + name);
        const Result<RankParts> parts = bytes ? decode_rank_parts(*bytes) : bytes.error();
        const auto node_shard = parts && shard_.local ? parts->node : std::nullopt;
        if (node_shard && node_shard->count == shard_.count && node_shard->index != shard_.index)
          node_error = Error{
              ErrorCode::kOutput, folder_ + "/" + name,
              fmt::format("belongs to shard {}: another node also has a trace with the path {}",
                          node_shard->index, file.path),
              "use a separate folder of parts for each node: reduce accepts several folders"};
        if (!parts || parts->options != options || parts->mark.empty() ||
            parts->mark != marks_[name] || parts->node != node() || parts->lost ||
            !has_reports(name))
          return false;
        ++out_.reused;
        out_.trace_bytes += file.bytes;
        out_.part_bytes += bytes->size();
        return true;
      });
    }
    std::erase_if(plans, [](const RunPlan& plan) { return plan.ranks.empty(); });
    if (node_error)
      return *node_error;
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
    if (wants_folders() && shard_.options.batch.compat)
      run.rules = TreeRules::kBatchReference;
    Needs needs = needs_of(shard_.options.wanted, shard_);
    const FactOf<TraceNotes> notes = need_notes(needs);
    FactSteps steps{needs, {}};
    if (!reports_.empty())
      steps.also = [this](const RankItem& item, const LoadedTrace& trace) {
        return write_reports(item, trace);
      };
    steps.consume = [&](const RankItem& item, const LoadedTrace&, RankFacts facts) -> Result<void> {
      if (failed)
        return *failed;
      session_.diagnostics.merge(facts[notes].diagnostics);
      out_.trace_bytes += item.file.bytes;
      RankParts parts = begin(item);
      needs.encode(facts, parts);
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
    if (const auto mark = marks_.find(rank_part_name(item.file)); mark != marks_.end())
      parts.mark = mark->second;
    parts.trace_bytes = item.file.bytes;
    parts.modified_ns = shard_.modified_ns.at(item.file.path);
    parts.node = node();
    return parts;
  }

  /// Writes the workbooks of a rank to the scratch folder.
  Result<void> write_reports(const RankItem& item, const LoadedTrace& trace) const {
    for (const auto& [kind, report] : reports_)
      RS_CHECK(write_individual_report(
          trace, report, scratch_ + "/" + report_name(rank_part_name(item.file), kind)));
    return {};
  }

  static Result<std::string> take_file(const std::string& path) {
    RS_TRY(std::string bytes, read_unregistered(path));
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
  /// Identities of the traces before they were read, by part name; none if it is not unique.
  std::map<std::string, std::string> marks_;
  PartialResult out_;
};

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
      [&](const PartFile& file) { return write_with_folder(folder + "/" + file.name, file.bytes); },
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

} // namespace rankscope
