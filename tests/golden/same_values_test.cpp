// Tests that several commands show the same value, equal to 1e-6: times and sums of five runs.
#include "cli/run_binary.h"
#include "golden/golden_data.h"
#include "os/byte_source.h"
#include "read_blob.h"
#include "said_table.h"
#include "temp_folder.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// The JSON output of a command.
class Said {
public:
  explicit Said(Words args) {
    args.insert(args.end(), {"--json", "-q"});
    result_ = test::run_binary(args);
    EXPECT_TRUE(result_.code == 0 || result_.code == 4) << args[0] << ": " << result_.err;
    EXPECT_EQ(parser_.parse(result_.out).get(root_), simdjson::SUCCESS) << args[0];
  }
  [[nodiscard]] std::optional<test::SaidTable> table(const std::string& name) const {
    simdjson::dom::element found;
    if (root_["tables"][name].get(found) != simdjson::SUCCESS)
      return std::nullopt;
    return test::SaidTable(found);
  }

private:
  test::RunResult result_;
  simdjson::dom::parser parser_;
  simdjson::dom::element root_;
};

/// Decodes base64 text.
std::string from_base64(std::string_view text) {
  const std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos)
      break; // padding
    bits = (bits << 6U) | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8)
      out += static_cast<char>((bits >> static_cast<unsigned>(count -= 8)) & 0xffU);
  }
  return out;
}

/// Reads the data of an interactive page.
void read_page(const std::string& path, const test::TempFolder& out, test::ReadBlob& blob) {
  const std::string html = test::bytes_of(path);
  const std::string_view mark = "id=\"data\">";
  const std::size_t begin = html.find(mark);
  ASSERT_NE(begin, std::string::npos) << path;
  const std::string packed = from_base64(
      std::string_view(html).substr(begin + mark.size(), html.find('<', begin) - begin));
  auto source = ByteSource::open(out.write("blob.gz", packed));
  ASSERT_TRUE(source);
  std::string bytes;
  std::string buffer(std::size_t{1} << 20, '\0');
  for (std::size_t n = 0; (n = (*source)->read(buffer.data(), buffer.size())) > 0;)
    bytes.append(buffer, 0, n);
  test::read(bytes, blob);
}

/// Runs a command that writes files; missing ranks are accepted.
void write_by(const Words& args) {
  const test::RunResult r = test::run_binary(args);
  EXPECT_TRUE(r.code == 0 || r.code == 4) << args[0] << ": " << r.err;
}

/// Collects metric values by metric and command.
class MetricValues {
public:
  void add(const std::string& metric, const std::string& command, std::optional<double> value) {
    if (value)
      said_[metric][command] += *value;
  }
  /// Expects that at least `least` commands show each metric with this prefix, that their values
  /// are equal, and that there are `metrics` metrics.
  void expect_equal(const std::string& prefix, std::size_t least, std::size_t metrics) const {
    std::size_t seen = 0;
    for (const auto& [metric, values] : said_) {
      if (!metric.starts_with(prefix))
        continue;
      ++seen;
      EXPECT_GE(values.size(), least) << metric << ": first said by " << values.begin()->first;
      for (const auto& [command, value] : values)
        EXPECT_NEAR(value, values.begin()->second, 1e-6 * std::max(1.0, std::fabs(value)))
            << metric << ": " << command << " and " << values.begin()->first;
    }
    EXPECT_GE(seen, metrics) << prefix;
  }

private:
  std::map<std::string, std::map<std::string, double>> said_; ///< by metric, command
};

struct SaidKind {
  const char* name; ///< row of gpu_timeline, and name of the metric
  const char* top;
  const char* sql;
};
constexpr SaidKind kSaidKinds[] = {{"total_time", "total_ms", "total_ns"},
                                   {"computation_time", "computation_ms", "computation_ns"},
                                   {"exposed_comm_time", "exposed_comm_ms", "exposed_comm_ns"},
                                   {"idle_time", "idle_ms", "idle_ns"}};

