// Compresses bytes to one gzip member.
#pragma once

#include <string>
#include <string_view>

namespace rankscope {

/// Returns `bytes` as one gzip member (ISA-L level 3). Equal bytes give equal members, because the
/// header contains no file name and no time.
[[nodiscard]] std::string gzip_of(std::string_view bytes);

} // namespace rankscope
