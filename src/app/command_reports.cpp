#include "app/command_reports.h"

#include "app/list_column.h"
#include "app/sweep_metrics.h"
#include "app/written_files.h"
#include "findings/library_findings.h"
#include "findings/run_check_findings.h"

#include <utility>

namespace rankscope {
namespace {

Column seconds_column(const char* name = "seconds") {
  return Column(name, Unit::kSeconds);
}

Column bytes_column(const char* name = "bytes") {
  return Column(name, Unit::kBytes);
}

/// Returns a report with the table `metrics` before the list of files.
Report metrics_report(const std::string& title, Table metrics,
                      const std::vector<std::string>& files) {
  Report out = written_files(title, files);
  out.tables.insert(out.tables.begin(), std::move(metrics));
  return out;
}

} // namespace

Report merge_report(const std::vector<MergedRun>& runs) {
  Table table("merged", {"label", "file", "ranks", "slices", "overflow_slices", "flows",
                         bytes_column(), bytes_column("input_bytes"), seconds_column()});
  std::vector<std::string> files;
  for (const MergedRun& run : runs) {
    table.add_row({Value(run.label), Value(run.output),
                   Value(static_cast<std::uint64_t>(run.ranks)), Value(run.slices),
                   Value(run.overflow), Value(run.flows), Value(run.bytes), Value(run.input_bytes),
                   Value(run.seconds)});
    files.push_back(run.output);
  }
  return metrics_report("merge", std::move(table), files);
}

Report synth_report(const std::string& folder, const synth::Summary& made, double seconds) {
  Table table("made", {"folder", "traces", bytes_column(), "events", seconds_column()});
  table.add_row(
      {Value(folder), Value(made.files), Value(made.bytes), Value(made.events), Value(seconds)});
  return metrics_report(folder, std::move(table), {made.truth_path});
}

Report batch_report(const std::string& base, const std::vector<BatchReport>& reports) {
  Table table("reports", {"folder", "file", "ranks", "sheets", "error", list_column("notes"),
                          list_column("warnings")});
  std::vector<std::string> files;
  for (const BatchReport& r : reports) {
    const std::string error = r.error ? r.error->message() : "";
    const std::string notes = list_text(r.notes);
    const std::string warnings = list_text(r.warnings);
    table.add_row({Value(r.folder), Value(r.output), Value(static_cast<std::uint64_t>(r.ranks)),
                   Value(static_cast<std::uint64_t>(r.sheets)), text_or_blank(error), Value(notes),
                   Value(warnings)});
    if (!r.error)
      files.push_back(r.output);
  }
  return metrics_report(base, std::move(table), files);
}

Report sweep_report(const FinishedSweep& sweep) {
  Table table("runs", {"setting", "folder", "status", seconds_column(), "problem",
                       list_column("findings")});
  for (const SummaryRow& row : sweep.rows) {
    const RunOutcome* const end = row.outcome ? &*row.outcome : nullptr;
    const std::string findings =
        list_text(end != nullptr ? end->findings : std::vector<std::string>());
    table.add_row({Value(row.run->label), Value(row.run->folder),
                   Value(end != nullptr ? status_name(end->status) : "not run"),
                   end != nullptr ? Value(end->seconds) : Value(),
                   end != nullptr ? text_or_blank(end->problem) : Value(), Value(findings)});
  }
  Report out = metrics_report(sweep.folder, std::move(table), {sweep.summary_file});
  out.tables.push_back(sweep_metrics(sweep.rows));
  std::vector<Finding> findings = sweep.findings;
  for (const SummaryRow& row : sweep.rows)
    if (row.outcome)
      for (Finding& finding : run_check_findings(row.run->label, row.outcome->check))
        findings.push_back(std::move(finding));
  out.tables.push_back(finding_schema().table(findings));
  return out;
}

Report library_perf_report(const std::string& table,
                           const std::map<std::string, std::size_t>& by_status) {
  Table out("measured", {"status", "configs"});
  for (const auto& [status, configs] : by_status)
    out.add_row({Value(status), Value(static_cast<std::uint64_t>(configs))});
  return metrics_report("library-perf", std::move(out), {table});
}

Report perf_comparison_report(const std::string& table, const PerfComparison& made) {
  Table out("comparison", {"a_wins", "b_wins", "same", "not_comparable",
                           Column("a_total_us", Unit::kUs), Column("b_total_us", Unit::kUs)});
  const auto count = [](std::size_t n) { return Value(static_cast<std::uint64_t>(n)); };
  out.add_row({count(made.a_wins), count(made.b_wins), count(made.same), count(made.not_comparable),
               Value(made.a_total_us), Value(made.b_total_us)});
  return metrics_report("library-perf compare", std::move(out), {table});
}

Report library_trace_report(const std::vector<std::string>& tables, const LibraryTraceSummary& read,
                            double seconds) {
  Table libraries("libraries", {"library", "lines", "calls", "configs", "damaged"});
  for (const LibraryCount& c : read.counts)
    libraries.add_row({Value(log_kind_name(c.kind)), Value(c.lines), Value(c.calls),
                       Value(c.configs), Value(c.damaged)});
  Report out = metrics_report("library-trace", std::move(libraries), tables);
  Table log("log", {bytes_column(), "lines", "long_lines", seconds_column()});
  log.add_row({Value(read.bytes), Value(read.lines), Value(read.long_lines), Value(seconds)});
  out.tables.push_back(std::move(log));
  std::vector<Finding> findings;
  for (const LibraryCount& c : read.counts)
    if (c.damaged > 0)
      findings.push_back(
          damaged_log_lines(log_kind_name(c.kind), c.damaged, c.lines, c.first_damaged));
  for (const std::string& library : read.silent)
    findings.push_back(silent_library(library));
  out.tables.push_back(finding_schema().table(findings));
  return out;
}

} // namespace rankscope
