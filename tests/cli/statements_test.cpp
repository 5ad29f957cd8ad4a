// Regression tests for sentences that were false although their numbers were correct: one run for
// each sentence, with the program. docs/reference/false-statements.md lists them.
#include "collect/library_perf/perf_rows.h"
#include "run_binary.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "test_paths.h"
#include "trace_builder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <regex>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

/// A finding in the output of `--json`.
struct SaidFinding {
  std::string rule, subject, headline, evidence, action;
  std::optional<double> value, low, high, detectable;
  [[nodiscard]] std::string sentence() const { return headline + ". " + evidence + ". " + action; }
};

/// The output of a command with `--json`.
class Said {
public:
  explicit Said(const std::vector<std::string>& command) {
    std::vector<std::string> words{"--json"};
    words.insert(words.end(), command.begin(), command.end());
    words.emplace_back("-q");
    result_ = run_binary(words);
    simdjson::dom::element root;
    if (parser_.parse(result_.out).get(root) != simdjson::SUCCESS ||
        root["tables"].get(tables_) != simdjson::SUCCESS) {
      ADD_FAILURE() << command[0] << ": " << result_.err << result_.out.substr(0, 500);
      return;
    }
    for (const auto& row : rows("findings")) {
      const auto text = [&row](const char* id) {
        std::string_view out;
        return row.at(id).get(out) == simdjson::SUCCESS ? std::string(out) : std::string();
      };
      const auto number = [&row](const char* id) {
        double out = 0;
        return row.at(id).get(out) == simdjson::SUCCESS ? std::optional(out) : std::nullopt;
      };
      findings_.push_back({text("rule"), text("subject"), text("headline"), text("evidence"),
                           text("action"), number("value"), number("low"), number("high"),
                           number("detectable")});
    }
  }

  /// Adds a file that the command wrote to the output.
  void add(const fs::path& file) { result_.out += test::bytes_of(file); }
  [[nodiscard]] int code() const { return result_.code; }
  [[nodiscard]] const std::vector<SaidFinding>& findings() const { return findings_; }
  /// Returns the finding of this rule (and subject); an empty one if there is none.
  [[nodiscard]] SaidFinding finding(const std::string& rule,
                                    const std::string& subject = "*") const {
    for (const SaidFinding& f : findings_)
      if (f.rule == rule && (subject == "*" || f.subject == subject))
        return f;
    return {};
  }
  [[nodiscard]] bool has(const std::string& rule, const std::string& subject = "*") const {
    return !finding(rule, subject).rule.empty();
  }
  /// Whether the output contains these words, in findings or elsewhere.
  [[nodiscard]] bool says(const std::string& words) const {
    return result_.out.find(words) != std::string::npos;
  }
  /// Returns all findings, for messages.
  [[nodiscard]] std::string all() const {
    std::string out;
    for (const SaidFinding& f : findings_)
      out += f.rule + " [" + f.subject + "]: " + f.sentence() + "\n";
    return out;
  }
  /// Returns the rows of a table, by column id.
  [[nodiscard]] std::vector<std::map<std::string, simdjson::dom::element>>
  rows(const char* table) const {
    std::vector<std::map<std::string, simdjson::dom::element>> out;
    simdjson::dom::element found;
    if (tables_[table].get(found) != simdjson::SUCCESS)
      return out;
    for (const simdjson::dom::array row : found["rows"].get_array()) {
      auto& cells = out.emplace_back();
      std::size_t at = 0;
      for (const std::string_view id : found["ids"].get_array())
        cells[std::string(id)] = row.at(at++).value();
    }
    return out;
  }
  [[nodiscard]] const std::string& text() const { return result_.out; }

private:
  simdjson::dom::parser parser_;
  simdjson::dom::element tables_;
  RunResult result_;
  std::vector<SaidFinding> findings_;
};

/// A handmade run: each step is an annotation with kernels in it.
class HandRun {
public:
  static constexpr double kStepUs = 20000;

  explicit HandRun(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}
  test::TraceBuilder& rank(int r) { return ranks_.at(static_cast<std::size_t>(r)); }
  /// Adds n steps with annotations on all ranks; returns their start times.
  std::vector<double> steps(int n) {
    std::vector<double> out;
    for (int s = 0; s < n; ++s) {
      out.push_back(s * kStepUs);
      for (test::TraceBuilder& rank : ranks_)
        rank.annotation(fmt::format("ProfilerStep#{}", s + 1), out.back(), kStepUs - 10);
    }
    return out;
  }
  std::string write(const test::TempFolder& folder, const std::string& name) const {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      folder.write(fmt::format("{}/rank{}/trace.json", name, r), ranks_[r].text());
    return folder.path(name);
  }

private:
  std::vector<test::TraceBuilder> ranks_;
};

