// Differences of collectives between two runs, and the dashboard over both kinds of figures.
#include "analyses/compare/compare_runs.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

const char* const kRate = "bus bw (GB/s)_mean";

std::string text_at(const Table& t, std::size_t row, const char* column) {
  const Value v = t.at(row, column);
  return v.kind == CellKind::kText ? std::string(v.text)
         : v.is_null()             ? std::string()
                                   : fmt::format("{}", v.number()); // group "0" of a workbook
}

CollectiveKey key_of(const Table& t, std::size_t row) {
  const Value nelems = t.at(row, "In msg nelems");
  return {text_at(t, row, "Collective name"), text_at(t, row, "dtype"),
          nelems.is_null() || std::isnan(nelems.number())
              ? -1
              : static_cast<std::int64_t>(nelems.number()),
          text_at(t, row, "Process Group Name")};
}

std::map<CollectiveKey, std::size_t> rows_of(const Table& t) {
  std::map<CollectiveKey, std::size_t> out;
  for (std::size_t r = 0; r < t.rows(); ++r)
    out.emplace(key_of(t, r), r);
  return out;
}

std::optional<double> number_at(const Table& t, std::optional<std::size_t> row,
                                const std::string& column) {
  if (!row)
    return std::nullopt;
  const Value v = t.at(*row, column);
  return v.is_null() || std::isnan(v.number()) ? std::nullopt : std::optional(v.number());
}

/// A metric compared: column in the summary, header in the comparison, direction.
struct Metric {
  const char* column;
  const char* header;
  Unit unit;
  enum class Good { kLow, kHigh, kNone } good;
};

std::vector<Column> metric_columns(const ComparedRun& base, const ComparedRun& test,
                                   const std::vector<Metric>& metrics) {
  std::vector<Column> out;
  for (const Metric& m : metrics) {
    out.push_back({fmt::format("{}_{}", base.label, m.header), m.unit});
    out.push_back({fmt::format("{}_{}", test.label, m.header), m.unit});
    out.push_back({fmt::format("diff_{}", m.header), m.unit});
    if (m.good != Metric::Good::kNone)
      out.push_back({fmt::format("percent_change_{}", m.header), Unit::kPercent, false, true});
    out.push_back({fmt::format("ratio_{}", m.header), Unit::kRatio});
  }
  return out;
}

void add_metrics(std::vector<Value>& row, const Table& base, std::optional<std::size_t> b,
                 const Table& test, std::optional<std::size_t> t,
                 const std::vector<Metric>& metrics) {
  for (const Metric& m : metrics) {
    const auto x = number_at(base, b, m.column);
    const auto y = number_at(test, t, m.column);
    row.emplace_back(x);
    row.emplace_back(y);
    row.push_back(x && y ? Value(*y - *x) : Value());
    if (m.good != Metric::Good::kNone) {
      std::optional<double> change;
      if (x && y)
        change = improvement_percent(
            *x, *y, m.good == Metric::Good::kHigh ? Better::kHigher : Better::kLower);
      row.emplace_back(change);
    }
    row.push_back(x && y && *x != 0 ? Value(*y / *x) : Value());
  }
}

const CollectiveSamples& samples_of(const ComparedRun& run, const CollectiveKey& key) {
  static const CollectiveSamples none;
  const auto found = run.samples.find(key);
  return found == run.samples.end() ? none : found->second;
}

/// The mix of collectives that both runs have, with the baseline's counts as weights.
struct Mix {
  double base_ms = 0, test_ms = 0;
  double base_rate = 0, test_rate = 0; ///< time-weighted bus bandwidth
  double base_skew_us = 0, test_skew_us = 0;
  /// 95 % half widths of test_ms - base_ms and of the skews' difference; none when a collective has
  /// fewer than two samples on a side.
  std::optional<double> half_ms, half_skew_us;
  std::size_t base_samples = 0, test_samples = 0;
  bool any = false;
};

