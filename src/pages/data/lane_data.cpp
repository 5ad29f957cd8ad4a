#include "pages/data/lane_data.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rankscope {
namespace {

using PageTime = std::function<std::int64_t(std::int64_t)>;

std::uint32_t share_of(std::int64_t ns, std::int64_t width) {
  return static_cast<std::uint32_t>(
      std::lround(255.0 * static_cast<double>(ns) / static_cast<double>(width)));
}

void add_columns(PageBlob& page, const PageLane& lane, const std::vector<std::uint32_t>& texts) {
  const LaneColumns& c = *lane.columns;
  constexpr std::array<const char*, kLaneKinds> kKeys = {"compute", "exposed", "hidden", "copy"};
  page.json.begin_object("columns");
  page.json.integer("width", c.width_ns);
  std::vector<std::uint32_t> values(c.ns.size());
  for (std::size_t k = 0; k < kLaneKinds; ++k) {
    for (std::size_t i = 0; i < c.ns.size(); ++i)
      values[i] = share_of(c.ns[i][k], c.width_ns);
    page.integers(kKeys[k], values);
  }
  for (std::size_t i = 0; i < lane.longest.size(); ++i)
    values[i] = texts[lane.longest[i]];
  page.integers("longest", values);
  page.integers("begun", c.begun);
  page.json.end_object();
}

void add_lane(PageBlob& page, const PageLane& lane, const PageTime& since_start, bool with_rows,
              const std::vector<std::uint32_t>& texts) {
  JsonWriter& json = page.json;
  json.begin_object();
  json.integer("device", lane.device);
  json.integer("stream", lane.stream);
  json.integer("in_trace", static_cast<std::int64_t>(lane.in_trace));
  json.begin_object("events");
  json.integer("n", static_cast<std::int64_t>(lane.events.size()));
  const auto text = [&](StrId PageEvent::*id) {
    return [&texts, id](const PageEvent& e) { return texts[e.*id]; };
  };
  page.times_of("start", lane.events,
                [&](const PageEvent& e) { return since_start(e.at.start_ns); });
  page.times_of("dur", lane.events, [](const PageEvent& e) { return e.at.dur_ns; });
  page.integers_of("kind", lane.events,
                   [](const PageEvent& e) { return static_cast<std::uint32_t>(e.at.kind); });
  page.integers_of("name", lane.events, text(&PageEvent::name));
  page.integers_of("op", lane.events, text(&PageEvent::op));
  page.integers_of("about", lane.events, text(&PageEvent::about));
  if (with_rows)
    page.integers_of("row", lane.events, [](const PageEvent& e) {
      return e.operator_row == kNoDetail ? 0 : e.operator_row + 1;
    });
  // in units of 0.1 us; 0 = unknown
  page.integers_of("delay", lane.events, [](const PageEvent& e) {
    return e.delay_ns < 0 ? 0U
                          : static_cast<std::uint32_t>(
                                std::min<std::int64_t>(e.delay_ns / 100, 0xfffffffeLL) + 1);
  });
  page.integers_of("hidden", lane.events, [](const PageEvent& e) { // in percent
    return e.at.dur_ns > 0 ? static_cast<std::uint32_t>(100 * (static_cast<double>(e.hidden_ns) /
                                                               static_cast<double>(e.at.dur_ns)))
                           : 0U;
  });
  json.end_object();
  if (lane.columns)
    add_columns(page, lane, texts);
  json.end_object();
}

} // namespace

void add_rank(PageBlob& page, const RankPage& rank, const PageTime& page_ns, bool alone) {
  const std::int64_t start_ns = page_ns(rank.start_ns);
  const PageTime since_start = [&](std::int64_t ts_ns) { return page_ns(ts_ns) - start_ns; };
  std::vector<std::uint32_t> texts; // text index in the page, by id in the rank
  for (StrId id = 0; id < rank.texts.size(); ++id)
    texts.push_back(page.text(rank.texts.view(id)));
  JsonWriter& json = page.json;
  json.begin_object();
  json.integer("rank", rank.rank);
  json.integer("at", start_ns);         // start of the first GPU event on the page's clock
  json.integer("first", rank.start_ns); // start of the same event on the file's clock
  json.integer("span", since_start(rank.end_ns));
  json.begin_list("lanes");
  for (const PageLane& lane : rank.lanes)
    add_lane(page, lane, since_start, alone, texts);
  json.end_list();
  json.begin_list("steps");
  for (const ProfilerStep& s : rank.steps) {
    json.begin_object();
    json.integer("step", s.number);
    json.integer("start", since_start(s.start_ns));
    json.integer("end", since_start(s.end_ns));
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

} // namespace rankscope
