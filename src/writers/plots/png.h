// Pixels as the bytes of a PNG file with a palette, which compresses in a fraction of the time that
// true colours take.
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

/// The 256 colours that most pixels have are exact, the others become the nearest of these. What is
/// in `pixels` is lost: there are millions, and their places in the palette take theirs. Errors:
/// kMissingTool, kOutput.
[[nodiscard]] Result<std::string> png_of(const Pixels& pixels);

} // namespace rankscope
