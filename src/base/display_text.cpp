#include "base/display_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

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

/// Returns the number of bytes of the shortest prefix that has at least `columns` columns.
std::size_t bytes_of_least(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (std::size_t used = 0, bytes = 0; at < text.size() && used < columns; at += bytes)
    used += width_of(character_at(text, at, bytes));
  return at;
}

/// Returns a text that shortened_after() shortens to the same result as the given text, for this
/// width. It is short: the cost of each attempt does not depend on the length of the text.
std::string both_ends(const std::string& text, std::size_t width) {
  const std::size_t columns = display_width(text);
  if (columns <= 4 * width)
    return text;
  return std::string(first_columns(text, 2 * width)) +
         text.substr(bytes_of_least(text, columns - 2 * width));
}

/// Returns the number of equal bytes at the start of two texts.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

/// Returns the first columns of a text, and the part of it that begins one character before byte
/// `at`. Empty if the width is too small.
std::string shortened_to(std::string_view text, std::size_t at, std::size_t width, bool unicode) {
  constexpr std::size_t kHead = 2;
  if (width < kHead + 2 * mark_width(unicode) + 2)
    return {};
  while (at > 0 && (static_cast<unsigned char>(text[--at]) & 0xc0U) == 0x80U) {
  }
  const std::string mark = unicode ? "\u2026" : "..";
  const std::size_t room = width - kHead - mark_width(unicode);
  const std::string_view rest = text.substr(at);
  if (display_width(rest) <= room)
    return std::string(first_columns(text, kHead)) + mark + std::string(rest);
  return std::string(first_columns(text, kHead)) + mark +
         std::string(first_columns(rest, room - mark_width(unicode))) + mark;
}

/// The shortened texts that are already in use, and different texts that share a shortened form.
class Apart {
public:
  Apart(std::size_t width, bool unicode) : width_(width), unicode_(unicode) {}

  /// Chooses the shortened forms of texts that shortened_middle() makes equal.
  void add(const std::vector<std::string>& texts) {
    std::optional<std::vector<std::string>> made;
    if (texts.size() > 1 && width_ >= kLeastWithMiddle)
      made = cut_at_one_place(texts);
    if (!made && texts.size() > 1)
      made = differences(texts);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string& text = chosen_[texts[i]] =
          made ? (*made)[i] : shortened_middle(texts[i], width_, unicode_);
      used_.insert(text);
    }
  }
  /// Returns the shortened form of a text that was added.
  [[nodiscard]] const std::string& operator[](const std::string& text) const {
    return chosen_.at(text);
  }

private:
  [[nodiscard]] bool all_new(const std::vector<std::string>& made) const {
    return distinct_count(made) == made.size() &&
           std::ranges::none_of(made, [this](const std::string& m) { return used_.contains(m); });
  }

  /// Cuts all texts after the same number of columns, as near to the middle as possible.
  std::optional<std::vector<std::string>> cut_at_one_place(std::span<const std::string> texts) {
    std::vector<std::string> ends;
    for (const std::string& text : texts)
      ends.push_back(both_ends(text, width_));
    const std::size_t most = width_ - mark_width(unicode_) - 1; // columns before the mark
    const std::size_t middle = (width_ - mark_width(unicode_)) / 2;
    for (std::size_t step = 1; step <= most; ++step)
      for (const std::size_t head : {middle + step, middle - step}) {
        if (head < 1 || head > most) // also if the difference is below 0
          continue;
        std::vector<std::string> made;
        for (const std::string& text : ends)
          made.push_back(shortened_after(text, head, width_, unicode_));
        if (all_new(made))
          return made;
      }
    return std::nullopt;
  }

  /// Shows of each text the place where it differs from all others.
  std::optional<std::vector<std::string>> differences(const std::vector<std::string>& texts) {
    std::vector<std::string> made;
    for (const std::string& text : texts) { // sorted: neighbours have the longest common prefix
      const auto i = static_cast<std::size_t>(&text - texts.data());
      const std::size_t before = i > 0 ? common_prefix(texts[i - 1], text) : 0;
      const std::size_t after = i + 1 < texts.size() ? common_prefix(texts[i + 1], text) : 0;
      made.push_back(shortened_to(text, std::max(before, after), width_, unicode_));
    }
    return all_new(made) ? std::optional(std::move(made)) : std::nullopt;
  }

  std::size_t width_;
  bool unicode_;
  std::map<std::string, std::string> chosen_;
  std::set<std::string> used_;
};

} // namespace

std::string shown_text(std::string_view text, bool unicode) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0, bytes = 0; at < text.size(); at += bytes) {
    const std::uint32_t c = character_at(text, at, bytes);
    if (within(c, kUnseen) || (!unicode && c >= 0x80))
      out += c == 0xb5 ? 'u' : '?'; // the sign of micro in units
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

std::string short_shapes(const std::string& dims) {
  std::string out;
  std::string numbers;
  for (const char c : dims + ')') {
    if ((c >= '0' && c <= '9') || c == '-') {
      numbers += c;
    } else if (c == ',' && !numbers.empty() && numbers.back() != 'x') {
      numbers += 'x';
    } else if (c == '(' || c == ')' || c == '[' || c == ']') {
      while (!numbers.empty() && numbers.back() == 'x')
        numbers.pop_back();
      if (!numbers.empty())
        out += (out.empty() ? "" : " ") + numbers;
      numbers.clear();
    }
  }
  return out;
}

std::size_t distinct_count(std::span<const std::string> texts) {
  return std::set<std::string_view>(texts.begin(), texts.end()).size();
}

std::vector<std::string> shortened_apart(std::span<const std::string> texts, std::size_t width,
                                         bool unicode) {
  std::map<std::string, std::vector<std::string>> alike; // different texts by shortened text
  for (const std::string& text : std::set<std::string>(texts.begin(), texts.end()))
    alike[shortened_middle(text, width, unicode)].push_back(text);
  Apart apart(width, unicode);
  for (const bool several : {false, true}) // first those that need no other cut
    for (const auto& [shown, group] : alike)
      if ((group.size() > 1) == several)
        apart.add(group);
  std::vector<std::string> out;
  for (const std::string& text : texts)
    out.push_back(apart[text]);
  return out;
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
