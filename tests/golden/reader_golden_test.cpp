// Compares the reader with a simple implementation, event by event for every recorded trace:
// simdjson on the complete document, times as 80-bit floating point. Also compares reading at once
// with reading in small windows and with several threads.
#include "engine/loader.h"
#include "golden_data.h"
#include "sanitized.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace rankscope {
namespace {

/// Returns the traces of the source tree and, if they exist, of recorded runs. The folder of
/// malicious files is left out, because they are made to be slow or to break a reader. Under a
/// sanitizer, large traces are left out, because they do not test more than the small ones.
std::vector<std::string> traces() {
  constexpr std::uintmax_t kMostBytes = test::kSanitized ? 600'000 : UINTMAX_MAX;
  std::vector<std::string> out;
  for (const auto& root : {golden::tree_root(), golden::root()})
    for (const auto& entry : golden::entries(root)) {
      const std::string path = entry.string();
      const bool json = path.ends_with(".json.gz") || path.ends_with(".json");
      if (std::filesystem::is_regular_file(entry) && json &&
          std::filesystem::file_size(entry) <= kMostBytes &&
          path.find("/rocprof/") == std::string::npos &&
          path.find("/hostile/") == std::string::npos)
        out.push_back(path);
    }
  if (golden::root().empty())
    std::printf("  only the traces of the tree: %s\n", golden::kAbsent);
  return out;
}

struct ReferenceEvent {
  std::uint32_t uid = 0;
  std::int64_t ts_ns = 0, dur_ns = 0;
  std::int64_t correlation = kNoId, external_id = kNoId, stream = -1;
  std::string name, cat;
};

std::int64_t reference_ns(std::string_view text) {
  // a mantissa of 64 bits represents 1e15 us with 4 decimals
  return static_cast<std::int64_t>(
      std::llround(std::strtold(std::string(text).c_str(), nullptr) * 1000.0L));
}

/// Returns the complete events, except python_function.
std::vector<ReferenceEvent> reference_events(const simdjson::padded_string& text,
                                             std::uint64_t& entries) {
  std::vector<ReferenceEvent> out;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document doc = parser.iterate(text);
  simdjson::ondemand::array list;
  if (doc.type() == simdjson::ondemand::json_type::array)
    list = doc.get_array();
  else
    list = doc.find_field_unordered("traceEvents").get_array();
  std::uint32_t uid = 0;
  for (auto item : list) {
    ReferenceEvent e;
    e.uid = uid++;
    std::string ph;
    for (auto field : item.get_object()) {
      const std::string_view key = field.unescaped_key();
      if (key == "ph") {
        ph = std::string_view(field.value().get_string());
      } else if (key == "cat") {
        e.cat = std::string_view(field.value().get_string());
      } else if (key == "name") {
        e.name = std::string_view(field.value().get_string());
      } else if (key == "ts") {
        e.ts_ns = reference_ns(field.value().raw_json_token());
      } else if (key == "dur") {
        e.dur_ns = reference_ns(field.value().raw_json_token());
      } else if (key == "args") {
        for (auto arg : field.value().get_object()) {
          const std::string_view name = arg.unescaped_key();
          std::int64_t v = 0;
          if (name == "correlation" && arg.value().get_int64().get(v) == simdjson::SUCCESS)
            e.correlation = v;
          else if (name == "External id" && arg.value().get_int64().get(v) == simdjson::SUCCESS)
            e.external_id = v;
          else if (name == "stream" && arg.value().get_int64().get(v) == simdjson::SUCCESS)
            e.stream = v < 0 ? -1 : v;
        }
      }
    }
    // a negative duration is an error: the reader drops and counts the event (docs/reader.md)
    if (ph == "X" && e.cat != "python_function" && e.dur_ns >= 0)
      out.push_back(std::move(e));
  }
  entries = uid;
  return out;
}

TEST(ReaderGolden, EqualsAnObviousTwinOnEveryTrace) {
  const std::vector<std::string> paths = traces();
  std::size_t compared = 0;
  std::size_t events = 0;
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const auto trace = read_trace(path);
    std::vector<ReferenceEvent> expected;
    std::uint64_t entries = 0;
    try {
      expected = reference_events(simdjson::padded_string(golden::unpacked(path)), entries);
    } catch (const simdjson::simdjson_error& error) {
      // not strict JSON, or not a trace: reading must return an error or a diagnostic
      std::printf("  no twin for %s: %s\n", path.c_str(), error.what());
      EXPECT_TRUE(!trace || !trace->diagnostics.empty());
      continue;
    }
    if (expected.empty()) {
      EXPECT_FALSE(trace);
      continue;
    }
    ASSERT_TRUE(trace) << trace.error().message();
    EXPECT_EQ(trace->events_in_file, entries);
    ASSERT_EQ(trace->events.size(), expected.size());
    const Events& e = trace->events;
    std::size_t wrong = 0;
    for (EventId i = 0; i < e.size() && wrong < 5; ++i) {
      const ReferenceEvent& x = expected[i];
      const bool same =
          e.uid[i] == x.uid && e.ts_ns[i] == x.ts_ns && e.dur_ns[i] == x.dur_ns &&
          e.correlation[i] == x.correlation && e.external_id[i] == x.external_id &&
          e.stream[i] == x.stream && trace->name(i) == x.name &&
          (e.category[i] == Category::kOther || category_name(e.category[i]) == x.cat ||
           !std::islower(static_cast<unsigned char>(x.cat[0])));
      if (!same)
        ADD_FAILURE() << "event " << x.uid << " " << x.name << ": " << e.ts_ns[i] << " vs "
                      << x.ts_ns << ", dur " << e.dur_ns[i] << " vs " << x.dur_ns << ", stream "
                      << e.stream[i] << " vs " << x.stream << ", " << x.cat;
      wrong += same ? 0 : 1;
    }
    ++compared;
    events += expected.size();
  }
  std::printf("  %zu of %zu traces, %zu events compared\n", compared, paths.size(), events);
  EXPECT_GE(compared, golden::root().empty() ? 4U : 6U);
}

TEST(ReaderGolden, WindowsAndThreadsDoNotChangeTheResult) {
  const std::vector<std::string> paths = traces();
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const auto complete = read_trace(path);
    ReadOptions options;
    options.threads = 3;
    options.window_bytes = 20'000;
    const auto pieces = read_trace(path, options);
    ASSERT_EQ(complete.has_value(), pieces.has_value());
    if (!complete)
      continue;
    EXPECT_EQ(complete->events.ts_ns, pieces->events.ts_ns);
    EXPECT_EQ(complete->events.name, pieces->events.name);
    EXPECT_EQ(complete->events.track, pieces->events.track);
    EXPECT_EQ(complete->events.args, pieces->events.args);
    EXPECT_EQ(complete->events.uid, pieces->events.uid);
    EXPECT_EQ(complete->flows.id, pieces->flows.id);
    EXPECT_EQ(complete->strings.size(), pieces->strings.size());
    EXPECT_EQ(complete->header.rank, pieces->header.rank);
    EXPECT_EQ(complete->header.other, pieces->header.other);
  }
}

} // namespace
} // namespace rankscope
