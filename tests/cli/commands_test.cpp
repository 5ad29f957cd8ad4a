// Tests the built program: exit codes, messages, the output tree of analyze, interrupts, outputs
// that cannot be written.
#include "cli/command.h"
#include "golden/golden_data.h"
#include "readers/reports/report_tables.h"
#include "run_binary.h"
#include "sanitized.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <simdjson.h>
#include <thread>
#include <vector>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;
using test::TempFolder;

std::string make_sweep(const TempFolder& folder, std::vector<std::int64_t> missing = {}) {
  synth::Options o;
  o.threads = {256, 512};
  o.channels = {28, 70};
  o.ranks = 3;
  o.layers = 2;
  o.steps = 2;
  o.missing_ranks = std::move(missing);
  EXPECT_TRUE(synth::generate(o, folder.path("sweep"), 2, nullptr));
  return folder.path("sweep");
}

std::size_t temporaries(const std::string& folder) {
  std::size_t n = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    n += entry.path().extension() == ".tmp" ? 1 : 0;
  return n;
}

/// Returns all commands; under ThreadSanitizer only some, because a start takes a second there, and
/// help uses no threads.
std::vector<const Command*> commands_to_try() {
  std::vector<const Command*> out;
  for (std::size_t i = 0; i < commands().size(); i += test::thread_sanitized_program() ? 6 : 1)
    out.push_back(commands()[i]);
  return out;
}

TEST(Cli, InfoInAPipeCutsNothing) {
  const test::TempFolder folder;
  const std::string gpu = "AMD Instinct " + std::string(200, 'X') + " end";
  const std::string trace = folder.write(
      "t.json", R"({"schemaVersion":1,"deviceProperties":[{"id":0,"name":")" + gpu +
                    R"(","totalGlobalMem":1}],"traceEvents":[{"ph":"X","cat":"kernel","name":"k",)"
                    R"("pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":7}}]})");
  const test::RunResult r = test::run_binary({"info", trace});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find(gpu), std::string::npos) << r.out;
}

TEST(Cli, InfoSummarizesManyProcessGroups) { // HA-D15
  const test::TempFolder folder;
  std::string groups;
  for (int g = 0; g < 11; ++g)
    groups += fmt::format(R"({}{{"pg_name":"{}","pg_desc":"{}","pg_size":{}}})", g == 0 ? "" : ",",
                          g, g == 0 ? "default_pg" : "tensor", g == 0 ? 300 : 30);
  const std::string trace = folder.write(
      "t.json", R"({"distributedInfo":{"rank":0,"world_size":300,"pg_config":[)" + groups +
                    R"(]},"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,)"
                    R"("ts":1,"dur":1,"args":{"device":0,"stream":7}}]})");
  const test::RunResult r = test::run_binary({"info", trace});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("11: default_pg, 300 ranks; 10 x tensor, 30 ranks"), std::string::npos)
      << r.out;
  EXPECT_EQ(r.out.find("process group "), std::string::npos) << r.out;
}

TEST(Cli, UsageErrorsExitWith2AndHelpHasExamples) {
  EXPECT_EQ(run_binary({}).code, 2);
  EXPECT_EQ(run_binary({"nonsense"}).code, 2);
  EXPECT_EQ(run_binary({"report", "--nonsense", "x"}).code, 2);
  EXPECT_EQ(run_binary({"--version"}).out.substr(0, 10), "rankscope ");
  const std::string completion = run_binary({"completion", "bash"}).out;
  for (const Command* c : commands_to_try()) {
    const RunResult help = run_binary({c->name, "--help"});
    EXPECT_EQ(help.code, 0) << c->name;
    EXPECT_NE(help.out.find("Examples:"), std::string::npos) << c->name;
    EXPECT_NE(help.out.find(std::string("rankscope ") + c->name), std::string::npos) << c->name;
    EXPECT_NE(completion.find(c->name), std::string::npos) << c->name;
  }
}

