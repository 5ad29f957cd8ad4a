// Tests rankscope top: the printed page, the same values as in other commands, colours, and a watch
// that Ctrl-C ends.
#include "app/top.h"
#include "base/display_text.h"
#include "golden/golden_data.h"
#include "os/process.h"
#include "pages/top_page.h"
#include "run_binary.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "waiting.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <simdjson.h>
#include <sstream>
#include <thread>
#include <zip.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::run_binary;
using test::RunResult;

std::string two_ranks_top() {
  return (test::source_dir() / "tests/data/synth/amd").string();
}

/// Returns the cells of a column of a table in JSON.
std::vector<simdjson::dom::element> cells(simdjson::dom::element root, const char* table,
                                          const char* column) {
  const simdjson::dom::element at = root["tables"][table];
  const simdjson::dom::array columns = at["columns"];
  const simdjson::dom::array rows = at["rows"];
  std::size_t place = 0;
  for (const std::string_view name : columns) {
    if (name == column)
      break;
    ++place;
  }
  std::vector<simdjson::dom::element> out;
  for (const simdjson::dom::array row : rows)
    out.push_back(row.at(place).value());
  return out;
}

std::vector<double> numbers(simdjson::dom::element root, const char* table, const char* column) {
  std::vector<double> out;
  for (const simdjson::dom::element cell : cells(root, table, column))
    out.push_back(cell.is_null() ? -1e99 : double(cell)); // blank cells are equal too
  return out;
}

std::vector<std::string> texts(simdjson::dom::element root, const char* table, const char* column) {
  std::vector<std::string> out;
  for (const simdjson::dom::element cell : cells(root, table, column))
    out.emplace_back(std::string_view(cell));
  return out;
}

class TopCommand : public ::testing::Test {
protected:
  void SetUp() override {
    for (const char* name : {"COLUMNS", "NO_COLOR", "LC_CTYPE", "LANG"})
      ::unsetenv(name);
    ::setenv("LC_ALL", "C.UTF-8", 1);
  }
  void TearDown() override { ::unsetenv("LC_ALL"); }

  test::TempFolder folder_;
};

/// The page of the two ranks in the source tree must equal the reviewed page; RANKSCOPE_REBASE=1
/// writes it again.
TEST_F(TopCommand, PageAsItWasLookedAt) {
  const fs::path pages = test::source_dir() / "tests/data/top";
  fs::current_path(test::source_dir() / "tests/data/synth");
  for (const char* width : {"80", "200"}) {
    const RunResult r = run_binary({"top", "amd", "--width", width});
    EXPECT_EQ(r.code, 0) << r.err;
    const fs::path page = pages / (std::string("amd_") + width + ".txt");
    if (std::getenv("RANKSCOPE_REBASE") != nullptr) {
      fs::create_directories(pages);
      std::ofstream(page) << r.out;
    }
    EXPECT_EQ(r.out, test::bytes_of(page.string())) << page;
    std::istringstream lines(r.out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), std::stoul(width)) << line;
  }
  ::setenv("LC_ALL", "C", 1);
  for (const char c : run_binary({"top", "amd"}).out)
    ASSERT_GE(static_cast<signed char>(c), 0) << "ASCII alone without a locale for more";
}

/// Returns the names of the rows of a page's section: the cells that identify a row.
std::vector<std::string> row_names(const std::string& page, const std::string& section) {
  std::istringstream lines(page);
  std::string line;
  std::vector<std::string> out;
  while (std::getline(lines, line) && !line.starts_with(section)) {
  }
  while (std::getline(lines, line) && line.find("share ") == std::string::npos) {
  }
  const std::string head = line;
  const std::size_t sign = head.find("share ") + 4; // the column of the percent signs
  const std::size_t first = head.find(section == "COLLECTIVES" ? "size"
                                      : section == "OPERATORS" ? "operator"
                                                               : "kernel");
  // a column that is aligned to the right begins after the header before it
  const std::size_t begin =
      section == "COLLECTIVES" ? head.find_last_not_of(' ', first - 1) + 1 : first;
  const std::size_t last = section == "COLLECTIVES" ? head.find("collective") : std::string::npos;
  while (std::getline(lines, line) && line.size() > first && line[sign] == '%') {
    const std::size_t end = last == std::string::npos ? last : line.find("  ", last);
    out.push_back(line.substr(begin, end - begin));
  }
  return out;
}

