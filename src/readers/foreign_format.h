// Formats that rankscope recognizes but does not read as traces. The error names the format and the
// command that reads it, or why no command does. This code does not read such files.
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

/// Recognizes a format by the file name and the first bytes (after decompression). Returns null for
/// all other files, including traces.
[[nodiscard]] const ForeignFormat* foreign_format(std::string_view head, std::string_view path);

/// Returns whether a category belongs to a device that rankscope does not read ("mtia_runtime").
[[nodiscard]] constexpr bool foreign_category(std::string_view category) {
  return category.starts_with("mtia_") || category.starts_with("hpu");
}

/// Recognizes the program that wrote a JSON trace without GPU work: by process names
/// ("/device:GPU:0", "Ascend Hardware"), or by `category`, a category for which foreign_category()
/// is true, or "". Returns null if the program is not known.
[[nodiscard]] const ForeignFormat* foreign_producer(const Trace& trace, std::string_view category);

/// Returns an error with kUnreadable that names the format.
[[nodiscard]] Error refusal_of(const ForeignFormat& format, const std::string& path);

/// Returns the error for the first file with a known format that is in `paths` or in a folder in
/// `paths`; empty if no such file is found. Opens some hundred files at most.
[[nodiscard]] std::optional<Error> refusal_below(const std::vector<std::string>& paths);

} // namespace rankscope
