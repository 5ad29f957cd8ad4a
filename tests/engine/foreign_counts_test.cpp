// Tests that time grows linearly with numbers that a file determines: repeated ids, steps,
// processes.
#include "analyses/records/records.h"
#include "core/gpu_launches.h"
#include "cost.h"
#include "engine/loader.h"
#include "readers/rocprof/unpacked_databases.h"
#include "rocprof_files.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>

namespace rankscope {
namespace {

using test::TempFolder;

LoadedTrace loaded(const std::string& events) {
  const TempFolder folder;
  LoadOptions options;
  options.link = true;
  Result<LoadedTrace> trace =
      load_trace(folder.write("t.json", "{\"traceEvents\":[" + events + "]}"), options);
  EXPECT_TRUE(trace) << trace.error().message();
  return std::move(*trace);
}

/// Returns n launches and n kernels with one correlation id; `flows`: each has a flow to another
/// track.
std::string launches_of_one_id(std::size_t n, bool flows) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) {
    out += fmt::format(R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,)"
                       R"("tid":1,"ts":{0},"dur":1,"args":{{"correlation":1}}}},)"
                       R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{0},"dur":1,)"
                       R"("args":{{"device":0,"stream":7,"correlation":1}}}},)",
                       2 * i);
    if (flows)
      out += fmt::format(R"({{"ph":"s","cat":"ac2g","id":1,"pid":1,"tid":1,"ts":{0}}},)"
                         R"({{"ph":"f","cat":"ac2g","id":1,"pid":0,"tid":9,"ts":{0}}},)",
                         2 * i);
  }
  out.pop_back();
  return out;
}

// HA-E12: for each call, all events with its id were searched.
TEST(ForeignCounts, LaunchesOfOneId) {
  for (const bool flows : {false, true}) {
    std::map<std::size_t, LoadedTrace> traces;
    const std::size_t n = test::kSanitized ? 2'000 : 10'000;
    for (const std::size_t k : {n, 2 * n, 4 * n})
      traces.emplace(k, loaded(launches_of_one_id(k, flows)));
    test::expect_near_linear(n, [&](std::size_t k) {
      const Launches found = find_launches(traces.at(k).trace, TreeRules::kReference);
      ASSERT_EQ(found.pairs.size(), flows ? 0 : k);
      if (!flows) {
        ASSERT_EQ(found.pairs.front().second, found.pairs.back().second);
      }
    });
  }
}

// Regression test: the number of each step was searched among all steps.
TEST(ForeignCounts, StepsOfOneTrace) {
  std::map<std::size_t, LoadedTrace> traces;
  const std::size_t n = test::kSanitized ? 1'000 : 5'000;
  for (const std::size_t k : {n, 2 * n, 4 * n}) {
    std::string events;
    for (std::size_t i = 0; i < k; ++i)
      events += fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{0}",)"
                            R"("pid":1,"tid":1,"ts":{1},"dur":10}},)"
                            R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{1},)"
                            R"("dur":5,"args":{{"device":0,"stream":7}}}},)",
                            i, 10 * i);
    events.pop_back();
    traces.emplace(k, loaded(events));
    // creates the cached data of the trace before the measurement
    (void)step_records(traces.at(k), {});
  }
  test::expect_near_linear(n, [&](std::size_t k) {
    const std::vector<StepRecord> records = step_records(traces.at(k), {});
    ASSERT_EQ(records.size(), k);
    ASSERT_TRUE(records.back().ns);
  });
}

/// Returns an RPD file of n processes, each with a call and a kernel.
std::string rpd_of(std::size_t n) {
  std::string out =
      "BEGIN; CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);"
      "INSERT INTO rocpd_string VALUES (1, 'hipLaunchKernel'), (2, 'KernelExecution'), (3, 'k');"
      "CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, \"end\", apiName_id, "
      "args_id);"
      "CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, start, \"end\", "
      "description_id, opType_id);"
      "CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);";
  for (std::size_t i = 1; i <= n; ++i)
    out += fmt::format("INSERT INTO rocpd_api VALUES ({0}, {1}, {1}, {2}, {3}, 1, 1);"
                       "INSERT INTO rocpd_op VALUES ({0}, 0, 0, {3}, {4}, 3, 2);"
                       "INSERT INTO rocpd_api_ops VALUES ({0}, {0}, {0});",
                       i, 1000 + i, 10 * i, 10 * i + 1, 10 * i + 5);
  return out + "COMMIT;";
}

