// Tests that all commands show the same findings, with the same values in every field.
#include "findings/rules.h"
#include "job_answers.h"
#include "run_binary.h"
#include "small_sweep.h"
#include "sql/duckdb_fixture.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

/// Returns the findings of a command as JSON values by column id.
using Record = std::map<std::string, std::string>;

std::vector<Record> records_of(const std::vector<std::string>& command, const char* table) {
  const RunResult r = run_binary(command);
  EXPECT_TRUE(r.code == 0 || r.code == 4) << command[1] << ": " << r.err;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(r.out).get(root) != simdjson::SUCCESS) {
    ADD_FAILURE() << command[1] << ": " << r.out.substr(0, 500);
    return {};
  }
  std::vector<std::string> ids;
  for (const std::string_view id : root["tables"][table]["ids"].get_array())
    ids.emplace_back(id);
  std::vector<Record> out;
  for (const auto row : root["tables"][table]["rows"].get_array()) {
    Record& record = out.emplace_back();
    std::size_t at = 0;
    for (const auto cell : row.get_array())
      record[ids[at++]] = simdjson::minify(cell);
  }
  return out;
}

std::string key_of(const Record& r) {
  return r.at("rule") + " " + r.at("subject_kind") + " " + r.at("subject");
}

/// Returns the findings by key; checks that keys are unique, rules are listed, and headlines fit.
std::map<std::string, Record> by_key(const std::vector<Record>& records, const std::string& what) {
  std::set<std::string> rules;
  for (const FindingRule& rule : finding_rules())
    rules.insert("\"" + std::string(rule.id) + "\"");
  std::map<std::string, Record> out;
  for (const Record& r : records) {
    EXPECT_TRUE(out.emplace(key_of(r), r).second) << what << ": twice " << key_of(r);
    EXPECT_EQ(rules.count(r.at("rule")), 1U) << what << ": " << r.at("rule");
    EXPECT_LE(r.at("headline").size(), kHeadlineWidth + 2) << what; // including its quotes
    EXPECT_GT(r.at("headline").size(), 2U) << what;
    EXPECT_NE(r.at("evidence"), "null") << what << ": " << r.at("headline");
  }
  return out;
}

/// Returns whether the texts of top are more exact than those of analyze, which has neither the
/// operators nor the job graph of a run.
bool differs_by_data(const std::string& key, const std::string& field) {
  return (key.find("\"slow-rank\"") == 0 && field == "action") ||
         (key.find("\"exposed-communication\"") == 0 && (field == "evidence" || field == "action"));
}

/// Returns how many findings both lists contain; expects that these are equal.
std::size_t expect_equal_where_shared(const std::map<std::string, Record>& a,
                                      const std::map<std::string, Record>& b,
                                      const std::string& what) {
  std::size_t shared = 0;
  for (const auto& [key, record] : a) {
    const auto other = b.find(key);
    if (other == b.end())
      continue;
    ++shared;
    for (const auto& [field, value] : record) {
      if (differs_by_data(key, field))
        continue;
      const auto found = other->second.find(field);
      EXPECT_TRUE(found != other->second.end() && found->second == value)
          << what << ", " << key << ", " << field << ": " << value << " and "
          << (found != other->second.end() ? found->second : "no such field");
    }
  }
  return shared;
}

class FindingsOfCommands : public ::testing::Test {
protected:
  /// Expects equal findings of all commands, and returns those of top. `least`: minimum number of
  /// findings that top and analyze have in common.
  std::map<std::string, Record> check(const std::string& run, std::size_t least,
                                      bool has_collectives) {
    auto top = by_key(records_of({"--json", "top", run, "-q"}, "findings"), "top");
    const auto analyze =
        by_key(records_of({"--json", "analyze", run, "-o", folder_.path("out"), "--no-merge",
                           "--no-plots", "--no-individual-reports", "--force", "-q"},
                          "findings"),
               "analyze");
    EXPECT_GE(expect_equal_where_shared(top, analyze, "top and analyze of " + run), least);
    if (has_collectives) {
      const auto collectives =
          by_key(records_of({"--json", "collectives", run, "-o", folder_.path("c.json"), "-q"},
                            "findings"),
                 "collectives");
      EXPECT_GE(collectives.size(), 1U);
      // top has all findings about collectives
      EXPECT_EQ(expect_equal_where_shared(collectives, top, "collectives and top of " + run),
                collectives.size());
    }
    if (test::kThreadSanitized || !DuckDbLibrary::get())
      return top;
    std::vector<Record> rows =
        records_of({"--json", "query", "SELECT * FROM findings", run, "-q"}, "result");
    for (Record& r : rows) {
      EXPECT_EQ(r.erase("run"), 1U);
      EXPECT_EQ(r.erase("number"), 1U);
    }
    const auto sql = by_key(rows, "query");
    EXPECT_EQ(expect_equal_where_shared(top, sql, "top and query of " + run), top.size());
    return top;
  }

