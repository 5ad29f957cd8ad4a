// Tests rankscope query and export: values equal those of other commands, every query of the
// documentation works, results in each format, statements without side effects, a missing and a
// wrong library, and the dataset read by DuckDB and by pandas.
#include "base/json_text.h"
#include "run_binary.h"
#include "small_sweep.h"
#include "sql/duckdb_fixture.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

std::string two_ranks() {
  return (test::source_dir() / "tests/data/synth/amd").string();
}

/// Returns the rows of a table in JSON, with cells as text.
std::vector<std::vector<std::string>> rows_of(const std::string& json, const std::string& table) {
  simdjson::dom::parser parser;
  const auto root = parser.parse(json);
  std::vector<std::vector<std::string>> out;
  if (root.error() != simdjson::SUCCESS)
    return out;
  simdjson::dom::array rows;
  if (root["tables"][table]["rows"].get(rows) != simdjson::SUCCESS)
    return out;
  for (const simdjson::dom::array row : rows) {
    out.emplace_back();
    for (const simdjson::dom::element cell : row)
      out.back().push_back(cell.is_string() ? std::string(std::string_view(cell))
                                            : simdjson::minify(cell));
  }
  return out;
}

std::vector<std::vector<std::string>> query_query(const std::string& sql,
                                                  const std::string& input) {
  const RunResult r = run_binary({"query", sql, input, "--json", "-q"});
  EXPECT_EQ(r.code, 0) << sql << ": " << r.err;
  return rows_of(r.out, "result");
}

