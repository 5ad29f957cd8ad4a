// Provides a command line for each command that reads traces or creates files, for one small sweep.
#pragma once

#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace rankscope::test {

/// Returns the names of all commands.
inline std::set<std::string> command_names() {
  std::set<std::string> names;
  for (std::string name : {
#define RANKSCOPE_COMMAND(id) #id,
#include "cli/commands.def"
#undef RANKSCOPE_COMMAND
       }) {
    std::ranges::replace(name, '_', '-');
    names.insert(name);
  }
  return names;
}

class EveryCommand : public ::testing::Test {
protected:
  using Words = std::vector<std::string>;

  void SetUp() override {
    namespace fs = std::filesystem;
    ASSERT_TRUE(synth::generate(test::small_sweep(), sweep_, 2, nullptr));
    fs::create_directories(out_);
    fs::create_directories(folder_.path("batch"));
    (void)folder_.write("log", "./bin/MIOpenDriver conv -n 1\n");
    (void)folder_.write("library_trace.csv", "jobid,created_date,model,library,config,calls\n"
                                             "0,now,m,tensile,Cijk_Ailk_Bljk_HHS,5\n");
    for (const int rank : {0, 1})
      fs::create_symlink(traces_ + "/rank" + std::to_string(rank) + "/trace_step19.json",
                         folder_.path("batch/rank_" + std::to_string(rank) + ".json"));
  }

  /// Returns the command lines, in an order in which the inputs of each command exist.
  [[nodiscard]] std::vector<Words> all_commands() const {
    return {
        {"info", trace_},
        {"top", trace_},
        {"why", trace_},
        {"whatif", trace_},
        {"query", "SELECT 1", trace_},
        {"export", trace_, "--parquet", out("parquet")},
        {"report", trace_},
        {"collectives", traces_},
        {"analyze", sweep_, "-o", out("analysis")},
        {"html", out("analysis"), "-o", out("sweep.html")},
        {"gemm", "variance", sweep_, "-o", out("gemm")},
        {"compare", "--baseline", run_, "--test", run_, "--output", out("compare"), "--no-plots"},
        {"report", trace_, "-o", out("a.xlsx")},
        {"compare-reports", out("a.xlsx"), out("a.xlsx"), "--names", "a,b", "-o", out("c.xlsx")},
        {"partial", traces_, "-o", out("parts")},
        {"reduce", out("parts"), "-o", out("reduced.xlsx")},
        {"baseline", "save", run_, "-o", out("kept.rsb")},
        {"merge", traces_, "-o", out("m.json.gz")},
        {"merge", "--all", sweep_, "-o", out("merged")},
        {"synth", out("again"), "--threads", "256", "--channels", "28", "--ranks", "1"},
        {"synth", out("server"), "--program", "inference"},
        {"batch", "-b", folder_.path("batch"), "-f", "rank"},
        {"page", trace_, "-o", out("p.html")},
        {"sweep", "-o", out("swept"), "-c", "28", "-t", "256", "--", "true"},
        {"profile", "--out", out("profiled"), "--", "true"},
        {"profile", "--dry-run", "--out", out("planned"), "--", "true"},
        {"profile", "tools"},
        {"sample", "-o", out("samples"), "--devices", "none", "--duration", "0.05"},
        {"library-trace", folder_.path("log"), "-o", out("lt.csv")},
        {"library-perf", folder_.path("library_trace.csv"), "-o", out("lp.csv")},
        {"library-perf", "compare", out("lp.csv"), out("lp.csv"), "-o", out("lc.csv")},
        {"cache"},
        {"columns"},
    };
  }
  [[nodiscard]] std::string out(const std::string& below) const { return out_ + "/" + below; }

  test::TempFolder folder_;
  std::string sweep_ = folder_.path("s"), out_ = folder_.path("out");
  std::string run_ = test::config_folder(sweep_), traces_ = run_ + "/torch_profiler";
  std::string trace_ = traces_ + "/rank0/trace_step19.json";
};

} // namespace rankscope::test
