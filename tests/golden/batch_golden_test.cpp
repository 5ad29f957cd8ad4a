// Compares the batch report with the workbook of the reference tool, cell by cell, and checks the
// cells that differ because rankscope's numbers are exact.
#include "analyses/batch/batch_facts.h"
#include "engine/loader.h"
#include "golden/golden_data.h"
#include "readers/reports/report_tables.h"
#include "temp_folder.h"
#include "writers/writer.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <zip.h>

namespace rankscope {
namespace {

const char* const kFolder = "013_profile_544p_bs1";

Report batch_of(const std::filesystem::path& root, bool compat) {
  BatchOptions options;
  options.compat = compat;
  std::vector<BatchPart> parts;
  for (int rank = 0; rank < 4; ++rank) {
    LoadOptions load;
    load.rules = compat ? TreeRules::kBatchReference : TreeRules::kRankscope;
    auto trace = load_trace(
        (root / "profiles" / kFolder / ("traces_rank_" + std::to_string(rank) + "_step_8.json"))
            .string(),
        load);
    EXPECT_TRUE(trace) << trace.error().message();
    trace->rank = rank;
    auto part = extract_batch(*trace, options);
    EXPECT_TRUE(part);
    parts.push_back(std::move(*part));
  }
  Report report;
  report.tables = batch_tables(*batch_facts(std::move(parts), options), options);
  return report;
}

/// Returns one part of a workbook.
std::string part_of(const std::string& path, const std::string& name) {
  int problem = 0;
  zip_t* const book = zip_open(path.c_str(), ZIP_RDONLY, &problem);
  std::string out;
  if (book == nullptr)
    return out;
  if (zip_file_t* const part = zip_fopen(book, name.c_str(), 0)) {
    char buffer[4096];
    for (zip_int64_t n = zip_fread(part, buffer, sizeof buffer); n > 0;
         n = zip_fread(part, buffer, sizeof buffer))
      out.append(buffer, static_cast<std::size_t>(n));
    zip_fclose(part);
  }
  zip_discard(book);
  return out;
}

std::set<std::string> merged_cells(const std::string& path, std::size_t sheet) {
  const std::string xml = part_of(path, "xl/worksheets/sheet" + std::to_string(sheet + 1) + ".xml");
  EXPECT_FALSE(xml.empty());
  static const std::regex cell(R"re(<mergeCell ref="([A-Z0-9:]+)")re");
  std::set<std::string> out;
  for (std::sregex_iterator it(xml.begin(), xml.end(), cell), end; it != end; ++it)
    out.insert((*it)[1]);
  return out;
}

bool near(double a, double b) {
  return a == b || std::fabs(a - b) <= 1e-12 * std::max(std::fabs(a), std::fabs(b));
}

/// Whether texts are equal, except for the last digits of decimal numbers in them.
bool same_text(const std::string& a, const std::string& b) {
  static const std::regex number(R"(-?[0-9]+\.[0-9]+(e[-+][0-9]+)?)");
  if (std::regex_replace(a, number, "#") != std::regex_replace(b, number, "#"))
    return false;
  std::sregex_iterator x(a.begin(), a.end(), number);
  std::sregex_iterator y(b.begin(), b.end(), number);
  for (const std::sregex_iterator end; x != end && y != end; ++x, ++y)
    if (!near(std::stod(x->str()), std::stod(y->str())))
      return false;
  return true;
}

bool same_cell(const Value& a, const Value& b) {
  if (a.is_null() || b.is_null())
    return a.is_null() && b.is_null();
  if (a.kind == CellKind::kText || b.kind == CellKind::kText)
    return a.kind == b.kind && same_text(std::string(a.text), std::string(b.text));
  return (a.kind == CellKind::kBool) == (b.kind == CellKind::kBool) && near(a.number(), b.number());
}

std::string shown(const Value& v) {
  return v.is_null()                 ? "(blank)"
         : v.kind == CellKind::kText ? std::string(v.text)
                                     : std::to_string(v.number());
}

std::vector<std::vector<std::string>> tsv(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(in, line);) {
    auto& row = out.emplace_back();
    for (std::size_t at = 0;;) {
      const std::size_t tab = line.find('\t', at);
      row.push_back(line.substr(at, tab == std::string::npos ? tab : tab - at));
      if (tab == std::string::npos)
        break;
      at = tab + 1;
    }
  }
  return out;
}

bool same_as_text(const Value& v, const std::string& text) {
  if (v.is_null() || text.empty())
    return v.is_null() && text.empty();
  if (v.kind == CellKind::kText)
    return same_text(std::string(v.text), text);
  if (v.kind == CellKind::kBool)
    return text == (v.i != 0 ? "True" : "False");
  return near(v.number(), std::strtod(text.c_str(), nullptr));
}

class BatchGolden : public testing::Test {
protected:
  void SetUp() override {
    root_ = golden::root();
    if (root_.empty())
      GTEST_SKIP() << golden::kAbsent;
    root_ /= "batch";
  }
  std::filesystem::path root_;
};

TEST_F(BatchGolden, CompatMakesTheCellsOfTheReference) {
  const test::TempFolder folder;
  const std::string ours = folder.path("ours.xlsx");
  ASSERT_TRUE(find_writer("xlsx")->write(batch_of(root_, true), ours));
  const std::string theirs =
      (root_ / (std::string(kFolder) + "_step_8_performance_report.xlsx")).string();
  const auto a = read_report_tables(theirs);
  const auto b = read_report_tables(ours);
  ASSERT_TRUE(a) << a.error().message();
  ASSERT_TRUE(b) << b.error().message();
  ASSERT_EQ(a->tables.size(), 11U);
  ASSERT_EQ(b->tables.size(), a->tables.size());
  std::size_t cells = 0;
  for (std::size_t s = 0; s < a->tables.size(); ++s) {
    const Table& want = a->tables[s];
    const Table& got = b->tables[s];
    ASSERT_EQ(got.name(), want.name());
    ASSERT_EQ(got.cols(), want.cols()) << want.name();
    ASSERT_EQ(got.rows(), want.rows()) << want.name();
    EXPECT_EQ(merged_cells(ours, s), merged_cells(theirs, s)) << want.name();
    EXPECT_TRUE(got.notes.empty()) << want.name();
    for (std::size_t c = 0; c < want.cols(); ++c) {
      EXPECT_EQ(got.columns()[c].name, want.columns()[c].name) << want.name();
      for (std::size_t r = 0; r < want.rows(); ++r, ++cells)
        EXPECT_TRUE(same_cell(got.at(r, c), want.at(r, c)))
            << want.name() << " row " << r << " " << want.columns()[c].name << ": "
            << shown(got.at(r, c)) << ", not " << shown(want.at(r, c));
    }
  }
  EXPECT_GT(cells, 2000U);
}

TEST_F(BatchGolden, CompatMakesTheTextsOfTheReference) {
  const test::TempFolder folder;
  const std::string ours = folder.path("ours.xlsx");
  ASSERT_TRUE(find_writer("xlsx")->write(batch_of(root_, true), ours));
  const auto book = read_report_tables(ours);
  ASSERT_TRUE(book);
  const auto sheets = tsv(root_ / "tsv" / "_sheets.tsv");
  ASSERT_EQ(sheets.size(), book->tables.size());
  for (std::size_t s = 0; s < sheets.size(); ++s) {
    const Table& got = book->tables[s];
    ASSERT_EQ(got.name(), sheets[s][1]);
    std::set<std::string> merges;
    std::stringstream list(sheets[s].size() > 3 ? sheets[s][3] : "");
    for (std::string merge; std::getline(list, merge, ',');)
      merges.insert(merge);
    EXPECT_EQ(merged_cells(ours, s), merges) << got.name();
    const auto rows = tsv(root_ / "tsv" / (got.name() + ".tsv"));
    ASSERT_EQ(rows.size(), got.rows() + 1) << got.name();
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t c = 0; c < std::min(rows[r].size(), got.cols()); ++c) {
        const std::string& want = rows[r][c];
        const bool same =
            r == 0 ? got.columns()[c].name == want : same_as_text(got.at(r - 1, c), want);
        EXPECT_TRUE(same) << got.name() << " line " << r << " column " << c << ", not " << want;
      }
  }
}

