#include "pages/sweep_page.h"

#include "base/statistics.h"
#include "core/output_layout.h"
#include "os/output_file.h"
#include "os/scratch_folder.h"
#include "pages/html_report.h"
#include "pages/variance_plots.h"
#include "readers/reports/report_tables.h"
#include "writers/markdown.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// What the page reads of one sweep; tables without columns are not there.
struct Side {
  std::string label;
  std::string folder;
  Table configurations;
  Table variance;
  Table overlap;
  Table collectives;
  std::vector<std::string> findings; ///< of summary.md
  std::vector<std::string> next;
};

Result<std::string> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad())
    return Error{ErrorCode::kUnreadable, path, "cannot read this file",
                 "run rankscope analyze on the sweep first"};
  return bytes;
}

Table table_or_none(const std::string& path) {
  const Result<std::string> text = bytes_of(path);
  return text ? table_from_csv(fs::path(path).stem().string(), *text) : Table();
}

/// The sentences of summary.md: those under "# Summary" and those under "## What to try next".
void read_findings(Side& side) {
  const Result<std::string> text = bytes_of(side.folder + "/summary.md");
  if (!text)
    return;
  std::vector<std::string>* to = nullptr;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind('#', 0) == 0)
      to = line == "# Summary"             ? &side.findings
           : line == "## What to try next" ? &side.next
                                           : nullptr;
    else if (to != nullptr && line.rfind("- ", 0) == 0)
      to->push_back(markdown_unescaped(line.substr(2)));
  }
}

Result<Side> read_side(const AnalysedSweep& sweep) {
  Side side;
  side.label = sweep.label;
  side.folder = sweep.folder;
  std::error_code ec;
  if (!fs::exists(side.folder + "/summary_csv", ec))
    side.folder += "/tracelens_analysis";
  const std::string path = side.folder + "/summary_csv/configurations.csv";
  RS_TRY(const std::string text, bytes_of(path));
  side.configurations = table_from_csv("configurations", text);
  if (side.configurations.rows() == 0 || !side.configurations.column("configuration"))
    return Error{ErrorCode::kUnreadable, path, "the table has no rows of configurations", ""};
  side.variance = table_or_none(OutputLayout(side.folder).saved_gemm_csv(GemmTable::kVariance));
  side.overlap = table_or_none(OutputLayout(side.folder).saved_gemm_csv(GemmTable::kOverlap));
  side.collectives = table_or_none(side.folder + "/nccl_master_all_configs.csv");
  read_findings(side);
  return side;
}

std::string text_of(const Value& v) {
  return v.kind == CellKind::kText ? std::string(v.text)
         : v.is_null()             ? std::string()
                                   : fmt::format("{}", v.number());
}

/// Rows joined over the sides by a label; order of first appearance.
class Join {
public:
  explicit Join(std::size_t sides) : sides_(sides) {}
  void put(const std::string& label, std::size_t side, double value) {
    const auto [at, added] = rows_.emplace(label, order_.size());
    if (added)
      order_.push_back({label, std::vector<double>(sides_, NAN)});
    order_[at->second].values[side] = value;
  }
  std::vector<HtmlRow> rows() { return std::move(order_); }

private:
  std::size_t sides_;
  std::map<std::string, std::size_t> rows_;
  std::vector<HtmlRow> order_;
};

HtmlSection timeline_section(const std::vector<Side>& sides, const std::string& type) {
  HtmlSection section;
  section.title = fmt::format("mean {}", type);
  section.level = 3;
  section.unit = "ms";
  Join join(sides.size());
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const Table& t = sides[s].configurations;
    for (std::size_t r = 0; r < t.rows(); ++r)
      join.put(text_of(t.at(r, "configuration")), s,
               t.at(r, fmt::format("mean {} (ms)", type)).number());
  }
  section.rows = join.rows();
  std::sort(section.rows.begin(), section.rows.end(),
            [](const HtmlRow& a, const HtmlRow& b) { return a.label < b.label; });
  return section;
}

