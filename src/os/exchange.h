// Sends bytes of any length from the processes of a job to its first process. It is independent of
// the message library; Link is the interface to that library.
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

/// The rank of this process in its job, and messages to the other processes. All processes make the
/// same calls in the same order. A broken link ends the job: no call here fails.
class Link : public Interface {
public:
  [[nodiscard]] virtual std::size_t rank() const = 0; ///< 0 <= rank < size
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Sends one number to each process and receives one number from each. Both lists are by rank.
  [[nodiscard]] virtual std::vector<std::uint64_t>
  swap_numbers(const std::vector<std::uint64_t>& to_each) = 0;
  /// Sends a message to one process and waits until that process receives it. A message has 1 to
  /// kPieceBytes bytes; the receiver must request exactly as many.
  virtual void send(std::string_view bytes, std::size_t to) = 0;
  virtual void receive(std::span<char> bytes, std::size_t from) = 0;
};

/// The size of the longest message: message libraries count bytes in 31 bits.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

/// Gathers the strings of all processes at process 0, which passes them to `take`: first its own,
/// then those of process 1, and so on. A process makes string i (i < `count`) only when it is
/// needed and frees it after sending it, so that no process stores more than one string. A string
/// longer than a piece is sent in several messages.
void gather_in_turn(Link& link, std::uint64_t count,
                    const std::function<std::string(std::uint64_t)>& make,
                    const std::function<void(std::size_t from, std::string)>& take,
                    std::size_t piece_bytes = kPieceBytes);

/// Returns process 0's `number` on every process.
[[nodiscard]] std::uint64_t said_by_first(Link& link, std::uint64_t number);

} // namespace rankscope
