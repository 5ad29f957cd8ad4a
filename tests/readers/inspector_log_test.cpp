// Tests logs of the Inspector plugins: complete objects, an incomplete end, damaged text and other
// text.
#include "readers/inspector/inspector_log.h"

#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

const std::string kHeader =
    R"("header":{"id":"0x7f","comm_name":"default_pg","rank":2,"n_ranks":4,"nnodes":1})";
const std::string kMetadata =
    R"("metadata":{"inspector_output_format_version":"v4.0","dump_timestamp_us":1770000000002002,"pid":7})";
const std::string kColl =
    R"("coll_perf":{"coll":"AllReduce","coll_sn":5,"coll_msg_size_bytes":67108864,)"
    R"("coll_exec_time_us":620,"coll_timing_source":"kernel_gpu","coll_algobw_gbs":108.240103,)"
    R"("coll_busbw_gbs":162.360155})";
const std::string kObject = "{" + kHeader + "," + kMetadata + "," + kColl + "}\n";

InspectorPiece read(const std::string& text) {
  InspectorHeader last;
  return read_inspector(text, last);
}

TEST(InspectorLog, AnObjectIsARecord) {
  const InspectorPiece piece = read(kObject);
  ASSERT_EQ(piece.records.size(), 1U);
  const InspectorRecord& r = piece.records[0];
  EXPECT_EQ(r.header.comm, "0x7f");
  EXPECT_EQ(r.header.name, "default_pg");
  EXPECT_EQ(r.header.rank, 2);
  EXPECT_EQ(r.header.n_ranks, 4);
  EXPECT_EQ(r.header.written_us, 1770000000002002);
  EXPECT_EQ(r.what, "AllReduce");
  EXPECT_EQ(r.number, 5U);
  EXPECT_EQ(r.bytes, 67108864U);
  EXPECT_EQ(r.exec_us, 620U);
  EXPECT_DOUBLE_EQ(r.bus_gbps, 162.360155);
  EXPECT_TRUE(r.kernel_timed);
  EXPECT_EQ(piece.used, kObject.size());
  EXPECT_EQ(piece.bad, 0U);
}

TEST(InspectorLog, WhatHasNotEndedWaits) {
  const std::string two = kObject + kObject;
  for (std::size_t n = 0; n <= two.size(); ++n) {
    const InspectorPiece piece = read(two.substr(0, n));
    const std::size_t complete = (n + 1) / kObject.size(); // the end of a line adds nothing
    EXPECT_EQ(piece.records.size(), complete) << n;
    EXPECT_EQ(piece.bad, 0U) << n;
    EXPECT_LE(piece.used, n);
    EXPECT_GE(piece.used + 1, std::min(n, complete * kObject.size())) << n;
    // if reading continues from there, no record is lost
    EXPECT_EQ(read(two.substr(piece.used)).records.size(), 2 - complete) << n;
  }
}

TEST(InspectorLog, ObjectsNeedNoLines) {
  std::string pretty = kObject;
  for (std::size_t at = pretty.find(','); at != std::string::npos; at = pretty.find(',', at + 3))
    pretty.insert(at + 1, "\n  ");
  EXPECT_EQ(read(pretty + pretty).records.size(), 2U);
  EXPECT_EQ(read(kObject.substr(0, kObject.size() - 1) + kObject).records.size(), 2U);
}

TEST(InspectorLog, ATornObjectCostsItself) {
  for (const std::string& torn :
       {kObject.substr(0, 200) + "\n", std::string("[NCCL] words\n"), std::string("}}\n"),
        std::string("{\"a\": }\n"), "{" + kHeader + "}\n", "{" + kMetadata + "," + kColl + "}\n"}) {
    const InspectorPiece piece = read(torn + kObject);
    EXPECT_EQ(piece.records.size(), 1U) << torn;
    EXPECT_EQ(piece.bad, 1U) << torn;
    EXPECT_EQ(piece.used, torn.size() + kObject.size());
  }
}

TEST(InspectorLog, NumbersThatCannotBeAreNoRecord) {
  for (const auto& [from, to] :
       {std::pair("\"rank\":2", "\"rank\":4"),
        std::pair("\"n_ranks\":4", "\"n_ranks\":99999999999"),
        std::pair("\"coll_sn\":5", "\"coll_sn\":-1"),
        std::pair("\"coll_exec_time_us\":620", "\"coll_exec_time_us\":1e99"),
        std::pair(":162.360155", ":-1.0"), std::pair("1770000000002002", "99000000000000000")}) {
    std::string text = kObject;
    text.replace(text.find(from), std::string(from).size(), to);
    const InspectorPiece piece = read(text);
    EXPECT_TRUE(piece.records.empty()) << to;
    EXPECT_EQ(piece.bad, 1U) << to;
  }
}

TEST(InspectorLog, OtherObjectsArePassedOverAndTheHeaderIsInherited) {
  const std::string p2p = "{" + kHeader + "," + kMetadata + R"(,"p2p_perf":{"p2p":"Send"}})" + "\n";
  const std::string stats =
      "{" + kHeader + "," + kMetadata +
      R"(,"dump_stats":{"coll_records":2,"coll_dropped_since_last_dump":17}})" + "\n";
  const InspectorPiece piece = read(p2p + stats + "{" + kColl + "}\n");
  EXPECT_EQ(piece.dropped, 17U);
  ASSERT_EQ(piece.records.size(), 1U);
  EXPECT_EQ(piece.records[0].header.rank, 2);
  EXPECT_EQ(piece.bad, 0U);
}

// Point-to-point calls count as work, and so do dropped records; a statistic with 0 dropped records
// does not.
TEST(InspectorLog, WhatShowsThatAProcessWorks) {
  const auto works_us = [](const std::string& what) {
    return read("{" + kHeader + "," + kMetadata + "," + what + "}\n").works_us;
  };
  EXPECT_EQ(works_us(kColl), 1770000000002002);
  EXPECT_EQ(works_us(R"("p2p_perf":{"p2p":"Send"})"), 1770000000002002);
  EXPECT_EQ(works_us(R"("proxy_op":{})"), 1770000000002002);
  EXPECT_EQ(works_us(R"("dump_stats":{"coll_dropped_since_last_dump":1})"), 1770000000002002);
  EXPECT_EQ(works_us(R"("dump_stats":{"coll_dropped_since_last_dump":0})"), 0);
  EXPECT_EQ(works_us(R"("coll_perf":{"coll":7})"), 0); // unknown format
  EXPECT_EQ(
      read(kObject + "{" + kHeader + R"(,"metadata":{"dump_timestamp_us":5},)" + kColl + "}\n")
          .works_us,
      1770000000002002); // the newest time
}

TEST(InspectorLog, AnObjectWithoutEndIsGivenUp) {
  const std::string endless = "{\"a\": \"" + std::string(kLongestInspectorObject, 'x');
  EXPECT_EQ(read(endless).used, endless.size());
  EXPECT_EQ(read(endless).bad, 1U);
}

TEST(InspectorLog, TheSamplesAreRead) {
  const std::filesystem::path folder = test::golden_dir() / "formats" / "inspector";
  if (!std::filesystem::is_directory(folder))
    GTEST_SKIP() << "the reference data is absent (RANKSCOPE_GOLDEN names its folder)";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string text = test::bytes_of(entry.path().string());
    EXPECT_TRUE(is_inspector_log(text));
    const InspectorPiece piece = read(text);
    EXPECT_EQ(piece.records.size(), 8U) << entry.path();
    EXPECT_EQ(piece.bad, 0U);
    EXPECT_EQ(piece.used, text.size());
  }
}

} // namespace
} // namespace rankscope
