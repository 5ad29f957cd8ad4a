// Tests that no command overwrites a file that it reads, for all names of outputs (HA-E9). The
// table has a row for each output of each command; the test fails for a command or an output flag
// without a row.
#include "every_command.h"
#include "run_binary.h"
#include "sanitized.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

/// A command line with an output: "@" is a file, "@/" is a folder.
struct OutputLine {
  std::vector<std::string> words;
  std::string input;  ///< a file that the command reads
  std::string ending; ///< ending of the output's name
  [[nodiscard]] bool folder() const { return std::ranges::find(words, "@/") != words.end(); }
  [[nodiscard]] std::vector<std::string> with(const std::string& output) const {
    std::vector<std::string> out = words;
    for (std::string& word : out)
      if (word == "@" || word == "@/")
        word = output;
    return out;
  }
};

class InputsKept : public test::EveryCommand {
protected:
  void SetUp() override {
    EveryCommand::SetUp();
    // a record of the NCCL Inspector
    log_ = folder_.write("logs/host-1.log",
                         R"({"header":{"id":"0x1","rank":0,"n_ranks":2,"nnodes":1},"metadata":{)"
                         R"("inspector_output_format_version":"v4.0","dump_timestamp_us":)"
                         R"(1748030377748202,"hostname":"h","pid":1},"coll_perf":{"coll":)"
                         R"("AllReduce","coll_sn":1,"coll_msg_size_bytes":17179869184,)"
                         R"("coll_exec_time_us":61974,"coll_algobw_gbs":277.2,)"
                         R"("coll_busbw_gbs":485.1}})"
                         "\n");
    (void)folder_.write("nsys_cuda_gpu_kern_sum.csv",
                        "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100,5000,1,5000,gemm\n");
    (void)folder_.write("perf.csv", "library,config,calls\n");
    context_ = folder_.write("context.json", R"({"tools": []})");
    matrix_ = folder_.write("matrix.json", R"({"parameters": {"A": {"env": "A", "values": [1]}}})");
    library_log_ = folder_.write("library.log", "rocblas-bench -f gemm -m 8 -n 8 -k 8\nother\n");
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"analyze", sweep_, "-o", out("analysis")},
             {"analyze", sweep_, "-o", out("tracelens"), "--no-plots"},
             {"report", trace_, "-o", out("a.xlsx")},
             {"gemm", "variance", sweep_, "-o", out("gemm")},
             {"partial", traces_, "-o", out("parts"), "--for", "all"},
             {"baseline", "save", run_, "-o", out("kept/a.rsb")},
             {"baseline", "save", run_, "-o", out("kept/b.rsb")},
             {"synth", out("server"), "--program", "inference"},
             {"library-trace", library_log_, "-o", out("lt.csv")},
             {"library-perf", out("lt.csv"), "-o", out("lp.csv")},
             {"profile", "--out", out("profiled"), "--", "true"}}) {
      fs::create_directories(out("kept"));
      const RunResult r = run_binary(words);
      ASSERT_TRUE(r.code == 0 || r.code == 4) << words[0] << ": " << r.err;
    }
  }

  /// Returns a file below `folder` whose name has this ending.
  [[nodiscard]] static std::string below(const std::string& folder, const std::string& ending) {
    for (const auto& file : fs::recursive_directory_iterator(folder))
      if (file.is_regular_file() && file.path().string().ends_with(ending))
        return file.path().string();
    ADD_FAILURE() << "no file *" << ending << " below " << folder;
    return {};
  }

  [[nodiscard]] std::vector<OutputLine> lines() const;

  std::string log_, matrix_, context_, library_log_;
};

