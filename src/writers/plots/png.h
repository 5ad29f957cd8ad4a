// Converts pixels to a PNG file with a palette, which is compressed much faster than a PNG with
// true colours.
#pragma once

#include "base/result.h"
#include "writers/plots/canvas.h"

#include <cstdint>
#include <span>
#include <string>

namespace rankscope {

struct Pixels {
  std::size_t width = 0, height = 0;
  std::span<std::uint32_t> rows; ///< 0xAARRGGBB, row by row from the top; all pixels are opaque
};

/// Returns the content of the PNG file. The 256 most frequent colours are exact; each other colour
/// is replaced by the nearest of them. To save memory, `pixels` is overwritten with the palette
/// indices. Errors: kMissingTool, kOutput.
[[nodiscard]] Result<std::string> png_of(const Pixels& pixels);

} // namespace rankscope
