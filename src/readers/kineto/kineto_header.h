// The members of the root object of a Kineto trace, except its events.
#pragma once

#include "core/trace.h"

#include <cstddef>
#include <string_view>

namespace rankscope {

/// Maximum size of one event, and of all header members together. A small compressed file can
/// contain values of any size.
inline constexpr std::size_t kMostKinetoValue = std::size_t{64} << 20U;
/// Maximum size of a header member whose value is parsed: the JSON parser needs ten times as much
/// memory.
inline constexpr std::size_t kMostKinetoMember = std::size_t{16} << 20U;

struct KinetoHeader {
  TraceHeader values;
  Clock clock; ///< a Unix clock if the header contains baseTimeNanoseconds
};

enum class HeadState { kNeedMore, kEvents, kEndOfObject, kMalformed };

/// Reads root members from `text` at `at`. It stops after the opening bracket of traceEvents, or
/// after the closing brace of the root object, and sets `at` to this position. If it needs more
/// input, it sets `at` to the start of the incomplete member. `inside`: the opening brace of the
/// root object has been read. `last`: `text` is the end of the input.
[[nodiscard]] HeadState scan_members(std::string_view text, std::size_t& at, bool inside, bool last,
                                     KinetoHeader& h, Diagnostics& diag);

} // namespace rankscope
