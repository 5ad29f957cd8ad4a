#include "pages/data/history_data.h"

#include "pages/data/page_head.h"

#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

PageHead head_of(const HistoryPageInput& input) {
  const History& history = *input.history;
  PageHead out;
  out.kind = "history";
  out.title = input.title;
  out.subtitle =
      fmt::format("{} runs, {} metrics, GPU times {}", history.runs.size(), history.metrics.size(),
                  history.per_step ? "per profiler step" : "of complete traces");
  out.command = input.command;
  for (const Finding& note : input.notes)
    out.badges.push_back({"warning", note.headline, note.evidence});
  out.findings = input.findings;
  out.files = input.files;
  return out;
}

void optional_number(JsonWriter& json, const char* key, const std::optional<double>& value) {
  value ? json.number(key, *value) : json.null(key);
}

void add_change(JsonWriter& json, const LevelChange& change) {
  json.begin_object();
  json.integer("run", static_cast<std::int64_t>(change.run));
  json.number("before", change.before);
  json.number("after", change.after);
  optional_number(json, "change", change.improvement_percent);
  optional_number(json, "low", change.low_percent);
  optional_number(json, "high", change.high_percent);
  json.number("p", change.p);
  json.end_object();
}

void add_metric(PageBlob& page, const MetricHistory& metric) {
  JsonWriter& json = page.json;
  std::vector<double> values;
  for (const std::optional<double>& value : metric.values)
    values.push_back(value.value_or(NAN));
  json.begin_object();
  json.text("metric", metric.metric);
  json.text("unit", metric.unit);
  json.boolean("lower_is_better", metric.better == Better::kLower);
  page.reals("values", values);
  page.reals("levels", metric.levels);
  json.begin_list("changes");
  for (const LevelChange& change : metric.changes)
    add_change(json, change);
  json.end_list();
  json.end_object();
}

} // namespace

std::string history_page_data(const HistoryPageInput& input) {
  const History& history = *input.history;
  PageBlob page;
  add_head(page, head_of(input));
  page.json.texts("runs", history.runs);
  page.json.integer("needed", static_cast<std::int64_t>(history.needed));
  page.json.begin_list("metrics");
  for (const MetricHistory& metric : history.metrics)
    add_metric(page, metric);
  page.json.end_list();
  for (const Table& table : history_report(history).tables)
    if (table.name() == "History" || table.name() == "Change_Points")
      page.table(table.name(), table);
  return page.take();
}

} // namespace rankscope
