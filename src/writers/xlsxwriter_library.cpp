#include "writers/xlsxwriter_library.h"

#ifdef RANKSCOPE_XLSXWRITER_SONAME
#include "os/shared_library.h"
#endif

namespace rankscope {
namespace {

Result<XlsxWriterLibrary> opened() {
  XlsxWriterLibrary calls;
#ifdef RANKSCOPE_XLSXWRITER_SONAME
  const char* const hint = "install libxlsxwriter; CSV and JSON are written without it";
  Result<SharedLibrary> library = SharedLibrary::open("", {RANKSCOPE_XLSXWRITER_SONAME});
  if (!library)
    return Error{ErrorCode::kMissingTool, library.error().where, library.error().what, hint};
  const char* lacks = nullptr;
#define RS_CALL(name)                                                                              \
  if (!library->find(#name, calls.name))                                                           \
    lacks = #name;
  RANKSCOPE_XLSXWRITER_CALLS(RS_CALL)
#undef RS_CALL
  if (lacks != nullptr)
    return Error{ErrorCode::kMissingTool, library->name(), std::string("has no ") + lacks, hint};
  library->keep();
#else
#define RS_CALL(name) calls.name = &::name;
  RANKSCOPE_XLSXWRITER_CALLS(RS_CALL)
#undef RS_CALL
#endif
  return calls;
}

} // namespace

Result<const XlsxWriterLibrary*> XlsxWriterLibrary::get() {
  static const Result<XlsxWriterLibrary> library = opened();
  if (!library)
    return library.error();
  return &*library;
}

} // namespace rankscope