std::string rank_key(const char* kind, double rank) {
  return std::string("rank ") + std::to_string(static_cast<int>(rank)) + " " + kind;
}

/// Adds times per rank and kind, in ms.
void rank_times(const std::vector<std::string>& traces, const Words& run, const Said& top,
                const test::TempFolder& out, MetricValues& metrics) {
  const Said sql([&] {
    Words args{"query", "SELECT * FROM ranks"};
    args.insert(args.end(), run.begin(), run.end());
    return args;
  }());
  const auto ranks = sql.table("result");
  const auto top_rows = top.table("top_ranks");
  ASSERT_TRUE(ranks && top_rows);
  for (const SaidKind& kind : kSaidKinds) {
    for (std::size_t r = 0; r < ranks->rows(); ++r)
      metrics.add(rank_key(kind.name, *ranks->number(r, "rank")), "query",
                  *ranks->number(r, kind.sql) / 1e6);
    for (std::size_t r = 0; r < top_rows->rows(); ++r)
      metrics.add(rank_key(kind.name, *top_rows->number(r, "rank")), "top",
                  top_rows->number(r, kind.top));
  }
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    const Said report({"report", traces[rank], "-o", out.path("r.xlsx")});
    const auto timeline = report.table("gpu_timeline");
    ASSERT_TRUE(timeline);
    for (std::size_t row = 0; row < timeline->rows(); ++row)
      for (const SaidKind& kind : kSaidKinds)
        if (timeline->text(row, "type") == kind.name)
          metrics.add(rank_key(kind.name, static_cast<double>(rank)), "report",
                      timeline->number(row, "time_ms"));
  }
}

/// Adds the same times from a baseline, from parts and from a dataset.
void rank_times_of_files(const std::string& run, const test::TempFolder& out,
                         MetricValues& metrics) {
  const std::string saved = out.path("b.rsb");
  write_by({"baseline", "save", run, "-o", saved});
  const Said check({"baseline", "check", run, "--baseline", saved});
  const auto all = check.table("GPU_ByRank_Cmp");
  write_by({"partial", run, "--for", "top", "-o", out.path("parts")});
  const Said reduce({"reduce", out.path("parts"), "--as", "top", "-k", "0"});
  const auto parts = reduce.table("top_ranks");
  write_by({"export", run, "--parquet", out.path("set")});
  const Said set({"query", "--allow-files",
                  "SELECT * FROM read_parquet('" + out.path("set") + "/ranks/**/*.parquet')", run});
  const auto ranks = set.table("result");
  ASSERT_TRUE(all && parts && ranks);
  for (const SaidKind& kind : kSaidKinds) {
    for (std::size_t r = 0; r < parts->rows(); ++r)
      metrics.add(rank_key(kind.name, *parts->number(r, "rank")), "reduce",
                  parts->number(r, kind.top));
    for (std::size_t r = 0; r < all->rows(); ++r)
      if (all->text(r, "type") == kind.name)
        metrics.add(rank_key(kind.name, *all->number(r, "rank")), "baseline",
                    all->number(r, "base_time_ms"));
    for (std::size_t r = 0; r < ranks->rows(); ++r)
      metrics.add(rank_key(kind.name, *ranks->number(r, "rank")), "export",
                  *ranks->number(r, kind.sql) / 1e6);
  }
  const Said kernels({"query", "--allow-files",
                      "SELECT name, sum(dur_ns) / 1e6 AS ms FROM read_parquet('" + out.path("set") +
                          "/kernels/**/*.parquet') WHERE work IN ('computation', 'communication') "
                          "GROUP BY name",
                      run});
  const auto sums = kernels.table("result");
  ASSERT_TRUE(sums);
  for (std::size_t r = 0; r < sums->rows(); ++r)
    metrics.add("kernel " + sums->text(r, "name"), "export", sums->number(r, "ms"));
}

