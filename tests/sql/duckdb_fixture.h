// Tests that need DuckDB's library are skipped where the library is absent, and under
// ThreadSanitizer, which does not instrument the library.
#pragma once

#include "sanitized.h"
#include "sql/duckdb_library.h"

#include <gtest/gtest.h>

#define RS_NEEDS_DUCKDB()                                                                          \
  do {                                                                                             \
    if (test::kThreadSanitized)                                                                    \
      GTEST_SKIP() << "DuckDB's threads are not instrumented";                                     \
    if (const auto library = DuckDbLibrary::get(); !library)                                       \
      GTEST_SKIP() << library.error().message();                                                   \
  } while (false)
