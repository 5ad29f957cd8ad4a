// Small files that unpack to far more than memory: what they cost and what is said (HA-E8).
#include "run_binary.h"
#include "sanitized.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace rankscope {
namespace {

using test::run_binary;
using test::RunResult;
using test::TempFolder;

constexpr const char* kEvent = R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,)"
                               R"("dur":2,"args":{"device":0,"stream":7}})";

/// Address space of the programs that are run, as ulimit -v sets it.
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
    if (test::kSanitized)
      GTEST_SKIP() << "a sanitizer needs more address space than the limit";
  }
  /// `mebibytes` times 1 MiB of `c`, packed: members of gzip follow each other in a file.
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
  [[nodiscard]] RunResult info(const std::string& bytes) const {
    const std::string file = folder_.write("bomb.json.gz", bytes);
    EXPECT_LT(bytes.size(), 4'000'000U);
    const MemoryLimit limit(rlim_t{600} << 20U);
    return run_binary({"-j", "1", "info", file});
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
        packed(R"({"name":")") + mebibytes(700, 'x') + packed(R"(","traceEvents":[]})")}) {
    const RunResult r = info(bytes);
    EXPECT_EQ(r.code, 3) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
    EXPECT_NE(r.err.find("more than 128 MiB"), std::string::npos) << r.err;
  }
}

TEST_F(Bombs, WhatStandsBeforeAnEventWithoutAnEndIsKept) {
  const RunResult r = info(packed("[" + std::string(kEvent) + R"(,{"ph":"X","name":")") +
                           mebibytes(700, 'x') + packed(R"("}])"));
  EXPECT_EQ(r.code, 4) << r.err;
  EXPECT_NE(r.err.find("more than 128 MiB; 1 events before it were kept"), std::string::npos)
      << r.err;
}

} // namespace
} // namespace rankscope
