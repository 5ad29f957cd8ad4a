// kernel_summary and the short-kernel study (perf-report.md 1.7, 1.8): every kernel event, linked
// or not, by operator, kernel name and stream.
#include "analyses/group_stats.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_key.h"
#include "base/units.h"
#include "core/arg_text.h"

#include <map>
#include <tuple>

namespace rankscope {
namespace {

double percent(double part, double whole) {
  return whole > 0 ? part / whole * 100 : std::numeric_limits<double>::quiet_NaN();
}

bool gpu_only(const Trace& trace) {
  return std::none_of(trace.events.category.begin(), trace.events.category.end(),
                      [](Category c) { return c == Category::kCpuOp; });
}

Table kernel_summary(const LoadedTrace& t, const LauncherIndex& index, bool without_ops) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  std::vector<Column> columns{{"Parent op category"}};
  if (!without_ops)
    columns.push_back({"Parent cpu_op"});
  columns.push_back({"Kernel name"});
  columns.push_back({"Kernel stream"});
  for (const char* x : {"sum", "count", "mean", "min", "max"})
    columns.push_back({std::string("Kernel duration (\u00b5s)_") + x,
                       std::string_view(x) == "count" ? Unit::kCount : Unit::kUs});
  columns.push_back({"Percent of kernels time (%)", Unit::kPercent});
  columns.push_back({"Percent of total time (%)", Unit::kPercent});
  Table table("kernel_summary", std::move(columns));

  struct Group {
    std::int64_t sum = 0, count = 0, min = INT64_MAX, max = 0;
  };
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::int32_t, bool>;
  std::map<Key, Group> groups;
  std::int64_t all = 0;
  for (std::size_t g = 0; g < index.gpu.size(); ++g) {
    const EventId i = index.gpu[g];
    if (e.category[i] != Category::kKernel)
      continue;
    const EventId op = index.parent_op[g];
    Group& group =
        groups[{index.parent_category[g], op == kNoEvent ? std::string_view() : trace.name(op),
                trace.name(i), e.stream[i], op == kNoEvent}];
    const std::int64_t dur = e.dur_ns[i];
    group.sum += dur;
    ++group.count;
    group.min = std::min(group.min, dur);
    group.max = std::max(group.max, dur);
    all += dur;
  }
  for (const auto& [key, g] : groups) {
    const auto& [category, op, kernel, stream, unlinked] = key;
    std::vector<Value> row{unlinked ? Value() : Value(category)};
    if (!without_ops)
      row.push_back(unlinked ? Value() : Value(op));
    row.emplace_back(kernel);
    row.push_back(stream < 0 ? Value() : Value(stream));
    row.emplace_back(ns_to_us(g.sum));
    row.emplace_back(g.count);
    row.emplace_back(ns_to_us(g.sum) / static_cast<double>(g.count));
    row.emplace_back(ns_to_us(g.min));
    row.emplace_back(ns_to_us(g.max));
    row.emplace_back(percent(ns_to_us(g.sum), ns_to_us(all)));
    row.emplace_back(percent(ns_to_us(g.sum), ns_to_us(index.total_ns)));
    table.add_row(row);
  }
  sort_desc(table, *table.column("Kernel duration (\u00b5s)_sum"));
  return table;
}

Table histogram(const std::vector<double>& durations, int bins) {
  Table table("short_kernel_histogram",
              {{"bin_start", Unit::kUs}, {"bin_end", Unit::kUs}, {"count", Unit::kCount}});
  if (durations.empty() || bins <= 0)
    return table;
  const auto [lo, hi] = std::minmax_element(durations.begin(), durations.end());
  double first = *lo;
  double last = *hi;
  if (first == last) { // as numpy does for a single value
    first -= 0.5;
    last += 0.5;
  }
  const double width = (last - first) / bins;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(bins));
  const auto edge = [&](int i) { return i == bins ? last : first + width * i; };
  for (const double d : durations) {
    int bin = std::min(static_cast<int>((d - first) / width), bins - 1);
    if (bin > 0 && d < edge(bin)) // the quotient rounds; the edges decide
      --bin;
    else if (bin < bins - 1 && d >= edge(bin + 1))
      ++bin;
    ++counts[static_cast<std::size_t>(bin)];
  }
  for (int i = 0; i < bins; ++i)
    table.add_row({edge(i), edge(i + 1), counts[static_cast<std::size_t>(i)]});
  return table;
}

