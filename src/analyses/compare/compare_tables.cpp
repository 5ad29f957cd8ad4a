#include "analyses/compare/compare_tables.h"

#include "core/schema.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace rankscope {
namespace {

using enum CellKind;
constexpr ColumnStyle kDelta{.delta = true};
constexpr ColumnStyle kStatus{.status = true};
/// The method for the intervals of rows that are judged together.
constexpr const char* kJointInterval = "Welch, 95 % with Bonferroni's correction";
constexpr const char* kBetterHelp =
    "change from the baseline to the test, in percent of the baseline; positive is better";

/// Returns the texts of the verdicts, by enumerator.
std::array<std::string, kVerdicts> verdict_texts(const std::string& base, const std::string& test) {
  std::array<std::string, kVerdicts> out;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = verdict_text(static_cast<Verdict>(i), base, test);
  return out;
}

template <class Row>
std::function<Value(const Row&)> status_of(const std::string& base, const std::string& test) {
  return [texts = verdict_texts(base, test)](const Row& r) {
    return Value(texts[static_cast<std::size_t>(r.judgement.verdict)]);
  };
}

/// Adds the columns LABEL_x (one per run), diff_x, percent_change_x (if one sign is better) and
/// ratio_x of a metric.
template <class Row>
void add_change_columns(Schema<Row>& schema, const std::string& id, const std::string& label,
                        Unit unit, MetricChange Row::*change, const ComparedRun& base,
                        const ComparedRun& test, bool judged = true) {
  // percentages and ratios are not in us, so the " (us)" that rankscope adds to labels is removed;
  // units in the reference's labels stay
  const std::string bare = label.ends_with(" (us)") ? label.substr(0, label.size() - 5) : label;
  schema.add({"base_" + id, base.label + "_" + label, unit,
              [change](const Row& r) { return (r.*change).base; }});
  schema.add({"test_" + id, test.label + "_" + label, unit,
              [change](const Row& r) { return (r.*change).test; }});
  schema.add({"diff_" + id, "diff_" + label, unit,
              [change](const Row& r) { return (r.*change).difference(); },
              "value of the test - value of the baseline"});
  if (judged)
    schema.add({"percent_change_" + id, "percent_change_" + bare, Unit::kPercent,
                [change](const Row& r) { return (r.*change).improvement(); }, kBetterHelp, kDelta});
  schema.add({"ratio_" + id, "ratio_" + bare, Unit::kRatio,
              [change](const Row& r) { return (r.*change).ratio(); },
              "value of the test / value of the baseline"});
}

template <class Row> void add_interval(Schema<Row>& schema) {
  const std::string interval_end = fmt::format(
      " end of the interval ({}) for the change between the samples' means, in percent; {}",
      kJointInterval, kImprovementSign);
  schema.add({"ci95_low_percent", Unit::kPercent, [](const Row& r) { return r.judgement.low; },
              "lower" + interval_end});
  schema.add({"ci95_high_percent", Unit::kPercent, [](const Row& r) { return r.judgement.high; },
              "upper" + interval_end});
}

template <class Row>
void add_samples(Schema<Row>& schema, const std::string& what, const ComparedRun& base,
                 const ComparedRun& test) {
  schema.add({"base_" + what, base.label + "_" + what, Unit::kCount,
              [](const Row& r) { return r.judgement.samples_base; }});
  schema.add({"test_" + what, test.label + "_" + what, Unit::kCount,
              [](const Row& r) { return r.judgement.samples_test; }});
}

Schema<TimelineChange> timeline_schema(const ComparedRun& base, const ComparedRun& test,
                                       bool ranks) {
  using R = TimelineChange;
  Schema<R> s(ranks ? "Comparison_By_Rank" : "Summary_Comparison",
              "GPU time of both runs by kind, the difference, and whether it is significant");
  if (ranks)
    s.add({"rank", &R::rank});
  s.add({"type", [](const R& r) { return time_kind_name(r.kind); }});
  s.add({"base_time_ms", base.label + "_time_ms", Unit::kMs, [](const R& r) { return r.ms.base; }});
  s.add({"test_time_ms", test.label + "_time_ms", Unit::kMs, [](const R& r) { return r.ms.test; }});
  s.add({"diff_time_ms", Unit::kMs, [](const R& r) { return r.ms.difference(); },
         "value of the test - value of the baseline"});
  s.add({"percent_change", Unit::kPercent, [](const R& r) { return r.ms.improvement(); },
         kBetterHelp, kDelta});
  s.add({"status", "status", Unit::kNone, kText, status_of<R>(base.label, test.label),
         "whether the difference is significant", kStatus});
  s.add({"ratio", Unit::kRatio, [](const R& r) { return r.ms.ratio(); },
         "value of the test / value of the baseline"});
  s.add({"base_percent", base.label + "_percent", Unit::kPercent,
         [](const R& r) { return r.percent.base; }, "share of total_time of the baseline"});
  s.add({"test_percent", test.label + "_percent", Unit::kPercent,
         [](const R& r) { return r.percent.test; }, "share of total_time of the test"});
  s.add({"diff_percent", Unit::kPercent, [](const R& r) { return r.percent.difference(); },
         "share of total_time of the test - share of the baseline, in percentage points"});
  s.add({"step_change_percent", Unit::kPercent, [](const R& r) { return r.judgement.change; },
         "change as in percent_change, but computed from the means over the profiler steps",
         kDelta});
  add_interval(s);
  add_samples(s, "steps", base, test);
  return s;
}

constexpr const char* kSigns =
    "percent_change = (baseline - test) / baseline * 100: positive is better, blank when the "
    "baseline is 0 (0 when both are).";

/// Returns the note on the rule of the verdicts, its samples and its limits.
std::string rule_note(const char* rows, const char* samples, const JudgeRule& rule) {
  std::string out = fmt::format(
      "Better and Worse need an interval ({}, all {} together) of the change of the {}' means that "
      "excludes 0, and a change beyond the threshold of {} %; Similar: one of these is missing, "
      "or the samples (equally many) and the complete trace change in opposite directions.",
      kJointInterval, rows, samples, rule.threshold_percent);
  if (rule.assumed_noise_percent)
    out += fmt::format(" Where a side has one sample only, a noise of {} % of a sample is ASSUMED "
                       "(--assume-noise), not measured; the interval then comes from it.",
                       *rule.assumed_noise_percent);
  else
    out += " One step on a side has no interval and is not judged (--assume-noise gives a noise).";
  return rule.any_work ? out : out + " Nothing is judged if the runs do different work.";
}

/// Returns "6 / 6", with "assumed" if the noise is assumed; empty without samples.
std::string samples_text(const Judgement& j) {
  if (j.samples_base + j.samples_test == 0)
    return j.assumed ? "assumed" : "";
  return fmt::format("{} / {}{}", j.samples_base, j.samples_test,
                     j.assumed                                    ? ", assumed"
                     : j.samples_base == 1 || j.samples_test == 1 ? ", one step: no interval"
                                                                  : "");
}

constexpr const char* kBetweenRuns =
    "Verdicts apply to these runs only: the intervals do not include differences between runs "
    "(placement, temperature).";

template <class Row> void add_key(Schema<Row>& s, bool group_first) {
  const auto group = [&s] {
    s.add({"group", "Process Group Name", Unit::kNone,
           [](const Row& r) { return std::string_view(r.key.group); }});
  };
  if (group_first)
    group();
  s.add({"collective", "Collective name", Unit::kNone,
         [](const Row& r) { return std::string_view(r.key.name); }});
  s.add({"dtype", [](const Row& r) { return std::string_view(r.key.dtype); }});
  s.add({"in_nelems", "In msg nelems", Unit::kCount,
         [](const Row& r) { return known(r.key.in_nelems); }});
  if (!group_first)
    group();
}

} // namespace

