// Tests the multi-rank report with recorded traces, and a recorded 8-rank summary against the
// formulas of the specification.
#include "analyses/collectives/collective_report.h"
#include "engine/loader.h"
#include "golden/golden_cells.h"
#include "golden/golden_data.h"
#include "temp_folder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace rankscope {
namespace {

/// Returns the tables of the facts of these ranks.
Result<Report> golden_report(const std::vector<RankCollectives>& ranks,
                             const CollectiveOptions& options) {
  RS_TRY(const CollectiveFacts facts, collective_facts(ranks, options));
  return collective_tables(facts, options);
}

double num(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

TEST(CollectivesGolden, TheEightRankSummaryIsConsistentAndWeHaveItsColumns) {
  const auto root = golden::root();
  if (root.empty())
    GTEST_SKIP() << golden::kAbsent;
  const auto folder = root / "mi300" / "llama_70b_fsdp_nccl_analysis_report_csvs";
  const golden::Csv sync = golden::read_csv(folder / "nccl_summary_implicit_sync.csv");
  ASSERT_GE(sync.rows.size(), 2U);
  for (const auto& row : sync.rows) {
    std::map<std::string, std::string> v;
    for (std::size_t c = 0; c < row.size(); ++c)
      v[sync.header[c]] = row[c];
    const CollectiveKind kind = collective_kind(v["Collective name"]);
    const double factor = bus_bandwidth_factor(kind, std::atoll(v["Group size"].c_str()));
    for (const char* x : {"mean", "median", "min", "max"})
      EXPECT_NEAR(num(v[std::string("bus bw (GB/s)_") + x]),
                  factor * num(v[std::string("algo bw (GB/s)_") + x]), 1e-6);
    EXPECT_NEAR(num(v["Total comm latency (ms)"]),
                num(v["comm_latency_mean"]) * num(v["count"]) / 1e3, 1e-3);
    // the fastest call is the shortest one: GiB/s = MiB / 1024 / s
    EXPECT_NEAR(num(v["algo bw (GB/s)_max"]),
                num(v["Full msg size (MB)"]) / 1024 / (num(v["comm_latency_min"]) / 1e6), 1e-6);
    const double elements = num(v["In msg nelems"]) * dtype_bytes(v["dtype"]) / 1048576;
    const double full =
        kind == CollectiveKind::kAllGather ? elements * num(v["Group size"]) : elements;
    EXPECT_NEAR(num(v["Full msg size (MB)"]), full, 1e-6);
  }

  // rankscope's columns, for a recorded pair of ranks and for the collectives of a recorded rank
  std::vector<RankCollectives> ranks;
  for (const char* file : {"mi300/resnet_act_checkpoint.json.gz", "hta/nccl_data.json.gz"}) {
    auto loaded = load_trace((root / file).string(), LoadOptions{});
    ASSERT_TRUE(loaded) << loaded.error().message();
    ranks.clear();
    ranks.push_back(extract_collectives(*loaded));
    CollectiveOptions options;
    options.compat_tracelens = true;
    options.align = AlignMode::kNone;
    const auto report = golden_report(ranks, options);
    ASSERT_TRUE(report) << report.error().message();
    const Table* summary = report->find("nccl_summary_implicit_sync");
    ASSERT_NE(summary, nullptr) << file;
    std::vector<std::string> names;
    for (const Column& c : summary->columns())
      names.push_back(c.name);
    EXPECT_EQ(names, sync.header);
    const golden::Csv longer = golden::read_csv(folder / "nccl_summary_long.csv");
    const Table* ours = report->find("nccl_summary_long");
    ASSERT_NE(ours, nullptr) << file;
    for (const std::string& name : longer.header)
      EXPECT_TRUE(ours->column(name)) << file << ": " << name;
  }
}

TEST(CollectivesGolden, TheRealPairOfRanksRuns) {
  const auto root = golden::root();
  if (root.empty())
    GTEST_SKIP() << golden::kAbsent;
  std::vector<RankCollectives> ranks;
  for (const char* file : {"hta/sampled_rank-0.json.gz", "hta/sampled_rank-1.json.gz"}) {
    auto loaded = load_trace((root / file).string(), LoadOptions{});
    ASSERT_TRUE(loaded) << loaded.error().message();
    loaded->rank = static_cast<std::int64_t>(ranks.size());
    ranks.push_back(extract_collectives(*loaded));
    EXPECT_EQ(ranks.back().comm_ns, ranks.back().exposed_ns + ranks.back().hidden_compute_ns +
                                        ranks.back().hidden_memcpy_ns);
  }
  const auto report = golden_report(ranks, CollectiveOptions{});
  ASSERT_TRUE(report) << report.error().message();
  const Table* rows = report->find("nccl_long");
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->rows(), ranks[0].rows.size() + ranks[1].rows.size());
}

void expect_table(const Table& table, const golden::Csv& want) {
  SCOPED_TRACE(table.name());
  ASSERT_EQ(table.rows(), want.rows.size());
  for (std::size_t c = 0; c < want.header.size(); ++c) {
    const auto column = table.column(want.header[c]);
    ASSERT_TRUE(column) << "no column '" << want.header[c] << "'";
    for (std::size_t r = 0; r < want.rows.size(); ++r) {
      const Value got = table.at(r, *column);
      const std::string& ref = want.rows[r][c];
      const bool same =
          ref.empty() ? got.is_null() || std::isnan(got.number()) || golden::text_of(got).empty()
                      : golden::same(got, ref);
      EXPECT_TRUE(same) << "row " << r << " '" << want.header[c] << "': got "
                        << golden::text_of(got) << ", want " << ref;
    }
  }
}

// In this run, neither kernels nor operators name the collectives.
TEST(CollectivesGolden, OfARealRunOfEightRanksAsTheReferenceHasThem) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  const test::TempFolder folder;
  ASSERT_TRUE(golden::unpack_tar(golden::root() / "dlrm" / "dlrm_kineto.tar.gz", folder.path()));
  std::map<std::string, std::string> traces; // by rank, a digit in the file name
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    traces[entry.path().filename().string().substr(0, 7)] = entry.path().string();
  std::vector<RankCollectives> ranks;
  for (const auto& [rank, path] : traces) {
    const auto loaded = load_trace(path, {});
    ASSERT_TRUE(loaded) << loaded.error().message();
    ranks.push_back(extract_collectives(*loaded));
    ranks.back().rank = static_cast<std::int64_t>(ranks.size()) - 1;
    as_reference(ranks.back());
  }
  ASSERT_EQ(ranks.size(), 8U);
  CollectiveOptions options;
  options.compat_tracelens = true;
  options.align = AlignMode::kNone;
  const auto report = golden_report(ranks, options);
  ASSERT_TRUE(report) << report.error().message();
  for (const auto& entry :
       std::filesystem::directory_iterator(golden::root() / "dlrm" / "collective_report_csvs")) {
    const golden::Csv want = golden::read_csv(entry.path());
    const Table* const table = report->find(entry.path().stem().string());
    if (want.rows.empty())
      EXPECT_TRUE(table == nullptr || table->rows() == 0) << entry.path();
    else if (table == nullptr)
      ADD_FAILURE() << entry.path() << " is missing";
    else
      expect_table(*table, want);
  }
}

} // namespace
} // namespace rankscope