/// Tests the tables of a page with all rows, which are sums over different names.
TEST_F(TopCommand, DifferentRowsHaveDifferentNames) {
  std::vector<fs::path> inputs = {test::source_dir() / "tests/data/synth/amd",
                                  test::source_dir() / "tests/data/synth/nv"};
  for (const fs::path& root : {golden::tree_root(), golden::root()})
    for (const fs::path& path : golden::entries(root))
      if (path.string().find(".json") != std::string::npos && fs::is_regular_file(path))
        inputs.push_back(path);
  if (!golden::root().empty()) {
    ASSERT_TRUE(golden::unpack_tar(golden::root() / "dlrm/dlrm_kineto.tar.gz", folder_.path()));
    inputs.emplace_back(folder_.path());
  }
  std::size_t pages = 0;
  for (const fs::path& input : inputs) {
    Session session;
    TopRequest request;
    request.inputs = {input.string()};
    request.top_k = 0;
    const Result<TopFacts> facts = top_of(session, request);
    if (!facts)
      continue; // not a trace
    for (const std::size_t width : {80U, 100U, 200U}) {
      const std::string page = top_page(*facts, {width, false, false});
      ++pages;
      for (const char* section : {"KERNELS", "OPERATORS", "COLLECTIVES"}) {
        std::map<std::string, int> times;
        for (const std::string& name : row_names(page, section))
          ++times[name];
        for (const auto& [name, n] : times)
          EXPECT_EQ(n, 1) << input << ' ' << width << ' ' << section << ": " << name;
      }
    }
  }
  EXPECT_GE(pages, golden::root().empty() ? 12U : 120U);
  for (const fs::path& input : inputs) {
    if (!fs::is_directory(input))
      continue;
    std::istringstream lines(
        run_binary({"gemm", "variance", input.string(), "-o", folder_.path("gemm"), "-q"}).out);
    std::string line;
    std::getline(lines, line);
    const std::size_t names_end = line.find("kernel_time_min_us");
    ASSERT_NE(names_end, std::string::npos) << input;
    std::set<std::string> names;
    while (std::getline(lines, line) && line.size() > names_end && !line.starts_with("- "))
      EXPECT_TRUE(names.insert(line.substr(0, names_end)).second) << line;
    EXPECT_EQ(names.size(), 10U);
  }
}

TEST_F(TopCommand, NoEscapesInAPipeUnlessAskedFor) {
  EXPECT_EQ(run_binary({"top", two_ranks_top()}).out.find('\x1b'), std::string::npos);
  EXPECT_NE(run_binary({"top", two_ranks_top(), "--color", "always"}).out.find("\x1b[1m"),
            std::string::npos);
  EXPECT_EQ(run_binary({"top", two_ranks_top(), "--color=never"}).out.find('\x1b'),
            std::string::npos);
  EXPECT_EQ(run_binary({"top", two_ranks_top(), "--color", "pink"}).code, 2);
}