Mix mix_of(const ComparedRun& base, const ComparedRun& test) {
  Mix mix;
  const Table& a = base.nccl_summary_implicit_sync;
  const Table& b = test.nccl_summary_implicit_sync;
  const auto rows_b = rows_of(b);
  double count_sum = 0;
  std::vector<WelchTerm> latency;
  std::vector<WelchTerm> skew;
  for (const auto& [key, row] : rows_of(a)) {
    const auto found = rows_b.find(key);
    if (found == rows_b.end())
      continue;
    const std::size_t other = found->second;
    const auto count = number_at(a, row, "count");
    const auto x = number_at(a, row, "comm_latency_mean");
    const auto y = number_at(b, other, "comm_latency_mean");
    if (!count || !x || !y)
      continue;
    mix.any = true;
    count_sum += *count;
    mix.base_ms += *count * *x / 1e3;
    mix.test_ms += *count * *y / 1e3;
    mix.base_rate += *count * *x / 1e3 * number_at(a, row, kRate).value_or(0);
    mix.test_rate += *count * *y / 1e3 * number_at(b, other, kRate).value_or(0);
    mix.base_skew_us += *count * number_at(a, row, "skew in start time_mean").value_or(0);
    mix.test_skew_us += *count * number_at(b, other, "skew in start time_mean").value_or(0);
    const CollectiveSamples& left = samples_of(base, key);
    const CollectiveSamples& right = samples_of(test, key);
    mix.base_samples += left.latency.size();
    mix.test_samples += right.latency.size();
    latency.push_back({sample_stats(left.latency), sample_stats(right.latency), *count / 1e3});
    skew.push_back({sample_stats(left.start_skew), sample_stats(right.start_skew), *count});
  }
  if (mix.base_ms > 0)
    mix.base_rate /= mix.base_ms;
  if (mix.test_ms > 0)
    mix.test_rate /= mix.test_ms;
  if (count_sum > 0) {
    mix.base_skew_us /= count_sum;
    mix.test_skew_us /= count_sum;
  }
  if (const auto interval = welch95(latency))
    mix.half_ms = interval->half_width;
  if (const auto interval = welch95(skew); interval && count_sum > 0)
    mix.half_skew_us = interval->half_width / count_sum;
  return mix;
}

} // namespace

void take_collectives(const Report& report, ComparedRun& run) {
  if (const Table* t = report.find("nccl_summary_implicit_sync"))
    run.nccl_summary_implicit_sync = *t;
  if (const Table* t = report.find("nccl_summary_long"))
    run.nccl_summary_long = *t;
  if (const Table* t = report.find("nccl_implicit_sync"))
    for (std::size_t r = 0; r < t->rows(); ++r)
      if (const Value v = t->at(r, "comm_latency"); !v.is_null()) {
        CollectiveSamples& samples = run.samples[key_of(*t, r)];
        samples.latency.push_back(v.number());
        samples.start_skew.push_back(t->at(r, "skew in start time").number());
      }
}

