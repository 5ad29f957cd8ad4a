// Input: a table of power samples of rankscope or of a vendor. Accepted times must be ascending per
// GPU.
#include "collect/samplers/read_samples.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cstdlib>
#include <string>

RS_FUZZ_TARGET(power_table) {
  static const rankscope::test::TempFolder folder;
  const auto table =
      rankscope::read_power_table(folder.write("gpu_samples.csv", std::string(bytes)));
  if (!table.has_value())
    return;
  if (table->longest_gap_ns < 0)
    std::abort();
  for (const auto& [gpu, samples] : table->gpus)
    for (std::size_t i = 1; i < samples.size(); ++i)
      if (samples[i].unix_ns < samples[i - 1].unix_ns)
        std::abort();
}
