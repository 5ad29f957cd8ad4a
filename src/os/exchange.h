// Bytes between the processes of one job, of any length: one string from each to each. Knows no
// library for messages: a Link is what it needs of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// A process's place among those of its job, and messages to them. All processes make the same
/// calls in the same order. A link that breaks ends the job: no call here fails.
class Link {
public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  [[nodiscard]] virtual std::size_t rank() const = 0; ///< 0 <= rank < size
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// A number to each process; gives one from each. Both by rank.
  [[nodiscard]] virtual std::vector<std::uint64_t>
  swap_numbers(const std::vector<std::uint64_t>& to_each) = 0;
  /// Sends and receives at the same time. The receiver asks for as many bytes as are sent; nothing
  /// to send or to receive is no message. Neither is longer than a piece.
  virtual void send_receive(std::string_view send, std::size_t to, std::span<char> receive,
                            std::size_t from) = 0;
};

/// The longest message: libraries count its bytes in 31 bits.
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 30;

/// to_each[r] goes to process r; gives what each sent to this one, by rank. Sent strings are let go
/// as they leave. A string longer than a piece travels in several messages.
[[nodiscard]] std::vector<std::string> all_to_all(Link& link, std::vector<std::string> to_each,
                                                  std::size_t piece_bytes = kPieceBytes);

/// The bytes of each process, by rank, at process 0; nothing elsewhere.
[[nodiscard]] std::vector<std::string> gather_at_first(Link& link, std::string bytes,
                                                       std::size_t piece_bytes = kPieceBytes);

/// What process 0 says, at each.
[[nodiscard]] std::uint64_t said_by_first(Link& link, std::uint64_t number);

} // namespace rankscope
