#include "app/compare_verdict.h"

#include "base/json_writer.h"
#include "base/percent_encoding.h"
#include "base/xml_text.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

namespace rankscope {
namespace {

using State = ConditionState;

const char* name_of(State state) {
  switch (state) {
  case State::kRegression:
    return "regression";
  case State::kUnjudged:
    return "not judged";
  case State::kPassed:
    break;
  }
  return "passed";
}

double or_nan(const std::optional<double>& value) {
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

/// Encodes text for the log of a GitHub workflow. In a property, also encodes comma and colon,
/// which would end it.
std::string annotation_text(const std::string& text, bool property) {
  return percent_encoded(text, [property](char c) {
    return c != '%' && c != '\r' && c != '\n' && !(property && (c == ':' || c == ','));
  });
}

void write_metric(JsonWriter& json, const Comparison& comparison, const DashboardRow& row) {
  json.begin_object();
  json.text("metric", row.metric);
  json.text("unit", row.unit);
  json.number("baseline", or_nan(row.base));
  json.begin_list("tests");
  for (std::size_t i = 0; i < row.tests.size(); ++i) {
    if (!row.tests[i])
      continue;
    const DashboardCell& cell = *row.tests[i];
    json.begin_object();
    json.text("label", comparison.tests[i].label);
    json.number("baseline", or_nan(cell.base));
    json.number("value", or_nan(cell.value));
    json.number("improvement_percent", or_nan(cell.estimate()));
    json.number("complete_run_percent", or_nan(cell.improvement));
    json.number("samples_change_percent", or_nan(cell.judgement.change));
    json.number("low_percent", or_nan(cell.judgement.low));
    json.number("high_percent", or_nan(cell.judgement.high));
    json.integer("samples_baseline", static_cast<std::int64_t>(cell.judgement.samples_base));
    json.integer("samples_test", static_cast<std::int64_t>(cell.judgement.samples_test));
    json.text("status", verdict_name(cell.judgement.verdict));
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

void write_change(JsonWriter& json, const Change& row, std::string_view key = {}) {
  json.begin_object(key);
  json.text("what", row.what);
  json.text("name", row.name);
  if (row.state == ChangeState::kReplaced)
    json.text("was", row.old_name);
  json.text("operator", row.op);
  json.text("shapes", row.shapes);
  json.text("state", change_state_name(row.state));
  json.number("baseline_ms", row.base_ms);
  json.number("test_ms", row.test_ms);
  json.number("difference_ms", row.difference_ms);
  json.number("low_ms", or_nan(row.low_ms));
  json.number("high_ms", or_nan(row.high_ms));
  json.number("share_percent", or_nan(row.share_percent));
  json.boolean("beyond_noise", row.reported || row.below_threshold);
  json.boolean("beyond_threshold", row.reported);
  json.end_object();
}

/// Writes the ranked rows of a list, then the replacements that did not change the time.
void write_list(JsonWriter& json, std::string_view key, const ChangeList& list) {
  json.begin_object(key);
  json.number("explained_ms", list.explained_ms);
  json.number("below_threshold_ms", list.below_ms);
  json.number("unexplained_ms", list.unexplained_ms);
  json.begin_list("rows");
  for (const Change& row : list.rows)
    if (row.reported || row.state == ChangeState::kReplaced)
      write_change(json, row);
  json.end_list();
  json.end_object();
}

void write_changes(JsonWriter& json, const Comparison& comparison, std::size_t test) {
  const WhatChanged& changed = comparison.changes[test];
  json.begin_object();
  json.text("label", comparison.tests[test].label);
  json.boolean("known", changed.known);
  if (changed.known) {
    write_change(json, changed.step_time, "step_time");
    write_list(json, "work", changed.work);
    write_list(json, "operators", changed.operators);
    write_list(json, "steps", changed.steps);
  }
  json.end_object();
}

std::string junit_case(const std::string& run, const std::string& name, const std::string& inside) {
  return fmt::format("  <testcase classname=\"rankscope.{}\" name=\"{}\">{}</testcase>\n",
                     xml_escaped(run), xml_escaped(name), inside);
}

} // namespace

std::string verdict_json(const CompareResult& result) {
  const Comparison& comparison = result.comparison;
  const FailOutcome& outcome = result.fail_on;
  JsonWriter json;
  json.begin_object();
  json.text("schema", "rankscope.verdict/1");
  json.text("result", name_of(!outcome.regressions.empty() ? State::kRegression
                              : !outcome.unjudged.empty()  ? State::kUnjudged
                                                           : State::kPassed));
  json.text("baseline", comparison.base.label);
  std::vector<std::string> labels;
  for (const ComparedRun& test : comparison.tests)
    labels.push_back(test.label);
  json.texts("tests", labels);
  json.begin_list("remarks");
  for (const Finding& note : result.findings.notes)
    json.text("", note.sentence());
  json.end_list();
  json.begin_list("conditions");
  for (const ConditionOutcome& condition : outcome.conditions) {
    json.begin_object();
    json.text("label", condition.label);
    json.text("condition", condition.condition);
    json.text("result", name_of(condition.state()));
    json.text("words", condition.words());
    json.end_object();
  }
  json.end_list();
  json.begin_list("metrics");
  for (const DashboardRow& row : comparison.dashboard.rows)
    write_metric(json, comparison, row);
  json.end_list();
  json.begin_list("changes");
  for (std::size_t i = 0; i < comparison.tests.size(); ++i)
    write_changes(json, comparison, i);
  json.end_list();
  json.end_object();
  return json.take();
}

std::string verdict_junit(const CompareResult& result) {
  const Comparison& comparison = result.comparison;
  const FailOutcome& outcome = result.fail_on;
  std::string cases;
  std::size_t tests = outcome.conditions.size();
  for (const ConditionOutcome& condition : outcome.conditions) {
    std::string inside = fmt::format("<system-out>{}</system-out>", xml_escaped(condition.words()));
    if (condition.state() == State::kRegression)
      inside = fmt::format("<failure message=\"{}\"/>", xml_escaped(condition.words()));
    else if (condition.state() == State::kUnjudged)
      inside = fmt::format("<skipped message=\"{}\"/>", xml_escaped(condition.words()));
    cases += junit_case(condition.label, condition.condition, inside);
  }
  if (outcome.conditions.empty())
    for (const DashboardRow& row : comparison.dashboard.rows)
      for (std::size_t i = 0; i < row.tests.size(); ++i)
        if (row.tests[i]) {
          ++tests;
          cases += junit_case(comparison.tests[i].label, row.metric,
                              fmt::format("<system-out>{}: {:.3f} {} against {:.3f}</system-out>",
                                          verdict_name(row.tests[i]->judgement.verdict),
                                          or_nan(row.tests[i]->value), xml_escaped(row.unit),
                                          or_nan(row.tests[i]->base)));
        }
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"rankscope "
                     "compare\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n{}</testsuite>\n",
                     tests, outcome.regressions.size(), outcome.unjudged.size(), cases);
}

std::vector<std::string> annotations(const FailOutcome& outcome) {
  std::vector<std::string> out;
  for (const ConditionOutcome& condition : outcome.conditions)
    if (condition.state() != State::kPassed)
      out.push_back(fmt::format(
          "::{} title={}::{}", condition.state() == State::kRegression ? "error" : "warning",
          annotation_text("rankscope: " + condition.condition, true),
          annotation_text(condition.label + ": " + condition.words(), false)));
  return out;
}

} // namespace rankscope
