// Input: an Nsight Systems export, as a database or as SQL statements that create one (which test
// more code than damaged pages). Times of accepted rows must never be negative.
#include "analyses/nsys/nsys_summary.h"
#include "fuzz/fuzz_target.h"
#include "readers/nsys/nsys_sqlite.h"
#include "temp_folder.h"

#include <cstdlib>
#include <filesystem>
#include <sqlite3.h>

namespace {

/// Allows statements that create and fill tables and views, but not statements that open files or
/// change settings.
int allowed(void* /*unused*/, int action, const char* /*a*/, const char* /*b*/, const char* /*c*/,
            const char* /*d*/) {
  return action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_PRAGMA ? SQLITE_DENY
                                                                                       : SQLITE_OK;
}

int stop(void* /*unused*/) {
  return 1;
}

void make_database(const std::string& path, const std::string& sql) {
  std::filesystem::remove(path);
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) == SQLITE_OK) {
    sqlite3_set_authorizer(db, allowed, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
    sqlite3_progress_handler(db, 20000, stop, nullptr);
    sqlite3_exec(db, "PRAGMA journal_mode=off", nullptr, nullptr, nullptr);
    sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(db);
}

} // namespace

RS_FUZZ_TARGET(nsys_sqlite) {
  static const rankscope::test::TempFolder folder;
  const std::string path = folder.path("export.sqlite");
  if (bytes.substr(0, 6) == "SQLite")
    folder.write("export.sqlite", std::string(bytes));
  else
    make_database(path, std::string(bytes));
  for (const bool nvtx : {false, true}) {
    const auto data = rankscope::read_nsys_sqlite(path, nvtx, true);
    if (!data.has_value())
      continue;
    for (const auto& k : data->kernels)
      if (k.total_ns < 0)
        std::abort();
    const auto summary = rankscope::summarise_nsys(*data, {"t", 2, 1, nvtx ? ":step" : ""}, {});
    if (summary.has_value())
      (void)rankscope::nsys_text(*summary);
  }
}
