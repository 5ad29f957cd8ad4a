// Tests rankscope-mpi under mpirun of each implementation: outputs equal those of one process, a
// rank that cannot be read, wrong arguments, and a job that is ended and started again.
#include "mpi_jobs.h"
#include "output_trees.h"
#include "rank_cases.h"
#include "temp_folder.h"
#include "test_paths.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::mpi_program;
using test::TempFolder;

class MpiProgram : public test::MpiTest {
protected:
  void SetUp() override {
    MpiTest::SetUp();
    if (IsSkipped())
      return;
    const ProcessEnd end = run_alone({"synth", "sweep", "--threads", "256", "--channels", "28,42",
                                      "--ranks", "6", "--layers", "2", "--steps", "2", "-q"},
                                     folder.path());
    ASSERT_TRUE(end.ok()) << end.err;
  }

  static ProcessEnd run_in(ProcessSpec spec, const std::string& where) {
    fs::create_directories(where);
    spec.folder = where;
    Result<ProcessEnd> end = run_process(std::move(spec));
    if (!end) {
      ADD_FAILURE() << end.error().message();
      return {};
    }
    EXPECT_FALSE(end->timed_out) << "no end: a process waits for another\n" << end->err;
    return *end;
  }

  static ProcessEnd run_alone(const std::vector<std::string>& arguments, const std::string& where) {
    ProcessSpec spec;
    spec.argv = {test::binary()};
    spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
    spec.out = spec.err = Stream::kCapture;
    return run_in(std::move(spec), where);
  }

  static ProcessSpec job(int processes, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), mpi_program("rankscope-mpi", GetParam()));
    return test::mpi_job(GetParam(), processes, arguments);
  }

  /// Runs the program alone and as a job with the same arguments in two folders, and expects equal
  /// files. `alone_too`: further arguments for the program alone.
  void expect_equal(const std::vector<std::string>& arguments, int processes,
                    const std::vector<std::string>& alone_too = {}) {
    const std::string here = folder.path("one"), there = folder.path("job");
    fs::remove_all(here);
    fs::remove_all(there);
    std::vector<std::string> alone_arguments = arguments;
    alone_arguments.insert(alone_arguments.end(), alone_too.begin(), alone_too.end());
    const ProcessEnd alone = run_alone(alone_arguments, here);
    const ProcessEnd together = run_in(job(processes, arguments), there);
    EXPECT_EQ(together.exit_code, alone.exit_code) << together.err;
    // mpirun of Open MPI gives the first process a terminal, so its line width differs
    if (GetParam() == "mpich") {
      EXPECT_EQ(together.out, alone.out);
    }
    const auto want = test::files_below(here), got = test::files_below(there);
    EXPECT_FALSE(want.empty() && alone.out.empty());
    for (const auto& [name, bytes] : want) {
      ASSERT_TRUE(got.count(name)) << name;
      EXPECT_TRUE(bytes == got.at(name)) << name << " differs";
    }
    EXPECT_EQ(got.size(), want.size());
  }

  TempFolder folder;
};

TEST_P(MpiProgram, CollectivesEqualOneProcess) {
  const std::string run = folder.path("sweep/256thread/nccl_28channels");
  for (const int processes : {1, 4, 8}) // 8: two processes have no rank
    expect_equal({"collectives", run, "-o", "out.xlsx"}, processes);
  expect_equal({"collectives", run, "-o", "out.json", "--align", "base"}, 3);
  expect_equal({"collectives", run, "--csv-dir", "csv", "--agg-metrics", "mean,max"}, 3);
  const ProcessEnd json =
      run_in(job(2, {"collectives", run, "-o", "out.json", "--json"}), folder.path("json"));
  EXPECT_TRUE(json.out.starts_with("{")) << json.out; // one envelope, printed by the first process
  EXPECT_NE(json.out.find("\"tables\":{"), std::string::npos) << json.out;
}

TEST_P(MpiProgram, EveryCommandOverRanksEqualsOneProcess) {
  const std::string sweep = folder.path("sweep"), run = sweep + "/256thread/nccl_28channels";
  const std::string batch = folder.path("batch");
  fs::create_directories(batch);
  for (int rank = 0; rank < 6; ++rank)
    for (const auto& trace :
         fs::directory_iterator(run + "/torch_profiler/rank" + std::to_string(rank)))
      fs::copy_file(trace.path(), batch + "/rank_" + std::to_string(rank) + ".json");
  for (const RankCommand& command : rank_commands()) {
    const bool shows_analysis = std::string(command.name) == "html";
    if (shows_analysis) {
      ASSERT_TRUE(
          run_alone({"analyze", sweep, "--no-merge", "--no-plots"}, folder.path("before")).ok());
    }
    for (const test::RankCase& rank_case : test::rank_cases(command)) {
      test::RankWords words{command.name}, alone_too;
      for (const std::string& word : rank_case.words)
        if (word == "RUN")
          words.push_back(command.ranks == RanksOf::kBatchFolders ? batch : run);
        else if (word == "SWEEP")
          words.push_back(sweep);
        else if (word == "--no-merge") // merged traces can only be written from trace files
          alone_too.push_back(word);
        else
          words.push_back(word.starts_with("OUT") ? "." + word.substr(3) : word);
      words.insert(words.end(), rank_case.partial.begin(), rank_case.partial.end());
      SCOPED_TRACE(command.name);
      expect_equal(words, 3, alone_too);
    }
    if (shows_analysis) // `page` has links to these files, but not in a job
      fs::remove_all(sweep + "/tracelens_analysis");
  }
}

