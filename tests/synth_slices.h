// Shared by tests of the generator: sweeps of a few configurations, and the slices of a trace as
// its text has them. The slices are parsed without the project's reader.
#pragma once

#include "synth/synth.h"
#include "temp_folder.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::test {

/// Returns options for two configurations of three ranks.
inline synth::Options small() {
  synth::Options o;
  o.threads = {256};
  o.channels = {28, 70};
  o.ranks = 3;
  o.layers = 3;
  o.steps = 2;
  return o;
}

inline synth::Summary make(const synth::Options& o, const std::string& out) {
  Result<synth::Summary> result = synth::generate(o, out, 2, nullptr);
  EXPECT_TRUE(result) << (result ? "" : result.error().message());
  return result ? *result : synth::Summary{};
}

struct Slice {
  std::string name, category;
  std::int64_t start = 0, end = 0; // times in ns as in the file
  std::int64_t pid = 0, tid = 0, seq = -1;
  std::string group, collective;
};

/// Converts a time such as "123.456" in the file's text to integer ns; a double would lose digits.
inline std::int64_t ns_of(std::string_view text) {
  const std::size_t dot = text.find('.');
  EXPECT_NE(dot, std::string_view::npos);
  EXPECT_EQ(text.size() - dot, 4U) << text;
  return std::stoll(std::string(text.substr(0, dot))) * 1000 +
         std::stoll(std::string(text.substr(dot + 1)));
}

/// Returns the slices of a trace text. Times are read from the decimal text after "ts" and "dur".
inline std::vector<Slice> slices_of(const std::string& text,
                                    std::map<std::string, std::uint64_t>& counts,
                                    std::uint64_t& total) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  EXPECT_EQ(parser.parse(text).get(root), simdjson::SUCCESS);
  std::vector<std::int64_t> ts;
  std::vector<std::int64_t> dur;
  const auto number_after = [&](const char* key, std::vector<std::int64_t>& out) {
    const std::string quoted = std::string("\"") + key + "\": ";
    for (std::size_t at = text.find(quoted); at != std::string::npos;
         at = text.find(quoted, at + 1)) {
      const std::size_t from = at + quoted.size();
      out.push_back(ns_of(std::string_view(text).substr(
          from, text.find_first_not_of("-0123456789.", from) - from)));
    }
  };
  number_after("ts", ts);
  number_after("dur", dur);
  std::vector<Slice> out;
  std::size_t t = 0;
  std::size_t d = 0;
  for (const simdjson::dom::element e : root["traceEvents"].get_array()) {
    ++total;
    const std::string ph(e["ph"].get_string().value());
    std::string_view category;
    if (e["cat"].get(category) == simdjson::SUCCESS)
      ++counts[ph + " " + std::string(category)];
    else
      ++counts[ph];
    const std::int64_t start = ts[t++];
    if (ph != "X")
      continue;
    Slice s;
    s.name = std::string(e["name"].get_string().value());
    s.category = std::string(category);
    s.start = start;
    s.end = start + dur[d++];
    if (e["pid"].get(s.pid) != simdjson::SUCCESS)
      continue; // the span of the profiler itself
    s.tid = e["tid"].get_int64().value();
    if (e["args"]["Seq"].get(s.seq) != simdjson::SUCCESS)
      s.seq = -1;
    std::string_view group;
    if (e["args"]["Process Group Name"].get(group) == simdjson::SUCCESS)
      s.group = std::string(group);
    if (e["args"]["Collective name"].get(group) == simdjson::SUCCESS)
      s.collective = std::string(group);
    out.push_back(std::move(s));
  }
  EXPECT_EQ(t, ts.size());
  EXPECT_EQ(d, dur.size());
  return out;
}

inline bool is_gemm(const Slice& s) {
  return s.name.rfind("Cijk_", 0) == 0 || s.name.rfind("nvjet", 0) == 0;
}
inline bool is_comm(const Slice& s) {
  return s.name.rfind("nccl", 0) == 0;
}

} // namespace rankscope::test
