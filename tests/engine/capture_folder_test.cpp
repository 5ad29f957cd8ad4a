// Tests traces with captures of their graphs: small handmade traces, and folders that do not match.
#include "engine/capture_folder.h"

#include "analyses/operators/ops_summary.h"
#include "analyses/operators/unified_perf.h"
#include "graph_traces.h"
#include "temp_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using namespace test; // names of the hand-made traces
class CaptureFolder : public ::testing::Test {
protected:
  std::string capture(const std::string& name, const std::vector<Names>& graphs, int batch,
                      int rank = 0) {
    return folder_.write(name, trace_text(capture_events(graphs, batch), rank));
  }
  void index(const std::string& text) { folder_.write("execution_details.json", text); }
  void index(const std::string& file, int batch, const char* mode = "FULL") {
    index(fmt::format(R"([{{"file":"{}","batch_size":{},"mode":"{}"}}])", file, batch, mode));
  }
  LoadedTrace replay(const Names& events, int rank = 0) {
    auto loaded = load_trace(replay_.write("replay.json", trace_text(events, rank)), {});
    EXPECT_TRUE(loaded) << loaded.error().message();
    return std::move(*loaded);
  }
  LoadedTrace merged(const Names& events, bool compat = false, int rank = 0) {
    LoadedTrace t = replay(events, rank);
    CaptureOptions options;
    options.compat = compat;
    options.keep_python = compat;
    const Result<void> done = merge_capture_folder(t, folder_.path(), options);
    EXPECT_TRUE(done) << done.error().message();
    EXPECT_EQ(broken(t), "");
    return t;
  }
  static std::string broken(const LoadedTrace& t) {
    for (EventId e = 0; e < t.trace.events.size(); ++e) {
      if (t.trace.gpu(e) && t.tree.linked(e)) {
        const auto siblings = t.tree.children(t.tree.parent(e));
        if (std::count(siblings.begin(), siblings.end(), e) != 1)
          return "a kernel is not below its parent once";
      }
    }
    return "";
  }
  /// Returns the names of the launching operators.
  static Names launchers(const LoadedTrace& t) {
    Names out;
    for (const OpsSummaryRow& row : t.shared(OpsSummaryKey{}))
      out.push_back(row.name);
    std::sort(out.begin(), out.end());
    return out;
  }
  static std::string why(const LoadedTrace& t, std::size_t launch = 0) {
    EXPECT_LT(launch, t.graph_launches.size());
    EXPECT_EQ(t.graph_launches[launch].match, GraphMatch::kNone);
    return launch < t.graph_launches.size() ? t.graph_launches[launch].why : "";
  }

  TempFolder folder_;
  TempFolder replay_;
};

TEST_F(CaptureFolder, AReplayGetsTheOperatorsOfItsCapture) {
  capture("c.json", {{"mm", "add"}}, 32);
  index("c.json", 32);
  // batch 30, padded to 32
  const LoadedTrace t = merged(replay_events(decode_step(30), {{"mm", "add"}}));
  EXPECT_EQ(launchers(t), (Names{"op::add", "op::mm"}));
  ASSERT_EQ(t.graph_launches.size(), 1U);
  const GraphLaunch& l = t.graph_launches[0];
  EXPECT_EQ(l.match, GraphMatch::kPosition);
  EXPECT_EQ(l.kernels, 2U);
  EXPECT_EQ(l.attributed, 2U);
  EXPECT_EQ(l.capture, "c.json");
  const auto& unified = t.shared(UnifiedPerfKey{});
  ASSERT_TRUE(unified);
  ASSERT_EQ(unified->rows.size(), 2U);
  EXPECT_EQ(unified->rows[0].op.dims, "((32, 8),)");
  // below the launch: the graph, two operators, two calls; each kernel is below its own call
  const EventId launch = l.launch;
  EXPECT_EQ(t.tree.gpu_events(launch).size(), 2U);
  ASSERT_EQ(t.tree.children(launch).size(), 1U);
  const EventId root = t.tree.children(launch)[0];
  EXPECT_EQ(t.trace.name(root), "CaptureRoot");
  ASSERT_EQ(t.tree.children(root).size(), 2U);
  const EventId op = t.tree.children(root)[0];
  EXPECT_EQ(t.trace.name(op), "op::mm");
  // has its own duration, and the start and thread of the launch
  EXPECT_EQ(t.trace.events.dur_ns[op], 5000);
  EXPECT_EQ(t.trace.events.ts_ns[op], t.trace.events.ts_ns[launch]);
  EXPECT_EQ(t.trace.events.track[op], t.trace.events.track[launch]);
  ASSERT_EQ(t.tree.gpu_events(op).size(), 1U);
  EXPECT_EQ(t.trace.name(t.tree.gpu_events(op)[0]), "mm");
}

