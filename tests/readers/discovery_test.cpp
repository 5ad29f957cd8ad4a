// Tests which files are assigned to which rank of which configuration, with folders made for the
// tests.
#include "readers/discovery.h"
#include "readers/trace_files.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

class Discovery : public ::testing::Test {
protected:
  void file(const std::string& name, const std::string& text = R"({"traceEvents": []})") {
    const fs::path path = fs::path(folder_.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::string at(const std::string& name) const { return folder_.path() + "/" + name; }
  std::vector<RunPlan> sweep() {
    Result<std::vector<RunPlan>> plans = discover_sweep(folder_.path(), options_, diag_);
    EXPECT_TRUE(plans) << plans.error().message();
    return plans ? *plans : std::vector<RunPlan>{};
  }
  static std::vector<std::int64_t> ranks(const RunPlan& plan) {
    std::vector<std::int64_t> out;
    for (const RankFile& f : plan.ranks)
      out.push_back(f.rank);
    return out;
  }

  test::TempFolder folder_;
  DiscoverOptions options_;
  Diagnostics diag_;
};

TEST_F(Discovery, ThreadAndChannelFoldersInNumericOrder) {
  for (const char* config :
       {"512thread/nccl_28channels", "256thread/nccl_112channels", "256thread/nccl_28channels"})
    for (int r : {0, 1, 2, 10})
      file(std::string(config) + "/torch_profiler/rank" + std::to_string(r) +
           "/customer_trace_step19.json");
  file("tracelens_analysis/256thread/x.json");
  file("merged_traces/256thread_28ch_merged.json");
  for (const char* output : {"ground_truth.json", "manifest.json", "metrics.json"})
    file(output);
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 3U);
  EXPECT_EQ(plans[0].configuration.label, "256thread_28ch");
  EXPECT_EQ(plans[1].configuration.label, "256thread_112ch");
  EXPECT_EQ(plans[2].configuration.label, "512thread_28ch");
  EXPECT_EQ(plans[1].configuration.threads(), 256);
  EXPECT_EQ(plans[1].configuration.channels(), 112);
  EXPECT_EQ(ranks(plans[0]), (std::vector<std::int64_t>{0, 1, 2, 10}));
  EXPECT_EQ(plans[0].missing_ranks, (std::vector<std::int64_t>{3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(diag_.data_lost());
  EXPECT_EQ(plans[0].folder, at("256thread/nccl_28channels"));
}

// ST-0.7: each file was read as a separate configuration.
TEST_F(Discovery, FilesOfOneFolderWhoseHeadsNameRanksAreOneRun) {
  const auto head = [](int rank) {
    return R"({"distributedInfo": {"backend": "nccl", "rank": )" + std::to_string(rank) +
           R"(, "world_size": 3}, "traceEvents": []})";
  };
  for (int r : {0, 1, 2}) {
    file("dlrm/worker" + std::to_string(r) + "_step_12.16" + std::to_string(90 - r) +
             ".pt.trace.json",
         head(r));
    file("torch/node1_" + std::to_string(4000 + r) + ".16" + std::to_string(80 + r) +
             ".pt.trace.json",
         head(r));
  }
  // one rank at two times: not a run of several ranks
  file("same/a.json", head(0));
  file("same/b.json", head(0));
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 4U);
  std::vector<std::string> labels;
  for (const RunPlan& plan : plans) {
    labels.push_back(plan.configuration.label);
    if (plan.configuration.label == "dlrm" || plan.configuration.label == "torch") {
      EXPECT_EQ(ranks(plan), (std::vector<std::int64_t>{0, 1, 2}));
    }
  }
  EXPECT_NE(std::find(labels.begin(), labels.end(), "dlrm"), labels.end());
  EXPECT_NE(std::find(labels.begin(), labels.end(), "torch"), labels.end());
}

// The files may be ranks of one run or several runs. Nothing shows which, so neither is assumed.
TEST_F(Discovery, FilesOfOneFolderWithoutAnyRankAreRunsOnlyWhenAsked) {
  file("run/before.json");
  file("run/after.json");
  const auto refused = discover_sweep(at("run"), options_, diag_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_EQ(refused.error().where, at("run"));
  EXPECT_EQ(refused.error().what,
            "after.json and 1 other trace have neither a rank nor a configuration in their names");
  EXPECT_NE(refused.error().hint.find("--files-as-runs"), std::string::npos);
  options_.files_as_runs = true;
  const auto plans = discover_sweep(at("run"), options_, diag_);
  ASSERT_TRUE(plans) << plans.error().message();
  ASSERT_EQ(plans->size(), 2U);
  EXPECT_EQ((*plans)[0].configuration.label, "after");
  EXPECT_EQ((*plans)[1].configuration.label, "before");
  // a single file is a run, and folders are configurations
  options_.files_as_runs = false;
  fs::remove(at("run/after.json"));
  EXPECT_TRUE(discover_sweep(at("run"), options_, diag_));
  file("sweep/a=1/x.json");
  file("sweep/a=2/y.json");
  EXPECT_EQ(discover_sweep(at("sweep"), options_, diag_)->size(), 2U);
}

TEST_F(Discovery, ANumberThatNoRunHasIsNamedInASentence) {
  for (const char* rank : {"0", "9223372036854775807"}) // rank + 1 overflows
    file(std::string("a/rank") + rank + "/t.json");
  const auto far = sweep();
  ASSERT_EQ(far.size(), 1U);
  EXPECT_EQ(ranks(far[0]), (std::vector<std::int64_t>{0, 9223372036854775807}));
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_LT(diag_.problems()[0].sentence.size(), 400U);
  EXPECT_NE(diag_.problems()[0].sentence.find("ranks 1-1048575 have no trace"), std::string::npos)
      << diag_.problems()[0].sentence;
}

TEST_F(Discovery, ComputeUnitFoldersAndEmptyConfigurations) {
  file("56cu_256threads/torch_profiler/rank0/trace.json.gz");
  file("37cu_512threads/torch_profiler/rank0/trace.json");
  fs::create_directories(at("28cu_256threads/torch_profiler"));
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].configuration.label, "56cu_256threads");
  EXPECT_EQ(plans[0].configuration.cus(), 56);
  EXPECT_FALSE(plans[0].configuration.channels());
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_EQ(diag_.problems()[0].where, at("28cu_256threads"));
}

TEST_F(Discovery, AnyParameterOfASweep) {
  for (const char* config :
       {"protocol=Simple/256thread/nccl_28channels", "protocol=LL/256thread/nccl_28channels",
        "protocol=LL/algo=Ring", "size=10", "size=9"})
    file(std::string(config) + "/torch_profiler/rank0/t.json");
  fs::create_directories(at("size=11"));
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 5U);
  EXPECT_EQ(plans[0].configuration.label, "protocol=LL_256thread_nccl_28channels");
  EXPECT_EQ(plans[0].configuration.text("protocol"), "LL");
  EXPECT_EQ(plans[0].configuration.channels(), 28);
  EXPECT_EQ(plans[0].folder, at("protocol=LL/256thread/nccl_28channels"));
  EXPECT_EQ(plans[1].configuration.text("protocol"), "Simple");
  EXPECT_EQ(plans[2].configuration.text("algo"), "Ring");
  EXPECT_EQ(plans[2].configuration.text("protocol"), "LL");
  EXPECT_EQ(plans[3].configuration.integer("size"), 9); // sorted before 10
  EXPECT_EQ(plans[4].configuration.label, "size=10");
  // protocol=LL contains configurations, size=11 is empty
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_EQ(diag_.problems()[0].where, at("size=11"));
}

TEST_F(Discovery, OwnConfigurationExpression) {
  file("run_a_c12/rank_0.json");
  file("run_a_c12/rank_1.json");
  file("run_b_c4/rank-0.json");
  file("notes/rank0.json");
  options_.config_regex = R"(run_[a-z]_c(?P<channels>\d+))";
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].configuration.channels(), 4);
  EXPECT_EQ(plans[1].configuration.channels(), 12);
  EXPECT_EQ(ranks(plans[1]), (std::vector<std::int64_t>{0, 1}));
  options_.config_regex = R"(run_(?P<variant>[a-z])_c(?P<channels>\d+))";
  const auto named = sweep();
  ASSERT_EQ(named.size(), 2U);
  EXPECT_EQ(named[0].configuration.text("variant"), "b");
}

