#include "app/report_trace.h"

#include "analyses/graph/graph_replays.h"
#include "analyses/operators/pseudo_ops.h"
#include "analyses/operators/report_notes.h"
#include "analyses/timeline/stream_overlap.h"
#include "analyses/top/overview_sheet.h"
#include "analyses/top/roofline_sheet.h"
#include "app/choose_gpu.h"
#include "app/column_dictionary.h"
#include "app/gpu_work.h"
#include "app/graph_note.h"
#include "app/report_energy.h"
#include "app/top.h"
#include "app/unlinked_note.h"
#include "app/write_outputs.h"
#include "base/counters.h"
#include "base/nearest.h"
#include "core/steps.h"
#include "engine/capture_folder.h"
#include "engine/loader.h"
#include "model/gpu_arch.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

void note_overlaps(const LoadedTrace& t, const StreamOverlaps& overlaps, bool clipped,
                   Diagnostics& diagnostics) {
  if (overlaps.count == 0)
    return;
  Problem problem = counters::same_stream_overlap(
      static_cast<double>(overlaps.total_ns) / 1e3, static_cast<double>(overlaps.longest_ns) / 1e3,
      t.trace.name(overlaps.longest).substr(0, 60),
      clipped ? "the overlapping events were shortened"
              : "the recorded durations are used (--clip-overruns shortens the events)");
  if (overlaps.absurd > 0)
    problem.severity = Severity::kWarning;
  diagnostics.add(problem, t.trace.path, overlaps.count);
}

/// Returns whether the workbook begins with an overview: true for a complete trace; false for
/// chosen sheets or the layout of another tool.
bool wants_overview(const ReportOutputs& outputs, const ReportOptions& options) {
  const bool workbook =
      outputs.format == "xlsx" || (outputs.format.empty() && outputs.file.ends_with(".xlsx"));
  return workbook && !outputs.file.empty() && options.sheets.empty() && options.step.empty() &&
         !options.compat_tracelens && !options.legacy_gemm_layout && !options.detect_recompute;
}

/// Adds the names in a list like "GEMM, SDPA_fwd": sheets with equal columns are described
/// together.
void add_names(const std::string& list, std::vector<std::string>& names) {
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(", ", begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 2;
  }
}

/// Returns kUsage for a name that no report has, and suggests the most similar one.
Result<void> check_sheets(const std::set<std::string>& wanted) {
  if (wanted.empty())
    return {};
  std::vector<std::string> known;
  for (const SheetGroup& group : all_sheets())
    if (group.command == "report")
      for (const SheetInfo& sheet : group.sheets)
        add_names(sheet.name, known);
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end())
      continue;
    return Error{ErrorCode::kUsage, "--sheets",
                 fmt::format("no report has a sheet named '{}'{}", name, did_you_mean(name, known)),
                 "rankscope columns lists them"};
  }
  return {};
}

/// Adds a note that there is no row per request, so that the user does not look for one.
void note_requests(const LoadedTrace& t, const Report& report, Diagnostics& diagnostics) {
  if (report.find("serving_steps") == nullptr)
    return;
  const std::vector<AnnotatedStep> steps = annotated_steps(t.trace);
  if (std::none_of(steps.begin(), steps.end(), [&t](const AnnotatedStep& s) {
        return !step_request_lengths(t.trace.name(s.annotation)).empty();
      }))
    diagnostics.add(counters::serving_requests(), t.trace.path);
}

/// Merges the operators of the graph captures into the trace, after steps are chosen.
Result<void> merge_graphs(Session& session, const std::string& folder, ReportOptions& options,
                          LoadedTrace& trace) {
  const bool python = needs_python(options) || options.compat_tracelens;
  if (!options.step.empty()) {
    RS_TRY(const auto steps, parse_steps(options.step));
    RS_TRY(trace, part_of_steps(trace, steps.first, steps.second, python));
    options.step.clear();
  }
  return merge_capture_folder(trace, folder,
                              {python, options.compat_tracelens, session.threads, &session.pool()});
}

} // namespace

Result<void> write_counted(const Report& report, const ReportOutputs& outputs,
                           std::vector<WrittenReport>& written) {
  RS_TRY(const std::vector<std::string> paths, write_outputs(report, outputs));
  for (const std::string& path : paths)
    written.push_back({path, report.tables.size()});
  return {};
}

