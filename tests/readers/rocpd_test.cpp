// Tests rocpd databases of every schema, with several processes in one, and damaged ones.
#include "core/call_tree.h"
#include "core/steps.h"
#include "readers/discovery.h"
#include "readers/reader.h"
#include "rocprof_files.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <sys/stat.h>
#include <thread>

namespace rankscope {
namespace {

using test::RocpdSchema;
using test::TempFolder;

constexpr const char* kRank3 =
    R"({"RANK": "3", "WORLD_SIZE": "8", "AWS_SECRET": "never-to-be-seen", "X": 1})";

EventId find(const Trace& trace, std::string_view name, Category category, int nth = 0) {
  for (EventId i = 0; i < trace.events.size(); ++i)
    if (trace.name(i) == name && trace.events.category[i] == category && nth-- == 0)
      return i;
  return kNoEvent;
}

const Problem* problem(const Trace& trace, std::string_view name) {
  static std::vector<Problem> all;
  all = trace.diagnostics.problems();
  for (const Problem& p : all)
    if (p.name == name)
      return &p;
  return nullptr;
}

class RocpdSchemas : public testing::TestWithParam<RocpdSchema> {};

TEST_P(RocpdSchemas, SameTrace) {
  const TempFolder folder;
  const std::string path = folder.path("1_results.db");
  test::run_sql(path, test::rocpd_session(GetParam(), "a_b", kRank3));
  const Result<Trace> read = read_trace(path);
  ASSERT_TRUE(read) << read.error().message();
  const Trace& t = *read;
  EXPECT_EQ(t.sources[0].reader, "rocpd");
  EXPECT_EQ(t.clock().domain, ClockDomain::kMonotonic);
  EXPECT_EQ(t.header.rank, 3);
  EXPECT_EQ(t.header.world_size, 8);
  EXPECT_EQ(t.vendor(), "AMD");
  ASSERT_EQ(t.header.devices.size(), 1U);
  EXPECT_EQ(t.header.devices[0].name, "AMD Instinct MI300X");
  EXPECT_EQ(t.header.devices[0].warp_size, 64);
  EXPECT_EQ(t.header.devices[0].multiprocessors, 304);
  ASSERT_EQ(t.events.size(), 13U); // 6 regions, a mark, 4 kernels, a copy, ProfilerStep#7
  EXPECT_TRUE(t.diagnostics.empty());

  const EventId gemm = find(t, "Cijk_Ailk_Bljk_BBS_BH", Category::kKernel);
  const EventId comm = find(t, "ncclDevKernel_Generic_4", Category::kKernel);
  const EventId copy = find(t, "Memcpy DtoH (Device -> Host)", Category::kGpuMemcpy);
  ASSERT_NE(gemm, kNoEvent);
  ASSERT_NE(comm, kNoEvent);
  ASSERT_NE(copy, kNoEvent);
  EXPECT_EQ(t.events.ts_ns[gemm], 3000);
  EXPECT_EQ(t.events.dur_ns[gemm], 1000);
  EXPECT_EQ(t.events.device[gemm], 1); // the type_index, not the id of the agent
  EXPECT_EQ(t.events.stream[gemm], 1);
  EXPECT_EQ(t.events.stream[comm], 2);
  // 65537 work items in groups of 256
  EXPECT_EQ(t.strings.view(t.gpu_arg(gemm)->grid), "[257, 2, 1]");
  EXPECT_EQ(t.strings.view(t.gpu_arg(gemm)->block), "[256, 1, 1]");
  EXPECT_EQ(t.gpu_arg(copy)->bytes, 4096);
  EXPECT_EQ(t.events.device[copy], 1);

  const CallTree tree = CallTree::build(t);
  EXPECT_EQ(tree.linked_count(), 5U);
  EXPECT_EQ(t.name(tree.parent(gemm)), "hipLaunchKernel");
  EXPECT_EQ(t.name(tree.parent(comm)), "hipExtLaunchKernel");
  EXPECT_EQ(t.name(tree.parent(tree.parent(comm))), "ncclAllReduce");
  EXPECT_EQ(t.name(tree.parent(copy)), "hipMemcpyAsync");
  for (const int nth : {0, 1}) {
    const EventId node = find(t, "in_graph", Category::kKernel, nth);
    ASSERT_NE(node, kNoEvent);
    EXPECT_EQ(t.name(tree.parent(node)), "hipGraphLaunch");
  }
  const CollectiveArgs* args = t.collective_of(comm);
  ASSERT_NE(args, nullptr);
  EXPECT_EQ(t.strings.view(args->collective_name), "allreduce");
  EXPECT_EQ(t.strings.view(args->dtype), "Float");
  EXPECT_EQ(args->in_nelems, 1048576);
  EXPECT_EQ(args->out_nelems, 1048576);
  EXPECT_EQ(args->group_size, kNoId);
  EXPECT_EQ(t.collective_of(gemm), nullptr);

  EXPECT_NE(find(t, "step 7", Category::kUserAnnotation), kNoEvent);
  EXPECT_NE(find(t, "here", Category::kCpuInstant), kNoEvent);
  const auto steps = profiler_steps(t);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 7);
  EXPECT_EQ(steps[0].start_ns, 1000);
  EXPECT_EQ(t.sources.size(), 2U); // events that rankscope added have a separate source
  // only the two numbers are read from the environment
  for (StrId i = 0; i < t.strings.size(); ++i)
    EXPECT_EQ(t.strings.view(i).find("never-to-be-seen"), std::string_view::npos);
  for (const auto& [key, value] : t.header.other)
    EXPECT_EQ(value.find("never-to-be-seen"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, RocpdSchemas,
                         testing::Values(RocpdSchema::k300, RocpdSchema::k302,
                                         RocpdSchema::k400Timestamps, RocpdSchema::k410));

TEST(Rocpd, SeveralSessionsAreSeveralRanks) {
  const TempFolder folder;
  const std::string path = folder.path("merged.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a_1", R"({"RANK": "5"})"));
  test::run_sql(path,
                test::rocpd_session(RocpdSchema::k302, "b_2", R"({"SLURM_PROCID": "2"})", 50));
  EXPECT_EQ(inspect_file(path, readers()).ranks, (std::vector<std::int64_t>{2, 5}));
  std::map<std::int64_t, std::int64_t> first;
  ASSERT_TRUE(read_traces(path, {}, [&first](Trace t) -> Result<void> {
    EXPECT_EQ(t.events.size(), 13U);
    first[t.header.rank.value_or(-1)] = t.events.ts_ns[0];
    return {};
  }));
  EXPECT_EQ(first, (std::map<std::int64_t, std::int64_t>{{2, 1050}, {5, 1000}}));
  ReadOptions single;
  single.rank = 2;
  const Result<Trace> second = read_trace(path, single);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->events.ts_ns[0], 1050);
  single.rank = 4;
  EXPECT_FALSE(read_trace(path, single));
  EXPECT_FALSE(read_trace(path)); // several ranks, and none is selected
}

// The pointer of a column without a value is null; sanitizers report if it is passed on.
TEST(Rocpd, ColumnsWithoutValuesAreNoFault) {
  const TempFolder folder;
  const std::string path = folder.path("null.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  test::run_sql(path, "UPDATE rocpd_info_agent_a SET extdata = NULL;"
                      "UPDATE rocpd_info_kernel_symbol_a SET extdata = NULL;"
                      "UPDATE rocpd_event_a SET extdata = NULL;"
                      "UPDATE rocpd_info_process_a SET environment = NULL;");
  const Result<Trace> trace = read_trace(path);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->events.size(), 12U); // the mark has no text, so it is left out
  EXPECT_EQ(trace->header.rank, std::nullopt);
  ASSERT_EQ(trace->header.devices.size(), 1U);
  EXPECT_EQ(trace->header.devices[0].warp_size, 0);
}