TEST_P(MpiProgram, SweepsPagesAndComparisonsEqualOneProcess) {
  const std::string a = folder.path("sweep/256thread/nccl_28channels"),
                    b = folder.path("sweep/256thread/nccl_42channels");
  expect_equal({"page", "--baseline", a, "--test", b, "-o", "pair.html"}, 3);
  // merged traces can only be written from trace files
  expect_equal({"analyze", folder.path("sweep"), "-o", "out", "--no-plots"}, 4, {"--no-merge"});
  expect_equal({"analyze", folder.path("sweep"), "--sweep2", a, "--label2", "one", "--layout",
                "2025-11", "-o", "out", "--no-plots"},
               3, {"--no-merge"});
  expect_equal({"compare", "--baseline", a, "--test", b, "--output", "out", "--no-plots"}, 3);
  const std::string saved = folder.path("a.rsb");
  ASSERT_TRUE(run_alone({"baseline", "save", a, "-o", saved}, folder.path("saving")).ok());
  expect_equal({"compare", "--baseline", saved, "--test", b, "--output", "out", "--no-plots"}, 2);
  expect_equal({"compare", "--baseline", a, "--test", b, "-o", "out", "--no-plots", "--fail-on",
                "total_time>0%", "--markdown", "pr.md", "--junit", "junit.xml", "--gpu-timeline"},
               3);
}

TEST_P(MpiProgram, RunsOfTheReferenceDataEqualOneProcess) {
  const fs::path golden = test::golden_dir();
  if (!fs::is_directory(golden / "hta"))
    GTEST_SKIP() << "no reference data in " << golden;
  fs::create_directories(folder.path("pair"));
  for (const char* name : {"sampled_rank-0.json.gz", "sampled_rank-1.json.gz"})
    fs::copy_file(golden / "hta" / name, folder.path("pair/") + name);
  const std::string four = (golden / "batch/profiles/013_profile_544p_bs1").string();
  expect_equal({"collectives", folder.path("pair"), "-o", "out.json"}, 4);
  expect_equal({"collectives", four, "-o", "out.json"}, 4);
  expect_equal({"page", four, "-o", "run.html"}, 4);
}

TEST_P(MpiProgram, ARankThatCannotBeReadIsNamed) {
  std::string trace;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder.path("sweep/256thread/nccl_28channels")))
    if (entry.path().string().find("rank3") != std::string::npos && entry.is_regular_file())
      trace = entry.path().string();
  ASSERT_FALSE(trace.empty());
  std::ofstream(trace) << "no trace at all";
  const std::vector<std::string> arguments = {
      "collectives", folder.path("sweep/256thread/nccl_28channels"), "-o", "out.xlsx"};
  const ProcessEnd end = run_in(job(4, arguments), folder.path("named"));
  EXPECT_EQ(end.exit_code, 4) << end.err;
  EXPECT_NE(end.err.find("rank 3"), std::string::npos) << end.err;
  expect_equal(arguments, 4); // the outputs of the other ranks are complete
}

std::map<std::string, fs::file_time_type> times_below(const std::string& folder) {
  std::map<std::string, fs::file_time_type> out;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.path().extension() == ".part")
      out[entry.path().filename().string()] = fs::last_write_time(entry.path());
  return out;
}

std::size_t folders_in(const std::string& folder, const std::string& prefix) {
  std::size_t out = 0;
  std::error_code ec;
  for (fs::directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec))
    out += at->path().filename().string().starts_with(prefix) ? 1 : 0;
  return out;
}