/// Writes a run with a compute kernel per rank and step; `us` returns its duration for a rank and a
/// step.
std::string compute_run(const test::TempFolder& folder, const std::string& name, int ranks,
                        int steps, const std::function<double(int, int)>& us) {
  HandRun run(ranks);
  const std::vector<double> begins = run.steps(steps);
  for (int s = 0; s < steps; ++s)
    for (int r = 0; r < ranks; ++r)
      run.rank(r).kernel("work", begins[static_cast<std::size_t>(s)] + 10,
                         begins[static_cast<std::size_t>(s)] + 20, us(r, s));
  return run.write(folder, name);
}

/// Returns a value from 0 to 1, always the same for the same arguments.
double scatter(int a, int b) {
  return std::fmod(std::fabs(std::sin(12.9898 * (a + 1) + 78.233 * (b + 1)) * 43758.5453), 1.0);
}

class Statements : public ::testing::Test {
protected:
  /// Returns options for equal ranks and configurations without contention; tests add the
  /// differences.
  static synth::Options plain(std::uint64_t seed = 1) {
    synth::Options o;
    o.threads = {256};
    o.channels = {56};
    o.ranks = 4;
    o.layers = 2;
    o.steps = 8;
    o.seed = seed;
    o.straggler = -1;
    o.contention = 0;
    o.equal_configs = true;
    o.equal_devices = true;
    return o;
  }
  std::string made(const synth::Options& o, const std::string& name) const {
    EXPECT_TRUE(synth::generate(o, folder_.path(name), 2, nullptr));
    return folder_.path(name);
  }
  static std::string configuration(const std::string& sweep, int threads = 256) {
    return fmt::format("{}/{}thread/nccl_56channels", sweep, threads);
  }
  Said analyzed(const std::string& sweep) const {
    const std::string out = folder_.path("analyzed");
    Said said({"analyze", sweep, "-o", out, "--no-merge", "--no-plots", "--force"});
    for (const auto& entry : fs::recursive_directory_iterator(out))
      if (entry.path().filename() == "summary.md")
        said.add(entry.path());
    return said;
  }
  Said compared(const std::string& base, const std::string& test) const {
    return Said({"compare", "--baseline", base, "--test", test, "--labels", "A,B", "-o",
                 folder_.path("compared"), "--no-plots"});
  }

  test::TempFolder folder_;
};

/// Writes a run in which rank 2 has 200 us more work per step: during an all-reduce, or before it,
/// so that the other ranks wait.
std::string more_work_run(const test::TempFolder& folder, bool before) {
  HandRun run(4);
  int step = 0;
  for (const double begin : run.steps(10)) {
    for (int r = 0; r < 4; ++r) {
      const double late = r == 2 && before ? 200 : 0;
      run.rank(r).kernel("work", begin + 10, begin + 100, 9000 + late + scatter(r, step));
      run.rank(r).kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + 20, begin + 9200 + late,
                         3000 - late + scatter(step, r), 9);
      if (r == 2 && !before)
        run.rank(r).kernel("more", begin + 30, begin + 10000, 200);
    }
    ++step;
  }
  return run.write(folder, before ? "before" : "beside");
}

// ST-C1: "they wait for it" was derived from exposed time. All collectives start and end together;
// a kernel of rank 2 that overlaps a collective reduces the exposed time of rank 2. No rank waits.
TEST_F(Statements, C01AKernelThatOverlapsACollectiveMakesNoRankWait) {
  for (const bool before : {false, true}) {
    const std::string path = more_work_run(folder_, before);
    for (const Said& said : {Said({"top", path}), analyzed(path)}) {
      EXPECT_TRUE(said.has("slow-rank", "2")) << said.all();
      EXPECT_EQ(said.says("collectives of its peers last"), before) << said.all();
      EXPECT_FALSE(said.says("wait for it")) << said.all();
    }
  }
}

