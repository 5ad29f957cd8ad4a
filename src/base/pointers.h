// Makes pointers to the elements of a list.
#pragma once

#include <vector>

namespace rankscope {

/// Returns pointers in the order of the list. They are valid as long as the elements do not move.
template <class T> [[nodiscard]] std::vector<const T*> pointers_to(const std::vector<T>& list) {
  std::vector<const T*> out;
  out.reserve(list.size());
  for (const T& element : list)
    out.push_back(&element);
  return out;
}

} // namespace rankscope
