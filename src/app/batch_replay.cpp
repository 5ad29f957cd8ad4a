#include "app/batch_replay.h"

#include "analyses/replay/replay_items.h"
#include "app/replay.h"
#include "model/ops/op_model.h"
#include "os/environment.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

bool is_there(const std::string& program) {
  const char* const path = std::getenv("PATH"); // NOLINT(concurrency-mt-unsafe)
  const std::string found = find_program(program, path == nullptr ? "" : path);
  std::error_code ec;
  return !found.empty() && std::filesystem::exists(found, ec);
}

/// Returns the time in microseconds in which the GPUs of the ranks were busy; 0 = unknown.
double busy_us(const BatchFacts& facts) {
  double sum_ms = 0;
  for (const BatchTimelineRow& row : facts.timeline)
    if (row.type == "busy_time")
      for (const double ms : row.time_ms)
        sum_ms += ms;
  return sum_ms * 1000;
}

ReplayItem item_of(const BatchOpRow& row, ReplayGroup group, double busy) {
  ReplayItem out;
  out.group = group;
  out.name = row.name;
  out.dims = row.input_dims;
  out.types = row.input_types;
  out.strides = row.input_strides;
  out.concrete = row.concrete_inputs;
  out.count = static_cast<std::int64_t>(row.count);
  out.profile_us = row.kernel_us.mean;
  if (busy > 0)
    out.share_pct = 100 * row.kernel_us.sum / busy;
  out.request = replay_request(out.name, ParsedArgs(out.dims, out.types, out.strides, out.concrete),
                               row.kernel_details);
  return out;
}

} // namespace

Result<void> check_batch_replay(const ReplayRunOptions& options) {
  const auto named = [](const std::string& path, const char* name) {
    return path.empty() ? std::string(name) : path;
  };
  const std::string bench = named(options.hipblaslt_bench, "hipblaslt-bench");
  const std::string driver = named(options.miopen_driver, "MIOpenDriver");
  const std::string python = named(options.python, "python3");
  const char* const hint =
      "--runner auto uses the programs that are installed; --runner none only writes command files";
  if (options.runner == ReplayRunner::kBench && !is_there(bench) && !is_there(driver))
    return Error{ErrorCode::kMissingTool, "--replay",
                 fmt::format("neither {} nor {} can be found", bench, driver), hint};
  if (options.runner == ReplayRunner::kTorch && !is_there(python))
    return Error{ErrorCode::kMissingTool, "--replay", fmt::format("{} cannot be found", python),
                 hint};
  return {};
}

Result<std::vector<std::pair<BatchGroup, Table>>> replay_batch(Session& session,
                                                               const std::string& folder,
                                                               const BatchFacts& facts, bool compat,
                                                               const ReplayRunOptions& options) {
  const double busy = busy_us(facts);
  std::vector<ReplayItem> items;
  std::vector<std::pair<BatchGroup, ReplayGroup>> groups;
  for (const BatchFamily& family : facts.families) {
    if ((family.group != BatchGroup::kGemm && family.group != BatchGroup::kConv) ||
        family.rows.empty())
      continue;
    const ReplayGroup group =
        family.group == BatchGroup::kGemm ? ReplayGroup::kGemm : ReplayGroup::kConv;
    groups.emplace_back(family.group, group);
    std::vector<double> share;
    for (const BatchOpRow& row : family.rows)
      share.push_back(row.cumulative);
    const std::size_t selected = replay_selection(share, compat);
    for (std::size_t i = 0; i < selected; ++i)
      items.push_back(item_of(family.rows[i], group, busy));
  }
  std::vector<ReplayRow> rows = replay_rows(std::move(items));
  RS_TRY(const std::vector<std::string> files, write_command_files(rows, folder));
  session.note(fmt::format("{}: {} command files of {} gemm and conv calls", folder, files.size(),
                           rows.size()));
  run_replay(session, rows, options);
  std::vector<std::pair<BatchGroup, Table>> out;
  for (const auto& [family, group] : groups)
    out.emplace_back(family, replay_table(rows, group, !compat));
  return out;
}

} // namespace rankscope
