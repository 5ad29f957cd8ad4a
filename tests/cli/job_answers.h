// Answers of `why` and `whatif`, and generated runs to ask them about.
#pragma once

#include "run_binary.h"
#include "said_table.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <gtest/gtest.h>
#include <initializer_list>
#include <simdjson.h>
#include <string>
#include <utility>
#include <vector>

namespace rankscope::test {

/// The JSON of a command that succeeds. `code`: 4 for a run with warnings.
class JobAnswer {
public:
  JobAnswer(const char* command, std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), {"--json", command});
    arguments.emplace_back("--no-cache");
    RunResult run = run_binary(arguments);
    EXPECT_EQ(run.code, code) << run.err;
    out_ = std::move(run.out);
    EXPECT_FALSE(parser_.parse(out_).get(root_)) << out_.substr(0, 400);
  }
  [[nodiscard]] const std::string& out() const { return out_; }
  [[nodiscard]] SaidTable table(const char* name) const {
    return SaidTable(root_["tables"][name].value());
  }
  [[nodiscard]] std::size_t rows(const char* name) const { return table(name).rows(); }
  [[nodiscard]] simdjson::dom::element cell(const char* name, std::size_t row,
                                            const char* id) const {
    return table(name).cell(row, id).value();
  }
  [[nodiscard]] double number(const char* name, std::size_t row, const char* id) const {
    return cell(name, row, id);
  }
  [[nodiscard]] std::string text(const char* name, std::size_t row, const char* id) const {
    return table(name).text(row, id);
  }

private:
  std::string out_;
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

/// The gain of a cause with its interval.
struct NamedGain {
  double ms = 0, low_ms = 0, high_ms = 0;
};
inline NamedGain named_gain(const JobAnswer& answer, std::size_t cause) {
  return {answer.number("causes", cause, "gain_ms"), answer.number("causes", cause, "gain_low_ms"),
          answer.number("causes", cause, "gain_high_ms")};
}

/// Returns whether a gain is right: within 20 % of the true gain, or within 0.5 % of the step.
inline bool gain_is_right(double gain_ms, double true_ms, double step_ms) {
  return std::abs(gain_ms - true_ms) <= std::max(0.2 * true_ms, 0.005 * step_ms);
}

/// Replaces the folder by a run with four layers, without a straggler. `more`: further options; if
/// --contention is not one of them, collectives do not slow GEMMs.
inline void write_run(const std::string& folder, std::uint64_t seed, const std::string& noise,
                      const std::vector<std::string>& more, const std::string& ranks = "8",
                      const std::string& steps = "8") {
  std::filesystem::remove_all(folder);
  std::vector<std::string> synth{"synth"};
  const auto add = [&synth](std::initializer_list<std::string> words) {
    synth.insert(synth.end(), words);
  };
  add({folder, "--threads", "256", "--channels", "28", "--ranks", ranks, "--steps", steps});
  add({"--layers", "4", "--straggler", "none", "--step-noise", noise});
  if (std::ranges::find(more, "--contention") == more.end())
    add({"--contention", "0"});
  add({"--seed", std::to_string(seed), "-q"});
  synth.insert(synth.end(), more.begin(), more.end());
  const RunResult made = run_binary(synth);
  EXPECT_EQ(made.code, 0) << made.err;
}

} // namespace rankscope::test
