#include "base/nearest.h"

#include <algorithm>
#include <vector>

namespace rankscope {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // three rows of the distance table: the last two and the current one
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, std::span<const std::string> words) {
  const std::size_t most = std::max<std::size_t>(1, word.size() / 3);
  const std::string* best = nullptr;
  std::size_t distance = most + 1;
  for (const std::string& w : words)
    if (const std::size_t d = edit_distance(word, w); d < distance) {
      best = &w;
      distance = d;
    }
  if (best != nullptr)
    return *best;
  if (word.size() >= 5) // a typing error in the first part of a longer word
    for (const std::string& w : words)
      if (w.size() > word.size() && edit_distance(word, w.substr(0, word.size())) == 1)
        return w;
  if (word.size() >= 3)
    for (const std::string& w : words)
      if (w.compare(0, word.size(), word) == 0)
        return w;
  return "";
}

std::string did_you_mean(std::string_view word, std::span<const std::string> words) {
  const std::string meant = nearest(word, words);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

} // namespace rankscope
