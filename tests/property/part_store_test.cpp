// Parts encoded by one process and combined by another give the bytes that one process gives.
#include "engine/part_store.h"
#include "synth/synth.h"
#include "temp_folder.h"
#include "test_paths.h"
#include "writers/writer.h"

#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

std::vector<const RankAnalysis*> all_analyses() {
  return {rank_analyses().begin(), rank_analyses().end()};
}

/// What `analysis` says of the traces without any encoding.
std::string direct(const RunPlan& plan, const RankAnalysis& analysis) {
  Session session;
  std::vector<AnyPart> parts;
  for (const RankFile& file : plan.ranks) {
    auto loaded = load_trace(file.path, {});
    EXPECT_TRUE(loaded) << loaded.error().message();
    loaded->rank = file.rank;
    auto part = analysis.extract(*loaded, {});
    EXPECT_TRUE(part);
    parts.push_back(std::move(*part));
  }
  const auto report = analysis.combine(std::move(parts), {});
  EXPECT_TRUE(report) << analysis.name << ": " << report.error().message();
  return report ? json_text(*report) : "";
}

/// Extracts and saves in a process of its own.
void save_elsewhere(const RunPlan& plan, const std::string& path) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Session session;
    const auto stored = extract_parts(session, plan, all_analyses(), {}, {}, "made elsewhere");
    ::_exit(stored && save_parts(*stored, path) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
}

/// Each rank by a process of its own, then all combined here.
void expect_same_bytes(const RunPlan& plan) {
  ASSERT_FALSE(all_analyses().empty());
  const TempFolder folder;
  StoredParts together;
  for (const RankFile& file : plan.ranks) {
    RunPlan one = plan;
    one.ranks = {file};
    const std::string path = folder.path(std::to_string(file.rank) + ".parts");
    save_elsewhere(one, path);
    auto stored = load_parts(path);
    ASSERT_TRUE(stored) << stored.error().message();
    EXPECT_EQ(stored->fingerprint, "made elsewhere");
    EXPECT_EQ(stored->configuration, plan.configuration);
    together.parts.insert(together.parts.end(), stored->parts.begin(), stored->parts.end());
  }
  EXPECT_EQ(together.parts.size(), plan.ranks.size() * all_analyses().size());
  for (const RankAnalysis* analysis : all_analyses()) {
    const auto report = combine_parts(*analysis, together, {});
    ASSERT_TRUE(report) << analysis->name << ": " << report.error().message();
    const std::string got = json_text(*report);
    EXPECT_GT(got.size(), 1000U) << analysis->name;
    EXPECT_TRUE(got == direct(plan, *analysis)) << analysis->name;
  }
}

TEST(PartStore, PartsOfAGeneratedSweepMadeElsewhereGiveTheSameBytes) {
  const TempFolder folder;
  synth::Options o;
  o.threads = {256};
  o.channels = {28, 70};
  o.ranks = 3;
  o.layers = 2;
  o.steps = 2;
  ASSERT_TRUE(synth::generate(o, folder.path("sweep"), 1, nullptr));
  Diagnostics diag;
  const auto plans = discover_sweep(folder.path("sweep"), {}, diag);
  ASSERT_TRUE(plans);
  ASSERT_EQ(plans->size(), 2U);
  for (const RunPlan& plan : *plans)
    expect_same_bytes(plan);
}

TEST(PartStore, PartsOfTheReferencePairMadeElsewhereGiveTheSameBytes) {
  RunPlan plan;
  plan.configuration.label = "pair";
  for (const std::int64_t rank : {0, 1}) {
    const fs::path file =
        test::golden_dir() / "hta" / ("sampled_rank-" + std::to_string(rank) + ".json.gz");
    if (!fs::exists(file))
      GTEST_SKIP() << "no reference data: " << file;
    plan.ranks.push_back({rank, file.string(), fs::file_size(file)});
  }
  expect_same_bytes(plan);
}

TEST(PartStore, OtherFingerprintsAndDamageAreTold) {
  const TempFolder folder;
  const std::string path = folder.path("x.parts");
  StoredParts stored;
  stored.fingerprint = "a";
  stored.configuration.label = "256thread_28ch";
  stored.configuration.set("threads", 256);
  stored.parts = {{"collectives", 3, "no part"}};
  ASSERT_TRUE(save_parts(stored, path));
  const auto back = load_parts_of(path, "a");
  ASSERT_TRUE(back && *back);
  EXPECT_EQ((*back)->parts, stored.parts);
  EXPECT_EQ((*back)->configuration, stored.configuration);
  const auto other = load_parts_of(path, "b");
  ASSERT_TRUE(other);
  EXPECT_FALSE(*other);
  const auto absent = load_parts_of(folder.path("y.parts"), "a");
  ASSERT_TRUE(absent);
  EXPECT_FALSE(*absent);
  const auto combined = combine_parts(*find_rank_analysis("collectives"), **back, {});
  ASSERT_FALSE(combined);
  EXPECT_EQ(combined.error().where, "collectives of 256thread_28ch rank 3");
  std::string bytes = test::bytes_of(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  const auto damaged = load_parts_of(folder.write("z.parts", bytes), "a");
  ASSERT_FALSE(damaged);
  EXPECT_NE(damaged.error().message().find("z.parts: byte "), std::string::npos);
}

} // namespace
} // namespace rankscope
