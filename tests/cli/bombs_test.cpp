// Tests small files that decompress to much more than the memory, or that need much more work than
// their size suggests. Each must use less than 512 MB and five seconds, and end with one line
// (HA-E4, HA-E5, HA-E7, HA-E8).
#include "os/gzip.h"
#include "run_binary.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <utility>
#include <vector>
#include <zip.h>

namespace rankscope {
namespace {

using test::run_binary;
using test::RunResult;
using test::TempFolder;

constexpr const char* kEvent = R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,)"
                               R"("dur":2,"args":{"device":0,"stream":7}})";

/// Limits the address space of child programs, as ulimit -v does.
class MemoryLimit {
public:
  explicit MemoryLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

private:
  rlimit before_{};
};

class Bombs : public testing::Test {
protected:
  void SetUp() override {
    if (test::sanitized_program())
      GTEST_SKIP() << "a sanitizer needs more address space than the limit";
  }
  /// Returns `text` compressed, `times` gzip members in a row.
  [[nodiscard]] std::string packed(const std::string& text, std::size_t times = 1) const {
    const std::string file = folder_.write("piece", text);
    EXPECT_EQ(test::run_program("/bin/gzip", {"-f", file}).code, 0);
    const std::string member = test::bytes_of(file + ".gz");
    std::string out;
    for (std::size_t i = 0; i < times; ++i)
      out += member;
    return out;
  }
  [[nodiscard]] std::string mebibytes(std::size_t n, char c) const {
    return packed(std::string(std::size_t{1} << 20U, c), n);
  }
  /// Runs the program and checks its memory and CPU time.
  [[nodiscard]] static RunResult run_cheaply(const std::vector<std::string>& words) {
    const auto used = [] {
      rusage usage = {};
      ::getrusage(RUSAGE_CHILDREN, &usage);
      return usage;
    };
    const auto seconds = [](const rusage& usage) {
      return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    };
    const double before = seconds(used());
    const MemoryLimit limit(rlim_t{600}
                            << 20U); // limit of the address space, part of which the libraries use
    const RunResult r = run_binary(words);
    EXPECT_LT(seconds(used()) - before, 5) << words.back();
    EXPECT_LT(used().ru_maxrss, 512 << 10U) << words.back() << ": KiB";
    return r;
  }
  [[nodiscard]] RunResult info(const std::string& bytes) const {
    const std::string file = folder_.write("bomb.json.gz", bytes);
    EXPECT_LT(bytes.size(), 4'000'000U);
    return run_cheaply({"-j", "1", "info", file});
  }
  static void expect_refused(const RunResult& r, const std::string& says) {
    EXPECT_EQ(r.code, 3) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_NE(r.err.find(says), std::string::npos) << r.err;
  }

  TempFolder folder_;
};

TEST_F(Bombs, BlanksBetweenValuesAreSkipped) {
  const std::string blanks = mebibytes(700, ' ');
  for (const std::string& bytes :
       {packed("[") + blanks + packed(std::string(kEvent) + "]"),
        packed("[" + std::string(kEvent)) + blanks + packed("]"),
        packed("[" + std::string(kEvent) + ",") + blanks + packed(std::string(kEvent) + "]"),
        packed("{\"traceEvents\":[" + std::string(kEvent) + "]") + blanks + packed("}")}) {
    const RunResult r = info(bytes);
    EXPECT_EQ(r.code, 0) << r.err;
  }
}

TEST_F(Bombs, AnEventWithoutAnEndIsRefused) {
  for (const std::string& bytes :
       {packed(R"([{"ph":"X","name":")") + mebibytes(700, 'x') + packed(R"("}])"),
        packed("[") + mebibytes(700, '['), packed(R"({"traceEvents":[)") + mebibytes(700, '{'),
        packed(R"({"name":")") + mebibytes(700, 'x') + packed(R"(","traceEvents":[]})")})
    expect_refused(info(bytes), "more than 64 MiB");
}

TEST_F(Bombs, TwoGigabytesOfBlanksHaveNoEvent) {
  expect_refused(info(packed("[") + mebibytes(2000, ' ') + packed("]")), "no usable event");
}

TEST_F(Bombs, AHeaderOfManyLargeMembersIsRefused) {
  std::string bytes = packed("{\"a\":0");
  for (int i = 0; i < 40; ++i)
    bytes += packed(",\"b\":\"") + mebibytes(30, 'x') + packed("\"");
  expect_refused(info(bytes + packed(",\"traceEvents\":[]}")), "the header has more than 64 MiB");
}

// Parsing takes ten times as much memory as the text of a member.
TEST_F(Bombs, ALargeMemberThatWouldBeParsedIsIgnored) {
  const RunResult r = info(packed(R"({"distributedInfo":{"a":[1)") +
                           packed(
                               [] {
                                 std::string ones;
                                 for (int i = 0; i < (1 << 19); ++i)
                                   ones += ",1";
                                 return ones;
                               }(),
                               40) +
                           packed("]},\"traceEvents\":[" + std::string(kEvent) + "]}"));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.err.find("larger than 16 MiB"), std::string::npos) << r.err;
}

// Regression test: values in rocprofv3's JSON had no size limit.
TEST_F(Bombs, ValuesOfRocprofsJsonAreBounded) {
  const std::string head = R"({"rocprofiler-sdk-tool":[{)";
  expect_refused(
      info(packed(head + R"("metadata":{"a":")") + mebibytes(1000, 'x') + packed("\"}}]}")),
      "a value has more than 16 MiB");
  // values that are not needed are skipped in pieces
  expect_refused(info(packed(head + R"("unknown":[)") + mebibytes(500, ' ') +
                      packed(
                          [] {
                            std::string texts;
                            for (int i = 0; i < (1 << 18); ++i)
                              texts += "\"[\",";
                            return texts;
                          }(),
                          500) +
                      packed("1]}]}")),
                 "no usable event");
}

