#include "writers/plots/png.h"

#include "writers/plots/cairo_library.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

constexpr std::size_t kMostColours = 256;
constexpr std::size_t kPaletteBytes = kMostColours * 3;

int part(std::uint32_t colour, unsigned shift) {
  return static_cast<int>(colour >> shift & 0xFFU);
}

int distance(std::uint32_t a, std::uint32_t b) {
  int out = 0;
  for (const unsigned shift : {16U, 8U, 0U})
    out += (part(a, shift) - part(b, shift)) * (part(a, shift) - part(b, shift));
  return out;
}

/// Calls body(colour, from, to) for each range of successive pixels with the same colour. Most of a
/// plot is white.
template <class Body> void each_stretch(std::span<const std::uint32_t> rows, const Body& body) {
  // pointers, because a build without optimization calls a function for each element of a span
  const std::uint32_t *const begin = rows.data(), *const end = begin + rows.size();
  for (const std::uint32_t* from = begin; from != end;) {
    const std::uint32_t colour = *from;
    const std::uint32_t* to = from + 1;
    while (to != end && *to == colour)
      ++to;
    body(colour, static_cast<std::size_t>(from - begin), static_cast<std::size_t>(to - begin));
    from = to;
  }
}

struct Palette {
  std::vector<std::uint32_t> colours;                    ///< at most 256
  std::unordered_map<std::uint32_t, std::uint8_t> index; ///< key: colour in the image
};

Palette palette_of(std::span<const std::uint32_t> rows) {
  std::unordered_map<std::uint32_t, std::size_t> seen;
  each_stretch(rows, [&](std::uint32_t colour, std::size_t from, std::size_t to) {
    seen[colour] += to - from;
  });
  std::vector<std::pair<std::size_t, std::uint32_t>> ranked;
  for (const auto& [colour, count] : seen)
    ranked.emplace_back(count, colour);
  std::sort(ranked.rbegin(), ranked.rend()); // colours with equal counts are sorted by colour, so
                                             // that the file is always the same
  Palette out;
  for (const auto& [count, colour] : ranked) {
    if (out.colours.size() < kMostColours) {
      out.index[colour] = static_cast<std::uint8_t>(out.colours.size());
      out.colours.push_back(colour);
      continue;
    }
    const auto nearest = std::min_element(
        out.colours.begin(), out.colours.end(),
        [c = colour](std::uint32_t a, std::uint32_t b) { return distance(a, c) < distance(b, c); });
    out.index[colour] = static_cast<std::uint8_t>(nearest - out.colours.begin());
  }
  return out;
}

} // namespace

Result<std::string> png_of(const Pixels& pixels) {
  RS_TRY(const PngLibrary* const png, PngLibrary::get());
  const Palette palette = palette_of(pixels.rows);
  // One byte per pixel, written into the memory of the pixels themselves. The write position is
  // never after the read position, so no pixel is overwritten before it is read.
  auto* const places = reinterpret_cast<std::uint8_t*>(pixels.rows.data());
  each_stretch(pixels.rows, [&](std::uint32_t colour, std::size_t from, std::size_t to) {
    std::fill(places + from, places + to, palette.index.at(colour));
  });
  std::array<std::uint8_t, kPaletteBytes> colours = {};
  for (std::size_t i = 0; i < palette.colours.size(); ++i)
    for (std::size_t p = 0; p < 3; ++p)
      colours[3 * i + p] =
          static_cast<std::uint8_t>(part(palette.colours[i], static_cast<unsigned>(16 - 8 * p)));

  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.width);
  image.height = static_cast<png_uint_32>(pixels.height);
  image.format = PNG_FORMAT_RGB_COLORMAP;
  image.flags = PNG_IMAGE_FLAG_FAST;
  image.colormap_entries = static_cast<png_uint_32>(palette.colours.size());
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  const auto out = std::make_unique_for_overwrite<char[]>(bytes);
  if (png->png_image_write_to_memory(&image, out.get(), &bytes, 0, places, 0, colours.data()) ==
      0) {
    png->png_image_free(&image);
    return Error{ErrorCode::kOutput, "", std::string("libpng: ") + image.message, ""};
  }
  return std::string(out.get(), bytes);
}

} // namespace rankscope