TEST(Rocpd, SessionsWithoutRanksAreNumberedInOrder) {
  const TempFolder folder;
  const std::string path = folder.path("merged.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "b", R"({"RANK": "1"})", 50));
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", "{}"));
  std::map<std::int64_t, std::int64_t> first;
  ASSERT_TRUE(read_traces(path, {}, [&first](Trace t) -> Result<void> {
    EXPECT_NE(problem(t, "ranks_by_order"), nullptr);
    first[t.header.rank.value_or(-1)] = t.events.ts_ns[0];
    return {};
  }));
  EXPECT_EQ(first, (std::map<std::int64_t, std::int64_t>{{0, 1000}, {1, 1050}}));
}

TEST(Rocpd, FilesWithoutRanksAreNumberedInOrder) {
  const TempFolder folder;
  for (const char* name : {"node1/4242_results.db", "node0/99_results.db"})
    test::run_sql(
        [&] {
          folder.write(name, "");
          return folder.path(name);
        }(),
        test::rocpd_session(RocpdSchema::k300, "a", "{}"));
  Diagnostics diagnostics;
  const Result<RunPlan> plan = discover_run({folder.path()}, {}, diagnostics);
  ASSERT_TRUE(plan) << plan.error().message();
  ASSERT_EQ(plan->ranks.size(), 2U);
  EXPECT_TRUE(plan->ranks[0].path.ends_with("node0/99_results.db"));
  EXPECT_EQ(plan->ranks[1].rank, 1);
  ASSERT_FALSE(diagnostics.empty());
  EXPECT_EQ(diagnostics.problems()[0].name, "ranks_by_order");
}

TEST(Rocpd, RowsThatFitNothingAreCountedOrUnnamed) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  test::run_sql(path,
                "UPDATE rocpd_kernel_dispatch_a SET \"end\" = 2999 WHERE id = 1;" // end < start
                "UPDATE rocpd_kernel_dispatch_a SET start = 'soon' WHERE id = 2;"
                "UPDATE rocpd_kernel_dispatch_a SET start = NULL WHERE id = 3;"
                "UPDATE rocpd_kernel_dispatch_a SET kernel_id = 999, agent_id = -1, event_id = "
                "12345678901234, workgroup_size_x = 'many' WHERE id = 4;"
                "UPDATE rocpd_region_a SET name_id = 777 WHERE id = 2;"
                "UPDATE rocpd_event_a SET parent_stack_id = 4 WHERE id = 3;" // cycle 3 -> 4 -> 3
                "UPDATE rocpd_memory_copy_a SET size = 'x', start = 9223372036854775807, "
                "\"end\" = 9223372036854775807;");
  const Result<Trace> t = read_trace(path);
  ASSERT_TRUE(t) << t.error().message();
  const Problem* bad = problem(*t, "event_bad_time");
  ASSERT_NE(bad, nullptr);
  EXPECT_EQ(bad->count, 4U);
  EXPECT_EQ(bad->severity, Severity::kDataLoss);
  const EventId kernel = find(*t, "(kernel without a name)", Category::kKernel);
  ASSERT_NE(kernel, kNoEvent);
  EXPECT_EQ(t->events.device[kernel], -1);
  EXPECT_EQ(t->events.correlation[kernel], kNoId);
  EXPECT_EQ(t->gpu_arg(kernel), nullptr);
  EXPECT_NE(find(*t, "(no name)", Category::kRuntime), kNoEvent);
}