TEST_F(Discovery, PlainFoldersGroupByName) {
  file("sampled_rank-0.json");
  file("sampled_rank-1.json");
  file("other.json", R"({"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 3,
       "world_size": 4}, "traceEvents": []})");
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].configuration.label, "other");
  EXPECT_EQ(ranks(plans[0]), (std::vector<std::int64_t>{3})); // from the header of the trace
  EXPECT_EQ(plans[1].configuration.label, "sampled_rank");
  EXPECT_FALSE(diag_.data_lost());
}

TEST_F(Discovery, OneRun) {
  file("torch_profiler/rank0/a.json");
  file("torch_profiler/rank1/a.json");
  const Result<RunPlan> run = discover_run({at("torch_profiler")}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->configuration.label, "torch_profiler");
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0, 1}));
  const Result<RunPlan> files = discover_run(
      {at("torch_profiler/rank1/a.json"), at("torch_profiler/rank0/a.json")}, options_, diag_);
  ASSERT_TRUE(files);
  EXPECT_EQ(ranks(*files), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(files->ranks[1].path, at("torch_profiler/rank1/a.json"));
}

// An option that chooses nothing is named.
TEST_F(Discovery, AStepThatNoFileNameContainsIsNamed) {
  for (const char* rank : {"0", "1"})
    file(std::string("rank") + rank + "/trace_step18.json");
  options_.step = "18";
  ASSERT_TRUE(discover_run({folder_.path()}, options_, diag_));
  EXPECT_TRUE(diag_.problems().empty());
  options_.step = "99";
  ASSERT_TRUE(discover_run({folder_.path()}, options_, diag_));
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_EQ(diag_.problems()[0].sentence, "--step 99 chooses nothing: each rank has one trace, and "
                                          "no file name contains this step or time");
}