double number_query(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

TEST(Query, SumsOverKernelsAreThoseOfTheReport) {
  RS_NEEDS_DUCKDB();
  std::vector<std::string> traces = {two_ranks() + "/rank0.json.gz"};
  const fs::path golden =
      test::golden_dir() / "h100/Falconsai_nsfw_image_detection__1016002.json.gz";
  if (fs::exists(golden))
    traces.push_back(golden.string());
  else
    std::cout << "no golden trace: one trace less\n";
  for (const std::string& trace : traces) {
    const RunResult report = run_binary({"report", trace, "--json", "-q"});
    std::map<std::string, double> want; // us per kernel
    simdjson::dom::parser parser;
    const simdjson::dom::element sheet =
        parser.parse(report.out)["tables"]["kernel_summary"].value();
    std::vector<std::string> ids;
    for (const std::string_view id : simdjson::dom::array(sheet["ids"]))
      ids.emplace_back(id);
    const auto place = [&](const char* id) {
      return static_cast<std::size_t>(std::find(ids.begin(), ids.end(), id) - ids.begin());
    };
    const std::size_t name = place("kernel_name");
    const std::size_t sum = place("kernel_duration_us_sum");
    ASSERT_LT(name, ids.size());
    ASSERT_LT(sum, ids.size());
    for (const auto& row : rows_of(report.out, "kernel_summary"))
      want[row[name]] += number_query(row[sum]);
    std::map<std::string, double> got;
    for (const auto& row :
         query_query("SELECT name, sum(dur_ns) / 1e3 FROM kernels WHERE launch_event IS NOT NULL "
                     "GROUP BY name",
                     trace))
      got[row[0]] = number_query(row[1]);
    ASSERT_FALSE(want.empty());
    for (const auto& [kernel, us] : want)
      EXPECT_NEAR(got[kernel], us, 1e-6 * us) << kernel;
    // the sheet has the same values in SQL
    const auto timeline = query_query("SELECT type, time_ms FROM gpu_timeline", trace);
    const auto report_rows = rows_of(report.out, "gpu_timeline");
    ASSERT_EQ(timeline.size(), report_rows.size());
    for (std::size_t i = 0; i < timeline.size(); ++i) {
      EXPECT_EQ(timeline[i][0], report_rows[i][0]);
      EXPECT_EQ(timeline[i][1], report_rows[i][1]);
    }
    const auto ranks = query_query("SELECT total_ns, idle_ns FROM ranks", trace);
    ASSERT_EQ(ranks.size(), 1U);
    for (const auto& row : report_rows)
      if (row[0] == "total_time") {
        EXPECT_NEAR(number_query(ranks[0][0]) / 1e6, number_query(row[1]), 1e-6);
      }
  }
}

TEST(Query, ViewsAreWhatTheirTablesSay) {
  RS_NEEDS_DUCKDB();
  const std::string run = two_ranks();
  // brute force, from the single kernels
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> kernels;
  for (const auto& row : query_query("SELECT name, dur_ns, work FROM kernels", run))
    if (row[2] == "computation" || row[2] == "communication") {
      kernels[row[0]].first += std::stoll(row[1]);
      ++kernels[row[0]].second;
    }
  const auto by_time =
      query_query("SELECT name, launches, total_ms, percent FROM kernels_by_time", run);
  ASSERT_EQ(by_time.size(), kernels.size());
  double percent = 0, before = 1e99;
  for (const auto& row : by_time) {
    EXPECT_EQ(std::stoll(row[1]), kernels[row[0]].second);
    EXPECT_NEAR(number_query(row[2]), static_cast<double>(kernels[row[0]].first) / 1e6, 1e-9);
    EXPECT_LE(number_query(row[2]), before);
    before = number_query(row[2]);
    percent += number_query(row[3]);
  }
  EXPECT_NEAR(percent, 100, 1e-6);
  // exposed communication per step, slow ranks and idle causes are compared with steps and sheets
  const auto steps = query_query("SELECT exposed_ms, exposed_comm_ns, total_ms, total_ns FROM "
                                 "exposed_by_step JOIN steps USING (run, rank, step)",
                                 run);
  EXPECT_EQ(steps.size(), 4U);
  for (const auto& row : steps) {
    EXPECT_NEAR(number_query(row[0]), number_query(row[1]) / 1e6, 1e-9);
    EXPECT_NEAR(number_query(row[2]), number_query(row[3]) / 1e6, 1e-9);
  }
  const auto slow = query_query("SELECT rank, compute_ms, others_ms FROM slow_ranks", run);
  ASSERT_EQ(slow.size(), 2U);
  EXPECT_EQ(slow[0][0], "0");
  EXPECT_EQ(slow[0][1], slow[1][2]);
  const auto idle =
      query_query("SELECT sum(i.idle_ns), any_value(r.idle_ns) FROM idle i JOIN ranks r "
                  "USING (run, rank) GROUP BY rank",
                  run);
  ASSERT_EQ(idle.size(), 2U);
  for (const auto& row : idle)
    EXPECT_EQ(row[0], row[1]);
  const auto exposed = query_query("SELECT (SELECT sum(exposed_ms) FROM exposed_by_collective), "
                                   "(SELECT sum(exposed_ns) / 1e6 FROM collectives), "
                                   "(SELECT sum(exposed_us) / 1e3 FROM nccl_long)",
                                   run);
  ASSERT_EQ(exposed.size(), 1U);
  EXPECT_NEAR(number_query(exposed[0][0]), number_query(exposed[0][1]), 1e-6);
  EXPECT_NEAR(number_query(exposed[0][1]), number_query(exposed[0][2]), 1e-6);
}

// Finds rows where the sum over a view differs from the sheet about the same data.
TEST(Query, ViewsOfLaunchesAreThoseOfTheSheets) {
  RS_NEEDS_DUCKDB();
  const char* const launches =
      "SELECT count(*) FROM (SELECT run, rank, launch, count(*) AS n, sum(call_us) AS c, "
      "sum(gpu_us) AS g, sum(delay_us) AS d FROM launch_calls GROUP BY ALL) "
      "FULL JOIN launch_statistics USING (run, rank, launch) WHERE n IS DISTINCT FROM launches OR "
      "abs(c - call_us_sum) + abs(g - gpu_us_sum) + abs(d - delay_us_sum) > 1e-6";
  const char* const queues =
      "SELECT count(*) FROM (SELECT run, rank, device, stream, count(*) AS n, avg(length) AS m, "
      "stddev(length) AS s, max(length) AS x FROM queue_points GROUP BY ALL) "
      "FULL JOIN queue_length USING (run, rank, device, stream) WHERE n IS DISTINCT FROM points OR "
      "abs(m - length_mean) + abs(s - length_std) + abs(x - length_max) > 1e-6";
  const char* const gaps =
      "SELECT count(*) FROM (SELECT run, rank, device, stream, cause, count(*) AS n, "
      "sum(gap_ns) / 1e3 AS us FROM stream_gaps GROUP BY ALL) FULL JOIN (FROM stream_idle WHERE "
      "gaps > 0) i USING (run, rank, device, stream, cause) WHERE n IS DISTINCT FROM i.gaps OR "
      "abs(us - idle_us_sum) > 1e-6";
  for (const char* sql : {launches, queues, gaps})
    EXPECT_EQ(query_query(sql, two_ranks()), (std::vector<std::vector<std::string>>{{"0"}})) << sql;
  for (const char* table : {"launch_statistics", "queue_length", "stream_idle"})
    EXPECT_GT(
        number_query(query_query(std::string("SELECT count(*) FROM ") + table, two_ranks())[0][0]),
        1)
        << table;
}

TEST(Query, EveryTableAndViewAnswers) {
  RS_NEEDS_DUCKDB();
  const RunResult list = run_binary({"query", "--tables", "--json"});
  ASSERT_EQ(list.code, 0) << list.err;
  std::string all;
  std::size_t tables = 0;
  for (const auto& row : rows_of(list.out, "tables")) {
    all += "SELECT '" + row[0] + "', (SELECT count(*) FROM (SELECT * FROM " + row[0] + "));";
    ++tables;
    EXPECT_FALSE(row[2].empty()) << row[0];
  }
  EXPECT_GT(tables, 60U);
  const RunResult r = run_binary({"query", all, two_ranks(), "--format", "csv", "-q"});
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char* must : {"events,1986", "kernels,320", "steps,4", "ranks,2", "nccl_long,20",
                           "top_ranks,2", "slow_ranks,2"})
    EXPECT_NE(r.out.find(must), std::string::npos) << must;
}

