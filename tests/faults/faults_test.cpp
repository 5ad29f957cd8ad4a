// Tests failures of the nth allocation, thread start or write, for each n up to a run without a
// failure: the result is an error with its exit code, without a crash or an unfinished file. The
// normal test run uses a sample of n; with RANKSCOPE_ALL_FAULTS set, every n.
#include "faults/fault_hooks.h"

#include "analyses/analysis.h"
#include "cli/help.h"
#include "cli/run_binary.h"
#include "core/arg_text.h"
#include "engine/fact_cache.h"
#include "engine/loader.h"
#include "sanitized.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "trace_builder.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <new>
#include <set>
#include <thread>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::Fault;
using test::TempFolder;

/// Returns which of calls 1 to `calls` fail: all if RANKSCOPE_ALL_FAULTS is set, else about `most`
/// of them.
std::vector<std::uint64_t> chosen(std::uint64_t calls, std::uint64_t most) {
  std::vector<std::uint64_t> out;
  const bool all = std::getenv("RANKSCOPE_ALL_FAULTS") != nullptr;
  const std::uint64_t stride = all ? 1 : std::max<std::uint64_t>(1, calls / most);
  // at another place in each stride, so that a period of the program does not hide a call
  for (std::uint64_t n = 1, k = 0; n <= calls; n += stride, ++k)
    out.push_back(std::min(calls, n + k * 7919 % stride));
  return out;
}

std::set<std::string> files_below(const std::string& folder) {
  std::set<std::string> out;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      out.insert(fs::relative(entry.path(), folder).string());
  return out;
}

void expect_nothing_unfinished(const std::string& folder, const std::string& what) {
  for (const std::string& file : files_below(folder))
    EXPECT_TRUE(file.find(".tmp") == std::string::npos) << what << ": " << file;
}

std::string small_trace() {
  test::TraceBuilder t;
  t.annotation("ProfilerStep#1", 0, 100);
  t.op(
      "aten::mm", 1, 20,
      R"({"Input Dims":[[8,16],[16,4]],"Input type":["float","float"],"Concrete Inputs":["",""]})");
  t.kernel("Cijk_Ailk_Bljk_SB_MT64x64x16", 5, 30, 10);
  t.op("aten::add_", 22, 5,
       R"({"Input Dims":[[8,4],[8,4],[]],"Input type":["float","float","Scalar"]})");
  t.kernel("vectorized_elementwise_kernel", 23, 41, 3);
  t.copy("Memcpy HtoD", 60, 62, 4);
  return t.text();
}

/// Loads a trace, and builds and writes its report; returns the error code, or nullopt. Catches
/// bad_alloc, as main() and the pool do.
std::optional<ErrorCode> load_report_write(const std::string& trace, const std::string& format,
                                           const std::string& out) {
  try {
    const Result<LoadedTrace> loaded = load_trace(trace, LoadOptions{});
    if (!loaded)
      return loaded.error().code;
    const Result<Report> report = build_report(*loaded, ReportOptions{});
    if (!report)
      return report.error().code;
    const Result<void> written = find_writer(format)->write(*report, out);
    if (!written)
      return written.error().code;
  } catch (const std::bad_alloc&) {
    return ErrorCode::kUnreadable;
  }
  return std::nullopt;
}

TEST(Faults, AnyAllocationOfLoadReportAndWriteMayFail) {
  const TempFolder folder;
  const std::string trace = folder.write("t.json", small_trace());
  for (const char* format : {"json", "csv", "xlsx"}) {
    const std::string good = folder.path(fmt::format("good.{}", format));
    const std::string out = folder.path(fmt::format("out/r.{}", format));
    fs::create_directories(folder.path("out"));
    // so that objects that are created only once exist now
    ASSERT_FALSE(load_report_write(trace, format, good));
    test::arm_fault(Fault::kAllocation, 0);
    ASSERT_FALSE(load_report_write(trace, format, good));
    const std::uint64_t calls = test::disarm_fault(Fault::kAllocation);
    ASSERT_GT(calls, 500U);
    std::size_t failed = 0;
    for (const std::uint64_t times : {std::uint64_t{1}, std::uint64_t{20}})
      for (const std::uint64_t n : chosen(calls, test::kThreadSanitized ? 60 : 150)) {
        test::arm_fault(Fault::kAllocation, n, times);
        const std::optional<ErrorCode> error = load_report_write(trace, format, out);
        (void)test::disarm_fault(Fault::kAllocation);
        failed += error ? 1U : 0U;
        EXPECT_TRUE(!error || *error == ErrorCode::kUnreadable || *error == ErrorCode::kOutput)
            << format << " allocation " << n << ": " << static_cast<int>(*error);
        expect_nothing_unfinished(folder.path("out"), fmt::format("{} allocation {}", format, n));
        fs::remove_all(out);
      }
    EXPECT_GT(failed, test::kThreadSanitized ? 40U : 100U) << format;
  }
}

