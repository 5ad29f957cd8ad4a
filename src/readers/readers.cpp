#include "readers/reader.h"

#include "base/number_text.h"
#include "core/trace_builder.h"
#include "os/byte_source.h"
#include "readers/foreign_format.h"
#include "readers/rocprof/sqlite_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

Result<std::string> head_of(const std::string& path) {
  RS_TRY(const auto source, ByteSource::open(path));
  return std::string(source->peek(kHeadBytes));
}

/// Returns the file name without folder and compression: "rank0.json" for "dir/rank0.json.gz".
std::string_view plain_name(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1); // npos + 1 is 0
  for (const std::string_view packed : {".gz", ".zst"})
    if (path.ends_with(packed))
      path.remove_suffix(packed.size());
  return path;
}

const Reader* reader_for(std::string_view head, const std::string& path, Readers known) {
  for (const Reader* reader : known)
    if (reader->sniff(head, path))
      return reader;
  return nullptr;
}

Error not_one(const std::string& path, const ReadOptions& options, std::vector<std::int64_t> seen) {
  std::sort(seen.begin(), seen.end());
  if (options.rank)
    return Error{ErrorCode::kUnreadable, path,
                 fmt::format("does not contain rank {}; ranks in the file: {}", *options.rank,
                             ranges_text(seen)),
                 ""};
  return Error{ErrorCode::kUsage, path,
               fmt::format("contains {} ranks ({}), but this command reads only one rank",
                           seen.size(), ranges_text(seen)),
               ""};
}

} // namespace

Readers readers() {
  static const std::vector<const Reader*> kAll = {
#define RANKSCOPE_READER(id) &id##_reader,
#include "readers/readers.def"
#undef RANKSCOPE_READER
  };
  return kAll;
}

Result<void> read_traces(const std::string& path, const ReadOptions& options,
                         const TraceSink& sink) {
  RS_TRY(const auto source, ByteSource::open(path));
  const std::string_view head = source->peek(kHeadBytes);
  if (const ForeignFormat* const format = foreign_format(head, path))
    return refusal_of(*format, path);
  if (const Reader* reader = reader_for(head, path, options.known))
    try {
      return reader->read(*source, path, options, sink);
    } catch (const TraceTooLarge&) {
      return Error{ErrorCode::kUnreadable, path,
                   "contains far more names, arguments or events than a trace of this size",
                   "if it is intact, decompress it first"};
    }
  if (is_sqlite(head))
    return Error{ErrorCode::kUnreadable, path,
                 "an SQLite database without readable tables of rocpd or RPD", ""};
  std::string known;
  for (const Reader* reader : options.known)
    known += known.empty() ? reader->name : std::string(", ") + reader->name;
  return Error{ErrorCode::kUnreadable, path,
               !head.empty()               ? "unknown trace format (known formats: " + known + ")"
               : source->problem().empty() ? "the file is empty"
                                           : source->problem(),
               ""};
}

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  std::optional<Trace> found;
  std::vector<std::int64_t> seen;
  RS_CHECK(read_traces(path, options, [&](Trace trace) -> Result<void> {
    const std::optional<std::int64_t> rank = trace.header.rank;
    seen.push_back(rank.value_or(0));
    if (!found && (!options.rank || rank == options.rank))
      found = std::move(trace);
    return {};
  }));
  if (!found || (!options.rank && seen.size() > 1))
    return not_one(path, options, std::move(seen));
  return std::move(*found);
}

bool is_trace_file(const std::string& path, Readers known) {
  const std::string_view name = plain_name(path);
  std::vector<const Reader*> maybe;
  for (const Reader* reader : known) {
    const NameClaim claim = reader->claims(name);
    if (claim == NameClaim::kYes)
      return true;
    if (claim == NameClaim::kMaybe)
      maybe.push_back(reader);
  }
  if (maybe.empty())
    return false;
  const Result<std::string> head = head_of(path);
  return head && reader_for(*head, path, maybe) != nullptr;
}

FileInfo inspect_file(const std::string& path, Readers known) {
  const Result<std::string> head = head_of(path);
  const Reader* const reader = head ? reader_for(*head, path, known) : nullptr;
  return reader == nullptr ? FileInfo{} : reader->inspect(*head, path);
}

std::string trace_endings(Readers known) {
  std::vector<std::string_view> endings;
  for (const Reader* reader : known)
    if (std::find(endings.begin(), endings.end(), reader->ending) == endings.end())
      endings.push_back(reader->ending);
  return fmt::format("{}, each also with .gz or .zst", fmt::join(endings, ", "));
}

} // namespace rankscope
