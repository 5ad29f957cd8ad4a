// Input: the tables of `nsys stats` (kernel sums, NVTX projection, memory sums), separated by NUL.
#include "analyses/nsys/nsys_summary.h"
#include "fuzz/fuzz_target.h"
#include "readers/nsys/nsys_csv.h"
#include "temp_folder.h"

RS_FUZZ_TARGET(nsys_csv) {
  static const rankscope::test::TempFolder folder;
  std::string parts[3];
  rankscope::test::split_parts(bytes, parts);
  const std::string nvtx = parts[1].empty() ? "" : folder.write("nvtx.csv", parts[1]);
  const std::string memory = parts[2].empty() ? "" : folder.write("mem.csv", parts[2]);
  const auto data = rankscope::read_nsys_csv(folder.write("kern.csv", parts[0]), nvtx, memory);
  if (!data.has_value())
    return;
  const auto summary = rankscope::summarise_nsys(*data, {"t", 2, 1, ":step"}, {{"gemm", "g"}});
  if (summary.has_value())
    (void)rankscope::nsys_text(*summary);
}