// In the reference, an operator is as long as the launch, has a number after those of the file, and
// takes two numbers if it has no kernel.
TEST_F(CaptureFolder, NumbersAndTimesOfTheReference) {
  Names events = capture_events({{"mm"}}, 32);
  events.insert(events.begin(), event("python_function", "m.py(1): run", 50, 500));
  events.insert(events.begin() + 2, event("cpu_op", "op::none", 105, 2));
  folder_.write("c.json", trace_text(events));
  index("c.json", 32);
  const Names trace = replay_events(decode_step(32), {{"mm"}});
  const LoadedTrace t = merged(trace, true);
  const EventId kernel = t.tree.gpu_events(t.graph_launches[0].launch)[0];
  const EventId call = t.tree.parent(kernel);
  const EventId op = t.tree.parent(call);
  EXPECT_EQ(t.trace.events.dur_ns[op], 20000);
  // after the events of the file: the root, op::none, op::mm, its call
  EXPECT_EQ(t.trace.events.uid[t.tree.parent(op)], trace.size());
  EXPECT_EQ(t.trace.events.uid[op], trace.size() + 2);
  EXPECT_EQ(t.trace.events.uid[call], trace.size() + 3);
  EXPECT_EQ(t.trace.events_in_file, trace.size() + 4);
}

// Four launches of one graph: the graph is built once and inserted four times.
TEST_F(CaptureFolder, OneGraphServesEveryLaunchOfAStep) {
  capture("c.json", {{"a", "x", "b"}}, 1);
  index("c.json", 1);
  const Names launch = {"a", "b"};
  const LoadedTrace t =
      merged(replay_events("execute_diffusion_1_64x64", {launch, launch, launch, launch}));
  for (const GraphLaunch& l : t.graph_launches)
    EXPECT_EQ(l.match, GraphMatch::kGreedy);
  const auto& rows = t.shared(OpsSummaryKey{});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].count, 4);
}

TEST_F(CaptureFolder, PartsPairInOrder) {
  capture("p.json", {{"a"}, {"b", "c"}, {"d"}}, 16);
  index("p.json", 16, "PIECEWISE");
  const LoadedTrace t = merged(replay_events(decode_step(10), {{"a"}, {"b", "c"}, {"d"}}));
  EXPECT_EQ(launchers(t), (Names{"op::a", "op::b", "op::c", "op::d"}));
  // the number of launches does not match the number of graphs
  const LoadedTrace u = merged(replay_events(decode_step(10), {{"a"}, {"z"}}), true);
  EXPECT_NE(why(u).find("3 graphs, the step 2 launches"), std::string::npos) << why(u);
}

TEST_F(CaptureFolder, FullForOneLaunchPartsForSeveral) {
  capture("f.json", {{"a", "b"}}, 8);
  capture("p.json", {{"a"}, {"b"}}, 8);
  index(R"([{"file":"f.json","batch_size":8,"mode":"FULL"},
            {"file":"p.json","batch_size":8,"mode":"PIECEWISE"}])");
  EXPECT_EQ(merged(replay_events(decode_step(8), {{"a", "b"}})).graph_launches[0].capture,
            "f.json");
  EXPECT_EQ(merged(replay_events(decode_step(8), {{"a"}, {"b"}})).graph_launches[1].capture,
            "p.json");
}

// Without an index, the batch size is that of the recorded calls; the name of the annotation counts
// if the number of dummy runs matches.
TEST_F(CaptureFolder, WithoutAnIndex) {
  Names named = capture_events({{"a"}}, 3);
  named.push_back(event("user_annotation", "capture_64_PIECEWISE", 1, 900));
  named.push_back(
      event("python_function", "vllm/v1/worker/gpu_model_runner.py(12): _dummy_run", 2, 800));
  folder_.write("a.json", trace_text(named));
  capture("b.json", {{"a"}, {"b"}}, 16);
  capture("c.json", {{"a"}}, 4);
  Diagnostics diag;
  const auto files = list_captures(folder_.path(), 0, {}, diag);
  ASSERT_TRUE(files) << files.error().message();
  ASSERT_EQ(files->size(), 3U);
  EXPECT_EQ((*files)[0].batch_size, 64);
  EXPECT_FALSE((*files)[0].full);
  EXPECT_EQ((*files)[1].batch_size, 16);
  EXPECT_FALSE((*files)[1].full);
  EXPECT_EQ((*files)[2].batch_size, 4);
  EXPECT_TRUE((*files)[2].full);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/execution_details.json"));
}

TEST_F(CaptureFolder, OfSeveralRanksTheOwnOne) {
  capture("x_rank0.json", {{"a"}}, 8, 0);
  capture("x_rank3.json", {{"a"}}, 8, 3);
  index(R"([{"file":"x_rank0.json","batch_size":8,"mode":"FULL"},
            {"file":"x_rank3.json","batch_size":8,"mode":"FULL"}])");
  const Names events = replay_events(decode_step(8), {{"a"}});
  EXPECT_EQ(merged(events, false, 3).graph_launches[0].capture, "x_rank3.json");
  EXPECT_EQ(merged(events, false, 0).graph_launches[0].capture, "x_rank0.json");
  EXPECT_NE(why(merged(events, false, 5)).find("ranks do not show"), std::string::npos);
  EXPECT_EQ(merged(events, true, 0).graph_launches[0].capture, "x_rank3.json"); // the last file
}

