#include "readers/kineto/kineto_header.h"

#include "base/counters.h"
#include "base/to_number.h"
#include "core/json_parse.h"
#include "readers/kineto/json_scan.h"

#include <algorithm>

namespace rankscope {
namespace {

void parse_distributed(simdjson::dom::element value, TraceHeader& h) {
  simdjson::dom::object object;
  if (value.get(object) != simdjson::SUCCESS)
    return;
  const auto int_at = [&object](const char* key, std::optional<std::int64_t>& out) {
    std::int64_t v = 0;
    std::string_view digits;
    if (object[key].get(v) == simdjson::SUCCESS)
      out = v;
    else if (object[key].get(digits) == simdjson::SUCCESS)
      out = to_number(digits);
  };
  int_at("rank", h.rank);
  int_at("world_size", h.world_size);
  std::string_view text;
  if (object["backend"].get(text) == simdjson::SUCCESS)
    h.backend = text;
  if (object["nccl_version"].get(text) == simdjson::SUCCESS)
    h.nccl_version = text;
  simdjson::dom::array groups;
  if (object["pg_config"].get(groups) != simdjson::SUCCESS)
    return;
  for (const simdjson::dom::element group : groups) {
    simdjson::dom::object g;
    if (group.get(g) != simdjson::SUCCESS)
      continue;
    ProcessGroup pg;
    if (g["pg_name"].get(text) == simdjson::SUCCESS)
      pg.name = text;
    if (g["pg_desc"].get(text) == simdjson::SUCCESS)
      pg.description = text;
    std::int64_t v = 0;
    if (g["pg_size"].get(v) == simdjson::SUCCESS)
      pg.size = v;
    simdjson::dom::array ranks;
    if (g["ranks"].get(ranks) == simdjson::SUCCESS) {
      for (const simdjson::dom::element r : ranks)
        if (r.get(v) == simdjson::SUCCESS)
          pg.ranks.push_back(v);
    } else if (g["ranks"].get(text) == simdjson::SUCCESS) { // traces recorded on demand contain a
                                                            // text: "[0, 1]"
      std::int64_t n = -1;
      for (const char c : std::string(text) + ",") {
        if (c >= '0' && c <= '9') {
          constexpr std::int64_t kMost = INT64_MAX / 10 - 1; // larger than any rank
          n = std::min(std::max<std::int64_t>(n, 0), kMost) * 10 + (c - '0');
        } else if (n >= 0) {
          pg.ranks.push_back(n);
          n = -1;
        }
      }
    }
    h.process_groups.push_back(std::move(pg));
  }
}

void parse_devices(simdjson::dom::element value, TraceHeader& h) {
  simdjson::dom::array list;
  if (value.get(list) != simdjson::SUCCESS)
    return;
  for (const simdjson::dom::element item : list) {
    simdjson::dom::object o;
    if (item.get(o) != simdjson::SUCCESS)
      continue;
    DeviceInfo d;
    const auto int_at = [&o](const char* key, std::int64_t& out) {
      std::int64_t v = 0;
      if (o[key].get(v) == simdjson::SUCCESS)
        out = v;
    };
    std::string_view text;
    if (o["name"].get(text) == simdjson::SUCCESS)
      d.name = text;
    int_at("id", d.id);
    int_at("warpSize", d.warp_size);
    int_at("numSms", d.multiprocessors);
    h.devices.push_back(std::move(d));
  }
}

void header_value(std::string_view key, std::string_view raw, KinetoHeader& head,
                  Diagnostics& diag) {
  TraceHeader& h = head.values;
  const auto truthy = [](std::string_view v) {
    return v == "true" || (v != "0" && v != "false" && v != "null" && !v.empty());
  };
  if (key == "baseTimeNanoseconds") {
    std::int64_t base = 0;
    if (json::text_to_int(raw, base) && usable_time(base, 0))
      head.clock = {ClockDomain::kUnix, base};
    else
      diag.add(counters::header_number_malformed(), std::string(key));
  } else if (key == "distributedInfo" || key == "deviceProperties") {
    simdjson::dom::parser parser;
    simdjson::dom::element value;
    if (raw.size() > kMostKinetoMember)
      diag.add(counters::header_value_too_large(), std::string(key));
    else if (parse_json(parser, raw).get(value) != simdjson::SUCCESS)
      diag.add(counters::header_value_malformed(), std::string(key));
    else if (key == "distributedInfo")
      parse_distributed(value, h);
    else
      parse_devices(value, h);
  } else if (key == "record_shapes") {
    h.record_shapes = truthy(raw);
  } else if (key != "with_stack" && key != "displayTimeUnit" && key != "schemaVersion") {
    h.other.emplace_back(key, raw);
  }
}

} // namespace

HeadState scan_members(std::string_view text, std::size_t& at, bool inside, bool last,
                       KinetoHeader& h, Diagnostics& diag) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const char* p = begin + at;
  if (!inside) {
    p = json::skip_space(p, end);
    if (p >= end)
      return last ? HeadState::kMalformed : HeadState::kNeedMore;
    if (*p != '{')
      return HeadState::kMalformed;
    ++p;
  }
  for (;;) {
    at = static_cast<std::size_t>(p - begin);
    p = json::skip_space(p, end);
    while (p < end && *p == ',')
      p = json::skip_space(p + 1, end);
    if (p >= end)
      return HeadState::kNeedMore;
    if (*p == '}') {
      at = static_cast<std::size_t>(p + 1 - begin);
      return HeadState::kEndOfObject;
    }
    if (*p != '"')
      return HeadState::kMalformed;
    bool escaped = false;
    const char* const close = json::string_end(p + 1, end, escaped);
    if (close >= end)
      return HeadState::kNeedMore;
    std::string_view key(p + 1, static_cast<std::size_t>(close - p - 1));
    const std::string decoded = escaped ? json::unescape(key) : std::string();
    if (escaped)
      key = decoded;
    p = json::skip_space(close + 1, end);
    if (p >= end)
      return HeadState::kNeedMore;
    if (*p != ':')
      return HeadState::kMalformed;
    p = json::skip_space(p + 1, end);
    if (p >= end)
      return HeadState::kNeedMore;
    if (key == "traceEvents" && *p == '[') {
      at = static_cast<std::size_t>(p + 1 - begin);
      return HeadState::kEvents;
    }
    const char* const after = json::skip_value(p, end);
    if (after == nullptr)
      return HeadState::kNeedMore;
    header_value(key, {p, static_cast<std::size_t>(after - p)}, h, diag);
    p = after;
  }
}

} // namespace rankscope
