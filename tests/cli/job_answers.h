// Answers of `why` and `whatif`, and generated runs to ask them about.
#pragma once

#include "run_binary.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <initializer_list>
#include <simdjson.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::test {

/// The JSON of a command that succeeds.
class JobAnswer {
public:
  JobAnswer(const char* command, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--json", command});
    arguments.emplace_back("--no-cache");
    RunResult run = run_binary(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    out_ = std::move(run.out);
    EXPECT_FALSE(parser_.parse(out_).get(root_)) << out_.substr(0, 400);
  }
  [[nodiscard]] const std::string& out() const { return out_; }
  [[nodiscard]] std::size_t rows(const char* table) const {
    return simdjson::dom::array(root_["tables"][table]["rows"]).size();
  }
  [[nodiscard]] simdjson::dom::element cell(const char* table, std::size_t row,
                                            std::string_view column) const {
    std::size_t place = 0;
    for (const std::string_view name : simdjson::dom::array(root_["tables"][table]["columns"])) {
      if (name == column)
        break;
      ++place;
    }
    return simdjson::dom::array(root_["tables"][table]["rows"]).at(row).at(place).value();
  }
  [[nodiscard]] double number(const char* table, std::size_t row, std::string_view column) const {
    return cell(table, row, column);
  }
  [[nodiscard]] std::string text(const char* table, std::size_t row,
                                 std::string_view column) const {
    return std::string(std::string_view(cell(table, row, column)));
  }

private:
  std::string out_;
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

/// Writes a run of eight steps and four layers, without contention and straggler. `more`: further
/// options.
inline void write_run(const std::string& folder, std::uint64_t seed, const std::string& noise,
                      const std::vector<std::string>& more, const std::string& ranks = "8") {
  std::vector<std::string> synth{"synth"};
  const auto add = [&synth](std::initializer_list<std::string> words) {
    synth.insert(synth.end(), words);
  };
  add({folder, "--threads", "256", "--channels", "28", "--ranks", ranks, "--steps", "8"});
  add({"--layers", "4", "--contention", "0", "--straggler", "none", "--step-noise", noise});
  add({"--seed", std::to_string(seed), "-q"});
  synth.insert(synth.end(), more.begin(), more.end());
  const RunResult made = run_binary(synth);
  EXPECT_EQ(made.code, 0) << made.err;
}

} // namespace rankscope::test
