// Input: a database of this kind, or SQL statements that create one.
#include "fuzz/fuzz_target.h"
#include "fuzz/rocprof_fuzz.h"
#include "temp_folder.h"

#include <filesystem>

RS_FUZZ_TARGET(rpd) {
  static const rankscope::test::TempFolder folder;
  const std::string path = folder.path("trace.rpd");
  std::filesystem::remove(path);
  if (bytes.substr(0, 6) == "SQLite")
    folder.write("trace.rpd", std::string(bytes));
  else
    rankscope::test::make_database(path, std::string(bytes));
  rankscope::test::through_all(path);
}