/// Adds times of GEMMs by rank and operator, in us.
void gemm_sums(const std::vector<std::string>& traces, const std::string& folder,
               const test::TempFolder& out, MetricValues& metrics) {
  const Said variance({"gemm", "variance", folder, "--top-k", "1000", "-o", out.path("g")});
  const auto gemms = variance.table("top1000_gemm_kernels_time_variance");
  ASSERT_TRUE(gemms);
  const auto metric = [](double rank, const std::string& op) {
    return rank_key(("GEMM " + op).c_str(), rank);
  };
  for (std::size_t r = 0; r < gemms->rows(); ++r)
    metrics.add(metric(*gemms->number(r, "rank"), gemms->text(r, "op")), "gemm",
                gemms->number(r, "total_us"));
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    const Said report({"report", traces[rank], "-o", out.path("r.xlsx"), "--sheets", "GEMM"});
    const auto sheet = report.table("GEMM");
    for (std::size_t r = 0; sheet && r < sheet->rows(); ++r)
      metrics.add(metric(static_cast<double>(rank), sheet->text(r, "name")), "report",
                  sheet->number(r, "kernel_time_us_sum"));
  }
}

/// Adds the values of ranks on the page of a run, and those of collectives if `with_collectives`.
void page_values(const std::string& run, bool with_collectives, const test::TempFolder& out,
                 MetricValues& rank_metrics, MetricValues& collective_metrics) {
  write_by({"page", run, "-o", out.path("p.html")});
  test::ReadBlob page;
  read_page(out.path("p.html"), out, page);
  if (page.json["top_ranks"].error() != simdjson::SUCCESS) { // the page of one rank
    for (const SaidKind& kind : kSaidKinds)
      rank_metrics.add(rank_key(kind.name, 0), "page", double(page.json["times_ms"][kind.name]));
    return;
  }
  const auto column = [&page](std::string_view id) {
    for (const simdjson::dom::element candidate : page.json["top_ranks"]["columns"].get_array())
      if (std::string_view(candidate["id"]) == id)
        return test::array<double>(page, candidate["data"], "f64");
    ADD_FAILURE() << id;
    return std::vector<double>();
  };
  const std::vector<double> ranks = column("rank");
  for (const SaidKind& kind : kSaidKinds) {
    const std::vector<double> values = column(kind.top);
    for (std::size_t r = 0; r < values.size(); ++r)
      rank_metrics.add(rank_key(kind.name, ranks[r]), "page", values[r]);
  }
  if (!with_collectives)
    return;
  for (const simdjson::dom::element row : page.json["bandwidths"].get_array())
    collective_metrics.add("latency " + std::string(std::string_view(row["name"])), "page",
                           double(row["total_ms"]));
  for (const simdjson::dom::element row : page.json["skew"].get_array())
    if (!row["late_us"].is_null()) // blank in runs of one step
      collective_metrics.add(rank_key("starts later", double(row["rank"])), "page",
                             double(row["late_us"]));
}

/// Adds the same times from commands that read folders.
void rank_times_of_folders(const std::string& folder, const test::TempFolder& out,
                           MetricValues& metrics) {
  const Said analyze({"analyze", folder, "--no-plots", "-o", out.path("a")});
  const auto ranks = analyze.table("ranks");
  const Said compare(
      {"compare", "--baseline", folder, "--test", folder, "--output", out.path("c"), "--no-plots"});
  const auto all = compare.table("GPU_ByRank_Cmp");
  ASSERT_TRUE(ranks && all);
  for (const SaidKind& kind : kSaidKinds) {
    for (std::size_t r = 0; r < ranks->rows(); ++r)
      metrics.add(rank_key(kind.name, *ranks->number(r, "rank")), "analyze",
                  ranks->number(r, std::string(kind.name) + "_ms"));
    for (std::size_t r = 0; r < all->rows(); ++r)
      if (all->text(r, "type") == kind.name) {
        metrics.add(rank_key(kind.name, *all->number(r, "rank")), "compare",
                    all->number(r, "base_time_ms"));
        metrics.add(rank_key(kind.name, *all->number(r, "rank")), "compare, test",
                    all->number(r, "test_time_ms"));
      }
  }
}

