// Tests that every command that reads a folder of ranks accepts the eight traces of a recorded run
// as one run of eight ranks, although their names also differ in their times.
#include "golden/golden_data.h"
#include "run_binary.h"
#include "temp_folder.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

struct AskedOfRun {
  const char* name;
  std::vector<std::string> arguments; ///< "RUN": the folder; "OUT...": a path in a new folder
  std::vector<std::string> says;      ///< parts of the output
};

class OneRun : public testing::TestWithParam<AskedOfRun> {};

TEST_P(OneRun, OfEightRanks) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const test::TempFolder folder, out;
  const fs::path run = fs::path(folder.path()) / "eight";
  fs::create_directory(run);
  ASSERT_TRUE(golden::unpack_tar(golden::root() / "dlrm" / "dlrm_kineto.tar.gz", run.string()));
  std::vector<std::string> arguments = GetParam().arguments;
  for (std::string& argument : arguments)
    if (argument == "RUN")
      argument = run.string();
    else if (argument.starts_with("OUT"))
      argument = out.path(argument.substr(3));
  arguments.emplace_back("--no-cache");
  const test::RunResult result = test::run_binary(arguments);
  if (test::lacks_web_parts(result))
    GTEST_SKIP() << result.err;
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string said = result.out + result.err;
  for (const std::string& part : GetParam().says)
    EXPECT_NE(said.find(part), std::string::npos) << part << "\n" << said;
}

INSTANTIATE_TEST_SUITE_P(
    Dlrm, OneRun,
    testing::Values(
        AskedOfRun{"top", {"top", "RUN"}, {"8 ranks on Tesla V100-SXM2-32GB, 1 step"}},
        AskedOfRun{"why", {"why", "RUN"}, {"(1 step of 8 ranks)"}},
        AskedOfRun{"whatif", {"whatif", "RUN"}, {"(1 step of 8 ranks)"}},
        AskedOfRun{"watch", {"watch", "RUN", "--once"}, {"8 of 8 ranks"}},
        AskedOfRun{"query",
                   {"query", "RUN", "select count(distinct run), count(distinct rank) from kernels",
                    "--format", "csv"},
                   {"1,8"}},
        AskedOfRun{"export",
                   {"export", "RUN", "--parquet", "OUTset", "--tables", "ranks"},
                   {"8 ranks, 8 rows"}},
        AskedOfRun{"collectives",
                   {"collectives", "RUN", "--json"},
                   {"alltoall has the most exposed time", "over all ranks", "\n[7,1.746,"}},
        AskedOfRun{"analyze", {"analyze", "RUN", "-o", "OUT", "--json"}, {"[\"eight\",8,"}},
        AskedOfRun{"gemm", {"gemm", "variance", "RUN", "-o", "OUT"}, {"eight "}},
        AskedOfRun{"compare",
                   {"compare", "--baseline", "RUN", "--test", "RUN", "-o", "OUT"},
                   {"eight: 8 ranks", "eight_2: 8 ranks"}},
        AskedOfRun{"partial", {"partial", "RUN", "-o", "OUT"}, {"8 ranks (0 reused)"}},
        AskedOfRun{"baseline", {"baseline", "save", "RUN", "-o", "OUTrun.rsb"}, {"8 ranks"}},
        AskedOfRun{"merge", {"merge", "RUN", "-o", "OUTall.json"}, {"8 ranks"}},
        AskedOfRun{"page", {"page", "RUN", "-o", "OUTrun.html"}, {"8 ranks"}}),
    [](const auto& instance) { return instance.param.name; });

} // namespace
} // namespace rankscope