TEST(Cli, UnknownWordsAreNamedWithTheNearest) {
  const RunResult command = run_binary({"reprot", "x"});
  EXPECT_EQ(command.code, 2);
  EXPECT_NE(command.err.find("'reprot'; did you mean report?"), std::string::npos) << command.err;
  const RunResult option = run_binary({"report", "--shets", "x", "y"});
  EXPECT_EQ(option.code, 2);
  EXPECT_NE(option.err.find("no option --shets; did you mean --sheets?"), std::string::npos)
      << option.err;
  EXPECT_NE(run_binary({"top", "x", "--rnak", "1"}).err.find("did you mean --rank-regex?"),
            std::string::npos);
  // before a required option that is missing, and before a value that is wrong
  EXPECT_EQ(run_binary({"compare", "--bsaeline", "3"}).err,
            "rankscope: compare: no option --bsaeline; did you mean --baseline?\n");
  EXPECT_EQ(run_binary({"baseline", "--vrebose", "3"}).err,
            "rankscope: baseline: no option --vrebose\n");
  const TempFolder folder; // a path in place of a command
  EXPECT_NE(run_binary({folder.path("")}).err.find("did you mean rankscope top " + folder.path("")),
            std::string::npos);
  EXPECT_EQ(run_binary({"top", "x", "-k", "abc"}).err,
            "rankscope: top: --top-k needs a whole number, 0 or more, not 'abc'\n");
  EXPECT_EQ(run_binary({"gemm", "variance", "x", "--top-k", "-2"}).err,
            "rankscope: gemm: --top-k: '-2' is not a whole number, 0 or more\n");
  EXPECT_EQ(run_binary({"why", "x", "--step-time", "-3"}).err,
            "rankscope: why: --step-time: '-3' is not a number above 0\n");
  EXPECT_NE(run_binary({"profile", "--help"}).out.find("--baseline [INT] "), std::string::npos);
  EXPECT_EQ(run_binary({"reduce"}).err,
            "rankscope: reduce: needs folders of parts (rankscope reduce --help)\n");
  const RunResult none = run_binary({});
  EXPECT_NE(none.err.find("needs a command: "), std::string::npos) << none.err;
  for (const RunResult& r : {command, option, none})
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
}

TEST(Cli, HelpFitsEightyColumnsAndHasTheGlobalOptions) {
  for (const Command* c : commands_to_try()) {
    const RunResult help = run_binary({"help", c->name});
    EXPECT_EQ(help.code, 0) << c->name;
    EXPECT_EQ(help.out, run_binary({c->name, "--help"}).out);
    for (const char* global : {"--jobs", "--quiet", "--json", "--strict", "--version"})
      EXPECT_NE(help.out.find(global), std::string::npos) << c->name << ' ' << global;
    std::istringstream lines(help.out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 80U) << c->name << ": " << line;
  }
  std::istringstream lines(run_binary({"--help"}).out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80U) << line;
  EXPECT_EQ(run_binary({"-V"}).out, run_binary({"--version"}).out);
}

TEST(Cli, TheOutputIsNamedByTheSameLetterEverywhere) {
  std::size_t outputs = 0;
  for (const Command* c : commands_to_try()) {
    std::istringstream lines(run_binary({"help", c->name}).out);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_NE(line.rfind("  --output ", 0), 0U) << c->name << ": " << line;
      outputs += line.rfind("  -o,", 0) == 0 ? 1 : 0;
    }
  }
  EXPECT_GT(outputs, commands_to_try().size() / 3) << "of the commands that were tried";
}

TEST(Cli, HelpHasItsOptionsInGroups) {
  for (const char* name :
       {"report", "analyze", "compare", "collectives", "merge", "gemm", "nsys", "synth"}) {
    const std::string help = run_binary({name, "--help"}).out;
    const std::size_t at = help.find("\nOptions:\n");
    ASSERT_NE(at, std::string::npos) << name;
    std::istringstream lines(help.substr(at + 10));
    std::size_t loose = 0;
    for (std::string line; std::getline(lines, line) && !line.empty();)
      loose += line.rfind("  -", 0) == 0 ? 1 : 0;
    EXPECT_LE(loose, 2U) << name << ": options without a heading";
  }
}

TEST(Cli, ASingleTraceIsAnalysedBesideItself) {
  const TempFolder folder;
  const std::string rank0 = make_sweep(folder) + "/256thread/nccl_28channels/torch_profiler/rank0";
  const RunResult r = run_binary({"analyze", rank0 + "/trace_step19.json", "--no-plots", "-q"});
  EXPECT_EQ(r.code, 4) << r.err; // two ranks of the job are missing
  EXPECT_TRUE(fs::exists(rank0 + "/tracelens_analysis/summary.md"));
}