// ST-C2: rank 1 has the longest mean by chance; its noise hid that rank 2 computes longer in every
// step.
TEST_F(Statements, C02ANoisyRankHidesNoSlowOne) {
  const std::string run = compute_run(folder_, "noisy", 4, 12, [](int rank, int step) {
    const double noise = rank == 1 ? 0.08 * (scatter(23, step) - 0.5) : 0; // mean: 1.1 %
    return 10000 * (1 + noise + (rank == 2 ? 0.008 : 0)) + scatter(rank, step);
  });
  for (const Said& said : {Said({"top", run}), analyzed(run)}) {
    EXPECT_TRUE(said.has("slow-rank", "2")) << said.all();
    EXPECT_FALSE(said.has("slow-rank", "1")) << said.all();
    EXPECT_FALSE(said.says("no rank computes longer")) << said.all();
  }
}

// ST-C3: rank 2 is slower by 0.2 %, which is more than the noise. The sentence must name the
// threshold, not the noise.
TEST_F(Statements, C03AThresholdIsNoNoise) {
  const std::string run = compute_run(folder_, "small", 4, 12, [](int rank, int step) {
    return 10000 * (rank == 2 ? 1.002 : 1) + scatter(rank, step);
  });
  for (const Said& said : {Said({"top", run}), analyzed(run)}) {
    EXPECT_TRUE(said.has("no-slow-rank")) << said.all();
    EXPECT_TRUE(said.says("an excess below 0.25 % is not reported")) << said.all();
    EXPECT_FALSE(said.says("noise")) << said.all();
  }
}

// ST-C4: "start collectives earlier" was advised although the collectives wait for a slow rank.
TEST_F(Statements, C04CollectivesThatWaitAreNotToBeStartedEarlier) {
  synth::Options o = plain();
  o.throttled = 2;
  o.throttle_factor = 1.15;
  const std::string sweep = made(o, "throttled");
  for (const Said& said : {analyzed(sweep), Said({"top", configuration(sweep)})}) {
    const SaidFinding exposed = said.finding("exposed-communication");
    EXPECT_NE(exposed.action.find("Find why ranks are late before changing collectives"),
              std::string::npos)
        << said.all();
    EXPECT_FALSE(said.says("tart collectives earlier")) << said.all();
  }
  // if the collectives mostly transfer, the advice is correct
  const Said transfer = analyzed(made(plain(), "even"));
  EXPECT_TRUE(transfer.says("Start collectives earlier")) << transfer.all();
}

// ST-C5: "look for launch-bound steps" was advised although the host is a step ahead and the GPU
// waits.
TEST_F(Statements, C05AGpuThatWaitsForAnEventIsNotLaunchBound) {
  HandRun run(1);
  double call = 0;
  for (const double begin : run.steps(4)) { // everything is launched in the first milliseconds
    run.rank(0).kernel("a", call += 10, begin + 100, 5000);
    run.rank(0).kernel("b", call += 10, begin + 9000, 5000);
  }
  const std::string path = run.write(folder_, "queued");
  for (const Said& said : {Said({"top", path}), analyzed(path)}) {
    const SaidFinding idle = said.finding("idle-gpu");
    EXPECT_NE(idle.evidence.find("queued"), std::string::npos) << said.all();
    EXPECT_EQ(idle.action, "Find what the launched work waits for (events, other streams)")
        << said.all();
    EXPECT_FALSE(said.says("launch-bound")) << said.all();
  }
}

// ST-C8: another tile size of the same library is another kernel; it was reported as renamed.
TEST_F(Statements, C08AnotherTileIsAnotherKernel) {
  synth::Options o = plain();
  o.threads = {256, 512};
  o.layers = 1;
  o.inject.tile = true;
  const std::string sweep = made(o, "tile");
  const Said said = compared(configuration(sweep), configuration(sweep, 512));
  EXPECT_TRUE(said.says("in place of")) << said.all();
  EXPECT_FALSE(said.says("renamed")) << said.all();
}

// ST-C9: all kernels take 0.6 % longer, much more than the noise, but less than the threshold of 1
// %.
TEST_F(Statements, C09BelowTheThresholdIsNotNoise) {
  const auto run = [this](const char* name, double factor) {
    return compute_run(folder_, name, 2, 10, [factor](int rank, int step) {
      return 10000 * factor + scatter(rank, step);
    });
  };
  const Said said = compared(run("base", 1), run("test", 1.006));
  EXPECT_TRUE(said.has("small-changes")) << said.all();
  EXPECT_NE(said.finding("small-changes").headline.find("threshold"), std::string::npos)
      << said.all();
  EXPECT_FALSE(said.says("beyond the noise")) << said.all();
  EXPECT_FALSE(said.says("cannot be told from noise")) << said.all();
  EXPECT_EQ(said.finding("similar-metrics").headline.find("total"), std::string::npos)
      << said.all();
}

