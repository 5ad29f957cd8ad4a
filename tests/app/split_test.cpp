// Tests splitting of traces: which steps and events the pieces contain, and how they are described.
#include "app/split.h"
#include "temp_folder.h"

#include "analyses/inference/step_repeats.h"
#include "core/steps.h"
#include "engine/loader.h"
#include "trace_builder.h"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using test::TraceBuilder;

constexpr const char* kDecode = "execute_context_0(0)_generation_64(64)";
constexpr const char* kMixed = "execute_context_4(400)_generation_60(60)";

bool is_mixed(int step) {
  return (step >= 10 && step <= 12) || step == 30;
}

/// Returns a trace of 40 steps of 64 requests, 1000 us apart and 900 us long; steps 10, 11, 12 and
/// 30 have prefill. Each step launches a kernel, which runs after the end of the step, and has an
/// operator on another thread.
TraceBuilder forty() {
  TraceBuilder t;
  for (int i = 0; i < 40; ++i) {
    const double at = 1000.0 * i;
    t.annotation(is_mixed(i) ? kMixed : kDecode, at, 900)
        .op("aten::mm", at + 10, 100)
        .op("other thread", at + 50, 20, "{}", 2)
        .kernel(is_mixed(i) ? "mixed_kernel" : "decode_kernel", at + 20, at + 920, 40)
        .op("between", at + 940, 10);
  }
  return t;
}

SplitResult split(const SplitRequest& request) {
  Session session;
  auto done = split_trace(session, request);
  EXPECT_TRUE(done) << done.error().message();
  return done ? std::move(*done) : SplitResult{};
}

SplitRequest request_of(const TempFolder& folder, const std::string& text) {
  SplitRequest out;
  out.trace = folder.write("t.pt.trace.json", text);
  out.output = folder.path("out");
  return out;
}

std::vector<std::string> paths(const SplitResult& result) {
  std::vector<std::string> out;
  for (const PieceFact& p : result.pieces)
    out.push_back(p.path);
  return out;
}

using SplitNames = std::map<std::string, int>;
SplitNames names_in(const std::string& path) {
  LoadOptions options;
  options.keep_python = true;
  const auto loaded = load_trace(path, options);
  EXPECT_TRUE(loaded) << loaded.error().message();
  SplitNames out;
  for (EventId i = 0; loaded && i < loaded->trace.events.size(); ++i)
    ++out[std::string(loaded->trace.name(i))];
  return out;
}