/// n, mean, median and max of the ranges by one dimension of the sweep.
HtmlSection spread_section(const std::vector<Side>& sides, const char* column, const char* title,
                           const char* label) {
  HtmlSection section;
  section.title = title;
  section.level = 3;
  section.unit = "us";
  section.bars = false;
  std::map<std::int64_t, std::vector<std::vector<double>>> values;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const Table& t = sides[s].variance;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      const double key = t.at(r, column).number();
      const double range = t.at(r, "time_diff_us").number();
      if (std::isnan(key) || std::isnan(range))
        continue;
      auto& lists = values[static_cast<std::int64_t>(key)];
      lists.resize(sides.size());
      lists[s].push_back(range);
    }
  }
  for (const auto& [key, lists] : values) {
    const std::string name = fmt::format(fmt::runtime(label), key);
    const std::pair<const char*, double (*)(const std::vector<double>&)> kinds[] = {
        {"mean", [](const std::vector<double>& v) { return box_stats(v).mean; }},
        {"median", [](const std::vector<double>& v) { return box_stats(v).median; }},
        {"max",
         [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }}};
    std::vector<std::size_t> counts;
    for (const auto& list : lists)
      counts.push_back(list.size());
    for (const auto& [kind, value] : kinds) {
      HtmlRow row{fmt::format("{}, {} (n = {})", name, kind, fmt::join(counts, " / ")), {}};
      for (const auto& list : lists)
        row.values.push_back(list.empty() ? NAN : value(list));
      section.rows.push_back(std::move(row));
    }
  }
  return section;
}

/// Mean over the configurations of one column, by collective, data type, size and group.
HtmlSection collective_section(const std::vector<Side>& sides, const std::string& column,
                               const std::string& title, const std::string& unit, bool higher) {
  HtmlSection section;
  section.title = title;
  section.level = 3;
  section.unit = unit;
  section.higher_is_better = higher;
  std::map<std::string, std::vector<std::pair<double, double>>> sums;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    const Table& t = sides[s].collectives;
    for (std::size_t r = 0; r < t.rows(); ++r) {
      const double v = t.at(r, column).number();
      if (std::isnan(v))
        continue;
      auto& list = sums[fmt::format("{} {} {} [{}]", text_of(t.at(r, "Collective name")),
                                    text_of(t.at(r, "dtype")), text_of(t.at(r, "In msg nelems")),
                                    text_of(t.at(r, "Process Group Name")))];
      list.resize(sides.size());
      list[s].first += v;
      list[s].second += 1;
    }
  }
  for (const auto& [label, list] : sums) {
    HtmlRow row{label, {}};
    for (const auto& [sum, n] : list)
      row.values.push_back(n > 0 ? sum / n : NAN);
    section.rows.push_back(std::move(row));
  }
  return section;
}

/// The five plots of every sweep on shared axes, as sections with the plots beside each other.
std::vector<HtmlSection> plot_sections(const std::vector<Side>& sides, std::string& problem) {
  std::vector<HtmlSection> out;
  std::vector<const Table*> tables;
  for (const Side& side : sides)
    if (side.variance.rows() > 0)
      tables.push_back(&side.variance);
  if (tables.empty())
    return out;
  const auto range = variance_range(tables);
  Result<ScratchFolder> scratch = ScratchFolder::create();
  if (!scratch) {
    problem = scratch.error().message();
    return out;
  }
  static const std::pair<const char*, const char*> kTitles[] = {
      {"variance_by_threads_boxplot", "Variance by thread count"},
      {"variance_by_channels_boxplot", "Variance by channel count"},
      {"variance_by_ranks_boxplot", "Variance by rank"},
      {"variance_violin_combined", "Variance distribution (violin plots)"},
      {"variance_thread_channel_interaction", "Thread-channel interaction"}};
  std::vector<std::pair<std::string, PlotSpec>> files;
  std::map<std::string, std::vector<std::pair<std::size_t, std::string>>> by_plot;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    if (sides[s].variance.rows() == 0)
      continue;
    for (auto& [name, spec] : variance_plots(sides[s].variance, range)) {
      spec.title = sides[s].label + ": " + spec.title;
      if (sides.size() > 1) { // half a page wide each
        spec.width_in = std::min(spec.width_in, 11.0);
        spec.height_in = spec.panels.size() > 1 ? 13 : 6;
        spec.columns = 1;
      }
      const std::string file = fmt::format("{}/{}_{}.svg", scratch->path(), name, s);
      by_plot[name].emplace_back(s, file);
      files.emplace_back(file, std::move(spec));
    }
  }
  if (const Result<void> drawn = write_plots(files); !drawn) {
    problem = drawn.error().message();
    return out;
  }
  for (const auto& [name, title] : kTitles) {
    HtmlSection section;
    section.title = title;
    section.level = 3;
    section.side_by_side = sides.size() > 1;
    for (const auto& [s, file] : by_plot[name])
      if (Result<std::string> svg = bytes_of(file))
        section.images.push_back({sides[s].label, std::move(*svg), true});
    if (!section.images.empty())
      out.push_back(std::move(section));
  }
  return out;
}

