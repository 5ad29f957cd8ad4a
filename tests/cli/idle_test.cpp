// Tests the causes of idle GPU time in `top` and `query`.
#include "run_binary.h"
#include "sql/duckdb_fixture.h"
#include "temp_folder.h"
#include "trace_builder.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace rankscope {
namespace {

using test::run_binary;
using test::RunResult;

/// Writes two ranks with four gaps. Thread 1 launches; its blocking call covers 10 us of the first
/// gap (30 us) of each rank. A call of thread 2 covers both gaps completely.
std::string idle_run(const test::TempFolder& folder) {
  for (const char* rank : {"0", "1"}) {
    test::TraceBuilder b;
    b.kernel("k", 0, 5, 15).call("cudaStreamSynchronize", 10, 20).kernel("k", 50, 50, 10);
    b.kernel("k", 80, 80, 10).kernel("k", 85, 95, 5);
    std::string text = b.text();
    text.insert(text.rfind(']'), R"(,{"ph":"X","cat":"cuda_runtime","name":"cudaEventSynchronize",)"
                                 R"("pid":1,"tid":2,"ts":0,"dur":100,"args":{"correlation":90}})");
    folder.write(std::string("run/rank") + rank + "/trace.json", text);
  }
  return folder.path("run");
}

// ST-C6: a call of another thread is not a cause.
TEST(IdleCommand, TopChargesOnlyCallsOfTheLaunchingThread) {
  const test::TempFolder folder;
  const RunResult r = run_binary({"top", idle_run(folder), "-q", "--width", "120"});
  EXPECT_NE(r.out.find("host: the next work was not launched yet"), std::string::npos) << r.out;
  EXPECT_NE(r.out.find("synchronisation: launching thread was blocked"), std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("the host waited for the GPU"), std::string::npos);
}

// ST-C14: "nothing launched yet" was reported although work on another stream had been launched
// long before and was waiting.
TEST(IdleCommand, WorkThatWaitsOnAnotherStreamWasLaunched) {
  test::TraceBuilder b;
  b.kernel("k", 0, 5, 15).kernel("waits", 2, 200, 10, 8).kernel("k", 150, 160, 10);
  const test::TempFolder folder;
  const std::string trace = folder.write("rank0.json", b.text());
  const RunResult r = run_binary({"top", trace, "-q", "--width", "120"});
  EXPECT_NE(r.out.find("host"), std::string::npos) << r.out;
  EXPECT_EQ(r.out.find("nothing launched"), std::string::npos) << r.out;
}

// One start that is 5 ms late is no reason to launch earlier; many starts that are late by 50 us
// are.
TEST(IdleCommand, ALongDelayAfterALaunchIsNoLaunchOverhead) {
  test::TraceBuilder one, many;
  one.kernel("k", 0, 5, 15).kernel("k", 25, 5025, 15);
  for (int i = 0; i < 20; ++i)
    many.kernel("k", 5000 * i + 25, 5000 * i + 1225, 3700);
  const test::TempFolder folder;
  const RunResult late =
      run_binary({"top", folder.write("rank0.json", one.text()), "-q", "--width", "120"});
  EXPECT_NE(late.out.find("99.9 % of the idle time is launch (time between launch call and start); "
                          "one gap is 5.00 ms"),
            std::string::npos)
      << late.out;
  EXPECT_NE(late.out.find("Find what delays this start"), std::string::npos) << late.out;
  const RunResult slow =
      run_binary({"top", folder.write("many/rank0.json", many.text()), "-q", "--width", "120"});
  EXPECT_NE(slow.out.find("% of the idle time is launch"), std::string::npos) << slow.out;
  EXPECT_EQ(slow.out.find("one gap is"), std::string::npos) << slow.out;
}

// ST-C20: in one row, milliseconds were means over the ranks and gaps were sums.
TEST(IdleCommand, TimesAndGapsAreMeansOverTheRanks) {
  const test::TempFolder folder;
  const std::string run = idle_run(folder);
  const RunResult top = run_binary({"--json", "top", run, "-q"});
  simdjson::dom::parser parser;
  const auto tables = parser.parse(top.out).value()["tables"].value();
  const simdjson::dom::array rows = tables["top_idle"]["rows"];
  std::map<std::string, std::pair<double, double>> by_cause; // ms, gaps
  for (const simdjson::dom::array row : rows)
    by_cause[std::string(std::string_view(row.at(0).value()))] = {double(row.at(2).value()),
                                                                  double(row.at(5).value())};
  using Row = std::pair<double, double>;
  EXPECT_EQ(by_cause["host"], Row(0.040, 2)) << top.out; // 20 + 20 us
  EXPECT_EQ(by_cause["synchronisation"], Row(0.010, 0));
  EXPECT_EQ(by_cause["queued"], Row(0.005, 1));
}

TEST(IdleCommand, SqlViewHasTheMeansOfTop) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  const RunResult sql = run_binary(
      {"query", "SELECT cause, round(idle_ms, 6), gaps FROM idle_by_cause WHERE idle_ms > 0",
       idle_run(folder), "--format", "csv", "-q"});
  EXPECT_EQ(sql.code, 0) << sql.err;
  EXPECT_NE(sql.out.find("host,0.04,2"), std::string::npos) << sql.out;
  EXPECT_NE(sql.out.find("queued,0.005,1"), std::string::npos) << sql.out;
}

} // namespace
} // namespace rankscope