TEST_F(Discovery, WithoutATraceTheErrorNamesTheReason) {
  file("rank0/trace.json");
  options_.trace_pattern = "x*";
  Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().what, "no trace matches --trace-pattern 'x*'");
  options_.trace_pattern.clear();
  run = discover_run({folder_.write("empty.txt", "")}, options_, diag_);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().what, "the file is empty");
}

TEST_F(Discovery, OfSeveralStepsOfARankTheNewestThatAllHaveIsUsed) {
  for (const char* step : {"18", "19", "190"})
    for (const char* rank : {"0", "1"})
      if (std::string(rank) + step != "1190") // rank 1 has not finished the last step
        file(std::string("rank") + rank + "/trace_step" + step + ".json");
  Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->ranks[0].path, at("rank0/trace_step19.json"));
  EXPECT_EQ(run->ranks[1].path, at("rank1/trace_step19.json"));
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_EQ(diag_.problems()[0].sentence,
            "there are traces of the steps 18, 19, 190; step 19 is used, because it is the newest "
            "that all ranks have; --step chooses another step (merge: --trace-step)");
  EXPECT_FALSE(diag_.data_lost());
  options_.step = "18";
  run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ranks[0].path, at("rank0/trace_step18.json"));
  options_.step = "190"; // only rank 0 has this step
  run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0}));
  options_.step = "20";
  run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kUsage);
  EXPECT_NE(run.error().message().find("the traces have the steps 18, 19, 190"), std::string::npos)
      << run.error().message();
  options_.step.clear();
  options_.trace_name = "trace_step18.json";
  run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->ranks[0].path, at("rank0/trace_step18.json"));
}

