// The word that somebody may have meant: nearest of a list by edit distance.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rankscope {

/// Single letters added, left out, changed or swapped with their neighbour (optimal string
/// alignment). O(n * m). Example: "reprot" to "report" is 1.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The first of the nearest words, or "" when none is near: more than a third of the letters would
/// have to change (at least 1 may). A word that begins with `word` is near too.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string> words);

/// "; did you mean X?" with the nearest word, or "" when none is near: the end of a sentence.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> words);

} // namespace rankscope
