// Input: a file of GPU peaks. Accepted peaks must be positive.
#include "fuzz/fuzz_target.h"
#include "model/gpu_arch.h"
#include "temp_folder.h"

#include <cstdlib>

RS_FUZZ_TARGET(gpu_arch) {
  static const rankscope::test::TempFolder folder;
  const auto arch = rankscope::load_gpu_arch(folder.write("arch.json", std::string(bytes)));
  if (!arch.has_value())
    return;
  for (const auto& [spec, tflops] : arch->tflops)
    if (!(tflops > 0))
      std::abort();
}
