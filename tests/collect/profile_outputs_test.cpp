// Tests outputs of tools: whether a file contains records, and how many.
#include "collect/profile/outputs.h"
#include "temp_folder.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

namespace rankscope {
namespace {

using test::TempFolder;

TEST(ProfileOutputs, RecordsAreCountedByTheKindOfFile) {
  const TempFolder folder;
  const auto records = [&](const std::string& name, const std::string& bytes,
                           const std::string& check) {
    return count_records(folder.write(name, bytes), check);
  };
  EXPECT_EQ(records("a.csv", "h1,h2\n1,2\n\n3,4", "csv"), 2U);
  EXPECT_EQ(records("a.csv", "h1,h2\r\n", "csv"), 0U);
  EXPECT_EQ(records("a.csv", "", "csv"), 0U);
  EXPECT_EQ(records("a.json", "[]", "json"), 0U);
  EXPECT_EQ(records("a.json", "[1, 2, 3]", "json"), 3U);
  EXPECT_EQ(records("a.json", R"({"x": [1], "traceEvents": [1, 2]})", "trace"), 2U);
  EXPECT_EQ(records("a.json", R"({"traceEvents": []})", "trace"), 0U);
  EXPECT_EQ(records("a.json", R"({"rocprofiler-sdk-tool": [{"agents": [1, 2],
      "buffer_records": {"kernel_dispatch": [], "hip_api": []}}]})",
                    "trace"),
            0U);
  EXPECT_EQ(records("a.json", R"({"rocprofiler-sdk-tool": [{"buffer_records": {"hip_api": [1]},
      "callback_records": {"counter_collection": [1, 2]}}]})",
                    "trace"),
            3U);
  // a line break in quotes does not end a row
  EXPECT_EQ(records("a.csv", "name,us\n\"a\nb\",1\n\"c\r\n\"\"d\"\"\",2\n", "csv"), 2U);
  EXPECT_EQ(records("a.csv", "name,us\n" + std::string(200000, 'x') + ",1\n\"y", "csv"), 2U);
  EXPECT_EQ(records("a.bin", "x", "bytes"), std::nullopt);
  EXPECT_EQ(records("a.bin", "x", "trace"), std::nullopt);
  EXPECT_EQ(records("9_agent_info.csv", "h\n1\n2\n", "trace"), std::nullopt);
  EXPECT_EQ(count_records(folder.path("none"), "bytes"), 0U);
}

TEST(ProfileOutputs, FilesWithoutCountedRecordsAreNoRecords) {
  ToolOutputs outputs;
  EXPECT_TRUE(outputs.empty());
  outputs.files.push_back({"report.nsys-rep", "", 100, std::nullopt, ""});
  EXPECT_FALSE(outputs.empty());
  EXPECT_EQ(outputs.records(), std::nullopt);
  outputs.files.push_back({"report.sqlite", "", 100, 0, ""});
  EXPECT_TRUE(outputs.empty());
  EXPECT_EQ(outputs.records(), 0U);
  outputs.files.push_back({"more.sqlite", "", 100, 3, ""});
  EXPECT_FALSE(outputs.empty());
  EXPECT_EQ(outputs.records(), 3U);
  EXPECT_EQ(outputs.bytes(), 300U);
}

TEST(ProfileOutputs, DatabasesAreCountedByTable) {
  const TempFolder folder;
  const std::string file = folder.path("t.db");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db,
                         "create table rocpd_op_ab(x); create table other(x);"
                         "insert into other values(1),(2);",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(count_records(file, "sqlite:rocpd_op"), 0U);
  EXPECT_EQ(count_records(file, "sqlite"), 2U);
  ASSERT_EQ(sqlite3_exec(db, "insert into rocpd_op_ab values(1)", nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  EXPECT_EQ(count_records(file, "sqlite:rocpd_op"), 1U);
  EXPECT_EQ(count_records(folder.write("no.db", "text"), "sqlite"), 0U);
}

TEST(ProfileOutputs, PatternsStayInTheirFolderUnlessTheySayAny) {
  const TempFolder folder;
  const std::string a = folder.write("d/a.csv", "");
  const std::string b = folder.write("d/host/b.csv", "");
  folder.write("d/c.txt", "");
  EXPECT_EQ(matching_files(folder.path("d/*.csv")), (std::vector<std::string>{a}));
  EXPECT_EQ(matching_files(folder.path("d/**/*.csv")), (std::vector<std::string>{a, b}));
  EXPECT_EQ(matching_files(folder.path("d/*/b.csv")), (std::vector<std::string>{b}));
  EXPECT_TRUE(matching_files(folder.path("none/*")).empty());
}

// HA-B15: the path of the run contains pattern characters.
TEST(ProfileOutputs, APathIsNoPattern) {
  const TempFolder folder;
  const std::string a = folder.write("g[1]*\\/a.csv", "");
  folder.write("g1x/b.csv", "");
  const std::string escaped = escaped_pattern(folder.path("g[1]*\\"));
  EXPECT_EQ(matching_files(escaped + "/*.csv"), std::vector<std::string>{a});
  EXPECT_EQ(matching_files(escaped + "/**/*.csv"), std::vector<std::string>{a});
  EXPECT_EQ(matching_files(escaped + "/a.csv"), std::vector<std::string>{a});
}

} // namespace
} // namespace rankscope
