// Cells that the sheets about collectives share.
#pragma once

#include "core/table.h"
#include "core/trace.h"

#include <cstdint>
#include <string_view>

namespace rankscope {

/// Blank where the trace does not say.
inline Value known(std::int64_t n) {
  return n == kNoId ? Value() : Value(n);
}
/// Blank for no text; the view lives as long as `text`.
inline Value some(std::string_view text) {
  return text.empty() ? Value() : Value(text);
}

} // namespace rankscope
