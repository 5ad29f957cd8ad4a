// Tests the page of `top`: no line is wider than the limit, and texts of traces contain no terminal
// control sequences, for all facts.
#include "pages/top_page.h"

#include "analyses/top/top_words.h"
#include "base/display_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <sstream>

namespace rankscope {
namespace {

class Random {
public:
  explicit Random(unsigned seed) : random_(seed) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  /// Returns a random text of bytes, escape sequences, wide characters, blanks, direction marks and
  /// long words.
  std::string text() {
    static const char* const kPieces[] = {
        "\x1b[31m",     "\x1b]0;title\x07", "\n", "\r",     "\xff",    "\xe4\xb8",
        "\u4e2d\u6587", "\u202e",           " ",  "kernel", "\t",      "a\u0301",
        "\U0001f600",   "((1, 2), (3,))",   "'",  "\\",     "\xc2\x9b"};
    std::string out;
    const unsigned n = below(60);
    for (unsigned i = 0; i < n; ++i)
      out += below(3) == 0 ? std::string(1, static_cast<char>(below(256)))
                           : kPieces[below(std::size(kPieces))];
    return out;
  }
  double number() {
    static constexpr double kNumbers[] = {0,
                                          1.5,
                                          -3,
                                          123456789.123,
                                          1e18,
                                          1e300,
                                          -1e300,
                                          std::numeric_limits<double>::quiet_NaN(),
                                          std::numeric_limits<double>::infinity(),
                                          99.99};
    return kNumbers[below(std::size(kNumbers))];
  }
  std::int64_t integer() {
    static constexpr std::int64_t kNumbers[] = {0, 1, 17, -1, INT64_MAX, INT64_MIN, 1'000'000};
    return kNumbers[below(std::size(kNumbers))];
  }

private:
  std::mt19937 random_;
};

TopFacts random_facts(Random& r) {
  TopFacts f;
  f.overview = {r.text(),    r.text(),   r.text(),    1 + r.below(40), r.integer(),
                r.integer(), r.number(), r.integer(), r.number(),      r.number(),
                r.number(),  r.number(), r.integer(), r.integer(),     r.integer()};
  const auto rows = [&] { return r.below(4); };
  for (unsigned i = rows(); i > 0; --i)
    f.problems.push_back({"", static_cast<Severity>(r.below(3)), r.below(9), r.text(), r.text()});
  for (std::size_t k = 0; k < kTimeKinds; ++k)
    f.times.push_back({static_cast<TimeKind>(k), r.number(), r.number()});
  for (std::size_t c = 0; c < kIdleCauses; ++c)
    f.idle.push_back({static_cast<IdleCause>(c), r.number(), r.number(), r.number(), r.number()});
  for (unsigned i = rows(); i > 0; --i)
    f.kernels.push_back({{r.text(), r.integer(), r.integer(), r.integer()}, r.number(), r.text()});
  for (unsigned i = rows(); i > 0; --i) {
    TopOperator op;
    op.sum.name = r.text();
    op.sum.dims = r.text();
    op.sum.count = r.integer();
    op.sum.kernel_ns = r.number();
    op.percent = r.number();
    op.tflops = r.number();
    op.tbps = r.number();
    op.percent_of_roofline = r.number();
    op.bound = r.below(2) == 0 ? "compute" : "";
    f.operators.push_back(op);
    f.categories.push_back({{r.text(), r.integer(), r.number()}, r.number()});
  }
  for (unsigned i = rows(); i > 0; --i) {
    f.collectives.push_back({r.text(), r.text(), r.text(), r.number(), r.integer(), r.integer(),
                             r.number(), r.number(), r.number(), r.number(), r.number()});
    f.communication.push_back(
        {r.text(), r.integer(), r.number(), r.number(), r.number(), r.number(), r.number()});
  }
  for (unsigned i = r.below(40); i > 0; --i) {
    TopRankRow row;
    row.rank = r.integer();
    row.path = r.text();
    row.total_ms = r.number();
    row.compute_percent = r.number();
    row.late_us = r.number();
    row.slow = r.below(2) == 0;
    row.late = r.below(2) == 0;
    f.ranks.push_back(row);
  }
  for (unsigned i = rows(); i > 0; --i) {
    f.findings.emplace_back();
    f.findings.back().headline = r.text();
    f.findings.back().evidence = r.text();
    f.findings.back().action = r.text();
    f.next.push_back({{"rankscope", r.text(), r.text()}, r.text()});
  }
  return f;
}

std::string without_colours(std::string text) {
  for (const char* code : {"\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[0m"})
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code))
      text.erase(at, std::string_view(code).size());
  return text;
}

