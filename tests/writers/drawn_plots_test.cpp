// Tests plots: positions of the drawn parts, and the bytes of the PNG by decoding it.
#include "temp_folder.h"
#include "writers/plot.h"
#include "writers/plots/axes.h"
#include "writers/plots/cairo_canvas.h"
#include "writers/plots/draw_panel.h"
#include "writers/plots/png.h"
#include "writers/plots/svg_canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <memory>
#include <string>
#include <vector>

namespace rankscope {
namespace {

Result<void> write_plots(const std::vector<std::pair<std::string, PlotSpec>>& plots,
                         TaskPool* pool = nullptr) {
  RS_TRY(Drawing drawing, Drawing::begin(plots, pool));
  return drawing.finish();
}

/// Records what was drawn, in order.
struct Notes {
  struct Bar {
    Spot from, to;
    PlotInk ink;
  };
  struct Text {
    Spot at;
    std::string line;
    double em;
  };
  /// Returns the height of the first text with this content; NaN if there is none.
  [[nodiscard]] double height_of(const std::string& line) const {
    const Text* const text = first_that_says(line);
    return text == nullptr ? NAN : text->at.y;
  }
  [[nodiscard]] const Text* first_that_says(const std::string& line) const {
    for (const Text& text : texts)
      if (text.line == line)
        return &text;
    return nullptr;
  }
  [[nodiscard]] const Bar* first_of(PlotInk ink) const {
    for (const Bar& bar : bars)
      if (bar.ink == ink)
        return &bar;
    return nullptr;
  }

  std::vector<Outline> strokes;
  std::vector<Bar> bars;
  std::vector<Text> texts;
};

class NotedCanvas : public Canvas {
public:
  void fill(const std::vector<Outline>& /*outlines*/, PlotInk /*ink*/) override {}
  void stroke(const Outline& path, double /*width*/, PlotInk /*ink*/) override {
    notes.strokes.push_back(path);
  }
  void bar(Spot from, Spot to, PlotInk ink) override { notes.bars.push_back({from, to, ink}); }
  void text(Spot at, std::string_view line, Anchor /*anchor*/, double em, double /*degrees*/,
            PlotInk /*ink*/) override {
    notes.texts.push_back({at, std::string(line), em});
  }

