// Compares the generator's operators with recorded traces: an operator must have as many arguments
// in a generated trace as in a recorded one. Releases of the profiled framework differ, so one
// matching release is enough.
#include "golden/golden_data.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Counts the lengths of "Input Dims" per operator name. Fails if lists of one event differ in
/// length. Traces without shapes and files that are not strict JSON are ignored.
using Counts = std::map<std::string, std::set<std::size_t>>;

void count(const fs::path& path, Counts& out) {
  simdjson::dom::parser parser;
  simdjson::dom::array events;
  const std::string text = golden::unpacked(path.string());
  if (parser.parse(text)["traceEvents"].get(events) != simdjson::SUCCESS)
    return;
  for (const simdjson::dom::element event : events) {
    std::string_view name;
    simdjson::dom::array dims;
    if (event["args"]["Input Dims"].get(dims) != simdjson::SUCCESS ||
        event["name"].get(name) != simdjson::SUCCESS)
      continue;
    out[std::string(name)].insert(dims.size());
    for (const char* key : {"Input type", "Input Strides", "Concrete Inputs"}) {
      simdjson::dom::array list;
      if (event["args"][key].get(list) == simdjson::SUCCESS) {
        EXPECT_EQ(list.size(), dims.size()) << path << ": " << key << " of " << name;
      }
    }
  }
}

TEST(SynthGolden, OperatorsHaveAsManyArgumentsAsInRealTraces) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  Counts real;
  for (const char* folder : {"mi300", "h100", "hta", "inference"})
    for (const fs::path& path : golden::entries(golden::root() / folder))
      if (path.string().ends_with(".json.gz") || path.string().ends_with(".json"))
        count(path, real);
  const test::TempFolder folder;
  synth::Options options;
  options.threads = {256};
  options.channels = {28};
  options.ranks = 2;
  options.layers = 2;
  options.steps = 1;
  options.process_groups = 2;
  ASSERT_TRUE(synth::generate(options, folder.path(), 1, nullptr));
  Counts ours;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (entry.path().filename().string().starts_with("trace"))
      count(entry.path(), ours);
  std::size_t compared = 0;
  for (const auto& [name, counts] : ours) {
    EXPECT_EQ(counts.size(), 1U) << name;
    const auto found = real.find(name);
    if (found == real.end())
      continue;
    EXPECT_TRUE(found->second.contains(*counts.begin()))
        << name << " has " << *counts.begin() << " arguments";
    ++compared;
  }
  std::printf("  %zu of %zu operators with arguments are in real traces too\n", compared,
              ours.size());
  EXPECT_GE(compared, 30U);
}

} // namespace
} // namespace rankscope