// Equal ranks, of which one lacks a step.
TEST(Query, RanksAreComparedPerStep) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  synth::Options options = test::small_sweep();
  options.ranks = 4;
  options.steps = 5;
  options.straggler = -1;
  options.equal_devices = true;
  options.noise = 0.002;
  options.fewer_steps = 2;
  ASSERT_TRUE(synth::generate(options, folder.path("sweep"), 2, [](const std::string&) {}));
  const auto rows = query_query("SELECT max(abs(above_percent)), count(*) FROM slow_ranks",
                                test::config_folder(folder.path("sweep")));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0][1], "4");
  EXPECT_LT(number_query(rows[0][0]), 1);
}

// Rank 1 computes less in the steps, but has an evaluation after them.
TEST(Query, WorkAfterTheStepsIsNotInTheTimePerStep) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  for (const int rank : {0, 1}) {
    std::string text = fmt::format(
        R"({{"schemaVersion":1,"distributedInfo":{{"rank":{},"world_size":2}},"traceEvents":[)",
        rank);
    const auto kernel = [&text](int id, int start_us, int dur_us) {
      text += fmt::format(
          R"({{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{},"dur":1,)"
          R"("args":{{"correlation":{}}}}},{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},)"
          R"("dur":{},"args":{{"device":0,"stream":7,"correlation":{}}}}},)",
          start_us, id, start_us + 2, dur_us, id);
    };
    for (const int step : {1, 2, 3}) {
      text += fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,)"
                          R"("tid":1,"ts":{},"dur":900}},)",
                          step, 1000 * step);
      kernel(step, 1000 * step + 10, rank == 0 ? 200 : 100);
    }
    if (rank == 1)
      kernel(9, 4500, 3000);
    text.back() = ']';
    folder.write(fmt::format("rank{}.json", rank), text + "}");
  }
  EXPECT_EQ(query_query("SELECT rank, compute_ms FROM slow_ranks", folder.path("")),
            (std::vector<std::vector<std::string>>{{"0", "0.2"}, {"1", "0.1"}}));
}

