// Tests rankscope watch with Inspector logs: the lines, the page, a truncated log, exit codes.
#include "run_binary.h"
#include "temp_folder.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

/// 2026-02-02, a full minute.
constexpr std::int64_t kBeginUs = 1'769'999'280'000'000;

std::string record(int rank, int number, std::int64_t at_us, double gbps,
                   const std::string& comm = "default_pg") {
  return R"({"header":{"id":"0x7f","comm_name":")" + comm + R"(","rank":)" + std::to_string(rank) +
         R"(,"n_ranks":2,"nnodes":1},"metadata":{"inspector_output_format_version":"v4.0",)" +
         R"("dump_timestamp_us":)" + std::to_string(kBeginUs + at_us) +
         R"(},"coll_perf":{"coll":"AllReduce","coll_sn":)" + std::to_string(number) +
         R"(,"coll_msg_size_bytes":4096,"coll_exec_time_us":)" +
         std::to_string(rank == 1 ? 90 : 100) + R"(,"coll_busbw_gbs":)" + std::to_string(gbps) +
         "}}\n";
}

class WatchLogsCli : public testing::Test {
protected:
  WatchLogsCli() { fs::create_directories(run_); }
  /// Writes 12 collectives per minute of both ranks, for the minutes from `first` to before `last`.
  void write(int first, int last, double gbps, const std::string& comm = "default_pg") const {
    for (int rank = 0; rank < 2; ++rank) {
      std::ofstream out(log(rank), std::ios::app);
      for (int i = first * 12; i < last * 12; ++i)
        out << record(rank, i, std::int64_t{i} * 5'000'000, gbps + i % 3, comm);
    }
  }
  [[nodiscard]] std::string log(int rank) const {
    return run_ + "/node-pid" + std::to_string(rank) + ".log";
  }

  test::TempFolder folder_;
  const std::string run_ = folder_.path("run");
};

TEST_F(WatchLogsCli, LinesPageAndAnAlarmOverARestart) {
  const std::string state = folder_.path("state"), page = folder_.path("page.html");
  write(0, 3, 100);
  const RunResult quiet = run_binary({"watch", run_, "--once", "--state", state, "-o", page});
  EXPECT_EQ(quiet.code, 0) << quiet.err;
  EXPECT_NE(
      quiet.out.find(" logs of 02:28:00Z: 2 of 2 ranks, 101.0 GB/s, rank 1 latest by 10.0 \u00b5s"),
      std::string::npos)
      << quiet.out;
  // logs do not contain exposed time
  EXPECT_EQ(quiet.out.find("exposed"), std::string::npos) << quiet.out;
  EXPECT_NE(test::bytes_of(page).find("72 records of 2 logs read"), std::string::npos);
  write(3, 6, 50);
  const RunResult fell = run_binary({"watch", run_, "--once", "--state", state, "-o", page});
  EXPECT_EQ(fell.code, 5) << fell.err;
  EXPECT_NE(fell.out.find("ALARM bandwidth: logs of 02:31:00Z: bandwidth falls: AllReduce of 4096 "
                          "bytes, group default_pg 0x7f reaches 51.0 GB/s, 50 % less"),
            std::string::npos)
      << fell.out;
  EXPECT_NE(test::bytes_of(page).find("144 records of 2 logs read, 6 windows judged"),
            std::string::npos);
  // HA-D12: the complete sentence, with its time
  EXPECT_NE(test::bytes_of(page).find("Z bandwidth: logs of 02:31:00Z: bandwidth falls: AllReduce"),
            std::string::npos);
}

// HA-E17: text in a name stays in the line of its alarm.
TEST_F(WatchLogsCli, ANewlineInACommunicatorsNameIsNoNewLine) {
  const std::string comm = R"(pg\n::error::forged\u001b[2J\u0085)";
  write(0, 3, 100, comm);
  write(3, 6, 50, comm);
  const RunResult r = run_binary({"watch", run_, "--once"});
  EXPECT_EQ(r.code, 5) << r.err;
  EXPECT_NE(r.out.find("ALARM bandwidth"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("pg?::error::forged?[2J?"), std::string::npos) << r.out;
  EXPECT_EQ(("\n" + r.out + r.err).find("\n::error"), std::string::npos) << r.out << r.err;
}

// HA-D5: the end of the job ends the watch.
TEST_F(WatchLogsCli, TheEndOfTheJobEndsTheWatch) {
  write(0, 3, 100);
  const std::string done = folder_.write("done", "");
  const RunResult r = run_binary({"watch", run_, "--ended-when", done, "--interval", "0.05"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find(" logs of 02:30:00Z: 2 of 2 ranks"), std::string::npos) << r.out;
  EXPECT_EQ(run_binary({"watch", run_, "--ended-when", "pid:x"}).code, 2);
}

TEST_F(WatchLogsCli, ALogThatWasCutOffIsALine) {
  const std::string state = folder_.path("state");
  write(0, 2, 100);
  EXPECT_EQ(run_binary({"watch", run_, "--once", "--state", state}).code, 0);
  fs::resize_file(log(1), 700);
  const RunResult r = run_binary({"watch", run_, "--once", "--state", state});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("node-pid1.log: is shorter than the part already read"), std::string::npos)
      << r.err;
  EXPECT_EQ(run_binary({"watch", run_, "--once", "--state", state, "--window", "30"}).code, 3);
  EXPECT_EQ(run_binary({"watch", run_, "--once", "--window", "0"}).code, 2);
}

} // namespace
} // namespace rankscope
