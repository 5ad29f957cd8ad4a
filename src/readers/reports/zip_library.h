// libzip, opened when the first workbook is read: with the cryptography that it pulls in it takes
// as long to start as all of rankscope's own code, and most commands read none.
#pragma once

#include "os/library_calls.h"

#include <zip.h>

// every function of it that rankscope calls
#define RANKSCOPE_LIBZIP_CALLS(RS_CALL)                                                            \
  RS_CALL(zip_discard)                                                                             \
  RS_CALL(zip_fclose)                                                                              \
  RS_CALL(zip_fopen)                                                                               \
  RS_CALL(zip_fread)                                                                               \
  RS_CALL(zip_open)                                                                                \
  RS_CALL(zip_stat)                                                                                \
  RS_CALL(zip_stat_init)

namespace rankscope {

/// The library's functions under its own names.
struct ZipLibrary {
  RANKSCOPE_LIBZIP_CALLS(RS_LIBRARY_MEMBER)

  /// Opened at the first call, for the rest of the program; any thread. Errors: kMissingTool.
  [[nodiscard]] static Result<const ZipLibrary*> get();
};

} // namespace rankscope
