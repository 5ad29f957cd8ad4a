// Bytes from the processes of one job to its first, of any length. Knows no library for messages: a
// Link is what it needs of one.
#pragma once

#include "base/noncopyable.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// A process's place among those of its job, and messages to them. All processes make the same
/// calls in the same order. A link that breaks ends the job: no call here fails.
class Link : public Interface {
public:
  [[nodiscard]] virtual std::size_t rank() const = 0; ///< 0 <= rank < size
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// A number to each process; gives one from each. Both by rank.
  [[nodiscard]] virtual std::vector<std::uint64_t>
  swap_numbers(const std::vector<std::uint64_t>& to_each) = 0;
  /// A message of one to one, which waits until the other takes it. Not empty, not longer than a
  /// piece; the receiver asks for as many bytes as are sent.
  virtual void send(std::string_view bytes, std::size_t to) = 0;
  virtual void receive(std::span<char> bytes, std::size_t from) = 0;
};

/// The longest message: libraries count its bytes in 31 bits.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

/// The strings of each process at process 0, which takes them one by one: its own first, then those
/// of process 1, and so on. A process makes a string (of `count`, by its number) when its turn is
/// there and lets it go as it leaves, so that nobody holds more than one. A string longer than a
/// piece travels in several messages.
void gather_in_turn(Link& link, std::uint64_t count,
                    const std::function<std::string(std::uint64_t)>& make,
                    const std::function<void(std::size_t from, std::string)>& take,
                    std::size_t piece_bytes = kPieceBytes);

/// What process 0 says, at each.
[[nodiscard]] std::uint64_t said_by_first(Link& link, std::uint64_t number);

} // namespace rankscope