/// Adds the time of all kernels and by kernel name, in ms.
void kernel_sums(const std::vector<std::string>& traces, const Words& run, const Said& top,
                 const test::TempFolder& out, MetricValues& metrics) {
  Words args{"query", "SELECT name, sum(dur_ns) / 1e6 AS ms FROM kernels "
                      "WHERE work IN ('computation', 'communication') GROUP BY name"};
  args.insert(args.end(), run.begin(), run.end());
  const Said sql(args);
  const auto kernels = sql.table("result");
  ASSERT_TRUE(kernels);
  for (std::size_t r = 0; r < kernels->rows(); ++r)
    metrics.add("kernel " + kernels->text(r, "name"), "query", kernels->number(r, "ms"));
  for (const std::string& trace : traces) {
    const Said report({"report", trace, "-o", out.path("r.xlsx"), "--sheets", "kernel_summary"});
    const auto summary = report.table("kernel_summary");
    ASSERT_TRUE(summary);
    for (std::size_t r = 0; r < summary->rows(); ++r)
      metrics.add("kernel " + summary->text(r, "kernel_name"), "report",
                  *summary->number(r, "kernel_duration_us_sum") / 1e3);
  }
  const auto top_rows = top.table("top_kernels");
  ASSERT_TRUE(top_rows);
  for (std::size_t r = 0; r < top_rows->rows(); ++r)
    metrics.add("kernel " + top_rows->text(r, "kernel"), "top", top_rows->number(r, "time_ms"));
}

/// Adds the latency of each kind of collective, in ms, and the lateness of each rank, in us.
void collectives(const Words& run, const Said& top, const std::string& folder,
                 const test::TempFolder& out, MetricValues& metrics) {
  const auto with = [&run](Words args) {
    args.insert(args.end(), run.begin(), run.end());
    return args;
  };
  const Said said(with({"collectives", "-o", out.path("k.xlsx")}));
  const Said sql(with({"query", "SELECT collective, sum(total_latency_ms) AS total_latency_ms "
                                "FROM nccl_summary_implicit_sync GROUP BY collective"}));
  const Said late(with({"query", "SELECT * FROM straggler_summary"}));
  const auto add = [&](const std::optional<test::SaidTable>& table, const char* command,
                       const char* value) {
    ASSERT_TRUE(table) << command;
    for (std::size_t r = 0; r < table->rows(); ++r)
      metrics.add("latency " + table->text(r, "collective"), command, table->number(r, value));
  };
  add(said.table("nccl_summary_implicit_sync"), "collectives", "total_latency_ms");
  add(sql.table("result"), "query", "total_latency_ms");
  add(top.table("top_collectives"), "top", "time_ms");
  if (!folder.empty()) {
    const Said compare({"compare", "--baseline", folder, "--test", folder, "--output",
                        out.path("c"), "--no-plots"});
    add(compare.table("NCCL_ImplicitSyncCmp"), "compare", "base_total_latency_ms");
  }
  const auto add_late = [&](const std::optional<test::SaidTable>& table, const char* command,
                            const char* value) {
    ASSERT_TRUE(table) << command;
    for (std::size_t r = 0; r < table->rows(); ++r)
      metrics.add(rank_key("starts later", *table->number(r, "rank")), command,
                  table->number(r, value));
  };
  add_late(said.table("straggler_summary"), "collectives", "later_us_mean");
  add_late(late.table("result"), "query", "later_us_mean");
  add_late(top.table("top_ranks"), "top", "late_us");
}

