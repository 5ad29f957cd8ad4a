// Tests that every command with --json prints one valid document that contains its schema.
#include "cli/every_command.h"
#include "cli/run_binary.h"
#include "sanitized.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <simdjson.h>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

/// Commands whose output is text for another program, or whose JSON has separate tests.
const std::set<std::string> kElsewhere = {"completion", "man", "nsys", "replay", "split", "watch"};

class JsonForms : public test::EveryCommand {
protected:
  /// Returns the JSON document of a command.
  simdjson::dom::element document(const Words& arguments) {
    Words words = {"--json", "-q"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const RunResult r = run_binary(words);
    text_ = r.out;
    EXPECT_TRUE(r.code == 0 || r.code == 4) << arguments[0] << ": " << r.err;
    simdjson::dom::element root;
    if (parser_.parse(text_).get(root) != simdjson::SUCCESS) {
      ADD_FAILURE() << arguments[0] << ": " << r.out.substr(0, 300);
      EXPECT_EQ(parser_.parse(std::string("{}")).get(root), simdjson::SUCCESS);
    }
    return root;
  }
  simdjson::dom::parser parser_;
  std::string text_;
};

TEST_F(JsonForms, EveryCommandNamesTheSchema) {
  std::vector<Words> all = all_commands();
  const auto leave_out = [&all](std::set<std::string> names) {
    std::erase_if(all, [&names](const Words& words) { return names.count(words[0]) > 0; });
  };
  // only commands with a separate JSON form; DuckDB does not run under sanitizers
  if (test::sanitized_program())
    std::erase_if(all, [](const Words& words) {
      return std::set<std::string>{"merge", "synth", "batch", "sweep", "profile", "sample"}.count(
                 words[0]) == 0;
    });
  else if (test::lacks_web_parts(run_binary({"query", "SELECT 1", trace_})))
    leave_out({"query", "export"});
  if (test::lacks_web_parts(run_binary({"page", trace_, "-o", out("p.html"), "-q"})))
    leave_out({"page"});
  std::set<std::string> asked = kElsewhere;
  asked.insert({"query", "export", "page"});
  for (const Words& words : all) {
    const simdjson::dom::element root = document(words);
    std::string_view schema;
    EXPECT_EQ(root["schema"].get(schema), simdjson::SUCCESS) << words[0];
    EXPECT_EQ(schema, "rankscope/1") << words[0];
    EXPECT_EQ(root["version"].get_string().error(), simdjson::SUCCESS) << words[0];
    EXPECT_EQ(root["title"].get_string().error(), simdjson::SUCCESS) << words[0];
    asked.insert(words[0]);
  }
  if (test::sanitized_program())
    return;
  for (const std::string& name : test::command_names())
    EXPECT_EQ(asked.count(name), 1U) << name;
}

TEST_F(JsonForms, FilesHaveTheirKindsAndSizesAndFiguresAreNumbers) {
  const std::string merged = out("m.json.gz");
  simdjson::dom::element root = document({"merge", traces_, "-o", merged});
  const auto file = root["tables"]["files"]["rows"].at(0);
  EXPECT_EQ(file.at(0).get_string().value(), merged);
  EXPECT_EQ(file.at(1).get_string().value(), "json.gz");
  EXPECT_EQ(file.at(2).get_uint64().value(), fs::file_size(merged));
  EXPECT_EQ(root["tables"]["merged"]["ids"].at(2).get_string().value(), "ranks");
  EXPECT_EQ(root["tables"]["merged"]["rows"].at(0).at(2).get_uint64().value(), 2U);
  root = document({"merge", "--all", sweep_, "-o", out("merged")});
  EXPECT_EQ(root["tables"]["files"]["rows"].get_array().size(), 1U);
  document({"gemm", "variance", sweep_, "-o", out("gemm")});
  root = document({"gemm", "plot", "--csv-path", out("gemm/top5_gemm_kernels_time_variance.csv"),
                   "--output-dir", out("plots")});
  EXPECT_EQ(root["tables"]["files"]["rows"].at(0).at(0).get_string().value(), out("plots"));
  root = document({"partial", traces_, "-o", out("parts")});
  EXPECT_EQ(root["tables"]["files"]["rows"].at(0).at(1).get_string().value(), "folder");
  EXPECT_TRUE(root["tables"]["files"]["rows"].at(0).at(2).is_null());
}

// A dry run prints a plan as a table and writes nothing.
TEST_F(JsonForms, ADryRunIsAPlan) {
  const auto rows = [](const simdjson::dom::element& root) {
    return root["tables"]["plan"]["rows"];
  };
  simdjson::dom::element root = document({"collectives", traces_, "--dry-run"});
  EXPECT_EQ(root["schema"].get_string().value(), "rankscope/1");
  ASSERT_EQ(rows(root).get_array().size(), 2U);
  EXPECT_EQ(rows(root).at(1).at(0).get_int64().value(), 1);
  EXPECT_EQ(rows(root).at(0).at(1).get_string().value(), trace_);
  EXPECT_EQ(rows(root).at(0).at(2).get_uint64().value(), fs::file_size(trace_));
  root = document({"analyze", sweep_, "-o", out("analysis"), "--dry-run"});
  ASSERT_EQ(rows(root).get_array().size(), 2U);
  EXPECT_EQ(rows(root).at(0).at(2).get_string().value(), trace_);
  const auto report = rows(root).at(0).at(4).get_string().value();
  EXPECT_TRUE(report.starts_with(out("analysis")) && report.ends_with(".xlsx")) << report;
  root = document({"partial", traces_, "-o", out("parts"), "--shard", "1/2", "--dry-run"});
  ASSERT_EQ(rows(root).get_array().size(), 1U);
  EXPECT_EQ(rows(root).at(0).at(1).get_int64().value(), 1);
  EXPECT_FALSE(rows(root).at(0).at(5).get_bool().value());
  root = document({"batch", "-b", folder_.path("batch"), "-f", "rank", "--dry-run"});
  ASSERT_EQ(rows(root).get_array().size(), 1U);
  EXPECT_EQ(rows(root).at(0).at(2).get_array().size(), 2U);
  root = document({"sweep", "-o", out("swept"), "-c", "28", "-t", "256,512", "--dry-run", "--",
                   "train", "a b"});
  ASSERT_EQ(rows(root).get_array().size(), 2U);
  EXPECT_FALSE(rows(root).at(0).at(1).get_bool().value());
  EXPECT_EQ(rows(root).at(0).at(4).at(1).get_string().value(), "a b");
  EXPECT_NE(text_.find("\"NCCL_MAX_NCHANNELS=28\""), std::string::npos) << text_;
  EXPECT_TRUE(fs::is_empty(out_));
}

TEST_F(JsonForms, AlarmsOfWatchAreDocumentsInALineEach) {
  const RunResult r = run_binary({"--json", "watch", traces_, "--once", "-q"});
  std::istringstream lines(r.out);
  for (std::string line; std::getline(lines, line);) {
    simdjson::dom::element root;
    ASSERT_EQ(parser_.parse(line).get(root), simdjson::SUCCESS) << line;
    EXPECT_EQ(root["schema"].get_string().value(), "rankscope/1");
  }
}

// A rank is left out: the document on standard output contains the warning.
TEST_F(JsonForms, WarningsAreAmongTheProblems) {
  fs::remove_all(traces_ + "/rank1");
  const simdjson::dom::element root = document({"merge", traces_, "-o", out("m.json")});
  EXPECT_GT(root["problems"].get_array().size(), 0U) << text_;
}

TEST_F(JsonForms, AnErrorLeavesStandardOutputEmpty) {
  const RunResult r = run_binary({"--json", "merge", folder_.path("nothing"), "-o", out("m.json")});
  EXPECT_NE(r.code, 0);
  EXPECT_EQ(r.out, "");
}

} // namespace
} // namespace rankscope