/// Why rankscope's number differs, and the largest allowed difference relative to the larger
/// number.
struct Reason {
  const char* sheet;
  const char* column; ///< "*" at the end: all columns that begin like this
  double most;
  const char* why;
};

constexpr double kAnything = 1e300;

/// The reference stores times of 10^12 us as doubles, which have steps of 2^-11 us. A kernel of 5
/// us may be wrong by 10^-4 of its duration; so may a sum or a difference of starts.
constexpr Reason kReasons[] = {
    {"gemm", "Kernel Time*", 1e-2, "whole nanoseconds, no sums of rounded doubles"},
    {"gemm", "Non-Data-Mov*", 1e-2, "whole nanoseconds"},
    {"gemm", "TB/s*", 1e-2, "whole nanoseconds"},
    {"gemm", "TFLOPS/s*", 1e-2, "whole nanoseconds"},
    {"gemm", "kernel_time_sum_cum_pct", 1e-6, "whole nanoseconds"},
    {"bin_elemwise", "Kernel Time*", 1e-2, "whole nanoseconds"},
    {"bin_elemwise", "Non-Data-Mov*", 1e-2, "whole nanoseconds"},
    {"bin_elemwise", "TB/s*", 1e-2, "whole nanoseconds"},
    {"bin_elemwise", "TFLOPS/s*", 1e-2, "whole nanoseconds"},
    {"kernel_launchers", "kernel_time_ms", 1e-6, "whole nanoseconds"},
    {"kernel_launchers", "pct", 1e-6, "whole nanoseconds"},
    {"kernel_launchers", "cum_pct", 1e-6, "whole nanoseconds"},
    {"kernel_launchers", "time_ms_avg", 1e-6, "whole nanoseconds"},
    {"gpu_timelines", "time_ms_*", 1e-2, "whole nanoseconds"},
    {"gpu_timelines", "percent_*", 1e-4, "whole nanoseconds"},
    {"grouped_breakdown", "Time (s)", kAnything,
     "a copy launched by a call counts in Memcpy and not in Other besides; whole nanoseconds"},
    {"summary_nccl_implicit_sync_cat", "skew in start*", kAnything, "clocks of ranks are aligned"},
    {"summary_nccl_implicit_sync_cat", "skew in end*", kAnything, "clocks of ranks are aligned"},
    {"summary_nccl_implicit_sync_cat", "algo bw*", 0.07,
     "GB/s are 10^9 bytes a second, not 1024^3"},
    {"summary_nccl_implicit_sync_cat", "bus bw*", 0.07, "GB/s are 10^9 bytes a second"},
    {"nccl_implicit_sync_cat", "algo bw*", 0.07, "GB/s are 10^9 bytes a second"},
    {"nccl_implicit_sync_cat", "bus bw*", 0.07, "GB/s are 10^9 bytes a second"},
    {"nccl_implicit_sync_cat", "skew in*", kAnything, "clocks of ranks are aligned"},
    {"nccl_implicit_sync_cat", "avg_wait_time", kAnything, "clocks of ranks are aligned"},
    {"nccl_implicit_sync_cat_detailed", "algo bw*", 0.07, "GB/s are 10^9 bytes a second"},
    {"nccl_implicit_sync_cat_detailed", "bus bw*", 0.07, "GB/s are 10^9 bytes a second"},
    {"nccl_implicit_sync_cat_detailed", "skew in*", kAnything, "clocks of ranks are aligned"},
    {"nccl_implicit_sync_cat_detailed", "avg_wait_time", kAnything, "clocks are aligned"},
    {"nccl_implicit_sync_cat_detailed", "rank_*", kAnything, "starts and waits on aligned clocks"},
};