// The threads of the MPI library start before those of rankscope; neither may receive the signals.
// MPICH's launcher kills the other processes as soon as one has ended.
TEST_P(MpiProgram, AJobThatIsEndedLeavesNothingInTheTemporaryFolder) {
  const std::string temporary = folder.path("tmp");
  fs::create_directories(temporary);
  const auto processes_ready = [&] {
    std::size_t out = 0;
    std::error_code ec;
    for (fs::directory_iterator at(temporary, ec), end; !ec && at != end; at.increment(ec))
      if (at->path().filename().string().starts_with("rankscope-job-"))
        out += folders_in(at->path().string(), "rankscope-");
    return out;
  };
  for (const std::size_t ready : {1U, 2U, 3U, 3U, 3U}) {
    ProcessSpec spec = job(3, {"analyze", folder.path("sweep"), "-o", "out", "--no-plots"});
    fs::create_directories(spec.folder = folder.path("ended"));
    spec.set_env.emplace_back("TMPDIR", temporary);
    Result<Process> run = Process::start(std::move(spec));
    ASSERT_TRUE(run) << run.error().message();
    for (int i = 0; i < 3000 && processes_ready() < ready; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(run->pid(), SIGTERM);
    (void)run->wait();
    for (int i = 0; i < 500 && folders_in(temporary, "rankscope") > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_EQ(folders_in(temporary, "rankscope"), 0U) << "ended when " << ready << " had begun";
  }
  ProcessSpec job_of_three = job(3, {"analyze", folder.path("sweep"), "-o", "out", "--no-plots"});
  job_of_three.set_env.emplace_back("TMPDIR", temporary);
  EXPECT_TRUE(run_in(std::move(job_of_three), folder.path("not_ended")).ok());
  EXPECT_EQ(folders_in(temporary, "rankscope"), 0U);
}

// A job with the folder of parts of a job that was ended: the outputs are the same, and only
// missing ranks are read.
TEST_P(MpiProgram, KeptPartsAreTakenByTheNextJob) {
  const std::string run = folder.path("sweep/256thread/nccl_28channels");
  const std::string parts = folder.path("parts");
  const std::vector<std::string> arguments = {"collectives",  run,  "-o", "out.xlsx",
                                              "--keep-parts", parts};
  const std::vector<std::string> plain(arguments.begin(), arguments.end() - 2);
  const ProcessEnd alone = run_alone(plain, folder.path("one"));
  const auto want = test::files_below(folder.path("one"));
  ASSERT_FALSE(want.empty()) << alone.err;

  // a job that is ended as soon as the first part exists (it may also end before that)
  Result<Process> killed = Process::start([&] {
    ProcessSpec spec = job(3, arguments);
    fs::create_directories(spec.folder = folder.path("killed"));
    return spec;
  }());
  ASSERT_TRUE(killed) << killed.error().message();
  for (int i = 0; i < 600 && times_below(parts).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ::kill(killed->pid(), SIGTERM);
  (void)killed->wait();
  // like a node that was killed: its shard and a rank are missing
  run_in(job(3, arguments), folder.path("whole"));
  const auto written = times_below(parts);
  ASSERT_EQ(written.size(), 6U + 3U); // 6 ranks and 3 shards
  fs::remove(parts + "/shard_1_of_3.part");
  std::string lost;
  for (const auto& [name, time] : written)
    if (name.starts_with("rank1_"))
      fs::remove(parts + "/" + (lost = name));
  ASSERT_FALSE(lost.empty());

  const ProcessEnd again = run_in(job(3, arguments), folder.path("again"));
  EXPECT_EQ(again.exit_code, alone.exit_code) << again.err;
  EXPECT_EQ(test::files_below(folder.path("again")), want);
  const auto now = times_below(parts);
  EXPECT_EQ(now.size(), written.size());
  for (const auto& [name, time] : written)
    if (name.starts_with("rank") && name != lost) {
      EXPECT_EQ(now.at(name), time) << name << " was made again";
    }
  EXPECT_TRUE(now.count(lost));

  // started again with other numbers of processes: nothing is missing, so nothing is read
  for (const int processes : {2, 3}) {
    const std::string where = folder.path("of" + std::to_string(processes));
    const ProcessEnd other = run_in(job(processes, arguments), where);
    EXPECT_EQ(other.exit_code, alone.exit_code) << other.err;
    EXPECT_EQ(test::files_below(where), want);
  }
  for (const auto& [name, time] : times_below(parts))
    if (name.starts_with("rank")) {
      EXPECT_EQ(now.at(name), time) << name << " was made again";
    }

  const std::string b = folder.path("sweep/256thread/nccl_42channels");
  expect_equal({"compare", "--baseline", run, "--test", b, "-o", "out", "--no-plots"}, 2);
  const ProcessEnd compared = run_in(job(2, {"compare", "--baseline", run, "--test", b, "-o", "out",
                                             "--no-plots", "--keep-parts", folder.path("both")}),
                                     folder.path("kept"));
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_EQ(test::files_below(folder.path("kept")), test::files_below(folder.path("job")));
}

TEST_P(MpiProgram, NoGoodArgumentsAreToldOnce) {
  const ProcessEnd unknown = run_in(job(4, {"collectivs", "x"}), folder.path("a"));
  EXPECT_EQ(unknown.exit_code, 2) << unknown.err;
  const std::size_t at = unknown.err.find("no command named");
  ASSERT_NE(at, std::string::npos) << unknown.err;
  EXPECT_EQ(unknown.err.find("no command named", at + 1), std::string::npos) << unknown.err;
  const ProcessEnd absent =
      run_in(job(4, {"collectives", "/nowhere/at/all", "-o", "o.xlsx"}), folder.path("a"));
  EXPECT_EQ(absent.exit_code, 3) << absent.err;
  EXPECT_NE(absent.err.find("/nowhere/at/all"), std::string::npos) << absent.err;
  const ProcessEnd help = run_in(job(3, {"page", "--help"}), folder.path("a"));
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("rankscope-mpi page"), std::string::npos) << help.out;
}

INSTANTIATE_TEST_SUITE_P(, MpiProgram, testing::ValuesIn(test::mpi_implementations()),
                         [](const auto& instance) { return instance.param; });

} // namespace
} // namespace rankscope
