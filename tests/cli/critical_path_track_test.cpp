// Tests merge --critical-path: the slices of the track follow each other from the start of the run
// to its end, and each is within a slice of the rank that it names.
#include "run_binary.h"
#include "temp_folder.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <simdjson.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

using test::run_binary;

struct TrackSlice {
  double begin_us = 0, end_us = 0;
  std::int64_t rank = 0;
  std::string name; ///< without the rank
};

struct MergedPath {
  std::vector<TrackSlice> path;
  std::map<std::int64_t, std::vector<TrackSlice>> kernels; ///< by rank
};

MergedPath merged(const std::vector<std::string>& merge_options, const std::string& run,
                  const std::string& out) {
  std::vector<std::string> arguments{"merge", run, "-o", out, "--critical-path", "-q"};
  arguments.insert(arguments.end(), merge_options.begin(), merge_options.end());
  const test::RunResult made = run_binary(arguments);
  EXPECT_EQ(made.code, 0) << made.err;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  EXPECT_FALSE(parser.load(out).get(root));
  MergedPath track;
  for (const simdjson::dom::element event : simdjson::dom::array(root["traceEvents"])) {
    std::string_view category;
    if (event["cat"].get(category))
      continue;
    if (category != "critical_path" && category != "kernel")
      continue;
    TrackSlice slice;
    slice.begin_us = event["ts"];
    slice.end_us = slice.begin_us + double(event["dur"]);
    slice.rank = event["args"]["rank"];
    slice.name = std::string_view(event["name"]);
    slice.name.erase(0, slice.name.find("] ") + 2);
    (category == "kernel" ? track.kernels[slice.rank] : track.path).push_back(slice);
  }
  return track;
}

TEST(CriticalPathTrack, IsOneChainOnTheSlicesOfTheRanks) {
  const test::TempFolder folder;
  const std::string run = folder.path("run");
  ASSERT_EQ(run_binary({"synth", run, "--threads", "256", "--channels", "28", "--ranks", "4",
                        "--steps", "3", "--layers", "2", "--clock-offset-us", "400", "-q"})
                .code,
            0);
  const MergedPath track = merged({"--align", "collectives"}, run, folder.path("m.json"));
  ASSERT_GT(track.path.size(), 50U);
  constexpr double kUs = 0.0021; // two roundings to nanoseconds
  for (std::size_t k = 1; k < track.path.size(); ++k)
    ASSERT_NEAR(track.path[k].begin_us, track.path[k - 1].end_us, kUs) << k;
  std::size_t kernels = 0;
  for (const TrackSlice& slice : track.path) {
    if (!slice.name.starts_with("kernel ") && !slice.name.starts_with("collective "))
      continue;
    ++kernels;
    const std::vector<TrackSlice>& on = track.kernels.at(slice.rank);
    EXPECT_TRUE(std::ranges::any_of(on,
                                    [&](const TrackSlice& kernel) {
                                      return kernel.begin_us <= slice.begin_us + kUs &&
                                             slice.end_us <= kernel.end_us + kUs;
                                    }))
        << slice.name << " of rank " << slice.rank;
  }
  EXPECT_GT(kernels, 20U);
}

TEST(CriticalPathTrack, IsAbsentUnlessAskedFor) {
  const test::TempFolder folder;
  const std::string run = folder.path("run");
  ASSERT_EQ(run_binary({"synth", run, "--threads", "256", "--channels", "28", "--ranks", "2",
                        "--layers", "1", "-q"})
                .code,
            0);
  ASSERT_EQ(run_binary({"merge", run, "-o", folder.path("m.json"), "-q"}).code, 0);
  EXPECT_EQ(test::bytes_of(folder.path("m.json")).find("critical path"), std::string::npos);
}

} // namespace
} // namespace rankscope
