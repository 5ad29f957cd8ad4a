// Attributes kernels of a recorded decode step in one graph without its capture, and compares the
// result with the merge that uses the capture. The ids that identify the capture are removed, and
// names are changed as another batch size would change them.
#include "analyses/graph/graph_attribution.h"
#include "analyses/graph/sequence_attribution.h"
#include "analyses/timeline/launch_statistics.h"
#include "engine/capture_folder.h"
#include "golden_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <iostream>

namespace rankscope {
namespace {

const char* const kGraphAttributionGoldenFolder = "inference/vllm_decode_full";
const char* const kCapture = "graph_capture_rank_0.1773709742341309550.pt.trace.json.gz";

LoadedTrace load(const std::string& name) {
  LoadOptions options;
  options.keep_launches = true;
  auto t = load_trace((golden::root() / kGraphAttributionGoldenFolder / name).string(), options);
  EXPECT_TRUE(t) << t.error().message();
  return std::move(*t);
}

struct Share {
  double kernels = 0, time = 0, wrong_time = 0; ///< percent
};

class GraphAttributionGolden : public ::testing::Test {
protected:
  void SetUp() override {
    if (golden::root().empty())
      GTEST_SKIP() << golden::kAbsent;
    trace_ = load("graph_execution.json.gz");
    merged_ = load("graph_execution.json.gz");
    const auto done = merge_capture_folder(
        merged_, (golden::root() / kGraphAttributionGoldenFolder / "capture_traces").string(), {});
    ASSERT_TRUE(done) << done.error().message();
    truth_ = attribute_graphs(merged_, nullptr);
  }

  /// Compares `op` of each kernel of the graph, by index, with the expected operators.
  template <class OpOf> Share share(const std::vector<std::string>& want, OpOf op) const {
    Share out;
    double all = 0;
    double time = 0;
    for (std::size_t k = 0; k < truth_.kernels.size(); ++k) {
      if (want[k].empty())
        continue; // a launch without an operator in the capture
      const auto ns = static_cast<double>(trace_.trace.events.dur_ns[truth_.kernels[k].event]);
      all += 1;
      time += ns;
      const std::string got = op(k);
      out.kernels += got == want[k] ? 1 : 0;
      out.time += got == want[k] ? ns : 0;
      out.wrong_time += !got.empty() && got != want[k] ? ns : 0;
    }
    return {100 * out.kernels / all, 100 * out.time / time, 100 * out.wrong_time / time};
  }

  [[nodiscard]] std::vector<std::string> truth() const {
    std::vector<std::string> out;
    for (const ReplayedKernel& k : truth_.kernels)
      out.push_back(k.op == kNoRow ? "" : truth_.operators[k.op].name);
    return out;
  }

  static void print(const char* name, const Share& s) {
    std::cout << fmt::format("| {} | {:.1f} | {:.1f} | {:.1f} |\n", name, s.kernels, s.time,
                             s.wrong_time);
  }

