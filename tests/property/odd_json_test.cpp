// Tests unusual but valid JSON: the reader must find the same as a complete parser (simdjson's
// DOM): escapes in keys and texts, duplicate keys, any order, any spelling of a number.
#include "readers/reader.h"
#include "temp_folder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <random>
#include <simdjson.h>

namespace rankscope {
namespace {

class UnusualJson {
public:
  explicit UnusualJson(unsigned seed) : random_(seed) {}

  std::string trace() {
    std::vector<std::string> events;
    for (int i = below(12) + 2; i > 0; --i)
      events.push_back(event());
    events.push_back(complete(false)); // a file without events is not a trace
    std::string list = "[" + blank();
    for (std::size_t i = 0; i < events.size(); ++i)
      list += (i > 0 ? "," + blank() : "") + events[i] + blank();
    std::vector<std::string> members = {member("traceEvents", list + "]"),
                                        member("schemaVersion", "1"), member("junk", junk(3))};
    if (below(2) == 0)
      members.push_back(member("deep", nested(60)));
    return (below(4) == 0 ? "\xef\xbb\xbf" : "") + blank() + object(members) + blank();
  }

private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  std::string blank() {
    static const char* const kBlanks[] = {"", "", " ", "\n", "\t", "\r\n  "};
    return kBlanks[below(6)];
  }
  /// Returns a text as JSON, with characters randomly escaped.
  std::string text(const std::string& ascii) {
    std::string out = "\"";
    for (const char c : ascii) {
      const bool must = c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
      if (must || below(8) == 0)
        out += below(2) == 0 ? fmt::format("\\u{:04x}", static_cast<unsigned>(c))
                             : fmt::format("\\u{:04X}", static_cast<unsigned>(c));
      else if (c == '/' && below(2) == 0)
        out += "\\/";
      else
        out += c;
    }
    return out + '"';
  }
  std::string any_text() {
    static const char* const kTexts[] = {R"("")",
                                         R"("a\"b\\")",
                                         R"("\b\f\n\r\t")",
                                         R"("\ud83d\ude00x")",
                                         "\"\xc3\xa9\xe2\x82\xac\"",
                                         R"("[{]},:")",
                                         R"("\u0022}, {\u0022")",
                                         R"("aten::mm")"};
    return kTexts[below(8)];
  }
  std::string member(const std::string& key, const std::string& value) {
    return blank() + text(key) + blank() + ":" + blank() + value + blank();
  }
  std::string object(std::vector<std::string> members) {
    std::shuffle(members.begin(), members.end(), random_);
    std::string out = "{";
    for (std::size_t i = 0; i < members.size(); ++i)
      out += (i > 0 ? "," : "") + members[i];
    return out + "}";
  }
  std::string junk(int depth) {
    static const char* const kPlain[] = {"null", "true",   "1e308", "-0", "18446744073709551615",
                                         "1E+3", "0.1e-9", "{}",    "[]", "-9223372036854775808"};
    switch (below(depth > 0 ? 4 : 2)) {
    case 0:
      return kPlain[below(10)];
    case 1:
      return any_text();
    case 2:
      return "[" + junk(depth - 1) + "," + blank() + junk(depth - 1) + "]";
    default:
      // no "ph": at the end of a window, a list of objects that begin like this looks like a list
      // of events
      return object({member("cat", junk(depth - 1)), member("ts", junk(depth - 1)),
                     member("args", junk(depth - 1))});
    }
  }
  static std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  }
  /// Returns a random time, an integer number of nanoseconds, in a random spelling.
  std::string time() {
    const std::int64_t ns = std::uniform_int_distribution<std::int64_t>(0, 4'000'000'000)(random_);
    switch (below(6)) {
    case 0:
      return fmt::format("{}e-3", ns);
    case 1:
      return fmt::format("{}.{:03d}E+0", ns / 1000, ns % 1000);
    case 2:
      return fmt::format("{}e3", ns % 1'000'000);
    case 3:
      return fmt::format("0.{:09d}e+6", ns % 1'000'000'000);
    case 4:
      return below(2) == 0 ? "-0" : "0.000E3";
    default:
      return fmt::format("{}.{:03d}000", ns / 1000, ns % 1000);
    }
  }
  std::string arguments() {
    std::vector<std::string> members = {
        member("correlation", std::to_string(below(1000) - 5)),
        member("External id", std::to_string(std::int64_t{below(100)} << 40)),
        member("stream", std::to_string(below(20))), member("junk", junk(2))};
    members.resize(static_cast<std::size_t>(below(5)));
    return object(members);
  }
  std::string complete(bool unusual) {
    static const char* const kCategories[] = {"kernel", "cpu_op", "cuda_runtime", "gpu_memcpy",
                                              "user_annotation"};
    std::vector<std::string> members = {member("ph", text("X")),
                                        member("cat", text(kCategories[below(5)])),
                                        member("name", any_text()),
                                        member("pid", std::to_string(below(3))),
                                        member("tid", std::to_string(below(3))),
                                        member("ts", time()),
                                        member("dur", time()),
                                        member("args", arguments())};
    if (unusual && below(3) == 0) // the last of equal keys is valid
      members.push_back(member("name", any_text()));
    if (unusual && below(3) == 0)
      members.push_back(member("ts", time()));
    if (unusual && below(3) == 0)
      members.push_back(member("cat", text(kCategories[below(5)])));
    if (unusual && below(3) == 0)
      members.push_back(member("junk", junk(3)));
    return object(members);
  }
  std::string event() {
    switch (below(6)) {
    case 0:
      return "{}";
    case 1:
      return object({member("ph", text("i")), member("name", any_text()), member("ts", time()),
                     member("s", text("t")), member("junk", junk(2))});
    default:
      return complete(true);
    }
  }

  std::mt19937 random_;
};

struct Kept {
  std::uint64_t uid = 0;
  std::int64_t ts_ns = 0, dur_ns = 0, correlation = kNoId, external_id = kNoId, stream = -1;
  std::string name, category;
  bool operator==(const Kept&) const = default;
};

std::string shown(const Kept& k) {
  return fmt::format("{} {} '{}' ts {} dur {} corr {} ext {} stream {}", k.uid, k.category, k.name,
                     k.ts_ns, k.dur_ns, k.correlation, k.external_id, k.stream);
}

/// For microseconds below 10^9, a double is precise to a nanosecond.
std::int64_t reference_ns(simdjson::dom::element value) {
  return std::llround(value.get_double().value() * 1000);
}

Kept reference_event(simdjson::dom::object object, std::string& phase) {
  Kept k;
  for (const auto& [key, value] : object) {
    if (key == "ph")
      phase = value.get_string().value();
    else if (key == "cat")
      k.category = value.get_string().value();
    else if (key == "name")
      k.name = value.get_string().value();
    else if (key == "ts")
      k.ts_ns = reference_ns(value);
    else if (key == "dur")
      k.dur_ns = reference_ns(value);
    else if (key == "args")
      for (const auto& [name, argument] : value.get_object()) {
        if (name == "correlation")
          k.correlation = argument.get_int64().value();
        else if (name == "External id")
          k.external_id = argument.get_int64().value();
        else if (name == "stream")
          k.stream = argument.get_int64().value();
      }
  }
  return k;
}

std::vector<Kept> reference(const std::string& text, std::uint64_t& entries) {
  simdjson::dom::parser parser;
  const std::size_t mark = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  const simdjson::padded_string padded(text.substr(mark));
  std::vector<Kept> out;
  entries = 0;
  for (const simdjson::dom::element e : parser.parse(padded)["traceEvents"].get_array()) {
    std::string phase;
    Kept k = reference_event(e.get_object(), phase);
    k.uid = entries++;
    // only operators and events on a stream have a uid
    if (phase == "X")
      out.push_back(std::move(k));
  }
  return out;
}

/// Whether the event has a stream: only work on a device does.
bool has_stream(const Kept& k) {
  return k.category == "kernel" || k.category == "gpu_memcpy";
}

std::vector<Kept> read_back(const Trace& trace) {
  std::vector<Kept> out;
  const Events& e = trace.events;
  for (EventId i = 0; i < e.size(); ++i)
    out.push_back({e.uid[i], e.ts_ns[i], e.dur_ns[i], e.correlation[i], e.external_id[i],
                   e.stream[i], std::string(trace.name(i)),
                   std::string(category_name(e.category[i]))});
  return out;
}

TEST(OddJson, TheReaderKeepsWhatAFullParserFinds) {
  const test::TempFolder folder;
  std::size_t compared = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    const std::string text = UnusualJson(seed).trace();
    std::uint64_t entries = 0;
    const std::vector<Kept> expected = reference(text, entries);
    const std::string path = folder.write("t.json", text);
    for (const std::size_t window : {std::size_t{0}, std::size_t{64}}) {
      ReadOptions options;
      options.window_bytes = window;
      const Result<Trace> trace = read_trace(path, options);
      ASSERT_TRUE(trace) << "seed " << seed << ": " << trace.error().message() << "\n" << text;
      EXPECT_FALSE(trace->diagnostics.data_lost())
          << "seed " << seed << ": " << trace->diagnostics.problems().front().sentence << "\n"
          << text;
      EXPECT_EQ(trace->events_in_file, entries) << "seed " << seed;
      const std::vector<Kept> got = read_back(*trace);
      ASSERT_EQ(got.size(), expected.size()) << "seed " << seed << "\n" << text;
      for (std::size_t i = 0; i < got.size(); ++i) {
        Kept want = expected[i];
        if (!has_stream(want))
          want.stream = got[i].stream;
        EXPECT_TRUE(got[i] == want) << "seed " << seed << " window " << window << "\n"
                                    << shown(got[i]) << "\n"
                                    << shown(want) << "\n"
                                    << text;
        ++compared;
      }
      if (::testing::Test::HasFailure())
        return;
    }
  }
  EXPECT_GT(compared, 4000U);
}

} // namespace
} // namespace rankscope