bool matches(const Reason& r, const std::string& sheet, const std::string& column) {
  const std::string_view pattern = r.column;
  return sheet == r.sheet &&
         (pattern.ends_with('*') ? column.starts_with(pattern.substr(0, pattern.size() - 1))
                                 : column == pattern);
}

TEST_F(BatchGolden, EveryDifferenceFromTheReferenceHasItsReason) {
  const Report ours = batch_of(root_, false);
  const Report theirs = batch_of(root_, true);
  ASSERT_EQ(ours.tables.size(), theirs.tables.size());
  std::set<const Reason*> used;
  for (std::size_t s = 0; s < ours.tables.size(); ++s) {
    const Table& a = ours.tables[s];
    const Table& b = theirs.tables[s];
    ASSERT_EQ(a.name(), b.name());
    ASSERT_EQ(a.rows(), b.rows()) << a.name();
    ASSERT_EQ(a.cols(), b.cols()) << a.name();
    for (std::size_t c = 0; c < a.cols(); ++c)
      for (std::size_t r = 0; r < a.rows(); ++r) {
        const Value x = a.at(r, c);
        const Value y = b.at(r, c);
        if (same_cell(x, y))
          continue;
        const std::string& column = a.columns()[c].name;
        const auto reason =
            std::find_if(std::begin(kReasons), std::end(kReasons), [&](const Reason& candidate) {
              return matches(candidate, a.name(), column);
            });
        ASSERT_NE(reason, std::end(kReasons))
            << a.name() << " " << column << " row " << r << ": " << shown(x) << " and " << shown(y);
        used.insert(&*reason);
        EXPECT_LE(std::fabs(x.number() - y.number()),
                  reason->most * std::max(std::fabs(x.number()), std::fabs(y.number())))
            << a.name() << " " << column << " row " << r << ": " << shown(x) << " and " << shown(y)
            << " (" << reason->why << ")";
      }
  }
  for (const Reason& reason : kReasons)
    EXPECT_TRUE(used.contains(&reason))
        << "no such difference any more: " << reason.sheet << " " << reason.column;
}

} // namespace
} // namespace rankscope
