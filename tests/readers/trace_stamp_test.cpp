// Tests which files a trace has, and the time of their last modification.
#include "readers/trace_stamp.h"

#include "temp_folder.h"

#include <chrono>
#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

TEST(TraceModified, IsUnixTimeInNanoseconds) {
  const test::TempFolder folder;
  const std::string path = folder.write("trace.json", "{}");
  const std::int64_t before = trace_modified_ns(path);
  EXPECT_GT(before, 1'700'000'000'000'000'000);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  EXPECT_EQ(trace_modified_ns(path), before + 1'000'000'000);
  EXPECT_EQ(trace_modified_ns(folder.path("none")), 0);
}

// The tables of rocprofv3 are one trace; discovery lists its kernel table.
TEST(TraceModified, OfSeveralTablesIsThatOfTheNewest) {
  const test::TempFolder folder;
  const std::string kernels = folder.write("out/7_kernel_trace.csv", "k\n");
  folder.write("out/8_marker_api_trace.csv", "of another process\n");
  const std::string markers = folder.write("out/7_marker_api_trace.csv.gz", "four");
  EXPECT_EQ(files_of_trace(kernels), (std::vector{markers, kernels}));
  const std::int64_t before = trace_modified_ns(kernels);
  fs::last_write_time(markers, fs::last_write_time(markers) + std::chrono::seconds(5));
  EXPECT_GT(trace_modified_ns(kernels), before);
  const std::string other = folder.write("out/7_kernel_trace.json", "{}");
  EXPECT_EQ(files_of_trace(other), std::vector{other});
}

} // namespace
} // namespace rankscope
