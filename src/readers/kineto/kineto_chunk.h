// KinetoChunk: successive events of traceEvents, parsed into columns with their own string pool.
// Chunks can be parsed on any thread; they are merged in file order.
#pragma once

#include "core/trace_builder.h"

#include <cstdint>
#include <string>
#include <string_view>
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
  std::uint64_t first_offset = 0; ///< position of the first of these events, in bytes after
                                  ///< decompression
};

struct KinetoChunk : TraceChunk {
  std::vector<MetadataEvent> metadata;
  std::uint32_t event_count = 0; ///< number of entries of traceEvents, including dropped ones
  std::uint64_t python_skipped = 0;
  std::uint64_t other_phases = 0; ///< number of events of other phases, e.g. B and E
  DroppedEvents malformed;        ///< entries that are not a JSON object, or whose end was not
                                  ///< found
  DroppedEvents bad_time;         ///< X events without a usable ts or dur, C events without ts
  bool array_ended = false;       ///< the closing ] of traceEvents was found
  std::string tail;               ///< text after the closing ]
  std::string foreign_category;   ///< first category that belongs to a device that rankscope does
                                  ///< not read

  std::vector<std::uint32_t> track_slots; ///< buffer of the parser
};

/// Content that is stored only if requested.
struct KinetoKeep {
  bool python = false;   ///< store python_function events
  bool launches = false; ///< store the kernel names in runtime calls
};

/// Parses events from `text`, which begins with an event, a comma or the end of the array. `offset`
/// is the position of `text` in the decompressed file; `last`: `text` is the end of the input. An
/// event that cannot be parsed is dropped and counted, and parsing continues at the next position
/// that seems to be the start of an event.
void parse_kineto_chunk(std::string_view text, std::uint64_t offset, bool last, KinetoKeep keep,
                        KinetoChunk& chunk);

/// Returns a position after a complete event, at which `text` can be cut; 0 if no such position was
/// found. `text` contains complete events; an incomplete event may follow.
[[nodiscard]] std::size_t cut_at_event(std::string_view text);

} // namespace rankscope