std::vector<const ComparedRun*> runs_of(const Comparison& comparison) {
  std::vector<const ComparedRun*> out{&comparison.base};
  for (const ComparedRun& test : comparison.tests)
    out.push_back(&test);
  return out;
}

std::string sheet_suffix(const Comparison& comparison, std::size_t i) {
  return comparison.tests.size() > 1 ? "_" + comparison.tests[i].label : "";
}

std::string verdict_text(Verdict verdict, const std::string& base, const std::string& test) {
  std::string out(verdict_name(verdict));
  if (verdict == Verdict::kOnlyBase)
    out += " " + base;
  if (verdict == Verdict::kOnlyTest)
    out += " " + test;
  return out;
}

Table changes_table(const Comparison& comparison, std::size_t i, bool all) {
  return what_changed_table(comparison.changes[i], comparison.base.label, comparison.tests[i].label,
                            all);
}

Table timeline_by_rank_table(const Comparison& comparison, std::size_t i) {
  Table out = timeline_schema(comparison.base, comparison.tests[i], true)
                  .table(comparison.timelines[i].by_rank);
  out.notes = {kSigns, rule_note("rows", "profiler steps", comparison.rule), kBetweenRuns};
  return out;
}

Table timeline_mean_table(const Comparison& comparison, std::size_t i) {
  Table out = timeline_schema(comparison.base, comparison.tests[i], false)
                  .table(comparison.timelines[i].mean);
  out.notes = {"Means over the ranks that both runs have.", kSigns,
               rule_note("rows", "profiler steps", comparison.rule), kBetweenRuns};
  return out;
}

