// Differences of timelines. diff = test - base; percent_change positive when the test is faster.
#include "analyses/compare_runs.h"

#include <cmath>
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

std::set<std::string> types_of(const RunTimelines& run) {
  std::set<std::string> types;
  for (const auto& [rank, table] : run.ranks)
    for (std::size_t r = 0; r < table.rows(); ++r)
      types.insert(std::string(table.at(r, "type").text));
  return types;
}

Entry mean(const RunTimelines& run, const std::string& type) {
  double time = 0;
  double percent = 0;
  int n = 0;
  for (const auto& [rank, table] : run.ranks)
    if (const Entry e = entry(table, type); e.time_ms) {
      time += *e.time_ms;
      percent += e.percent.value_or(0);
      ++n;
    }
  if (n == 0)
    return {};
  return {time / n, percent / n};
}

std::vector<Column> columns(const RunTimelines& base, const RunTimelines& test, bool ranks) {
  std::vector<Column> c;
  if (ranks)
    c.push_back({"rank"});
  c.push_back({"type"});
  c.push_back({base.label + "_time_ms", Unit::kMs});
  c.push_back({test.label + "_time_ms", Unit::kMs});
  c.push_back({"diff_time_ms", Unit::kMs});
  c.push_back({"percent_change", Unit::kPercent, false, true});
  c.push_back({"status"});
  c.push_back({"ratio", Unit::kRatio});
  c.push_back({base.label + "_percent", Unit::kPercent});
  c.push_back({test.label + "_percent", Unit::kPercent});
  c.push_back({"diff_percent", Unit::kPercent});
  return c;
}

void add(Table& table, std::vector<Value> row, const Entry& b, const Entry& t,
         const std::string& status) {
  const bool both = b.time_ms && t.time_ms;
  const bool ratio = both && *b.time_ms != 0;
  row.insert(row.end(), {b.time_ms, t.time_ms});
  row.push_back(both ? Value(*t.time_ms - *b.time_ms) : Value());
  row.push_back(both ? Value(improvement_percent(*b.time_ms, *t.time_ms)) : Value());
  row.emplace_back(status);
  row.push_back(ratio ? Value(*t.time_ms / *b.time_ms) : Value());
  row.insert(row.end(), {b.percent, t.percent});
  row.push_back(both ? Value(*t.percent - *b.percent) : Value());
  table.add_row(row);
}

} // namespace

std::optional<double> improvement_percent(double base, double test) {
  if (base == 0)
    return test == 0 ? std::optional<double>(0) : std::nullopt;
  return (base - test) / base * 100;
}

std::string judge(double base, double test, double threshold_percent) {
  const std::optional<double> change = improvement_percent(base, test);
  if (!change)
    return "New";
  return *change > threshold_percent    ? "Better"
         : *change < -threshold_percent ? "Worse"
                                        : "Similar";
}

std::optional<double> mean_time_ms(const RunTimelines& run, const std::string& type) {
  return mean(run, type).time_ms;
}

std::vector<Table> compare_timelines(const RunTimelines& base, const RunTimelines& test,
                                     double threshold_percent) {
  std::set<std::string> types = types_of(base);
  types.merge(types_of(test));
  const auto status = [&](const Entry& b, const Entry& t) {
    if (!b.time_ms)
      return "only in " + test.label;
    if (!t.time_ms)
      return "only in " + base.label;
    return judge(*b.time_ms, *t.time_ms, threshold_percent);
  };
  Table summary("Summary_Comparison", columns(base, test, false));
  for (const std::string& type : types) {
    const Entry b = mean(base, type);
    const Entry t = mean(test, type);
    add(summary, {Value(type)}, b, t, status(b, t));
  }
  summary.notes = {"Means over the ranks of each run. percent_change = (base - test) / base * 100: "
                   "positive is better.",
                   "The status goes by the threshold alone; run-to-run noise is not estimated."};
  Table by_rank("Comparison_By_Rank", columns(base, test, true));
  std::set<std::int64_t> ranks;
  for (const RunTimelines* run : {&base, &test})
    for (const auto& [rank, table] : run->ranks)
      ranks.insert(rank);
  for (const std::int64_t rank : ranks)
    for (const std::string& type : types) {
      const auto b = base.ranks.find(rank);
      const auto t = test.ranks.find(rank);
      const Entry x = b == base.ranks.end() ? Entry{} : entry(b->second, type);
      const Entry y = t == test.ranks.end() ? Entry{} : entry(t->second, type);
      if (x.time_ms || y.time_ms)
        add(by_rank, {Value(rank), Value(type)}, x, y, status(x, y));
    }
  by_rank.notes = {"percent_change = (base - test) / base * 100: positive is better."};
  std::vector<Table> out;
  out.push_back(std::move(summary));
  out.push_back(std::move(by_rank));
  return out;
}

} // namespace rankscope