// ST-C10: a rank with one more GEMM per step has more work; the finding suspected its clocks.
TEST_F(Statements, C10MoreWorkIsNoSlowClock) {
  synth::Options o = plain();
  o.inject.more_rank = 3;
  const std::string sweep = made(o, "more");
  for (const Said& said : {analyzed(sweep), Said({"top", configuration(sweep)})}) {
    EXPECT_NE(said.finding("slow-rank", "3").action.find("1 GEMM kernel more per step"),
              std::string::npos)
        << said.all();
    EXPECT_FALSE(said.says("clocks, power")) << said.all();
  }
}

// ST-C11: two equal steps, or two equal runs, gave an interval of width 0.
TEST_F(Statements, C11TwoEqualSamplesAreNoCertainty) {
  const auto run = [this](const char* name, double us) {
    return compute_run(folder_, name, 2, 2, [us](int, int) { return us; });
  };
  const Said said = compared(run("base", 10000), run("test", 12000));
  int intervals = 0;
  for (const auto& row : said.rows("Summary_Dashboard")) {
    double low = 0, high = 0; // percent of 10 ms
    if (row.at("test1_low_percent").get(low) == simdjson::SUCCESS &&
        row.at("test1_high_percent").get(high) == simdjson::SUCCESS) {
      EXPECT_GT(high - low, 0.01) << said.text(); // the clock has a resolution of 1 us
      ++intervals;
    }
  }
  EXPECT_GE(intervals, 3) << said.text();
  const RunResult sweep =
      run_binary({"sweep", "-o", folder_.path("sweep"), "--no-nccl-log", "-c", "28,56", "-t", "256",
                  "--repeats", "2", "--metric", "time ([0-9.]+)", "--", "sh", "-c",
                  "echo time $NCCL_MAX_NCHANNELS.25"});
  EXPECT_EQ(sweep.code, 0) << sweep.err;
  EXPECT_EQ(sweep.out.find("is best"), std::string::npos) << sweep.out;
  EXPECT_NE(sweep.out.find("The settings are not compared: their two runs are exactly equal"),
            std::string::npos)
      << sweep.out;
}

/// Writes 40 GEMM calls of one shape. Half of them run under a collective and take `under` us, the
/// others take 100 us. Each place in the step has both kinds, or only one with `by_place`.
std::string overlapped_gemms(const test::TempFolder& folder, double under, bool by_place) {
  HandRun run(1);
  int call = 0;
  for (const double begin : run.steps(5))
    for (int i = 0; i < 8; ++i, ++call) {
      const double at = begin + 10 + 1000 * i;
      const bool is_under = by_place ? i >= 4 : (call / 8 + i) % 2 == 0;
      run.rank(0).op(
          "aten::mm", at, 20,
          R"({"Input Dims":[[64,64],[64,64]],"Input type":["c10::BFloat16","c10::BFloat16"]})");
      run.rank(0).kernel("Cijk_Ailk_Bljk_BBS_BH_MT64x64x32", at + 1, at + 200,
                         (is_under ? under : 100) + scatter(call, 0));
      if (is_under)
        run.rank(0).kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage)",
                           at + 30, at + 190, 200, 9);
    }
  return run.write(folder, fmt::format("gemms{}", under));
}

// ST-C7: GEMMs of the first layer, which no collective overlaps, are shorter. There is no
// contention: the finding may mention the correlation with overlap, but not a cause.
TEST_F(Statements, C07ThePlaceInTheStepIsNoContention) {
  const Said said = analyzed(overlapped_gemms(folder_, 112, true));
  EXPECT_EQ(said.finding("gemm-contention").action.rfind("If the overlap is the reason, ", 0), 0U)
      << said.all();
  EXPECT_EQ(said.finding("gemm-spread").action, "") << said.all();
  for (const char* words : {"explain", "ould give that back", "slower when fully overlapped"})
    EXPECT_FALSE(said.says(words)) << words << ": " << said.text();
}

// ST-C16: "it cannot be told whether collectives matter: -11.8 +- 0.7 us slower".
TEST_F(Statements, C16AFasterCallIsNamedFaster) {
  const Said said = analyzed(overlapped_gemms(folder_, 88, false));
  const SaidFinding spread = said.finding("gemm-spread");
  EXPECT_NE(spread.evidence.find("\u00b5s faster when fully overlapped"), std::string::npos)
      << said.all();
  EXPECT_EQ(spread.evidence.find("slower"), std::string::npos) << said.all();
  EXPECT_EQ(spread.action, "") << said.all();
  EXPECT_FALSE(said.says("cannot be told whether collectives matter")) << said.all();
  EXPECT_FALSE(said.has("gemm-contention")) << said.all();
}

