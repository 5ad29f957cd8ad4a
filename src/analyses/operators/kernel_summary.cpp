// kernel_summary and the short-kernel study (docs/reference/report-rules.md 14): all kernel events,
// linked or not, by operator, kernel name and stream.
#include "analyses/operators/kernel_summary.h"

#include "analyses/group_stats.h"
#include "analyses/operators/launchers.h"
#include "analyses/operators/op_key.h"
#include "base/sort.h"
#include "base/units.h"
#include "core/gpu_work.h"

#include <fmt/format.h>
#include <map>
#include <tuple>

namespace rankscope {
namespace {

double percent_kernel_summary(std::int64_t part_ns, std::int64_t whole_ns) {
  return whole_ns > 0 ? ns_to_us(part_ns) / ns_to_us(whole_ns) * 100
                      : std::numeric_limits<double>::quiet_NaN();
}

} // namespace

std::vector<KernelRow> compute(const LoadedTrace& t, const KernelRowsKey& wanted) {
  const LauncherIndex& index = t.shared(wanted.launchers);
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  using Key = std::tuple<std::string_view, std::string_view, std::string_view, std::int32_t, bool>;
  std::map<Key, std::size_t> places;
  std::vector<KernelRow> out; // in order of first appearance
  std::int64_t all_ns = 0;
  for (std::size_t g = 0; g < index.gpu.size(); ++g) {
    const EventId i = index.gpu[g];
    if (e.category[i] != Category::kKernel)
      continue;
    const EventId op = index.parent_op[g];
    const std::string_view op_name = op == kNoEvent ? std::string_view() : trace.name(op);
    const std::int64_t dur = e.dur_ns[i];
    const auto [it, fresh] = places.try_emplace(
        {index.parent_category[g], op_name, trace.name(i), e.stream[i], op == kNoEvent},
        out.size());
    if (fresh) {
      KernelRow& row = out.emplace_back();
      row.category = index.parent_category[g];
      row.op = op_name;
      row.kernel = trace.name(i);
      row.stream = e.stream[i];
      row.linked = op != kNoEvent;
      row.min_ns = row.max_ns = dur;
    }
    KernelRow& row = out[it->second];
    row.sum_ns += dur;
    ++row.count;
    row.min_ns = std::min(row.min_ns, dur);
    row.max_ns = std::max(row.max_ns, dur);
    all_ns += dur;
  }
  for (KernelRow& row : out) {
    row.percent_of_kernels = percent_kernel_summary(row.sum_ns, all_ns);
    row.percent_of_total = percent_kernel_summary(row.sum_ns, index.total_ns);
  }
  sort_stably(out, std::ranges::greater(), &KernelRow::sum_ns);
  return out;
}

namespace {

bool is_short(const Trace& trace, EventId i, double threshold_us) {
  return trace.events.category[i] == Category::kKernel &&
         ns_to_us(trace.events.dur_ns[i]) < threshold_us;
}

/// Returns bins of equal width from the shortest to the longest of the short kernels; empty without
/// short kernels.
std::vector<HistogramBin> short_kernel_histogram(const LoadedTrace& t,
                                                 const ReportOptions& options) {
  std::vector<double> durations;
  for (const EventId i : t.shared(TraceGpuWorkKey{}).events)
    if (is_short(t.trace, i, options.short_kernel_threshold_us))
      durations.push_back(ns_to_us(t.trace.events.dur_ns[i]));
  const int bins = options.short_kernel_bins;
  std::vector<HistogramBin> out;
  if (durations.empty() || bins <= 0)
    return out;
  const auto [lo, hi] = std::minmax_element(durations.begin(), durations.end());
  double first = *lo;
  double last = *hi;
  if (first == last) { // numpy also widens the range if all values are equal
    first -= 0.5;
    last += 0.5;
  }
  const double width = (last - first) / bins;
  const auto edge = [&](int i) { return i == bins ? last : first + width * i; };
  for (int i = 0; i < bins; ++i)
    out.push_back({edge(i), edge(i + 1), 0});
  for (const double d : durations) {
    int bin = std::min(static_cast<int>((d - first) / width), bins - 1);
    if (bin > 0 && d < edge(bin)) // the quotient is rounded, so compare with the bin edges
      --bin;
    else if (bin < bins - 1 && d >= edge(bin + 1))
      ++bin;
    ++out[static_cast<std::size_t>(bin)].count;
  }
  return out;
}

/// Returns rows ordered by sum (longest first), then by count. Launches without recorded arguments
/// are left out, except in a trace without operators: there op, dims, strides and concrete are
/// empty.
std::vector<ShortKernelRow> short_kernels(const LoadedTrace& t, const LauncherIndex& index,
                                          double threshold_us) {
  const Trace& trace = t.trace;
  const bool operators = has_events(trace, Category::kCpuOp);
  using Key = std::tuple<std::string_view, StrId, StrId, StrId, std::string_view>;
  struct Group {
    std::int64_t sum = 0;
    std::int64_t count = 0;
  };
  std::map<Key, std::size_t> rows;
  // in order of the first kernel, so that ties keep this order
  std::vector<std::pair<Key, Group>> groups;
  for (std::size_t g = 0; g < index.gpu.size(); ++g) {
    const EventId i = index.gpu[g];
    if (!is_short(trace, i, threshold_us))
      continue;
    Key key{{}, 0, 0, 0, trace.name(i)};
    if (operators) {
      // launches with an empty key field are left out, as in the reference (1.8)
      const EventId op = index.parent_op[g];
      const OpArgs* const args = op == kNoEvent ? nullptr : trace.op(op);
      if (args == nullptr || args->input_dims == kEmptyStr || args->input_strides == kEmptyStr ||
          args->concrete_inputs == kEmptyStr)
        continue;
      key = {trace.name(op), args->input_dims, args->input_strides, args->concrete_inputs,
             trace.name(i)};
    }
    const auto [at, fresh] = rows.try_emplace(key, groups.size());
    if (fresh)
      groups.push_back({key, {}});
    Group& group = groups[at->second].second;
    group.sum += trace.events.dur_ns[i];
    ++group.count;
  }
  OpKeyTexts texts(trace);
  std::vector<ShortKernelRow> out;
  for (const auto& [key, group] : groups) {
    const auto& [op, dims, strides, concrete, kernel] = key;
    ShortKernelRow& row = out.emplace_back();
    row.op = op;
    row.dims = texts.repr(dims);
    row.strides = texts.repr(strides);
    row.concrete = texts.repr(concrete);
    row.kernel = kernel;
    row.sum_ns = group.sum;
    row.count = group.count;
    row.percent_of_total = percent_kernel_summary(group.sum, index.total_ns);
  }
  sort_stably(out, [](const ShortKernelRow& a, const ShortKernelRow& b) {
    return a.sum_ns != b.sum_ns ? a.sum_ns > b.sum_ns : a.count < b.count;
  });
  return out;
}

std::vector<SheetInfo> describe_kernel_summary(const ReportOptions&) {
  return {kernel_summary_schema(true).info(), short_kernel_histogram_schema().info(),
          short_kernels_schema(true).info()};
}

Result<std::vector<Table>> run_kernel_summary(const LoadedTrace& t, const ReportOptions& options) {
  const bool operators = has_events(t.trace, Category::kCpuOp);
  std::vector<Table> out;
  if (options.kernel_summary) {
    out.push_back(kernel_summary_schema(operators).table(t.shared(KernelRowsKey{options})));
    keep_top(out.back(), options.top_k);
  }
  if (options.short_kernels) {
    out.push_back(short_kernel_histogram_schema().table(short_kernel_histogram(t, options)));
    out.push_back(short_kernels_schema(operators).table(
        short_kernels(t, t.shared(LaunchersKey{options}), options.short_kernel_threshold_us)));
    keep_top(out.back(), options.top_k_short_kernels);
  }
  return out;
}

} // namespace

Schema<KernelRow> kernel_summary_schema(bool operators) {
  using R = KernelRow;
  Schema<R> schema(
      "kernel_summary", "kernel durations by operator, kernel name and stream",
      {{"parent_op_category", "Parent op category", Unit::kNone, CellKind::kText,
        [](const R& r) { return r.linked ? Value(r.category) : Value(); },
        "category of the operator; blank if the launch of the kernel is not in the trace"}});
  if (operators)
    schema.add({"parent_cpu_op", "Parent cpu_op", Unit::kNone, CellKind::kText,
                [](const R& r) { return r.linked ? Value(r.op) : Value(); },
                "innermost operator around the launching call; without an operator: the launching "
                "call itself"});
  schema.add(
      {"kernel_name", "Kernel name", Unit::kNone, &R::kernel, "name of the kernel in the trace"});
  schema.add({"kernel_stream", "Kernel stream", Unit::kNone, CellKind::kInt,
              [](const R& r) { return r.stream < 0 ? Value() : Value(r.stream); },
              "stream on which the kernel ran"});
  const char* const help =
      "recorded duration of the kernel; the header names the statistic over the launches";
  schema.add({"kernel_duration_us_sum", "Kernel duration (\u00b5s)_sum", Unit::kUs,
              in_us(&R::sum_ns), help});
  schema.add({"count", "Kernel duration (\u00b5s)_count", Unit::kCount, &R::count,
              "number of launches in the row"});
  schema.add({"kernel_duration_us_mean", "Kernel duration (\u00b5s)_mean", Unit::kUs,
              [](const R& r) { return ns_to_us(r.sum_ns) / static_cast<double>(r.count); }, help});
  schema.add({"kernel_duration_us_min", "Kernel duration (\u00b5s)_min", Unit::kUs,
              in_us(&R::min_ns), help});
  schema.add({"kernel_duration_us_max", "Kernel duration (\u00b5s)_max", Unit::kUs,
              in_us(&R::max_ns), help});
  schema.add({"percent_of_kernels_time", "Percent of kernels time (%)", Unit::kPercent,
              &R::percent_of_kernels, "share of the summed durations of all kernels"});
  schema.add({"percent_of_total_time", "Percent of total time (%)", Unit::kPercent,
              &R::percent_of_total,
              "sum of the row's durations in percent of total_time in gpu_timeline"});
  return schema;
}

Schema<HistogramBin> short_kernel_histogram_schema() {
  using R = HistogramBin;
  return {
      "short_kernel_histogram",
      "histogram of the durations of kernels that are shorter than the threshold",
      {{"bin_start_us", "bin_start", Unit::kUs, &R::start_us, "lower limit of the bin"},
       {"bin_end_us", "bin_end", Unit::kUs, &R::end_us,
        "upper limit of the bin; only the last bin includes kernels with exactly this duration"},
       {"count", Unit::kCount, &R::count, "number of kernel launches with a duration in the bin"}}};
}

Schema<ShortKernelRow> short_kernels_schema(bool operators) {
  using R = ShortKernelRow;
  Schema<R> schema(
      "short_kernels_summary",
      "kernels that are shorter than the threshold, by operator, arguments and kernel name");
  if (operators) {
    schema.add({"parent_cpu_op", "Parent cpu_op", Unit::kNone, &R::op,
                "innermost operator around the launching call; without an operator: the launching "
                "call itself"});
    schema.add({"input_dims", "Input dims", Unit::kNone, &R::dims, "recorded shapes of the inputs",
                ColumnStyle{.nested = true}});
    schema.add({"input_strides", "Input strides", Unit::kNone, &R::strides,
                "recorded strides of the inputs", ColumnStyle{.nested = true}});
    schema.add({"concrete_inputs", "Concrete Inputs", Unit::kNone, &R::concrete,
                "recorded values of the inputs that are not tensors", ColumnStyle{.nested = true}});
  }
  schema.add(
      {"kernel_name", "Kernel name", Unit::kNone, &R::kernel, "name of the kernel in the trace"});
  schema.add({"short_kernel_duration_us_sum", "Short Kernel duration (\u00b5s) sum", Unit::kUs,
              in_us(&R::sum_ns),
              "duration of the kernel; the header names the statistic over the launches"});
  schema.add({"short_kernel_count", "Short Kernel count", Unit::kCount, &R::count,
              "number of launches that are shorter than the threshold"});
  schema.add({"short_kernel_duration_us_mean", "Short Kernel duration (\u00b5s) mean", Unit::kUs,
              [](const R& r) { return ns_to_us(r.sum_ns) / static_cast<double>(r.count); },
              "duration of the kernel; the header names the statistic over the launches"});
  schema.add({"percent_of_total_time", "Short Kernel duration (\u00b5s) percent of total time",
              Unit::kPercent, &R::percent_of_total,
              "sum of the row's durations in percent of total_time in gpu_timeline"});
  return schema;
}

const Analysis kernel_summary_analysis{
    "kernel_summary",
    "kernel durations by operator, kernel name and stream",
    {"kernel_summary", "short_kernel_histogram", "short_kernels_summary"},
    run_kernel_summary,
    describe_kernel_summary};

} // namespace rankscope
