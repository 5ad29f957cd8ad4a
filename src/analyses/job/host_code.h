// What the host does in a range: the names of frames, operators and annotations that show a cause.
#pragma once

#include <cstdint>
#include <string_view>

namespace rankscope {

enum class HostCode : std::uint8_t { kOther, kLoader, kCollection, kCheckpoint, kCompilation };

/// Returns what a range and everything in it does, by its name. Functions that run compiled code
/// are not its compilation.
[[nodiscard]] HostCode host_code_around(std::string_view range);
/// Returns what a range itself does, as the innermost range of a stretch of host code.
[[nodiscard]] HostCode host_code_of(std::string_view range);

} // namespace rankscope
