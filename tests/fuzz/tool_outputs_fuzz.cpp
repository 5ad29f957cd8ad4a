// Input: a file from a profiling tool, counted with each method. An empty file must have no
// records, and a table at most one row per line.
#include "collect/profile/outputs.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <algorithm>
#include <cstdlib>
#include <string>

using namespace rankscope;

RS_FUZZ_TARGET(tool_outputs) {
  static const test::TempFolder folder;
  for (const char* name : {"a.csv", "a.json", "a.db", "a.bin"}) {
    const std::string path = folder.write(name, std::string(bytes));
    for (const char* check : {"bytes", "csv", "json", "sqlite", "sqlite:rocpd_kernel", "trace"}) {
      const std::uint64_t records = count_records(path, check).value_or(0);
      if (bytes.empty() && records != 0)
        std::abort();
      if (std::string_view(check) == "csv" &&
          records > static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n')))
        std::abort();
      if (std::string_view(check) == "json" && records > bytes.size())
        std::abort();
    }
  }
}