// ST-C17: kernels named SendRecv below c10d::alltoall_base_ are an all-to-all, not a send.
TEST_F(Statements, C17TheParentOperatorNamesTheCollective) {
  HandRun run(1);
  for (const double begin : run.steps(3)) {
    run.rank(0).op("c10d::alltoall_base_", begin + 10, 50);
    run.rank(0).kernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", begin + 20,
                       begin + 100, 4000);
    run.rank(0).kernel("work", begin + 30, begin + 5000, 3000);
  }
  const Said said({"top", run.write(folder_, "all_to_all")});
  const auto collectives = said.rows("top_communication");
  ASSERT_EQ(collectives.size(), 1U) << said.text();
  const std::string_view name = collectives[0].at("collective");
  EXPECT_EQ(name.find("send"), std::string_view::npos) << name;
  EXPECT_NE(name.find("all"), std::string_view::npos) << name;
  EXPECT_FALSE(said.says("send")) << said.all();
}

/// Returns the microseconds in the line of the console about a rank: "Rank 1 starts ... 1041 us
/// later".
std::optional<double> said_us(const std::string& console, int rank) {
  static const std::regex number("([0-9.]+) \u00b5s");
  const std::regex line(fmt::format("- [Rr]ank {} [^\n]*", rank));
  std::smatch said, value;
  if (!std::regex_search(console, said, line))
    return std::nullopt;
  const std::string words = said.str();
  return std::regex_search(words, value, number) ? std::optional(std::stod(value[1]))
                                                 : std::nullopt;
}

// ST-C18: the lateness in a finding is in the sheet that the finding names.
TEST_F(Statements, C18TheFindingHasTheValueOfTheSheet) {
  synth::Options o = plain();
  o.straggler = 1;
  o.straggler_us = 3000;
  const std::string run = configuration(made(o, "late"));
  const RunResult console = run_binary({"collectives", run, "-o", folder_.path("c.xlsx")});
  const std::optional<double> said = said_us(console.out, 1);
  ASSERT_TRUE(said) << console.out;
  const Said sheets({"collectives", run, "-o", folder_.path("c.json")});
  bool found = false;
  for (const auto& row : sheets.rows("straggler_summary"))
    if (std::int64_t(row.at("rank").get_int64()) == 1)
      for (const auto& [id, cell] : row) {
        double value = 0; // the console prints four digits
        found = found || (cell.get(value) == simdjson::SUCCESS && std::fabs(value - *said) <= 0.5);
      }
  EXPECT_TRUE(found) << console.out;
}

// ST-C19: the table of configurations named a "slowest rank" although a finding says "no rank
// computes longer".
TEST_F(Statements, C19NoRankIsNamedSlowestWithoutATest) {
  synth::Options o = plain();
  o.threads = {256, 512};
  const std::string sweep = made(o, "equal");
  const Said said = analyzed(sweep);
  EXPECT_TRUE(said.has("no-slow-rank")) << said.all();
  EXPECT_FALSE(said.says("slowest rank"));
  const RunResult console =
      run_binary({"analyze", sweep, "-o", folder_.path("console"), "--no-merge", "--no-plots"});
  EXPECT_EQ(console.out.find("slowest rank"), std::string::npos) << console.out;
}

// ST-C21: 926 TFLOP/s on an MI300X are more than the GPU allows. "131 %" was not marked, and
// another operator was reported as the largest loss.
TEST_F(Statements, C21MoreThanTheRooflineIsMarked) {
  HandRun run(1);
  for (const double begin : run.steps(3)) {
    run.rank(0).op(
        "aten::mm", begin + 10, 50,
        R"({"Input Dims":[[4096,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"]})");
    run.rank(0).kernel("Cijk_Ailk_Bljk_BBS_BH_MT256x256x64", begin + 20, begin + 100, 148.4);
  }
  const std::string path = run.write(folder_, "fast");
  const RunResult top = run_binary({"top", path, "-q", "--gpu-arch", "MI300X", "--width", "120"});
  EXPECT_EQ(top.code, 0) << top.err;
  EXPECT_NE(top.out.find(" % !"), std::string::npos) << top.out;
  EXPECT_NE(top.out.find("above 100 % of the roofline: the peaks of the GPU or the modelled work "
                         "do not fit this operator"),
            std::string::npos)
      << top.out;
  const Said said({"top", path, "--gpu-arch", "MI300X"});
  const auto operators = said.rows("top_operators");
  ASSERT_EQ(operators.size(), 1U);
  EXPECT_GT(double(operators[0].at("percent_of_roofline").get_double()), 105);
  EXPECT_FALSE(said.has("low-roofline")) << said.all();
}

