// Compares the collective report of generated runs with their ground truth: matching, skew,
// straggler, clocks, bus bandwidth; also with missing ranks, shifted windows and without Seq.
#include "analyses/collectives/collective_report.h"
#include "engine/loader.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <simdjson.h>

namespace rankscope {
namespace {

/// Returns the tables of the facts of these ranks.
Result<Report> truth_report(const std::vector<RankCollectives>& ranks,
                            const CollectiveOptions& options) {
  RS_TRY(const CollectiveFacts facts, collective_facts(ranks, options));
  return collective_tables(facts, options);
}

struct Case {
  const char* name;
  bool no_seq = false;
  double clock_us = 0;
  bool distinct_base = false;
  std::vector<int> missing = {};
  int shift = -1;
  int fewer = -1;
  int groups = 1;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class CollectivesTruth : public ::testing::TestWithParam<Case> {};

TEST_P(CollectivesTruth, MatchingSkewStragglerClocksAndBandwidth) {
  const Case& c = GetParam();
  test::TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {42};
  o.ranks = 8;
  o.layers = 10;
  o.steps = 4;
  o.seq = !c.no_seq;
  o.clock_offset_us = c.clock_us;
  o.distinct_base = c.distinct_base;
  for (const int r : c.missing)
    o.missing_ranks.push_back(r);
  o.shift_window = c.shift;
  o.fewer_steps = c.fewer;
  o.process_groups = c.groups;
  ASSERT_TRUE(synth::generate(o, folder.path(), 2, nullptr));
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
  const simdjson::dom::element config = truth["configs"].at(0).value();

  std::vector<RankCollectives> ranks;
  std::map<std::int64_t, std::int64_t> clock_of;
  for (const simdjson::dom::element rank : config["ranks"].get_array()) {
    std::string_view file;
    if (rank["file"].get(file) != simdjson::SUCCESS)
      continue;
    auto loaded = load_trace(folder.path() + "/" + std::string(file), LoadOptions{});
    if (!loaded)
      continue; // the rank is missing
    loaded->rank = rank["rank"].get_int64().value();
    clock_of[loaded->rank] = rank["clock_offset_ns"].get_int64().value();
    ranks.push_back(extract_collectives(*loaded));
    EXPECT_EQ(ranks.back().comm_ns, rank["communication_ns"].get_int64().value());
    EXPECT_EQ(ranks.back().exposed_ns, rank["exposed_comm_ns"].get_int64().value());
  }
  ASSERT_EQ(ranks.size(), 8 - c.missing.size());
  const auto report = truth_report(ranks, CollectiveOptions{});
  ASSERT_TRUE(report) << report.error().message();

  // clocks are relative to the first rank
  const Table* clocks = report->find("clocks");
  ASSERT_NE(clocks, nullptr);
  for (std::size_t r = 0; r < clocks->rows(); ++r) {
    EXPECT_TRUE(clocks->at(r, "aligned").i);
    const std::int64_t rank = clocks->at(r, "rank").i;
    const double want =
        static_cast<double>(clock_of.at(rank) - clock_of.at(clocks->at(0, "rank").i)) / 1e3;
    EXPECT_NEAR(clocks->at(r, 2).number(), want, 1.0) << "rank " << rank;
  }

  // every collective of the ground truth has a row with the same group, members, latency, skew and
  // bandwidth
  const Table* rows = report->find("nccl_implicit_sync");
  ASSERT_NE(rows, nullptr);
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::size_t>> by_size;
  std::size_t truths = 0;
  std::size_t blank = 0;
  std::vector<double> want_skew;
  std::vector<double> want_bus;
  for (const simdjson::dom::element x : config["collectives"].get_array()) {
    ++truths;
    std::vector<double> starts;
    std::vector<double> durations;
    std::size_t k = 0;
    std::vector<std::int64_t> members;
    for (const simdjson::dom::element m : x["ranks"].get_array())
      members.push_back(m.get_int64().value());
    const simdjson::dom::array s = x["start_ns"].get_array().value();
    const simdjson::dom::array e = x["end_ns"].get_array().value();
    for (; k < members.size(); ++k) {
      if (clock_of.count(members[k]) == 0 || c.shift >= 0 || c.fewer >= 0)
        continue;
      const double start = static_cast<double>(s.at(k).get_int64().value());
      const double end = static_cast<double>(e.at(k).get_int64().value());
      starts.push_back(start);
      durations.push_back(end - start);
    }
    if (starts.empty())
      continue;
    if (!c.missing.empty()) { // of the only group, which has all ranks
      ++blank;
      continue;
    }
    want_skew.push_back((*std::max_element(starts.begin(), starts.end()) -
                         *std::min_element(starts.begin(), starts.end())) /
                        1e3);
    want_bus.push_back(x["busbw_gbps"].get_double().value());
  }
  EXPECT_GT(truths, 60U);
  EXPECT_EQ(rows->rows(), truths);
  std::vector<double> got_skew;
  std::vector<double> got_bus;
  std::size_t blanks = 0;
  for (std::size_t r = 0; r < rows->rows(); ++r) {
    const Value bus = rows->at(r, "bus bw (GB/s)");
    const bool none = bus.is_null() || std::isnan(bus.number());
    EXPECT_EQ(rows->at(r, "skew in start time").is_null(), none);
    blanks += none ? 1 : 0;
    if (none)
      continue;
    got_skew.push_back(rows->at(r, "skew in start time").number());
    got_bus.push_back(bus.number());
  }
  const auto compare = [](std::vector<double> got, std::vector<double> want, double absolute,
                          double relative) {
    if (want.empty())
      return;
    std::sort(got.begin(), got.end());
    std::sort(want.begin(), want.end());
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], want[i], std::max(absolute, relative * std::fabs(want[i])));
  };
  if (c.shift < 0 && c.fewer < 0) {
    EXPECT_EQ(blanks, blank);
  }
  compare(got_skew, want_skew, 2.5, 0); // two clocks, each accurate to 1 us
  // the ground truth measures from the last start to the first end, the reference uses the shortest
  // duration
  compare(got_bus, want_bus, 1e-3, 0.08);