std::vector<Table> compare_collectives(const ComparedRun& base, const ComparedRun& test,
                                       double threshold_percent) {
  std::vector<Table> out;
  const Table& a = base.nccl_summary_implicit_sync;
  const Table& b = test.nccl_summary_implicit_sync;
  const auto status_of = [&](const auto& x, const auto& y, const std::vector<double>& s,
                             const std::vector<double>& t) {
    Judgement j;
    if (!x)
      j.status = "only in " + test.label;
    else if (!y)
      j.status = "only in " + base.label;
    else
      j = judge(*x, *y, s, t, threshold_percent);
    return j;
  };
  if (a.rows() + b.rows() > 0) {
    const std::vector<Metric> metrics = {
        {"comm_latency_mean", "comm_latency_mean (us)", Unit::kUs, Metric::Good::kLow},
        {"algo bw (GB/s)_mean", "algo bw (GB/s)_mean", Unit::kGBps, Metric::Good::kHigh},
        {kRate, kRate, Unit::kGBps, Metric::Good::kHigh},
        {"Total comm latency (ms)", "Total comm latency (ms)", Unit::kMs, Metric::Good::kLow},
        {"count", "count", Unit::kCount, Metric::Good::kNone}};
    std::vector<Column> columns{
        {"Collective name"}, {"dtype"}, {"In msg nelems", Unit::kCount}, {"Process Group Name"}};
    for (Column& c : metric_columns(base, test, metrics))
      columns.push_back(std::move(c));
    columns.push_back({"status", Unit::kNone, false, false, -1, true});
    columns.push_back({"ci95_low_percent", Unit::kPercent});
    columns.push_back({"ci95_high_percent", Unit::kPercent});
    columns.push_back({base.label + "_samples", Unit::kCount});
    columns.push_back({test.label + "_samples", Unit::kCount});
    Table table("nccl_implicit_sync_cmp", std::move(columns));
    const auto rows_a = rows_of(a);
    const auto rows_b = rows_of(b);
    std::set<CollectiveKey> keys;
    for (const auto* rows : {&rows_a, &rows_b})
      for (const auto& [key, row] : *rows)
        keys.insert(key);
    for (const CollectiveKey& key : keys) {
      const auto& [name, dtype, nelems, pg] = key;
      std::vector<Value> row{Value(name), Value(dtype), nelems < 0 ? Value() : Value(nelems),
                             Value(pg)};
      const auto left = rows_a.find(key);
      const auto right = rows_b.find(key);
      const auto x = left == rows_a.end() ? std::nullopt : std::optional(left->second);
      const auto y = right == rows_b.end() ? std::nullopt : std::optional(right->second);
      add_metrics(row, a, x, b, y, metrics);
      const Judgement j =
          status_of(number_at(a, x, "comm_latency_mean"), number_at(b, y, "comm_latency_mean"),
                    samples_of(base, key).latency, samples_of(test, key).latency);
      row.insert(row.end(), {Value(j.status), Value(j.low), Value(j.high), Value(j.samples_base),
                             Value(j.samples_test)});
      table.add_row(row);
    }
    table.notes = {"diff = test - baseline. percent_change: positive is better (lower latency, "
                   "higher bandwidth); blank when the baseline is 0.",
                   fmt::format("status and interval are of comm_latency_mean over the single "
                               "collectives (Welch, 95 %), threshold {} %.",
                               threshold_percent)};
    out.push_back(std::move(table));
  }
  const Table& la = base.nccl_summary_long;
  const Table& lb = test.nccl_summary_long;
  if (la.rows() + lb.rows() > 0) {
    const std::vector<Metric> metrics = {
        {"dur_mean", "dur_mean (us)", Unit::kUs, Metric::Good::kLow},
        {"dur_sum", "dur_sum (us)", Unit::kUs, Metric::Good::kLow},
        {"operation_count", "operation_count", Unit::kCount, Metric::Good::kNone}};
    std::vector<Column> columns{{"rank"},  {"Process Group Name"},          {"Collective name"},
                                {"dtype"}, {"In msg nelems", Unit::kCount}, {"stream"}};
    for (Column& c : metric_columns(base, test, metrics))
      columns.push_back(std::move(c));
    columns.push_back({"status", Unit::kNone, false, false, -1, true});
    Table table("nccl_long_cmp", std::move(columns));
    using LongKey = std::tuple<std::int64_t, CollectiveKey, std::int64_t>;
    const auto rows = [](const Table& t) {
      std::map<LongKey, std::size_t> found;
      for (std::size_t r = 0; r < t.rows(); ++r) {
        const auto whole = [&](const char* column) {
          const double v = t.at(r, column).number();
          return std::isnan(v) ? -1 : static_cast<std::int64_t>(v);
        };
        found.emplace(LongKey{whole("rank"), key_of(t, r), whole("stream")}, r);
      }
      return found;
    };
    const auto rows_a = rows(la);
    const auto rows_b = rows(lb);
    std::set<LongKey> keys;
    for (const auto* list : {&rows_a, &rows_b})
      for (const auto& [key, row] : *list)
        keys.insert(key);
    for (const LongKey& key : keys) {
      const auto& [rank, collective, stream] = key;
      const auto& [name, dtype, nelems, pg] = collective;
      std::vector<Value> row{
          Value(rank),  Value(pg), Value(name), Value(dtype), nelems < 0 ? Value() : Value(nelems),
          Value(stream)};
      const auto left = rows_a.find(key);
      const auto right = rows_b.find(key);
      const auto x = left == rows_a.end() ? std::nullopt : std::optional(left->second);
      const auto y = right == rows_b.end() ? std::nullopt : std::optional(right->second);
      add_metrics(row, la, x, lb, y, metrics);
      // named: the row refers to its text until it is added
      const Judgement j =
          status_of(number_at(la, x, "dur_mean"), number_at(lb, y, "dur_mean"), {}, {});
      row.emplace_back(j.status);
      table.add_row(row);
    }
    table.notes = {"Durations hold the wait for later ranks. percent_change: positive is better.",
                   fmt::format("status goes by the threshold of {} % alone.", threshold_percent)};
    out.push_back(std::move(table));
  }
  return out;
}