/// `folder`: a folder with only these traces; "" if it also has other traces.
void expect_same_values(const std::vector<std::string>& traces, const std::string& folder,
                        bool with_collectives) {
  const test::TempFolder out;
  const Words run = folder.empty() ? traces : Words{folder};
  Words args{"top", "-k", "0"};
  args.insert(args.end(), run.begin(), run.end());
  const Said top(args);
  MetricValues metrics;
  MetricValues collective_metrics;
  rank_times(traces, run, top, out, metrics);
  if (!folder.empty())
    rank_times_of_folders(folder, out, metrics);
  rank_times_of_files(run.front(), out, metrics);
  page_values(run.front(), with_collectives, out, metrics, collective_metrics);
  kernel_sums(traces, run, top, out, metrics);
  metrics.expect_equal("rank ", folder.empty() ? 7 : 10, 4 * traces.size());
  metrics.expect_equal("kernel ", 4, 5);
  if (!folder.empty()) {
    MetricValues gemms;
    gemm_sums(traces, folder, out, gemms);
    gemms.expect_equal("rank ", 2, 1);
  }
  if (!with_collectives)
    return;
  collectives(run, top, folder, out, collective_metrics);
  collective_metrics.expect_equal("latency ", folder.empty() ? 4 : 5, 1);
  collective_metrics.expect_equal("rank ", 3, traces.size());
}

/// Returns why SQL is not available; "" if it is.
std::string no_sql() {
  const test::RunResult r = test::run_binary(
      {"query", "SELECT 1", (golden::tree_root() / "synth" / "amd" / "rank0.json.gz").string()});
  return r.code == 0 ? std::string() : r.err;
}

std::vector<std::string> ranks_of(const fs::path& folder, const std::string& before,
                                  const std::string& ending, std::size_t ranks) {
  std::vector<std::string> out;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    for (const auto& entry : fs::directory_iterator(folder))
      if (const std::string name = entry.path().filename().string();
          name.starts_with(before + std::to_string(rank)) && name.ends_with(ending))
        out.push_back(entry.path().string());
  return out;
}

TEST(SameValues, OfGeneratedRunsInTheTree) {
  if (const std::string why = no_sql(); !why.empty())
    GTEST_SKIP() << why;
  for (const char* vendor : {"amd", "nv"}) {
    SCOPED_TRACE(vendor);
    const test::TempFolder folder; // a copy without the tables that are next to the traces
    for (const char* rank : {"rank0.json.gz", "rank1.json.gz"})
      fs::copy_file(golden::tree_root() / "synth" / vendor / rank, folder.path(rank));
    expect_same_values({folder.path("rank0.json.gz"), folder.path("rank1.json.gz")}, folder.path(),
                       true);
  }
}

TEST(SameValues, OfARealRunOfEightRanks) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  if (const std::string why = no_sql(); !why.empty())
    GTEST_SKIP() << why;
  const test::TempFolder folder;
  ASSERT_TRUE(golden::unpack_tar(golden::root() / "dlrm" / "dlrm_kineto.tar.gz", folder.path()));
  expect_same_values(ranks_of(folder.path(), "worker", ".json", 8), folder.path(), true);
}

TEST(SameValues, OfARealPairOfRanks) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  if (const std::string why = no_sql(); !why.empty())
    GTEST_SKIP() << why;
  const test::TempFolder folder;
  for (const char* rank : {"sampled_rank-0.json.gz", "sampled_rank-1.json.gz"})
    fs::copy_file(golden::root() / "hta" / rank, folder.path(rank));
  expect_same_values(ranks_of(folder.path(), "sampled_rank-", ".json.gz", 2), folder.path(), true);
}

TEST(SameValues, OfARealRankByItself) {
  if (golden::root().empty())
    GTEST_SKIP() << golden::kAbsent;
  if (const std::string why = no_sql(); !why.empty())
    GTEST_SKIP() << why;
  const fs::path trace = golden::root() / "mi300" / "resnet_act_checkpoint.json.gz";
  expect_same_values({trace.string()}, "", false);
}

} // namespace
} // namespace rankscope
