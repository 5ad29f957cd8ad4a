// Sends byte strings of any length from the processes of a job to its first process. The code does
// not depend on a message library; Link is the interface to the library.
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

/// The rank of this process in its job, and messages to the other processes. All processes must
/// make the same calls in the same order. If a connection fails, the message library ends the job,
/// so no call here returns an error.
class Link : public Interface {
public:
  [[nodiscard]] virtual std::size_t rank() const = 0; ///< 0 <= rank < size
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// Sends one number to each process and receives one number from each. Both lists are indexed by
  /// rank.
  [[nodiscard]] virtual std::vector<std::uint64_t>
  swap_numbers(const std::vector<std::uint64_t>& to_each) = 0;
  /// Sends a message to one process and waits until that process receives it. A message has 1 to
  /// kPieceBytes bytes; the receiver must request exactly as many.
  virtual void send(std::string_view bytes, std::size_t to) = 0;
  virtual void receive(std::span<char> bytes, std::size_t from) = 0;
};

/// The size of the longest message. Message libraries use 31-bit byte counts.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

/// Sends strings of all processes to process 0, which passes them to `use`: first its own strings,
/// then those of process 1, and so on. A process makes string i (i < `count`) when it is needed and
/// frees it after sending it, so no process stores more than one string at a time. A string longer
/// than `piece_bytes` is sent in several messages.
void gather_in_turn(Link& link, std::uint64_t count,
                    const std::function<std::string(std::uint64_t)>& make,
                    const std::function<void(std::size_t from, std::string)>& use,
                    std::size_t piece_bytes = kPieceBytes);

/// Returns on every process the `number` of process 0.
[[nodiscard]] std::uint64_t said_by_first(Link& link, std::uint64_t number);

} // namespace rankscope
