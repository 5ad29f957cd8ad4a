#include "app/analyze_outputs.h"

#include "analyses/compare/compare_reports.h"
#include "base/json_text.h"
#include "findings/sweep_findings.h"
#include "os/output_file.h"
#include "readers/trace_stamp.h"
#include "writers/markdown.h"
#include "writers/writer.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::string list(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines)
    out += "- " + markdown_escaped(line) + "\n";
  return out;
}

std::string summary_markdown(const SweepFacts& facts) {
  const AnswerText text = answer_text(facts.findings);
  std::string out = "# Summary\n\n" + markdown_escaped(text.answer) + "\n";
  if (!text.reasons.empty())
    out += "\n## Why\n\n" + list(text.reasons);
  if (!text.actions.empty())
    out += "\n## What to do next\n\n" + list(text.actions);
  return out + "\n## Configurations\n\n" + markdown_table(shown_configurations(facts)) +
         "\nTimes are means over ranks.\n";
}

/// Writes tables and records their file names.
class Tables {
public:
  Tables(const AnalyzeRequest& request, AnalyzedSweep& sweep)
      : layout_(request.layout), request_(request), sweep_(sweep) {}

  Result<void> gemms() {
    Report csvs;
    for (const GemmTable t : {GemmTable::kVariance, GemmTable::kTimestamps, GemmTable::kOverlap}) {
      csvs.tables.push_back(gemm_table(sweep_.facts.gemms, t, request_.top_k));
      sweep_.outputs.push_back(layout_.gemm_csv(request_.top_k, t));
    }
    return find_writer("csv")->write(csvs, layout_.folder());
  }

  /// Writes a workbook for each channel setting and rank for which at least two thread settings
  /// exist. The smallest thread setting is the baseline.
  Result<void> comparisons() {
    struct Side {
      const ConfigResult* config;
      const ComparedRank* rank;
    };
    std::map<std::pair<std::int64_t, std::int64_t>, std::map<std::int64_t, Side>> groups;
    for (const ConfigResult& config : sweep_.configs)
      if (has_sweep_names(config.configuration))
        for (const auto& [rank, compared] : config.compared)
          if (!compared.ops.empty())
            groups[{*config.configuration.channels(), rank}][*config.configuration.threads()] = {
                &config, &compared};
    for (const auto& [key, by_threads] : groups) {
      if (by_threads.size() < 2)
        continue;
      const std::string path = layout_.comparison(key.first, key.second);
      sweep_.outputs.push_back(path);
      const bool changed = std::ranges::any_of(
          by_threads, [](const auto& side) { return !side.second.config->reused; });
      std::error_code ec;
      if (!changed && fs::exists(path, ec))
        continue;
      std::vector<Report> sides;
      std::vector<std::string> tags;
      for (const auto& [threads, side] : by_threads) {
        Report report;
        report.tables.push_back(timeline_schema(request_.report).table(side.rank->timeline));
        report.tables.push_back(ops_summary_table(side.rank->ops, request_.report));
        sides.push_back(std::move(report));
        tags.push_back(fmt::format("{}thread", threads));
      }
      RS_TRY(const Report report,
             compare_reports(sides, tags, {{"gpu_timeline", "ops_summary"}, false}));
      RS_CHECK(make_folder(layout_.comparisons()));
      RS_CHECK(find_writer("xlsx")->write(report, path));
    }
    return {};
  }

  Result<void> timelines() {
    for (const Aggregation aggregation : {Aggregation::kArithmetic, Aggregation::kGeometric}) {
      Report all;
      all.tables = timeline_all_configs(sweep_.facts.records, aggregation);
      RS_CHECK(write("xlsx", all, layout_.timeline_all_configs(aggregation_name(aggregation))));
    }
    return {};
  }

  Result<void> collectives() {
    if (sweep_.facts.collectives.empty())
      return {};
    Report master;
    master.tables.push_back(nccl_master(sweep_.facts.collectives));
    Report book = master;
    book.tables.front().set_name("NCCL_Data");
    RS_CHECK(write("xlsx", book, layout_.nccl_master_workbook()));
    RS_CHECK(find_writer("csv")->write(master, layout_.folder()));
    sweep_.outputs.push_back(layout_.nccl_master_csv());
    return {};
  }

  Result<void> summary() {
    RS_CHECK(write("xlsx", sweep_.summary, layout_.summary_workbook()));
    RS_CHECK(find_writer("csv")->write(sweep_.summary, layout_.summary_csv()));
    RS_CHECK(write_file(layout_.summary_markdown(), summary_markdown(sweep_.facts)));
    sweep_.outputs.push_back(layout_.summary_markdown());
    return {};
  }

private:
  Result<void> write(const char* writer, const Report& report, const std::string& path) {
    RS_CHECK(find_writer(writer)->write(report, path));
    sweep_.outputs.push_back(path);
    return {};
  }

  const OutputLayout& layout_;
  const AnalyzeRequest& request_;
  AnalyzedSweep& sweep_;
};

std::string json_quoted(std::string_view text) {
  return "\"" + json_escaped(text) + "\"";
}

/// Returns a JSON object per input of a configuration, with a comma before each object except the
/// very first.
std::string manifest_inputs(const RunPlan& plan, const ConfigResult& config, bool first) {
  std::string out;
  for (const RankFile& input : plan.ranks) {
    std::string error;
    for (const RankRecord& r : config.records)
      if (r.key.rank == input.rank)
        error = r.error;
    out += fmt::format("{}\n {{\"configuration\": {}, \"rank\": {}, \"path\": {}, \"bytes\": {}, "
                       "\"modified_ns\": {}, \"reused\": {}, \"error\": {}}}",
                       first ? "" : ",", json_quoted(config.configuration.label), input.rank,
                       json_quoted(input.path), input.bytes,
                       plan.parts != nullptr ? plan.parts->modified_ns(input)
                                             : trace_modified_ns(input.path),
                       config.reused, error.empty() ? "null" : json_quoted(error));
    first = false;
  }
  return out;
}

} // namespace

Result<void> write_sweep_tables(const AnalyzeRequest& request, AnalyzedSweep& sweep) {
  Tables tables(request, sweep);
  RS_CHECK(tables.gemms());
  RS_CHECK(tables.comparisons());
  RS_CHECK(tables.timelines());
  RS_CHECK(tables.collectives());
  return tables.summary();
}

Result<void> write_manifest(const AnalyzeRequest& request, const AnalyzedSweep& sweep) {
  RS_TRY(auto file, OutputFile::create(request.layout.manifest()));
  file.write(fmt::format("{{\"rankscope\": {}, \"sweep\": {}, \"options\": {},\n\"inputs\": [",
                         json_quoted(RANKSCOPE_VERSION), json_quoted(request.folder),
                         json_quoted(options_text(request))));
  std::vector<std::string> outputs = sweep.outputs;
  for (std::size_t p = 0; p < sweep.plans.size(); ++p) {
    const ConfigResult& config = sweep.configs[p];
    outputs.insert(outputs.end(), config.outputs.begin(), config.outputs.end());
    file.write(manifest_inputs(sweep.plans[p], config, p == 0));
  }
  file.write("],\n\"outputs\": [");
  std::sort(outputs.begin(), outputs.end());
  bool first = true;
  for (const std::string& path : outputs) {
    std::error_code ec;
    const auto bytes = fs::file_size(path, ec);
    if (ec)
      continue;
    file.write(fmt::format("{}\n {{\"path\": {}, \"bytes\": {}}}", first ? "" : ",",
                           json_quoted(path), bytes));
    first = false;
  }
  file.write("]}\n");
  return file.commit();
}

} // namespace rankscope