// Default names of torch: HOST_PID.TIME.pt.trace.json, one file per window.
TEST_F(Discovery, OfSeveralTimesOfARankTheNewestIsUsed) {
  const auto head = [](int rank) {
    return R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
           R"(, "world_size": 2}, "traceEvents": []})";
  };
  for (const int rank : {0, 1})
    for (const int window : {1, 2, 3})
      file("run/n_40" + std::to_string(rank) + ".16941282015" + std::to_string(window) +
               std::to_string(rank) + ".pt.trace.json",
           head(rank));
  const auto newest = [this](const RunPlan& plan) {
    return ranks(plan) == std::vector<std::int64_t>{0, 1} &&
           plan.ranks[0].path == at("run/n_400.1694128201530.pt.trace.json") &&
           plan.ranks[1].path == at("run/n_401.1694128201531.pt.trace.json");
  };
  Result<RunPlan> run = discover_run({at("run")}, options_, diag_);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_TRUE(newest(*run));
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_NE(diag_.problems()[0].sentence.find("the newest of each rank is used"),
            std::string::npos);
  const auto plans = sweep(); // one run as a sweep too
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_TRUE(newest(plans[0]));
  EXPECT_EQ(plans[0].configuration.label, "run");
  options_.step = "1694128201521"; // the time of rank 1, whose clock differs
  run = discover_run({at("run")}, options_, diag_);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(run->ranks[0].path, at("run/n_400.1694128201520.pt.trace.json"));
  EXPECT_EQ(run->ranks[1].path, at("run/n_401.1694128201521.pt.trace.json"));
  options_.step = "7";
  EXPECT_EQ(discover_run({at("run")}, options_, diag_).error().code, ErrorCode::kUsage);
}

TEST_F(Discovery, WindowsInOneFolderAreOneConfiguration) {
  for (const char* step : {"12", "24"})
    for (const char* rank : {"0", "1"})
      file(std::string("rank") + rank + "_step" + step + ".json");
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].configuration.label, "rank_step");
  EXPECT_EQ(plans[0].ranks[1].path, at("rank1_step24.json"));
}

TEST_F(Discovery, TracesThatNoNameTellsApartNeedAChoice) {
  file("rank0/a.json");
  file("rank0/b.json");
  const Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kUsage);
  EXPECT_NE(run.error().what.find("rank0/b.json"), std::string::npos);
}

TEST_F(Discovery, WithoutARankInHeadsAndNamesTheirOrderTells) {
  for (const char* name :
       {"run/n_52.1694128201545.pt.trace.json", "run/n_7.1694128201545.pt.trace.json",
        "run/n_7.1694128209999.pt.trace.json"})
    file(name);
  const Result<RunPlan> run = discover_run({at("run")}, options_, diag_);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(run->ranks[0].path, at("run/n_52.1694128201545.pt.trace.json"));
  EXPECT_EQ(run->ranks[1].path, at("run/n_7.1694128209999.pt.trace.json"));
  ASSERT_EQ(diag_.problems().size(), 2U);
  EXPECT_NE(
      diag_.problems()[0].sentence.find("the 2 traces are numbered in the order of their names"),
      std::string::npos)
      << diag_.problems()[0].sentence;
  EXPECT_FALSE(diag_.data_lost());
}

TEST_F(Discovery, PatternsAndExpressions) {
  file("host7.json");
  file("host8.json");
  options_.trace_pattern = "host*.json";
  Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{7, 8}));
  options_.trace_pattern.clear();
  options_.rank_regex = R"(h(o)st(?P<rank>\d))";
  run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{7, 8}));
  options_.rank_regex = "(";
  EXPECT_EQ(discover_run({folder_.path()}, options_, diag_).error().code, ErrorCode::kUsage);
  options_.rank_regex.clear();
  EXPECT_EQ(discover_run({at("none")}, options_, diag_).error().code, ErrorCode::kUnreadable);
}

TEST_F(Discovery, HeaderAgainstName) {
  file("rank0.json", R"({"distributedInfo": {"rank": 5, "world_size": 8}, "traceEvents": []})");
  const Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0}));
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_EQ(diag_.problems()[0].name, "rank_differs_from_header");
  options_.require_all_ranks = true;
  EXPECT_FALSE(discover_run({folder_.path()}, options_, diag_)); // 7 of 8 ranks are missing
}

