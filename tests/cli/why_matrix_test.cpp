// Which cause `rankscope why` names first in generated runs with one injected cause, with two, and
// with parts of the trace missing. docs/why.md has the tables.
#include "job_answers.h"
#include "seeds.h"
#include "temp_folder.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <set>

namespace rankscope {
namespace {

using Arguments = std::vector<std::string>;

struct NamedCause {
  std::string rule, ranks;
  double gain_ms = 0;
  bool at_most = false;
  std::string confidence;
  std::optional<test::NamedGain> gain; ///< if it has an interval
};
struct WhyAnswer {
  double step_ms = 0, after_ms = 0;
  std::vector<NamedCause> causes;

  [[nodiscard]] const NamedCause* first() const {
    return causes.empty() ? nullptr : &causes.front();
  }
};

WhyAnswer ask(const std::string& path) {
  const test::JobAnswer answer("why", {path});
  WhyAnswer out;
  out.step_ms = answer.number("why_run", 0, "step_ms");
  out.after_ms = answer.number("why_run", 0, "after_ms");
  for (std::size_t k = 0; k < answer.rows("causes"); ++k) {
    NamedCause cause;
    cause.rule = answer.text("causes", k, "rule");
    cause.ranks = answer.text("causes", k, "ranks");
    cause.gain_ms = answer.number("causes", k, "gain_ms");
    cause.at_most = answer.text("causes", k, "gain_kind") == "at most";
    cause.confidence = answer.text("causes", k, "confidence");
    if (!answer.cell("causes", k, "gain_low_ms").is_null())
      cause.gain = test::named_gain(answer, k);
    out.causes.push_back(std::move(cause));
  }
  return out;
}

/// Writes a run of 8 ranks and 8 steps with these causes; returns the folder of its traces.
std::string generate(const test::TempFolder& folder, int seed, const Arguments& causes) {
  const std::string run = folder.path("run");
  Arguments more{"--vendor", "nvidia"};
  for (const std::string& cause : causes) {
    more.emplace_back("--inject");
    more.push_back(cause);
  }
  test::write_run(run, static_cast<std::uint64_t>(seed), "iid:0.005", more);
  return run;
}

struct Injected {
  const char* rule;           ///< that `why` is to name
  const char* cause;          ///< what is injected
  const char* ranks;          ///< that it is to name
  const char* base = nullptr; ///< is injected with and without the cause
  bool most = false;          ///< is most of the step, so that it hides other causes
};
const std::vector<Injected>& injected() {
  static constexpr const char* kAll = "0 1 2 3 4 5 6 7";
  static const std::vector<Injected> list = {
      {"data-loader", "loader:ms=4", kAll},
      {"host-code", "python:ms=4", kAll},
      {"allocator", "alloc:ms=15,count=4", kAll},
      {"pinning", "pin:ms=3", kAll},
      {"read-back", "item:count=40", kAll},
      {"exposed-copy", "input:mb=64", kAll},
      {"stream-wait", "side:ms=0.5,count=8", kAll},
      {"pageable-copy", "pageable:mb=16", kAll},
      {"blocking-launch", "launch-blocking", kAll},
      {"slow-gpu", "clocks:rank=3,factor=1.06", "3"},
      {"slow-operator", "op:rank=5,factor=1.25", "5"},
      {"more-work", "more:rank=6", "6"},
      {"more-data", "data:rank=2,factor=1.1", "2"},
      {"slow-host", "host:rank=4,factor=40", "4"},
      {"slow-collective", "glitch:ms=20", kAll},
      {"small-collectives", "small-collectives:count=96,kb=16", kAll},
      {"gemm-contention", "contention:factor=1", kAll},
      {"data-loader", "loader:ms=4,rank=1", "1"},
      {"host-code", "python:ms=4,rank=1", "1"},
      {"graph-breaks", "pieces:ms=0.25,count=12", kAll},
      {"slow-gemm", "shape:factor=2", kAll},
      {"zero-grad", "zero-grad:mb=8000", kAll},
      {"device-copy", "cat:mb=4000,count=4", kAll},
      {"slow-copies", "copies:rank=2,factor=4", "2", "input:mb=64"},
      {"repeated-reduction", "accumulate:passes=3", kAll, "accumulate:passes=3,all=0"},
      {"uneven-exchange", "exchange:rank=6,factor=1.6", "6", "exchange:rank=6,factor=1"},
      {"garbage-collection", "pause:ms=40,period=3", kAll},
      {"garbage-collection", "collect:ms=20", kAll},
      {"checkpoint", "checkpoint:ms=8,count=6", kAll},
      {"code-loading", "compile:ms=20", kAll},
      {"optimizer-loop", "optimizer-loop:tensors=400", kAll},
      {"pointwise-chain", "pointwise", kAll},
      {"recomputation", "recompute", kAll},
      {"misaligned-gemm", "vocabulary:factor=4", kAll},
      {"slow-format", "fp32", kAll, "tf32", true},
      {"layout-conversion", "convolution:count=20,nchw=1", kAll, "convolution:count=20"},
      {"unfused-attention", "scores", kAll},
      {"launch-bound", "host:factor=40", kAll, nullptr, true},
  };
  return list;
}

struct MatrixRow {
  int runs = 0, right = 0, ranks_right = 0, gain_right = 0, in_interval = 0, intervals = 0;
  std::map<std::string, int> first; ///< rule, "" = silent
};

/// A bound is right if it is not below the true gain.
bool gain_is_right(const NamedCause& cause, double true_ms, double step_ms) {
  return (cause.at_most && cause.gain_ms >= true_ms) ||
         test::gain_is_right(cause.gain_ms, true_ms, step_ms);
}

/// Returns what is injected with and without these causes.
Arguments bases(std::initializer_list<const Injected*> causes) {
  Arguments out;
  for (const Injected* const injection : causes)
    if (injection->base != nullptr)
      out.emplace_back(injection->base);
  return out;
}

MatrixRow row_of(const Injected& injection, int seeds) {
  const test::TempFolder folder;
  MatrixRow out;
  for (int seed = 1; seed <= seeds; ++seed) {
    Arguments causes = bases({&injection});
    const double without = ask(generate(folder, seed, causes)).step_ms;
    causes.emplace_back(injection.cause);
    const WhyAnswer answer = ask(generate(folder, seed, causes));
    const NamedCause* const first = answer.first();
    ++out.runs;
    ++out.first[first == nullptr ? "" : first->rule];
    if (first == nullptr || first->rule != injection.rule)
      continue;
    ++out.right;
    out.ranks_right += first->ranks == injection.ranks ? 1 : 0;
    const double true_ms = answer.step_ms - without;
    out.gain_right += gain_is_right(*first, true_ms, answer.step_ms) ? 1 : 0;
    // the remedy of small-collectives leaves one of them; the true gain is that of none
    if (first->at_most || !first->gain || first->rule == "small-collectives")
      continue;
    // Noise of the two runs. Some base runs have the cause too, for example one read-back per step.
    const double uncertain_ms = 0.0005 * answer.step_ms;
    ++out.intervals;
    out.in_interval += first->gain->low_ms <= true_ms + uncertain_ms &&
                               true_ms <= first->gain->high_ms + uncertain_ms
                           ? 1
                           : 0;
  }
  std::string first;
  for (const auto& [rule, count] : out.first)
    first += " " + (rule.empty() ? std::string("(none)") : rule) + ":" + std::to_string(count);
  std::printf("%-28s %-16s runs %d, first%s; ranks right %d, gain right %d, true gain in the "
              "interval %d of %d\n",
              injection.cause, injection.rule, out.runs, first.c_str(), out.ranks_right,
              out.gain_right, out.in_interval, out.intervals);
  return out;
}

/// One seed of each cause of all ranks; those of single ranks are in why_test.cpp.
std::vector<Injected> causes_of_all_ranks() {
  std::vector<Injected> out;
  for (const Injected& injection : injected())
    if (injection.ranks == std::string("0 1 2 3 4 5 6 7"))
      out.push_back(injection);
  return out;
}

class WhyInjected : public ::testing::TestWithParam<Injected> {};
TEST_P(WhyInjected, IsNamedWithItsGain) {
  const MatrixRow row = row_of(GetParam(), 1);
  EXPECT_EQ(row.right, 1);
  EXPECT_EQ(row.ranks_right, 1);
  EXPECT_EQ(row.gain_right, 1);
}
std::string name_of(const ::testing::TestParamInfo<Injected>& instance) {
  std::string name = std::string(instance.param.rule) + "_of_" + instance.param.cause;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(EveryCause, WhyInjected, ::testing::ValuesIn(causes_of_all_ranks()),
                         name_of);

class WhyMatrixRow : public ::testing::TestWithParam<Injected> {};
TEST_P(WhyMatrixRow, TheInjectedCauseIsNamedFirst) {
  const Injected& injection = GetParam();
  const MatrixRow row = row_of(injection, test::seeds(5));
  EXPECT_GE(row.right * 100, row.runs * 95);
  EXPECT_GE(row.ranks_right * 100, row.right * 95);
  EXPECT_GE(row.gain_right * 100, row.right * 95);
  EXPECT_GE((row.in_interval + 1) * 100, row.intervals * 90); // one miss of five can be chance
  for (const auto& [rule, count] : row.first)
    if (rule != injection.rule && !rule.empty()) {
      EXPECT_LE(count * 100, row.runs * 2) << "taken for " << rule;
    }
}
INSTANTIATE_TEST_SUITE_P(EveryCause, WhyMatrixRow, ::testing::ValuesIn(injected()), name_of);

/// A run that has the sign of a rule, but not its cause.
struct CounterExample {
  const char* rule; ///< that must not be named
  Arguments run;    ///< options of `synth`
  const char* noise = "iid:0.005";
  const char* ranks = "8";
};

TEST(WhyMatrix, CounterExamplesAreNotNamed) {
  const test::TempFolder folder;
  const auto inject = [](const char* cause) { return Arguments{"--inject", cause}; };
  for (const CounterExample& example : std::vector<CounterExample>{
           // the launch queue hides the time of the host
           {"slow-host", inject("host:rank=4,factor=5")},
           {"allocator", inject("alloc:ms=2,count=4")},
           // less than the least gain that is reported
           {"data-loader", inject("loader:ms=0.2")},
           {"host-code", inject("python:ms=0.2")},
           {"pinning", inject("pin:ms=0.2")},
           {"pageable-copy", inject("pageable:mb=0.05")},
           {"small-collectives", inject("small-collectives:count=4,kb=16")},
           {"graph-breaks", inject("pieces:ms=0.001,count=12")},
           {"zero-grad", inject("zero-grad:mb=400")},
           {"device-copy", inject("cat:mb=400,count=4")},
           {"slow-gemm", inject("shape:factor=1.1")},
           {"slow-copies", inject("input:mb=64")},
           {"optimizer-loop", inject("optimizer-loop:tensors=6")},
           {"checkpoint", inject("checkpoint:ms=0.01,count=6")},
           {"misaligned-gemm", inject("vocabulary:factor=1")},
           {"launch-bound", inject("host:factor=3")},
           // the same sign, but another cause
           {"pointwise-chain", inject("optimizer-loop:tensors=400")},
           {"recomputation", inject("accumulate:passes=3,all=0")},
           {"checkpoint", inject("recompute")},
           {"garbage-collection", inject("checkpoint:ms=8,count=6")},
           {"pageable-copy", inject("checkpoint:ms=8,count=6")},
           {"read-back", inject("checkpoint:ms=8,count=6")},
           {"stream-wait", inject("item:count=40")},
           {"read-back", inject("compile:ms=20")},
           {"code-loading", inject("pieces:ms=0.25,count=12")},
           {"layout-conversion", inject("convolution:count=20")},
           {"slow-format", inject("tf32")},
           {"unfused-attention", inject("pointwise")},
           {"uneven-exchange", inject("exchange:rank=6,factor=1.02")},
           // the host waits for the GPU, but not in each launch; copies that work hides
           {"blocking-launch", inject("item:count=40")},
           {"exposed-copy", inject("input:mb=1")},
           // only the last of several backward passes reduces the gradients
           {"repeated-reduction", inject("accumulate:passes=3,all=0")},
           {"repeated-reduction", inject("accumulate:passes=3,update=1")},
           // pauses at one place, or none that stands out
           {"garbage-collection", inject("python:ms=4,rank=1")},
           {"garbage-collection", inject("host:rank=4,factor=40")},
           // another kernel, another place, or another time of the GPU
           {"gemm-contention", inject("place:factor=1.2")},
           {"slow-gpu", inject("beside:rank=2")},
           {"slow-gpu", inject("data:rank=2,factor=1.1")},
           {"more-data", inject("clocks:rank=3,factor=1.06")},
           {"more-work", inject("op:rank=5,factor=1.25")},
           {"slow-operator", inject("more:rank=6")},
           // the others wait for a slow rank, so their transfers seem long
           {"slow-link",
            {"--process-groups", "2", "--inject", "clocks:rank=6,factor=1.05"},
            "iid:0.005",
            "20"},
           {"slow-collective", {}, "heavy:0.02"},
           // steps that are long on all ranks
           {"rank-jitter", {}, "common:0.03"},
           {"slow-gpu", {}, "bimodal:0.02"}}) {
    int named = 0;
    const int runs = test::seeds(5);
    for (int seed = 1; seed <= runs; ++seed) {
      const std::string run = folder.path("run");
      Arguments more{"--vendor", "nvidia"};
      more.insert(more.end(), example.run.begin(), example.run.end());
      test::write_run(run, static_cast<std::uint64_t>(seed), example.noise, more, example.ranks);
      named += std::ranges::count(ask(run).causes, example.rule, &NamedCause::rule) > 0 ? 1 : 0;
    }
    std::string options;
    for (const std::string& option : example.run)
      options += option + " ";
    std::printf("%-18s %s%s: named in %d of %d runs\n", example.rule, options.c_str(),
                example.noise, named, runs);
    EXPECT_LE(named * 100, runs * 5) << example.rule << " " << options << example.noise;
  }
}

TEST(WhyMatrix, TwoCausesAreAmongTheFirstThree) {
  const test::TempFolder folder;
  int runs = 0, both = 0, add_up = 0;
  const std::vector<Injected>& all = injected();
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      // one cause, or one that hides all others of the host
      const std::string rules = std::string(all[a].rule) + " " + all[b].rule;
      if (rules.find("blocking-launch") != std::string::npos || all[a].most || all[b].most ||
          std::string(all[a].rule) == all[b].rule)
        continue;
      const int seed = static_cast<int>(100 + 20 * a + b);
      Arguments causes = bases({&all[a], &all[b]});
      const double without = ask(generate(folder, seed, causes)).step_ms;
      causes.insert(causes.end(), {all[a].cause, all[b].cause});
      const WhyAnswer answer = ask(generate(folder, seed, causes));
      ++runs;
      std::set<std::string> first;
      double gains = 0; // of both
      for (std::size_t k = 0; k < answer.causes.size(); ++k) {
        if (k < 3)
          first.insert(answer.causes[k].rule);
        if (answer.causes[k].rule == all[a].rule || answer.causes[k].rule == all[b].rule)
          gains += answer.causes[k].gain_ms;
      }
      const bool found = first.count(all[a].rule) != 0 && first.count(all[b].rule) != 0;
      both += found ? 1 : 0;
      const bool adds = std::abs(gains - (answer.step_ms - without)) <= 0.05 * answer.step_ms;
      add_up += adds ? 1 : 0;
      if (found && adds)
        continue;
      std::printf("%s and %s: %.2f ms, %.2f without:", all[a].cause, all[b].cause, answer.step_ms,
                  without);
      for (const NamedCause& cause : answer.causes)
        std::printf(" %s (%s) %.2f", cause.rule.c_str(), cause.ranks.c_str(), cause.gain_ms);
      std::printf("\n");
    }
  std::printf("two causes: %d runs, both among the first three in %d, gains add up in %d\n", runs,
              both, add_up);
  EXPECT_GE(both * 100, runs * 90);
  EXPECT_GE(add_up * 100, runs * 90);
}

/// Rewrites all traces of a run.
void replace_in_traces(const std::string& run, std::string_view from, std::string_view to) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
    if (!entry.is_regular_file() || entry.path().filename() == "ground_truth.json")
      continue;
    const std::string text = test::bytes_of(entry.path().string());
    std::string out;
    std::size_t done = 0;
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, done)) {
      out.append(text, done, at - done).append(to);
      done = at + from.size();
    }
    out.append(text, done);
    std::ofstream(entry.path(), std::ios::binary) << out;
  }
}

