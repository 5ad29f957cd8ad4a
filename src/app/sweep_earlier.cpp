#include "app/sweep_earlier.h"

#include "core/json_parse.h"
#include "os/whole_file.h"

#include <algorithm>
#include <filesystem>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;

RunStatus status_of(std::string_view name) {
  for (const RunStatus status :
       {RunStatus::kSuccess, RunStatus::kTimeout, RunStatus::kInterrupted, RunStatus::kSkipped})
    if (name == status_name(status))
      return status;
  return RunStatus::kFailed;
}

std::string text_of(const dom::element& object, const char* key) {
  std::string_view text;
  return object[key].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::optional<double> number_of(const dom::element& object, const char* key) {
  double value = 0;
  return object[key].get(value) == simdjson::SUCCESS ? std::optional(value) : std::nullopt;
}

void add_row(const dom::element& item, const std::string& folder, EarlierRows& out) {
  PlannedRun& run = out.runs.emplace_back();
  run.folder = folder;
  if (std::int64_t repeat = 0; item["repeat"].get(repeat) == simdjson::SUCCESS)
    run.repeat = repeat;
  SweepSetting& setting = out.settings.emplace_back();
  setting.configuration.label = run.label = text_of(item, "setting");
  if (run.repeat > 0)
    run.label += ", repeat " + std::to_string(run.repeat);
  for (const auto& [name, value] : read_run_manifest(folder + "/manifest.json").parameters)
    setting.configuration.set(name, value);
  SummaryRow row{&run,
                 &setting,
                 std::nullopt,
                 number_of(item, "metric"),
                 number_of(item, "joules"),
                 number_of(item, "joules_per_step"),
                 number_of(item, "host_joules")};
  if (const std::string status = text_of(item, "status"); status != "not run") {
    row.outcome.emplace();
    row.outcome->status = status_of(status);
    row.outcome->exit_code = static_cast<int>(number_of(item, "exit").value_or(-1));
    row.outcome->seconds = number_of(item, "seconds").value_or(0);
    row.outcome->problem = text_of(item, "problem");
    if (dom::array findings; item["findings"].get(findings) == simdjson::SUCCESS)
      for (const dom::element finding : findings)
        if (std::string_view text; finding.get(text) == simdjson::SUCCESS)
          row.outcome->findings.emplace_back(text);
  }
  out.rows.push_back(std::move(row));
}

} // namespace

EarlierRows earlier_rows(const std::string& folder, const std::vector<PlannedRun>& planned) {
  EarlierRows out;
  const Result<std::string> text = read_unregistered(folder + "/manifest.json");
  dom::parser parser;
  dom::element root;
  dom::array runs;
  if (!text || parse_json(parser, *text).get(root) != simdjson::SUCCESS ||
      text_of(root, "rankscope_sweep").empty() || root["runs"].get(runs) != simdjson::SUCCESS)
    return out;
  for (const dom::element item : runs) {
    const std::string below = text_of(item, "folder");
    const std::string place = folder + "/" + below;
    const bool is_planned = std::any_of(planned.begin(), planned.end(),
                                        [&](const PlannedRun& p) { return p.folder == place; });
    std::error_code ec;
    if (!below.empty() && !is_planned && std::filesystem::is_directory(place, ec))
      add_row(item, place, out);
  }
  return out;
}

} // namespace rankscope
