#include "pages/sweep_page.h"

#include "analyses/sweep/sweep_compare.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "findings/sweep_findings.h"
#include "findings/sweep_pair_findings.h"
#include "os/output_file.h"
#include "pages/html_report.h"
#include "pages/variance_plots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

/// One sweep on the page.
struct Side {
  std::string label;
  std::string folder;
  const SweepFacts* facts;
  std::vector<ConfigurationRanks> groups;
  std::vector<ConfigurationRow> configurations;
  std::vector<NcclMasterRow> collectives;
  VarianceData variance;
};

Result<Side> side_of(const SweepSide& sweep) {
  if (sweep.facts->empty())
    return Error{ErrorCode::kUnreadable, sweep.folder, "no rank of this sweep was analysed", ""};
  return Side{sweep.label,
              sweep.folder,
              sweep.facts,
              by_configuration(sweep.facts->records),
              configuration_rows(sweep.facts->records),
              nccl_master_rows(sweep.facts->collectives),
              variance_data(sweep.facts->gemms, sweep.facts->top_k)};
}

/// Joins rows of the sides by their label, in order of first appearance.
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

/// The kinds of time with tables on the page.
constexpr std::array kShownTimes{TimeKind::kTotal, TimeKind::kComputation, TimeKind::kExposedComm,
                                 TimeKind::kIdle};

const ConfigurationRanks* group_of(const Side& side, const std::string& label) {
  for (const ConfigurationRanks& group : side.groups)
    if (group.configuration.label == label)
      return &group;
  return nullptr;
}

/// Marks configurations whose steps differ significantly from the first side. The test is Welch's,
/// with a corrected level for all cells of these tables. A difference does not count if the shown
/// means have the opposite sign.
void tell_apart(const std::vector<Side>& sides, TimeKind kind, std::vector<HtmlRow>& rows) {
  const double alpha = corrected_alpha(kShownTimes.size() * rows.size() * (sides.size() - 1));
  std::vector<double> correlations; // by side
  for (const Side& side : sides)
    correlations.push_back(sweep_correlation(sides[0].groups, side.groups, kind));
  for (HtmlRow& row : rows) {
    row.significance.assign(sides.size(), Significance::kNoInterval);
    const ConfigurationRanks* base = group_of(sides[0], row.label);
    for (std::size_t s = 1; s < sides.size(); ++s) {
      const ConfigurationRanks* test = group_of(sides[s], row.label);
      if (base == nullptr || test == nullptr)
        continue;
      const auto d = compare_sweeps({*base}, {*test}, kind, correlations[s], alpha).difference;
      if (!d)
        continue;
      const bool apart = std::fabs(d->difference) > d->half_width &&
                         (d->difference > 0) == (row.values[s] > row.values[0]);
      row.significance[s] = apart ? Significance::kDiffers : Significance::kAlike;
    }
  }
}

/// `per_step`: divides the times of complete traces by the numbers of their steps.
HtmlSection timeline_section(const std::vector<Side>& sides, TimeKind kind, bool per_step) {
  HtmlSection section;
  section.title = fmt::format("mean {}", time_kind_name(kind));
  section.level = 3;
  section.unit = per_step ? "ms per step" : "ms";
  Join join(sides.size());
  for (std::size_t s = 0; s < sides.size(); ++s)
    for (const ConfigurationRow& row : sides[s].configurations)
      join.put(row.label, s,
               row.mean(kind) / (per_step ? group_of(sides[s], row.label)->mean_steps() : 1));
  section.rows = join.rows();
  tell_apart(sides, kind, section.rows);
  std::ranges::sort(section.rows, {}, &HtmlRow::label);
  return section;
}

