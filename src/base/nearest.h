// Suggestions for a misspelled word: the word of a list that has the smallest edit distance.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rankscope {

/// Returns the edit distance: the number of letters that are added, left out, changed or swapped
/// with their neighbour (optimal string alignment). O(n * m). Example: "reprot" to "report" is 1.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the most similar word (the first of several), or "" if no word is similar. A word is
/// similar if its edit distance to `word` is at most a third of the letters of `word`, or 1. If
/// there is no such word: a longer word that begins with `word` (three letters or more), or that
/// does so after one correction (five letters or more).
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> words);

/// Returns "; did you mean X?", for the end of a message, or "" if nearest() finds no word.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> words);

} // namespace rankscope
