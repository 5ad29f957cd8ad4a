// Tests parts in memory: for all divisions of the ranks and all orders of the files, the report is
// the same as from traces; bytes that are not parts are an Error, never a report.
#include "app/collectives.h"
#include "app/part_runs.h"
#include "app/partial.h"
#include "engine/shard_file.h"
#include "settle.h"
#include "small_sweep.h"
#include "synth/synth.h"
#include "temp_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

namespace rankscope {
namespace {

class PartsInMemory : public ::testing::Test {
protected:
  void SetUp() override {
    synth::Options o = test::small_sweep();
    o.clock_offset_us = 200;
    o.process_groups = 2;
    o.ranks = 8;
    ASSERT_TRUE(synth::generate(o, sweep_, 1, {}));
    CollectivesRequest request;
    request.inputs = {run_};
    request.outputs.file = folder_.path("direct.json");
    Session session;
    const auto plan = plan_collectives(session, request);
    ASSERT_TRUE(plan);
    ASSERT_TRUE(collect_collectives(session, *plan, request));
    direct_ = test::bytes_of(request.outputs.file);
    ASSERT_GT(direct_.size(), 1000U);
  }

  std::vector<PartFile> shard(std::size_t index, std::size_t count) const {
    PartialRequest request;
    request.inputs = {run_};
    request.shard_index = index;
    request.shard_count = count;
    Session session;
    auto files = partial_in_memory(session, request);
    EXPECT_TRUE(files) << files.error().message();
    return files ? std::move(*files) : std::vector<PartFile>();
  }

  Result<CollectivesResult> reduce(Session& session, const std::vector<PartFile>& files) const {
    auto runs = std::make_shared<PartRuns>();
    RS_CHECK(runs->add(session, {}, {}, files));
    session.source = std::move(runs);
    CollectivesRequest request;
    request.inputs = {run_};
    request.outputs.file = folder_.path("reduced.json");
    RS_TRY(const RunPlan plan, plan_collectives(session, request));
    return collect_collectives(session, plan, request);
  }

