// Formats that rankscope recognizes but does not read as traces. The error names the format and the
// command that reads it, or says that no command does. The code here reads no such file.
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
  const char* hint; ///< the command that reads the format, or why no command does
};

/// Recognizes a file by its name and its first bytes (after decompression). Returns null for all
/// other files, including traces.
[[nodiscard]] const ForeignFormat* foreign_format(std::string_view head, std::string_view path);

/// Returns whether a category belongs to a device that rankscope does not read ("mtia_runtime").
[[nodiscard]] constexpr bool foreign_category(std::string_view category) {
  return category.starts_with("mtia_") || category.starts_with("hpu");
}

/// Recognizes the producer of a JSON trace without GPU work by its process names ("/device:GPU:0",
/// "Ascend Hardware") and its foreign category ("" if it has no such category). Returns null for an
/// unknown producer.
[[nodiscard]] const ForeignFormat* foreign_producer(const Trace& trace, std::string_view category);

/// Returns the error kUnreadable: `path` has this format.
[[nodiscard]] Error refusal_of(const ForeignFormat& format, const std::string& path);

/// Returns the error for the first file with a known format among or below `paths`; empty if no
/// file has one. Opens at most some hundred files.
[[nodiscard]] std::optional<Error> refusal_below(const std::vector<std::string>& paths);

} // namespace rankscope
