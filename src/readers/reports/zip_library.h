// libzip, which is opened when the first workbook is read. Loading it with its cryptography
// libraries takes as long as loading all of rankscope's code, and most commands do not read
// workbooks.
#pragma once

#include "os/library_calls.h"

#include <zip.h>

// every libzip function that rankscope calls
#define RANKSCOPE_LIBZIP_CALLS(RS_CALL)                                                            \
  RS_CALL(zip_discard)                                                                             \
  RS_CALL(zip_fclose)                                                                              \
  RS_CALL(zip_fopen)                                                                               \
  RS_CALL(zip_fread)                                                                               \
  RS_CALL(zip_open)                                                                                \
  RS_CALL(zip_stat)                                                                                \
  RS_CALL(zip_stat_init)

namespace rankscope {

/// The functions of the library, with their original names.
struct ZipLibrary {
  RANKSCOPE_LIBZIP_CALLS(RS_LIBRARY_MEMBER)

  /// Returns the library. The first call opens it; it stays open until the program ends.
  /// Thread-safe. Errors: kMissingTool.
  [[nodiscard]] static Result<const ZipLibrary*> get();
};

} // namespace rankscope