std::vector<OutputLine> InputsKept::lines() const {
  const std::string server = below(out("server"), ".json");
  const std::string part = below(out("parts"), ".part");
  const std::string book = out("a.xlsx");
  const std::string kept = out("kept/a.rsb");
  const std::string csv = below(out("gemm"), ".csv");
  const std::string report = below(out("tracelens"), "_rank0.xlsx");
  const std::string profiled = out("profiled/manifest.json");
  const std::vector<std::string> compare = {"compare", "--baseline", run_,       "--test",
                                            run_,      "--no-plots", "--output", out("compared")};
  const std::vector<std::string> check = {"baseline", "check", run_, "--baseline", kept};
  const std::vector<std::string> reduce = {"reduce",     "--as",       "compare",
                                           "--baseline", out("parts"), "--test",
                                           out("parts"), "-o",         out("reduced")};
  const auto with = [](std::vector<std::string> words, const char* flag) {
    words.insert(words.end(), {flag, "@"});
    return words;
  };
  return {
      {{"watch", traces_, "--once", "-o", "@"}, trace_, ".html"},
      {{"watch", trace_, "--once", "-o", "@"}, trace_, ".json"},
      {{"watch", folder_.path("logs"), "--once", "-o", "@"}, log_, ".log"},
      {{"watch", log_, "--once", "-o", "@"}, log_, ".log"},
      {{"watch", log_, "--once", "--page", "@"}, log_, ".log"},
      {{"watch", trace_, "--once", "--state", "@"}, trace_, ".json"},
      {{"query", "FROM ranks", traces_, "-o", "@"}, trace_, ".json"},
      {{"query", "FROM ranks", traces_, "-o", "@"}, trace_, ".parquet"},
      {{"query", "FROM ranks", traces_, "-o", "@"}, trace_, ".csv"},
      {{"query", "FROM ranks", traces_, "-o", "@"}, trace_, ".xlsx"},
      {{"query", "FROM ranks", traces_, "-o", "@"}, trace_, ".md"},
      {{"export", trace_, "--parquet", "@/"}, trace_, ""},
      {{"report", trace_, "-o", "@"}, trace_, ".json"},
      {{"report", trace_, "-o", "@"}, trace_, ".xlsx"},
      {{"report", trace_, "-o", "@"}, trace_, ".md"},
      {{"report", trace_, "--sheets", "gpu_timeline", "-o", "@"}, trace_, ".csv"},
      {{"report", trace_, "--csv-dir", "@/"}, trace_, ""},
      {{"collectives", traces_, "-o", "@"}, trace_, ".xlsx"},
      {{"collectives", traces_, "-o", "@"}, trace_, ".json"},
      {{"collectives", traces_, "--csv-dir", "@/"}, trace_, ""},
      {{"analyze", sweep_, "-o", "@/"}, trace_, ""},
      {{"analyze", sweep_, "--html", "@", "-o", out("again")}, trace_, ".html"},
      {{"gemm", "variance", sweep_, "-o", "@/"}, trace_, ""},
      {{"gemm", "variance", "--base-path", out("tracelens"), "--output-file", "@"}, report, ".csv"},
      {{"gemm", "timestamps", "--input-csv", csv, "--base-path", sweep_, "--output-csv", "@"},
       trace_,
       ".csv"},
      {{"gemm", "timestamps", "--input-csv", csv, "--base-path", sweep_, "--output-csv", "@"},
       csv,
       ".csv"},
      {{"gemm", "plot", "--csv-path", csv, "--output-dir", "@/"}, csv, ""},
      {{"compare", "--baseline", run_, "--test", run_, "-o", "@/"}, trace_, ""},
      {with(compare, "--junit"), trace_, ".xml"},
      {with(compare, "--verdict"), trace_, ".json"},
      {with(compare, "--markdown"), trace_, ".md"},
      {{"compare-reports", book, book, "--names", "a,b", "-o", "@"}, book, ".xlsx"},
      {{"compare-reports", book, book, "--names", "a,b", "--csv-dir", "@/"}, book, ""},
      {{"partial", traces_, "-o", "@/"}, trace_, ""},
      {{"reduce", out("parts"), "-o", "@"}, part, ".xlsx"},
      {{"reduce", out("parts"), "--csv-dir", "@/"}, part, ""},
      {{"reduce", out("parts"), "--as", "page", "-o", "@"}, part, ".html"},
      {{"reduce", out("parts"), "--as", "analyze", "--no-plots", "-o", "@/"}, part, ""},
      {{"reduce", out("parts"), "--as", "analyze", "-o", out("third"), "--html", "@"},
       part,
       ".html"},
      {with(reduce, "--junit"), part, ".xml"},
      {with(reduce, "--verdict"), part, ".json"},
      {with(reduce, "--markdown"), part, ".md"},
      {{"baseline", "save", traces_, "-o", "@"}, trace_, ".rsb"},
      {{"baseline", "check", run_, "--baseline", kept, "-o", "@/"}, kept, ""},
      {with(check, "--junit"), kept, ".xml"},
      {with(check, "--verdict"), kept, ".json"},
      {with(check, "--markdown"), kept, ".md"},
      {{"baseline", "history", out("kept"), "-o", "@"}, kept, ".xlsx"},
      {{"baseline", "history", out("kept"), "-o", "@"}, kept, ".html"},
      {{"baseline", "history", out("kept"), "--csv-dir", "@/"}, kept, ""},
      {{"merge", traces_, "-o", "@"}, trace_, ".json"},
      {{"merge", traces_, "-o", "@"}, trace_, ".json.gz"},
      {{"merge", "--all", sweep_, "-o", "@/"}, trace_, ""},
      {{"whatif", trace_, "-o", "@"}, trace_, ".json.gz"},
      {{"split", server, "--divide-phases", "-o", "@/"}, server, ""},
      {{"page", traces_, "-o", "@"}, trace_, ".html"},
      {{"html", out("analysis"), "-o", "@"}, below(out("analysis"), ".part"), ".html"},
      {{"batch", "-b", folder_.path("batch"), "-f", "rank", "--overwrite", "-o", "@"},
       trace_,
       ".xlsx"},
      {{"replay", trace_, "--runner", "none", "-o", "@/"}, trace_, ""},
      {{"nsys", folder_.path("nsys"), "--iters", "1", "--gpus", "1", "-o", "@"},
       folder_.path("nsys_cuda_gpu_kern_sum.csv"),
       ".json"},
      {{"nsys", folder_.path("nsys"), "--iters", "1", "--gpus", "1", "--csv-dir", "@/"},
       folder_.path("nsys_cuda_gpu_kern_sum.csv"),
       ""},
      {{"sweep", "--matrix", matrix_, "-o", "@/", "--", "true"}, matrix_, ""},
      {{"sweep", "--matrix", matrix_, "--env", "NCCL_ALGO=Ring", "--env", "NCCL_PROTO=Simple",
        "--env", "NCCL_MAX_NCHANNELS=8", "-o", out("swept"), "--write-tuner", "@", "--", "true"},
       matrix_,
       ".csv"},
      {{"profile", "--force", "-f", context_, "--out", "@/", "--", "true"}, context_, ""},
      {{"profile", "--out", out("p2"), "--perf-csv", "@", "-f", context_, "--", "true"},
       context_,
       ".csv"},
      {{"profile", "trace-parse", library_log_, "-o", "@"}, library_log_, ".csv"},
      {{"profile", "merge", out("profiled"), "--out", "@/"}, profiled, ""},
      {{"library-trace", library_log_, "-o", "@"}, library_log_, ".csv"},
      {{"library-trace", library_log_, "-o", out("l2.csv"), "--others", "@"}, library_log_, ".log"},
      {{"library-perf", out("lt.csv"), "-o", "@"}, out("lt.csv"), ".csv"},
      {{"library-perf", "compare", out("lp.csv"), out("lp.csv"), "-o", "@"}, out("lp.csv"), ".csv"},
  };
}

