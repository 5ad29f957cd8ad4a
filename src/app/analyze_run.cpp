#include "app/analyze_run.h"

#include "analyses/collectives/collective_report.h"
#include "engine/loader.h"
#include "os/output_file.h"
#include "writers/merged_trace.h"
#include "writers/writer.h"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <mutex>

namespace rankscope {
namespace {

/// Lets workers take turns in the order of the items, so that a merged trace is written rank after
/// rank while its neighbours are still being parsed.
class Turnstile {
public:
  void wait_for(std::size_t turn) {
    std::unique_lock lock(mutex_);
    moved_.wait(lock, [&] { return next_ == turn; });
  }
  void pass() {
    {
      const std::lock_guard lock(mutex_);
      ++next_;
    }
    moved_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::size_t next_ = 0;
};

/// Passes the turn on however a scope ends.
struct PassAtEnd {
  Turnstile& turnstile;
  ~PassAtEnd() { turnstile.pass(); }
};

struct Item {
  std::size_t plan = 0;
  RankFile file;
};

/// What a worker made of a rank, on its way into the configuration.
struct RankWork {
  RankRecord record;
  std::optional<RankCollectives> collectives;
  Table gemms;
  Report compared;
  std::string output;
  bool whole = false;
};

/// What is gathered of a configuration while its ranks pass by, in the order of the ranks.
struct ConfigWork {
  std::vector<RankCollectives> collectives;
  std::vector<Table> gemms;
  std::optional<MergedTraceWriter> merged;
  std::string merged_path;
  std::size_t left = 0;
};

class Pass {
public:
  Pass(Session& ctx, const AnalyzeRun& run, const std::vector<const RunPlan*>& plans)
      : ctx_(ctx), run_(run), plans_(plans), results_(plans.size()), work_(plans.size()) {
    for (std::size_t p = 0; p < plans.size(); ++p) {
      results_[p].configuration = plans[p]->configuration;
      work_[p].left = plans[p]->ranks.size();
      for (const RankFile& file : plans[p]->ranks) {
        items_.push_back({p, file});
        files_.push_back(file);
        bytes_ += file.bytes;
      }
    }
    ordered_.assign(items_.size(), 0);
  }

  Result<std::vector<ConfigResult>> run() {
    ctx_.begin_progress(items_.size(), bytes_);
    LoadOptions load;
    load.threads = ctx_.threads;
    load.memory_limit_bytes = run_.memory_bytes;
    load.cancelled = [this] { return failed(); }; // a full disk will not get better
    RS_CHECK(load_each(files_, load, [&](std::size_t i, Result<LoadedTrace> loaded) {
      RankWork work = analyse(i, loaded);
      const std::size_t plan = items_[i].plan;
      if (in_order(i, loaded ? &*loaded : nullptr, std::move(work)))
        finish(plan); // others go on with the next configuration meanwhile
      ctx_.step_progress(items_[i].file.bytes);
    }));
    if (output_error_)
      return *output_error_;
    return std::move(results_);
  }

private:
  void keep_error(const Result<void>& result) {
    if (result)
      return;
    const std::lock_guard lock(mutex_);
    if (!output_error_)
      output_error_ = result.error();
  }

  [[nodiscard]] bool failed() {
    const std::lock_guard lock(mutex_);
    return output_error_.has_value();
  }

  /// Everything that a rank's trace gives by itself.
  RankWork analyse(std::size_t i, const Result<LoadedTrace>& loaded) {
    const Item& item = items_[i];
    const RunKey key{plans_[item.plan]->configuration, item.file.rank};
    RankWork work;
    const auto fail = [&](const Error& error) {
      work.record.key = key;
      work.record.error = error.message();
      ctx_.diagnostics.add(Severity::kDataLoss,
                           fmt::format("rank_failed {} {}", key.configuration.label, key.rank),
                           to_text(key), error.message());
    };
    if (!loaded) {
      fail(loaded.error());
      return work;
    }
    Result<Report> report = build_report(*loaded, run_.report);
    if (!report) {
      fail(report.error());
      return work;
    }
    work.record = make_record(*loaded, *report);
    work.record.key = key;
    ctx_.diagnostics.merge(report->diagnostics);
    work.whole = !report->diagnostics.data_lost() && !loaded->trace.diagnostics.data_lost();
    work.output = run_.layout.individual_report(key);
    keep_error(find_writer("xlsx")->write(*report, work.output));
    for (const char* sheet : {"gpu_timeline", "ops_summary"})
      if (const Table* t = report->find(sheet))
        work.compared.tables.push_back(*t);
    RankGemms gemms = extract_gemms(*loaded, run_.report);
    gemms.key = key;
    if (const Table* t = report->find("GEMM"))
      attach_sheet(gemms, *t);
    std::vector<RankGemms> one;
    one.push_back(std::move(gemms));
    work.gemms = gemm_tables(one, run_.top_k, run_.ranking).overlap;
    work.collectives = extract_collectives(*loaded);
    return work;
  }

