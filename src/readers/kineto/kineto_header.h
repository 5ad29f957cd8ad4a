// The members of a Kineto trace's root object other than its events.
#pragma once

#include "core/trace.h"

#include <cstddef>
#include <string_view>

namespace rankscope {

/// Size limit of one event, and of all header members: a small compressed file can unpack to any
/// size.
inline constexpr std::size_t kMostKinetoValue = std::size_t{64} << 20U;
/// Size limit of a header member whose values are read: the parser needs ten times as much memory.
inline constexpr std::size_t kMostKinetoMember = std::size_t{16} << 20U;

struct KinetoHeader {
  TraceHeader values;
  Clock clock; ///< unix if baseTimeNanoseconds is present
};

enum class HeadState { kNeedMore, kEvents, kEndOfObject, kMalformed };

/// Reads root members from `text` at `at`. It stops when the array of traceEvents opens (`at` is
/// after the bracket) or the root object ends (`at` is after the brace). If it needs more input,
/// `at` is the start of the incomplete member. `inside`: the root's opening brace has been read.
/// `last`: no input follows.
[[nodiscard]] HeadState scan_members(std::string_view text, std::size_t& at, bool inside, bool last,
                                     KinetoHeader& h, Diagnostics& diag);

} // namespace rankscope