// If a folder has several runs but one is needed, a short line names the commands that accept such
// a folder.
TEST(Cli, AFolderOfSeveralRunsIsToldInAShortLine) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"collectives", sweep},
                                               {"merge", sweep, "-o", folder.path("m.json")}}) {
    const RunResult r = run_binary(args);
    EXPECT_EQ(r.code, 2) << args[0];
    EXPECT_NE(r.err.find("analyze and merge --all also accept a folder of several runs"),
              std::string::npos)
        << r.err;
    EXPECT_LT(r.err.size(), 400U + sweep.size()) << r.err;
    EXPECT_NE(r.err.find("and 1 more"), std::string::npos) << r.err;
  }
}

TEST(Cli, AnEndingThatNamesNoFormatIsRefusedBeforeAnythingIsRead) {
  const TempFolder folder;
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"compare-reports", "/no/a.xlsx", "/no/b.xlsx", "-o"},
        {"collectives", "/no/run", "-o"}}) {
    std::vector<std::string> with = args;
    with.push_back(folder.path("x.foo"));
    const RunResult r = run_binary(with);
    EXPECT_EQ(r.code, 2) << args[0];
    EXPECT_NE(r.err.find("'.foo' is not a known file ending"), std::string::npos) << r.err;
  }
  const std::string run = make_sweep(folder) + "/256thread/nccl_28channels";
  EXPECT_EQ(run_binary({"collectives", run, "-q", "-o", folder.path("c.json")}).code, 0);
  EXPECT_EQ(test::bytes_of(folder.path("c.json")).substr(0, 1), "{");
}

TEST(Cli, ListsDoNotTakeTheFileBehindThem) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder);
  const std::string trace =
      sweep + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  const auto sheets = [&](const std::vector<std::string>& list, const std::string& out) {
    std::vector<std::string> args{"report", "-q", "--csv-dir", folder.path(out)};
    args.insert(args.end(), list.begin(), list.end());
    args.push_back(trace);
    EXPECT_EQ(run_binary(args).code, 0);
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder.path(out)))
      names.insert(entry.path().filename().string());
    return names;
  };
  const std::set<std::string> both{"gpu_timeline.csv", "ops_summary.csv"};
  EXPECT_EQ(sheets({"--sheets", "gpu_timeline,ops_summary"}, "a"), both);
  EXPECT_EQ(sheets({"--sheets", "gpu_timeline", "ops_summary"}, "b"), both);
  EXPECT_EQ(sheets({"--sheets", "gpu_timeline", "--sheets=ops_summary"}, "c"), both);
  const RunResult numbers = run_binary({"gemm", "variance", "--threads", "256", "512", "--ranks",
                                        "1", sweep, "-q", "-o", folder.path("g")});
  EXPECT_EQ(numbers.code, 0) << numbers.err;
}

TEST(Cli, AReaderThatLeavesIsNoFault) {
  const TempFolder folder;
  const std::string trace =
      make_sweep(folder) + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  const RunResult r =
      run_binary({"info", trace, "--json", "-q"}, 0, "/proc/self/fd/" + std::to_string(ends[1]));
  ::close(ends[1]);
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_EQ(run_binary({"--help"}, 0, "/dev/full").code, 6);
}

// A reader that closes the pipe after the first line, like `| head -1`: top reported that its
// output had failed.
TEST(Cli, AReaderThatLeavesInTheMiddleIsNoFault) {
  const TempFolder folder;
  const std::string trace =
      make_sweep(folder) + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"top", trace, "-q"},
        {"report", trace, "-q", "-o", "-", "--format", "json"},
        {"columns"},
        {"merge", trace, "-q", "-o", "-"}}) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    std::thread reader([end = ends[0]] {
      char first = 0;
      EXPECT_EQ(::read(end, &first, 1), 1);
      ::close(end);
    });
    const RunResult r = run_binary(args, 0, "/proc/self/fd/" + std::to_string(ends[1]));
    ::close(ends[1]);
    reader.join();
    EXPECT_TRUE(r.code == 0 || r.code == 4) << args[0] << ' ' << r.code << ": " << r.err;
    EXPECT_EQ(r.err.find("cannot write"), std::string::npos) << r.err;
    EXPECT_EQ(r.err.find("Broken pipe"), std::string::npos) << r.err;
  }
}

