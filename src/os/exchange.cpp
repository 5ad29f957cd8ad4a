#include "os/exchange.h"

#include <algorithm>
#include <utility>

namespace rankscope {

std::vector<std::string> all_to_all(Link& link, std::vector<std::string> to_each,
                                    std::size_t piece_bytes) {
  const std::size_t size = link.size(), rank = link.rank();
  to_each.resize(size);
  std::vector<std::uint64_t> lengths(size);
  for (std::size_t r = 0; r < size; ++r)
    lengths[r] = to_each[r].size();
  const std::vector<std::uint64_t> coming = link.swap_numbers(lengths);
  std::vector<std::string> out(size);
  out[rank] = std::move(to_each[rank]);
  // In turn k each sends to the k-th after it and hears the k-th before it, piece by piece: whoever
  // waits for a piece waits for one of the same turn or an earlier one, so that none waits for
  // ever.
  for (std::size_t turn = 1; turn < size; ++turn) {
    const std::size_t to = (rank + turn) % size, from = (rank + size - turn) % size;
    const std::string leaving = std::exchange(to_each[to], {});
    std::string& arriving = out[from];
    arriving.resize(coming[from]);
    const std::size_t longest = std::max(leaving.size(), arriving.size());
    for (std::size_t at = 0; at < longest; at += piece_bytes) {
      const std::size_t sent = std::min(at, leaving.size()), heard = std::min(at, arriving.size());
      link.send_receive(
          std::string_view(leaving).substr(sent, piece_bytes), to,
          std::span<char>(arriving).subspan(heard, std::min(piece_bytes, arriving.size() - heard)),
          from);
    }
  }
  return out;
}

std::vector<std::string> gather_at_first(Link& link, std::string bytes, std::size_t piece_bytes) {
  std::vector<std::string> to_each(link.size());
  to_each.front() = std::move(bytes);
  std::vector<std::string> out = all_to_all(link, std::move(to_each), piece_bytes);
  if (link.rank() != 0)
    out.clear();
  return out;
}

std::uint64_t said_by_first(Link& link, std::uint64_t number) {
  return link.swap_numbers(std::vector<std::uint64_t>(link.size(), number)).front();
}

} // namespace rankscope
