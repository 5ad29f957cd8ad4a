// Differences of timelines. diff = test - base; percent_change positive when the test is faster.
#include "analyses/compare/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

struct Entry {
  std::optional<double> time_ms;
  std::optional<double> percent;
};

Entry entry(const Table& timeline, const std::string& type) {
  for (std::size_t r = 0; r < timeline.rows(); ++r)
    if (timeline.at(r, "type").text == type)
      return {timeline.at(r, "time ms").number(), timeline.at(r, "percent").number()};
  return {};
}

std::set<std::string> types_of(const ComparedRun& run) {
  std::set<std::string> types;
  for (const auto& [rank, side] : run.ranks)
    for (std::size_t r = 0; r < side.timeline.rows(); ++r)
      types.insert(std::string(side.timeline.at(r, "type").text));
  return types;
}

/// Mean over the ranks that have the row; geometric means leave zeros out instead of replacing them
/// by a tiny number, which would pull the mean to nothing.
Entry mean(const ComparedRun& run, const std::string& type, bool geomean = false) {
  std::vector<double> time;
  std::vector<double> percent;
  for (const auto& [rank, side] : run.ranks)
    if (const Entry e = entry(side.timeline, type); e.time_ms) {
      time.push_back(*e.time_ms);
      percent.push_back(e.percent.value_or(0));
    }
  if (time.empty())
    return {};
  const auto average = [&](const std::vector<double>& values) {
    double sum = 0;
    double n = 0;
    for (const double v : values) {
      if (geomean && v <= 0)
        continue;
      sum += geomean ? std::log(v) : v;
      n += 1;
    }
    return n == 0 ? 0.0 : geomean ? std::exp(sum / n) : sum / n;
  };
  return {average(time), average(percent)};
}

std::vector<double> samples(const RankTimeline& side, const std::string& type) {
  std::vector<double> out;
  if (const auto found = side.step_ms.find(type); found != side.step_ms.end())
    for (const auto& [step, ms] : found->second)
      out.push_back(ms);
  return out;
}

/// One value per step that all ranks of the run have: the mean over ranks.
std::vector<double> mean_samples(const ComparedRun& run, const std::string& type) {
  std::map<std::int64_t, std::pair<double, std::size_t>> steps;
  for (const auto& [rank, side] : run.ranks)
    if (const auto found = side.step_ms.find(type); found != side.step_ms.end())
      for (const auto& [step, ms] : found->second) {
        steps[step].first += ms;
        ++steps[step].second;
      }
  std::vector<double> out;
  for (const auto& [step, sum] : steps)
    if (sum.second == run.ranks.size())
      out.push_back(sum.first / static_cast<double>(sum.second));
  return out;
}

std::vector<Column> columns(const ComparedRun& base, const ComparedRun& test, bool ranks) {
  std::vector<Column> c;
  if (ranks)
    c.push_back({"rank"});
  c.push_back({"type"});
  c.push_back({base.label + "_time_ms", Unit::kMs});
  c.push_back({test.label + "_time_ms", Unit::kMs});
  c.push_back({"diff_time_ms", Unit::kMs});
  c.push_back({"percent_change", Unit::kPercent, false, true});
  c.push_back({"status", Unit::kNone, false, false, -1, true});
  c.push_back({"ratio", Unit::kRatio});
  c.push_back({base.label + "_percent", Unit::kPercent});
  c.push_back({test.label + "_percent", Unit::kPercent});
  c.push_back({"diff_percent", Unit::kPercent});
  c.push_back({"step_change_percent", Unit::kPercent, false, true});
  c.push_back({"ci95_low_percent", Unit::kPercent});
  c.push_back({"ci95_high_percent", Unit::kPercent});
  c.push_back({base.label + "_steps", Unit::kCount});
  c.push_back({test.label + "_steps", Unit::kCount});
  return c;
}

void add(Table& table, std::vector<Value> row, const Entry& b, const Entry& t, const Judgement& j) {
  const bool both = b.time_ms && t.time_ms;
  const bool ratio = both && *b.time_ms != 0;
  row.insert(row.end(), {b.time_ms, t.time_ms});
  row.push_back(both ? Value(*t.time_ms - *b.time_ms) : Value());
  row.push_back(both ? Value(improvement_percent(*b.time_ms, *t.time_ms)) : Value());
  row.emplace_back(j.status);
  row.push_back(ratio ? Value(*t.time_ms / *b.time_ms) : Value());
  row.insert(row.end(), {b.percent, t.percent});
  row.push_back(both && b.percent && t.percent ? Value(*t.percent - *b.percent) : Value());
  row.insert(row.end(),
             {j.step_change, j.low, j.high, Value(j.samples_base), Value(j.samples_test)});
  table.add_row(row);
}