struct Mean {
  double sum = 0;
  int n = 0;
  [[nodiscard]] double value() const { return n > 0 ? sum / n : NAN; }
};

/// "B: mean total_time 3.10 % lower than A over 8 shared configurations (147.2 against 151.9 ms)".
void compare_in_words(const std::vector<Side>& sides, const std::vector<HtmlRow>& rows,
                      const std::string& what, const std::string& unit, const char* over,
                      std::vector<std::string>& out) {
  for (std::size_t s = 1; s < sides.size(); ++s) {
    Mean base;
    Mean test;
    for (const HtmlRow& row : rows)
      if (!std::isnan(row.values[0]) && !std::isnan(row.values[s])) {
        base.sum += row.values[0];
        test.sum += row.values[s];
        ++base.n;
        ++test.n;
      }
    if (base.n == 0 || base.sum == 0)
      continue;
    const double percent = 100 * (test.value() - base.value()) / base.value();
    const std::string amount =
        std::fabs(percent) < 0.005
            ? "the same as"
            : fmt::format("{:.2f} % {} than", std::fabs(percent), percent < 0 ? "lower" : "higher");
    out.push_back(fmt::format("{}: {} {} {} over {} {} ({:.3f} against {:.3f} {})", sides[s].label,
                              what, amount, sides[0].label, base.n, over, test.value(),
                              base.value(), unit));
  }
}

std::string best_sentence(const HtmlSection& section, std::size_t s, const std::string& label) {
  const HtmlRow* best = nullptr;
  for (const HtmlRow& row : section.rows)
    if (!std::isnan(row.values[s]) && (best == nullptr || row.values[s] < best->values[s]))
      best = &row;
  return best == nullptr ? fmt::format("{}: no {}", label, section.title)
                         : fmt::format("{}: lowest {} with {}, {:.3f} ms", label, section.title,
                                       best->label, best->values[s]);
}

/// The rows with the largest range of each side.
Table top_gemms(const Side& side) {
  constexpr std::size_t kRows = 10;
  const Table& source = side.overlap.rows() > 0 ? side.overlap : side.variance;
  Table t = source.select({"configuration", "threads", "channel", "rank", "op", "input_dims",
                           "kernel_name", "kernel_time_min_us", "kernel_time_max_us",
                           "time_diff_us", "count", "total_overlap_percentage",
                           "slowdown_per_full_overlap_us", "max_overlap_collective"});
  t.set_name(side.label);
  std::vector<std::size_t> order(t.rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return t.at(a, "time_diff_us").number() > t.at(b, "time_diff_us").number();
  });
  order.resize(std::min(order.size(), kRows));
  t.reorder(order);
  if (const auto name = t.column("kernel_name"))
    for (std::size_t r = 0; r < t.rows(); ++r)
      if (const std::string full = text_of(t.at(r, *name)); full.size() > 60)
        t.set(r, *name, full.substr(0, 57) + "...");
  return t;
}

} // namespace