// The rate and the share of the roofline of an operator are of all its calls: with one fast and one
// slow call of 2 x 4096^3 FLOP, a mean of the two rates was twice the work by the time.
TEST_F(Statements, C21RateIsWorkByTime) {
  HandRun run(1);
  for (const double begin : run.steps(2)) {
    run.rank(0).op(
        "aten::mm", begin + 10, 50,
        R"({"Input Dims":[[4096,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"]})");
    run.rank(0).kernel("Cijk_Ailk_Bljk_BBS_BH_MT256x256x64", begin + 20, begin + 100,
                       begin > 1000 ? 300 : 3000);
  }
  const Said said({"top", run.write(folder_, "uneven"), "--gpu-arch", "MI300X"});
  const auto operators = said.rows("top_operators");
  ASSERT_EQ(operators.size(), 1U);
  const double tflops = double(operators[0].at("tflops_per_s").get_double());
  const double ms = double(operators[0].at("time_ms").get_double());
  EXPECT_NEAR(ms, 3.3, 1e-9);
  EXPECT_NEAR(tflops * ms, 2 * 2 * std::pow(4096, 3) / 1e9, 1e-6);
  EXPECT_NEAR(double(operators[0].at("percent_of_roofline").get_double()), 100 * tflops / 708, 0.1);
}

// ST-C22: twice the rows are different work; "Worse in all times" had no note about it. Times of
// different work are not judged, and a pipeline must not pass because of this.
TEST_F(Statements, C22OtherWorkIsNotJudged) {
  synth::Options o = plain();
  o.threads = {256, 512};
  o.inject.batch = true;
  const std::string sweep = made(o, "batch");
  const Said said = compared(configuration(sweep), configuration(sweep, 512));
  EXPECT_TRUE(said.has("different-work")) << said.all();
  EXPECT_TRUE(said.says("different work")) << "no remark: " << said.text().substr(0, 500);
  ASSERT_FALSE(said.findings().empty());
  EXPECT_EQ(said.findings().front().rule, "different-work") << said.all();
  for (const char* words : {"\"Worse\"", "\"Better\"", " worse than ", " better than "})
    EXPECT_FALSE(said.says(words)) << words << "\n" << said.all();
  EXPECT_EQ(said.code(), 0);
  const std::string saved = folder_.path("saved.rsb");
  ASSERT_EQ(run_binary({"baseline", "save", configuration(sweep), "-o", saved}).code, 0);
  const RunResult check = run_binary({"baseline", "check", configuration(sweep, 512), "--baseline",
                                      saved, "--fail-on", "GPU_total_time>5%", "-q"});
  EXPECT_EQ(check.code, 4) << check.err;
  EXPECT_NE(check.err.find("nothing could be judged, because the runs do different work"),
            std::string::npos)
      << check.err;
  const RunResult judged = run_binary({"baseline", "check", configuration(sweep, 512), "--baseline",
                                       saved, "--fail-on", "GPU_total_time>5%", "--any-work"});
  EXPECT_EQ(judged.code, 5) << judged.err;
  EXPECT_NE(judged.out.find("compare times of different work"), std::string::npos) << judged.out;
}

/// Writes three ranks with 40 all-reduces that end together, except for a variation of `scatter_us`
/// on ranks 1 and 2; the clock of rank 2 is ahead by 500 us.
std::string scattered_run(const test::TempFolder& folder, int scatter_us) {
  for (int r = 0; r < 3; ++r) {
    std::string events;
    for (int i = 0; i < 40; ++i) {
      const int scatter = r == 0 ? 0 : (i * (r + 2) * 7 % 5 - 2) * scatter_us;
      events += fmt::format(
          R"({}{{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_f32_RING_LL",)"
          R"("pid":0,"tid":7,"ts":{},"dur":5000,"args":{{"device":0,"stream":7,"correlation":{},)"
          R"("Collective name":"allreduce","In msg nelems":1048576,"Out msg nelems":1048576,)"
          R"("Group size":3,"dtype":"Float","Process Group Name":"0",)"
          R"("Process Group Ranks":"[0, 1, 2]","Seq":{}}}}})",
          i > 0 ? "," : "", 10000 * (i + 1) + scatter + (r == 2 ? 500 : 0), i + 1, i + 1);
    }
    folder.write(
        fmt::format("scatter{}/rank{}/trace.json", scatter_us, r),
        fmt::format(R"({{"schemaVersion":1,"distributedInfo":{{"rank":{},"world_size":3}},)"
                    R"("baseTimeNanoseconds":1767189312000000000,"traceEvents":[{}]}})",
                    r, events));
  }
  return folder.path(fmt::format("scatter{}", scatter_us));
}

