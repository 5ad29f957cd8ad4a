// Tests that the page of a comparison shows the ranks and steps that the verdicts compare.
#include "pages/data/comparison_data.h"

#include <cstring>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace rankscope {
namespace {

constexpr std::int64_t kComparisonMs = 1'000'000;

/// Returns a rank whose steps consist of computation and idle time.
RankTimeline rank_of(int steps, std::int64_t compute_ms, std::int64_t idle_ms) {
  RankTimeline out;
  for (int s = 1; s <= steps; ++s) {
    out.step_ns[TimeKind::kComputation][s] = compute_ms * kComparisonMs;
    out.step_ns[TimeKind::kIdle][s] = idle_ms * kComparisonMs;
    out.step_ns[TimeKind::kTotal][s] = (compute_ms + idle_ms) * kComparisonMs;
  }
  for (const auto& [kind, ns] : out.step_ns)
    out.kinds[kind] = {steps * ns.at(1), 100};
  return out;
}

/// The data of the page of two runs.
class PageOfTwo {
public:
  PageOfTwo(const ComparedRun& base, const ComparedRun& test) {
    const Comparison c = compare_runs(base, {test}, {});
    const ComparisonFindings findings = comparison_findings(c);
    blob_ = comparison_page_data({&c, &findings, {"a", "b"}, "rankscope page"});
    std::memcpy(&length_, blob_.data(), 4);
    json_ = parser_.parse(simdjson::padded_string(blob_.data() + 4, length_));
  }
  [[nodiscard]] simdjson::dom::element test() const { return json_["tests"].at(0); }
  [[nodiscard]] simdjson::dom::element json() const { return json_; }
  /// Returns the first number of an array.
  [[nodiscard]] double first(simdjson::dom::element array) const {
    const std::size_t arrays = (4 + std::size_t{length_} + 7) / 8 * 8;
    double out = 0;
    std::memcpy(&out, blob_.data() + arrays + array["o"].get_uint64().value(), sizeof out);
    return out;
  }

private:
  std::string blob_;
  std::uint32_t length_ = 0;
  simdjson::dom::parser parser_;
  simdjson::dom::element json_;
};

// The bars and operators were means over all ranks: a lost rank looked like a change.
TEST(ComparisonPage, ALostRankIsNotADifference) {
  ComparedRun all;
  all.ranks = {{0, rank_of(4, 8, 2)}, {1, rank_of(4, 9, 2)}};
  all.operators = {{"aten::mm", 8e6}};
  ComparedRun lost = all;
  lost.ranks.erase(1);
  lost.operators["aten::mm"] = 2e6;
  const PageOfTwo page(all, lost);
  const auto parts = page.test()["parts"].get_array().value();
  EXPECT_EQ(parts.size(), 3U); // computation, idle, total
  for (const simdjson::dom::element part : parts)
    EXPECT_EQ(part["base"].get_double().value(), part["test"].get_double().value());
  EXPECT_EQ(page.test()["operators"]["rows"].get_uint64().value(), 0U);
}

// Two steps do not contain the idle time between steps, six steps do.
TEST(ComparisonPage, IdleTimeThatOneRunLacksIsLeftOut) {
  ComparedRun six;
  six.ranks[0] = rank_of(6, 8, 2);
  six.ranks[0].step_ns[TimeKind::kTotal].erase(1);
  six.ranks[0].step_ns[TimeKind::kIdle].erase(1);
  ComparedRun two;
  two.ranks[0] = rank_of(2, 8, 1);
  ASSERT_FALSE(same_idle_time(six, two));
  const PageOfTwo page(six, two);
  const auto parts = page.test()["parts"].get_array().value();
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts.at(0)["kind"].get_string().value(), "computation_time");
  EXPECT_EQ(page.json()["series"].at(0)["total_time"]["ms"]["n"].get_uint64().value(), 0U);
}

// The operators of reports were sums over all steps.
TEST(ComparisonPage, OperatorsArePerStep) {
  ComparedRun six;
  six.ranks[0] = rank_of(6, 8, 2);
  six.operators = {{"aten::mm", 6e6}};
  ComparedRun four;
  four.ranks[0] = rank_of(4, 8, 2);
  four.operators = {{"aten::mm", 4e6}};
  const PageOfTwo page(six, four);
  const auto columns = page.test()["operators"]["columns"].get_array().value();
  EXPECT_EQ(columns.at(2)["id"].get_string().value(), "base_ms");
  EXPECT_EQ(page.first(columns.at(2)["data"]), 1);
  EXPECT_EQ(page.first(columns.at(1)["data"]), 0); // difference
}

} // namespace
} // namespace rankscope
