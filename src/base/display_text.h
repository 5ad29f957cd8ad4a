// Text for a terminal. The bytes of a trace are untrusted: escape sequences, line ends, marks that
// change the text direction and broken UTF-8 become '?'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// Replaces characters by '?': control characters (C0, DEL, C1), invisible marks that move or hide
/// others (direction, zero width, line and paragraph separators, tags) and bytes that are not
/// UTF-8. Without `unicode`, characters that are not ASCII are replaced too.
[[nodiscard]] std::string shown_text(std::string_view text, bool unicode);

/// Returns an upper bound of the columns that shown_text() takes on a terminal. A character from
/// U+1100 on counts as two columns, except in the blocks of punctuation, arrows, mathematics and
/// boxes. A combining mark counts as one. A line is never longer than this bound.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Returns the longest beginning that has at most `width` columns.
[[nodiscard]] std::string_view first_columns(std::string_view text, std::size_t width);

/// Minimum width in columns for a text with a shortened middle.
inline constexpr std::size_t kLeastWithMiddle = 5;

/// Returns at most `width` columns of the text. "..." replaces the middle of a longer text (U+2026
/// with `unicode`), since names of kernels differ at both ends. Below kLeastWithMiddle columns,
/// only the beginning is returned. Example: ("Cijk_Ailk_Bljk_MT256x256", 12, false) is
/// "Cijk_..6x256".
[[nodiscard]] std::string shortened_middle(std::string_view text, std::size_t width, bool unicode);
/// Shortens a text like shortened_middle(), with `head` columns before the mark (at most width -
/// 3).
[[nodiscard]] std::string shortened_after(std::string_view text, std::size_t head,
                                          std::size_t width, bool unicode);

/// Return the text with blanks up to `width` columns; a text at least that wide does not change.
[[nodiscard]] std::string padded_right(std::string text, std::size_t width);
[[nodiscard]] std::string padded_left(std::string text, std::size_t width);

} // namespace rankscope