  test::TempFolder folder_;
};

TEST_F(FindingsOfCommands, AreEqualForAGeneratedRun) {
  synth::Options o = test::small_sweep();
  o.ranks = 4;
  o.layers = 2;
  o.steps = 6;
  o.straggler = 1;
  o.straggler_us = 3000;
  ASSERT_TRUE(synth::generate(o, folder_.path("sweep"), 2, nullptr));
  check(test::config_folder(folder_.path("sweep")) + "/torch_profiler", 2, true);
}

TEST_F(FindingsOfCommands, AreEqualForASlowNode) {
  synth::Options o = test::small_sweep();
  o.ranks = 16;
  o.steps = 3;
  o.throttled = 8;
  o.throttled_last = 15;
  o.throttle_factor = 1.1;
  ASSERT_TRUE(synth::generate(o, folder_.path("node"), 2, nullptr));
  check(test::config_folder(folder_.path("node")) + "/torch_profiler", 1, true);
}

// Only three of four steps have a total time, but all four have collectives.
TEST_F(FindingsOfCommands, AreEqualForASlowLink) {
  synth::Options o = test::small_sweep();
  o.ranks = 6;
  o.steps = 4;
  o.process_groups = 2;
  o.slow_links = {{4, 5, 2}};
  ASSERT_TRUE(synth::generate(o, folder_.path("link"), 2, nullptr));
  const auto top = check(test::config_folder(folder_.path("link")) + "/torch_profiler", 2, true);
  const auto link = std::ranges::find_if(
      top, [](const auto& finding) { return finding.first.starts_with(R"("slow-link" "group")"); });
  ASSERT_NE(link, top.end());
  const auto number = [&link](const char* field) { return std::stod(link->second.at(field)); };
  EXPECT_EQ(link->second.at("steps"), "4");
  EXPECT_LT(number("low"), number("value"));
  EXPECT_LT(number("value"), number("high"));
  EXPECT_GT(number("cost_ms"), 0);
}

TEST_F(FindingsOfCommands, OfASweepAreEqualInAnalyzeAndQuery) {
  if (test::kThreadSanitized || !DuckDbLibrary::get())
    GTEST_SKIP() << "DuckDB is not available";
  synth::Options o = test::small_sweep();
  o.channels = {28, 56};
  o.steps = 6;
  const std::string sweep = folder_.path("sweep");
  ASSERT_TRUE(synth::generate(o, sweep, 2, nullptr));
  const auto analyze =
      by_key(records_of({"--json", "analyze", sweep, "-o", folder_.path("out"), "--no-merge",
                         "--no-plots", "--no-individual-reports", "-q"},
                        "findings"),
             "analyze");
  std::vector<Record> rows = records_of(
      {"--json", "query", "SELECT * FROM findings WHERE run = 'sweep'", sweep, "-q"}, "result");
  for (Record& r : rows) {
    EXPECT_EQ(r.erase("run"), 1U);
    EXPECT_EQ(r.erase("number"), 1U);
  }
  const auto sql = by_key(rows, "query");
  EXPECT_EQ(sql.size(), analyze.size());
  EXPECT_GE(expect_equal_where_shared(analyze, sql, "analyze and query"), 2U);
}