// Regression test: outputs replaced the input report, the file of peaks, and the file of
// conditions.
TEST(Cli, NoInputIsWrittenOver) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder);
  const std::string run = sweep + "/256thread/nccl_28channels";
  const std::string trace = run + "/torch_profiler/rank0/trace_step19.json";
  const std::string workbook = folder.path("a.xlsx");
  const std::string csvs = folder.path("csvs");
  ASSERT_EQ(run_binary({"report", trace, "-q", "-o", workbook, "--csv-dir", csvs}).code, 0);
  const std::string arch =
      folder.write("arch.json", R"({"name": "mine", "mem_bw_gbps": 5300, "max_achievable_tflops": )"
                                R"({"matrix_bf16": 700}})");
  const std::string conditions = folder.write("conditions.md", "total_time>2%\n");
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {workbook, {"compare-reports", workbook, workbook, "--names", "a,b", "-o", workbook, "-q"}},
      {csvs + "/gpu_timeline.csv",
       {"compare-reports", csvs, workbook, "--names", "a,b", "--csv-dir", csvs, "-q"}},
      {arch, {"report", trace, "--gpu-arch", arch, "--format", "json", "-o", arch, "-q"}},
      {conditions,
       {"compare", "--baseline", run, "--test", run, "--output", folder.path("out"), "--no-plots",
        "--fail-on-file", conditions, "--markdown", conditions, "-q"}}};
  for (const auto& [input, args] : cases) {
    const std::string before = test::bytes_of(input);
    ASSERT_FALSE(before.empty()) << input;
    const RunResult r = run_binary(args);
    EXPECT_EQ(r.code, 2) << input << ": " << r.err;
    EXPECT_NE(r.err.find("is an input of this run"), std::string::npos) << r.err;
    EXPECT_TRUE(test::bytes_of(input) == before) << input;
  }
}

TEST(Cli, AnEndingThatIsNotTheFormatsIsRefused) {
  const TempFolder folder;
  const std::string run = make_sweep(folder) + "/256thread/nccl_28channels";
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"merge", run, "-o", folder.path("m.xlsx")},
        {"merge", run, "-o", folder.path("m")},
        {"page", run, "-o", folder.path("p.foo")}}) {
    const RunResult r = run_binary(args);
    EXPECT_EQ(r.code, 2) << args[0] << ": " << r.err;
    EXPECT_NE(r.err.find("expected a name that ends in ."), std::string::npos) << r.err;
    EXPECT_FALSE(fs::exists(args.back()));
  }
}

TEST(Cli, CompletionKnowsTheValuesOfOptions) {
  EXPECT_NE(run_binary({"completion", "bash"})
                .out.find("collectives:--align) COMPREPLY=($(compgen "
                          "-W \"none base collectives\""),
            std::string::npos);
}

TEST(Cli, UnreadableInputsExitWith3AndOneLine) {
  const TempFolder folder;
  for (const std::string& path :
       {folder.path("absent.json"), folder.path(), folder.write("no.json", "hello")})
    for (const char* command : {"info", "report"}) {
      const RunResult r = run_binary({command, path});
      EXPECT_EQ(r.code, 3) << command << " " << path;
      EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
      EXPECT_NE(r.err.find(path), std::string::npos) << r.err;
      EXPECT_EQ(r.out, "");
    }
}