// Regression test: a file of 2.5 MB with distinct long names needed 2.6 GB.
TEST_F(Bombs, MoreTextsAndEventsThanATraceOfThisSizeHas) {
  const std::string long_text = mebibytes(1, 'x');
  const auto distinct = [&](const std::string& head, const std::string& before,
                            const std::string& after) {
    std::string bytes = gzip_of(head);
    for (int i = 0; i < 300; ++i)
      bytes += gzip_of(before + std::to_string(i)) + long_text + gzip_of(after);
    return bytes;
  };
  const std::string says = "far more names, arguments or events than a trace of this size";
  const std::string times = R"("pid":0,"tid":7,"ts":1,"dur":2})";
  expect_refused(info(distinct("[{}", R"(,{"ph":"X","name":")", R"(",)" + times)), says);
  expect_refused(
      info(distinct("[{}", R"(,{"ph":"X","cat":"cpu_op","name":"a","args":{"Input Dims":[")",
                    R"("]},)" + times)),
      says);
  expect_refused(info(distinct(R"({"rocprofiler-sdk-tool":[{"kernel_symbols":[{})",
                               R"(,{"kernel_name":")", "\"}")),
                 says);
  std::string events;
  for (int i = 0; i < 40'000; ++i)
    events += R"({"ph":"X","ts":1,"dur":1},)";
  expect_refused(info(packed("[") + packed(events, 200) + packed("{}]")), says);
  const std::string csv = folder_.write(
      "a_kernel_trace.csv.gz",
      distinct("Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n", "1,", ",1,2\n"));
  expect_refused(run_cheaply({"info", csv}), says);
}

// HA-E4: a view that the schema declares as a table was read, with writable_schema.
TEST_F(Bombs, AViewThatPassesForATableIsNotRead) {
  const std::string path = folder_.path("view.rpd");
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db,
                         R"(CREATE TABLE rocpd_string(id INTEGER PRIMARY KEY, string TEXT);
CREATE TABLE rocpd_api(id INTEGER PRIMARY KEY, pid, tid, start, "end", apiName_id, args_id);
CREATE TABLE rocpd_op(id INTEGER PRIMARY KEY, gpuId, queueId, start, "end", description_id, opType_id);
CREATE TABLE rocpd_api_ops(id INTEGER PRIMARY KEY, api_id, op_id);
INSERT INTO rocpd_api VALUES(1,1,1,0,10,1,1);
INSERT INTO rocpd_op VALUES(1,0,0,1,5,1,1);
INSERT INTO rocpd_api_ops VALUES(1,1,1);
PRAGMA writable_schema=ON;
UPDATE sqlite_master SET rootpage=0, sql='CREATE VIEW rocpd_string AS WITH RECURSIVE n(i) AS
(SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 100000000)
SELECT i AS id, hex(zeroblob(7000000)) AS string FROM n' WHERE name='rocpd_string')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  expect_refused(run_cheaply({"info", path}), "view.rpd");
}

// HA-E5: each row got all columns of the header.
TEST_F(Bombs, ACsvHeaderOfManyColumnsIsRefused) {
  std::filesystem::create_directories(folder_.path("csv"));
  std::string text = "c0";
  for (int i = 1; i < 8000; ++i)
    text += ",c" + std::to_string(i);
  text += '\n';
  for (int i = 0; i < 25'000; ++i)
    text += "a\n";
  (void)folder_.write("csv/ops_summary.csv", text);
  const std::string csv = folder_.path("csv");
  expect_refused(
      run_cheaply({"compare-reports", csv, csv, "--names", "a,b", "-o", folder_.path("x.xlsx")}),
      "more cells than a report can contain");
}

// HA-E7: a shared text was copied for each cell.
TEST_F(Bombs, ASharedTextOfManyCellsIsRefused) {
  const std::string path = folder_.path("shared.xlsx");
  std::string rows;
  for (int i = 0; i < 10'000; ++i)
    rows += R"(<row><c t="s"><v>0</v></c></row>)";
  const std::pair<const char*, std::string> parts[] = {
      {"xl/workbook.xml", R"(<workbook><sheets><sheet name="s" r:id="a"/></sheets></workbook>)"},
      {"xl/_rels/workbook.xml.rels",
       R"(<Relationships><Relationship Id="a" Target="worksheets/s.xml"/></Relationships>)"},
      {"xl/worksheets/s.xml", "<worksheet><sheetData>" + rows + "</sheetData></worksheet>"},
      {"xl/sharedStrings.xml", "<sst><si><t>" + std::string(5'000'000, 'x') + "</t></si></sst>"}};
  zip_t* const archive = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, text] : parts)
    ASSERT_GE(zip_file_add(archive, name, zip_source_buffer(archive, text.data(), text.size(), 0),
                           ZIP_FL_OVERWRITE),
              0);
  ASSERT_EQ(zip_close(archive), 0);
  expect_refused(
      run_cheaply({"compare-reports", path, path, "--names", "a,b", "-o", folder_.path("x.xlsx")}),
      "more text than a report can contain");
}

TEST_F(Bombs, WhatStandsBeforeAnEventWithoutAnEndIsKept) {
  const RunResult r = info(packed("[" + std::string(kEvent) + R"(,{"ph":"X","name":")") +
                           mebibytes(700, 'x') + packed(R"("}])"));
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.err.find("more than 64 MiB; 1 events before it were read"), std::string::npos)
      << r.err;
}

} // namespace
} // namespace rankscope