// Removed alone, neither gains time: the run then waits for the other.
TEST(WhyHidden, PausesOfAllRanksAndSlowCopiesOfOneAreNamedTogether) {
  const test::TempFolder folder;
  const int seed = 544;
  const double without = ask(generate(folder, seed, {"input:mb=64"})).step_ms;
  const WhyAnswer answer = ask(
      generate(folder, seed, {"input:mb=64", "copies:rank=2,factor=4", "pause:ms=40,period=3"}));
  ASSERT_GE(answer.causes.size(), 2U);
  EXPECT_EQ(answer.causes[0].rule, "slow-copies");
  EXPECT_EQ(answer.causes[1].rule, "garbage-collection");
  EXPECT_NEAR(answer.causes[0].gain_ms + answer.causes[1].gain_ms, answer.step_ms - without,
              0.05 * answer.step_ms);
}

// Without the wait for the GPU, the host would run ahead of its pauses. No pause alone is above the
// noise.
TEST(WhyHidden, AReadBackBeforePausesIsNotSure) {
  const test::TempFolder folder;
  const std::string run = generate(folder, 302, {"pause:ms=40,period=3"});
  replace_in_traces(run, "\"cat\": \"cpu_op\"", "\"cat\": \"none\"");
  const WhyAnswer answer = ask(run);
  ASSERT_NE(answer.first(), nullptr);
  EXPECT_EQ(answer.first()->rule, "read-back");
  EXPECT_EQ(answer.first()->confidence, "likely");
}

