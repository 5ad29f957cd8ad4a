#include "readers/reports/zip_library.h"

namespace rankscope {
namespace {

Result<ZipLibrary> opened() {
#ifdef RANKSCOPE_LIBZIP_SONAME
  return open_calls<ZipLibrary>(
      RANKSCOPE_LIBZIP_SONAME, "install libzip; folders of CSV are read without it",
      [](ZipLibrary& calls, const auto& find) { RANKSCOPE_LIBZIP_CALLS(RS_LIBRARY_FIND) });
#else
  ZipLibrary calls;
  RANKSCOPE_LIBZIP_CALLS(RS_LIBRARY_LINKED)
  return calls;
#endif
}

} // namespace

Result<const ZipLibrary*> ZipLibrary::get() {
  static const Result<ZipLibrary> library = opened();
  return shared(library);
}

} // namespace rankscope
