#include "writers/xlsxwriter_library.h"

namespace rankscope {
namespace {

Result<XlsxWriterLibrary> opened() {
#ifdef RANKSCOPE_XLSXWRITER_SONAME
  return open_calls<XlsxWriterLibrary>(RANKSCOPE_XLSXWRITER_SONAME,
                                       "install libxlsxwriter; CSV and JSON are written without it",
                                       [](XlsxWriterLibrary& calls, const auto& find) {
                                         RANKSCOPE_XLSXWRITER_CALLS(RS_LIBRARY_FIND)
                                       });
#else
  XlsxWriterLibrary calls;
  RANKSCOPE_XLSXWRITER_CALLS(RS_LIBRARY_LINKED)
  return calls;
#endif
}

} // namespace

Result<const XlsxWriterLibrary*> XlsxWriterLibrary::get() {
  static const Result<XlsxWriterLibrary> library = opened();
  return shared(library);
}

} // namespace rankscope