/// Runs `work` with its first allocation failing, then its second, until no allocation fails;
/// returns the number of allocations.
std::uint64_t fail_each_allocation(const std::function<void()>& work) {
  for (std::uint64_t n = 1;; ++n) {
    test::arm_fault(Fault::kAllocation, n);
    try {
      work();
    } catch (const std::bad_alloc&) {
    }
    if (test::disarm_fault(Fault::kAllocation) < n)
      return n - 1;
  }
}

// A parser whose allocation failed halfway must not be used for the next text.
TEST(Faults, AnyAllocationOfTheFirstArgumentsOfAThreadMayFail) {
  // so that objects that are created only once exist now
  ASSERT_EQ(parse_arg_text("[1, 2]").list.size(), 2U);
  std::uint64_t made = 0;
  for (std::uint64_t n = 1; n <= 1 + made; ++n)
    std::thread([n, &made] { // each thread has its own parser
      test::arm_fault(Fault::kAllocation, n);
      bool failed = false;
      try {
        (void)parse_arg_text("[1, 2]");
      } catch (const std::bad_alloc&) {
        failed = true;
      }
      made = std::max(made, test::disarm_fault(Fault::kAllocation));
      EXPECT_TRUE(failed || n > made) << n;
      EXPECT_EQ(parse_arg_text("[1, 2]").list.size(), 2U) << n;
    })
        .join();
  EXPECT_GT(made, 5U);
}

TEST(Faults, AnyAllocationOfReadingTheCommandLineMayFail) {
  CLI::App app;
  app.add_subcommand("report")->add_option("--sheets-of-the-report")->delimiter(',');
  const CLI::App& report = *app.get_subcommand("report");
  const std::vector<std::string> arguments{"report", "--sheets-of-the-report", "gpu_timeline", "x"};
  EXPECT_GT(fail_each_allocation([&] { (void)command_word(report, {"--sheets-of-the-report"}); }),
            0U);
  EXPECT_GT(fail_each_allocation([&] { (void)lists_spelled_out(report, arguments); }), 5U);
}

// A destructor that runs out of memory would end the process.
TEST(Faults, AnyAllocationOfACacheMayFail) {
  const TempFolder folder;
  RankFile file;
  file.path = folder.write("rank0.json", "{}");
  EXPECT_GT(fail_each_allocation([&] {
              // size limit of 1, so that its destructor removes the fact
              FactCache cache(folder.path("cache"), 1);
              cache.store(file, "identity", "key", "bytes");
              (void)cache.find(file, "identity", "key");
            }),
            10U);
}

/// Runs the program with failures on demand.
class FaultyRun : public ::testing::Test {
protected:
  void SetUp() override {
    synth::Options o = test::small_sweep();
    o.channels = {28, 70};
    ASSERT_TRUE(synth::generate(o, sweep_, 1, nullptr));
    trace_ = config(28) + "/torch_profiler/rank0/trace_step19.json";
    ASSERT_TRUE(fs::exists(trace_));
  }
  void TearDown() override {
    ::unsetenv("RS_FAULT");
    ::unsetenv("RS_FAULT_CALLS");
  }

