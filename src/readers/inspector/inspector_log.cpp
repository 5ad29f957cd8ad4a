#include "readers/inspector/inspector_log.h"

#include "core/json_parse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kLongestText = 256;
/// The limit for Unix times, in the year 2255.
constexpr std::uint64_t kLatestUs = 9'000'000'000'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60U;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ',';
}

/// Returns the position after the last byte of the object that begins at `from`; npos if its end is
/// not in `text`. If another object begins inside it at the start of a line, the first object is
/// incomplete: sets `torn` and returns the start of the other object.
std::size_t object_end(std::string_view text, std::size_t from, bool& torn) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' && i > from && text[i - 1] == '\n') {
      torn = true;
      return i;
    }
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

std::optional<std::uint64_t> number_of_inspector_log(const dom::object& object,
                                                     std::string_view key, std::uint64_t most) {
  std::uint64_t out = 0;
  if (object[key].get(out) != simdjson::SUCCESS || out > most)
    return std::nullopt;
  return out;
}

std::optional<std::string> text_of(const dom::object& object, std::string_view key) {
  std::string_view out;
  if (object[key].get(out) != simdjson::SUCCESS || out.size() > kLongestText)
    return std::nullopt;
  return std::string(out);
}

std::optional<InspectorHeader> header_of(const dom::object& object) {
  const auto comm = text_of(object, "id");
  const auto n_ranks = number_of_inspector_log(object, "n_ranks", kMostInspectorRanks);
  const auto rank = number_of_inspector_log(object, "rank", kMostInspectorRanks);
  if (!comm || comm->empty() || !n_ranks || !rank || *rank >= *n_ranks)
    return std::nullopt;
  InspectorHeader out{*comm, text_of(object, "comm_name").value_or(""),
                      static_cast<std::int64_t>(*rank), static_cast<std::int64_t>(*n_ranks), 0};
  if (out.name == "unknown")
    out.name.clear();
  return out;
}

std::optional<InspectorRecord> record_of(const dom::object& coll, const InspectorHeader& header) {
  const auto what = text_of(coll, "coll");
  const auto number = number_of_inspector_log(
      coll, "coll_sn", static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  const auto bytes = number_of_inspector_log(coll, "coll_msg_size_bytes", kMostBytes);
  const auto exec_us = number_of_inspector_log(coll, "coll_exec_time_us",
                                               std::numeric_limits<std::uint32_t>::max() - 1);
  double bus = 0;
  if (!what || what->empty() || !number || !bytes || !exec_us ||
      coll["coll_busbw_gbs"].get(bus) != simdjson::SUCCESS || !std::isfinite(bus) || bus < 0)
    return std::nullopt;
  InspectorRecord out;
  out.header = header;
  out.what = *what;
  out.number = *number;
  out.bytes = *bytes;
  out.exec_us = static_cast<std::uint32_t>(*exec_us);
  out.bus_gbps = bus;
  out.kernel_timed = text_of(coll, "coll_timing_source").value_or("") != "collective_cpu";
  return out;
}

/// Reads one object. Returns false if it is not an object of this format.
bool take_object(const dom::object& object, InspectorHeader& last, InspectorPiece& out) {
  dom::object part;
  if (object["header"].get(part) == simdjson::SUCCESS) {
    std::optional<InspectorHeader> header = header_of(part);
    if (!header)
      return false;
    header->written_us = last.written_us;
    last = std::move(*header);
  }
  if (object["metadata"].get(part) == simdjson::SUCCESS)
    if (const auto written = number_of_inspector_log(part, "dump_timestamp_us", kLatestUs))
      last.written_us = static_cast<std::int64_t>(*written);
  if (last.rank < 0 || last.written_us == 0)
    return false;
  std::uint64_t dropped = 0;
  const bool from_plugin = object["dump_stats"].get(part) == simdjson::SUCCESS;
  dom::object coll;
  if (from_plugin) {
    dropped = number_of_inspector_log(part, "coll_dropped_since_last_dump", kMostBytes).value_or(0);
    out.dropped += dropped;
  } else if (object["coll_perf"].get(coll) == simdjson::SUCCESS) {
    std::optional<InspectorRecord> record = record_of(coll, last);
    if (!record)
      return false;
    out.records.push_back(std::move(*record));
  }
  if (!from_plugin || dropped > 0) // not for other objects, because the plugin's thread writes them
                                   // even if the process hangs
    out.works_us = std::max(out.works_us, last.written_us);
  return true;
}

} // namespace

InspectorPiece read_inspector(std::string_view text, InspectorHeader& last) {
  InspectorPiece out;
  dom::parser parser;
  while (out.used < text.size()) {
    if (is_space(text[out.used])) {
      ++out.used;
      continue;
    }
    if (text[out.used] != '{') { // the rest of an incomplete object, or text in another format
      const std::size_t line = text.find('\n', out.used);
      if (line == std::string_view::npos && text.size() - out.used < kLongestInspectorObject)
        break;
      ++out.bad;
      out.used = line == std::string_view::npos ? text.size() : line + 1;
      continue;
    }
    bool torn = false;
    const std::size_t end = object_end(text, out.used, torn);
    if (end == std::string_view::npos) {
      if (text.size() - out.used < kLongestInspectorObject)
        break;
      ++out.bad;
      out.used = text.size();
      break;
    }
    dom::object object;
    if (torn ||
        parse_json(parser, text.substr(out.used, end - out.used)).get(object) !=
            simdjson::SUCCESS ||
        !take_object(object, last, out))
      ++out.bad;
    out.used = end;
  }
  return out;
}

bool is_inspector_log(std::string_view head) {
  return head.find("\"inspector_output_format_version\"") != std::string_view::npos ||
         (head.find("\"header\"") != std::string_view::npos &&
          head.find("\"n_ranks\"") != std::string_view::npos);
}

} // namespace rankscope