TEST(Cli, ReportWritesWorkbookCsvAndJson) {
  const TempFolder folder;
  const std::string trace =
      make_sweep(folder) + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  const RunResult r = run_binary(
      {"report", trace, "-o", folder.path("r.xlsx"), "--csv-dir", folder.path("csv"), "-q"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(fs::exists(folder.path("r.xlsx")));
  for (const char* sheet : {"gpu_timeline", "ops_summary", "ops_unique_args", "kernel_summary",
                            "GEMM", "coll_analysis", "unified_perf_summary"})
    EXPECT_TRUE(fs::exists(folder.path(std::string("csv/") + sheet + ".csv"))) << sheet;
  const RunResult json = run_binary({"--json", "report", trace, "--sheets", "gpu_timeline", "-q"});
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(json.out).get(root), simdjson::SUCCESS);
  EXPECT_EQ(root["tables"]["gpu_timeline"]["rows"].get_array().value().size(), 8U);
}

TEST(Cli, TheOldScriptsFlagsAreUnderstood) {
  const TempFolder folder;
  const std::string run = make_sweep(folder) + "/256thread/nccl_28channels/torch_profiler";
  const std::string trace = run + "/rank0/trace_step19.json";
  const RunResult r = run_binary(
      {"report", "--profile_json_path", trace, "--output_xlsx_path", folder.path("o.xlsx"),
       "--output_csvs_dir=" + folder.path("csv_dir"), "--include_unlinked_kernels",
       "--short_kernel_study", "--short_kernel_threshold_us", "50", "--topk_ops", "2",
       "--topk_roofline_ops", "1", "--enable_kernel_summary", "--gpu_arch_platform", "MI300X",
       "--disable_coll_analysis", "-q"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(fs::exists(folder.path("o.xlsx")));
  EXPECT_TRUE(fs::exists(folder.path("csv_dir/short_kernels_summary.csv")));
  EXPECT_FALSE(fs::exists(folder.path("csv_dir/coll_analysis.csv")));
  std::ifstream in(folder.path("csv_dir/GEMM.csv"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  EXPECT_EQ(lines.size(), 2U);
  EXPECT_EQ(run_binary({"collectives", "--trace_pattern", run + "/rank*/trace_step19.json",
                        "--world_size", "3", "--output_xlsx_path", folder.path("c.xlsx"),
                        "--detailed_analysis", "--use_multiprocessing", "-q"})
                .code,
            0);
  EXPECT_TRUE(fs::exists(folder.path("c.xlsx")));
  EXPECT_EQ(run_binary({"collectives", "--trace_dir", run, "--world_size", "4",
                        "--output_xlsx_path", folder.path("c.xlsx"), "-q"})
                .code,
            4);
  for (const char* bins : {"0", "2000000000"})
    EXPECT_EQ(run_binary({"report", trace, "--short_kernel_histogram_bins", bins}).code, 2) << bins;
  EXPECT_EQ(run_binary({"report"}).code, 2);
  EXPECT_EQ(run_binary({"collectives"}).code, 2);
  EXPECT_EQ(run_binary({"report", "--help"}).out.find("profile-json"), std::string::npos);
  EXPECT_EQ(run_binary({"completion", "bash"}).out.find("profile-json"), std::string::npos);
}

TEST(Cli, ReportOptionsReachTheSheets) {
  const TempFolder folder;
  const std::string trace =
      make_sweep(folder) + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  const auto sheets = [&](std::vector<std::string> flags) {
    std::vector<std::string> args = {"report", trace, "--csv-dir", folder.path("csv"), "-q"};
    args.insert(args.end(), flags.begin(), flags.end());
    fs::remove_all(folder.path("csv"));
    const RunResult r = run_binary(args);
    EXPECT_EQ(r.code, 0) << r.err;
    std::map<std::string, std::string> headers; // by sheet: the first line
    for (const auto& entry : fs::directory_iterator(folder.path("csv"))) {
      std::ifstream in(entry.path());
      std::getline(in, headers[entry.path().stem().string()]);
    }
    return headers;
  };
  const auto plain = sheets({});
  EXPECT_EQ(plain.count("unified_perf_summary_kl_overlap"), 0U);
  const auto overlap = sheets({"--include-overlap-info", "--group-by-num-kernels"});
  EXPECT_EQ(overlap.size(), plain.size() + 2);
  for (const char* sheet : {"ops_unique_args_kl_overlap", "unified_perf_summary_kl_overlap"})
    for (const char* column : {"num_kernels", "overlap_pct", "overlapping_kernels_details_summary",
                               "trunc_overlapping_kernels_details"})
      EXPECT_NE(overlap.at(sheet).find(column), std::string::npos) << sheet << " " << column;
  const auto stacks = sheets({"--include-call-stack", "--enable-pseudo-ops", "--detect-recompute"});
  for (const char* column : {"entry_point", "call_stack_full", "is_recompute"})
    EXPECT_NE(stacks.at("unified_perf_summary").find(column), std::string::npos) << column;
  const auto steps = sheets({"--per-step", "--gpu-arch", "MI300X"});
  EXPECT_EQ(steps.count("gpu_timeline_per_step"), 1U);
  EXPECT_EQ(steps.count("ops_per_step"), 1U);
  EXPECT_NE(steps.at("GEMM").find("Pct Roofline"), std::string::npos);
  const std::string gpu = folder.write("board.json", R"({"name": "b", "mem_bw_gbps": 4000,
                        "max_achievable_tflops": {"matrix_bf16": 600, "vector_fp32": 90}})");
  EXPECT_NE(sheets({"--gpu-arch", gpu}).at("GEMM").find("Pct Roofline"), std::string::npos);
  EXPECT_EQ(sheets({"--sheets", "GEMM,ops_summary"}).size(), 2U);
  EXPECT_EQ(sheets({"--no-kernel-summary", "--no-short-kernels", "--no-coll-analysis"}).size() + 4,
            plain.size());
  EXPECT_EQ(run_binary({"report", trace, "--step", "99", "-o", folder.path("x.xlsx")}).code, 2);
  EXPECT_EQ(
      run_binary({"report", trace, "--gpu-arch", "nowhere", "-o", folder.path("x.xlsx")}).code, 3);
  for (const char* command : {"info", "report"})
    EXPECT_EQ(run_binary({command, folder.path("none1"), folder.path("none2")}).code, 3);
}

TEST(Cli, AnalyzeWritesEveryDocumentedFileAndColumn) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder);
  const RunResult r = run_binary({"analyze", sweep, "-q"});
  ASSERT_EQ(r.code, 0) << r.err;
  const std::string out = sweep + "/tracelens_analysis/";
  for (const char* t : {"256", "512"})
    for (const char* c : {"28", "70"}) {
      for (const char* rank : {"0", "1", "2"})
        EXPECT_TRUE(fs::exists(out + t + "thread/individual_reports/perf_" + c + "ch_rank" + rank +
                               ".xlsx"));
      EXPECT_TRUE(fs::exists(out + t + "thread/collective_reports/collective_" + c + "ch.xlsx"));
      EXPECT_TRUE(fs::exists(sweep + "/merged_traces/" + t + "thread_" + c + "ch_merged.json"));
    }
  for (const char* file : {"summary.md", "summary.xlsx", "gpu_timeline_all_configs_mean.xlsx",
                           "gpu_timeline_all_configs_geomean.xlsx", "nccl_master_all_configs.xlsx",
                           "nccl_master_all_configs.csv"})
    EXPECT_TRUE(fs::exists(out + file)) << file;
  const std::vector<std::string> variance = {
      "threads",     "channel", "rank", "kernel_name", "kernel_time_min_us", "kernel_time_max_us",
      "time_diff_us"};
  const std::vector<std::string> timestamps = {
      "min_duration_timestamp_ms", "max_duration_timestamp_ms", "time_between_min_max_ms",
      "min_duration_found_us", "max_duration_found_us"};
  const std::vector<std::string> overlap = {
      "overlapping_collective_count", "overlapping_collective_names", "max_overlap_percentage",
      "max_overlap_collective", "total_overlap_duration_ms"};
  const std::string base = out + "top5_gemm_kernels_time_variance";
  const auto has = [](const std::string& file, const std::vector<std::string>& columns) {
    const golden::Csv csv = golden::read_csv(file);
    EXPECT_EQ(csv.rows.size(), 2U * 2U * 3U * 5U) << file;
    for (const std::string& c : columns)
      EXPECT_TRUE(std::find(csv.header.begin(), csv.header.end(), c) != csv.header.end())
          << file << ": " << c;
  };
  has(base + ".csv", variance);
  for (const auto& columns : {variance, timestamps})
    has(base + "_with_timestamps.csv", columns);
  for (const auto& columns : {variance, timestamps, overlap})
    has(base + "_with_collective_overlap.csv", columns);
  EXPECT_EQ(temporaries(sweep), 0U);
}

TEST(Cli, ABrokenAndAMissingRankCostThemselvesOnly) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder, {1});
  folder.write("sweep/256thread/nccl_28channels/torch_profiler/rank2/trace_step19.json", "broken");
  const RunResult r = run_binary({"analyze", sweep, "-q", "--no-merge"});
  EXPECT_EQ(r.code, 4);
  EXPECT_NE(r.err.find("256thread_28ch rank 2"), std::string::npos) << r.err;
  const std::string reports = sweep + "/tracelens_analysis/256thread/individual_reports/";
  EXPECT_TRUE(fs::exists(reports + "perf_28ch_rank0.xlsx"));
  EXPECT_FALSE(fs::exists(reports + "perf_28ch_rank2.xlsx"));
  EXPECT_TRUE(fs::exists(reports + "perf_70ch_rank2.xlsx"));
  EXPECT_EQ(run_binary({"collectives", sweep + "/512thread/nccl_28channels", "-o",
                        folder.path("c.xlsx"), "-q"})
                .code,
            4);
  EXPECT_NE(run_binary({"collectives", sweep + "/512thread/nccl_28channels", "--require-all-ranks",
                        "-o", folder.path("c.xlsx"), "-q"})
                .code,
            0);
}

