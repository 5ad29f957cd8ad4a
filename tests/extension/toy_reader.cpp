// A reader of a toy format with two ranks in one file, written as "Add a reader" in HACKING.md
// describes.
#include "core/trace_builder.h"
#include "os/byte_source.h"
#include "readers/reader.h"

#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace rankscope {
namespace {

// Lines: "toy 1 RANK...", then "RANK KERNEL START_NS DURATION_NS".
constexpr std::string_view kToyMagic = "toy 1";

NameClaim claims(std::string_view name) {
  return name.ends_with(".toy")   ? NameClaim::kYes
         : name.ends_with(".txt") ? NameClaim::kMaybe
                                  : NameClaim::kNo;
}

bool sniff(std::string_view head, std::string_view) {
  return head.starts_with(kToyMagic);
}

FileInfo inspect(std::string_view head, std::string_view) {
  FileInfo out;
  out.trace = true;
  std::istringstream line(
      std::string(head.substr(kToyMagic.size(), head.find('\n') - kToyMagic.size())));
  for (std::int64_t rank = 0; line >> rank;)
    out.ranks.push_back(rank);
  return out;
}

Result<void> read(ByteSource& source, const std::string& path, const ReadOptions&,
                  const TraceSink& sink) {
  std::string bytes(4096, '\0');
  bytes.resize(source.read(bytes.data(), bytes.size()));
  std::istringstream in(bytes.substr(bytes.find('\n')));
  std::map<std::int64_t, TraceBuilder> ranks;
  std::int64_t rank = 0;
  std::string name;
  EventRow row;
  row.category = Category::kKernel;
  while (in >> rank >> name >> row.ts_ns >> row.dur_ns) {
    TraceBuilder& out = ranks.try_emplace(rank, path, "toy").first->second;
    row.name = out.text(name);
    row.track = out.track({});
    (void)out.add(row);
  }
  for (auto& [number, builder] : ranks) {
    builder.header().rank = number;
    RS_TRY(Trace trace, std::move(builder).finish());
    RS_CHECK(sink(std::move(trace)));
  }
  return {};
}

} // namespace

extern const Reader toy_reader; // for a build whose readers.def does not have it
const Reader toy_reader{"toy", "a test's format", ".toy", claims, sniff, inspect, read};

} // namespace rankscope
