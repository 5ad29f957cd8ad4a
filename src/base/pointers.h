// Pointers to the elements of a list.
#pragma once

#include <vector>

namespace rankscope {

/// Valid as long as the elements stay where they are.
template <class T> [[nodiscard]] std::vector<const T*> pointers_to(const std::vector<T>& list) {
  std::vector<const T*> out;
  out.reserve(list.size());
  for (const T& element : list)
    out.push_back(&element);
  return out;
}

} // namespace rankscope
