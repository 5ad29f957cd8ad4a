// Shared by the targets for AMD formats: every rank of a file is passed through the call tree and
// the report.
#pragma once

#include "analyses/analysis.h"
#include "readers/reader.h"

#include <cstdlib>
#include <sqlite3.h>
#include <string>

namespace rankscope::test {

/// Allows statements that create and fill tables and views, but not statements that open files or
/// change settings.
inline int allowed_sql(void* /*unused*/, int action, const char* /*a*/, const char* /*b*/,
                       const char* /*c*/, const char* /*d*/) {
  return action == SQLITE_ATTACH || action == SQLITE_DETACH || action == SQLITE_PRAGMA ? SQLITE_DENY
                                                                                       : SQLITE_OK;
}

inline int stop_sql(void* /*unused*/) {
  return 1;
}

/// Writes the database, or creates it with SQL statements, which test more code than damaged pages.
inline void make_database(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  if (sqlite3_open(path.c_str(), &db) == SQLITE_OK) {
    sqlite3_set_authorizer(db, allowed_sql, nullptr);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 16);
    sqlite3_progress_handler(db, 20000, stop_sql, nullptr);
    sqlite3_exec(db, "PRAGMA journal_mode=off", nullptr, nullptr, nullptr);
    sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(db);
}

/// Aborts if an accepted trace has times that run backwards or are too large for sums.
inline void through_all(const std::string& path) {
  (void)inspect_file(path, readers());
  (void)read_traces(path, {}, [](Trace trace) -> Result<void> {
    for (EventId i = 0; i < trace.events.size(); ++i)
      if (!usable_time(trace.events.ts_ns[i], trace.events.dur_ns[i]))
        std::abort();
    LoadedTrace loaded;
    loaded.tree = CallTree::build(trace);
    loaded.trace = std::move(trace);
    ReportOptions options;
    options.per_step = true;
    (void)build_report(loaded, options);
    return {};
  });
}

} // namespace rankscope::test
