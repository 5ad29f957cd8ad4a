#include "readers/reports/zip_library.h"

#ifdef RANKSCOPE_LIBZIP_SONAME
#include "os/shared_library.h"
#endif

namespace rankscope {
namespace {

Result<ZipLibrary> opened() {
  ZipLibrary calls;
#ifdef RANKSCOPE_LIBZIP_SONAME
  const char* const hint = "install libzip; folders of CSV are read without it";
  Result<SharedLibrary> library = SharedLibrary::open("", {RANKSCOPE_LIBZIP_SONAME});
  if (!library)
    return Error{ErrorCode::kMissingTool, library.error().where, library.error().what, hint};
  const char* lacks = nullptr;
#define RS_CALL(name)                                                                              \
  if (!library->find(#name, calls.name))                                                           \
    lacks = #name;
  RANKSCOPE_LIBZIP_CALLS(RS_CALL)
#undef RS_CALL
  if (lacks != nullptr)
    return Error{ErrorCode::kMissingTool, library->name(), std::string("has no ") + lacks, hint};
  library->keep();
#else
#define RS_CALL(name) calls.name = &::name;
  RANKSCOPE_LIBZIP_CALLS(RS_CALL)
#undef RS_CALL
#endif
  return calls;
}

} // namespace

Result<const ZipLibrary*> ZipLibrary::get() {
  static const Result<ZipLibrary> library = opened();
  if (!library)
    return library.error();
  return &*library;
}

} // namespace rankscope