// Two kernels of one stream overlap from 50 to 100 us.
TEST(Query, AStreamIsBusyForAtMostItsSpan) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  const auto kernel = [](int start_us) {
    return fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":100,)"
                       R"("args":{{"device":0,"stream":7}}}})",
                       start_us);
  };
  const std::string trace = folder.write("t.json", R"({"schemaVersion":1,"traceEvents":[)" +
                                                       kernel(0) + "," + kernel(50) + "]}");
  const auto rows = query_query("SELECT total_ms, percent_of_span FROM streams", trace);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_DOUBLE_EQ(number_query(rows[0][0]), 0.2);
  EXPECT_DOUBLE_EQ(number_query(rows[0][1]), 100);
}

// Rank 1 sends three times as much as rank 0.
TEST(Query, RanksOfAnAllToAllVHaveTheirOwnSizes) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  for (const int rank : {0, 1})
    folder.write(
        fmt::format("rank{}.json", rank),
        fmt::format(
            R"({{"schemaVersion":1,"distributedInfo":{{"rank":{},"world_size":2}},"traceEvents":[)"
            R"({{"ph":"X","cat":"kernel","name":"ncclDevKernel_SendRecv","pid":0,"tid":7,"ts":10,)"
            R"("dur":1000,"args":{{"device":0,"stream":7,"Collective name":"all_to_allv",)"
            R"("In msg nelems":{},"Out msg nelems":2097152,"Group size":2,"dtype":"Float",)"
            R"("Process Group Name":"0","Process Group Ranks":"[0, 1]","Seq":1}}}}]}})",
            rank, rank == 0 ? 1048576 : 3145728));
  EXPECT_EQ(
      query_query("SELECT mib, bus_gbps, algo_gbps FROM collectives ORDER BY rank",
                  folder.path("")),
      (std::vector<std::vector<std::string>>{{"4.0", "null", "null"}, {"12.0", "null", "null"}}));
}

TEST(Query, TheListOfTablesIsAlsoATable) {
  RS_NEEDS_DUCKDB();
  EXPECT_EQ(query_query("FROM tables", two_ranks()),
            rows_of(run_binary({"query", "--tables", "--json"}).out, "tables"));
}

TEST(Query, AFindingStandsOnce) {
  RS_NEEDS_DUCKDB();
  const auto all = query_query(
      "SELECT count(*), count(DISTINCT (rule, subject_kind, coalesce(subject, ''))) FROM findings",
      two_ranks());
  ASSERT_EQ(all.size(), 1U);
  EXPECT_GT(number_query(all[0][0]), 0);
  EXPECT_EQ(all[0][0], all[0][1]);
}

TEST(Query, QueriesOfTheDocumentationRun) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  synth::Options options = test::small_sweep();
  options.layers = 2;
  options.steps = 4;
  ASSERT_TRUE(synth::generate(options, folder.path("sweep"), 2, [](const std::string&) {}));
  const std::string doc = test::bytes_of((test::source_dir() / "docs/sql.md").string());
  const std::regex block("```sql\n([^`]*)```");
  std::size_t queries = 0;
  for (std::sregex_iterator it(doc.begin(), doc.end(), block), end; it != end; ++it) {
    const std::string sql = (*it)[1];
    const RunResult r = run_binary({"query", sql, folder.path("sweep"), "-q"});
    EXPECT_EQ(r.code, 0) << sql << r.err;
    EXPECT_FALSE(r.out.empty()) << sql;
    ++queries;
  }
  EXPECT_GE(queries, 12U);
  // the page lists the existing views
  for (const auto& row : rows_of(run_binary({"query", "--tables", "--json"}).out, "tables"))
    if (row[1] == "view") {
      EXPECT_NE(doc.find("| `" + row[0] + "` | " + row[2]), std::string::npos) << row[0];
    }
}