// Mean batch of the 32 steps: (4 * 460 + 28 * 64) / 32 = 113.5. The GPU works 40 us per step.
TEST(Split, WindowsOfTheSteadyState) {
  const TempFolder folder;
  SplitRequest request = request_of(folder, forty().text());
  request.choice.steady = true;
  const SplitResult done = split(request);
  EXPECT_EQ(
      paths(done),
      (std::vector<std::string>{
          "mixed_steady_state_prefill_0_prefilldecode_4_decode_28_bs113_conc64_t.json.gz",
          "decode_only_steady_state_prefill_0_prefilldecode_0_decode_17_bs64_conc64_t.json.gz",
          "prefilldecode_steady_state_prefill_0_prefilldecode_3_decode_0_bs460_conc64_t.json.gz"}));
  EXPECT_EQ(done.pieces[0].content.gpu_events, 32U);
  EXPECT_EQ(done.pieces[0].content.gpu_busy_ns, 32 * 40'000);
  EXPECT_EQ(done.pieces[2].content.gpu_duration_ns, 3 * 40'000);
  // per step the annotation, two operators, the call and its kernel; no events between the steps
  EXPECT_EQ(done.pieces[2].events, 15U);
  EXPECT_EQ(names_in(request.output + "/" + done.pieces[2].path),
            (SplitNames{{kMixed, 3},
                        {"aten::mm", 3},
                        {"other thread", 3},
                        {"hipLaunchKernel", 3},
                        {"mixed_kernel", 3}}));
  const std::string csv = test::bytes_of(request.output + "/execution_details.csv");
  EXPECT_EQ(csv.substr(0, csv.find('\n')),
            "idx,output_path,event_count,num_gpu_events,gpu_duration,gpu_busy_duration,num_steps,"
            "phase_num_prefill,phase_num_prefilldecode,phase_num_decode,phase_avg_bs,"
            "phase_avg_conc");
  EXPECT_NE(csv.find("\n2,prefilldecode_steady_state_prefill_0_prefilldecode_3_decode_0_bs460_"
                     "conc64_t.json.gz,15,3,120.0,120.0,3,0,3,0,460,64\n"),
            std::string::npos)
      << csv;
  const std::string json = test::bytes_of(request.output + "/execution_details.json");
  EXPECT_NE(json.find(R"({"batch_size": 460, "num_requests": 64, "context_requests": 4, )"
                      R"("context_sum": 400, "generation_requests": 60, "generation_sum": 60})"),
            std::string::npos)
      << json.substr(0, 600);
}

// The reference leaves out the last step of a steady state that is open at the end.
TEST(Split, PhasesInTurn) {
  const TempFolder folder;
  SplitRequest request = request_of(folder, forty().text());
  request.choice.phases = true;
  request.choice.steady = true; // `phases` takes precedence
  request.choice.window.compat = true;
  const auto name = [](const char* phase, int chunk, int steps, bool mixed) {
    return fmt::format("{0}/{0}_chunk{1}_steps{2}_bs{3}_conc64_prefill_0_prefilldecode_{4}_decode_"
                       "{5}_t.json.gz",
                       phase, chunk, steps, mixed ? 460 : 64, mixed ? steps : 0, mixed ? 0 : steps);
  };
  const SplitResult done = split(request);
  EXPECT_EQ(paths(done), (std::vector<std::string>{name("decode_only", 0, 10, false),
                                                   name("prefilldecodemix", 0, 3, true),
                                                   name("decode_only", 1, 17, false),
                                                   name("prefilldecodemix", 1, 1, true),
                                                   name("decode_only", 2, 8, false)}));
  // only from the thread of the step
  EXPECT_EQ(
      names_in(request.output + "/" + done.pieces[3].path),
      (SplitNames{{kMixed, 1}, {"aten::mm", 1}, {"hipLaunchKernel", 1}, {"mixed_kernel", 1}}));
  request.choice.window.compat = false;
  request.output = folder.path("again"); // files that were read are not overwritten
  EXPECT_EQ(split(request).pieces.back().steps.size(), 9U);
}

TEST(Split, SingleStepsAndRanges) {
  const TempFolder folder;
  SplitRequest request = request_of(folder, forty().text());
  request.choice.iterations = "12:14";
  request.choice.single = true;
  EXPECT_EQ(paths(split(request)),
            (std::vector<std::string>{
                "t_annotation_iteration_12_execute_context_4_400_generation_60_60.json.gz",
                "t_annotation_iteration_13_execute_context_0_0_generation_64_64.json.gz"}));
  request.choice.single = false;
  EXPECT_EQ(paths(split(request)),
            std::vector<std::string>{
                "steps_12_14_prefill_0_prefilldecode_1_decode_1_bs262_conc64_t.json.gz"});
  request.choice.window.compat = true; // the reference writes no file
  fs::remove_all(request.output);
  EXPECT_TRUE(split(request).pieces.empty());
  EXPECT_FALSE(fs::exists(request.output + "/execution_details.json"));
  request.choice.iterations = "40";
  Session session;
  EXPECT_EQ(split_trace(session, request).error().code, ErrorCode::kUsage);
}

// A piece contains the events that the report uses for its steps.
TEST(Split, APieceIsWhatTheReportTakes) {
  const TempFolder folder;
  SplitRequest request = request_of(folder, forty().text());
  request.choice.iterations = "5:33";
  const SplitResult done = split(request);
  LoadOptions options;
  auto trace = load_trace(request.trace, options);
  ASSERT_TRUE(trace);
  StepChoice choice;
  choice.iterations = "5:33";
  std::string said;
  const auto part = part_of_choice(std::move(*trace), choice, {}, said);
  ASSERT_TRUE(part);
  SplitNames want;
  for (EventId i = 0; i < part->trace.events.size(); ++i)
    ++want[std::string(part->trace.name(i))];
  EXPECT_EQ(names_in(request.output + "/" + done.pieces[0].path), want);
  auto piece = load_trace(request.output + "/" + done.pieces[0].path, options);
  ASSERT_TRUE(piece);
  EXPECT_EQ(piece->tree.linked_count(), part->tree.linked_count());
}

TEST(Split, HostileNamesAndOverlappingSteps) {
  const TempFolder folder;
  const std::string nasty = std::string(kDecode) + " /../a\n\"<=" + std::string(300, 'x');
  SplitRequest request = request_of(folder, TraceBuilder()
                                                .annotation(nasty, 0, 100)
                                                .annotation(kDecode, 50, 100)
                                                .op("both", 60, 10)
                                                .kernel("k", 61, 200, 5)
                                                .text());
  request.choice.single = true;
  const SplitResult done = split(request);
  ASSERT_EQ(done.pieces.size(), 2U);
  for (const PieceFact& p : done.pieces) {
    EXPECT_EQ(p.path.find('/'), std::string::npos);
    EXPECT_EQ(p.path.find('\n'), std::string::npos);
    EXPECT_EQ(names_in(request.output + "/" + p.path)["k"], 1);
    EXPECT_EQ(names_in(request.output + "/" + p.path)["both"], 1);
  }
}

/// Returns the trace of a server without annotations. After setup, its loop calls `schedule` and
/// `forward` alternately; after the fifth iteration it calls another function once.
TraceBuilder unannotated() {
  TraceBuilder t;
  t.frame("main.py(1): run", 0, 10000).frame("main.py(2): setup", 5, 50);
  for (int i = 0; i < 6; ++i) {
    const double at = 100.0 + 1000 * i;
    t.frame("main.py(3): schedule", at, 100)
        .frame("main.py(4): forward", at + 200, 300)
        .op("aten::mm", at + 210, 100)
        .kernel("k" + std::to_string(i), at + 220, at + 600, 50);
    if (i == 4)
      t.frame("main.py(9): log", at + 700, 50);
  }
  return t;
}

// Lists of siblings: main.run alone; below it setup, (schedule forward) x 5, log, schedule forward.
// The repeat starts at 1 with period 2 and occurs five times: 10 of 13 entries.
TEST(StepRepeats, TheLoopOfAServerWithoutAnnotations) {
  const LoadedTrace t = unannotated().load(true);
  ASSERT_TRUE(annotated_steps(t.trace).empty());
  const auto steps = steps_to_choose(t, false);
  ASSERT_EQ(steps.size(), 6U);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].start_ns, 100'000 + 1'000'000 * static_cast<std::int64_t>(i));
    EXPECT_EQ(steps[i].end_ns - steps[i].start_ns, 500'000);
    EXPECT_EQ(phase_of(steps[i].counts), StepPhase::kDecode);
    EXPECT_EQ(steps[i].counts.batch_size, 1);
  }
  EXPECT_EQ(steps_to_choose(t, true).size(), 6U);
  const TempFolder folder;
  SplitRequest request = request_of(folder, unannotated().text());
  request.choice.iterations = "2:4";
  const SplitResult done = split(request);
  ASSERT_EQ(done.pieces.size(), 1U);
  const SplitNames names = names_in(request.output + "/" + done.pieces[0].path);
  EXPECT_EQ(names.count("k1") + names.count("k4"), 0U);
  EXPECT_EQ(names.at("k2") + names.at("k3"), 2);
}

// A B A C, A B A C, ...: only the first A starts a step. The reference takes the k-th A as the
// start of step k.
TEST(StepRepeats, ANameTwiceInAStep) {
  TraceBuilder t;
  for (int i = 0; i < 3; ++i) {
    const double at = 1000.0 * i;
    t.op("A", at, 10).op("B", at + 100, 10).op("A", at + 200, 10).op("C", at + 300, 10);
    t.kernel("k", at + 301, at + 400, 5);
  }
  const LoadedTrace trace = t.load();
  const auto steps = repeated_steps(trace, false);
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_EQ(steps[1].start_ns, 1'000'000);
  EXPECT_EQ(steps[1].end_ns, 1'310'000);
  const auto old = repeated_steps(trace, true);
  ASSERT_EQ(old.size(), 3U);
  EXPECT_EQ(old[1].start_ns, 200'000);
  EXPECT_TRUE(
      repeated_steps(TraceBuilder().op("A", 0, 5).kernel("k", 1, 9, 2).load(), false).empty());
}

TEST(Split, PairsOfTwoTraces) {
  const TempFolder folder;
  const auto text = [](const std::vector<int>& lengths) {
    TraceBuilder t;
    double at = 0;
    for (const int n : lengths) {
      t.annotation(fmt::format("execute_9_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq2sk{0}sqsq2"
                               "sqsk{0})",
                               n),
                   at, 90)
          .op("aten::mm", at + 5, 20)
          .kernel("k" + std::to_string(n), at + 6, at + 40, 10);
      at += 100;
    }
    return t.text();
  };
  SplitRequest request = request_of(folder, text({10, 20, 30, 40}));
  request.pair = folder.write("other.json", text({21, 31, 39}));
  const SplitResult done = split(request);
  ASSERT_EQ(paths(done), (std::vector<std::string>{"paired/decode_first_steps_1_4_t.json.gz",
                                                   "paired/decode_other_steps_0_3_other.json.gz"}));
  EXPECT_EQ(names_in(request.output + "/" + done.pieces[1].path).count("k31"), 1U);
  EXPECT_EQ(test::bytes_of(request.output + "/paired_steps.csv"),
            "phase,first step,other step,steps,distance,distance of tokens\n"
            "decode,1,0,3,1.0,0.0\n");
}

TEST(Split, TracesThatCannotBeSplit) {
  const TempFolder folder;
  Session session;
  SplitRequest request = request_of(folder, TraceBuilder().op("A", 0, 5).text());
  request.choice.single = true;
  const auto none = split_trace(session, request);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUsage);
  EXPECT_NE(none.error().message().find("no repeated CPU work"), std::string::npos);
  request.trace = "-";
  EXPECT_EQ(split_trace(session, request).error().code, ErrorCode::kUsage);
  const std::string complete = forty().text();
  request.trace = folder.write("cut.json", complete.substr(0, complete.size() - 100));
  const auto cut = split_trace(session, request);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kUnreadable);
}

} // namespace
} // namespace rankscope
