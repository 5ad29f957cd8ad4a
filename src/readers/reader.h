// Readers turn a file into a Trace. Detection lives beside the parser (sniff).
#pragma once

#include "base/result.h"
#include "core/trace.h"
#include "os/tasks.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace rankscope {

struct ReadOptions {
  bool keep_python = false;     ///< keep python_function events
  unsigned threads = 1;         ///< this file's share of the threads
  TaskPool* pool = nullptr;     ///< where they are from; without one the reader makes its own
  std::size_t window_bytes = 0; ///< size of a cut; 0 = 1 MiB. Tests use small ones
};

struct Reader {
  const char* name;
  const char* help;
  /// `head` is the first bytes after decompression (up to 64 KiB), `path` the file's name.
  bool (*sniff)(std::string_view head, std::string_view path);
  /// Events that cannot be read are counted in trace.diagnostics; an Error means nothing usable.
  Result<Trace> (*read)(const std::string& path, const ReadOptions& options);
};

/// In order of detection.
[[nodiscard]] std::span<const Reader* const> readers();
/// Sniffs and reads. Path "-" is standard input.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

#define RANKSCOPE_READER(id) extern const Reader id##_reader;
#include "readers/readers.def"
#undef RANKSCOPE_READER

} // namespace rankscope
