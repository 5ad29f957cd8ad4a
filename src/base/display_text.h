// Text for a terminal. The bytes of a trace are untrusted: escape sequences, line ends, marks that
// turn the direction and broken UTF-8 become '?'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// Replaces by '?' each control character (C0, DEL, C1), each invisible mark that moves or hides
/// others (direction, zero width, line and paragraph separators, tags) and each byte that is not
/// UTF-8; without `unicode` also each character that is not ASCII.
[[nodiscard]] std::string shown_text(std::string_view text, bool unicode);

/// Returns an upper bound of the columns that shown_text() takes on a terminal: a character from
/// U+1100 on counts two, except in the blocks of punctuation, arrows, mathematics and boxes; a
/// combining mark counts one. A line is never longer than this.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// The longest beginning of at most `width` columns.
[[nodiscard]] std::string_view first_columns(std::string_view text, std::size_t width);

/// Columns below which a text has no middle to lose.
inline constexpr std::size_t kLeastWithMiddle = 5;

/// At most `width` columns of the text: where it is longer, its middle gives way to "..." (with
/// `unicode` to U+2026), since names of kernels differ at both ends. Below kLeastWithMiddle columns
/// its beginning alone. Example: ("Cijk_Ailk_Bljk_MT256x256", 12, false) is "Cijk_..6x256".
[[nodiscard]] std::string shortened_middle(std::string_view text, std::size_t width, bool unicode);
/// The same with the first `head` columns before the mark; at most width - 3.
[[nodiscard]] std::string shortened_after(std::string_view text, std::size_t head,
                                          std::size_t width, bool unicode);

/// The text and blanks up to `width` columns; unchanged when it is as wide.
[[nodiscard]] std::string padded_right(std::string text, std::size_t width);
[[nodiscard]] std::string padded_left(std::string text, std::size_t width);

} // namespace rankscope