TEST(Query, ResultsInEachFormat) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  const std::string sql = "SELECT rank, 'a,\"b' AS t, [1, 2] AS l, NULL AS n FROM ranks ORDER BY 1";
  for (const char* ending : {"csv", "json", "parquet", "xlsx", "md"}) {
    const std::string file = folder.path(std::string("it's.") + ending);
    const RunResult r = run_binary({"query", sql, two_ranks(), "-o", file});
    EXPECT_EQ(r.code, 0) << ending << r.err;
    EXPECT_TRUE(fs::exists(file)) << ending;
  }
  EXPECT_EQ(test::bytes_of(folder.path("it's.csv")),
            "rank,t,l,n\n0,\"a,\"\"b\",\"[1,2]\",\n1,\"a,\"\"b\",\"[1,2]\",\n");
  const auto json = rows_of(test::bytes_of(folder.path("it's.json")), "result");
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[1], (std::vector<std::string>{"1", "a,\"b", "[1,2]", "null"}));
  const RunResult back =
      run_binary({"query", "SELECT rank, t, l[2] FROM '" + folder.path("it''s") + ".parquet'",
                  two_ranks(), "--allow-files", "--format", "csv"});
  EXPECT_EQ(back.code, 0) << back.err;
  EXPECT_NE(back.out.find("1,\"a,\"\"b\",2\n"), std::string::npos) << back.out;
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder.path()))
    ++files;
  EXPECT_EQ(files, 5U); // no temporary file remains
}

// The file first, as for sqlite3 and duckdb.
TEST(Query, TheStatementMayComeLast) {
  RS_NEEDS_DUCKDB();
  const RunResult last =
      run_binary({"query", two_ranks(), "SELECT rank FROM ranks ORDER BY 1", "--format", "csv"});
  EXPECT_EQ(last.code, 0) << last.err;
  EXPECT_EQ(last.out, "rank\n0\n1\n");
  EXPECT_EQ(run_binary({"query", two_ranks(), "SELEC 1 2"}).code, 2); // SQL with an error
  EXPECT_EQ(run_binary({"query", two_ranks(), "nope"}).code, 3);      // a path that does not exist
}