Table summary_dashboard(const ComparedRun& base, const std::vector<ComparedRun>& tests,
                        double threshold_percent) {
  std::vector<Column> columns{{"Metric"}, {"Unit"}, {base.label, Unit::kNone, false, false, 2}};
  for (const ComparedRun& test : tests) {
    const std::string before = tests.size() > 1 ? test.label + " " : "";
    columns.push_back({test.label, Unit::kNone, false, false, 2});
    columns.push_back({before + "Improvement (%)", Unit::kPercent, false, true, 2});
    columns.push_back({before + "Status", Unit::kNone, false, false, -1, true});
    columns.push_back({before + "95% low (%)", Unit::kPercent});
    columns.push_back({before + "95% high (%)", Unit::kPercent});
    columns.push_back({before + "Samples"});
  }
  Table out("Summary_Dashboard", std::move(columns));
  constexpr std::size_t kPerTest = 6;
  // rows by metric: the comparisons of each test give its part
  std::vector<Table> timelines;
  std::vector<Mix> mixes;
  std::set<std::string> types;
  for (const ComparedRun& test : tests) {
    timelines.push_back(std::move(compare_timelines(base, test, threshold_percent).front()));
    mixes.push_back(mix_of(base, test));
    for (std::size_t r = 0; r < timelines.back().rows(); ++r)
      types.insert(std::string(timelines.back().at(r, "type").text));
  }
  const auto counts = [](const Value& b, const Value& t) {
    return b.number() > 0 || t.number() > 0 ? fmt::format("{} / {}", b.i, t.i) : std::string();
  };
  for (const std::string& type : types) {
    const std::string metric = "GPU_" + type;
    std::vector<Value> row{Value(metric), Value("ms"), Value()};
    std::vector<std::string> samples(tests.size());
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const Table& t = timelines[i];
      std::size_t r = 0;
      while (r < t.rows() && t.at(r, "type").text != type)
        ++r;
      if (r == t.rows()) {
        row.resize(row.size() + kPerTest);
        continue;
      }
      if (row[2].is_null())
        row[2] = t.at(r, 1);
      samples[i] = counts(t.at(r, base.label + "_steps"), t.at(r, tests[i].label + "_steps"));
      row.insert(row.end(), {t.at(r, 2), t.at(r, "percent_change"), t.at(r, "status"),
                             t.at(r, "ci95_low_percent"), t.at(r, "ci95_high_percent"),
                             samples[i].empty() ? Value() : Value(samples[i])});
    }
    out.add_row(row);
  }
  const std::size_t gpu_rows = out.rows();
  struct Figure {
    const char* metric;
    const char* unit;
    double Mix::*base;
    double Mix::*test;
    Better better;
    double Mix::*noise_scale;
    std::optional<double> Mix::*half_width;
  };
  // bandwidth moves as the inverse of latency, so that the latency's noise is taken for both
  const Figure figures[] = {{"NCCL_comm_latency", "ms", &Mix::base_ms, &Mix::test_ms,
                             Better::kLower, &Mix::base_ms, &Mix::half_ms},
                            {"NCCL_bus_bandwidth", "GB/s", &Mix::base_rate, &Mix::test_rate,
                             Better::kHigher, &Mix::base_ms, &Mix::half_ms},
                            {"NCCL_start_skew", "us", &Mix::base_skew_us, &Mix::test_skew_us,
                             Better::kLower, &Mix::base_skew_us, &Mix::half_skew_us}};
  for (const Figure& f : figures) {
    if (std::none_of(mixes.begin(), mixes.end(), [](const Mix& m) { return m.any; }))
      break;
    std::vector<Value> row{Value(f.metric), Value(f.unit), Value()};
    std::vector<std::string> texts(2 * tests.size());
    for (std::size_t i = 0; i < tests.size(); ++i) {
      const Mix& m = mixes[i];
      if (!m.any) {
        row.resize(row.size() + kPerTest);
        continue;
      }
      row[2] = Value(m.*f.base);
      Judgement j = judge(m.*f.base, m.*f.test, {}, {}, threshold_percent, f.better);
      const std::optional<double> change = improvement_percent(m.*f.base, m.*f.test, f.better);
      if (m.*f.half_width && m.*f.noise_scale > 0 && change) {
        const double half = *(m.*f.half_width) / m.*f.noise_scale * 100;
        j.low = *change - half;
        j.high = *change + half;
        if (*j.low <= 0 && *j.high >= 0)
          j.status = "Similar";
        texts[2 * i + 1] = fmt::format("{} / {}", m.base_samples, m.test_samples);
      }
      texts[2 * i] = j.status;
      row.insert(row.end(),
                 {Value(m.*f.test), Value(change), Value(texts[2 * i]), Value(j.low), Value(j.high),
                  texts[2 * i + 1].empty() ? Value() : Value(texts[2 * i + 1])});
    }
    out.add_row(row);
  }
  Chart times{Chart::Kind::kColumns, "GPU time, mean over ranks", "ms", 0, {2}, 0, gpu_rows};
  Chart change{Chart::Kind::kBars, "Improvement (positive is better)", "%", 0, {}, 0, out.rows()};
  for (std::size_t i = 0; i < tests.size(); ++i) {
    times.value_columns.push_back(3 + kPerTest * i);
    change.value_columns.push_back(4 + kPerTest * i);
  }
  out.charts = {std::move(times), std::move(change)};
  if (out.rows() > gpu_rows) {
    Chart collectives{
        Chart::Kind::kColumns, "Collectives", "ms, GB/s, us", 0, {2}, gpu_rows, out.rows()};
    for (std::size_t i = 0; i < tests.size(); ++i)
      collectives.value_columns.push_back(3 + kPerTest * i);
    out.charts.push_back(std::move(collectives));
  }
  out.notes = {
      "Improvement: positive is better everywhere (less time, more bandwidth). GPU rows are means "
      "over ranks.",
      fmt::format("Better and Worse need more than {} % and an interval ({}) that leaves 0 out; "
                  "Samples counts profiler steps or collectives, baseline / test.",
                  threshold_percent, kIntervalMethod),
      "NCCL rows: the collectives that both runs have, weighted by the baseline's counts."};
  return out;
}