const char* const kSigns =
    "percent_change = (baseline - test) / baseline * 100: positive is better, blank when the "
    "baseline is 0 (0 when both are).";
const char* const kNoise =
    "Better and Worse need a change beyond the threshold of {} % and, with two profiler steps or "
    "more on both sides, a 95 % interval (Welch) of the per-step difference that leaves 0 out. "
    "Differences between whole runs (placement, temperature) are not in that interval.";

} // namespace

std::optional<RankTimeline> rank_timeline(const Report& report) {
  const Table* const timeline = report.find("gpu_timeline");
  if (timeline == nullptr || !timeline->column("type") || !timeline->column("time ms"))
    return std::nullopt;
  RankTimeline out;
  out.timeline = timeline->select({"type", "time ms", "percent"});
  if (const Table* const steps = report.find("gpu_timeline_per_step"))
    for (std::size_t r = 0; r < steps->rows(); ++r)
      out.step_ms[std::string(steps->at(r, "type").text)]
                 [static_cast<std::int64_t>(steps->at(r, "step").number())] =
          steps->at(r, "time ms").number();
  return out;
}

Judgement judge(double base, double test, const std::vector<double>& base_samples,
                const std::vector<double>& test_samples, double threshold_percent, Better better) {
  const double sign = better == Better::kHigher ? -1 : 1;
  Judgement out;
  out.samples_base = base_samples.size();
  out.samples_test = test_samples.size();
  std::optional<double> change = improvement_percent(base, test, better);
  if (!change) {
    out.status = "New";
    return out;
  }
  const SampleStats b = sample_stats(base_samples);
  const SampleStats t = sample_stats(test_samples);
  const std::optional<MeanDifference> welch = welch95(b, t);
  bool noise = false;
  if (welch && b.mean != 0) {
    const double middle = -sign * welch->difference / b.mean * 100;
    const double half = std::fabs(welch->half_width / b.mean * 100);
    out.step_change = middle;
    out.low = middle - half;
    out.high = middle + half;
    noise = *out.low <= 0 && *out.high >= 0;
    if (b.n != t.n)
      change = middle;
  }
  out.status = noise                          ? "Similar"
               : *change > threshold_percent  ? "Better"
               : *change < -threshold_percent ? "Worse"
                                              : "Similar";
  // the whole trace and its steps disagree: then there is no answer to give
  if (out.step_change && *out.step_change * *change < 0)
    out.status = "Similar";
  return out;
}

Report timeline_summary(const ComparedRun& run, bool geomean) {
  const std::set<std::string> types = types_of(run);
  Table summary("Summary", {{"type"},
                            {"time ms", Unit::kMs},
                            {"percent", Unit::kPercent},
                            {"num_ranks", Unit::kCount},
                            {"min ms", Unit::kMs},
                            {"max ms", Unit::kMs},
                            {"slowest_rank"}});
  std::vector<Column> by_rank{{"type"}};
  for (const auto& [rank, side] : run.ranks)
    by_rank.push_back({std::to_string(rank)});
  Table times("Per_Rank_Time_ms", by_rank);
  Table percents("Per_Rank_Percent", by_rank);
  for (std::size_t c = 1; c < by_rank.size(); ++c) {
    times.columns()[c].unit = Unit::kMs;
    percents.columns()[c].unit = Unit::kPercent;
  }
  for (const std::string& type : types) {
    std::vector<Value> time_row{Value(type)};
    std::vector<Value> percent_row{Value(type)};
    std::optional<double> low;
    std::optional<double> high;
    std::int64_t slowest = 0;
    int n = 0;
    for (const auto& [rank, side] : run.ranks) {
      const Entry e = entry(side.timeline, type);
      time_row.emplace_back(e.time_ms);
      percent_row.emplace_back(e.percent);
      if (!e.time_ms)
        continue;
      ++n;
      low = std::min(low.value_or(*e.time_ms), *e.time_ms);
      if (!high || *e.time_ms > *high) {
        high = e.time_ms;
        slowest = rank;
      }
    }
    const Entry m = mean(run, type, geomean);
    summary.add_row({Value(type), m.time_ms, m.percent, Value(n), low, high, Value(slowest)});
    times.add_row(time_row);
    percents.add_row(percent_row);
  }
  Table all("All_Ranks_Combined",
            {{"type"}, {"time ms", Unit::kMs}, {"percent", Unit::kPercent}, {"rank"}});
  for (const auto& [rank, side] : run.ranks)
    for (const std::string& type : types)
      if (const Entry e = entry(side.timeline, type); e.time_ms)
        all.add_row({Value(type), e.time_ms, e.percent, Value(rank)});
  Report out;
  out.title = run.label;
  out.tables.push_back(std::move(summary));
  out.tables.push_back(std::move(all));
  out.tables.push_back(std::move(times));
  out.tables.push_back(std::move(percents));
  return out;
}