  LoadedTrace trace_;
  LoadedTrace merged_; ///< with the operators of the capture
  GraphAttribution truth_;
};

TEST_F(GraphAttributionGolden, TheMergeIsByCapture) {
  ASSERT_EQ(truth_.kernels.size(), 421U);
  EXPECT_LT(truth_.unattributed_percent(), 1);
  EXPECT_EQ(truth_.kernels[0].attribution, Attribution::kCapture);
  EXPECT_EQ(truth_.kernels[0].confidence, 1.0);
  EXPECT_NE(graph_headline(truth_).find("attributed: by capture "), std::string::npos);
  // layers with full attention and layers with a window alternate: the period has two layers
  EXPECT_EQ(truth_.facts[0].kernels, 421U);
}

// The calls of the capture launched nothing in this trace.
TEST_F(GraphAttributionGolden, TheMergeDoesNotChangeTheLaunches) {
  const auto launches = launch_statistics_of(trace_), after = launch_statistics_of(merged_);
  ASSERT_EQ(launches.size(), 4U);
  ASSERT_EQ(after.size(), launches.size());
  for (std::size_t k = 0; k < launches.size(); ++k) {
    EXPECT_EQ(after[k].name, launches[k].name);
    EXPECT_EQ(after[k].launches, launches[k].launches) << launches[k].name;
    EXPECT_EQ(after[k].call_us.mean, launches[k].call_us.mean) << launches[k].name;
  }
  const auto queues = queue_lengths_of(trace_), queues_after = queue_lengths_of(merged_);
  ASSERT_EQ(queues_after.size(), queues.size());
  for (std::size_t k = 0; k < queues.size(); ++k) {
    EXPECT_EQ(queues_after[k].points, queues[k].points);
    EXPECT_EQ(queues_after[k].max, queues[k].max);
  }
}

TEST_F(GraphAttributionGolden, AlignmentWithTheCaptureSaysWhatTheMergeSays) {
  const LoadedTrace donor = load(std::string("capture_traces/") + kCapture);
  const GraphAttribution a = attribute_graphs(trace_, &donor);
  ASSERT_EQ(a.kernels.size(), truth_.kernels.size());
  EXPECT_EQ(a.facts[0].period.length, 35U);
  EXPECT_NEAR(a.facts[0].period.agreement, 0.992, 5e-4);
  const Share s = share(truth(), [&](std::size_t k) {
    return a.kernels[k].op == kNoRow ? std::string() : a.operators[a.kernels[k].op].name;
  });
  std::cout << "| donor | kernels % | time % | wrong time % |\n|---|---|---|---|\n";
  print("capture, names only", s);
  EXPECT_GE(s.time, 99);
  EXPECT_EQ(s.wrong_time, 0);
}

/// Returns names as for another batch size: other tiles, and with `drop` without the second kind of
/// attention.
std::vector<KernelToken> another_batch(const Trace& trace, const std::vector<EventId>& kernels,
                                       KernelSymbols& symbols, bool drop,
                                       std::vector<std::uint32_t>& kept) {
  std::vector<KernelToken> out;
  for (std::uint32_t k = 0; k < kernels.size(); ++k) {
    std::string name(trace.name(kernels[k]));
    if (drop && (name == "kernel_unified_attention_3d" || name == "reduce_segments"))
      continue;
    if (name.starts_with("Cijk_") || name.starts_with("_matmul_ogs"))
      for (char& c : name)
        if (c >= '0' && c <= '9')
          c = c == '9' ? '1' : static_cast<char>(c + 1);
    kept.push_back(k);
    out.push_back(symbols.token(name));
  }
  return out;
}

TEST_F(GraphAttributionGolden, NamesOfAnotherBatchAreRecognised) {
  std::vector<EventId> kernels;
  for (const ReplayedKernel& k : truth_.kernels)
    kernels.push_back(k.event);
  std::stable_sort(kernels.begin(), kernels.end(), [&](EventId a, EventId b) {
    return trace_.trace.events.ts_ns[a] < trace_.trace.events.ts_ns[b];
  });
  std::map<EventId, std::string> by_event;
  for (const ReplayedKernel& k : truth_.kernels)
    by_event[k.event] = k.op == kNoRow ? "" : truth_.operators[k.op].name;
  std::map<std::string, std::uint32_t> names;
  for (const auto& [event, name] : by_event)
    names.emplace(name, static_cast<std::uint32_t>(names.size()));
  std::vector<std::string> name_of(names.size());
  for (const auto& [name, number] : names)
    name_of[number] = name;
  std::vector<std::uint32_t> same(names.size());
  for (std::uint32_t i = 0; i < same.size(); ++i)
    same[i] = i;
  std::cout << "| donor | kernels % | time % | wrong time % |\n|---|---|---|---|\n";
  for (const bool drop : {false, true}) {
    KernelSymbols symbols;
    const std::vector<KernelToken> tokens = symbols.tokens(trace_.trace, kernels);
    std::vector<std::uint32_t> kept;
    const auto donor = another_batch(trace_.trace, kernels, symbols, drop, kept);
    std::vector<std::uint32_t> ops;
    for (const std::uint32_t k : kept) {
      const std::string& name = by_event[kernels[k]];
      ops.push_back(name.empty() ? kNoRow : names[name]);
    }
    const SequenceGuess guess = guess_operators(tokens, donor, ops, same);
    std::map<EventId, std::string> got;
    for (std::size_t k = 0; k < kernels.size(); ++k)
      got[kernels[k]] = guess.nodes[k].op == kNoRow ? "" : name_of[guess.nodes[k].op];
    const Share s = share(truth(), [&](std::size_t k) { return got[truth_.kernels[k].event]; });
    print(drop ? "other tiles, every second layer's attention absent" : "other tiles", s);
    EXPECT_GE(s.time, 95);
    EXPECT_LE(s.wrong_time, 1);
  }
}

} // namespace
} // namespace rankscope
