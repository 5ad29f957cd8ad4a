// Readers turn a file into Traces, one per rank. Only readers decide the format of a file and the
// ranks in it: first by its name, then by its first bytes.
#pragma once

#include "base/result.h"
#include "core/trace.h"
#include "os/tasks.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

class ByteSource;
struct Reader;
using Readers = std::span<const Reader* const>;

/// Returns the readers in the order of detection.
[[nodiscard]] Readers readers();

struct ReadOptions {
  bool keep_python = false;         ///< store python_function events
  bool keep_launches = false;       ///< store the kernel names in runtime calls
  unsigned threads = 1;             ///< number of threads for this file
  TaskPool* pool = nullptr;         ///< pool with these threads; nullptr: the reader makes a pool
  std::size_t window_bytes = 0;     ///< size of a window; 0 = 1 MiB. Tests use small ones
  std::optional<std::int64_t> rank; ///< read only this rank of a file with several
  Readers known = readers();        ///< readers to try
};

enum class NameClaim {
  kNo,    ///< not a trace name of this reader
  kMaybe, ///< the first bytes must be checked
  kYes,   ///< a usual trace name; inspect() may still reject the file
};

/// Facts from the first bytes of a file.
struct FileInfo {
  bool trace = false;              ///< the file looks like a trace of this reader
  std::vector<std::int64_t> ranks; ///< ranks that the file names, ascending; empty: unknown
  std::optional<std::int64_t> world_size;
};

/// Receives the trace of one rank. An Error ends the reading and is returned to the caller.
using TraceSink = std::function<Result<void>(Trace)>;

struct Reader {
  const char* name;
  const char* help;
  const char* ending; ///< usual file ending, e.g. ".json"; .gz and .zst may follow
  /// Decides by the file name, without its folder and without .gz or .zst.
  NameClaim (*claims)(std::string_view file_name);
  /// Decides by the first bytes. `head`: the first bytes after decompression (up to 64 KiB),
  /// `path`: the file's name.
  bool (*sniff)(std::string_view head, std::string_view path);
  /// Returns facts from the first bytes of a file that claims() or sniff() accepted.
  FileInfo (*inspect)(std::string_view head, std::string_view path);
  /// Reads `source`: the opened `path` at its first byte, perhaps a pipe, which cannot be opened
  /// again. Calls the sink once per rank. A reader of many ranks sets header.rank of each trace,
  /// and may omit ranks other than options.rank. Unreadable events are counted in the trace's
  /// diagnostics; an Error means that the file has no usable data.
  Result<void> (*read)(ByteSource& source, const std::string& path, const ReadOptions& options,
                       const TraceSink& sink);
};

/// Detects the format and reads the file ("-": standard input). The sink gets every rank, or only
/// options.rank.
Result<void> read_traces(const std::string& path, const ReadOptions& options,
                         const TraceSink& sink);
/// Reads the only trace of a file, or the trace of options.rank. Errors: kUsage when the file has
/// several traces and options.rank is not set.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

/// Returns whether a reader accepts a file of this name. It opens the file only if a reader returns
/// kMaybe.
[[nodiscard]] bool is_trace_file(const std::string& path, Readers known);
/// Returns facts from the first bytes of a file. `trace` is false for files that are not traces.
[[nodiscard]] FileInfo inspect_file(const std::string& path, Readers known);
/// Returns the endings for messages: ".json, .db, each also with .gz or .zst".
[[nodiscard]] std::string trace_endings(Readers known);

#define RANKSCOPE_READER(id) extern const Reader id##_reader;
#include "readers/readers.def"
#undef RANKSCOPE_READER

} // namespace rankscope
