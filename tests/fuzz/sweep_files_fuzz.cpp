// Input: the matrix of a sweep and the manifest of an earlier run. Each setting must have a
// separate folder below the sweep.
#include "collect/run_manifest.h"
#include "collect/sweep_settings.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

using namespace rankscope;

RS_FUZZ_TARGET(sweep_files) {
  static const test::TempFolder folder;
  const std::string path = folder.write("matrix.json", std::string(bytes));
  (void)read_run_manifest(path);
  const auto settings = matrix_settings(path);
  if (!settings.has_value())
    return;
  std::set<std::string> folders;
  for (const SweepSetting& setting : *settings) {
    if (!folders.insert(setting.folder).second)
      std::abort();
    const std::filesystem::path below(setting.folder);
    if (below.is_absolute())
      std::abort();
    for (const auto& part : below)
      if (part == "..")
        std::abort();
  }
}