/// Returns a section with n, mean, median and max of the ranges by one dimension of the sweep.
HtmlSection spread_section(const std::vector<Side>& sides,
                           std::optional<std::int64_t> VariancePoint::*dimension, const char* title,
                           const char* label) {
  HtmlSection section;
  section.title = title;
  section.level = 3;
  section.unit = "\u00b5s";
  section.bars = false;
  std::map<std::int64_t, std::vector<std::vector<double>>> values;
  for (std::size_t s = 0; s < sides.size(); ++s)
    for (const VariancePoint& p : sides[s].variance.points) {
      const auto& key = p.*dimension;
      if (!key || std::isnan(p.range_us))
        continue;
      auto& lists = values[*key];
      lists.resize(sides.size());
      lists[s].push_back(p.range_us);
    }
  for (const auto& [key, lists] : values) {
    const std::string name = fmt::format(fmt::runtime(label), key);
    const std::pair<const char*, double (*)(const std::vector<double>&)> kinds[] = {
        {"mean", [](const std::vector<double>& v) { return box_stats(v).mean; }},
        {"median", [](const std::vector<double>& v) { return box_stats(v).median; }},
        {"max", [](const std::vector<double>& v) { return *std::ranges::max_element(v); }}};
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

/// Returns a section with the means of one metric, averaged over the configurations, by collective,
/// data type, size and group.
HtmlSection collective_section(const std::vector<Side>& sides, Stats SyncSummary::*metric,
                               const std::string& title, const std::string& unit, bool higher) {
  HtmlSection section;
  section.title = title;
  section.level = 3;
  section.unit = unit;
  section.higher_is_better = higher;
  std::map<std::string, std::vector<std::pair<double, double>>> sums;
  for (std::size_t s = 0; s < sides.size(); ++s)
    for (const NcclMasterRow& row : sides[s].collectives) {
      const SyncSummary& c = *row.summary;
      const double v = (c.*metric).mean;
      if (std::isnan(v))
        continue;
      const std::string elements = c.in_nelems == kNoId ? "" : std::to_string(c.in_nelems);
      auto& list = sums[fmt::format("{} {} {} [{}]", c.name, c.dtype, elements, c.group)];
      list.resize(sides.size());
      list[s].first += v;
      list[s].second += 1;
    }
  for (const auto& [label, list] : sums) {
    HtmlRow row{label, {}};
    for (const auto& [sum, n] : list)
      row.values.push_back(n > 0 ? sum / n : NAN);
    section.rows.push_back(std::move(row));
  }
  return section;
}

/// Returns sections with the five plots of every sweep on shared axes. Each section has one kind of
/// plot, for all sweeps.
std::vector<HtmlSection> plot_sections(const std::vector<Side>& sides) {
  std::vector<HtmlSection> out;
  std::vector<VarianceData> all;
  for (const Side& side : sides)
    if (!side.variance.points.empty())
      all.push_back(side.variance);
  if (all.empty())
    return out;
  const auto range = variance_range(all);
  static const std::pair<const char*, const char*> kTitles[] = {
      {"variance_by_threads_boxplot", "Variance by thread count"},
      {"variance_by_channels_boxplot", "Variance by channel count"},
      {"variance_by_ranks_boxplot", "Variance by rank"},
      {"variance_violin_combined", "Variance distribution (violin plots)"},
      {"variance_thread_channel_interaction", "Thread-channel interaction"}};
  std::map<std::string, std::vector<HtmlImage>> by_plot;
  for (std::size_t s = 0; s < sides.size(); ++s) {
    if (sides[s].variance.points.empty())
      continue;
    for (auto& [name, spec] : variance_plots(sides[s].variance, range)) {
      spec.title = sides[s].label + ": " + spec.title;
      if (sides.size() > 1) { // each plot is half a page wide
        spec.width_in = std::min(spec.width_in, 11.0);
        spec.height_in = spec.panels.size() > 1 ? 13 : 6;
        spec.columns = 1;
      }
      by_plot[name].push_back({sides[s].label, plot_svg(spec)});
    }
  }
  for (const auto& [name, title] : kTitles) {
    HtmlSection section;
    section.title = title;
    section.level = 3;
    section.side_by_side = sides.size() > 1;
    section.images = std::move(by_plot[name]);
    if (!section.images.empty())
      out.push_back(std::move(section));
  }
  return out;
}

/// The number of sentences with an interval per pair of sweeps: one for each of four kinds of time.
constexpr std::size_t kComparedWords = 4;

/// Returns the sweep `s` paired with the first one.
SweepPair pair_of(const std::vector<Side>& sides, std::size_t s) {
  return {sides[0].label, sides[s].label, kComparedWords * (sides.size() - 1)};
}

void compare_times(const std::vector<Side>& sides, TimeKind kind, std::vector<Finding>& out) {
  for (std::size_t s = 1; s < sides.size(); ++s) {
    const SweepPair pair = pair_of(sides, s);
    const SweepDifference difference =
        compare_sweeps(sides[0].groups, sides[s].groups, kind,
                       sweep_correlation(sides[0].groups, sides[s].groups, kind),
                       corrected_alpha(pair.comparisons));
    for (Finding& finding : sweep_time_findings(pair, kind, difference))
      out.push_back(std::move(finding));
  }
}

void compare_rows(const std::vector<Side>& sides, const std::vector<HtmlRow>& rows,
                  const std::string& metric, const char* row, std::vector<Finding>& out) {
  for (std::size_t s = 1; s < sides.size(); ++s) {
    std::vector<SweepPairRow> both;
    for (const HtmlRow& r : rows)
      both.push_back({r.values[0], r.values[s]});
    for (Finding& finding : sweep_row_findings(pair_of(sides, s), metric, row, both))
      out.push_back(std::move(finding));
  }
}

/// A GEMM in the form that the page shows.
struct TopGemm {
  const GemmRow* row;
  std::string kernel; ///< shortened name
};

/// Returns a table of the GEMMs of a side with the largest range.
Table top_gemms(const Side& side) {
  constexpr std::size_t kRows = 10;
  std::vector<TopGemm> rows;
  for (const GemmRow& row : side.facts->gemms.rows)
    rows.push_back({&row, row.kernel.size() > 60 ? row.kernel.substr(0, 57) + "..." : row.kernel});
  sort_stably(rows,
              [](const TopGemm& a, const TopGemm& b) { return a.row->range_us > b.row->range_us; });
  rows.resize(std::min(rows.size(), kRows));
  using R = TopGemm;
  const Schema<R> schema(
      side.label, "GEMMs with the largest range",
      {{"configuration",
        [](const R& r) { return std::string_view(r.row->key.configuration.label); }},
       {"threads", [](const R& r) { return r.row->key.configuration.threads(); }},
       {"channel", [](const R& r) { return r.row->key.configuration.channels_or_cus(); }},
       {"rank", [](const R& r) { return r.row->key.rank; }},
       {"op", [](const R& r) { return std::string_view(r.row->op); }},
       {"input_dims", [](const R& r) { return std::string_view(r.row->dims); }},
       {"kernel_name", [](const R& r) { return std::string_view(r.kernel); }},
       {"kernel_time_min_us", Unit::kUs, [](const R& r) { return r.row->calls_us.min; }},
       {"kernel_time_max_us", Unit::kUs, [](const R& r) { return r.row->calls_us.max; }},
       {"time_diff_us", Unit::kUs, [](const R& r) { return r.row->range_us; }},
       {"count", [](const R& r) { return r.row->calls_us.count; }},
       {"total_overlap_percentage", Unit::kPercent,
        [](const R& r) { return r.row->longest_overlap_percent(); }},
       {"slowdown_per_full_overlap_us", Unit::kUs, [](const R& r) { return r.row->slowdown_us; }},
       {"max_overlap_collective",
        [](const R& r) { return std::string_view(r.row->most_neighbour); }}});
  return schema.table(rows);
}

void add_sentences(const std::vector<Side>& sides, HtmlReport& page) {
  for (const Side& side : sides) {
    const AnswerText text = answer_text(side.facts->findings);
    for (const auto& [title, note, points] :
         {std::tuple("Findings", &text.answer, &text.reasons),
          std::tuple("What to do next", static_cast<const std::string*>(nullptr), &text.actions)})
      if (note != nullptr ? !note->empty() : !points->empty()) {
        HtmlSection section;
        section.title = title;
        if (sides.size() > 1)
          section.title += ": " + side.label;
        if (note != nullptr)
          section.note = *note;
        section.points = *points;
        page.sections.push_back(std::move(section));
      }
  }
  HtmlSection information;
  information.title = "Sweep information";
  Table facts("sweeps", {{"sweep"}, {"path"}, {"configurations"}, {"GEMM rows"}, {"collectives"}});
  for (const Side& side : sides)
    facts.add_row({Value(side.label), Value(side.folder), Value(side.configurations.size()),
                   Value(side.facts->gemms.rows.size()), Value(side.collectives.size())});
  information.tables.push_back(std::move(facts));
  page.sections.push_back(std::move(information));
}

bool steps_differ(const std::vector<Side>& sides) {
  std::vector<ConfigurationRanks> groups;
  for (const Side& side : sides)
    groups.insert(groups.end(), side.groups.begin(), side.groups.end());
  return different_steps(groups).has_value();
}

void add_timelines(const std::vector<Side>& sides, const std::string& against,
                   std::vector<Finding>& findings, HtmlReport& page) {
  HtmlSection timelines;
  timelines.title = "GPU time";
  timelines.note = "Means over ranks for each configuration." + against;
  const bool per_step = steps_differ(sides);
  if (per_step)
    timelines.note += " Numbers of steps differ, so the time of a trace is divided by its steps.";
  if (sides.size() > 1)
    timelines.note += " Grey: no significant difference (Welch's interval over profiler steps, 95 "
                      "% over all cells of these tables). No colour: there is no interval.";
  page.sections.push_back(std::move(timelines));
  for (const TimeKind kind : kShownTimes) {
    HtmlSection section = timeline_section(sides, kind, per_step);
    compare_times(sides, kind, findings);
    page.sections.push_back(std::move(section));
  }
}

void add_gemms(const std::vector<Side>& sides, std::vector<Finding>& findings, HtmlReport& page) {
  HtmlSection gemms;
  gemms.title = "GEMM kernel time variance";
  gemms.note = "Each value is the range (max - min) of the calls of an operator with one shape. "
               "Only the top rows of each rank are shown, so this is not the distribution of all "
               "kernels. The plots of all sweeps have the same axes.";
  for (const Side& side : sides)
    if (side.variance.points.empty())
      gemms.note += fmt::format(" {} has no GEMM table.", side.label);
  const bool comparable = !steps_differ(sides);
  if (!comparable)
    gemms.note += " Numbers of steps differ, and a range grows with the number of calls.";
  page.sections.push_back(std::move(gemms));
  for (HtmlSection& section : plot_sections(sides))
    page.sections.push_back(std::move(section));
  for (const auto& [dimension, title, label] :
       {std::tuple(&VariancePoint::threads, "Numbers by thread count", "{} threads"),
        std::tuple(&VariancePoint::channel, "Numbers by channel count", "{} channels"),
        std::tuple(&VariancePoint::rank, "Numbers by rank", "rank {}")}) {
    HtmlSection section = spread_section(sides, dimension, title, label);
    if (dimension == &VariancePoint::rank && comparable) {
      std::vector<HtmlRow> means;
      for (const HtmlRow& row : section.rows)
        if (row.label.find(", mean ") != std::string::npos)
          means.push_back(row);
      compare_rows(sides, means, "mean GEMM range", "rank", findings);
    }
    if (!section.rows.empty())
      page.sections.push_back(std::move(section));
  }
  HtmlSection top;
  top.title = "GEMMs with the largest range";
  top.level = 3;
  for (const Side& side : sides)
    if (!side.variance.points.empty()) {
      HtmlSection titled = top;
      titled.title += ": " + side.label;
      titled.tables.push_back(top_gemms(side));
      page.sections.push_back(std::move(titled));
    }
}

void add_collectives(const std::vector<Side>& sides, const std::string& against,
                     std::vector<Finding>& findings, HtmlReport& page) {
  HtmlSection collectives;
  collectives.title = "Collectives";
  collectives.note = "Means over the configurations, by collective, data type, elements and "
                     "process group." +
                     against;
  for (const Side& side : sides)
    if (side.collectives.empty())
      collectives.note += fmt::format(" {} has no table of collectives.", side.label);
  page.sections.push_back(std::move(collectives));
  HtmlSection latency = collective_section(sides, &SyncSummary::latency_us, "Communication latency",
                                           "\u00b5s", false);
  compare_rows(sides, latency.rows, "collective latency", "collective", findings);
  HtmlSection bandwidth =
      collective_section(sides, &SyncSummary::bus_gbps, "Bus bandwidth", "GB/s", true);
  for (HtmlSection* section : {&latency, &bandwidth})
    if (!section->rows.empty())
      page.sections.push_back(std::move(*section));
}

} // namespace

Result<void> write_sweep_page(const std::vector<SweepSide>& sweeps, const std::string& path) {
  RS_TRY(OutputFile out, OutputFile::create(path));
  std::vector<Side> sides;
  HtmlReport page;
  for (const SweepSide& sweep : sweeps) {
    RS_TRY(Side side, side_of(sweep));
    page.series.push_back(side.label);
    sides.push_back(std::move(side));
  }
  page.title = sides.size() > 1 ? "Sweep comparison" : "Sweep report: " + sides[0].label;
  const std::string against = sides.size() > 1 ? fmt::format(" Differences are against {}: {}.",
                                                             sides[0].label, kImprovementSign)
                                               : "";
  add_sentences(sides, page);
  std::vector<Finding> findings;
  add_timelines(sides, against, findings, page);
  add_gemms(sides, findings, page);
  add_collectives(sides, against, findings, page);
  for (const TimeKind kind : kShownTimes)
    for (const Side& side : sides)
      for (Finding& finding : time_range_findings(side.label, kind, side.configurations))
        findings.push_back(std::move(finding));
  page.summary = sentences_of(findings);
  out.write(html_page(page));
  return out.commit();
}

} // namespace rankscope