  const Table* straggler = report->find("straggler_summary");
  ASSERT_EQ(straggler == nullptr, blanks == rows->rows());
  if (straggler == nullptr)
    return; // if members are missing, the last rank is unknown
  const std::int64_t slow = config["straggler"]["rank"].get_int64().value();
  if (clock_of.count(slow) > 0 && c.groups == 1) {
    EXPECT_EQ(straggler->at(0, "rank").i, slow);
    // the method that needs no clocks finds the same rank
    std::size_t most = 0;
    for (std::size_t r = 1; r < straggler->rows(); ++r)
      if (straggler->at(r, "times_shortest").i > straggler->at(most, "times_shortest").i)
        most = r;
    EXPECT_EQ(straggler->at(most, "rank").i, slow);
  }
  // a shift without Seq is reported, nothing else is
  const Table* problems = report->find("problems");
  EXPECT_EQ(problems != nullptr, c.no_seq && c.shift >= 0);
}

INSTANTIATE_TEST_SUITE_P(
    Runs, CollectivesTruth,
    ::testing::Values(Case{"plain"}, Case{"no_seq", true}, Case{"clocks", false, 500, true},
                      Case{"clocks_no_seq", true, 200, true},
                      Case{"missing_rank", false, 100, false, {3}},
                      Case{"shifted", false, 100, false, {}, 2},
                      Case{"shifted_no_seq", true, 100, false, {}, 2},
                      Case{"fewer_steps", true, 0, false, {}, -1, 5},
                      Case{"two_groups", false, 100, false, {}, -1, -1, 2},
                      Case{"two_groups_no_seq", true, 0, false, {}, -1, -1, 2}),
    [](const auto& run) { return std::string(run.param.name); });

} // namespace
} // namespace rankscope
