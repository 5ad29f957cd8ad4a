// Tests the files of the generator: equal options give equal bytes, files are not overwritten
// without --force, and invalid options are rejected.
#include "synth_slices.h"

#include <filesystem>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

using test::bytes_of;
using test::make;
using test::small;
using test::TempFolder;

std::map<std::string, std::string> files_below(const std::string& root) {
  std::map<std::string, std::string> out;
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.is_regular_file())
      out[fs::relative(entry.path(), root).string()] = bytes_of(entry.path().string());
  return out;
}

TEST(Synth, EqualOptionsGiveEqualBytes) {
  TempFolder a;
  TempFolder b;
  TempFolder c;
  synth::Options o = small();
  o.python_events = 50;
  make(o, a.path());
  Result<synth::Summary> one_thread = synth::generate(o, b.path(), 1, nullptr);
  ASSERT_TRUE(one_thread);
  o.seed = 2;
  make(o, c.path());
  const auto first = files_below(a.path());
  EXPECT_EQ(first.size(), 7U); // 2 configurations x 3 ranks, and the ground truth
  EXPECT_EQ(first, files_below(b.path()));
  EXPECT_NE(first, files_below(c.path()));
}

TEST(Synth, ChosenRanksAreAsInTheWholeRun) {
  TempFolder all_ranks;
  TempFolder piece;
  synth::Options o = small();
  o.ranks = 32; // more members than the profiler lists
  o.steps = 1;
  o.clock_offset_us = 300;
  make(o, all_ranks.path());
  o.only_ranks = {{3, 4}, {31, 31}};
  const synth::Summary made = make(o, piece.path());
  EXPECT_EQ(made.files, 6U); // of two configurations
  auto all = files_below(all_ranks.path());
  auto some = files_below(piece.path());
  EXPECT_TRUE(some["ground_truth.json"].find("\"only_ranks\": [[3, 4], [31, 31]]") !=
              std::string::npos);
  some.erase("ground_truth.json");
  EXPECT_EQ(some.size(), 6U);
  for (const auto& [name, bytes] : some)
    EXPECT_EQ(bytes, all[name]) << name;
  EXPECT_NE(all["256thread/nccl_28channels/torch_profiler/rank3/trace_step19.json"].find(
                "\"Process Group Ranks\": \"[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, "
                "16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, ...]\""),
            std::string::npos);
}

TEST(Synth, ChosenRanksHaveToBeThere) {
  TempFolder folder;
  synth::Options o = small();
  using Range = std::pair<std::int64_t, std::int64_t>;
  for (const Range& range : {Range{2, 3}, Range{2, 1}, Range{-1, 0}}) {
    o.only_ranks = {range};
    const Result<synth::Summary> made = synth::generate(o, folder.path(), 1, nullptr);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kUsage);
  }
}

TEST(Synth, CompressedHoldsTheSameBytes) {
  TempFolder a;
  TempFolder b;
  synth::Options o = small();
  make(o, a.path());
  o.gz = true;
  make(o, b.path());
  const std::string name = "/256thread/nccl_28channels/torch_profiler/rank1/trace_step19.json";
  const std::string plain = bytes_of(a.path() + name);
  std::string packed = bytes_of(b.path() + name + ".gz");
  ASSERT_GT(packed.size(), 1000U);
  ASSERT_LT(packed.size(), plain.size() / 4);
  std::string unpacked(plain.size() + 64, '\0');
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<std::uint8_t*>(packed.data());
  state.avail_in = static_cast<std::uint32_t>(packed.size());
  state.next_out = reinterpret_cast<std::uint8_t*>(unpacked.data());
  state.avail_out = static_cast<std::uint32_t>(unpacked.size());
  ASSERT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH);
  unpacked.resize(state.total_out);
  EXPECT_TRUE(unpacked == plain);
}

TEST(Synth, WindowsAndMissingRanks) {
  TempFolder folder;
  synth::Options o = small();
  o.channels = {28};
  o.steps = 3;
  o.missing_ranks = {1};
  o.shift_window = 0;
  o.fewer_steps = 2;
  o.cu_layout = true;
  make(o, folder.path());
  const std::string root = folder.path() + "/28cu_256threads/torch_profiler/";
  EXPECT_FALSE(fs::exists(root + "rank1"));
  const auto steps = [](const std::string& text) {
    std::vector<std::string> out;
    const std::string key = "\"cat\": \"user_annotation\", \"name\": \"ProfilerStep#";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
      out.push_back(text.substr(at + key.size(), 2));
    return out;
  };
  EXPECT_EQ(steps(bytes_of(root + "rank0/trace.json")), (std::vector<std::string>{"18", "19"}));
  EXPECT_EQ(steps(bytes_of(root + "rank2/trace.json")), (std::vector<std::string>{"17", "18"}));
}

TEST(Synth, AnotherSweepIsNotWrittenOverUnasked) {
  TempFolder folder;
  synth::Options o = small();
  make(o, folder.path());
  const auto before = files_below(folder.path());
  o.seed = 2;
  const Result<synth::Summary> again = synth::generate(o, folder.path(), 1, nullptr);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kUsage);
  EXPECT_EQ(files_below(folder.path()), before);
  o.force = true;
  EXPECT_TRUE(synth::generate(o, folder.path(), 1, nullptr));
  EXPECT_NE(files_below(folder.path()), before);
}

TEST(Synth, ImpossibleOptionsAreUsageErrors) {
  const auto fails = [](synth::Options o) {
    TempFolder folder;
    const Result<synth::Summary> result = synth::generate(o, folder.path() + "/x", 1, nullptr);
    return !result && result.error().code == ErrorCode::kUsage;
  };
  synth::Options o = small();
  o.threads = {0};
  EXPECT_TRUE(fails(o));
  o = small();
  o.straggler = 3;
  EXPECT_TRUE(fails(o));
  o = small();
  o.steps = 1;
  o.shift_window = 0;
  EXPECT_TRUE(fails(o));
  o = small();
  o.process_groups = 2; // there are three ranks
  EXPECT_TRUE(fails(o));
  o = small();
  o.slow_configs = {{"256thread_29ch", 2}}; // not a configuration of the sweep
  EXPECT_TRUE(fails(o));
  o = small();
  o.slow_links = {{0, 3, 2}}; // there are three ranks
  EXPECT_TRUE(fails(o));
  o = small();
  o.throttled = 3;
  EXPECT_TRUE(fails(o));
  EXPECT_FALSE(fails(small()));
}

} // namespace
} // namespace rankscope
