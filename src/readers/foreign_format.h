// Formats that rankscope knows and does not read as traces: a refusal names the format and the
// command that reads it, or says that no command does. Nothing here reads such a file.
#pragma once

#include "base/result.h"
#include "core/trace.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct ForeignFormat {
  const char* what; ///< "an SQLite export of Nsight Systems"
  const char* hint; ///< the command that reads it, or the reason why none does
};

/// Recognizes a file by its first bytes (after decompression) and its name. Null for everything
/// else, traces included.
[[nodiscard]] const ForeignFormat* foreign_format(std::string_view head, std::string_view path);

/// Whether a category belongs to a device that rankscope does not read ("mtia_runtime").
[[nodiscard]] constexpr bool foreign_category(std::string_view category) {
  return category.starts_with("mtia_") || category.starts_with("hpu");
}

/// Recognizes the producer of a JSON trace without GPU work by the names of its processes
/// ("/device:GPU:0", "Ascend Hardware") and by its foreign category, "" without one. Null for an
/// unknown producer.
[[nodiscard]] const ForeignFormat* foreign_producer(const Trace& trace, std::string_view category);

/// kUnreadable: `path` is in this format.
[[nodiscard]] Error refusal_of(const ForeignFormat& format, const std::string& path);

/// The refusal of the first file of a known format among or below `paths`; at most some hundred
/// files are opened. Empty when there is no such file.
[[nodiscard]] std::optional<Error> refusal_below(const std::vector<std::string>& paths);

} // namespace rankscope