TEST(Query, WhatCannotBeDoneIsSaidInOneLine) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  struct Case {
    std::vector<std::string> arguments;
    int code;
    std::string says;
  };
  for (const Case& c : std::vector<Case>{
           {{"SELEC 1", two_ranks()}, 2, "syntax error"},
           {{"SELECT nope FROM events", two_ranks()}, 2, "nope"},
           {{"FROM nothing", two_ranks()}, 2, "--tables"},
           {{"COPY ranks TO '" + folder.path("x.csv") + "'", two_ranks()}, 2, "disabled"},
           {{"FROM ranks", two_ranks(), "-o", folder.path("x.foo")},
            2,
            "is not a known file ending"},
           {{"FROM ranks", two_ranks(), "--format", "parquet"}, 2, "needs a file"},
           {{"FROM ranks", two_ranks(), "-o", folder.path("no/x.csv")}, 6, "no/x.csv"},
           {{"FROM ranks", two_ranks(), "-o", folder.path("no/x.parquet")}, 6, "x.parquet"},
           {{"FROM ranks", two_ranks(), "-o", "/dev/full", "--format", "csv"}, 6, "No space"},
           // HA-E10: exit code was 70
           {{"SELECT * FROM rankscope_table(NULL)", two_ranks()}, 2, "no table"},
           {{"FROM ranks"}, 2, "needs a trace"},
           {{"FROM ranks", folder.path()}, 3, folder.path()}}) {
    std::vector<std::string> arguments = {"query", "-q"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const RunResult r = run_binary(arguments);
    EXPECT_EQ(r.code, c.code) << c.arguments[0] << ": " << r.err;
    EXPECT_NE(r.err.find(c.says), std::string::npos) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

// HA-E10: a function enables DuckDB's log; the refused write ended the process.
TEST(Query, DuckDbsLogIsRefused) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  for (const std::string& storage : {"storage='file', storage_path='" + folder.path("log") + "'",
                                     std::string("storage='stdout'")})
    for (const char* name : {"enable_logging", "Enable_Logging", "\"enable_logging\""}) {
      const RunResult r =
          run_binary({"query", "-q", std::string("CALL ") + name + "(" + storage + "); SELECT 1",
                      two_ranks()});
      EXPECT_EQ(r.code, 2) << r.err;
      EXPECT_NE(r.err.find("enable_logging writes files"), std::string::npos) << r.err;
      EXPECT_EQ(r.out, "");
    }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

// Not only in a terminal: SQL statements never begin with a dot.
TEST(Query, CommandsOfThePromptWorkInAPipe) {
  RS_NEEDS_DUCKDB();
  const RunResult r = test::run_program(
      "/bin/sh", {"-c", "printf '.help\\nSELECT 7 AS seven;\\n.quit\\nSELECT 8;\\n' | '" +
                            test::binary() + "' query '" + two_ranks() + "'"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out.find(".tables  list tables and views\n"), 0U) << r.out;
  EXPECT_TRUE(r.out.ends_with("seven\n    7\n")) << r.out;
}

TEST(Query, ALibraryThatIsNoneIsSaidWithWhatToDo) {
  for (const std::string& library :
       {std::string("/nowhere/libduckdb.so"), (test::source_dir() / "README.md").string(),
        std::string("libc.so.6")}) {
    ::setenv("RANKSCOPE_DUCKDB", library.c_str(), 1);
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"query", "FROM ranks", two_ranks()},
          {"export", "--parquet", "/nowhere/dataset", two_ranks()}}) {
      const RunResult r = run_binary(arguments);
      EXPECT_EQ(r.code, 7) << r.err;
      EXPECT_NE(r.err.find("RANKSCOPE_DUCKDB"), std::string::npos) << r.err;
      EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    }
    ::unsetenv("RANKSCOPE_DUCKDB");
  }
}

TEST(Query, HostileNamesStayTexts) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  const std::string name = "a'; DROP TABLE x; -- \"<b>\n=1+2 \x01 \xff";
  std::string trace = R"({"distributedInfo": {"rank": 0}, "traceEvents": [)";
  trace += R"({"ph": "X", "cat": "kernel", "name": ")" + json_escaped(name) +
           R"(", "ts": 1.5, "dur": 2, "pid": 0, "tid": 7, "args": {"stream": 7, "device": 0}}]})";
  const std::string run = "it's \"odd\"=1; %41";
  folder.write(run + "/rank0.json", trace);
  const auto rows =
      query_query("SELECT name, start_ns, dur_ns, run FROM kernels", folder.path(run));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0][0], "a'; DROP TABLE x; -- \"<b>\n=1+2 \x01 \xef\xbf\xbd");
  EXPECT_EQ(rows[0][1], "1500");
  EXPECT_EQ(rows[0][3], run);
  const RunResult table = run_binary({"query", "SELECT name FROM kernels", folder.path(run)});
  EXPECT_EQ(table.out.find('\x01'), std::string::npos);
  const RunResult written =
      run_binary({"export", "--parquet", folder.path("d's"), folder.path(run)});
  EXPECT_EQ(written.code, 0) << written.err;
  const RunResult back = run_binary(
      {"query",
       "SELECT name, run FROM read_parquet('" + folder.path("d''s") + "/kernels/**/*.parquet')",
       folder.path(run), "--allow-files", "--json", "-q"});
  const auto read = rows_of(back.out, "result");
  ASSERT_EQ(read.size(), 1U) << back.err;
  EXPECT_EQ(read[0][0], rows[0][0]);
  EXPECT_EQ(read[0][1], run);
}

