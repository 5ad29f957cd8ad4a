// A stable sort that adds little code to each caller. std::stable_sort adds 7 KB for each
// comparison, which was an eighth of the code of the analyses. It is still used where it sorts the
// events of a trace while reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace rankscope {

/// A reference to a function that says whether `a` comes before `b`. The function must exist
/// longer.
template <class T> class Before {
public:
  template <class Less>
  Before(const Less& less)
      : less_(&less), call_([](const void* f, T a, T b) -> bool {
          return (*static_cast<const Less*>(f))(a, b);
        }) {}
  bool operator()(T a, T b) const { return call_(less_, a, b); }

private:
  const void* less_;
  bool (*call_)(const void*, T, T);
};

/// Sort ids (of events) or indices stably.
void sort_ids_stably(std::vector<std::uint32_t>& ids, Before<std::uint32_t> before);
void sort_ids_stably(std::vector<std::size_t>& ids, Before<std::size_t> before);

/// Returns the indices 0 to count - 1 in sorted order; equal ones keep their order.
[[nodiscard]] std::vector<std::size_t> stable_order(std::size_t count, Before<std::size_t> before);

/// Sorts `values` stably: `less` compares what `of` returns for two values.
template <class T, class Less = std::ranges::less, class Of = std::identity>
void sort_stably(std::vector<T>& values, Less less = {}, Of of = {}) {
  const auto before = [&](const T& a, const T& b) -> bool {
    return std::invoke(less, std::invoke(of, a), std::invoke(of, b));
  };
  if constexpr (std::is_same_v<T, std::uint32_t> || std::is_same_v<T, std::size_t>) {
    sort_ids_stably(values, before);
  } else {
    auto order = stable_order(
        values.size(), [&](std::size_t a, std::size_t b) { return before(values[a], values[b]); });
    for (std::size_t first = 0; first < order.size(); ++first) { // each cycle of the permutation
      T held = std::move(values[first]);
      std::size_t to = first;
      for (std::size_t from = order[to]; from != first; from = order[to]) {
        values[to] = std::move(values[from]);
        order[to] = to;
        to = from;
      }
      values[to] = std::move(held);
      order[to] = to;
    }
  }
}

} // namespace rankscope