Table collectives_cmp_table(const Comparison& comparison, std::size_t i) {
  using R = CollectiveChange;
  const ComparedRun& base = comparison.base;
  const ComparedRun& test = comparison.tests[i];
  Schema<R> s("nccl_implicit_sync_cmp", "collectives of both runs by name, type, size and group");
  add_key(s, false);
  add_change_columns(s, "comm_latency_us_mean", "comm_latency_mean (us)", Unit::kUs, &R::latency_us,
                     base, test);
  add_change_columns(s, "algo_bw_gbps_mean", "algo bw (GB/s)_mean", Unit::kGBps, &R::algo_gbps,
                     base, test);
  add_change_columns(s, "bus_bw_gbps_mean", "bus bw (GB/s)_mean", Unit::kGBps, &R::bus_gbps, base,
                     test);
  add_change_columns(s, "total_latency_ms", "Total comm latency (ms)", Unit::kMs, &R::total_ms,
                     base, test);
  add_change_columns(s, "count", "count", Unit::kCount, &R::count, base, test, false);
  s.add({"status", "status", Unit::kNone, kText, status_of<R>(base.label, test.label),
         "whether the difference of comm_latency_mean is significant", kStatus});
  add_interval(s);
  add_samples(s, "samples", base, test);
  Table out = s.table(comparison.collectives[i].all_ranks);
  out.notes = {"diff = test - baseline. percent_change: positive is better (lower latency, higher "
               "bandwidth); blank when the baseline is 0.",
               "status and interval refer to comm_latency_mean.",
               rule_note("rows", "profiler steps", comparison.rule), kBetweenRuns};
  return out;
}

Table rank_collectives_cmp_table(const Comparison& comparison, std::size_t i) {
  using R = RankCollectiveChange;
  const ComparedRun& base = comparison.base;
  const ComparedRun& test = comparison.tests[i];
  Schema<R> s("nccl_long_cmp", "durations of collectives of both runs by rank and stream",
              {{"rank", &R::rank}});
  add_key(s, true);
  s.add({"stream", &R::stream});
  add_change_columns(s, "dur_us_mean", "dur_mean (us)", Unit::kUs, &R::mean_us, base, test);
  add_change_columns(s, "dur_us_sum", "dur_sum (us)", Unit::kUs, &R::sum_us, base, test);
  add_change_columns(s, "count", "operation_count", Unit::kCount, &R::count, base, test, false);
  s.add({"status", "status", Unit::kNone, kText, status_of<R>(base.label, test.label),
         "whether the difference of dur_mean is significant", kStatus});
  add_interval(s);
  add_samples(s, "samples", base, test);
  Table out = s.table(comparison.collectives[i].by_rank);
  out.notes = {"Durations include the wait for later ranks. percent_change: positive is better.",
               rule_note("rows", "profiler steps", comparison.rule), kBetweenRuns};
  return out;
}