// No step shows the batch size: the capture whose kernels ran is used.
TEST_F(CaptureFolder, WithoutAStepTheKernelsTell) {
  capture("c.json", {{"a", "b"}}, 8);
  capture("d.json", {{"c", "d"}}, 16);
  const LoadedTrace t = merged(replay_events("", {{"c", "d"}}));
  EXPECT_EQ(t.graph_launches[0].capture, "d.json");
  EXPECT_EQ(t.graph_launches[0].match, GraphMatch::kPosition);
  EXPECT_EQ(launchers(t), (Names{"op::c", "op::d"}));
  EXPECT_EQ(merged(replay_events("", {{"c", "d"}}), true).graph_launches[0].match,
            GraphMatch::kNone);
  capture("e.json", {{"c", "d"}}, 32); // the same kernels for another batch size, with other shapes
  EXPECT_NE(why(merged(replay_events("", {{"c", "d"}}))).find("several batch sizes"),
            std::string::npos);
}

// The innermost step around the launch counts; a malformed annotation is not a step.
TEST_F(CaptureFolder, StepsThatAreNestedOrMalformed) {
  capture("s.json", {{"a"}}, 4);
  capture("l.json", {{"b"}}, 64);
  Names events = replay_events(decode_step(3), {{"a"}});
  events.push_back(event("user_annotation", decode_step(50), 900, 900));
  events.push_back(event("user_annotation", "execute_9_context_0(sq0sk0", 1005, 30));
  events.push_back(event("user_annotation", "ProfilerStep#3", 800, 2000));
  EXPECT_EQ(merged(events).graph_launches[0].capture, "s.json");
}

TEST_F(CaptureFolder, ACaptureThatDoesNotMatch) {
  capture("c.json", {{"p", "q", "r"}}, 8);
  index("c.json", 8);
  const LoadedTrace t = merged(replay_events(decode_step(8), {{"a", "b", "c"}}));
  EXPECT_NE(why(t).find("another name"), std::string::npos);
  EXPECT_EQ(launchers(t), Names{}); // as without a folder: no operators
  EXPECT_EQ(t.tree.gpu_events(t.graph_launches[0].launch).size(), 3U);
}

TEST_F(CaptureFolder, PartsThatMatchAreKept) {
  capture("c.json", {{"a", "b", "c", "d"}}, 8);
  index("c.json", 8);
  const LoadedTrace t = merged(replay_events(decode_step(8), {{"a", "x", "c", "d"}}));
  EXPECT_EQ(t.graph_launches[0].match, GraphMatch::kPartial);
  EXPECT_EQ(t.graph_launches[0].attributed, 3U);
  EXPECT_EQ(launchers(t), (Names{"hipGraphLaunch", "op::a", "op::c", "op::d"}));
}

TEST_F(CaptureFolder, NoCaptureOfThatSize) {
  capture("c.json", {{"a"}}, 8);
  index("c.json", 8);
  EXPECT_NE(why(merged(replay_events(decode_step(9), {{"z"}}))).find("batch of 9 or more"),
            std::string::npos);
}

TEST_F(CaptureFolder, MissingAndTruncatedCaptures) {
  index(R"([{"file":"gone.json","batch_size":8,"mode":"FULL"},
            {"file":"../up.json","batch_size":9,"mode":"FULL"},
            {"file":"cut.json","batch_size":16,"mode":"FULL"},
            {"file":"x.json","batch_size":16.5,"mode":"FULL"},
            {"file":"y.json","batch_size":16,"mode":"HALF"}, 7])");
  const LoadedTrace gone = merged(replay_events(decode_step(8), {{"a"}}));
  EXPECT_NE(why(gone).find("gone.json"), std::string::npos);
  EXPECT_TRUE(launchers(gone).empty());
  bool counted = false;
  for (const auto& entry : gone.trace.diagnostics.problems())
    counted = counted || (entry.name == "capture_index_entries" && entry.count == 4);
  EXPECT_TRUE(counted);
  // the end of the file is missing: the capture never ends, so it has no graph
  const std::string text = trace_text(capture_events({{"a"}}, 16));
  folder_.write("cut.json", text.substr(0, text.size() - 60));
  EXPECT_EQ(why(merged(replay_events(decode_step(16), {{"a"}}))),
            "cut.json has no capture of a graph from beginning to end: the file is damaged");
}

TEST_F(CaptureFolder, FoldersThatAreNone) {
  LoadedTrace t = replay(replay_events(decode_step(8), {{"a"}}));
  const auto error = [&t](const std::string& folder) {
    const Result<void> done = merge_capture_folder(t, folder, {});
    return done ? std::string() : done.error().message();
  };
  EXPECT_NE(error(folder_.path() + "/none").find("no such folder"), std::string::npos);
  EXPECT_NE(error(folder_.path()).find("no trace"), std::string::npos);
  index("{\"file\":");
  EXPECT_NE(error(folder_.path()).find("JSON list"), std::string::npos);
  index(R"([{"idx":0,"output_path":"a"}])"); // the index of a splitter
  capture("c.json", {{"a"}}, 8);
  EXPECT_EQ(error(folder_.path()), "");
}

} // namespace
} // namespace rankscope
