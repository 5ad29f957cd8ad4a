// KinetoChunk: a sequence of complete events of traceEvents, parsed into columns with a separate
// string pool. Any thread can parse chunks; they are merged in file order.
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
  std::uint64_t first_offset = 0; ///< place of the first event, in bytes after unpacking
};

struct KinetoChunk : TraceChunk {
  std::vector<MetadataEvent> metadata;
  std::uint32_t event_count = 0; ///< entries of traceEvents, including dropped ones
  std::uint64_t python_skipped = 0;
  std::uint64_t other_phases = 0; ///< B, E and the like
  DroppedEvents malformed;        ///< entries that are not a JSON object or do not end
  DroppedEvents bad_time;         ///< X events without a usable ts or dur, C events without ts
  bool array_ended = false;       ///< the closing ] of traceEvents was found
  std::string tail;               ///< text after the closing ]
  std::string foreign_category;   ///< first category of a device that rankscope does not read

  // work space of the parser
  std::unordered_map<std::string, std::uint32_t> text_tracks;
  std::vector<std::uint32_t> track_slots;
};

/// Optional content of a file, which is stored only on request.
struct KinetoKeep {
  bool python = false;   ///< python_function events
  bool launches = false; ///< the kernel names in runtime calls
};

/// Parses events from `text`, which starts at an event, a comma or the end of the array. `offset`
/// is the place of `text` in the unpacked file; `last`: no more input follows. An event that cannot
/// be parsed is dropped and counted. Parsing continues at the next place that looks like an event.
void parse_kineto_chunk(std::string_view text, std::uint64_t offset, bool last, KinetoKeep keep,
                        KinetoChunk& chunk);

/// Returns a place after a complete event where `text` can be cut; 0 when there is no such place
/// yet. `text` contains complete events, perhaps with an incomplete one at the end.
[[nodiscard]] std::size_t cut_at_event(std::string_view text);

} // namespace rankscope