  const test::TempFolder folder_;
  const std::string sweep_ = folder_.path("sweep");
  const std::string run_ = test::config_folder(sweep_);
  std::string direct_;
};

TEST_F(PartsInMemory, AnySplitAndAnyOrderGiveTheSameBytes) {
  std::mt19937 random(17);
  for (int round = 0; round < 8; ++round) {
    const std::size_t shards = std::uniform_int_distribution<std::size_t>(1, 11)(random);
    std::vector<PartFile> files;
    for (std::size_t i = 0; i < shards; ++i) {
      const std::vector<PartFile> more = shard(i, shards);
      files.insert(files.end(), more.begin(), more.end());
    }
    EXPECT_EQ(files.size(), 8 + shards);
    std::shuffle(files.begin(), files.end(), random);
    Session session;
    session.threads = round % 2 == 0 ? 1 : 3;
    const auto done = reduce(session, files);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(session.diagnostics.empty()) << session.diagnostics.problems().front().sentence;
    EXPECT_EQ(test::bytes_of(folder_.path("reduced.json")), direct_) << shards << " shards";
  }
}

/// Tables that are created while they are written equal tables that are stored in memory.
TEST_F(PartsInMemory, StreamedTablesAreTheSameBytes) {
  for (const char* name : {"x.json", "x.md"}) {
    std::string bytes[2];
    for (const bool stored : {false, true}) {
      CollectivesRequest request;
      request.inputs = {run_};
      request.outputs.file = folder_.path(name);
      request.outputs.csv_dir = folder_.path("csv");
      request.max_stored_rows = stored ? 1'000'000 : 0;
      Session session;
      const auto plan = plan_collectives(session, request);
      ASSERT_TRUE(plan);
      const auto done = collect_collectives(session, *plan, request);
      ASSERT_TRUE(done) << done.error().message();
      EXPECT_EQ(done->streams.size(), stored ? 0U : 2U);
      EXPECT_EQ(done->report.find("nccl_long")->rows() > 0, stored);
      bytes[stored ? 1 : 0] = test::bytes_of(request.outputs.file) +
                              test::bytes_of(folder_.path("csv/nccl_long.csv")) +
                              test::bytes_of(folder_.path("csv/nccl_implicit_sync.csv"));
    }
    EXPECT_EQ(bytes[0], bytes[1]) << name;
  }
  EXPECT_EQ(test::bytes_of(folder_.path("x.json")), direct_);
}

/// One byte is changed or the end is missing, anywhere in any file: the damage is reported, and the
/// report is never complete.
TEST_F(PartsInMemory, DamageAnywhereIsNamed) {
  std::vector<PartFile> files = shard(0, 2);
  for (PartFile& more : shard(1, 2))
    files.push_back(std::move(more));
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    std::vector<PartFile> damaged = files;
    PartFile& file =
        damaged[std::uniform_int_distribution<std::size_t>(0, files.size() - 1)(random)];
    const std::size_t at =
        std::uniform_int_distribution<std::size_t>(0, file.bytes.size() - 1)(random);
    if (round % 2 == 0)
      file.bytes.resize(at);
    else
      file.bytes[at] = static_cast<char>(file.bytes[at] ^ 0x20);
    Session session;
    const auto done = reduce(session, damaged);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_TRUE(session.diagnostics.data_lost()) << file.name << " at " << at;
  }
}

TEST_F(PartsInMemory, AConfigurationThatLeadsOutOfTheFolderIsRefused) {
  ShardFile shard;
  shard.inputs = {"run"};
  shard.sweep.error = Error{ErrorCode::kUsage, "", "no sweep was asked for", ""};
  for (const char* label : {"../../x", "/x", "a/../../x", "256thread_28ch", "a..b"}) {
    shard.run.plans = {KnownPlan{}};
    shard.run.plans.front().plan.configuration.label = label;
    const bool stays = label[0] != '.' && label[0] != '/' && std::string(label) != "a/../../x";
    const auto read = decode_shard_file(encode_shard_file(shard));
    EXPECT_EQ(read.has_value(), stays) << label << (read ? "" : read.error().message());
  }
}

// The parts of the first configuration were made when it was the only one, so they lack the data
// that the page of a sweep needs.
TEST_F(PartsInMemory, ASweepThatGrowsMakesThePartsOfItsPageAnew) {
  const std::string parts = folder_.path("parts");
  PartialRequest request;
  request.inputs = {sweep_};
  request.world_size = 8;
  request.options.wanted = {"collectives", "page"};
  test::settle();
  for (const std::size_t reused : {0U, 8U}) {
    Session session;
    const auto done = write_partial(session, request, parts);
    ASSERT_TRUE(done) << done.error().message();
    EXPECT_EQ(done->reused, reused);
  }
  std::filesystem::copy(run_, std::filesystem::path(run_).parent_path() / "nccl_70channels",
                        std::filesystem::copy_options::recursive);
  Session session;
  const auto grown = write_partial(session, request, parts);
  ASSERT_TRUE(grown) << grown.error().message();
  EXPECT_EQ(grown->ranks, 16U);
  EXPECT_EQ(grown->reused, 0U);
}

TEST_F(PartsInMemory, APartIsReusedOnlyForTheIdentityOfItsTrace) {
  PartialRequest request;
  request.inputs = {run_};
  const auto reused = [&] {
    Session session;
    const auto done = write_partial(session, request, folder_.path("parts"));
    EXPECT_TRUE(done);
    return done ? done->reused : 0;
  };
  const std::string trace = run_ + "/torch_profiler/rank0/trace_step19.json";
  std::string text = test::bytes_of(trace);
  test::settle();
  std::ofstream(trace, std::ios::binary) << text;
  reused();
  EXPECT_EQ(reused(), 7U); // one trace was written less than two seconds ago
  test::settle();
  reused();
  EXPECT_EQ(reused(), 8U);
  const auto time = std::filesystem::last_write_time(trace);
  char& digit = text[text.find("\"dur\": ") + 7];
  digit = digit == '1' ? '2' : '1';
  std::ofstream(trace, std::ios::binary) << text;
  std::filesystem::last_write_time(trace, time);
  test::settle();
  EXPECT_EQ(reused(), 7U);
}

TEST_F(PartsInMemory, WithoutWorkbooksOnlyTheFactsAreMade) {
  PartialRequest request;
  request.inputs = {run_};
  request.options.wanted = {"analyze"};
  for (const bool workbooks : {true, false}) {
    request.options.workbooks = workbooks;
    Session session;
    const auto files = partial_in_memory(session, request);
    ASSERT_TRUE(files) << files.error().message();
    EXPECT_EQ(files->size(), workbooks ? 8U + 8U + 1U : 8U + 1U); // the file of the shard is last
  }
}

TEST_F(PartsInMemory, NothingIsNoRun) {
  Session session;
  const auto done = reduce(session, {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUnreadable);
}

} // namespace
} // namespace rankscope