/// Commands without an input or without an output.
const std::set<std::string> kNothingToKeep = {"info",  "top",     "why",        "sample", "synth",
                                              "cache", "columns", "completion", "man"};

TEST_F(InputsKept, EachOutputOfEachCommandIsInTheTable) {
  std::map<std::string, std::set<std::string>> used;
  for (const OutputLine& line : lines())
    used[line.words[0]].insert(line.words.begin(), line.words.end());
  for (const std::string& name : test::command_names()) {
    EXPECT_NE(used.count(name) > 0, kNothingToKeep.count(name) > 0) << name;
    if (kNothingToKeep.count(name) > 0)
      continue;
    static const std::set<std::string> kFlags = {
        "-o",           "--output",     "--out",     "--page",        "--state",      "--csv-dir",
        "--html",       "--junit",      "--verdict", "--markdown",    "--others",     "--perf-csv",
        "--output-csv", "--output-dir", "--parquet", "--output-file", "--write-tuner"};
    std::istringstream help(run_binary({"help", name}).out);
    for (std::string text; std::getline(help, text);) {
      if (!text.starts_with("  -"))
        continue;
      // "-o,--output TEXT ...": one of the names of this flag is in the table
      std::istringstream names(text.substr(2, text.find(' ', 2) - 2));
      std::set<std::string> same;
      for (std::string flag; std::getline(names, flag, ',');)
        same.insert(flag);
      const auto is_in = [&same](const std::set<std::string>& set) {
        return std::ranges::any_of(same, [&](const auto& flag) { return set.count(flag) > 0; });
      };
      EXPECT_TRUE(!is_in(kFlags) || is_in(used[name])) << name << text;
    }
  }
}