TEST(Export, TheDatasetIsReadBackAsItIsInTheTraces) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  synth::Options options = test::small_sweep();
  options.channels = {28, 56};
  options.ranks = 4;
  options.gpus_per_node = 2;
  ASSERT_TRUE(synth::generate(options, folder.path("sweep"), 2, [](const std::string&) {}));
  const std::string data = folder.path("data");
  const RunResult r = run_binary({"export", "--parquet", data, folder.path("sweep")});
  ASSERT_EQ(r.code, 0) << r.err;
  for (const char* table :
       {"events", "kernels", "operators", "collectives", "steps", "ranks", "idle"}) {
    const std::string name(table);
    const std::string files = "read_parquet('" + data + "/" + name + "/**/*.parquet')";
    const std::string columns = "SELECT run, node, * EXCLUDE (run, node) FROM ";
    const RunResult both =
        run_binary({"query",
                    "SELECT count(*) FROM " + name + "; SELECT count(*) FROM (" + columns + files +
                        " EXCEPT ALL " + columns + name + "); SELECT count(*) FROM (" + columns +
                        name + " EXCEPT ALL " + columns + files + ")",
                    folder.path("sweep"), "--allow-files", "--format", "csv", "-q"});
    ASSERT_EQ(both.code, 0) << name << both.err;
    EXPECT_EQ(both.out.find("count_star()\n0\n"), both.out.rfind("count_star()\n0\ncount"))
        << name << both.out;
    EXPECT_TRUE(both.out.ends_with("count_star()\n0\ncount_star()\n0\n")) << name << both.out;
    EXPECT_FALSE(both.out.starts_with("count_star()\n0\n")) << name << both.out;
  }
  const auto meta = [&](const std::string& select) {
    const RunResult result =
        run_binary({"query", select, folder.path("sweep"), "--allow-files", "--json", "-q"});
    EXPECT_EQ(result.code, 0) << result.err;
    return rows_of(result.out, "result");
  };
  const auto zstd = meta("SELECT DISTINCT compression FROM parquet_metadata('" + data +
                         "/kernels/**/*.parquet')");
  ASSERT_EQ(zstd.size(), 1U);
  EXPECT_EQ(zstd[0][0], "ZSTD");
  const auto names = meta("SELECT DISTINCT encodings FROM parquet_metadata('" + data +
                          "/events/**/*.parquet') WHERE path_in_schema = 'category'");
  ASSERT_EQ(names.size(), 1U);
  EXPECT_NE(names[0][0].find("DICTIONARY"), std::string::npos);
  const auto types = meta("SELECT type FROM parquet_schema('" + data +
                          "/kernels/run=256thread_28ch/node=0/ranks_000000-000001.parquet') "
                          "WHERE name = 'start_ns'");
  ASSERT_EQ(types.size(), 1U);
  EXPECT_EQ(types[0][0], "INT64");
  const auto nodes = meta("SELECT node, min(rank), max(rank) FROM read_parquet('" + data +
                          "/steps/**/*.parquet') GROUP BY node ORDER BY node");
  EXPECT_EQ(nodes, (std::vector<std::vector<std::string>>{{"0", "0", "1"}, {"1", "2", "3"}}));
  // HA-D15: one file per table and node, not per rank
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data))
    files += entry.is_regular_file() ? 1 : 0;
  EXPECT_EQ(files, 2U * 2U * 7U) << "runs, nodes, tables";
  EXPECT_NE(r.out.find("28 files, 8 ranks"), std::string::npos) << r.out;
  const auto order = meta("SELECT count(*) FROM (SELECT rank < lag(rank) OVER () AS down FROM "
                          "read_parquet('" +
                          data +
                          "/events/run=256thread_28ch/node=1/*.parquet')) "
                          "WHERE down");
  EXPECT_EQ(order[0][0], "0") << "ascending by rank";
  // the second export is rejected; with --replace, it also removes files that it does not write
  // again
  EXPECT_EQ(run_binary({"export", "--parquet", data, folder.path("sweep")}).code, 2);
  fs::copy_file(data + "/events/run=256thread_28ch/node=0/ranks_000000-000001.parquet",
                data + "/events/run=256thread_28ch/node=0/rank_000009.parquet");
  const RunResult again =
      run_binary({"export", "--parquet", data, "--replace", folder.path("sweep")});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_FALSE(fs::exists(data + "/events/run=256thread_28ch/node=0/rank_000009.parquet"));
  for (const auto& entry : fs::recursive_directory_iterator(data))
    if (entry.is_regular_file()) {
      EXPECT_EQ(entry.path().extension(), ".parquet") << entry.path();
    }
}

