// Compares the report of a generated trace with the ground truth that was written with it.
#include "analyses/analysis.h"
#include "engine/loader.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <map>
#include <simdjson.h>

namespace rankscope {
namespace {

class ReportTruth : public ::testing::TestWithParam<std::tuple<bool, int>> {};

TEST_P(ReportTruth, TimelineEqualsTheTruthToTheNanosecond) {
  test::TempFolder folder;
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28, 70};
  o.ranks = 4;
  o.layers = 3;
  o.steps = 2;
  o.nvidia = std::get<0>(GetParam());
  o.process_groups = std::get<1>(GetParam());
  o.clock_offset_us = 100;
  ASSERT_TRUE(synth::generate(o, folder.path(), 2, nullptr));
  simdjson::dom::parser parser;
  simdjson::dom::element truth;
  ASSERT_EQ(parser.load(folder.path() + "/ground_truth.json").get(truth), simdjson::SUCCESS);
  int compared = 0;
  for (const auto config : truth["configs"].get_array()) {
    for (const auto rank : config["ranks"].get_array()) {
      const Result<LoadedTrace> trace = load_trace(
          folder.path() + "/" + std::string(rank["file"].get_string().value()), LoadOptions{});
      ASSERT_TRUE(trace);
      const Result<Report> report = build_report(*trace, ReportOptions{});
      ASSERT_TRUE(report);
      const Table* table = report->find("gpu_timeline");
      ASSERT_NE(table, nullptr);
      std::map<std::string, double> ms;
      for (std::size_t row = 0; row < table->rows(); ++row)
        ms[std::string(table->at(row, "type").text)] = table->at(row, "time ms").number();
      const std::pair<const char*, const char*> lines[] = {
          {"total_time", "total_time_ns"},
          {"computation_time", "computation_ns"},
          {"exposed_comm_time", "exposed_comm_ns"},
          {"exposed_memcpy_time", "exposed_memcpy_ns"},
          {"busy_time", "busy_ns"},
          {"idle_time", "idle_ns"},
          {"total_comm_time", "communication_ns"},
          {"total_memcpy_time", "memcpy_ns"}};
      for (const auto& [type, key] : lines) {
        ASSERT_TRUE(ms.count(type)) << type;
        EXPECT_NEAR(ms[type] * 1e6, static_cast<double>(rank[key].get_int64().value()), 0.01)
            << type;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 4 * 4 * 8);
}
INSTANTIATE_TEST_SUITE_P(VendorsAndGroups, ReportTruth,
                         ::testing::Combine(::testing::Bool(), ::testing::Values(1, 2)));

} // namespace
} // namespace rankscope
