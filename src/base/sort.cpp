#include "base/sort.h"

#include <algorithm>
#include <numeric>

namespace rankscope {

void sort_ids_stably(std::vector<std::uint32_t>& ids, Before<std::uint32_t> before) {
  std::stable_sort(ids.begin(), ids.end(), before);
}

void sort_ids_stably(std::vector<std::size_t>& ids, Before<std::size_t> before) {
  std::stable_sort(ids.begin(), ids.end(), before);
}

std::vector<std::size_t> stable_order(std::size_t count, Before<std::size_t> before) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  sort_ids_stably(order, before);
  return order;
}

} // namespace rankscope
