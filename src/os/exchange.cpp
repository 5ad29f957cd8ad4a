#include "os/exchange.h"

#include <algorithm>
#include <array>
#include <bit>

namespace rankscope {
namespace {

using Length = std::array<char, sizeof(std::uint64_t)>;

void send_string(Link& link, std::string_view bytes, std::size_t piece_bytes) {
  const auto length = std::bit_cast<Length>(std::uint64_t{bytes.size()});
  link.send({length.data(), length.size()}, 0);
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes)
    link.send(bytes.substr(at, piece_bytes), 0);
}

std::string receive_string(Link& link, std::size_t from, std::size_t piece_bytes) {
  Length length = {};
  link.receive(length, from);
  std::string out(std::bit_cast<std::uint64_t>(length), '\0');
  for (std::size_t at = 0; at < out.size(); at += piece_bytes)
    link.receive(std::span<char>(out).subspan(at, std::min(piece_bytes, out.size() - at)), from);
  return out;
}

} // namespace

void gather_in_turn(Link& link, std::uint64_t count,
                    const std::function<std::string(std::uint64_t)>& make,
                    const std::function<void(std::size_t from, std::string)>& use,
                    std::size_t piece_bytes) {
  const std::vector<std::uint64_t> counts =
      link.swap_numbers(std::vector<std::uint64_t>(link.size(), count));
  if (link.rank() != 0) {
    for (std::uint64_t i = 0; i < count; ++i)
      send_string(link, make(i), piece_bytes);
    return;
  }
  for (std::uint64_t i = 0; i < count; ++i)
    use(0, make(i));
  for (std::size_t from = 1; from < link.size(); ++from)
    for (std::uint64_t i = 0; i < counts[from]; ++i)
      use(from, receive_string(link, from, piece_bytes));
}

std::uint64_t said_by_first(Link& link, std::uint64_t number) {
  return link.swap_numbers(std::vector<std::uint64_t>(link.size(), number)).front();
}

} // namespace rankscope
