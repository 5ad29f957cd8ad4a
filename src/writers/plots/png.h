// Converts pixels to a PNG file with a palette, which compresses in a fraction of the time that
// true colours need.
#pragma once

#include "base/result.h"
#include "writers/plots/canvas.h"

#include <cstdint>
#include <span>
#include <string>

namespace rankscope {

struct Pixels {
  std::size_t width = 0, height = 0;
  std::span<std::uint32_t> rows; ///< 0xAARRGGBB, row by row from the top; opaque
};

/// Returns the PNG file. The 256 most frequent colours are exact; other colours become the nearest
/// of them. The content of `pixels` is lost: the palette indices overwrite the pixels, of which
/// there are millions. Errors: kMissingTool, kOutput.
[[nodiscard]] Result<std::string> png_of(const Pixels& pixels);

} // namespace rankscope
