#include "writers/plots/cairo_library.h"

namespace rankscope {
namespace {

constexpr const char* kHint = "install libcairo2 to get plots";

} // namespace

Result<const CairoLibrary*> CairoLibrary::get() {
  static const Result<CairoLibrary> library =
      open_calls<CairoLibrary>("libcairo.so.2", kHint, [](CairoLibrary& calls, const auto& find) {
        RANKSCOPE_CAIRO_CALLS(RS_LIBRARY_FIND)
      });
  return shared(library);
}

Result<const PngLibrary*> PngLibrary::get() {
  static const Result<PngLibrary> library =
      open_calls<PngLibrary>("libpng16.so.16", kHint, [](PngLibrary& calls, const auto& find) {
        RANKSCOPE_PNG_CALLS(RS_LIBRARY_FIND)
      });
  return shared(library);
}

} // namespace rankscope