Result<void> write_sweep_page(Session& ctx, const std::vector<AnalysedSweep>& sweeps,
                              const std::string& path) {
  RS_TRY(OutputFile out, OutputFile::create(path));
  std::vector<Side> sides;
  HtmlReport page;
  for (const AnalysedSweep& sweep : sweeps) {
    RS_TRY(Side side, read_side(sweep));
    page.series.push_back(side.label);
    sides.push_back(std::move(side));
  }
  page.title = sides.size() > 1 ? "Sweep comparison" : "Sweep report: " + sides[0].label;
  const std::string against =
      sides.size() > 1 ? " Differences are against " + sides[0].label + "." : "";

  for (Side& side : sides)
    for (auto& [title, points] :
         {std::pair<const char*, std::vector<std::string>*>{"Findings", &side.findings},
          {"What to try next", &side.next}})
      if (!points->empty()) {
        HtmlSection section;
        section.title = title;
        if (sides.size() > 1)
          section.title += ": " + side.label;
        section.points = std::move(*points);
        page.sections.push_back(std::move(section));
      }
  HtmlSection information;
  information.title = "Sweep information";
  Table facts("sweeps", {{"sweep"}, {"path"}, {"configurations"}, {"GEMM rows"}, {"collectives"}});
  for (std::size_t s = 0; s < sides.size(); ++s)
    facts.add_row({Value(sides[s].label), Value(sweeps[s].folder),
                   Value(sides[s].configurations.rows()), Value(sides[s].variance.rows()),
                   Value(sides[s].collectives.rows())});
  information.tables.push_back(std::move(facts));
  page.sections.push_back(std::move(information));

  HtmlSection timelines;
  timelines.title = "GPU time";
  timelines.note = "Means over ranks for each configuration." + against +
                   (sides.size() > 1 ? " Negative is faster." : "");
  page.sections.push_back(std::move(timelines));
  for (const char* type : {"total_time", "computation_time", "exposed_comm_time", "idle_time"}) {
    HtmlSection section = timeline_section(sides, type);
    compare_in_words(sides, section.rows, section.title, "ms", "shared configurations",
                     page.summary);
    for (std::size_t s = 0; s < sides.size(); ++s)
      page.summary.push_back(best_sentence(section, s, sides[s].label));
    page.sections.push_back(std::move(section));
  }

  HtmlSection gemms;
  gemms.title = "GEMM kernel time variance";
  gemms.note = "Range (max - min) of the calls of an operator with its shape, the top rows of each "
               "rank: not the distribution of all kernels. Plots of all sweeps share their axes.";
  for (const Side& side : sides)
    if (side.variance.rows() == 0)
      gemms.note += fmt::format(" {} has no GEMM table.", side.label);
  page.sections.push_back(std::move(gemms));
  std::string problem;
  for (HtmlSection& section : plot_sections(sides, problem))
    page.sections.push_back(std::move(section));
  if (!problem.empty()) {
    HtmlSection said;
    said.title = "Plots are missing";
    said.level = 3;
    said.note = problem;
    page.sections.push_back(std::move(said));
    ctx.warn("no plots in " + path + ": " + problem);
    ctx.partial = true;
  }
  for (const auto& [column, title, label] :
       {std::tuple("threads", "Numbers by thread count", "{} threads"),
        std::tuple("channel", "Numbers by channel count", "{} channels"),
        std::tuple("rank", "Numbers by rank", "rank {}")}) {
    HtmlSection section = spread_section(sides, column, title, label);
    if (std::string_view(column) == "rank") {
      std::vector<HtmlRow> means;
      for (const HtmlRow& row : section.rows)
        if (row.label.find(", mean ") != std::string::npos)
          means.push_back(row);
      compare_in_words(sides, means, "mean GEMM range", "us", "shared ranks", page.summary);
    }
    if (!section.rows.empty())
      page.sections.push_back(std::move(section));
  }
  HtmlSection top;
  top.title = "GEMMs with the largest range";
  top.level = 3;
  for (const Side& side : sides)
    if (side.variance.rows() > 0) {
      HtmlSection one = top;
      one.title += ": " + side.label;
      one.tables.push_back(top_gemms(side));
      page.sections.push_back(std::move(one));
    }

  HtmlSection collectives;
  collectives.title = "Collectives";
  collectives.note = "Means over the configurations, by collective, data type, elements and "
                     "process group." +
                     against;
  for (const Side& side : sides)
    if (side.collectives.rows() == 0)
      collectives.note += fmt::format(" {} has no table of collectives.", side.label);
  page.sections.push_back(std::move(collectives));
  HtmlSection latency =
      collective_section(sides, "comm_latency_mean", "Communication latency", "us", false);
  compare_in_words(sides, latency.rows, "collective latency", "us", "shared collectives",
                   page.summary);
  HtmlSection bandwidth =
      collective_section(sides, "bus bw (GB/s)_mean", "Bus bandwidth", "GB/s", true);
  for (HtmlSection* section : {&latency, &bandwidth})
    if (!section->rows.empty())
      page.sections.push_back(std::move(*section));

  out.write(html_page(page));
  return out.commit();
}

} // namespace rankscope