TEST_F(Discovery, LinkedRankFoldersAreEnteredAndLoopsAreNot) {
  test::TempFolder elsewhere;
  for (const char* rank : {"0", "1"})
    elsewhere.write(std::string("host") + rank + "/t.json", R"({"traceEvents": []})");
  fs::create_directories(at("run/rank2"));
  file("run/rank2/t.json");
  fs::create_directory_symlink(elsewhere.path("host0"), at("run/rank0"));
  fs::create_directory_symlink(elsewhere.path("host1"), at("run/rank1"));
  fs::create_directory_symlink(at("run"), at("run/rank2/again"));
  fs::create_directory_symlink(".", at("run/here"));
  fs::create_directory_symlink(at("nowhere"), at("run/gone"));
  const Result<RunPlan> run = discover_run({at("run")}, options_, diag_);
  ASSERT_TRUE(run) << run.error().message();
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(run->ranks[1].path, at("run/rank1/t.json"));
  EXPECT_TRUE(diag_.empty()) << diag_.problems()[0].sentence;
  const auto plans = sweep();
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(ranks(plans[0]), (std::vector<std::int64_t>{0, 1, 2}));
}

// HA-E6: with two links per folder to the next one, each level doubled the work.
TEST_F(Discovery, ARealFolderIsEnteredOnceWhateverLinksToIt) {
  constexpr int kLevels = 40;
  for (int i = 0; i <= kLevels; ++i)
    fs::create_directories(at(fmt::format("run/d{}", i)));
  for (int i = 0; i < kLevels; ++i)
    for (const char* name : {"a", "b"})
      fs::create_directory_symlink(at(fmt::format("run/d{}", i + 1)),
                                   at(fmt::format("run/d{}/{}", i, name)));
  fs::create_directory_symlink("/proc/self", at("run/processes"));
  file(fmt::format("run/d{}/rank0.json", kLevels));
  const Result<Listing> found = list_traces(at("run"), readers(), diag_);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->files, std::vector<std::string>{at(fmt::format("run/d{}/rank0.json", kLevels))});
  EXPECT_EQ(found->folders.size(), kLevels + 1U);
  // the same if folders are reached only through links
  const Result<Listing> linked = list_traces(at("run/d0"), readers(), diag_);
  ASSERT_TRUE(linked) << linked.error().message();
  EXPECT_EQ(linked->files.size(), 1U);
}

TEST_F(Discovery, AFolderWithoutPermissionIsNamed) {
  for (const char* rank : {"0", "1", "2"})
    file(std::string("run/rank") + rank + "/t.json");
  constexpr fs::perms kOpen = fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                              fs::perms::others_read | fs::perms::others_exec;
  for (const char* folder : {"", "/run", "/run/rank0", "/run/rank1"})
    fs::permissions(folder_.path() + folder, kOpen);
  for (const char* trace : {"run/rank0/t.json", "run/rank1/t.json"})
    fs::permissions(at(trace), kOpen);
  fs::permissions(at("run/rank2"), fs::perms::none);
  const auto named = [this] {
    const Result<RunPlan> run = discover_run({at("run")}, options_, diag_);
    const std::vector<Problem> problems = diag_.problems();
    return run && ranks(*run) == std::vector<std::int64_t>{0, 1} && problems.size() == 1 &&
           problems[0].where == at("run/rank2") && diag_.data_lost() &&
           problems[0].sentence ==
               "cannot be entered (Permission denied): traces below it are missing";
  };
  if (::geteuid() != 0) {
    EXPECT_TRUE(named());
  } else { // root can enter every folder, so another user does the test
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(::setuid(65534) == 0 && named() ? 0 : 1);
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  fs::permissions(at("run/rank2"), fs::perms::owner_all);
}

TEST_F(Discovery, ARankNumberThatDoesNotFitIsNamed) {
  for (const char* rank : {"0", "1", "99999999999999999999"})
    file(std::string("rank") + rank + "/t.json");
  const Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0, 1}));
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_EQ(diag_.problems()[0].sentence,
            "its rank number 99999999999999999999 is too large; the trace is left out");
  EXPECT_TRUE(diag_.data_lost());
  fs::remove_all(at("rank0"));
  fs::remove_all(at("rank1"));
  EXPECT_EQ(discover_run({folder_.path()}, options_, diag_).error().code, ErrorCode::kUnreadable);
}