TEST(Cli, OutputThatCannotBeWrittenExitsWith6) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder);
  const std::string trace =
      sweep + "/256thread/nccl_28channels/torch_profiler/rank0/trace_step19.json";
  const std::string in_the_way = folder.write("file", "x");
  EXPECT_EQ(run_binary({"report", trace, "-o", in_the_way + "/r.xlsx", "-q"}).code, 6);
  EXPECT_EQ(run_binary({"analyze", sweep, "-o", in_the_way, "-q"}).code, 6);
  if (fs::exists("/dev/full")) {
    EXPECT_EQ(run_binary({"--json", "report", trace, "-q"}, 0, "/dev/full").code, 6);
  }
}

TEST(Cli, AFullDiskLeavesOneLineAndNoHalfFile) {
  const TempFolder folder;
  fs::create_directory(folder.path("disk"));
  const std::string probe = "unshare -rm mount -t tmpfs tmpfs " + folder.path("disk");
  if (std::system((probe + " >/dev/null 2>&1").c_str()) != 0)
    GTEST_SKIP() << "a file system of its own needs user namespaces: not tried on a full disk";
  const std::string sweep = make_sweep(folder);
  // only the script sees the small file system; the script lists the remaining files before it ends
  const std::string script =
      folder.write("run.sh", "mount -t tmpfs -o size=600k tmpfs " + folder.path("disk") + " && " +
                                 test::binary() + " analyze " + sweep + " -q --no-plots -o " +
                                 folder.path("disk/out") + " >/dev/null 2>" + folder.path("err") +
                                 "\necho $? >" + folder.path("code") + "\nfind " +
                                 folder.path("disk") + " -type f >" + folder.path("left") + "\n");
  ASSERT_EQ(std::system(("unshare -rm sh " + script).c_str()), 0);
  EXPECT_EQ(test::bytes_of(folder.path("code")), "6\n");
  const std::string err = test::bytes_of(folder.path("err"));
  EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
  EXPECT_NE(err.find("No space left on device"), std::string::npos) << err;
  const std::string left = test::bytes_of(folder.path("left"));
  EXPECT_EQ(left.find(".tmp"), std::string::npos) << left;
  EXPECT_EQ(run_binary({"analyze", sweep, "-q", "--no-plots", "-o", folder.path("out")}).code, 0);
}

TEST(Cli, AnInterruptLeavesNothingUnfinishedAndTheNextRunCompletes) {
  const TempFolder folder;
  const std::string sweep = make_sweep(folder);
  bool interrupted = false;
  for (const int ms : {5, 10, 20, 40, 80}) {
    const RunResult r = run_binary({"analyze", sweep, "-q"}, ms);
    interrupted = interrupted || r.code == 130;
    EXPECT_TRUE(r.code == 130 || r.code == 0) << r.code;
    EXPECT_EQ(temporaries(sweep), 0U) << ms;
  }
  EXPECT_TRUE(interrupted);
  EXPECT_EQ(run_binary({"analyze", sweep, "-q"}).code, 0);
  EXPECT_TRUE(fs::exists(sweep + "/tracelens_analysis/summary.md"));
}

} // namespace
} // namespace rankscope