Result<TraceReport> report_trace(Session& session, const ReportRequest& request) {
  ReportOptions options = request.options;
  ReportOutputs outputs = request.outputs;
  if (!request.only_asked && outputs.file.empty() && outputs.csv_dir.empty()) {
    if (request.trace == "-")
      return Error{ErrorCode::kUsage, "", "a trace from standard input needs --output or --csv-dir",
                   ""};
    outputs.file = without_trace_ending(request.trace) + "_perf_report.xlsx";
  }
  RS_CHECK(check_outputs(request.outputs,
                         options.sheets.size() == 1 ? Sheets::kUnknown : Sheets::kSeveral));
  RS_CHECK(check_sheets(options.sheets));
  if (!options.gpu_arch.empty() && options.gpu_arch != "none")
    RS_CHECK(load_gpu_arch(options.gpu_arch)); // checked even if no sheet uses it
  LoadOptions load;
  load.threads = session.threads;
  load.rules = options.compat_tracelens ? TreeRules::kReference : TreeRules::kRankscope;
  load.keep_python =
      needs_python(options) || (options.compat_tracelens && !request.capture_folder.empty());
  std::error_code ec; // standard input has no size
  const std::uintmax_t bytes = std::filesystem::file_size(request.trace, ec);
  session.begin_progress(1, ec ? 0 : bytes);
  Result<LoadedTrace> read = load_trace(request.trace, load);
  session.step_progress(ec ? 0 : bytes);
  RS_TRY(LoadedTrace loaded, std::move(read));
  RS_CHECK(require_gpu_work(request.trace, loaded.trace.diagnostics));
  const StreamOverlaps overlaps = options.clip_overruns ? clip_stream_overlaps(loaded.trace)
                                                        : find_stream_overlaps(loaded.trace);
  if (request.serving_steps.any()) {
    std::string chosen;
    RS_TRY(loaded,
           part_of_choice(std::move(loaded), request.serving_steps, load.keep_python, chosen));
    session.note(fmt::format("{}: {}", request.trace, chosen));
  }
  loaded.attention = request.attention;
  if (!request.capture_folder.empty())
    RS_CHECK(merge_graphs(session, request.capture_folder, options, loaded));
  if (choose_gpu(loaded.trace, options))
    session.note(
        fmt::format("{}: rooflines are those of {} (device {}; --gpu-arch none leaves them out)",
                    loaded.trace.path, options.gpu_arch, loaded.trace.header.devices.front().name));
  TraceReport out;
  out.steps = traced_steps(loaded);
  if (options.enable_pseudo_ops && options.step.empty())
    add_pseudo_ops(loaded, options.compat_tracelens); // avoids a copy of the trace in the report
  if (!request.donor.empty()) {
    LoadOptions as_donor = load;
    as_donor.keep_launches = true; // the donor may be the trace of a capture
    RS_TRY(LoadedTrace donor, load_trace(request.donor, as_donor));
    options.donor = std::make_shared<const LoadedTrace>(std::move(donor));
  }
  options.graph_columns = !options.compat_tracelens && has_graph_launches(loaded.trace);
  RS_TRY(out.report, build_report(loaded, options));
  if (!request.power.empty())
    RS_CHECK(add_energy(loaded, out.steps, request.power, request.power_gpus, options.sheets,
                        out.report));
  note_overlaps(loaded, overlaps, options.clip_overruns, out.report.diagnostics);
  note_unlinked(loaded, options, out.report.diagnostics);
  note_requests(loaded, out.report, out.report.diagnostics);
  out.graphs = graph_line(loaded, options);
  note_graphs(loaded, options, 0, out.report.diagnostics);
  RS_TRY(const ModelCoverage coverage,
         add_report_notes(loaded, options, out.report, out.report.diagnostics));
  out.coverage = coverage_line(coverage);
  session.diagnostics.merge(out.report.diagnostics);
  for (const std::string& wanted : options.sheets)
    if (out.report.find(wanted) == nullptr)
      session.warn(fmt::format("{}: the trace has no data for sheet {}", request.trace, wanted));
  const bool overview = wants_overview(outputs, options);
  if (request.top || overview) {
    RS_TRY(out.top, top_of_trace(loaded, options, out.report.diagnostics, TopRequest{}.top_k));
  }
  std::vector<Table> without_rows;
  if (overview) { // the CSV folder contains only the report's sheets
    RS_CHECK(write_counted(out.report, {"", "", outputs.csv_dir}, out.written));
    outputs.csv_dir.clear();
    RS_TRY(std::optional<Table> roofline, roofline_sheet(loaded, options));
    if (roofline)
      out.report.tables.insert(out.report.tables.begin(), *std::move(roofline));
    // omit the tab of a sheet that was not requested and has no rows
    const auto empty = std::stable_partition(out.report.tables.begin(), out.report.tables.end(),
                                             [](const Table& table) { return table.rows() > 0; });
    without_rows.assign(std::move_iterator(empty), std::move_iterator(out.report.tables.end()));
    out.report.tables.erase(empty, out.report.tables.end());
    out.report.tables.insert(out.report.tables.begin(), overview_sheet(*out.top, out.report));
  }
  RS_CHECK(write_counted(out.report, outputs, out.written));
  std::move(without_rows.begin(), without_rows.end(), std::back_inserter(out.report.tables));
  if (!request.top)
    out.top.reset();
  return out;
}

} // namespace rankscope