TEST(Rocpd, ACircleOfOwnersEnds) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  // the launch refers to a call that refers to the launch as its parent; the RCCL call is somewhere
  // else
  test::run_sql(path, "UPDATE rocpd_event_a SET parent_stack_id = 2 WHERE id = 4;"
                      "UPDATE rocpd_event_a SET parent_stack_id = 4 WHERE id = 2;");
  const Result<Trace> t = read_trace(path);
  ASSERT_TRUE(t);
  // by its times, the launch is still inside the RCCL call
  const CollectiveArgs* args =
      t->collective_of(find(*t, "ncclDevKernel_Generic_4", Category::kKernel));
  ASSERT_NE(args, nullptr);
  EXPECT_EQ(t->strings.view(args->collective_name), "allreduce");
}

TEST(Rocpd, ATruncatedDatabaseIsRefusedOrKeepsWhatItHas) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  std::string rows = "BEGIN;";
  for (int i = 0; i < 3000; ++i)
    rows += "INSERT INTO rocpd_region_a SELECT NULL, nid, pid, tid, start, \"end\", name_id, "
            "event_id FROM rocpd_region_a WHERE id = 2;";
  test::run_sql(path, rows + "COMMIT;");
  const std::string bytes = test::bytes_of(path);
  std::size_t kept = 0;
  std::size_t most = 0;
  for (const double part : {0.0001, 0.01, 0.3, 0.6, 0.9}) {
    const std::string cut = folder.write(
        "cut.db",
        bytes.substr(0, static_cast<std::size_t>(part * static_cast<double>(bytes.size()))));
    const Result<Trace> t = read_trace(cut);
    if (!t) {
      EXPECT_EQ(t.error().code, ErrorCode::kUnreadable);
      continue;
    }
    ++kept;
    EXPECT_TRUE(t->diagnostics.data_lost());
    EXPECT_NE(problem(*t, "database_truncated"), nullptr);
    most = std::max(most, t->events.size());
  }
  EXPECT_GE(kept, 1U);
  EXPECT_GT(most, 1000U);
}