// HA-E13: a file with several processes was read once per process.
TEST(ForeignCounts, ProcessesOfOneFile) {
  const TempFolder folder;
  const std::size_t n = test::kSanitized ? 50 : 200;
  std::map<std::size_t, std::vector<RankFile>> plans;
  for (const std::size_t k : {n, 2 * n, 4 * n}) {
    const std::string path = folder.path(fmt::format("{}/x.rpd", k));
    std::filesystem::create_directories(folder.path(fmt::format("{}", k)));
    test::run_sql(path, rpd_of(k));
    Diagnostics diag;
    const Result<RunPlan> plan = discover_run({path}, {}, diag);
    ASSERT_TRUE(plan) << plan.error().message();
    ASSERT_EQ(plan->ranks.size(), k);
    plans[k] = plan->ranks;
  }
  test::expect_near_linear(n, [&](std::size_t k) {
    LoadOptions options;
    std::vector<std::int64_t> ranks;
    ASSERT_TRUE(load_each(plans.at(k), options, [&](std::size_t i, Result<LoadedTrace> trace) {
      ASSERT_TRUE(trace) << trace.error().message();
      EXPECT_EQ(trace->rank, plans.at(k)[i].rank);
      EXPECT_EQ(trace->trace.events.size(), 2U);
      ranks.push_back(trace->rank);
    }));
    ASSERT_EQ(ranks.size(), k);
  });
}

TEST(ForeignCounts, RanksOfOneFileAreEachConsumedOnceAlsoThoseThatAreNotThere) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, rpd_of(10));
  std::vector<RankFile> files;
  for (std::int64_t rank = 3; rank < 13; ++rank) { // the file has ranks 0 to 9
    RankFile file;
    file.rank = 100 + rank;
    file.path = path;
    file.rank_in_file = rank;
    files.push_back(file);
  }
  for (const unsigned threads : {1U, 4U}) {
    LoadOptions options;
    options.threads = threads;
    std::mutex mutex;
    std::map<std::size_t, std::string> seen;
    ASSERT_TRUE(load_each(files, options, [&](std::size_t i, Result<LoadedTrace> trace) {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(seen.emplace(i, trace ? std::to_string(trace->rank) : trace.error().what).second);
      if (trace) {
        EXPECT_EQ(trace->trace.header.rank, files[i].rank_in_file);
      }
    }));
    ASSERT_EQ(seen.size(), 10U);
    EXPECT_EQ(seen[0], "103");
    EXPECT_EQ(seen[6], "109");
    EXPECT_EQ(seen[7], "this rank is not in the file");
  }
}

TEST(ForeignCounts, RanksOfOneFileAreEachAskedWhetherTheyAreLeftOut) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, rpd_of(10));
  std::vector<RankFile> files(10);
  for (std::size_t i = 0; i < files.size(); ++i) {
    files[i].path = path;
    files[i].rank_in_file = files[i].rank = static_cast<std::int64_t>(i);
  }
  for (const bool all : {false, true}) {
    std::vector<std::size_t> asked, consumed;
    std::size_t events = 0;
    std::mutex mutex;
    LoadOptions options;
    options.left_out = [&](std::size_t i) {
      asked.push_back(i);
      return all || i > 0;
    };
    ASSERT_TRUE(load_each(files, options, [&](std::size_t i, Result<LoadedTrace> trace) {
      const std::lock_guard lock(mutex);
      consumed.push_back(i);
      events += trace ? trace->trace.events.size() : 0;
    }));
    EXPECT_EQ(asked.size(), files.size());
    EXPECT_EQ(consumed.size(), files.size());
    EXPECT_EQ(events == 0, all); // if one rank is needed, the file is read for all ranks
  }
}

// HA-E24: the error listed every rank.
TEST(ForeignCounts, RanksOfOneFileAreNamedInOneShortLine) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, rpd_of(test::kSanitized ? 200 : 5'000));
  const Result<LoadedTrace> loaded = load_trace(path, {});
  ASSERT_FALSE(loaded);
  EXPECT_NE(
      loaded.error().message().find("000 ranks (0-4999), but this command reads only one rank"),
      test::kSanitized ? 0 : std::string::npos)
      << loaded.error().message();
  EXPECT_LT(loaded.error().message().size(), path.size() + 100);
}

// Regression test: a compressed database was decompressed three times, to detect its format, to
// list its ranks, and to read it.
TEST(ForeignCounts, APackedDatabaseIsUnpackedOnce) {
  const TempFolder folder;
  const std::string path = folder.path("x.rpd");
  test::run_sql(path, rpd_of(3));
  ASSERT_EQ(std::system(("gzip " + path).c_str()), 0);
  const auto read = [&] {
    const std::size_t before = databases_unpacked();
    Diagnostics diag;
    const Result<RunPlan> plan = discover_run({path + ".gz"}, {}, diag);
    EXPECT_TRUE(plan) << plan.error().message();
    std::size_t ranks = 0;
    EXPECT_TRUE(load_each(plan->ranks, {},
                          [&](std::size_t, Result<LoadedTrace> trace) { ranks += trace ? 1 : 0; }));
    EXPECT_EQ(ranks, 3U);
    return databases_unpacked() - before;
  };
  EXPECT_GT(read(), 1U);
  {
    const ReuseUnpackedDatabases keep;
    EXPECT_EQ(read(), 1U);
    EXPECT_EQ(read(), 0U);
    test::run_sql(folder.path("y"), rpd_of(3)); // replaces the file
    ASSERT_EQ(std::system(("gzip -c " + folder.path("y") + " > " + path + ".gz").c_str()), 0);
    EXPECT_EQ(read(), 1U);
  }
  EXPECT_GT(read(), 1U) << "nothing is kept any more";
}

} // namespace
} // namespace rankscope