  /// In the order of the items: the merged trace and what is gathered of a configuration. True for
  /// its last rank: nobody else touches the configuration any more.
  bool in_order(std::size_t i, const LoadedTrace* loaded, RankWork rank) {
    const Item& item = items_[i];
    if (ordered_[i] != 0) // a second call for the item, after an exception
      return false;
    turnstile_.wait_for(i);
    ordered_[i] = 1;
    const PassAtEnd pass{turnstile_};
    ConfigWork& work = work_[item.plan];
    ConfigResult& result = results_[item.plan];
    if (loaded != nullptr && !run_.merged_folder.empty() && plans_[item.plan]->ranks.size() > 1) {
      if (!work.merged) {
        work.merged_path = run_.merged_folder + "/" + merged_trace_name(result.configuration);
        auto writer = MergedTraceWriter::create(work.merged_path, {});
        if (writer)
          work.merged.emplace(std::move(*writer));
        else
          keep_error(writer.error());
      }
      if (work.merged)
        work.merged->add(loaded->trace, item.file.rank, 0, ctx_.diagnostics);
    }
    result.whole = result.whole && rank.whole;
    if (!rank.output.empty())
      result.outputs.push_back(rank.output);
    if (!rank.compared.tables.empty())
      result.compared.emplace(item.file.rank, std::move(rank.compared));
    result.records.push_back(std::move(rank.record));
    if (rank.gemms.rows() > 0)
      work.gemms.push_back(std::move(rank.gemms));
    if (rank.collectives)
      work.collectives.push_back(std::move(*rank.collectives));
    return --work.left == 0;
  }

  void finish(std::size_t p) {
    ConfigWork& work = work_[p];
    ConfigResult& result = results_[p];
    if (work.merged) {
      const auto finished = work.merged->finish();
      if (finished)
        result.outputs.push_back(work.merged_path);
      else
        keep_error(finished.error());
    }
    std::vector<const Table*> parts;
    for (const Table& t : work.gemms)
      parts.push_back(&t);
    result.gemms = join_gemm_tables(parts, run_.top_k, run_.ranking).overlap;
    // no collective at all is no error of the sweep
    if (const auto report = build_collective_report(work.collectives, CollectiveOptions{});
        report) {
      result.collective_file = run_.layout.collective_report(result.configuration);
      keep_error(find_writer("xlsx")->write(*report, result.collective_file));
      result.outputs.push_back(result.collective_file);
      if (const Table* t = report->find("nccl_summary_implicit_sync"))
        result.collectives = *t;
    }
    work.merged.reset();
    work.collectives.clear();
    work.gemms.clear();
    if (result.whole && !failed())
      keep_error(save_state(result, fingerprint_of(*plans_[p], run_.options),
                            run_.layout.state(result.configuration)));
  }

  Session& ctx_;
  const AnalyzeRun& run_;
  const std::vector<const RunPlan*>& plans_;
  std::vector<Item> items_;
  std::vector<RankFile> files_;
  std::uint64_t bytes_ = 0;
  std::vector<ConfigResult> results_;
  std::vector<ConfigWork> work_;
  std::vector<char> ordered_;
  Turnstile turnstile_;
  std::mutex mutex_;
  std::optional<Error> output_error_;
};

} // namespace

Result<std::vector<ConfigResult>> run_configurations(Session& ctx, const AnalyzeRun& run,
                                                     const std::vector<const RunPlan*>& plans) {
  // a folder that cannot be written shows before the long part
  for (const RunPlan* plan : plans) {
    RS_CHECK(make_folder(run.layout.individual_folder(plan->configuration)));
    RS_CHECK(make_folder(run.layout.collective_folder(plan->configuration)));
  }
  if (!run.merged_folder.empty() && !plans.empty())
    RS_CHECK(make_folder(run.merged_folder));
  if (plans.empty())
    return std::vector<ConfigResult>{};
  return Pass(ctx, run, plans).run();
}

} // namespace rankscope
