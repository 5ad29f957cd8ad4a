// Input: manifests and samples of two ranks. Each rank must remain in the list, and the output for
// both must be JSON.
#include "collect/profile/merge_ranks.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cstdlib>
#include <string>

using namespace rankscope;

RS_FUZZ_TARGET(rank_manifests) {
  static const test::TempFolder folder;
  std::string parts[4]; // manifest and samples of a rank, then of another one
  test::split_parts(bytes, parts);
  folder.write("run/rank_0/manifest.json", parts[0]);
  folder.write("run/rank_0/gpu_samples.csv", parts[1]);
  folder.write("run/rank_1/manifest.json", parts[2]);
  folder.write("run/rank_1/gpu_samples.csv", parts[3]);
  const auto ranks = merge_ranks({folder.path("run")});
  if (!ranks.has_value())
    return; // both have the same rank number
  if (ranks->ranks.size() != 2 || ranks->succeeded > 2)
    std::abort();
  if (!parse_json(merged_json(*ranks, {}).dump(), "merged", nullptr).has_value())
    std::abort();
  (void)merged_text(*ranks, {});
}