Report final_report(const ComparedRun& base, const std::vector<ComparedRun>& tests,
                    double threshold_percent) {
  Report out;
  out.title = "final analysis report";
  const auto put = [&](Table table, std::string name, bool hidden, const char* colour) {
    table.set_name(std::move(name));
    table.hidden = hidden;
    table.styled = true;
    table.tab_color = colour;
    if (table.rows() > 0)
      out.tables.push_back(std::move(table));
  };
  put(summary_dashboard(base, tests, threshold_percent), "Summary_Dashboard", false, "#1F4E78");
  std::vector<Report> timelines{timeline_summary(base, false)};
  std::vector<std::string> labels{base.label};
  std::vector<Report> collectives(1);
  const auto keep = [](Report& to, const ComparedRun& run) {
    for (const Table* t : {&run.nccl_summary_implicit_sync, &run.nccl_summary_long})
      if (t->rows() > 0)
        to.tables.push_back(*t);
  };
  keep(collectives.front(), base);
  for (const ComparedRun& test : tests) {
    timelines.push_back(timeline_summary(test, false));
    labels.push_back(test.label);
    keep(collectives.emplace_back(), test);
  }
  const auto pointers = [](const std::vector<Report>& reports) {
    std::vector<const Report*> all;
    for (const Report& r : reports)
      all.push_back(&r);
    return all;
  };
  static const std::map<std::string, std::string> kRaw = {
      {"Summary", "GPU_Summary_Raw"},
      {"All_Ranks_Combined", "GPU_AllRanks_Raw"},
      {"Per_Rank_Time_ms", "GPU_Time_Raw"},
      {"Per_Rank_Percent", "GPU_Pct_Raw"},
      {"nccl_summary_implicit_sync", "NCCL_ImplSync_Raw"},
      {"nccl_summary_long", "NCCL_Long_Raw"}};
  for (const Table& t : combine_reports(pointers(timelines), labels).tables)
    put(t, kRaw.at(t.name()), true, "#7F7F7F");
  for (const ComparedRun& test : tests) {
    const std::string after = tests.size() > 1 ? "_" + test.label : "";
    std::vector<Table> tables = compare_timelines(base, test, threshold_percent);
    put(std::move(tables[1]), "GPU_ByRank_Cmp" + after, false, "#3498DB");
    put(std::move(tables[0]), "GPU_Summary_Cmp" + after, false, "#3498DB");
  }
  for (const Table& t : combine_reports(pointers(collectives), labels).tables)
    put(t, kRaw.at(t.name()), true, "#7F7F7F");
  for (const ComparedRun& test : tests)
    for (Table& t : compare_collectives(base, test, threshold_percent)) {
      const std::string name =
          t.name() == "nccl_long_cmp" ? "NCCL_LongCmp" : "NCCL_ImplicitSyncCmp";
      put(std::move(t), name + (tests.size() > 1 ? "_" + test.label : ""), false, "#E67E22");
    }
  return out;
}

} // namespace rankscope