Report combine_reports(const std::vector<const Report*>& sides,
                       const std::vector<std::string>& labels) {
  std::vector<std::string> names;
  for (const Report* side : sides)
    for (const Table& t : side->tables)
      if (std::find(names.begin(), names.end(), t.name()) == names.end())
        names.push_back(t.name());
  Report out;
  for (const std::string& name : names) {
    std::vector<Column> columns;
    for (const Report* side : sides)
      if (const Table* t = side->find(name))
        for (const Column& c : t->columns())
          if (std::none_of(columns.begin(), columns.end(),
                           [&](const Column& have) { return have.name == c.name; }))
            columns.push_back(c);
    columns.push_back({"source"});
    Table all(name, columns);
    for (std::size_t s = 0; s < sides.size(); ++s) {
      const Table* const t = sides[s]->find(name);
      if (t == nullptr)
        continue;
      std::vector<std::optional<std::size_t>> at;
      for (std::size_t c = 0; c + 1 < columns.size(); ++c)
        at.push_back(t->column(columns[c].name));
      for (std::size_t r = 0; r < t->rows(); ++r) {
        std::vector<Value> row;
        for (const auto& c : at)
          row.push_back(c ? t->at(r, *c) : Value());
        row.emplace_back(labels[s]);
        all.add_row(row);
      }
      if (all.notes.empty())
        all.notes = t->notes;
    }
    out.tables.push_back(std::move(all));
  }
  return out;
}

std::vector<Table> compare_timelines(const ComparedRun& base, const ComparedRun& test,
                                     double threshold_percent) {
  std::set<std::string> types = types_of(base);
  types.merge(types_of(test));
  const auto verdict = [&](const Entry& b, const Entry& t, const std::vector<double>& base_samples,
                           const std::vector<double>& test_samples) {
    Judgement out;
    if (!b.time_ms)
      out.status = "only in " + test.label;
    else if (!t.time_ms)
      out.status = "only in " + base.label;
    else
      return judge(*b.time_ms, *t.time_ms, base_samples, test_samples, threshold_percent);
    return out;
  };
  Table summary("Summary_Comparison", columns(base, test, false));
  for (const std::string& type : types) {
    const Entry b = mean(base, type);
    const Entry t = mean(test, type);
    add(summary, {Value(type)}, b, t,
        verdict(b, t, mean_samples(base, type), mean_samples(test, type)));
  }
  summary.notes = {"Means over the ranks of each run.", kSigns,
                   fmt::format(fmt::runtime(kNoise), threshold_percent)};
  Table by_rank("Comparison_By_Rank", columns(base, test, true));
  std::set<std::int64_t> ranks;
  for (const ComparedRun* run : {&base, &test})
    for (const auto& [rank, side] : run->ranks)
      ranks.insert(rank);
  const RankTimeline none;
  for (const std::int64_t rank : ranks)
    for (const std::string& type : types) {
      const auto b = base.ranks.find(rank);
      const auto t = test.ranks.find(rank);
      const RankTimeline& x = b == base.ranks.end() ? none : b->second;
      const RankTimeline& y = t == test.ranks.end() ? none : t->second;
      const Entry left = entry(x.timeline, type);
      const Entry right = entry(y.timeline, type);
      if (left.time_ms || right.time_ms)
        add(by_rank, {Value(rank), Value(type)}, left, right,
            verdict(left, right, samples(x, type), samples(y, type)));
    }
  by_rank.notes = {kSigns, fmt::format(fmt::runtime(kNoise), threshold_percent)};
  std::vector<Table> out;
  out.push_back(std::move(summary));
  out.push_back(std::move(by_rank));
  return out;
}

} // namespace rankscope
