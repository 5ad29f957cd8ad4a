// Suggestions for a misspelled word: the nearest word of a list by edit distance.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rankscope {

/// Returns the number of letters added, left out, changed or swapped with their neighbour (optimal
/// string alignment). O(n * m). Example: "reprot" to "report" is 1.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the first of the nearest words, or "" when no word is near. A word is near if at most a
/// third of the letters (but at least 1) would have to change, or if it begins with `word`.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> words);

/// Returns "; did you mean X?" with the nearest word, or "" when no word is near. It ends a
/// sentence.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> words);

} // namespace rankscope