// ST-C23: if ranks do not wait for each other, one rank was aligned by 500 us and the other ranks
// were not, so the report mixed two clocks.
TEST_F(Statements, C23RanksThatScatterStayOnOneClock) {
  const auto aligned = [](const Said& said) {
    std::vector<bool> out;
    for (const auto& row : said.rows("clocks"))
      out.push_back(bool(row.at("aligned").get_bool()));
    return out;
  };
  const Said scattered(
      {"collectives", scattered_run(folder_, 100), "-o", folder_.path("scattered.json")});
  EXPECT_EQ(scattered.code(), 4);
  EXPECT_EQ(aligned(scattered), (std::vector<bool>{true, false, false})) << scattered.all();
  EXPECT_TRUE(scattered.has("unaligned-clock", "2")) << scattered.all();
  EXPECT_FALSE(scattered.says("is waiting for the last member to start")) << scattered.all();
  const Said together(
      {"collectives", scattered_run(folder_, 1), "-o", folder_.path("together.json")});
  EXPECT_EQ(together.code(), 0);
  EXPECT_EQ(aligned(together), (std::vector<bool>{true, true, true})) << together.all();
  EXPECT_TRUE(together.says("is waiting for the last member to start")) << together.all();
}

// Equal steps of 20 ms, of which the GPU works 8 ms: the idle time between steps is known only if
// their numbers are consecutive, so total and idle time of these runs cannot be compared.
TEST_F(Statements, IdleTimeBetweenStepsNeedsConsecutiveNumbers) {
  const auto run_of = [this](const std::string& name,
                             const std::vector<std::vector<int>>& numbers) {
    HandRun run(static_cast<int>(numbers.size()));
    for (std::size_t r = 0; r < numbers.size(); ++r)
      for (std::size_t s = 0; s < numbers[r].size(); ++s) {
        const double at = static_cast<double>(s) * HandRun::kStepUs;
        const double us = 8000 + 10 * scatter(static_cast<int>(r), static_cast<int>(s));
        run.rank(static_cast<int>(r))
            .annotation(fmt::format("ProfilerStep#{}", numbers[r][s]), at, HandRun::kStepUs - 10)
            .kernel("work", at + 10, at + 20, us);
      }
    return run.write(folder_, name);
  };
  const std::vector<int> six = {0, 1, 2, 3, 4, 5};
  const std::vector<int> three = {0, 1, 2};
  const std::string whole = run_of("whole", {six, six});
  for (const std::string& other :
       {run_of("gaps", {{0, 2, 4, 6, 8, 10}, {0, 2, 4, 6, 8, 10}}),
        run_of("short", {three, {0, 1}}), run_of("long", {{0, 1}, three})})
    for (const auto& [base, test] : {std::pair(whole, other), std::pair(other, whole)}) {
      const Said said = compared(base, test);
      EXPECT_TRUE(said.code() == 0 || said.code() == 4) << said.all();
      EXPECT_FALSE(said.says("% worse") || said.says("% better")) << said.all();
      EXPECT_FALSE(said.has("step-time")) << said.all();
    }
  // a sweep of such runs has no fastest configuration
  const std::string sweep = folder_.path("sweep");
  run_of("sweep/256thread/nccl_56channels", {six, six});
  run_of("sweep/512thread/nccl_56channels", {{0, 2, 4, 6, 8, 10}, {0, 2, 4, 6, 8, 10}});
  const Said ranked = analyzed(sweep);
  EXPECT_FALSE(ranked.has("fastest") || ranked.has("slower-configuration")) << ranked.all();
  // the same numbers again are further steps
  const Said restarted =
      compared(whole, run_of("restarted", {{0, 1, 2, 0, 1, 2}, {0, 1, 2, 0, 1, 2}}));
  EXPECT_EQ(restarted.code(), 0) << restarted.all();
  EXPECT_FALSE(restarted.says("% worse") || restarted.says("% better")) << restarted.all();
}