TEST(Export, ALostRankCostsItself) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  fs::create_directories(folder.path("run"));
  fs::copy_file(two_ranks() + "/rank0.json.gz", folder.path("run/rank0.json.gz"));
  folder.write("run/rank1.json", "{\"traceEvents\": [{]}");
  const RunResult r = run_binary({"export", "--parquet", folder.path("d"), folder.path("run")});
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_TRUE(fs::exists(folder.path("d/events/run=run/node=0/rank_000000.parquet")));
  const RunResult q =
      run_binary({"query", "SELECT count(*) FROM ranks", folder.path("run"), "--format", "csv"});
  EXPECT_EQ(q.code, 4) << q.err;
  EXPECT_EQ(q.out, "count_star()\n1\n");
}

TEST(Query, WhatATraceLostIsTold) {
  RS_NEEDS_DUCKDB();
  const test::TempFolder folder;
  const std::string trace = folder.write(
      "rank0.json", R"({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1,
 "pid": 0, "tid": 7, "args": {"stream": 7}}, {"ph": "X", "cat": "ker)");
  for (const char* sql : {"FROM ranks", "FROM events", "FROM top_ranks"}) {
    const RunResult r = run_binary({"query", sql, trace});
    EXPECT_EQ(r.code, 4) << sql << r.err;
    EXPECT_NE(r.err.find("truncated"), std::string::npos) << sql << r.err;
  }
}

/// Runs the Python code of docs/export.md with its files.
TEST(Export, PandasReadsItInThreeLines) {
  RS_NEEDS_DUCKDB();
  const char* const python = "/usr/bin/python3"; // the system's Python, with its packages
  if (!fs::exists(python) || test::run_program(python, {"-c", "import pandas"}).code != 0)
    GTEST_SKIP() << "python3-pandas is not installed";
  const test::TempFolder folder;
  const bool parquet = test::run_program(python, {"-c", "import pyarrow"}).code == 0 ||
                       test::run_program(python, {"-c", "import fastparquet"}).code == 0;
  ASSERT_EQ(
      run_binary({"query", "FROM steps", two_ranks(), "-q", "-o", folder.path("steps.json")}).code,
      0);
  ASSERT_EQ(run_binary({"export", "--parquet", folder.path("dataset"), two_ranks(), "-q"}).code, 0);
  const std::string doc = test::bytes_of((test::source_dir() / "docs/export.md").string());
  const std::regex block("```python\n([^`]*)```");
  std::size_t blocks = 0;
  for (std::sregex_iterator it(doc.begin(), doc.end(), block), end; it != end; ++it) {
    const std::string code = (*it)[1];
    const bool reads_parquet = code.find("read_parquet") != std::string::npos;
    ++blocks;
    if (reads_parquet && !parquet) {
      std::cout << "neither pyarrow nor fastparquet: the Parquet lines are not run\n";
      continue;
    }
    const std::string script =
        "import os; os.chdir('" + folder.path() + "')\n" + code +
        (reads_parquet ? ""
                       : "assert len(steps) == 4 and "
                         "steps.total_ns.dtype.kind == 'i' and "
                         "list(steps.columns)[:3] == ['run', 'node', 'rank']\n"
                         "print(steps.total_ns.sum())\n");
    const RunResult r = test::run_program(python, {"-c", script});
    EXPECT_EQ(r.code, 0) << script << r.err;
    if (!reads_parquet) {
      EXPECT_EQ(r.out, query_query("SELECT sum(total_ns) FROM steps", two_ranks())[0][0] + "\n");
    }
  }
  EXPECT_EQ(blocks, 2U);
}

} // namespace
} // namespace rankscope