TEST(Rocpd, ADamagedPageCostsTheRowsBehindIt) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  std::string rows = "BEGIN;";
  for (int i = 0; i < 3000; ++i)
    rows += "INSERT INTO rocpd_region_a SELECT NULL, nid, pid, tid, start, \"end\", name_id, "
            "event_id FROM rocpd_region_a WHERE id = 2;";
  test::run_sql(path, rows + "COMMIT;");
  std::string bytes = test::bytes_of(path);
  for (std::size_t i = 0; i < 4096; ++i)
    bytes[bytes.size() - 5 * 4096 + i] = static_cast<char>(0xa5);
  const Result<Trace> t = read_trace(folder.write("damaged.db", bytes));
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_NE(problem(*t, "database_damaged"), nullptr);
  EXPECT_GT(t->events.size(), 100U);
  EXPECT_LT(t->events.size(), 3013U);
}

TEST(Rocpd, MissingTablesAreKindsThatWereNotTraced) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  test::run_sql(path, "DROP TABLE rocpd_region_a; DROP TABLE rocpd_sample_a; DROP TABLE "
                      "rocpd_arg_a; DROP TABLE rocpd_info_thread_a; DROP TABLE rocpd_track_a;");
  const Result<Trace> t = read_trace(path);
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.size(), 5U);
  const auto& facts = t->header.other;
  EXPECT_NE(std::find(facts.begin(), facts.end(),
                      std::pair<std::string, std::string>(
                          "rocprof_not_in_file", "\"HIP calls, RCCL calls, roctx ranges\"")),
            facts.end());
}

TEST(Rocpd, NoRowsIsOneError) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, "CREATE TABLE rocpd_kernel_dispatch_a(id INTEGER PRIMARY KEY);"
                      "CREATE VIEW rocpd_string_a AS SELECT 1 AS id, 'x' AS string;");
  const Result<Trace> t = read_trace(path);
  ASSERT_FALSE(t);
  EXPECT_EQ(t.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(t.error().what.find("no usable event among 0 rows"), std::string::npos);
}

TEST(Rocpd, AnEndlessViewIsNotAsked) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  test::run_sql(path, "DROP TABLE rocpd_arg_a; CREATE VIEW rocpd_arg_a AS WITH RECURSIVE n(i) AS "
                      "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 3 AS event_id, "
                      "'count' AS name, 1 AS value FROM n;");
  EXPECT_TRUE(read_trace(path));
}