// Tests the cost of a finding per step, and its place in the timeline.
TEST_F(FindingsOfCommands, HaveACostAndAPlaceWhereTheyAreKnown) {
  synth::Options o = test::small_sweep();
  o.ranks = 4;
  o.layers = 2;
  o.steps = 6;
  o.straggler = 1;
  o.straggler_us = 3000;
  o.equal_devices = true;
  ASSERT_TRUE(synth::generate(o, folder_.path("sweep"), 2, nullptr));
  std::map<std::string, Record> top;
  for (Record& r : records_of(
           {"--json", "top", test::config_folder(folder_.path("sweep")) + "/torch_profiler", "-q"},
           "findings"))
    top.emplace(r.at("rule"), std::move(r));
  const auto number = [&top](const std::string& rule, const char* field) {
    const auto at = top.find('"' + rule + '"');
    return at == top.end() || at->second.at(field) == "null" ? -1 : std::stod(at->second.at(field));
  };
  EXPECT_NEAR(number("slow-rank", "cost_ms"), 3, 0.3);
  EXPECT_EQ(number("slow-rank", "rank"), 1);
  EXPECT_EQ(number("late-rank", "rank"), 1);
  // the other ranks wait at least as long as the extra work of rank 1
  EXPECT_GT(number("late-rank", "cost_ms"), 2.9);
  EXPECT_LT(number("late-rank", "cost_ms"), 9);
  for (const char* rule : {"slow-rank", "late-rank"})
    EXPECT_GT(number(rule, "end_ns"), number(rule, "start_ns")) << rule;
  for (const char* rule : {"exposed-communication", "idle-gpu"}) {
    if (top.count('"' + std::string(rule) + '"') > 0) {
      EXPECT_NEAR(number(rule, "cost_ms") * 6, number(rule, "value"), 1e-6) << rule;
    }
  }
  EXPECT_GT(number("exposed-communication", "cost_ms"), 0);
}

// After each value that the host reads back, it wakes up late, and the GPU is idle meanwhile.
TEST_F(FindingsOfCommands, SynchronisationIsTheCauseOfMostIdleTime) {
  const std::string run = folder_.path("run");
  const auto cause_of_idle_time = [&run](const char* injected) {
    test::write_run(run, 1, "iid:0.005", {"--inject", injected}, "2", "4");
    for (const Record& finding : records_of({"--json", "top", run, "-q"}, "findings"))
      if (finding.at("rule") == R"("idle-gpu")")
        return finding.at("evidence");
    return std::string();
  };
  EXPECT_NE(cause_of_idle_time("python:ms=20").find("of the idle time is host ("),
            std::string::npos);
  const std::string evidence = cause_of_idle_time("item:count=40,ms=0.5");
  EXPECT_NE(evidence.find("of the idle time is synchronisation ("), std::string::npos) << evidence;
  EXPECT_EQ(test::JobAnswer("why", {run}).text("causes", 0, "rule"), "read-back");
}

// `top` names a report of one rank: with two late ranks, of the one that the others wait for
// longest.
TEST_F(FindingsOfCommands, TheNextCommandIsAboutTheLatestRank) {
  synth::Options o = test::small_sweep();
  o.ranks = 8;
  o.layers = 2;
  o.steps = 6;
  o.straggler = 1;
  o.straggler_us = 1000;
  o.throttled = 3;
  o.throttle_factor = 1.2;
  ASSERT_TRUE(synth::generate(o, folder_.path("sweep"), 2, nullptr));
  const RunResult run =
      run_binary({"top", test::config_folder(folder_.path("sweep")) + "/torch_profiler", "-q"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.out.find("Rank 1 "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("every sheet of rank 3"), std::string::npos) << run.out;
}

TEST_F(FindingsOfCommands, AreEqualForRealRuns) {
  const fs::path golden = test::golden_dir();
  if (!fs::is_directory(golden / "hta"))
    GTEST_SKIP() << "the reference data of real runs is absent (RANKSCOPE_GOLDEN names its folder)";
  fs::create_directories(folder_.path("pair"));
  for (const char* name : {"sampled_rank-0.json.gz", "sampled_rank-1.json.gz"})
    fs::copy_file(golden / "hta" / name, folder_.path("pair/") + name);
  check(folder_.path("pair"), 1, true);
  fs::copy(golden / "batch/profiles/013_profile_544p_bs1", folder_.path("four"));
  check(folder_.path("four"), 1, true);
}

} // namespace
} // namespace rankscope
