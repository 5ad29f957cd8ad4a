// KinetoChunk: a sequence of complete events of traceEvents, parsed into columns with a separate
// string pool. Chunks are parsed on any thread and merged in file order.
#pragma once

#include "core/trace_builder.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// A metadata event (ph M): process_name, process_labels, thread_name.
struct MetadataEvent {
  enum class Kind { kProcessName, kProcessLabel, kThreadName } kind;
  std::uint32_t track = 0;
  StrId text = kEmptyStr;
};

struct DroppedEvents {
  std::uint64_t count = 0;
  std::uint64_t first_offset = 0; ///< bytes after unpacking
};

struct KinetoChunk : TraceChunk {
  std::vector<MetadataEvent> metadata;
  std::uint32_t event_count = 0; ///< entries of traceEvents, dropped ones included
  std::uint64_t python_skipped = 0;
  std::uint64_t other_phases = 0; ///< B, E and the like
  DroppedEvents malformed;        ///< not a JSON object, or one that does not end
  DroppedEvents bad_time;         ///< X without a usable ts or dur, C without ts
  bool array_ended = false;       ///< the closing ] of traceEvents was found
  std::string tail;               ///< text after it
  std::string foreign_category;   ///< the first of a device that rankscope does not read

  // work space
  std::unordered_map<std::string, std::uint32_t> text_tracks;
  std::vector<std::uint32_t> track_slots;
};

/// Optional content of a file, stored only on request.
struct KinetoKeep {
  bool python = false;   ///< python_function events
  bool launches = false; ///< the kernels that runtime calls name
};

/// Parses events from `text`, which starts at an event, a comma or the end of the array. `offset`
/// is its place in the unpacked file; `last`: no more input follows. An event that cannot be parsed
/// is dropped and counted; parsing continues at the next place that looks like an event.
void parse_kineto_chunk(std::string_view text, std::uint64_t offset, bool last, KinetoKeep keep,
                        KinetoChunk& chunk);

/// Returns where to cut `text` (complete events, perhaps a started one at the end) so that the part
/// before ends after a complete event; 0 when there is no such place yet.
[[nodiscard]] std::size_t cut_at_event(std::string_view text);

} // namespace rankscope
