// No command writes over a file that it reads, whatever the output is called (HA-E9).
#include "run_binary.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <filesystem>
#include <functional>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

using InputsKeptArguments = std::vector<std::string>;

/// A command whose output may be called like one of its inputs.
struct OutputCase {
  std::string input;  ///< that has to stay
  std::string ending; ///< of the output's name
  std::function<InputsKeptArguments(const std::string& output)> arguments;
};

class InputsKept : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(synth::generate(test::small_sweep(), folder_.path("s"), 2, nullptr));
    traces_ = test::config_folder(folder_.path("s")) + "/torch_profiler";
    trace_ = traces_ + "/rank0/trace_step19.json";
    // a record of NCCL's Inspector
    log_ = folder_.write("logs/host-1.log",
                         R"({"header":{"id":"0x1","rank":0,"n_ranks":2,"nnodes":1},"metadata":{)"
                         R"("inspector_output_format_version":"v4.0","dump_timestamp_us":)"
                         R"(1748030377748202,"hostname":"h","pid":1},"coll_perf":{"coll":)"
                         R"("AllReduce","coll_sn":1,"coll_msg_size_bytes":17179869184,)"
                         R"("coll_exec_time_us":61974,"coll_algobw_gbs":277.2,)"
                         R"("coll_busbw_gbs":485.1}})"
                         "\n");
  }

  [[nodiscard]] std::vector<OutputCase> cases() const {
    const auto command = [](InputsKeptArguments words, const char* flag) {
      return [words, flag](const std::string& output) {
        InputsKeptArguments out = words;
        out.insert(out.end(), {flag, output});
        return out;
      };
    };
    return {{trace_, ".html", command({"watch", traces_, "--once"}, "-o")},
            {trace_, ".json", command({"watch", trace_, "--once"}, "-o")},
            {log_, ".log", command({"watch", folder_.path("logs"), "--once"}, "-o")},
            {log_, ".log", command({"watch", log_, "--once"}, "-o")},
            {trace_, ".json", command({"report", trace_}, "-o")},
            {trace_, ".xlsx", command({"collectives", traces_}, "-o")},
            {trace_, ".json", command({"merge", traces_}, "-o")},
            {trace_, ".html", command({"page", traces_}, "-o")},
            {trace_, ".rsb", command({"baseline", "save", traces_}, "-o")}};
  }

  test::TempFolder folder_;
  std::string traces_, trace_, log_;
};

void expect_kept(const OutputCase& of, const std::string& output, const std::string& before) {
  const InputsKeptArguments args = of.arguments(output);
  const RunResult r = run_binary(args);
  const std::string what = args[0] + " -> " + output + ": " + r.err;
  EXPECT_TRUE(test::bytes_of(of.input) == before) << what;
  EXPECT_EQ(r.code, 2) << what;
  EXPECT_NE(r.err.find("is an input of this run and stays as it is"), std::string::npos) << what;
}

TEST_F(InputsKept, WhateverTheOutputIsCalled) {
  int number = 0;
  for (const OutputCase& of : cases()) {
    const std::string before = test::bytes_of(of.input);
    ASSERT_FALSE(before.empty()) << of.input;
    const std::string links = folder_.path("links/" + std::to_string(++number));
    fs::create_directories(links);
    fs::create_symlink(of.input, links + "/soft" + of.ending);
    fs::create_hard_link(of.input, links + "/hard" + of.ending);
    expect_kept(of, links + "/soft" + of.ending, before);
    expect_kept(of, links + "/hard" + of.ending, before);
    const fs::path input = of.input;
    if (!of.input.ends_with(of.ending))
      continue;
    expect_kept(of, of.input, before);
    const fs::path folder = input.parent_path();
    expect_kept(of, (folder / ".." / folder.filename() / "." / input.filename()).string(), before);
  }
}

} // namespace
} // namespace rankscope