// Equal steps: only the traces have different lengths.
TEST_F(Statements, TracesOfDifferentLengthsAreNotRanked) {
  const auto us = [](int rank, int step) { return 8000 + 10 * scatter(rank, step); };
  compute_run(folder_, "sweep/256thread/nccl_56channels", 2, 2, us);
  compute_run(folder_, "sweep/512thread/nccl_56channels", 2, 6, us);
  const Said said = analyzed(folder_.path("sweep"));
  EXPECT_TRUE(said.has("not-ranked")) << said.all();
  EXPECT_FALSE(said.says("lowest mean time")) << said.all();
  EXPECT_TRUE(said.says("2 to 6 steps")) << said.all();
}

// A configuration that varies much hides no difference between two others.
TEST_F(Statements, PairsOfConfigurationsThatDifferAreNotEqual) {
  const std::vector<std::pair<double, double>> times = {{7500, 4000}, {9500, 20}, {10000, 20}};
  for (std::size_t c = 0; c < times.size(); ++c) {
    HandRun run(2);
    double at = 0;
    for (int s = 0; s < 16; ++s) {
      const double us =
          std::round(times[c].first + times[c].second * scatter(static_cast<int>(c), s));
      for (int r = 0; r < 2; ++r)
        run.rank(r)
            .annotation(fmt::format("ProfilerStep#{}", s), at, us)
            .kernel("work", at + 10, at + 20, us - 50);
      at += us + 10;
    }
    run.write(folder_, fmt::format("sweep/{}thread/nccl_56channels", 128 << c));
  }
  const Said said = analyzed(folder_.path("sweep"));
  EXPECT_FALSE(said.says("No significant difference in step time")) << said.all();
  EXPECT_FALSE(said.says("no significant difference")) << said.all();
  EXPECT_NE(said.finding("fastest").evidence.find("; 512 threads take 0.5"), std::string::npos)
      << said.all();
}

// The host launches all steps before the GPU begins: each collective belongs to the step that
// launched it.
TEST_F(Statements, CollectivesBelongToTheStepThatLaunchedThem) {
  HandRun run(2);
  const std::vector<double> begins = run.steps(4);
  for (std::size_t s = 0; s < begins.size(); ++s)
    for (int r = 0; r < 2; ++r)
      run.rank(r).kernel(
          "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          begins[s] + 10, begins.back() + HandRun::kStepUs + 100 * static_cast<double>(s), 50 + r);
  const std::string out = folder_.path("csv");
  const RunResult made = run_binary(
      {"collectives", run.write(folder_, "run"), "--csv-dir", out, "-o", folder_.path("c.xlsx")});
  ASSERT_EQ(made.code, 0) << made.err;
  std::map<std::string, int> kernels; // by step
  const auto rows = read_csv(out + "/nccl_long.csv", {"step"});
  ASSERT_TRUE(rows) << rows.error().message();
  for (const CsvRow& row : *rows)
    ++kernels[row.at("step")];
  EXPECT_EQ(kernels, (std::map<std::string, int>{{"1", 2}, {"2", 2}, {"3", 2}, {"4", 2}}));
}

// One GPU is busy all the time and the other for a tenth of it: "idle 0.0 %" is true only of both.
TEST_F(Statements, SeveralGpusOfATraceAreNamed) {
  std::string trace = test::TraceBuilder().kernel("a", 0, 10, 1000).kernel("b", 5, 10, 100).text();
  const std::string device = R"({"id":0,"name":"NVIDIA H100"})";
  trace.insert(1, R"("deviceProperties":[)" + device + "," + device + "],");
  const RunResult one = run_binary({"top", folder_.write("one.json", trace), "--width", "400"});
  EXPECT_NE(one.out.find("1 rank on NVIDIA H100"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("GPUs"), std::string::npos) << one.out;
  trace.replace(trace.find(R"("device":0,"correlation":2)"), 10, R"("device":1)");
  const RunResult two = run_binary({"top", folder_.write("two.json", trace), "--width", "400"});
  EXPECT_NE(two.out.find("1 rank on 2 x NVIDIA H100"), std::string::npos) << two.out;
  EXPECT_NE(two.out.find("the process runs kernels on 2 GPUs, which are one timeline"),
            std::string::npos)
      << two.out;
}

} // namespace
} // namespace rankscope