namespace {

/// Returns a note on a metric with a baseline value that differs between tests.
std::string bases_note(const Comparison& comparison, const DashboardRow& row) {
  std::string out =
      fmt::format("{} of {}, from the ranks and collectives that both runs have:", row.metric,
                  comparison.base.label);
  for (std::size_t i = 0; i < row.tests.size(); ++i)
    if (row.tests[i] && row.tests[i]->base)
      out += fmt::format("{} {:.3f} {} compared with {}", out.back() == ':' ? "" : ",",
                         *row.tests[i]->base, row.unit, comparison.tests[i].label);
  return out;
}

} // namespace

Table dashboard_table(const Comparison& comparison) {
  using R = DashboardRow;
  const std::string base = comparison.base.label;
  Schema<R> s("Summary_Dashboard", "key metrics of the GPU and the collectives",
              {{"metric", "Metric", Unit::kNone, &R::metric},
               {"unit", "Unit", Unit::kNone, &R::unit},
               {"base",
                base,
                Unit::kNone,
                &R::base,
                "value of the baseline: mean over the ranks that both runs have; values of "
                "collectives are weighted by their counts in the baseline",
                {.decimals = 2}}});
  // owns the texts of the cells until the table is made
  std::vector<std::vector<std::string>> samples(comparison.tests.size());
  constexpr std::size_t kPerTest = 7;
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    const std::string& label = comparison.tests[i].label;
    const std::string before = comparison.tests.size() > 1 ? label + " " : "";
    const std::string id = fmt::format("test{}_", i + 1);
    const auto field = [i](auto value) {
      return [i, value](const R& r) { return r.tests[i] ? value(*r.tests[i]) : Value(); };
    };
    s.add({id + "value",
           label,
           Unit::kNone,
           kDouble,
           field([](const DashboardCell& c) { return Value(c.value); }),
           {},
           {.decimals = 2}});
    s.add({id + "improvement_percent",
           before + "Improvement (%)",
           Unit::kPercent,
           kDouble,
           field([](const DashboardCell& c) { return Value(c.estimate()); }),
           "change from the baseline to the test, in percent of the baseline; computed from the "
           "means of the samples if there are samples; blank if only one run has samples; "
           "positive is better",
           {.delta = true, .decimals = 2}});
    s.add({id + "status", before + "Status", Unit::kNone, kText,
           field([texts = verdict_texts(base, label)](const DashboardCell& c) {
             return Value(texts[static_cast<std::size_t>(c.judgement.verdict)]);
           }),
           "whether the difference is significant", kStatus});
    s.add({id + "low_percent", before + "95% low (%)", Unit::kPercent, kDouble,
           field([](const DashboardCell& c) { return Value(c.judgement.low); }),
           fmt::format("lower end of the interval of the improvement ({})", kJointInterval)});
    s.add({id + "high_percent", before + "95% high (%)", Unit::kPercent, kDouble,
           field([](const DashboardCell& c) { return Value(c.judgement.high); }),
           fmt::format("upper end of the interval of the improvement ({})", kJointInterval)});
    s.add({id + "complete_run_percent",
           before + "Complete run (%)",
           Unit::kPercent,
           kDouble,
           field([](const DashboardCell& c) { return Value(c.improvement); }),
           "change from the baseline to the test in percent of the baseline, computed from the "
           "complete runs, including work outside of steps; positive is better",
           {.decimals = 2}});
    for (const R& row : comparison.dashboard.rows)
      samples[i].push_back(row.tests[i] ? samples_text(row.tests[i]->judgement) : std::string());
    s.add({id + "samples", before + "Samples", Unit::kNone, kText,
           [&rows = comparison.dashboard.rows, &texts = samples[i]](const R& r) {
             const std::string& text = texts[static_cast<std::size_t>(&r - rows.data())];
             return text.empty() ? Value() : Value(text);
           },
           "number of samples (profiler steps): baseline / test"});
  }
  Table out = s.table(comparison.dashboard.rows);
  const std::size_t gpu = comparison.dashboard.gpu_rows;
  Chart times{Chart::Kind::kColumns, "GPU time, mean over ranks", "ms", 0, {2}, 0, gpu};
  Chart change{Chart::Kind::kBars, "Improvement (positive is better)", "%", 0, {}, 0, out.rows()};
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    times.value_columns.push_back(3 + kPerTest * i);
    change.value_columns.push_back(4 + kPerTest * i);
  }
  out.charts = {times, std::move(change)};
  // the collectives have one chart for each unit
  const std::vector<DashboardRow>& rows = comparison.dashboard.rows;
  for (std::size_t first = gpu, last = gpu; first < rows.size(); first = last) {
    while (last < rows.size() && rows[last].unit == rows[first].unit)
      ++last;
    Chart& collectives = out.charts.emplace_back(times);
    collectives.title = "Collectives";
    collectives.value_title = rows[first].unit;
    collectives.first_row = first;
    collectives.last_row = last;
  }
  for (const R& row : comparison.dashboard.rows)
    if (!row.base && std::any_of(row.tests.begin(), row.tests.end(),
                                 [](const auto& cell) { return cell && cell->base; }))
      out.notes.push_back(bases_note(comparison, row));
  constexpr const char* kSamples =
      "Samples: profiler steps, baseline / test. Improvement and its interval come from their "
      "means; the values come from the complete runs.";
  constexpr const char* kCollectives =
      "NCCL rows: the complete collectives that both runs have, weighted by the baseline's counts "
      "(bandwidth: by the baseline's time).";
  constexpr const char* kMeans =
      "Improvement: positive is better (less time, more bandwidth). GPU rows: mean over the ranks "
      "that both runs have.";
  out.notes.insert(out.notes.end(),
                   {kMeans, rule_note("GPU rows and all NCCL rows", "samples", comparison.rule),
                    kSamples, kCollectives, kBetweenRuns});
  return out;
}

