// Tests rankscope whatif: predicted changes against the times of a run with the change, and a
// pipeline-parallel job with hand-calculated times.
#include "job_answers.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <utility>

namespace rankscope {
namespace {

using test::run_binary;
using test::RunResult;

class WhatIfAnswer : public test::JobAnswer {
public:
  explicit WhatIfAnswer(std::vector<std::string> arguments)
      : JobAnswer("whatif", std::move(arguments)) {}
};

std::string cause_trace(const char* name) {
  return (test::source_dir() / "tests/data/causes" / (std::string(name) + ".json.zst")).string();
}

/// Generates eight ranks without contention; `more` can add a slow GPU.
std::string synthesized(const test::TempFolder& folder, const char* name,
                        const std::vector<std::string>& more) {
  test::write_run(folder.path(name), 7, "iid:0.005", more);
  return folder.path(name);
}

TEST(WhatIf, ARankAsTheOthersTakesWhatARunWithoutItsFaultTakes) {
  const test::TempFolder folder;
  const std::string well = synthesized(folder, "well", {});
  const std::string slow = synthesized(folder, "slow", {"--inject", "clocks:rank=3,factor=1.05"});
  const WhatIfAnswer without({well});
  const double truth = without.number("whatif_run", 0, "step_ms");
  const WhatIfAnswer answer({slow, "--edit", "ranks=3 as median", "--edit", "ranks=4 as median"});
  ASSERT_EQ(answer.rows("changes"), 3U);
  const double before = answer.number("whatif_run", 0, "step_ms");
  ASSERT_GT(before, 1.01 * truth);
  const double gain = before - truth;
  EXPECT_NEAR(answer.number("changes", 0, "after_ms"), truth, 0.2 * gain);
  EXPECT_LE(answer.number("changes", 0, "change_low_ms"), -gain);
  EXPECT_GE(answer.number("changes", 0, "change_high_ms"), -gain);
  // a rank without a fault
  EXPECT_NEAR(answer.number("changes", 1, "change_ms"), 0, 0.05 * gain);
  EXPECT_NEAR(answer.number("changes", 2, "after_ms"), truth, 0.2 * gain);
  // the slow rank is the largest straggler
  const WhatIfAnswer stragglers({slow});
  for (std::size_t k = 0; k < stragglers.rows("stragglers"); ++k)
    if (std::string_view(stragglers.cell("stragglers", k, "group")) == "rank") {
      EXPECT_EQ(std::string_view(stragglers.cell("stragglers", k, "name")), "3");
      break;
    }
  EXPECT_GT(stragglers.number("whatif_run", 0, "slowdown"),
            without.number("whatif_run", 0, "slowdown"));
}

TEST(WhatIf, FactorsScaleWhatTheyAreAbout) {
  const std::string trace = cause_trace("base");
  const WhatIfAnswer answer({trace, "--edit", "kernels x 1,0.5,2", "--edit", "host x 0.5", "--edit",
                             "op=aten::mm x 0.5"});
  ASSERT_EQ(answer.rows("changes"), 6U);
  EXPECT_EQ(answer.number("changes", 0, "change_ms"), 0);
  EXPECT_LT(answer.number("changes", 1, "change_ms"), 0);
  EXPECT_GT(answer.number("changes", 2, "change_ms"), 0);
  EXPECT_EQ(std::string_view(answer.cell("changes", 1, "change")), "kernels x 0.5");
  // the GPU is busy almost all the time: its kernels determine the step time, not the host
  const double step = answer.number("whatif_run", 0, "step_ms");
  EXPECT_NEAR(answer.number("changes", 2, "change_ms"), step, 0.1 * step);
  EXPECT_NEAR(answer.number("changes", 3, "change_ms"), 0, 0.05 * step);
  EXPECT_LT(answer.number("changes", 4, "change_ms"), 0);
  EXPECT_GT(answer.number("changes", 4, "change_ms"), answer.number("changes", 1, "change_ms"));
  double path = 0;
  for (std::size_t k = 0; k < answer.rows("changed_paths"); ++k)
    if (std::string_view(answer.cell("changed_paths", k, "change")) == "kernels x 0.5")
      path += answer.number("changed_paths", k, "ms");
  EXPECT_NEAR(path, answer.number("changes", 1, "after_ms"), 1e-6 * step);
}

TEST(WhatIf, ABandwidthScalesTransfersByWhatTheyReach) {
  const test::TempFolder folder;
  const std::string run = synthesized(folder, "run", {"--vendor", "nvidia"});
  const test::JobAnswer collectives("collectives", {run});
  double reached = 0; // of the all-gathers, which all have the same size
  for (std::size_t k = 0; k < collectives.rows("nccl_summary_implicit_sync"); ++k)
    if (collectives.text("nccl_summary_implicit_sync", k, "collective") == "_allgather_base")
      reached = collectives.number("nccl_summary_implicit_sync", k, "bus_bw_gbps_mean");
  ASSERT_GT(reached, 0);
  const WhatIfAnswer answer(
      {run, "--edit", fmt::format("collectives=AllGather at bandwidth {},{}", reached, reached / 4),
       "--edit", "collectives=AllGather x 4"});
  ASSERT_GE(answer.rows("changes"), 3U);
  const double slower = answer.number("changes", 2, "change_ms");
  ASSERT_GT(slower, 0);
  EXPECT_EQ(answer.number("changes", 0, "activities"), answer.number("changes", 2, "activities"));
  EXPECT_NEAR(answer.number("changes", 0, "change_ms"), 0, 0.05 * slower);
  EXPECT_NEAR(answer.number("changes", 1, "change_ms"), slower, 0.05 * slower);
}

// All kernels of RCCL have the same name.
TEST(WhatIf, CollectivesAreChosenByTheirNames) {
  const test::TempFolder folder;
  const std::string run = synthesized(folder, "run", {"--vendor", "amd"});
  const WhatIfAnswer answer({run, "--edit", "collectives=_allgather_base x 0.5", "--edit",
                             "collectives=_reduce_scatter_base x 0.5", "--edit",
                             "collectives x 0.5"});
  ASSERT_GE(answer.rows("changes"), 3U);
  const double gathers = answer.number("changes", 0, "activities");
  const double scatters = answer.number("changes", 1, "activities");
  EXPECT_GT(gathers, 0);
  EXPECT_GT(scatters, 0);
  EXPECT_LE(gathers + scatters, answer.number("changes", 2, "activities"));
}

// A collective has the name that the library records and those of the operators around it.
TEST(WhatIf, CollectivesAreChosenByTheirOperators) {
  const test::TempFolder folder;
  const std::string run = synthesized(folder, "run", {"--vendor", "nvidia"});
  const WhatIfAnswer answer(
      {run, "--edit", "op=_allgather_base x 0.5", "--edit", "op=c10d::_allgather_base_ x 0.5",
       "--edit", "collectives=^c10d::_allgather x 0.5", "--edit", "op=record_param_comms x 0.5",
       "--edit", "collectives x 0.5", "--edit", "op=mm x 0.5", "--edit", "op=aten::.*mm x 0.5"});
  ASSERT_GE(answer.rows("changes"), 7U);
  const auto activities = [&answer](std::size_t change) {
    return answer.number("changes", change, "activities");
  };
  EXPECT_EQ(activities(1), activities(0));
  EXPECT_EQ(activities(2), activities(0));
  EXPECT_EQ(activities(3), activities(4));
  EXPECT_GT(activities(4), activities(0));
  EXPECT_EQ(activities(5), activities(6));
}

TEST(WhatIf, AnOperatorAsInAnotherRunTakesItsTimeThere) {
  const test::TempFolder folder;
  const std::string well = synthesized(folder, "well", {});
  const std::string slow = synthesized(folder, "slow", {"--gemm-scale", "1.2"});
  const double truth = WhatIfAnswer({well}).number("whatif_run", 0, "step_ms");
  const WhatIfAnswer answer({slow, "--edit", "op=mm as in run " + well, "--edit",
                             "op=aten::embedding as in run " + well});
  const double before = answer.number("whatif_run", 0, "step_ms");
  ASSERT_GT(before, 1.1 * truth);
  EXPECT_NEAR(answer.number("changes", 0, "after_ms"), truth, 0.02 * truth);
  EXPECT_NEAR(answer.number("changes", 1, "change_ms"), 0, 0.002 * truth);
  const RunResult missing =
      run_binary({"whatif", slow, "--edit", "op=mm as in run " + folder.path("none")});
  EXPECT_EQ(missing.code, 3) << missing.err;
}

TEST(WhatIf, TheTimeOfSomeStepsIsTheirMean) {
  const test::TempFolder folder;
  const std::string run = synthesized(folder, "run", {});
  const auto step_ms = [&run](const std::string& steps) {
    const WhatIfAnswer answer({run, "--only-steps", steps});
    EXPECT_EQ(answer.rows("straggler_steps"), answer.number("whatif_run", 0, "steps"));
    return answer.number("whatif_run", 0, "step_ms");
  };
  EXPECT_NEAR((step_ms("14") + step_ms("15") + step_ms("16")) / 3, step_ms("14:16"), 1e-6);
}

TEST(WhatIf, TheChangedRunIsATrace) {
  const test::TempFolder folder;
  const std::string out = folder.path("half.json.gz");
  const WhatIfAnswer answer({cause_trace("base"), "--edit", "kernels x 0.5", "-o", out});
  const RunResult top = run_binary({"--json", "top", out, "--no-cache"});
  EXPECT_EQ(top.code, 0) << top.err;
  const RunResult same = run_binary({"top", cause_trace("base"), "--no-cache"});
  EXPECT_EQ(same.code, 0) << same.err;
}

TEST(WhatIf, WhatIsNotUnderstoodOrMatchesNothingIsAnError) {
  const std::string trace = cause_trace("base");
  for (const char* edit :
       {"", "kernels", "kernels x", "kernels x -1", "kernels x nan", "kernels=( x 0.5", "speed x 2",
        "ranks=1", "ranks=a as median", "ranks=99 as median", "host=a x 1",
        "op=no_such_operator x 0.5", "kernels x 1e9", "collectives at bandwidth 0",
        "collectives at bandwidth fast", "kernels at bandwidth 3",
        "collectives at bandwidth 300"}) {
    const RunResult run = run_binary({"whatif", trace, "--edit", edit, "--no-cache"});
    EXPECT_EQ(run.code, 2) << edit << "\n" << run.out << run.err;
    EXPECT_NE(run.err.find(fmt::format("rankscope: --edit '{}'", edit)), std::string::npos)
        << run.err;
  }
  EXPECT_EQ(run_binary({"whatif", trace, "-o", "x.txt"}).code, 2);
  EXPECT_EQ(run_binary({"whatif", "/dev/null"}).code, 3);
}

/// Returns one micro-batch of two stages: forward 10 ms and `second_of_step` ms, transfers 1 ms,
/// backward 20 ms each, clipping 1 ms, optimizer 2 ms.
std::string by_hand(const std::vector<std::int64_t>& second_of_step, bool complete = true) {
  std::string out = "[";
  for (const int stage : {0, 1})
    for (const int line : {0, 1, 2, 3, 4})
      out += fmt::format(R"({{"name":"thread_name","ph":"M","pid":0,"tid":{},"args":{{"name":)"
                         R"("PP rank {}, TP rank 0, track"}}}},)"
                         "\n",
                         5 * stage + line, stage);
  std::int64_t begin = 0;
  for (std::size_t step = 0; step < second_of_step.size(); ++step) {
    const auto add = [&](int stage, const char* op, std::int64_t start, std::int64_t end) {
      out += fmt::format(R"({{"name":"{}","ph":"X","pid":0,"tid":{},"ts":{},"dur":{},"args":)"
                         R"({{"step":{},"seq_id":0,"model_chunk":0}}}},)"
                         "\n",
                         op, 5 * stage, 1000 * (begin + start), 1000 * (end - start), step);
    };
    const std::int64_t second = second_of_step[step];
    add(0, "forward-compute", 0, 10);
    add(0, "forward-send", 10, 11);
    add(1, "forward-recv", 0, 11);
    add(1, "forward-compute", 11, 11 + second);
    add(1, "backward-compute", 11 + second, 31 + second);
    add(1, "backward-send", 31 + second, 32 + second);
    add(0, "backward-recv", 10, 32 + second);
    add(0, "backward-compute", 32 + second, 52 + second);
    for (const int stage : {0, 1}) {
      add(stage, "optimizer-clip-main-grad", (stage == 0 ? 52 : 31) + second, 53 + second);
      if (complete || step == 0 || stage == 0)
        add(stage, "optimizer", 53 + second, 55 + second);
    }
    begin += 1000;
  }
  out.resize(out.size() - 2);
  return out + "]";
}

TEST(WhatIf, APipelineByHand) {
  const test::TempFolder folder;
  // steps of 65 and 85 ms; a forward computation takes (10 + 10 + 10 + 30) / 4 = 15 ms, so the
  // ideal step takes 75 ms. With the measured second stage: 70 and 90 ms
  const WhatIfAnswer answer({folder.write("t.json", by_hand({10, 30}))});
  EXPECT_NEAR(answer.number("whatif_run", 0, "step_ms"), 75, 1e-9);
  EXPECT_NEAR(answer.number("whatif_run", 0, "without_delays_ms"), 75, 1e-9);
  EXPECT_NEAR(answer.number("whatif_run", 0, "ideal_ms"), 75, 1e-9);
  EXPECT_NEAR(answer.number("straggler_steps", 0, "slowdown"), 65.0 / 75, 1e-9);
  EXPECT_NEAR(answer.number("straggler_steps", 1, "slowdown"), 85.0 / 75, 1e-9);
  std::map<std::string, double> slowdown;
  for (std::size_t k = 0; k < answer.rows("stragglers"); ++k)
    slowdown[std::string(std::string_view(answer.cell("stragglers", k, "group"))) + " " +
             std::string(std::string_view(answer.cell("stragglers", k, "name")))] =
        answer.number("stragglers", k, "slowdown");
  EXPECT_NEAR(slowdown.at("stage 1"), 80.0 / 75, 1e-9);
  EXPECT_NEAR(slowdown.at("stage 0"), 70.0 / 75, 1e-9);
  EXPECT_NEAR(slowdown.at("dp-rank 0"), 1, 1e-9);
  EXPECT_NEAR(slowdown.at("operator forward-compute"), 1, 1e-9);
  EXPECT_NEAR(slowdown.at("operator backward-compute"), 1, 1e-9);
  // changes are applied to it too: (45 + 55) / 2
  const WhatIfAnswer half(
      {folder.path("t.json"), "--edit", "op=forward-compute x 0", "--edit", "collectives x 0"});
  EXPECT_NEAR(half.number("changes", 0, "after_ms"), 45, 1e-9);
  EXPECT_NEAR(half.number("changes", 1, "after_ms"), 72, 1e-9);
  EXPECT_NEAR(half.number("changes", 2, "after_ms"), 42, 1e-9);
}

/// Returns steps of two ranks with one stage and two micro-batches. In each step, another rank has
/// a micro-batch with a forward computation of 30 ms; all other ones take 10 ms. A backward
/// computation takes twice as long as the forward one, of the same micro-batch or of the next one.
std::string two_micro_batches(bool same) {
  std::string out = "[";
  for (const int rank : {0, 1})
    out += fmt::format(R"({{"name":"thread_name","ph":"M","pid":{},"tid":{},"args":{{"name":)"
                       R"("PP rank 0, TP rank 0, compute"}}}},)"
                       "\n",
                       rank, 5 * rank);
  for (int step = 0; step < 6; ++step)
    for (const int rank : {0, 1}) {
      int now = 1000 * step;
      for (const int backward : {0, 1})
        for (const int batch : {0, 1}) {
          const int long_batch = backward == 0 || same ? 0 : 1;
          const int forward_ms = rank == step % 2 && batch == long_batch ? 30 : 10;
          const int ms = backward == 0 ? forward_ms : 2 * forward_ms;
          out += fmt::format(R"({{"name":"{}","ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"args":)"
                             R"({{"step":{},"seq_id":{},"model_chunk":0,"mb_id":{}}}}},)"
                             "\n",
                             backward == 0 ? "forward-compute" : "backward-compute", rank, 5 * rank,
                             1000 * now, 1000 * ms, step, batch, batch);
          now += ms;
        }
    }
  out.resize(out.size() - 2);
  return out + "]";
}

TEST(WhatIf, LongMicroBatchesAreLongForwardAndBackward) {
  const test::TempFolder folder;
  // a step takes 30 + 10 + 60 + 20 = 120 ms, and with equal micro-batches 2 * (15 + 30) = 90 ms
  const std::string lengths = folder.write("lengths.json", two_micro_batches(true));
  const WhatIfAnswer answer({lengths});
  EXPECT_NEAR(answer.number("whatif_run", 0, "micro_batch_correlation"), 1, 1e-9);
  EXPECT_EQ(answer.number("whatif_run", 0, "micro_batch_pairs"), 24);
  EXPECT_EQ(answer.text("straggler_effects", 1, "group"), "equal-micro-batches");
  EXPECT_NEAR(answer.number("straggler_effects", 1, "gain_ms"), 30, 1e-6);
  EXPECT_TRUE(answer.cell("straggler_effects", 1, "added").is_null());
  ASSERT_EQ(answer.rows("findings"), 1U);
  EXPECT_EQ(answer.text("findings", 0, "rule"), "sequence-lengths");
  const RunResult page = run_binary({"whatif", lengths});
  EXPECT_NE(page.out.find("have different sequence lengths: 30.0 ms of a step"), std::string::npos)
      << page.out;
  // the same durations in another order: the long forward micro-batch is short backward
  const WhatIfAnswer other({folder.write("other.json", two_micro_batches(false))});
  EXPECT_NEAR(other.number("whatif_run", 0, "micro_batch_correlation"), -1, 1e-9);
  EXPECT_NEAR(other.number("straggler_effects", 1, "gain_ms"), 30, 1e-6);
  ASSERT_EQ(other.rows("findings"), 1U);
  EXPECT_EQ(other.text("findings", 0, "rule"), "spread-stragglers");
}

TEST(WhatIf, OtherCommandsNameItForATimeline) {
  const test::TempFolder folder;
  const std::string path = folder.write("timeline.json", by_hand({10, 30}));
  for (const char* command : {"why", "top", "report"}) {
    const RunResult run = run_binary({command, path, "--no-cache"});
    EXPECT_EQ(run.code, 3) << command << run.out << run.err;
    EXPECT_NE(run.err.find("is the timeline of a pipeline-parallel job"), std::string::npos)
        << command << run.err;
    EXPECT_NE(run.err.find("`rankscope whatif` reads it"), std::string::npos) << run.err;
    EXPECT_EQ(run.err.find("ProfilerActivity"), std::string::npos) << run.err;
  }
}

TEST(WhatIf, WithoutStragglersNoneAreClaimed) {
  const test::TempFolder folder;
  // the ideal step is as long as the mean step
  const RunResult equal = run_binary({"whatif", folder.write("equal.json", by_hand({10, 10}))});
  EXPECT_EQ(equal.code, 0) << equal.err;
  EXPECT_EQ(equal.out.find("times as long"), std::string::npos) << equal.out;
  EXPECT_NE(equal.out.find("(slowdown 1.000)"), std::string::npos) << equal.out;
}

TEST(WhatIf, ADamagedTimelineIsAnErrorWithItsPlace) {
  const test::TempFolder folder;
  const std::string good = by_hand({10, 30});
  for (const auto& [text, part] : {std::pair(by_hand({10, 30}, false), "operations, where 2 steps"),
                                   {good.substr(0, good.size() / 2), "JSON"}}) {
    const RunResult run = run_binary({"whatif", folder.write("bad.json", text), "--no-cache"});
    EXPECT_EQ(run.code, 3) << run.err;
    EXPECT_NE(run.err.find(part), std::string::npos) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
}

} // namespace
} // namespace rankscope