TEST(Rocpd, TheLogOfAnOpenDatabaseIsReadAndNothingIsWritten) {
  const TempFolder folder;
  const std::string path = folder.path("run/x.db");
  folder.write("run/x.db", "");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  sqlite3_exec(db, "PRAGMA journal_mode=wal; PRAGMA wal_autocheckpoint=0;", nullptr, nullptr,
               nullptr);
  sqlite3_exec(db, test::rocpd_session(RocpdSchema::k300, "a", kRank3).c_str(), nullptr, nullptr,
               nullptr);
  const auto files = [&folder] {
    std::map<std::string, std::uint64_t> out;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("run")))
      out[entry.path().filename().string()] = entry.file_size();
    return out;
  };
  const auto before = files();
  ASSERT_GT(before.at("x.db-wal"), 0U);
  const Result<Trace> t = read_trace(path);
  EXPECT_EQ(files(), before);
  sqlite3_close(db);
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.size(), 13U);
}

TEST(Rocpd, NamesWithControlCharactersAndQuestionMarksInThePath) {
  const TempFolder folder;
  const std::string path = folder.path("a?b#c%20.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  test::run_sql(path, "UPDATE rocpd_info_kernel_symbol_a SET display_name = 'k' || char(1) || "
                      "char(10) || '\"' WHERE id = 8;");
  const Result<Trace> t = read_trace(path);
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_NE(find(*t, "k\x01\n\"", Category::kKernel), kNoEvent);
}

TEST(Rocpd, GroupEndKnowsItsOnlyCollective) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  // as PyTorch calls it: the launch is inside ncclGroupEnd, not inside ncclAllGather
  test::run_sql(
      path, "INSERT INTO rocpd_string_a(id, string) VALUES (20, 'ncclGroupStart'), (21, "
            "'ncclGroupEnd'), (22, 'ncclAllGather'), (23, 'ncclCommInitRank');"
            "INSERT INTO rocpd_event_a VALUES (20, 6, 20, 0, 0, '{}'), (21, 6, 21, 0, 0, '{}'), "
            "(22, 6, 22, 0, 0, '{}'), (23, 6, 23, 0, 0, '{}');"
            "UPDATE rocpd_event_a SET parent_stack_id = 21 WHERE id = 4;"
            "INSERT INTO rocpd_region_a VALUES (30, 77, 4242, 9, 100, 200, 23, 23), (31, 77, 4242, "
            "9, 2201, 2210, 20, 20), (32, 77, 4242, 9, 2220, 2230, 22, 22), (33, 77, 4242, 9, "
            "2240, 2500, 21, 21);"
            "UPDATE rocpd_region_a SET start = 500, \"end\" = 600 WHERE name_id = 7;"
            "INSERT INTO rocpd_arg_a VALUES (30, 23, 1, 'int', 'nranks', '8'), (31, 22, 2, "
            "'size_t', 'sendcount', '100'), (32, 22, 3, 'ncclDataType_t', 'datatype', "
            "'ncclBfloat16');");
  const Result<Trace> t = read_trace(path);
  ASSERT_TRUE(t) << t.error().message();
  const CollectiveArgs* args =
      t->collective_of(find(*t, "ncclDevKernel_Generic_4", Category::kKernel));
  ASSERT_NE(args, nullptr);
  EXPECT_EQ(t->strings.view(args->collective_name), "allgather");
  EXPECT_EQ(t->strings.view(args->dtype), "BFloat16");
  EXPECT_EQ(args->group_size, 8);
  EXPECT_EQ(args->in_nelems, 100);
  EXPECT_EQ(args->out_nelems, 800);
}

TEST(Rocpd, APipeIsReadOnce) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, test::rocpd_session(RocpdSchema::k300, "a", kRank3));
  const std::string bytes = test::bytes_of(path);
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes; });
  const Result<Trace> t = read_trace(pipe);
  writer.join();
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.size(), 13U);
}

TEST(Rocpd, AnotherDatabaseIsNoTrace) {
  const TempFolder folder;
  const std::string path = folder.path("x.db");
  test::run_sql(path, "CREATE TABLE t(id); INSERT INTO t VALUES (1);");
  EXPECT_FALSE(is_trace_file(path, readers()));
  EXPECT_FALSE(read_trace(path));
}

} // namespace
} // namespace rankscope