// The last ranks are missing: file names do not show this, but the headers of the traces do.
TEST_F(Discovery, RanksMissingAtTheEndAreToldByTheHeads) {
  for (int r : {0, 1})
    file("rank" + std::to_string(r) + ".json", R"({"distributedInfo": {"rank": )" +
                                                   std::to_string(r) +
                                                   R"(, "world_size": 4}, "traceEvents": []})");
  const Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->missing_ranks, (std::vector<std::int64_t>{2, 3}));
  ASSERT_EQ(diag_.problems().size(), 1U);
  EXPECT_EQ(diag_.problems()[0].sentence, "ranks 2, 3 have no trace");
  EXPECT_TRUE(diag_.data_lost());
}

// Of another file with a rank's name, the headers say that it belongs to no rank. Some writers put
// the numbers in quotes.
TEST_F(Discovery, AFileBeyondTheWorldMakesNoRankMissing) {
  for (const int rank : {0, 1, 2})
    file(fmt::format("rank{}.json", rank),
         fmt::format(
             R"({{"distributedInfo": {{"rank": "{}", "world_size": "3"}}, "traceEvents": []}})",
             rank));
  file("rank9_config.json", R"({"schemaVersion": 1})");
  const Result<RunPlan> run = discover_run({folder_.path()}, options_, diag_);
  ASSERT_TRUE(run);
  EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0, 1, 2, 9}));
  EXPECT_TRUE(run->missing_ranks.empty());
}

// Two nodes whose launchers number the ranks of each node from 0.
TEST_F(Discovery, RanksOfNodesThatCountFromZeroComeFromTheHeaders) {
  const auto header = [](int rank) {
    return fmt::format(
        R"({{"distributedInfo": {{"rank": {}, "world_size": 4}}, "traceEvents": []}})", rank);
  };
  for (const char* name : {"node{}/rank{}.json", "node{}/rank{}/trace.json",
                           "node{}/torch_profiler/rank{}/trace_step3.json", "node{}_rank{}.json"}) {
    SCOPED_TRACE(name);
    fs::remove_all(at("run"));
    for (const int node : {0, 1})
      for (const int local : {0, 1})
        file("run/" + fmt::format(fmt::runtime(name), node, local), header(2 * node + local));
    const Result<RunPlan> run = discover_run({at("run")}, options_, diag_);
    ASSERT_TRUE(run) << run.error().message();
    EXPECT_EQ(ranks(*run), (std::vector<std::int64_t>{0, 1, 2, 3}));
    const auto plans = sweep();
    ASSERT_EQ(plans.size(), 1U);
    EXPECT_EQ(ranks(plans[0]), (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(plans[0].configuration.label, "run");
    EXPECT_EQ(fs::path(plans[0].ranks[3].path).lexically_relative(at("run")),
              fmt::format(fmt::runtime(name), 1, 1));
    EXPECT_TRUE(diag_.empty()) << diag_.problems()[0].sentence;
  }
}

TEST_F(Discovery, RunsWithTheSameRanksInTheirHeadersStaySeparate) {
  for (const char* run : {"before", "after"})
    for (const int rank : {0, 1})
      file(fmt::format("{}/rank{}.json", run, rank),
           fmt::format(R"({{"distributedInfo": {{"rank": {}, "world_size": 2}}}})", rank));
  EXPECT_EQ(sweep().size(), 2U);
  EXPECT_EQ(discover_run({folder_.path()}, options_, diag_).error().what,
            "rank 0 has several traces: after/rank0.json, before/rank0.json");
}

} // namespace
} // namespace rankscope
