#include "temp_folder.h"
#include "writers/plot_panels.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

std::string bars_of(const std::vector<std::string>& names, std::vector<double> values) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kBars;
  panel.categories = names;
  panel.series = {{"", std::move(values)}};
  std::string data;
  std::string body;
  panel_script(panel, "t", "0", 5, data, body);
  return body;
}

TEST(Plot, TicksThatDoNotFitAreThinnedOrTurned) {
  std::vector<std::string> ranks;
  std::vector<std::string> names;
  for (int i = 0; i < 64; ++i) {
    ranks.push_back("Rank " + std::to_string(i));
    if (i < 12)
      names.push_back("some longer name " + std::string(1, static_cast<char>('a' + i)));
  }
  const std::string many = bars_of(ranks, std::vector<double>(64, 1.0));
  EXPECT_EQ(many.find("rotate"), std::string::npos);
  EXPECT_NE(many.find("\"Rank 20\" 21"), std::string::npos); // a round step
  EXPECT_EQ(many.find("\"Rank 21\""), std::string::npos);
  const std::string turned = bars_of(names, std::vector<double>(12, 1.0));
  EXPECT_NE(turned.find("rotate"), std::string::npos);
  for (const std::string& name : names)
    EXPECT_NE(turned.find(name), std::string::npos);
  const std::string few = bars_of({"a", "b"}, {1, 2});
  EXPECT_EQ(few.find("rotate"), std::string::npos);
  EXPECT_NE(few.find("set yrange [0:*]"), std::string::npos); // bars stand on 0
  EXPECT_EQ(bars_of({"a", "b"}, {1, -2}).find("set yrange"), std::string::npos);
}

TEST(Plot, AFewLargeValuesDoNotTakeTheColoursOfTheOthers) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kHeatMap;
  panel.categories = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  panel.series = {{"a", {1, -2, 3, -4, 6, 1, 2, 3, 4, -100}}};
  const auto script = [&panel] {
    std::string data;
    std::string body;
    panel_script(panel, "t", "0", 5, data, body);
    return body;
  };
  EXPECT_NE(script().find("set cbrange [-6:6]"), std::string::npos);
  EXPECT_NE(script().find("'>= 6' 6"), std::string::npos);
  panel.series[0].values[9] = 12;
  EXPECT_NE(script().find("set cbrange [-12:12]"), std::string::npos);
  EXPECT_EQ(script().find(">="), std::string::npos);
}

TEST(Plot, GreyBarsAndErrorBars) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kSideBars;
  panel.by_sign = true;
  panel.categories = {"up", "down", "same"};
  PlotSeries series{"", {5, -4, 1}};
  series.intervals = {{4, 6}, {-5, -3}, {NAN, NAN}};
  series.grey = {false, false, true};
  panel.series = {series};
  std::string data;
  std::string body;
  panel_script(panel, "t", "0", 5, data, body);
  EXPECT_NE(data.find("$bar0_0 << EOD\n2.5 "), std::string::npos);
  EXPECT_NE(data.find("$neg0_0 << EOD\n-2 "), std::string::npos);
  EXPECT_NE(data.find("$grey0_0 << EOD\n0.5 "), std::string::npos);
  EXPECT_NE(body.find("$grey0_0 using 1:2:3:4:5:6 with boxxyerror fs solid 0.9 border lc rgb "
                      "'#333333' lc rgb '#C4C4C4'"),
            std::string::npos)
      << body;
  EXPECT_NE(data.find("$err0 << EOD\n5 1 4 6\n-4 2 -5 -3\nEOD"), std::string::npos) << data;
  // gnuplot's errorbars draw a white disc on the end of the bar
  EXPECT_NE(body.find("$err0 using 3:2:($4-$3):(0) with vectors heads"), std::string::npos);
  EXPECT_NE(data.find("6 1 \"5.0\""), std::string::npos); // the number stands behind the whisker
}

TEST(Plot, ASeriesWithGreyBarsAloneIsInTheLegend) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kBars;
  panel.categories = {"x"};
  PlotSeries grey{"test", {4}};
  grey.grey = {true};
  panel.series = {{"base", {5}}, grey};
  std::string data;
  std::string body;
  panel_script(panel, "t", "0", 5, data, body);
  const std::size_t at = body.find("$grey0_1 using");
  ASSERT_NE(at, std::string::npos) << body;
  EXPECT_NE(body.substr(at).find("title \"test\""), std::string::npos) << body;
}

/// The room behind sideways bars, as a share of what they span.
double room_behind(const std::vector<double>& values, double width_in) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kSideBars;
  panel.categories.resize(values.size(), "x");
  panel.series = {{"", values}};
  std::string data;
  std::string body;
  panel_script(panel, "t", "0", width_in, data, body);
  const std::size_t at = body.find("set offsets 0,graph ");
  return at == std::string::npos ? 0 : std::stod(body.substr(at + 20));
}

// The numbers were cut at the right: their room was the same whatever they said.
TEST(Plot, LongNumbersBehindBarsHaveTheirRoom) {
  EXPECT_GT(room_behind({123456.7, 5}, 4), room_behind({1.5, 5}, 4));
  EXPECT_GT(room_behind({123456.7, 5}, 4), room_behind({123456.7, 5}, 12));
  // eight characters and two of margin at 0.11 in, of two inches: 1.1 / (2 - 1.1)
  EXPECT_NEAR(room_behind({123456.7, 5}, 4), 1.222, 0.001);
}

TEST(Plot, GreyCellsOfAHeatMapTakeNoColour) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kHeatMap;
  panel.categories = {"0", "1"};
  PlotSeries row{"a", {50, -2}};
  row.grey = {true, false};
  panel.series = {row};
  std::string data;
  std::string body;
  panel_script(panel, "t", "0", 5, data, body);
  EXPECT_NE(data.find("$heat0 << EOD\n2 1 -2\nEOD"), std::string::npos) << data;
  EXPECT_NE(data.find("$grey0 << EOD\n1 1 50\nEOD"), std::string::npos);
  EXPECT_NE(body.find("set cbrange [-2:2]"), std::string::npos); // what is grey has no reach
}

// gnuplot gave up on them, and with it on all plots of the run.
TEST(Plot, PanelsWithoutValuesAreEmptyAxes) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "gnuplot is not installed";
  const test::TempFolder folder;
  for (const auto kind :
       {PlotPanel::Kind::kBars, PlotPanel::Kind::kSideBars, PlotPanel::Kind::kHeatMap}) {
    PlotPanel panel;
    panel.kind = kind;
    panel.categories = {"a", "b"};
    panel.series = {{"s", {NAN, NAN}}};
    const std::string path = folder.path("empty.svg");
    const Result<void> drawn = write_plots({{path, PlotSpec{"t", 4, 3, {panel}}}});
    EXPECT_TRUE(drawn) << static_cast<int>(kind);
  }
}

} // namespace
} // namespace rankscope
