// Input: a database of this kind, or SQL statements that create one.
#include "fuzz/fuzz_target.h"
#include "fuzz/rocprof_fuzz.h"
#include "temp_folder.h"

#include <filesystem>

RS_FUZZ_TARGET(rocpd) {
  static const rankscope::test::TempFolder folder;
  const std::string path = folder.path("trace.db");
  std::filesystem::remove(path);
  if (bytes.substr(0, 6) == "SQLite")
    folder.write("trace.db", std::string(bytes));
  else
    rankscope::test::make_database(path, std::string(bytes));
  rankscope::test::through_all(path);
}