TEST_F(TopCommand, FiguresAreThoseOfReportAndCollectives) {
  const std::string trace = two_ranks_top() + "/rank0.json.gz";
  simdjson::dom::parser top_parser, other_parser;
  const RunResult single = run_binary({"--json", "top", trace, "-k", "0", "-q"});
  ASSERT_EQ(single.code, 0) << single.err;
  const RunResult report = run_binary({"--json", "report", trace, "-q"});
  {
    const auto top = top_parser.parse(single.out).value();
    const auto want = other_parser.parse(report.out).value();
    EXPECT_EQ(numbers(top, "top_timeline", "time ms"), numbers(want, "gpu_timeline", "time ms"));
    const auto percent = numbers(top, "top_timeline", "percent");
    const auto rows = numbers(want, "gpu_timeline", "percent");
    ASSERT_EQ(percent.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_NEAR(percent[i], rows[i], 1e-9);
    EXPECT_EQ(texts(top, "top_timeline", "type"), texts(want, "gpu_timeline", "type"));
  }
  const RunResult all = run_binary({"--json", "top", two_ranks_top(), "-k", "0", "-q"});
  ASSERT_EQ(all.code, 0) << all.err;
  const RunResult collectives = run_binary({"--json", "collectives", two_ranks_top(), "-q"});
  const auto top = top_parser.parse(all.out).value();
  const auto want = other_parser.parse(collectives.out).value();
  const char* const sheet = "nccl_summary_implicit_sync";
  EXPECT_GT(numbers(top, "top_collectives", "count").size(), 1U);
  EXPECT_EQ(numbers(top, "top_collectives", "count"), numbers(want, sheet, "count"));
  EXPECT_EQ(numbers(top, "top_collectives", "time ms"),
            numbers(want, sheet, "Total comm latency (ms)"));
  EXPECT_EQ(numbers(top, "top_collectives", "bus bw (GB/s)"),
            numbers(want, sheet, "bus bw (GB/s)_mean"));
  EXPECT_EQ(numbers(top, "top_collectives", "mean (us)"),
            numbers(want, sheet, "comm_latency_mean"));
  EXPECT_EQ(numbers(top, "top_communication", "exposed (ms)"),
            numbers(want, "exposed_by_type", "exposed (ms)"));
  // the findings contain those about collectives, word by word
  const auto findings = texts(top, "findings", "headline");
  for (const std::string& said : texts(want, "findings", "headline"))
    EXPECT_NE(std::find(findings.begin(), findings.end(), said), findings.end()) << said;
}

TEST_F(TopCommand, TheCommandsThatItNamesRun) {
  for (const auto& file : fs::directory_iterator(two_ranks_top()))
    if (file.path().extension() == ".gz")
      fs::copy_file(file.path(), folder_.path(file.path().filename().string()));
  simdjson::dom::parser parser;
  std::size_t ran = 0;
  fs::current_path(folder_.path()); // some commands write to the current folder
  for (const std::string& input : {folder_.path(), folder_.path("rank0.json.gz")}) {
    const RunResult r = run_binary({"--json", "top", input, "-q"});
    for (const std::string& line : texts(parser.parse(r.out).value(), "top_next", "command")) {
      std::istringstream in(line);
      std::vector<std::string> words;
      for (std::string word; in >> word;)
        words.push_back(word);
      ASSERT_EQ(words.front(), "rankscope");
      words.erase(words.begin());
      if (words.front() == "analyze")
        words.emplace_back("--no-plots");
      const RunResult next = run_binary(words);
      EXPECT_TRUE(next.code == 0 || next.code == 4) << line << "\n" << next.err;
      ++ran;
    }
  }
  fs::current_path(test::source_dir());
  EXPECT_GE(ran, 5U);
}

TEST_F(TopCommand, ReportPrintsItWhereNoOutputIsAskedFor) {
  const std::string trace = folder_.path("rank0.json.gz");
  fs::copy_file(two_ranks_top() + "/rank0.json.gz", trace);
  const RunResult plain = run_binary({"report", trace});
  EXPECT_EQ(plain.out.rfind("type ", 0), 0U) << "the table that scripts read stays first";
  const std::string page = run_binary({"top", trace}).out;
  const std::size_t body = page.find("GPU TIME");
  EXPECT_NE(plain.out.find(page.substr(body)), std::string::npos);
  EXPECT_TRUE(plain.out.ends_with(" sheets\n")) << "and what was written last";
  const RunResult asked = run_binary({"report", trace, "-o", folder_.path("r.xlsx")});
  EXPECT_EQ(asked.out.find("GPU TIME"), std::string::npos);
}

/// Returns the names of the sheets of a workbook, in order.
std::vector<std::string> sheets_of(const std::string& path) {
  int problem = 0;
  zip_t* const book = zip_open(path.c_str(), ZIP_RDONLY, &problem);
  std::string xml(1 << 16, '\0');
  zip_file_t* const part = book == nullptr ? nullptr : zip_fopen(book, "xl/workbook.xml", 0);
  if (part == nullptr)
    return {};
  xml.resize(
      static_cast<std::size_t>(std::max<zip_int64_t>(0, zip_fread(part, xml.data(), xml.size()))));
  zip_fclose(part);
  zip_discard(book);
  std::vector<std::string> out;
  const std::string mark = "<sheet name=\"";
  for (std::size_t at = xml.find(mark); at != std::string::npos; at = xml.find(mark, at + 1))
    out.push_back(xml.substr(at + mark.size(), xml.find('"', at + mark.size()) - at - mark.size()));
  return out;
}

TEST_F(TopCommand, AnOverviewBeginsTheWorkbookOfAWholeReport) {
  const std::string trace = two_ranks_top() + "/rank0.json.gz";
  const std::string book = folder_.path("r.xlsx");
  const RunResult both =
      run_binary({"report", trace, "-o", book, "--csv-dir", folder_.path("csv")});
  ASSERT_EQ(both.code, 0);
  std::vector<std::string> all = sheets_of(book);
  ASSERT_GT(all.size(), 5U);
  EXPECT_NE(both.out.find(fmt::format("{}: {} sheets\n", book, all.size())), std::string::npos)
      << "without the sheets that have only a header\n"
      << both.out;
  EXPECT_EQ(all[0], "overview");
  EXPECT_EQ(all[1], "roofline"); // of the GPU that the trace names
  EXPECT_EQ(all[2], "gpu_timeline");
  // no kernel is short: no sheet, because it would have only a header
  EXPECT_EQ(std::count(all.begin(), all.end(), "short_kernel_histogram"), 0);
  EXPECT_TRUE(fs::exists(folder_.path("csv/short_kernel_histogram.csv")));
  EXPECT_FALSE(fs::exists(folder_.path("csv/overview.csv")));
  EXPECT_FALSE(fs::exists(folder_.path("csv/roofline.csv")));
  ASSERT_EQ(run_binary({"report", trace, "-o", book, "--gpu-arch", "none"}).code, 0);
  EXPECT_EQ(sheets_of(book)[1], "gpu_timeline") << "no board, no roofline";
  EXPECT_TRUE(fs::exists(folder_.path("csv/gpu_timeline.csv")));
  ASSERT_EQ(run_binary({"report", trace, "-o", book, "--compat", "tracelens"}).code, 0);
  all = sheets_of(book);
  EXPECT_EQ(all.front(), "gpu_timeline") << "the reference's sheets come first";
  EXPECT_EQ(std::count(all.begin(), all.end(), "short_kernel_histogram"), 1);
  ASSERT_EQ(run_binary({"report", trace, "-o", book, "--sheets", "ops_summary,gpu_timeline"}).code,
            0);
  EXPECT_EQ(sheets_of(book), (std::vector<std::string>{"gpu_timeline", "ops_summary"}));
  EXPECT_TRUE(run_binary({"report", trace, "-o", book, "--sheets", "ops_summary"})
                  .out.ends_with(": 1 sheet\n"));
}

TEST_F(TopCommand, UsageAndUnreadable) {
  EXPECT_EQ(run_binary({"top"}).code, 2);
  EXPECT_EQ(run_binary({"top", folder_.path("none.json")}).code, 3);
  EXPECT_EQ(run_binary({"top", "-", "--watch"}).code, 2);
  EXPECT_EQ(run_binary({"top", two_ranks_top(), "--gpu-arch", "nothing"}).code, 3);
  const RunResult broken = run_binary({"top", folder_.write("t.json", "not a trace")});
  EXPECT_EQ(broken.code, 3);
  EXPECT_NE(broken.err.find("t.json"), std::string::npos);
}

TEST_F(TopCommand, WatchShowsWhatArrivesAndCtrlCEndsIt) {
  const std::string target = folder_.path("seen");
  fs::create_directories(target);
  ProcessSpec spec;
  spec.argv = {test::binary(), "top", "--watch", "0.1", target};
  spec.out = Stream::kFile;
  spec.out_file = folder_.path("shown");
  spec.err = Stream::kCapture;
  Result<Process> run = Process::start(std::move(spec));
  ASSERT_TRUE(run);
  const auto shows = [&](const std::string& text) {
    return test::soon(
        [&] { return test::bytes_of(folder_.path("shown")).find(text) != std::string::npos; });
  };
  const auto arrive = [&](const std::string& name) {
    fs::copy_file(two_ranks_top() + "/" + name, folder_.path(name));
    fs::rename(folder_.path(name), target + "/" + name);
  };
  arrive("rank0.json.gz");
  ASSERT_TRUE(shows("1 rank on"));
  arrive("rank1.json.gz");
  ASSERT_TRUE(shows("2 ranks on"));
  std::this_thread::sleep_for(std::chrono::milliseconds(500)); // time for some polls
  ::kill(run->pid(), SIGINT);
  const Result<ProcessEnd> end = run->wait();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0) << end->err;
  EXPECT_EQ(end->err.find("interrupted"), std::string::npos) << "it is the way to end a watch";
  const std::string out = test::bytes_of(folder_.path("shown"));
  const std::size_t first = out.find("1 rank on");
  const std::size_t second = out.find("2 ranks on");
  ASSERT_NE(second, std::string::npos) << out;
  EXPECT_LT(first, second);
  EXPECT_NE(out.find("waiting for "), std::string::npos);
  EXPECT_EQ(out.find("2 ranks on", second + 1), std::string::npos) << "once, nothing changed since";
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
}

