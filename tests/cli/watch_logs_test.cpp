// rankscope watch over Inspector logs: the lines, the page, a log that was cut off, exit codes.
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

std::string record(int rank, int number, std::int64_t at_us, double gbps) {
  return R"({"header":{"id":"0x7f","comm_name":"default_pg","rank":)" + std::to_string(rank) +
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
  /// Of both ranks: so many minutes of 12 collectives.
  void write(int first, int last, double gbps) const {
    for (int rank = 0; rank < 2; ++rank) {
      std::ofstream out(log(rank), std::ios::app);
      for (int i = first * 12; i < last * 12; ++i)
        out << record(rank, i, std::int64_t{i} * 5'000'000, gbps + i % 3);
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
      quiet.out.find(" logs of 02:28:00Z: 2 of 2 ranks, 101.0 GB/s, rank 1 latest by 10.0 us"),
      std::string::npos)
      << quiet.out;
  EXPECT_EQ(quiet.out.find("exposed"), std::string::npos) << quiet.out; // logs do not tell
  EXPECT_NE(test::bytes_of(page).find("72 records of 2 logs read"), std::string::npos);
  write(3, 6, 50);
  const RunResult fell = run_binary({"watch", run_, "--once", "--state", state, "-o", page});
  EXPECT_EQ(fell.code, 5) << fell.err;
  EXPECT_NE(fell.out.find("ALARM bandwidth: logs of 02:31:00Z: bandwidth falls: AllReduce of 4096 "
                          "bytes, group default_pg 0x7f reaches 51.0 GB/s, 50 % less"),
            std::string::npos)
      << fell.out;
  EXPECT_NE(test::bytes_of(page).find("144 records of 2 logs read"), std::string::npos);
}

TEST_F(WatchLogsCli, ALogThatWasCutOffIsALine) {
  const std::string state = folder_.path("state");
  write(0, 2, 100);
  EXPECT_EQ(run_binary({"watch", run_, "--once", "--state", state}).code, 0);
  fs::resize_file(log(1), 700);
  const RunResult r = run_binary({"watch", run_, "--once", "--state", state});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("node-pid1.log: is shorter than what was read of it"), std::string::npos)
      << r.err;
  EXPECT_EQ(run_binary({"watch", run_, "--once", "--state", state, "--window", "30"}).code, 3);
  EXPECT_EQ(run_binary({"watch", run_, "--once", "--window", "0"}).code, 2);
}

} // namespace
} // namespace rankscope
