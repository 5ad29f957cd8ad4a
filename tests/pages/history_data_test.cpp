// Tests that the page of a history contains the series, their levels and changes unmodified.
#include "pages/data/history_data.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace rankscope {
namespace {

std::vector<double> reals(const std::string& blob, std::size_t arrays, simdjson::dom::element at) {
  EXPECT_EQ(at["t"].get_string().value(), "f64");
  std::vector<double> out(at["n"].get_uint64().value());
  const std::size_t begin = arrays + at["o"].get_uint64().value();
  EXPECT_LE(begin + out.size() * sizeof(double), blob.size());
  std::memcpy(out.data(), blob.data() + begin, out.size() * sizeof(double));
  return out;
}

TEST(HistoryPage, HoldsSeriesLevelsAndChanges) {
  History history;
  history.runs = {"build-1", "build-2", "</script>"};
  history.per_step = true;
  history.needed = 11;
  MetricHistory metric;
  metric.metric = "GPU_computation_time";
  metric.unit = "ms";
  metric.values = {10.0, std::nullopt, 12.0};
  metric.levels = {10, 10, 12};
  metric.runs = 2;
  metric.changes = {{2, 10, 12, -20.0, -22.0, std::nullopt, 0.001}};
  history.metrics = {metric};
  Finding note;
  note.headline = "other ranks";
  Finding change_found;
  change_found.rule = "level-change";
  change_found.headline = "worse";
  change_found.evidence = "by </script>";
  change_found.action = "look";
  const std::string blob = history_page_data(
      {&history, "kept", "rankscope baseline history kept", {note}, {change_found}, {"a.rsb"}});
  std::uint32_t length = 0;
  std::memcpy(&length, blob.data(), 4);
  const std::size_t arrays = (4 + std::size_t{length} + 7) / 8 * 8;
  simdjson::dom::parser parser;
  const simdjson::dom::element json =
      parser.parse(simdjson::padded_string(blob.data() + 4, length));
  EXPECT_EQ(json["kind"].get_string().value(), "history");
  EXPECT_EQ(json["badges"].at(0)["text"].get_string().value(), "other ranks");
  EXPECT_EQ(json["findings"].at(0)["headline"].get_string().value(), "worse");
  EXPECT_EQ(json["findings"].at(0)["rule"].get_string().value(), "level-change");
  EXPECT_EQ(json["findings"].at(0)["kind"].get_string().value(), "claim");
  EXPECT_EQ(json["findings"].at(0)["evidence"].get_string().value(), "by </script>");
  EXPECT_EQ(json["findings"].at(0)["action"].get_string().value(), "look");
  EXPECT_EQ(json["runs"].at(2).get_string().value(), "</script>");
  EXPECT_EQ(json["needed"].get_uint64().value(), 11U);
  const auto shown = json["metrics"].at(0);
  EXPECT_TRUE(shown["lower_is_better"].get_bool().value());
  const std::vector<double> values = reals(blob, arrays, shown["values"].value());
  ASSERT_EQ(values.size(), 3U);
  EXPECT_EQ(values[0], 10);
  EXPECT_TRUE(std::isnan(values[1])); // a run without the metric
  EXPECT_EQ(reals(blob, arrays, shown["levels"].value()), (std::vector<double>{10, 10, 12}));
  const auto change = shown["changes"].at(0);
  EXPECT_EQ(change["run"].get_uint64().value(), 2U);
  EXPECT_EQ(change["change"].get_double().value(), -20);
  EXPECT_EQ(change["low"].get_double().value(), -22);
  EXPECT_TRUE(change["high"].is_null());
  EXPECT_EQ(json["Change_Points"]["rows"].get_uint64().value(), 1U);
}

} // namespace
} // namespace rankscope