// Operators alone also match those of the backward pass itself.
TEST(WhyHidden, WithoutShapesNoForwardPassRunsAgain) {
  const test::TempFolder folder;
  const std::string run = generate(folder, 301, {"recompute"});
  EXPECT_EQ(std::ranges::count(ask(run).causes, "recomputation", &NamedCause::rule), 1);
  replace_in_traces(run, "\"Input Dims\"", "\"No Dims\"");
  EXPECT_EQ(std::ranges::count(ask(run).causes, "recomputation", &NamedCause::rule), 0);
}

/// Inputs that a trace may lack. The rule may turn to another confidence or to silence, but no
/// wrong rule is named with certainty.
struct MissingInput {
  const char* name;
  std::string_view from, to;
  bool one_rank = false;
};

TEST(WhyMatrix, MissingInputsNameNoWrongCause) {
  const test::TempFolder folder;
  for (const MissingInput& missing :
       {MissingInput{"no shapes", "\"Input Dims\"", "\"No Dims\""},
        MissingInput{"no operators", "\"cat\": \"cpu_op\"", "\"cat\": \"none\""},
        MissingInput{"no annotations", "\"cat\": \"user_annotation\", \"name\": \"enumerate",
                     "\"cat\": \"none\", \"name\": \"enumerate"},
        MissingInput{"no stacks", "\"cat\": \"python_function\"", "\"cat\": \"none\""},
        MissingInput{"no launches", "\"cat\": \"cuda_runtime\"", "\"cat\": \"none\""},
        MissingInput{"one rank", "", "", true}}) {
    const auto ask_without = [&](int seed, const Arguments& causes) {
      const std::string run = generate(folder, 300 + seed, causes);
      if (!missing.from.empty())
        replace_in_traces(run, missing.from, missing.to);
      return ask(missing.one_rank ? run + "/256thread/nccl_28channels/torch_profiler/rank1" : run);
    };
    int runs = 0, named = 0, silent = 0, of_base = 0, wrong = 0;
    for (const Injected& injection : injected())
      for (int seed = 1; seed <= std::min(20, test::seeds(3)); ++seed) {
        Arguments causes = bases({&injection});
        const WhyAnswer base = causes.empty() ? WhyAnswer{} : ask_without(seed, causes);
        causes.emplace_back(injection.cause);
        const WhyAnswer answer = ask_without(seed, causes);
        const NamedCause* const first = answer.first();
        ++runs;
        if (first == nullptr) {
          ++silent;
        } else if (first->rule == injection.rule) {
          ++named;
        } else if (base.first() != nullptr && base.first()->rule == first->rule) {
          ++of_base; // true without the injected cause too
        } else if (first->confidence == "sure") {
          ++wrong;
          std::printf("%s: %s taken for %s (%s) %.2f ms\n", missing.name, injection.cause,
                      first->rule.c_str(), first->ranks.c_str(), first->gain_ms);
        }
      }
    std::printf(
        "%s: %d runs, named %d, silent %d, cause of the base %d, wrong %d, others less than "
        "sure\n",
        missing.name, runs, named, silent, of_base, wrong);
    EXPECT_LE(wrong * 100, runs * 3) << missing.name;
  }
}

