#include "base/display_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace rankscope {
namespace {

struct Range {
  std::uint32_t first, last;
};

template <std::size_t N> bool within(std::uint32_t c, const std::array<Range, N>& ranges) {
  return std::ranges::any_of(ranges, [c](const Range& r) { return c >= r.first && c <= r.last; });
}

/// Invisible characters that change how other characters are shown: soft hyphen, Arabic letter
/// mark, Hangul fillers, Mongolian and other variation selectors, zero width, direction, invisible
/// operators, byte order mark, interlinear marks, musical and shorthand formats, tags. Also
/// characters that no font contains (surrogates, private use, beyond Unicode).
constexpr std::array<Range, 20> kUnseen = {
    {{0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},
     {0x61c, 0x61c},   {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
     {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},   {0x3164, 0x3164},
     {0xd800, 0xf8ff}, {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
     {0xfff0, 0xfffb}, {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xffffffff}}};

/// Characters from U+1100 on that need one column only.
constexpr std::array<Range, 5> kNarrow = {
    {{0x1e00, 0x1fff}, {0x2000, 0x22ff}, {0x2400, 0x245f}, {0x2500, 0x25a0}, {0x2c60, 0x2c7f}}};

constexpr std::uint32_t kBroken = 0xffffffff;

/// Returns the character at `at`, and its number of bytes in `bytes`. If the character is
/// incomplete or overlong, returns kBroken and `bytes` is 1.
std::uint32_t character_at(std::string_view text, std::size_t at, std::size_t& bytes) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const std::uint32_t first = byte(at);
  bytes = 1;
  if (first < 0x80)
    return first;
  const std::size_t more = first >= 0xf0 && first < 0xf8   ? 3
                           : first >= 0xe0 && first < 0xf0 ? 2
                           : first >= 0xc2 && first < 0xe0 ? 1
                                                           : 0;
  if (more == 0)
    return kBroken;
  std::uint32_t c = first & (0x3fU >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if ((byte(at + i) & 0xc0U) != 0x80U)
      return kBroken;
    c = c << 6U | (byte(at + i) & 0x3fU);
  }
  if (c < (more == 3 ? 0x10000U : more == 2 ? 0x800U : 0x80U))
    return kBroken;
  bytes = more + 1;
  return c;
}

std::size_t width_of(std::uint32_t c) {
  return c < 0x1100 || c == kBroken || within(c, kNarrow) ? 1 : 2;
}

/// Returns the width in columns of the mark that replaces the middle.
std::size_t mark_width(bool unicode) {
  return unicode ? 1 : 2;
}

/// Returns the number of bytes of the longest prefix that has at most `width` columns.
std::size_t bytes_of_first(std::string_view text, std::size_t width) {
  std::size_t at = 0;
  for (std::size_t used = 0, bytes = 0; at < text.size(); at += bytes) {
    used += width_of(character_at(text, at, bytes));
    if (used > width)
      break;
  }
  return at;
}

} // namespace

std::string shown_text(std::string_view text, bool unicode) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0, bytes = 0; at < text.size(); at += bytes) {
    const std::uint32_t c = character_at(text, at, bytes);
    if (within(c, kUnseen) || (!unicode && c >= 0x80))
      out += '?';
    else
      out += text.substr(at, bytes);
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0, bytes = 0; at < text.size(); at += bytes)
    width += width_of(character_at(text, at, bytes));
  return width;
}

std::string_view first_columns(std::string_view text, std::size_t width) {
  return text.substr(0, bytes_of_first(text, width));
}

std::string shortened_after(std::string_view text, std::size_t head, std::size_t width,
                            bool unicode) {
  const std::size_t columns = display_width(text);
  if (columns <= width)
    return std::string(text);
  const std::string_view mark = unicode ? "\u2026" : "..";
  const std::size_t tail = width - mark_width(unicode) - head;
  std::size_t from = bytes_of_first(text, columns - tail);
  while (display_width(text.substr(from)) > tail) { // the cut is inside a wide character
    std::size_t bytes = 0;
    character_at(text, from, bytes);
    from += bytes;
  }
  return std::string(first_columns(text, head)) + std::string(mark) +
         std::string(text.substr(from));
}

std::string shortened_middle(std::string_view text, std::size_t width, bool unicode) {
  if (width < kLeastWithMiddle)
    return std::string(first_columns(text, width));
  // the end of a kernel name contains details: tiles, types, numbers
  return shortened_after(text, (width - mark_width(unicode)) / 2, width, unicode);
}

std::string padded_right(std::string text, std::size_t width) {
  if (const std::size_t has = display_width(text); has < width)
    text.append(width - has, ' ');
  return text;
}

std::string padded_left(std::string text, std::size_t width) {
  if (const std::size_t has = display_width(text); has < width)
    text.insert(0, width - has, ' ');
  return text;
}

} // namespace rankscope