Report final_report(const Comparison& comparison) {
  Report out;
  out.title = "final analysis report";
  const auto put = [&out](Table table, std::string name, bool hidden, const char* colour) {
    if (table.rows() == 0)
      return;
    table.set_name(std::move(name));
    table.hidden = hidden;
    table.styled = true;
    table.tab_color = colour;
    out.tables.push_back(std::move(table));
  };
  const auto raw = [&put](std::vector<Table> tables) {
    static const std::map<std::string, std::string> kNames = {
        {"Summary", "GPU_Summary_Raw"},
        {"All_Ranks_Combined", "GPU_AllRanks_Raw"},
        {"Per_Rank_Time_ms", "GPU_Time_Raw"},
        {"Per_Rank_Percent", "GPU_Pct_Raw"},
        {"nccl_summary_implicit_sync", "NCCL_ImplSync_Raw"},
        {"nccl_summary_long", "NCCL_Long_Raw"}};
    for (Table& t : tables) {
      const std::string& name = kNames.at(t.name());
      put(std::move(t), name, true, "#7F7F7F");
    }
  };
  put(dashboard_table(comparison), "Summary_Dashboard", false, "#1F4E78");
  for (std::size_t i = 0; i < comparison.tests.size(); ++i)
    put(changes_table(comparison, i, false), "What_Changed" + sheet_suffix(comparison, i), false,
        "#1F4E78");
  raw(timeline_summary_tables(runs_of(comparison), false, true));
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    const std::string after = sheet_suffix(comparison, i);
    put(timeline_by_rank_table(comparison, i), "GPU_ByRank_Cmp" + after, false, "#3498DB");
    put(timeline_mean_table(comparison, i), "GPU_Summary_Cmp" + after, false, "#3498DB");
  }
  raw(collective_summary_tables(runs_of(comparison)));
  for (std::size_t i = 0; i < comparison.tests.size(); ++i) {
    const std::string after = sheet_suffix(comparison, i);
    put(collectives_cmp_table(comparison, i), "NCCL_ImplicitSyncCmp" + after, false, "#E67E22");
    put(rank_collectives_cmp_table(comparison, i), "NCCL_LongCmp" + after, false, "#E67E22");
  }
  return out;
}

} // namespace rankscope
