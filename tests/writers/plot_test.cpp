#include "writers/plot_panels.h"

#include <cmath>
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

} // namespace
} // namespace rankscope
