// Readers turn a file into Traces, one per rank. Only the readers decide what a file is and which
// ranks it contains: by its name, then by its first bytes.
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

/// In order of detection.
[[nodiscard]] Readers readers();

struct ReadOptions {
  bool keep_python = false;         ///< keep python_function events
  bool keep_launches = false;       ///< keep the kernels that runtime calls name
  unsigned threads = 1;             ///< this file's share of the threads
  TaskPool* pool = nullptr;         ///< pool of these threads; nullptr: the reader makes its own
  std::size_t window_bytes = 0;     ///< size of a cut; 0 = 1 MiB. Tests use small ones
  std::optional<std::int64_t> rank; ///< read only this rank of a file with several
  Readers known = readers();        ///< readers to try
};

enum class NameClaim {
  kNo,    ///< not a name of its traces
  kMaybe, ///< the first bytes decide
  kYes,   ///< a usual trace name; inspect() finds other files with such a name
};

/// Facts from the first bytes of a file.
struct FileInfo {
  bool trace = false;              ///< it looks like a trace of this reader
  std::vector<std::int64_t> ranks; ///< that the file names, ascending; empty: unknown
  std::optional<std::int64_t> world_size;
};

/// Takes the trace of one rank; an Error ends the reading and is passed on.
using TraceSink = std::function<Result<void>(Trace)>;

struct Reader {
  const char* name;
  const char* help;
  const char* ending; ///< of the usual file, e.g. ".json"; all may also be .gz and .zst
  /// By the file's name, without its folder and without .gz or .zst.
  NameClaim (*claims)(std::string_view file_name);
  /// `head` is the first bytes after decompression (up to 64 KiB), `path` the file's name.
  bool (*sniff)(std::string_view head, std::string_view path);
  /// The same bytes of a file that the name or sniff() gave to this reader.
  FileInfo (*inspect)(std::string_view head, std::string_view path);
  /// `source` is the opened `path` at its first byte: it may be a pipe, which cannot be opened
  /// again. Calls the sink once per rank; a reader of many ranks sets each trace's header.rank and
  /// may omit ranks that options.rank does not name. Events that cannot be read are counted in
  /// the trace's diagnostics; an Error means that nothing is usable.
  Result<void> (*read)(ByteSource& source, const std::string& path, const ReadOptions& options,
                       const TraceSink& sink);
};

/// Detects the format and reads; the sink gets each rank or only options.rank. "-": standard input.
Result<void> read_traces(const std::string& path, const ReadOptions& options,
                         const TraceSink& sink);
/// Reads the only trace of a file, or that of options.rank. Errors: kUsage when there are several
/// and options.rank is not set.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

/// Returns whether a reader accepts a file of this name; opens it only if a reader claims kMaybe.
[[nodiscard]] bool is_trace_file(const std::string& path, Readers known);
/// Returns the facts in the file's first bytes; `trace` is false for files that are not traces.
[[nodiscard]] FileInfo inspect_file(const std::string& path, Readers known);
/// Returns ".json, .db, each also with .gz or .zst", for messages.
[[nodiscard]] std::string trace_endings(Readers known);

#define RANKSCOPE_READER(id) extern const Reader id##_reader;
#include "readers/readers.def"
#undef RANKSCOPE_READER

} // namespace rankscope