  [[nodiscard]] std::string config(int channels) const {
    return test::config_folder(sweep_, channels);
  }
  [[nodiscard]] std::vector<std::vector<std::string>> commands(const std::string& jobs) const {
    return {{"report", trace_, "-q", "-j", jobs, "-o", out_ + "/r.xlsx"},
            {"report", trace_, "-q", "-j", jobs, "-o", out_ + "/r.json"},
            {"merge", config(28), "-q", "-j", jobs, "-o", out_ + "/m.json.gz"},
            {"collectives", config(28), "-q", "-j", jobs, "-o", out_ + "/c.xlsx"},
            {"analyze", sweep_, "-q", "-j", jobs, "--no-plots", "-o", out_ + "/a"},
            {"compare", "--baseline", config(28), "--test", config(70), "-q", "-j", jobs,
             "--no-plots", "--output", out_ + "/c"}};
  }
  test::RunResult run(const std::vector<std::string>& args, Fault kind, std::uint64_t nth,
                      std::uint64_t times, int error) {
    fs::remove_all(out_);
    fs::create_directories(out_);
    ::setenv("RS_FAULT",
             fmt::format("{} {} {} {}", static_cast<unsigned>(kind), nth, times, error).c_str(), 1);
    ::setenv("RS_FAULT_CALLS", folder_.path("calls").c_str(), 1);
    return test::run_program(RANKSCOPE_FAULTY, args);
  }
  /// Returns how many calls of this kind a run without a failure makes.
  std::uint64_t calls(const std::vector<std::string>& args, Fault kind) {
    const test::RunResult undisturbed = run(args, kind, 0, 0, 0);
    EXPECT_EQ(undisturbed.code, 0) << args[0] << ": " << undisturbed.err;
    return std::strtoull(test::bytes_of(folder_.path("calls")).c_str(), nullptr, 10);
  }
  void expect_clean_end(const test::RunResult& r, const std::set<int>& codes,
                        const std::string& what) {
    EXPECT_TRUE(codes.count(r.code)) << what << ": " << r.code << " " << r.err;
    EXPECT_TRUE(r.code == 0 || !r.err.empty()) << what;
    expect_nothing_unfinished(out_, what);
  }

  TempFolder folder_;
  std::string sweep_ = folder_.path("s"), out_ = folder_.path("out"), trace_;
};

/// Number of calls that fail, one per run.
constexpr std::uint64_t kPlaces = test::kThreadSanitized ? 2 : test::kAddressSanitized ? 5 : 8;

TEST_F(FaultyRun, AnyAllocationOfACommandMayFail) {
  for (const std::string jobs : {"1", "3"})
    for (const std::vector<std::string>& args : commands(jobs)) {
      const std::uint64_t all = calls(args, Fault::kAllocation);
      ASSERT_GT(all, 1000U) << args[0];
      for (const std::uint64_t times : {std::uint64_t{1}, std::uint64_t{50}})
        for (const std::uint64_t n : chosen(all, kPlaces))
          // 3: no input could be read; 4: some inputs could not be read; 6: the library of an
          // output had no memory
          expect_clean_end(run(args, Fault::kAllocation, n, times, 0), {0, 3, 4, 6},
                           fmt::format("{} -j {} allocation {}+{}", args[0], jobs, n, times));
    }
}

TEST_F(FaultyRun, AnyThreadMayNotStartAndTheWorkIsDone) {
  for (const std::vector<std::string>& args : commands("4")) {
    const std::uint64_t all = calls(args, Fault::kThread);
    ASSERT_GE(all, 2U) << args[0];
    for (std::uint64_t n = 1; n <= all; ++n)
      for (const std::uint64_t times : {std::uint64_t{1}, std::uint64_t{1000}})
        expect_clean_end(run(args, Fault::kThread, n, times, 0), {0},
                         fmt::format("{} thread {}+{}", args[0], n, times));
  }
}

TEST_F(FaultyRun, AnyWriteMayFailAndNothingHalfIsLeft) {
  for (const std::vector<std::string>& args : commands("1")) {
    const std::uint64_t all = calls(args, Fault::kWrite);
    ASSERT_GE(all, 2U) << args[0];
    const std::set<std::string> complete = files_below(out_);
    for (const int error : {ENOSPC, EIO})
      for (const std::uint64_t n : chosen(all, kPlaces)) {
        const std::string what = fmt::format("{} write {} errno {}", args[0], n, error);
        const test::RunResult r = run(args, Fault::kWrite, n, 1, error);
        // a failed close of a file that was only read loses no data
        expect_clean_end(r, {0, 6}, what);
        for (const std::string& file : files_below(out_))
          EXPECT_TRUE(complete.count(file)) << what << ": " << file;
      }
  }
}

} // namespace
} // namespace rankscope