TEST_F(TopCommand, RanksWithDifferentNumbersOfStepsHaveTheCostOfAStep) {
  const auto costs = [this](std::int64_t fewer_steps, const char* steps) {
    synth::Options sweep = test::small_sweep();
    sweep.ranks = 4;
    sweep.steps = 5;
    sweep.straggler = -1;
    sweep.fewer_steps = fewer_steps;
    const std::string run = folder_.path(steps);
    EXPECT_TRUE(synth::generate(sweep, run, 2, nullptr));
    const std::string folder = test::config_folder(run);
    const std::string page = run_binary({"top", folder}).out;
    EXPECT_NE(page.find(fmt::format(", {} steps,", steps)), std::string::npos) << page;
    simdjson::dom::parser parser;
    const std::string json = run_binary({"--json", "top", folder}).out;
    std::map<std::string, double> out;
    const simdjson::dom::element root = parser.parse(json);
    const std::vector<std::string> rules = texts(root, "findings", "rule");
    const std::vector<double> values = numbers(root, "findings", "cost_ms");
    for (std::size_t k = 0; k < rules.size(); ++k)
      out[rules[k]] = values[k];
    return out;
  };
  std::map<std::string, double> even = costs(-1, "5"), uneven = costs(2, "4 to 5");
  for (const char* rule : {"exposed-communication", "low-roofline"}) {
    ASSERT_GT(even[rule], 0) << rule;
    EXPECT_NEAR(uneven[rule], even[rule], 0.05 * even[rule]) << rule;
  }
}

TEST_F(TopCommand, ASlowNodeIsNamed) {
  synth::Options sweep = test::small_sweep();
  sweep.ranks = 16;
  sweep.steps = 3;
  sweep.straggler = -1;
  sweep.throttled = 8;
  sweep.throttled_last = 15;
  sweep.throttle_factor = 1.1;
  ASSERT_TRUE(synth::generate(sweep, folder_.path("node"), 2, nullptr));
  const RunResult r = run_binary({"top", test::config_folder(folder_.path("node"))});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NE(r.out.find("Ranks 8-15 (node 1) compute "), std::string::npos) << r.out;
}

} // namespace
} // namespace rankscope