  Notes notes;
};

Notes drawn(const PlotSpec& spec) {
  NotedCanvas canvas;
  draw_plot(spec, canvas);
  return canvas.notes;
}

PlotPanel box_panel(std::vector<double> values) {
  PlotPanel panel;
  panel.groups = {{"a", std::move(values)}};
  panel.colours = {"#000000"};
  return panel;
}

Notes drawn(const PlotPanel& panel) {
  return drawn(PlotSpec{"t", 6, 4, {panel}});
}

// 1 2 3 4 100: quartiles 2 and 4, median 3, mean 22, an outlier at 100; the axis is from 0 to 100.
TEST(DrawnPlots, ABoxStandsWhereItsNumbersAre) {
  PlotPanel panel = box_panel({1, 2, 3, 4, 100});
  panel.y_range = {0, 100};
  const Notes notes = drawn(panel);
  const double zero = notes.height_of("0");
  const double inch = (zero - notes.height_of("100")) / 100; // inches per unit
  ASSERT_GT(inch, 0);
  const double lift = kTextEm * 0.36; // the text of a tick is this much below its line
  const Notes::Bar* const box = notes.first_of(paler({0, 0, 0}, 0.65));
  ASSERT_NE(box, nullptr);
  EXPECT_NEAR(box->from.y, zero - lift - 4 * inch, 1e-9);
  EXPECT_NEAR(box->to.y, zero - lift - 2 * inch, 1e-9);
  const Notes::Bar* median = nullptr; // the last such bar; the first is in the legend
  const Notes::Bar* mean = nullptr;
  for (const Notes::Bar& bar : notes.bars) {
    median = bar.ink == PlotInk{0, 0, 0} ? &bar : median;
    mean = bar.ink == PlotInk{0xFF, 0x7F, 0x0E} ? &bar : mean;
  }
  ASSERT_TRUE(median != nullptr && mean != nullptr);
  EXPECT_NEAR((median->from.y + median->to.y) / 2, zero - lift - 3 * inch, 1e-9);
  EXPECT_NEAR((mean->from.y + mean->to.y) / 2, zero - lift - 22 * inch, 1e-9);
  EXPECT_FALSE(std::isnan(notes.height_of("outliers")));
  EXPECT_TRUE(std::isnan(drawn(box_panel({1, 2, 3, 4})).height_of("outliers")));
  EXPECT_FALSE(std::isnan(notes.height_of("a (n=5)")));
}

TEST(DrawnPlots, AxesOfLengthsBeginAtZeroAndOthersHoldAll) {
  for (const auto kind : {PlotPanel::Kind::kBox, PlotPanel::Kind::kViolin}) {
    PlotPanel panel;
    panel.kind = kind;
    panel.groups = {{"a", {2, 3, 400, 900}}, {"b", {1, 5, 6, 1000}}};
    Notes notes = drawn(panel);
    EXPECT_FALSE(std::isnan(notes.height_of("0")));
    EXPECT_FALSE(
        std::isnan(notes.height_of("1200"))); // 1000 plus five percent, then up to the next tick
    EXPECT_FALSE(std::isnan(notes.height_of("n=4 each")));
    panel.groups[0].values[0] = -2; // negative, like differences
    notes = drawn(panel);
    EXPECT_FALSE(std::isnan(notes.height_of("-200")));
  }
}

TEST(DrawnPlots, LegendsStandBelowTheTitles) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kViolin;
  panel.groups = {{"a", {2, 3, 4, 9}}, {"b", {1, 5, 6, 10}}};
  panel.title = "one";
  const Notes notes = drawn(PlotSpec{"Title of all", 20, 6, {panel, panel, panel}});
  EXPECT_GT(notes.height_of("one"), notes.height_of("Title of all") + kTextEm);
  EXPECT_GT(notes.height_of("median"), notes.height_of("one") + kTextEm);
  // a title that is too long has a smaller font
  const Notes narrow = drawn(PlotSpec{std::string(200, 'm'), 4, 3, {panel}});
  EXPECT_LT(text_width(narrow.texts[0].line, narrow.texts[0].em), 4);
}

TEST(DrawnPlots, NamesThatDoNotFitAreThinnedOrTurned) {
  std::vector<std::string> ranks;
  for (int i = 0; i < 64; ++i)
    ranks.push_back("Rank " + std::to_string(i));
  // "Rank 63" takes 0.69 in and half a letter, so every fifth name fits
  const NameAxis many = name_axis(ranks, 0.16);
  EXPECT_FALSE(many.turned);
  EXPECT_EQ(many.step, 5U);
  EXPECT_EQ(name_axis(ranks, 1).step, 1U);
  const NameAxis turned = name_axis({"some longer name", "another one"}, 0.5);
  EXPECT_TRUE(turned.turned);
  EXPECT_EQ(turned.step, 1U);
  EXPECT_GT(turned.height, kLineHeight);
}

TEST(DrawnPlots, TicksAreRoundNumbers) {
  EXPECT_DOUBLE_EQ(tick_step(100, 7), 20);
  EXPECT_DOUBLE_EQ(tick_step(0.7, 7), 0.1);
  const auto ticks = ticks_between(-0.1, 0.2, 0.1);
  ASSERT_EQ(ticks.size(), 4U);
  EXPECT_EQ(ticks[1].second, "0.0");
  EXPECT_EQ(ticks[3].second, "0.2");
  EXPECT_EQ(ticks_between(0, 4e9, 1e9)[3].second, "3e+09");
}

TEST(DrawnPlots, NothingToDrawAndOddNumbersAreEmptyAxes) {
  PlotPanel panel = box_panel({NAN, HUGE_VAL});
  EXPECT_FALSE(std::isnan(drawn(panel).height_of("0.0")));
  panel.kind = PlotPanel::Kind::kLines;
  panel.lines = {{"l", {{NAN, 1}, {1, NAN}}}};
  EXPECT_FALSE(std::isnan(drawn(panel).height_of("0.0")));
  panel.lines = {{"l", {{28, 5}}}}; // a single point
  EXPECT_FALSE(std::isnan(drawn(panel).height_of("28")));
}

TEST(DrawnPlots, ALineGoesThroughItsPoints) {
  PlotPanel panel;
  panel.kind = PlotPanel::Kind::kLines;
  panel.lines = {{"256 threads", {{28, 10}, {42, 30}}}};
  panel.y_range = {0, 40};
  const Notes notes = drawn(panel);
  const double zero = notes.height_of("0") - kTextEm * 0.36;
  const double inch = (notes.height_of("0") - notes.height_of("40")) / 40;
  ASSERT_EQ(notes.strokes.size(), 1U);
  const Outline& line = notes.strokes.front();
  ASSERT_EQ(line.size(), 2U);
  EXPECT_LT(line[0].x, line[1].x);
  EXPECT_NEAR(line[0].y, zero - 10 * inch, 1e-9);
  EXPECT_NEAR(line[1].y, zero - 30 * inch, 1e-9);
}

constexpr PlotInk kGreyInk = {0xC4, 0xC4, 0xC4};
constexpr PlotInk kUpInk = {0x2E, 0xCC, 0x71};
constexpr PlotInk kDownInk = {0xE7, 0x4C, 0x3C};

PlotPanel value_panel(PlotPanel::Kind kind, std::vector<std::string> categories,
                      std::vector<double> values) {
  PlotPanel panel;
  panel.kind = kind;
  panel.categories = std::move(categories);
  panel.series = {{"s", std::move(values)}};
  return panel;
}

TEST(DrawnPlots, BarsHaveTheirNamesAndStandOnZero) {
  std::vector<std::string> ranks;
  for (int i = 0; i < 64; ++i)
    ranks.push_back("Rank " + std::to_string(i));
  const auto kBars = PlotPanel::Kind::kBars;
  const Notes many = drawn(value_panel(kBars, ranks, std::vector<double>(64, 1.0)));
  EXPECT_NE(many.first_that_says("Rank 20"), nullptr); // names are shown in round steps
  EXPECT_EQ(many.first_that_says("Rank 21"), nullptr);
  PlotPanel panel = value_panel(kBars, {"a", "b"}, {10, -5});
  panel.by_sign = true;
  const Notes notes = drawn(panel);
  const double zero = notes.height_of("0") - kTextEm * 0.36;
  const double inch = (notes.height_of("0") - notes.height_of("10")) / 10;
  const Notes::Bar* const up = notes.first_of(kUpInk);
  const Notes::Bar* const down = notes.first_of(kDownInk);
  ASSERT_TRUE(up != nullptr && down != nullptr);
  EXPECT_NEAR(up->to.y, zero, 1e-9);
  EXPECT_NEAR(up->from.y, zero - 10 * inch, 1e-9);
  EXPECT_NEAR(down->from.y, zero, 1e-9);
  EXPECT_NEAR(down->to.y, zero + 5 * inch, 1e-9);
  EXPECT_GT(down->from.x, up->to.x);
  const Notes lengths = drawn(value_panel(kBars, {"a", "b"}, {3, 4}));
  EXPECT_NE(lengths.first_that_says("0"), nullptr);
  EXPECT_EQ(lengths.first_that_says("-1"), nullptr);
}

TEST(DrawnPlots, SideBarsHaveIntervalsAndNumbersBehindThem) {
  PlotPanel panel = value_panel(PlotPanel::Kind::kSideBars, {"up", "down", "same"}, {5, -4, 1});
  panel.by_sign = true;
  panel.series[0].intervals = {{4, 6}, {-5, -3}, {NAN, NAN}};
  panel.series[0].grey = {false, false, true};
  const Notes notes = drawn(panel);
  const Notes::Bar* const up = notes.first_of(kUpInk);
  const Notes::Bar* const down = notes.first_of(kDownInk);
  const Notes::Bar* const grey = notes.first_of(kGreyInk);
  ASSERT_TRUE(up != nullptr && down != nullptr && grey != nullptr);
  const double zero = up->from.x;
  const double inch = (up->to.x - zero) / 5;
  EXPECT_NEAR(down->to.x, zero, 1e-9);
  EXPECT_NEAR(down->from.x, zero - 4 * inch, 1e-9);
  EXPECT_NEAR(grey->to.x, zero + inch, 1e-9);
  EXPECT_GT(down->from.y, up->to.y); // the first category is at the top
  const double middle = (up->from.y + up->to.y) / 2;
  const bool interval =
      std::any_of(notes.bars.begin(), notes.bars.end(), [&](const Notes::Bar& bar) {
        return std::fabs(bar.from.x - (zero + 4 * inch)) < 0.01 &&
               std::fabs(bar.to.x - (zero + 6 * inch)) < 0.01 && bar.from.y < middle &&
               bar.to.y > middle;
      });
  EXPECT_TRUE(interval);
  const Notes::Text* const number = notes.first_that_says("5.0");
  ASSERT_NE(number, nullptr);
  EXPECT_GT(number->at.x, zero + 6 * inch);
  EXPECT_NE(notes.first_that_says("down"), nullptr);
}

// Regression test: long numbers were cut off at the right edge, because their space was fixed.
TEST(DrawnPlots, LongNumbersBehindBarsHaveTheirRoom) {
  for (const double width : {4.0, 12.0}) {
    const Notes notes = drawn(PlotSpec{
        "t", width, 3, {value_panel(PlotPanel::Kind::kSideBars, {"x", "y"}, {123456.7, 5})}});
    const Notes::Text* const number = notes.first_that_says("123456.7");
    ASSERT_NE(number, nullptr);
    EXPECT_LT(number->at.x + text_width(number->line, number->em), width);
  }
}

TEST(DrawnPlots, ASeriesWithGreyBarsAloneIsInTheLegend) {
  PlotPanel panel = value_panel(PlotPanel::Kind::kBars, {"x"}, {5});
  EXPECT_EQ(drawn(panel).first_that_says("s"), nullptr); // a single series needs no legend
  PlotSeries grey{"test", {4}};
  grey.grey = {true};
  panel.series.push_back(grey);
  const Notes notes = drawn(panel);
  const Notes::Text* const label = notes.first_that_says("test");
  const Notes::Bar* const patch = notes.first_of(kGreyInk); // the legend is drawn first
  ASSERT_TRUE(label != nullptr && patch != nullptr);
  EXPECT_GT(patch->from.x, label->at.x);
  EXPECT_LT(std::fabs(patch->from.y - label->at.y), kLineHeight);
}

constexpr PlotInk kHottest = {0x1A, 0x98, 0x50};
constexpr PlotInk kColdest = {0xD7, 0x30, 0x27};

TEST(DrawnPlots, AFewLargeValuesDoNotTakeTheColoursOfTheOthers) {
  PlotPanel panel =
      value_panel(PlotPanel::Kind::kHeatMap, {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
                  {1, -2, 3, -4, 6, 1, 2, 3, 4, -100});
  const Notes notes = drawn(panel);
  EXPECT_NE(notes.first_that_says(">= 6"), nullptr);
  EXPECT_NE(notes.first_that_says("<= -6"), nullptr);
  EXPECT_NE(notes.first_that_says("-100.0"), nullptr);
  EXPECT_NE(notes.first_of(kHottest), nullptr); // 6, the end of the scale
  panel.series[0].values[9] = 12;
  const Notes even = drawn(panel);
  EXPECT_EQ(even.first_that_says(">= 12"), nullptr);
  const Notes::Bar* const hottest = even.first_of(kHottest);
  ASSERT_NE(hottest, nullptr);
  EXPECT_NEAR(hottest->from.x + hottest->to.x, 2 * even.first_that_says("12.0")->at.x, 1e-9);
}

TEST(DrawnPlots, GreyCellsOfAHeatMapTakeNoColour) {
  PlotPanel panel = value_panel(PlotPanel::Kind::kHeatMap, {"0", "1"}, {50, -2});
  panel.series[0].grey = {true, false};
  const Notes notes = drawn(panel);
  const Notes::Bar* const grey = notes.first_of(kGreyInk);
  // grey cells do not affect the colour scale
  const Notes::Bar* const coldest = notes.first_of(kColdest);
  ASSERT_TRUE(grey != nullptr && coldest != nullptr);
  EXPECT_NEAR(grey->to.x, coldest->from.x, 1e-9);
  EXPECT_NE(notes.first_that_says("50.0"), nullptr);
  EXPECT_NE(notes.first_that_says("s"), nullptr);
}

TEST(DrawnPlots, PanelsWithoutValuesAreEmptyAxes) {
  for (const auto kind :
       {PlotPanel::Kind::kBars, PlotPanel::Kind::kSideBars, PlotPanel::Kind::kHeatMap}) {
    const Notes notes = drawn(value_panel(kind, {"a", "b"}, {NAN, HUGE_VAL}));
    EXPECT_NE(notes.first_that_says("a"), nullptr) << static_cast<int>(kind);
    for (const Notes::Text& text : notes.texts)
      EXPECT_TRUE(std::isfinite(text.at.x) && std::isfinite(text.at.y) && text.em > 0) << text.line;
  }
}

std::unique_ptr<CairoCanvas> canvas_of(double width, double height, double dots_per_inch) {
  Result<std::unique_ptr<CairoCanvas>> canvas = CairoCanvas::create(width, height, dots_per_inch);
  EXPECT_TRUE(canvas) << (canvas ? "" : canvas.error().message());
  return canvas ? std::move(*canvas) : nullptr;
}

PlotInk at(CairoCanvas& canvas, std::size_t x, std::size_t y) {
  const std::uint32_t pixel = canvas.pixels()[y * canvas.width() + x];
  return {static_cast<std::uint8_t>(pixel >> 16U), static_cast<std::uint8_t>(pixel >> 8U),
          static_cast<std::uint8_t>(pixel)};
}

TEST(DrawnPlots, LettersHaveHoles) {
  const auto canvas = canvas_of(1, 1, 100);
  ASSERT_NE(canvas, nullptr);
  canvas->text({0.1, 0.9}, "o", Anchor::kStart, 1, 0, {0, 0, 0});
  // the middle of an o of 56 by 61 pixels is empty, its left side is black
  EXPECT_EQ(at(*canvas, 10 + 30, 90 - 28), (PlotInk{255, 255, 255}));
  EXPECT_EQ(at(*canvas, 10 + 10, 90 - 28), (PlotInk{0, 0, 0}));
}

// Cairo draws nothing after a text that is not UTF-8.
TEST(DrawnPlots, NamesOfAnyBytesCostNothingElse) {
  const auto canvas = canvas_of(2, 1, 100);
  ASSERT_NE(canvas, nullptr);
  for (const char* name : {"\xff\xfe", "gr\xc3\xb6\xc3", "a\nb\x01", ""})
    canvas->text({0.1, 0.5}, name, Anchor::kMiddle, kTextEm, 45, {0, 0, 0});
  canvas->bar({1, 0.1}, {1.9, 0.9}, {1, 2, 3});
  EXPECT_EQ(at(*canvas, 150, 50), (PlotInk{1, 2, 3}));
  EXPECT_TRUE(canvas->png());
}

// In DejaVu Sans, in thousandths of an em: "Rank 0 (n=4)" is 6681 wide, "variance" 4306.
TEST(DrawnPlots, WidthsAreAboutThoseOfTheFont) {
  EXPECT_NEAR(text_width("Rank 0 (n=4)", 1), 6.681, 0.5);
  EXPECT_NEAR(text_width("variance", 1), 4.306, 0.4);
  EXPECT_DOUBLE_EQ(text_width("\xc3\xb6", 1), text_width("o", 1));
  EXPECT_NEAR(text_width("oo", 2), 4 * text_width("o", 1), 1e-12);
}

/// Decodes the pixels of an 8-bit PNG with a palette.
std::vector<PlotInk> pixels_of(const std::string& png, std::size_t& width) {
  const auto number = [&](std::size_t at) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < 4; ++i)
      out = out << 8U | static_cast<unsigned char>(png[at + i]);
    return out;
  };
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  width = number(16);
  const std::size_t height = number(20);
  std::string palette;
  std::string packed;
  for (std::size_t at = 8; at + 12 <= png.size(); at += number(at) + 12) {
    const std::string name = png.substr(at + 4, 4);
    if (name == "PLTE")
      palette = png.substr(at + 8, number(at));
    if (name == "IDAT")
      packed += png.substr(at + 8, number(at));
    if (name == "IEND") {
      EXPECT_EQ(number(at + 8), 0xAE426082U); // the CRC of IEND, the same in every PNG
    }
  }
  std::vector<unsigned char> rows(height * (width + 1));
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_ZLIB; // also verifies the checksum
  state.next_in = reinterpret_cast<unsigned char*>(packed.data());
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = rows.data();
  state.avail_out = static_cast<std::uint32_t>(rows.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(state.avail_out, 0U);
  std::vector<PlotInk> out;
  std::vector<unsigned char> row(width, 0);
  for (std::size_t y = 0; y < height; ++y) {
    const unsigned char* const from = rows.data() + y * (width + 1);
    for (std::size_t x = 0; x < width; ++x) {
      row[x] = static_cast<unsigned char>(from[x + 1] + (from[0] == 2 ? row[x] : 0));
      const std::size_t at = std::size_t{row[x]} * 3;
      out.push_back({static_cast<std::uint8_t>(palette.at(at)),
                     static_cast<std::uint8_t>(palette.at(at + 1)),
                     static_cast<std::uint8_t>(palette.at(at + 2))});
    }
  }
  return out;
}

TEST(DrawnPlots, APngHoldsWhatWasDrawn) {
  const auto canvas = canvas_of(2, 1, 150);
  ASSERT_NE(canvas, nullptr);
  canvas->bar({0.2, 0.2}, {0.9, 0.7}, {200, 10, 30});
  canvas->fill({circle({1.4, 0.5}, 0.3)}, {0, 120, 40});
  canvas->text({1, 0.9}, "Rank 0", Anchor::kMiddle, kTextEm, 0, {0, 0, 0});
  std::vector<PlotInk> drawn;
  for (std::size_t i = 0; i < canvas->width() * canvas->height(); ++i)
    drawn.push_back(at(*canvas, i % canvas->width(), i / canvas->width()));
  std::size_t width = 0;
  const Result<std::string> png = canvas->png();
  ASSERT_TRUE(png);
  const std::vector<PlotInk> pixels = pixels_of(*png, width);
  ASSERT_EQ(width, canvas->width());
  ASSERT_EQ(pixels.size(), drawn.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    for (const auto part :
         {&PlotInk::red, &PlotInk::green, &PlotInk::blue}) // or the nearest of 256 colours
      ASSERT_LE(std::abs(pixels[i].*part - drawn[i].*part), 24) << i;
  }
  EXPECT_EQ(pixels[50 * width + 60], (PlotInk{200, 10, 30}));
  EXPECT_EQ(pixels[75 * width + 210], (PlotInk{0, 120, 40}));
  EXPECT_EQ(pixels[0], (PlotInk{255, 255, 255}));
}

// The most frequent colours are exact, whatever the number of shades at edges.
TEST(DrawnPlots, MoreColoursThanAPaletteHasAreTheNearest) {
  const auto canvas = canvas_of(4, 1, 100);
  ASSERT_NE(canvas, nullptr);
  // 401 colours including white: the bars of half height have the rarer colours, each similar to
  // that of its neighbour
  for (int i = 0; i < 400; ++i)
    canvas->bar({i / 100.0, 0}, {(i + 1) / 100.0, i % 2 == 0 ? 1 : 0.5},
                {static_cast<std::uint8_t>(i / 2), 7, static_cast<std::uint8_t>(i % 2 * 8)});
  std::size_t width = 0;
  const Result<std::string> png = canvas->png();
  ASSERT_TRUE(png);
  const std::vector<PlotInk> pixels = pixels_of(*png, width);
  EXPECT_EQ(pixels.back(), (PlotInk{255, 255, 255}));
  std::size_t others = 0;
  for (int i = 0; i < 400; ++i) {
    const PlotInk got = pixels[static_cast<std::size_t>(i)];
    const int away = std::abs(got.red - i / 2) + std::abs(got.blue - i % 2 * 8);
    EXPECT_LE(away, i % 2 == 0 ? 0 : 9) << i;
    others += away > 0 ? 1 : 0;
  }
  EXPECT_EQ(others, 400U - 255U);
}

TEST(DrawnPlots, AnSvgHasItsTextAsTextAndNoMarkupOfNames) {
  PlotPanel panel = box_panel({1, 2, 3});
  panel.groups[0].label = "<b>&gr\xc3\xb6\xc3\x9f"
                          "e";
  SvgCanvas canvas(6, 4);
  draw_plot({"t", 6, 4, {panel}}, canvas);
  const std::string svg = std::move(canvas).svg();
  EXPECT_NE(svg.find(">&lt;b&gt;&amp;gr\xc3\xb6\xc3\x9f"
                     "e (n=3)</text>"),
            std::string::npos)
      << svg;
  EXPECT_NE(svg.find("viewBox=\"0 0 540 360\""), std::string::npos);
  EXPECT_EQ(svg.find("<b>"), std::string::npos);
}

TEST(DrawnPlots, NoPlotNeedsAnotherProgram) {
  const test::TempFolder folder;
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", folder.path("nothing").c_str(), 1);
  TaskPool pool(2);
  PlotPanel panel = box_panel({1, 2, 3});
  const Result<void> boxes = write_plots(
      {{folder.path("a.png"), {"t", 4, 3, {panel}}}, {folder.path("a.svg"), {"t", 4, 3, {panel}}}},
      &pool);
  panel.kind = PlotPanel::Kind::kHeatMap;
  const Result<void> heat = write_plots({{folder.path("b.png"), {"t", 4, 3, {panel}}}});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_TRUE(boxes);
  EXPECT_EQ(test::bytes_of(folder.path("a.png")).substr(1, 3), "PNG");
  EXPECT_EQ(test::bytes_of(folder.path("a.svg")).substr(0, 5), "<?xml");
  EXPECT_TRUE(heat);
  EXPECT_EQ(test::bytes_of(folder.path("b.png")).substr(1, 3), "PNG");
}

TEST(DrawnPlots, AFolderThatIsNotThereIsTold) {
  const test::TempFolder folder;
  const Result<void> drawn =
      write_plots({{folder.path("none/a.png"), {"t", 4, 3, {box_panel({1, 2, 3})}}}});
  ASSERT_FALSE(drawn);
  EXPECT_EQ(drawn.error().code, ErrorCode::kOutput);
}

} // namespace
} // namespace rankscope
