// The members of a Kineto trace's root object other than its events.
#pragma once

#include "core/trace.h"

#include <cstddef>
#include <string_view>

namespace rankscope {

/// Bytes of one event or of all header members: a file that packs well can unpack to any size.
inline constexpr std::size_t kMostKinetoValue = std::size_t{64} << 20U;
/// Bytes of a header member whose values are read: parsing takes ten times as much.
inline constexpr std::size_t kMostKinetoMember = std::size_t{16} << 20U;

struct KinetoHeader {
  TraceHeader values;
  Clock clock; ///< unix where baseTimeNanoseconds is given
};

enum class HeadState { kNeedMore, kEvents, kEndOfObject, kMalformed };

/// Reads root members from `text` at `at` until the array of traceEvents opens (at = behind its
/// bracket), the root object ends (at = behind its brace), or more input is needed (at = start of
/// the member to read again). `inside`: the root's opening brace has been read. `last`: no input
/// follows.
[[nodiscard]] HeadState scan_members(std::string_view text, std::size_t& at, bool inside, bool last,
                                     KinetoHeader& h, Diagnostics& diag);

} // namespace rankscope