// Noise of every kind, but no rank, link or collective that is really slower. rank-jitter is true
// of noise that differs among the ranks.
TEST(WhyMatrix, NoiseIsNoCause) {
  const test::TempFolder folder;
  const std::set<std::string> allowed = {"rank-jitter", "read-back"}; // the loss is read back
  int runs = 0, named = 0;
  for (const char* noise : {"iid:0.02", "common:0.02", "ar1:0.02", "ar1c:0.02", "heavy:0.02",
                            "heavyc:0.02", "outlier:0.02", "bimodal:0.02", "hetero:0.02"})
    for (const char* steps : {"1", "2", "3", "8", "20"})
      for (const char* ranks : {"1", "8"})
        for (int seed = 1; seed <= std::min(20, test::seeds(3)); ++seed) {
          const std::string run = folder.path("run");
          test::write_run(run, static_cast<std::uint64_t>(1000 + seed), noise, {}, ranks, steps);
          ++runs;
          for (const NamedCause& cause : ask(run).causes)
            if (allowed.count(cause.rule) == 0) {
              ++named;
              std::printf("%s, %s ranks, %s steps, seed %d: %s (%s) %.2f ms\n", noise, ranks, steps,
                          seed, cause.rule.c_str(), cause.ranks.c_str(), cause.gain_ms);
              break;
            }
        }
  std::printf("noise without a cause: %d runs, a cause named in %d\n", runs, named);
  EXPECT_LE(named * 100, runs * 3);
}

TEST(WhyMatrix, WithoutACauseNothingIsNamed) {
  const test::TempFolder folder;
  for (int seed = 1; seed <= test::seeds(100); ++seed) {
    const WhyAnswer answer = ask(generate(folder, seed, {}));
    for (const NamedCause& cause : answer.causes)
      ADD_FAILURE() << seed << " " << cause.rule << " " << cause.ranks << " " << cause.gain_ms;
  }
}

} // namespace
} // namespace rankscope
