// Text for a terminal. The bytes of a trace are untrusted: escape sequences, line ends, characters
// that change the text direction, and invalid UTF-8 become '?'.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Replaces by '?': control characters (C0, DEL, C1), invisible characters that move or hide others
/// (direction, zero width, line and paragraph separators, tags) and bytes that are not UTF-8.
/// Without `unicode`, all characters that are not ASCII are replaced too (U+00B5, micro, by 'u').
[[nodiscard]] std::string shown_text(std::string_view text, bool unicode);

/// Returns an upper bound of the columns that a terminal needs for shown_text(). A character from
/// U+1100 on counts as two columns, except in the blocks of punctuation, arrows, mathematics and
/// boxes. A combining mark counts as one column.
[[nodiscard]] std::size_t display_width(std::string_view text);

/// Returns the longest prefix of at most `width` columns.
[[nodiscard]] std::string_view first_columns(std::string_view text, std::size_t width);

/// Minimum width in columns of a text whose middle is shortened.
inline constexpr std::size_t kLeastWithMiddle = 5;

/// Returns at most `width` columns of the text. In a longer text, ".." (U+2026 with `unicode`)
/// replaces the middle, because kernel names differ at both ends. With fewer than kLeastWithMiddle
/// columns, only the prefix is returned. Example: ("Cijk_Ailk_Bljk_MT256x256", 12, false) is
/// "Cijk_..6x256".
[[nodiscard]] std::string shortened_middle(std::string_view text, std::size_t width, bool unicode);
/// Shortens a text like shortened_middle(), with `head` columns (at most width - 3) before the
/// mark.
[[nodiscard]] std::string shortened_after(std::string_view text, std::size_t head,
                                          std::size_t width, bool unicode);

/// Shortens the texts of a column to at most `width` columns each by cutting their middle. Texts
/// that differ stay different if possible: texts that would become equal are cut at another place,
/// or the part in which they differ replaces their end. Returns one text for each given text, in
/// the same order. Example: width 12 makes "GPU_exposed_comm_time" and "GPU_exposed_memcpy_time"
/// "GPU_..m_time" and "GPU_..y_time".
[[nodiscard]] std::vector<std::string> shortened_apart(std::span<const std::string> texts,
                                                       std::size_t width, bool unicode);
/// Returns the shapes of a call in the usual notation. Example: "((4096, 4096), (4096, 14336), ())"
/// is "4096x4096 4096x14336".
[[nodiscard]] std::string short_shapes(const std::string& dims);
/// Returns the number of different texts.
[[nodiscard]] std::size_t distinct_count(std::span<const std::string> texts);

/// Pad the text with blanks to `width` columns; a text at least that wide does not change.
[[nodiscard]] std::string padded_right(std::string text, std::size_t width);
[[nodiscard]] std::string padded_left(std::string text, std::size_t width);

} // namespace rankscope
