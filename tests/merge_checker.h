// Reads a merged trace and checks what viewers need: valid JSON, slices that nest on every track,
// no tid 0, and flow ids that have one start and one end, each at the start of a slice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <simdjson.h>
#include <string>
#include <tuple>
#include <vector>

namespace rankscope::test {

struct MergedSlice {
  std::string name, category;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t pid = 0, tid = 0, rank = -1;
};

struct Merged {
  std::vector<MergedSlice> slices;
  std::map<std::int64_t, std::map<std::string, std::uint64_t>> counts; ///< rank, category
  std::map<std::string, std::uint64_t> arrows;                         ///< category
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names;
  std::map<std::int64_t, std::string> process_names;
  std::int64_t base_time_ns = 0;
};

/// Converts microseconds with three decimals to ns. Doubles are exact enough for this, because the
/// merged times are near their base time (below 2^53 / 1000 us).
inline std::int64_t rounded_ns(double us) {
  return static_cast<std::int64_t>(us * 1000.0 + (us < 0 ? -0.5 : 0.5));
}

inline Merged check_merged(const std::string& text) {
  Merged out;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  const auto error = parser.parse(text).get(root);
  EXPECT_EQ(error, simdjson::SUCCESS) << simdjson::error_message(error);
  if (error != simdjson::SUCCESS)
    return out;
  if (root["baseTimeNanoseconds"].get(out.base_time_ns) != simdjson::SUCCESS)
    out.base_time_ns = -1;
  struct End {
    std::int64_t pid, tid, ns;
  };
  std::map<std::tuple<std::string, std::int64_t>, std::vector<End>> starts;
  std::map<std::tuple<std::string, std::int64_t>, std::vector<End>> ends;
  std::set<std::pair<std::int64_t, std::int64_t>> metadata_threads;
  for (const simdjson::dom::element e : root["traceEvents"].get_array()) {
    const std::string ph(e["ph"].get_string().value());
    const std::string name(e["name"].get_string().value());
    const std::int64_t pid = e["pid"].get_int64().value();
    const std::int64_t tid = e["tid"].get_int64().value();
    EXPECT_GE(pid, 0);
    EXPECT_GT(tid, 0) << name;
    EXPECT_LE(tid, 0xffffffffLL);
    const std::int64_t ts = rounded_ns(e["ts"].get_double().value());
    if (ph == "M") {
      metadata_threads.insert({pid, tid});
      std::string_view value;
      if (e["args"]["name"].get(value) == simdjson::SUCCESS)
        (name == "thread_name" ? out.thread_names[{pid, tid}] : out.process_names[pid]) =
            std::string(value);
      continue;
    }
    const std::string category(e["cat"].get_string().value());
    const std::int64_t id = ph == "X" ? 0 : e["id"].get_int64().value();
    // viewers bind a flow end to the last slice that began, so it directly follows its slice
    if (ph != "X") {
      EXPECT_FALSE(out.slices.empty());
      if (!out.slices.empty()) {
        const MergedSlice& last = out.slices.back();
        EXPECT_EQ(std::tuple(last.pid, last.tid, last.start_ns), std::tuple(pid, tid, ts));
      }
    }
    if (ph == "s") {
      starts[{category, id}].push_back({pid, tid, ts});
    } else if (ph == "f") {
      EXPECT_EQ(e["bp"].get_string().value(), "e");
      ends[{category, id}].push_back({pid, tid, ts});
    } else {
      EXPECT_EQ(ph, "X");
      MergedSlice s;
      s.name = name;
      s.category = category;
      s.start_ns = ts;
      s.end_ns = ts + rounded_ns(e["dur"].get_double().value());
      s.pid = pid;
      s.tid = tid;
      s.rank = e["args"]["rank"].get_int64().value();
      EXPECT_EQ(name.rfind("[R" + std::to_string(s.rank) + "] ", 0), 0U) << name;
      EXPECT_EQ(pid / 1000, s.rank);
      if (!out.slices.empty() && out.slices.back().rank == s.rank) {
        const MergedSlice& last = out.slices.back();
        EXPECT_LE(std::tuple(last.start_ns, -last.end_ns), std::tuple(s.start_ns, -s.end_ns));
      }
      ++out.counts[s.rank][category];
      out.slices.push_back(std::move(s));
    }
  }
  // each flow has one start and one end, each at the start of a slice
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> anchors;
  for (const MergedSlice& s : out.slices)
    anchors.insert({s.pid, s.tid, s.start_ns});
  std::set<std::pair<std::int64_t, std::int64_t>> threads;
  for (const MergedSlice& s : out.slices)
    threads.insert({s.pid, s.tid});
  EXPECT_EQ(metadata_threads, threads); // exactly the threads with slices have names
  EXPECT_EQ(starts.size(), ends.size());
  for (const auto& [key, list] : starts) {
    EXPECT_EQ(list.size(), 1U) << "flow id " << std::get<1>(key) << " used twice";
    EXPECT_EQ(ends[key].size(), 1U) << "flow id " << std::get<1>(key);
    EXPECT_TRUE(anchors.count({list[0].pid, list[0].tid, list[0].ns}));
    if (!ends[key].empty()) {
      EXPECT_TRUE(anchors.count({ends[key][0].pid, ends[key][0].tid, ends[key][0].ns}));
      EXPECT_EQ(list[0].pid / 1000, ends[key][0].pid / 1000) << "an arrow crosses ranks";
      EXPECT_LE(list[0].ns, ends[key][0].ns) << "an arrow goes back in time";
    }
    ++out.arrows[std::get<0>(key)];
  }
  // slices nest, and every track has a name
  std::vector<const MergedSlice*> order;
  for (const MergedSlice& s : out.slices)
    order.push_back(&s);
  std::stable_sort(order.begin(), order.end(), [](const MergedSlice* a, const MergedSlice* b) {
    return std::tuple(a->pid, a->tid, a->start_ns, -a->end_ns) <
           std::tuple(b->pid, b->tid, b->start_ns, -b->end_ns);
  });
  std::vector<const MergedSlice*> open;
  std::size_t crossing = 0;
  for (const MergedSlice* s : order) {
    while (!open.empty() && (open.back()->pid != s->pid || open.back()->tid != s->tid ||
                             open.back()->end_ns <= s->start_ns))
      open.pop_back();
    if (!open.empty() && s->end_ns > open.back()->end_ns)
      ++crossing;
    open.push_back(s);
    EXPECT_TRUE(out.thread_names.count({s->pid, s->tid}));
    EXPECT_TRUE(out.process_names.count(s->pid));
  }
  EXPECT_EQ(crossing, 0U) << "slices cross on a track";
  std::set<std::pair<std::int64_t, std::int64_t>> used;
  for (const MergedSlice& slice : out.slices)
    used.insert({slice.pid, slice.tid});
  EXPECT_EQ(out.thread_names.size(), used.size()) << "a track without slices";
  return out;
}

} // namespace rankscope::test
