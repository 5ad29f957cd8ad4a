// Text for a terminal: what a name may do there is shown, nothing else. Bytes of a trace are
// somebody else's: escape sequences, line ends, marks that turn the direction and broken UTF-8
// become '?'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankscope {

/// The text with '?' for each control character (C0, DEL, C1), each mark that is not seen but moves
/// or hides others (direction, zero width, line and paragraph separators, tags) and each byte that
/// is no UTF-8; without `unicode` also for each character that is not ASCII.
[[nodiscard]] std::string shown_text(std::string_view text, bool unicode);

/// Columns that shown_text() takes on a terminal, or one too many: from U+1100 on a character
/// counts two, but for the blocks of punctuation, arrows, mathematics and boxes, and a combining
/// mark counts one. So a line is never longer than this says.
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
