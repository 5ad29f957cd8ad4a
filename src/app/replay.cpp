#include "app/replay.h"

#include "app/write_outputs.h"
#include "base/counters.h"
#include "engine/loader.h"
#include "os/output_file.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

std::vector<ReplayCall> calls_of(const std::vector<ReplayRow>& rows) {
  std::vector<ReplayCall> out;
  out.reserve(rows.size());
  for (const ReplayRow& row : rows)
    out.push_back({&row.item.request, row.item.name, row.item.dims, row.item.types,
                   row.item.strides, row.item.concrete});
  return out;
}

void count_problem(Session& session, const ReplayRow& row, const ReplayTime& time) {
  if (time.status == "failed" || time.status == "missing")
    session.diagnostics.add(
        (time.status == "failed" ? counters::replay_failed : counters::replay_missing)(time.detail),
        fmt::format("{} no. {} {}", replay_group_name(row.item.group), row.number, row.item.name));
}

std::string said(const ReplayTime& time) {
  return time.us               ? fmt::format("{:.1f} \u00b5s", *time.us)
         : time.detail.empty() ? time.status
                               : fmt::format("{}: {}", time.status, time.detail);
}

const ReplayTime& shown(const ReplayRow& row) {
  return !row.bench.us && !row.torch.status.empty() ? row.torch : row.bench;
}

} // namespace

Result<std::vector<std::string>> write_command_files(std::vector<ReplayRow>& rows,
                                                     const std::string& folder) {
  RS_CHECK(make_folder(folder));
  std::vector<std::string> out;
  for (ReplayRow& row : rows) {
    if (row.commands.empty())
      continue;
    const std::string name = fmt::format(
        "{}-{}.log", row.item.group == ReplayGroup::kGemm ? "hipblaslt-bench" : "miopen-driver",
        row.number);
    RS_TRY(OutputFile file, OutputFile::create(fmt::format("{}/{}", folder, name)));
    for (const std::string& command : row.commands)
      file.write(command + "\n");
    RS_CHECK(file.commit());
    row.command_file = name;
    out.push_back(fmt::format("{}/{}", folder, name));
  }
  return out;
}

void run_replay(Session& session, std::vector<ReplayRow>& rows, const ReplayRunOptions& options) {
  const auto progress = [&](const char* how) {
    return [&session, &rows, how](std::size_t done, const ReplayTime& time) {
      session.note(fmt::format("{}/{} {} {}: {}", done, rows.size(), how, rows[done - 1].item.name,
                               said(time)));
    };
  };
  const std::vector<ReplayCall> calls = calls_of(rows);
  const std::vector<ReplayTime> bench = replay_benches(calls, options, progress("bench"));
  const std::vector<ReplayTime> torch = replay_torch(calls, options, progress("PyTorch"));
  bool measured = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].bench = bench[i];
    rows[i].torch = torch[i];
    count_problem(session, rows[i], bench[i]);
    count_problem(session, rows[i], torch[i]);
    measured = measured || bench[i].us || torch[i].us;
  }
  session.partial =
      session.partial || (!measured && !rows.empty() && options.runner != ReplayRunner::kNone);
}

Result<NodeReplay> replay_trace(Session& session, const NodeReplayRequest& request) {
  NodeReplay out;
  out.folder =
      request.output.empty() ? default_output(request.trace, "replay", "_replay") : request.output;
  const ReportOutputs outputs{out.folder + "/node_replay.xlsx", "", out.folder};
  {
    LoadOptions load;
    load.threads = session.threads;
    RS_TRY(const LoadedTrace loaded, load_trace(request.trace, load));
    session.diagnostics.merge(loaded.trace.diagnostics);
    RS_TRY(std::vector<ReplayItem> items, replay_items(loaded, {}, request.top));
    out.rows = replay_rows(std::move(items));
  } // releases the trace before the replay
  if (out.rows.empty())
    return Error{ErrorCode::kUnreadable, request.trace,
                 "no matrix product or convolution has a kernel, so there is nothing to replay",
                 ""};
  RS_TRY(out.written, write_command_files(out.rows, out.folder));
  run_replay(session, out.rows, request.run);
  const ReplayRunner runner = request.run.runner;
  bool asked = false;
  bool there = false;
  for (const ReplayRow& row : out.rows) {
    const ReplayTime& time = runner == ReplayRunner::kTorch ? row.torch : row.bench;
    if (row.bench.us || row.torch.us)
      ++out.measured;
    asked = asked || time.status == "missing";
    there = there || (time.status != "missing" && time.status != "unsupported");
  }
  out.asked_missing = asked && !there && runner != ReplayRunner::kAuto;
  Report report;
  report.title = "Node replay";
  for (const ReplayGroup group : {ReplayGroup::kGemm, ReplayGroup::kConv})
    if (Table table = replay_table(out.rows, group, true); table.rows() > 0)
      report.tables.push_back(std::move(table));
  RS_TRY(const std::vector<std::string> sheets, write_outputs(report, outputs));
  out.written.insert(out.written.end(), sheets.begin(), sheets.end());
  return out;
}

Table replay_overview(const std::vector<ReplayRow>& rows) {
  using Row = ReplayRow;
  Schema<Row> schema("node_replay", "replayed operators");
  schema.add({"number", "no.", Unit::kNone,
              [](const Row& r) { return static_cast<std::uint64_t>(r.number); }});
  schema.add({"name", "operator", Unit::kNone,
              [](const Row& r) { return std::string_view(r.item.name); }} // namespace rankscope
  );
  schema.add({"input_dims", "Input Dims", Unit::kNone,
              [](const Row& r) { return text_or_blank(r.item.dims); }});
  schema.add({"count", Unit::kCount, [](const Row& r) { return r.item.count; }});
  schema.add(
      {"share_pct", "share (%)", Unit::kPercent, [](const Row& r) { return r.item.share_pct; }});
  schema.add(
      {"profile_us", "profiled (us)", Unit::kUs, [](const Row& r) { return r.item.profile_us; }});
  schema.add({"measured_us", "measured (us)", Unit::kUs, [](const Row& r) { return shown(r).us; }});
  schema.add({"ratio", "measured / profiled", Unit::kRatio, CellKind::kDouble, [](const Row& r) {
                const auto us = shown(r).us;
                return us && r.item.profile_us > 0 ? Value(*us / r.item.profile_us) : Value();
              }});
  schema.add({"runner", [](const Row& r) { return text_or_blank(shown(r).runner); }});
  schema.add({"status", [](const Row& r) { return text_or_blank(shown(r).status); }});
  schema.add(
      {"detail", "why", Unit::kNone, [](const Row& r) { return text_or_blank(shown(r).detail); }});
  return schema.table(rows);
}

} // namespace rankscope
