// A reader converts a file into Traces, one per rank. Only readers decide which format a file has
// and which ranks it contains: first by its name, then by its first bytes.
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

/// Returns all readers, in the order in which they are tried.
[[nodiscard]] Readers readers();

struct ReadOptions {
  bool keep_python = false;         ///< store python_function events
  bool keep_launches = false;       ///< store the kernel names in runtime calls
  unsigned threads = 1;             ///< number of threads for this file
  TaskPool* pool = nullptr;         ///< pool that has these threads; nullptr: the reader creates a
                                    ///< pool
  std::size_t window_bytes = 0;     ///< number of bytes read at once; 0 = 1 MiB. Tests use small
                                    ///< windows
  std::optional<std::int64_t> rank; ///< if a file contains several ranks, read only this rank
  Readers known = readers();        ///< readers that are tried
};

enum class NameClaim {
  kNo,    ///< not a trace name of this reader
  kMaybe, ///< the first bytes must be checked too
  kYes,   ///< a usual trace name; inspect() may still reject the file
};

/// What is known about a file from its first bytes.
struct FileInfo {
  bool trace = false;              ///< the file looks like a trace of this reader
  std::vector<std::int64_t> ranks; ///< ranks in these bytes, ascending; empty: unknown
  std::optional<std::int64_t> world_size;
};

/// Receives the trace of one rank. If it returns an Error, reading ends and the caller gets the
/// Error.
using TraceSink = std::function<Result<void>(Trace)>;

struct Reader {
  const char* name;
  const char* help;
  const char* ending; ///< usual ending of file names, e.g. ".json"; .gz or .zst may follow
  /// Decides by the file name, without its folder and without .gz or .zst.
  NameClaim (*claims)(std::string_view file_name);
  /// Decides by the first bytes. `head`: up to 64 KiB after decompression; `path`: path of the
  /// file.
  bool (*sniff)(std::string_view head, std::string_view path);
  /// Returns what is known from the first bytes of a file that claims() or sniff() accepted.
  FileInfo (*inspect)(std::string_view head, std::string_view path);
  /// Reads `source`, which is the opened `path` at its first byte. It may be a pipe, which cannot
  /// be opened again. Calls the sink once per rank. A reader for files with many ranks sets
  /// header.rank of each trace, and may omit ranks other than options.rank. Unreadable events are
  /// counted in the diagnostics of the trace; an Error means that the file contains no usable data.
  Result<void> (*read)(ByteSource& source, const std::string& path, const ReadOptions& options,
                       const TraceSink& sink);
};

/// Detects the format of the file ("-": standard input) and reads it. The sink gets the traces of
/// all ranks, or only that of options.rank.
Result<void> read_traces(const std::string& path, const ReadOptions& options,
                         const TraceSink& sink);
/// Reads the only trace of a file, or the trace of options.rank. Errors: kUsage if the file
/// contains several traces and options.rank is not set.
Result<Trace> read_trace(const std::string& path, const ReadOptions& options = {});

/// Returns whether a reader accepts the file. The file is opened only if its name is not sufficient
/// (kMaybe).
[[nodiscard]] bool is_trace_file(const std::string& path, Readers known);
/// Returns what is known from the first bytes of a file. `trace` is false if it is not a trace.
[[nodiscard]] FileInfo inspect_file(const std::string& path, Readers known);
/// Returns the endings of trace files as text: ".json, .db, each also with .gz or .zst".
[[nodiscard]] std::string trace_endings(Readers known);

#define RANKSCOPE_READER(id) extern const Reader id##_reader;
#include "readers/readers.def"
#undef RANKSCOPE_READER

} // namespace rankscope