TEST(TopPage, NoLineIsWiderThanAskedForWhateverTheNames) {
  Random r(3);
  for (int round = 0; round < 400; ++round) {
    const TopFacts facts = random_facts(r);
    const PageStyle style{40 + r.below(220), r.below(2) == 0, r.below(2) == 0};
    const std::string page = without_colours(top_page(facts, style));
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), std::min<std::size_t>(style.width, 200)) << line;
      EXPECT_EQ(shown_text(line, style.unicode), line); // no terminal control sequences
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line << "|";
    }
  }
}

TEST(TopPage, ColoursAreLeftOutAndEndWithTheirWords) {
  Random r(5);
  for (int round = 0; round < 50; ++round) {
    const TopFacts facts = random_facts(r);
    EXPECT_EQ(top_page(facts, {80, false, true}).find('\x1b'), std::string::npos);
    EXPECT_EQ(without_colours(top_page(facts, {80, true, true})),
              top_page(facts, {80, false, true}));
    std::istringstream lines(top_page(facts, {80, true, true}));
    for (std::string line; std::getline(lines, line);) {
      const std::size_t last = line.rfind("\x1b[");
      EXPECT_TRUE(last == std::string::npos || line.compare(last, 4, "\x1b[0m") == 0) << line;
    }
  }
}

TEST(TopPage, CommandsCanBePasted) {
  EXPECT_EQ(shell_text({"rankscope", "report", "a b/it's", "x\ny", ""}),
            "rankscope report a' 'b/it\\'s x$'\\x0a'y ''");
  TopFacts facts;
  facts.ranks.resize(1);
  facts.next.push_back({{"rankscope", "info", std::string(60, 'p')}, "why"});
  const std::string page = top_page(facts, {40, false, false});
  EXPECT_NE(page.find("  rankscope info \\\n    ppp"), std::string::npos) << page;
  // the rest of the word is at the start of the next line: a shell joins the text before and after
  // a backslash with a newline
  EXPECT_NE(page.find("p\\\nppp"), std::string::npos) << page;
}

TEST(TopPage, CommandsFitWhatWasGiven) {
  TopFacts facts;
  facts.ranks.resize(2);
  facts.ranks[0].path = "run/rank0.json";
  facts.collectives.resize(1);
  const auto lines = [&facts](std::vector<std::string> paths) {
    TopInput input;
    input.paths = std::move(paths);
    input.folder = true;
    std::string out;
    for (const TopNext& next : top_next_steps(facts, input))
      out += shell_text(next.command) + "\n";
    return out;
  };
  EXPECT_NE(lines({"run"}).find("rankscope analyze run\n"), std::string::npos);
  const std::string two = lines({"a.json", "b.json"});
  EXPECT_NE(two.find("rankscope collectives a.json b.json\n"), std::string::npos) << two;
  EXPECT_EQ(two.find("analyze"), std::string::npos) << two; // analyze requires a folder
  facts.ranks.resize(1);                                    // a folder is not a trace
  EXPECT_NE(lines({"run"}).find("rankscope report run/rank0.json\n"), std::string::npos);
}

} // namespace
} // namespace rankscope