class OutputsThatAreInputs : public InputsKept {
protected:
  /// Runs the command with an output path that leads to its input.
  void expect_kept(const OutputLine& line, const std::string& output, bool refused) {
    const std::string before = test::bytes_of(line.input);
    ASSERT_FALSE(before.empty()) << line.input;
    const RunResult r = run_binary(line.with(output));
    const std::string what = fmt::format("{} -> {}: {}", fmt::join(line.words, " "), output, r.err);
    EXPECT_TRUE(test::bytes_of(line.input) == before) << what;
    if (test::bytes_of(line.input) != before)
      std::ofstream(line.input, std::ios::binary) << before;
    if (!refused)
      return;
    EXPECT_EQ(r.code, 2) << what;
    EXPECT_NE(r.err.find("is an input of this run, so it is not overwritten"), std::string::npos)
        << what;
  }

  /// Returns the files that the command writes to a new folder, relative to the folder.
  std::vector<std::string> files_of(const OutputLine& line) {
    const std::string folder = folder_.path(fmt::format("fresh/{}", ++number_));
    const RunResult r = run_binary(line.with(folder));
    EXPECT_TRUE(r.code == 0 || r.code == 4)
        << fmt::format("{}: ", fmt::join(line.words, " ")) << r.err;
    std::vector<std::string> out;
    if (fs::exists(folder))
      for (const auto& file : fs::recursive_directory_iterator(folder))
        if (file.is_regular_file())
          out.push_back(fs::relative(file.path(), folder).string());
    std::ranges::sort(out);
    EXPECT_FALSE(out.empty()) << line.words[0];
    return out;
  }

  int number_ = 0;
};

TEST_F(OutputsThatAreInputs, StayWhateverTheFileIsCalled) {
  for (const OutputLine& line : lines()) {
    if (line.folder())
      continue;
    const std::string links = folder_.path(fmt::format("links/{}", ++number_));
    fs::create_directories(links);
    // a file that the command reads in order to continue it is rejected because of its content
    const bool continued = std::ranges::find(line.words, "--state") != line.words.end();
    fs::create_symlink(line.input, links + "/soft" + line.ending);
    expect_kept(line, links + "/soft" + line.ending, !continued);
    fs::create_hard_link(line.input, links + "/hard" + line.ending);
    expect_kept(line, links + "/hard" + line.ending, !continued);
    if (!line.input.ends_with(line.ending))
      continue;
    const fs::path input = line.input;
    const fs::path folder = input.parent_path();
    expect_kept(line, line.input, !continued);
    expect_kept(line, (folder / ".." / folder.filename() / "." / input.filename()).string(),
                !continued);
  }
}

// Tests each file that a command creates in an output folder, at most four files per name ending.
TEST_F(OutputsThatAreInputs, StayWhateverIsInTheFolder) {
  const int of_an_ending = test::sanitized_program() ? 1 : 4;
  for (const OutputLine& line : lines()) {
    if (!line.folder())
      continue;
    std::map<std::string, int> endings;
    for (const std::string& file : files_of(line)) {
      if (++endings[fs::path(file).extension().string()] > of_an_ending)
        continue;
      const fs::path folder = folder_.path(fmt::format("linked/{}", ++number_));
      fs::create_directories((folder / file).parent_path());
      fs::create_symlink(line.input, folder / file);
      expect_kept(line, folder.string(), false);
    }
  }
}

} // namespace
} // namespace rankscope
