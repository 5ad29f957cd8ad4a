// Compresses bytes to one gzip member.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Uses ISA-L level 3; the same bytes give the same member (no name, no time).
[[nodiscard]] std::string gzip_of(std::string_view bytes);

} // namespace rankscope