Table short_summary(const LoadedTrace& t, const LauncherIndex& index, const ReportOptions& options,
                    bool without_ops) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  std::vector<Column> columns;
  if (!without_ops)
    for (const char* key : {"Parent cpu_op", "Input dims", "Input strides", "Concrete Inputs"})
      columns.push_back({key});
  columns.push_back({"Kernel name"});
  columns.push_back({"Short Kernel duration (\u00b5s) sum", Unit::kUs});
  columns.push_back({"Short Kernel count", Unit::kCount});
  columns.push_back({"Short Kernel duration (\u00b5s) mean", Unit::kUs});
  columns.push_back({"Short Kernel duration (\u00b5s) percent of total time", Unit::kPercent});
  Table table("short_kernels_summary", std::move(columns));
  using Key = std::tuple<std::string_view, StrId, StrId, StrId, std::string_view>;
  std::map<Key, std::pair<std::int64_t, std::int64_t>> groups;
  for (std::size_t g = 0; g < index.gpu.size(); ++g) {
    const EventId i = index.gpu[g];
    if (e.category[i] != Category::kKernel ||
        ns_to_us(e.dur_ns[i]) >= options.short_kernel_threshold_us)
      continue;
    Key key{{}, 0, 0, 0, trace.name(i)};
    if (!without_ops) {
      // rows with any blank key are dropped, as the reference does (1.8)
      const EventId op = index.parent_op[g];
      const OpArgs* const args = op == kNoEvent ? nullptr : trace.op(op);
      if (args == nullptr || args->input_dims == kEmptyStr || args->input_strides == kEmptyStr ||
          args->concrete_inputs == kEmptyStr)
        continue;
      key = {trace.name(op), args->input_dims, args->input_strides, args->concrete_inputs,
             trace.name(i)};
    }
    auto& [sum, count] = groups[key];
    sum += e.dur_ns[i];
    ++count;
  }
  OpKeyTexts texts(trace);
  for (const auto& [key, group] : groups) {
    const auto& [op, dims, strides, concrete, kernel] = key;
    std::vector<Value> row;
    if (!without_ops)
      for (const Value& v : {Value(op), Value(texts.repr(dims)), Value(texts.repr(strides)),
                             Value(texts.repr(concrete))})
        row.push_back(v);
    row.emplace_back(kernel);
    row.emplace_back(ns_to_us(group.first));
    row.emplace_back(group.second);
    row.emplace_back(ns_to_us(group.first) / static_cast<double>(group.second));
    row.emplace_back(percent(ns_to_us(group.first), ns_to_us(index.total_ns)));
    table.add_row(row);
  }
  sort_desc(table, *table.column("Short Kernel duration (\u00b5s) sum"),
            *table.column("Short Kernel count"));
  return table;
}

Result<std::vector<Table>> run(const LoadedTrace& t, const ReportOptions& options) {
  const LauncherIndex& index = launchers_of(t, options);
  const bool without_ops = gpu_only(t.trace);
  std::vector<Table> out;
  if (options.kernel_summary) {
    out.push_back(kernel_summary(t, index, without_ops));
    keep_top(out.back(), options.top_k);
  }
  if (options.short_kernels) {
    std::vector<double> durations;
    for (const EventId i : index.gpu)
      if (t.trace.events.category[i] == Category::kKernel &&
          ns_to_us(t.trace.events.dur_ns[i]) < options.short_kernel_threshold_us)
        durations.push_back(ns_to_us(t.trace.events.dur_ns[i]));
    out.push_back(histogram(durations, options.short_kernel_bins));
    out.push_back(short_summary(t, index, options, without_ops));
    keep_top(out.back(), options.top_k_short_kernels);
  }
  return out;
}

} // namespace

const Analysis kernel_summary_analysis{
    "kernel_summary",
    "kernels by operator, name and stream",
    {"kernel_summary", "short_kernel_histogram", "short_kernels_summary"},
    run};

} // namespace rankscope
