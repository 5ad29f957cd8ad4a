// The Nsight Systems summary (docs/nsys.md).
#include "analyses/nsys/nsys_summary.h"

#include "base/ascii.h"
#include "base/interval_set.h"
#include "base/number_text.h"
#include "base/sort.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace rankscope {
namespace {

std::string class_of(const std::string& kernel, const KernelClasses& classes) {
  const std::string name = lowercase(kernel);
  if (contains(name, "nccl"))
    return "nccl";
  for (const auto& [key, value] : classes)
    if (contains(name, key))
      return value;
  return "others";
}

/// Returns the part of the name between its first and its second "_". The only RCCL kernel is
/// ncclDevKernel_Generic, which gives "Generic".
std::string nccl_operation(const std::string& kernel) {
  const std::string head = kernel.substr(0, kernel.find('('));
  const std::size_t first = head.find('_');
  if (first == std::string::npos)
    return head;
  return head.substr(first + 1, head.find('_', first + 1) - first - 1);
}

NsysClassRow& row_of(std::vector<NsysClassRow>& rows, const std::string& name) {
  for (NsysClassRow& row : rows)
    if (row.name == name)
      return row;
  rows.push_back({});
  rows.back().name = name;
  return rows.back();
}

void add(NsysClassRow& row, const NsysSum& sum, std::int64_t divisor) {
  row.total_ns += sum.total_ns;
  row.total_ms = row.total_ns / 1e6;
  row.ms_per_iteration = row.total_ns / static_cast<double>(divisor) / 1e6;
  row.count_per_iteration += sum.count / divisor;
  row.total_count += sum.count;
}

std::string short_memory_name(std::string name) {
  for (const auto& [from, to] : {std::pair{"Device-to-Device", "D2D"},
                                 {"Device-to-Host", "D2H"},
                                 {"Host-to-Device", "H2D"},
                                 {"Host-to-Host", "H2H"}})
    if (const std::size_t at = name.find(from); at != std::string::npos)
      name.replace(at, std::string_view(from).size(), to);
  return name;
}

std::string frequent_names(const NsysData& data) {
  std::map<std::string, std::int64_t> counts;
  for (const NsysRange& r : data.ranges)
    ++counts[r.name];
  for (const auto& [name, count] : data.ranges_without_work)
    counts[name] += count;
  std::vector<std::pair<std::string, std::int64_t>> list(counts.begin(), counts.end());
  sort_stably(list, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(5, list.size()); ++i)
    text += fmt::format("{}\"{}\" ({} times)", i == 0 ? "" : ", ", list[i].first, list[i].second);
  return text.empty() ? "no ranges were recorded" : "the most frequent names are " + text;
}

/// Returns the time of a range that only NCCL kernels or no kernel covers, as a mean over the
/// ranges and the GPUs of each range. Concurrent kernels of a GPU count once.
double mean_uncovered_ms(const NsysData& data, const KernelClasses& classes,
                         const std::vector<const NsysRange*>& tagged) {
  std::vector<bool> compute;
  for (const NsysSum& kernel : data.kernels)
    compute.push_back(class_of(kernel.name, classes) != "nccl");
  std::map<std::size_t, std::vector<Interval>> intervals;
  for (const NsysInterval& k : data.intervals)
    if (compute[k.kernel])
      intervals[k.gpu].push_back({k.start_ns, k.end_ns});
  std::map<std::size_t, IntervalSet> busy;
  for (auto& [gpu, list] : intervals)
    busy.emplace(gpu, std::move(list));
  double total_ns = 0;
  std::size_t samples = 0;
  for (const NsysRange* r : tagged)
    for (const std::size_t gpu : r->gpus) {
      total_ns += r->duration_ns -
                  static_cast<double>(busy[gpu].covered(
                      r->start_ns, r->start_ns + static_cast<std::int64_t>(r->duration_ns)));
      ++samples;
    }
  return total_ns / static_cast<double>(samples) / 1e6;
}

} // namespace

Result<KernelClasses> check_kernel_classes(const KernelClasses& classes) {
  KernelClasses out;
  for (const auto& [key, value] : classes) {
    const std::string k = lowercase(key);
    const std::string v = lowercase(value);
    if (k.empty() || v.empty())
      return Error{ErrorCode::kUsage, "kernel_to_class_map", "an empty key or class", ""};
    if (v == "others")
      return Error{ErrorCode::kUsage, "kernel_to_class_map",
                   fmt::format("key \"{}\" names the class others, which is reserved for kernels "
                               "without a class",
                               k),
                   "choose another name"};
    for (const auto& [other, unused] : out)
      if (contains(k, other) || contains(other, k))
        return Error{
            ErrorCode::kUsage, "kernel_to_class_map",
            fmt::format("key \"{}\" and key \"{}\" clash: one contains the other", other, k),
            "a kernel would fit both; make the keys longer or drop one"};
    out.emplace_back(k, v);
  }
  return out;
}

Result<NsysSummary> summarise_nsys(const NsysData& data, const NsysArgs& args,
                                   const KernelClasses& classes) {
  if (args.iterations < 1)
    return Error{ErrorCode::kUsage, args.title,
                 fmt::format("num_of_iters is {}, expected at least 1", args.iterations), ""};
  if (args.gpus < 1)
    return Error{ErrorCode::kUsage, args.title,
                 fmt::format("num_of_gpus is {}, expected at least 1", args.gpus), ""};
  if (args.iterations > kMaxNsysDivisor || args.gpus > kMaxNsysDivisor)
    return Error{ErrorCode::kUsage, args.title,
                 fmt::format("num_of_iters and num_of_gpus are at most {}", kMaxNsysDivisor), ""};
  const std::int64_t divisor = args.iterations * args.gpus;
  NsysSummary s;
  s.title = args.title;
  if (data.rows_without_times > 0)
    s.warnings.push_back(fmt::format(
        "{}: {} rows left out: their times are not integers, or the end is before the start",
        args.title, data.rows_without_times));
  if (data.graph_launches > 0)
    s.warnings.push_back(fmt::format(
        "{}: the kernels of {} are not recorded, so kernel times are incomplete; record with "
        "--cuda-graph-trace=node",
        args.title,
        counted(static_cast<std::size_t>(data.graph_launches), "graph launch", "graph launches")));
  const auto gpus = static_cast<std::size_t>(args.gpus);
  if (data.most_gpus > 0 && (gpus < data.least_gpus || gpus > data.most_gpus))
    s.warnings.push_back(fmt::format(
        "{}: the report contains work of {}{}, but --gpus (num_of_gpus) is {}; times per iteration "
        "are divided by it",
        args.title, data.least_gpus == data.most_gpus ? "" : fmt::format("{} to ", data.least_gpus),
        counted(data.most_gpus, "GPU", "GPUs"), args.gpus));
  row_of(s.kernels, "others");
  for (const auto& [key, value] : classes)
    if (value != "nccl")
      row_of(s.kernels, value);
  for (const NsysSum& kernel : data.kernels) {
    const std::string name = class_of(kernel.name, classes);
    const bool nccl = name == "nccl";
    add(nccl ? row_of(s.nccl, nccl_operation(kernel.name)) : row_of(s.kernels, name), kernel,
        divisor);
    add(nccl ? s.nccl_sum : s.kernel_sum, kernel, divisor);
  }
  if (data.has_memory) {
    s.memory.emplace();
    for (const NsysSum& op : data.memory)
      add(row_of(*s.memory, short_memory_name(op.name)), op, divisor);
  }
  if (!data.has_ranges || args.nvtx_tag.empty())
    return s;
  std::vector<const NsysRange*> tagged;
  std::size_t without_work = 0;
  for (const std::string& name : {args.nvtx_tag, ":" + args.nvtx_tag}) {
    if (!tagged.empty())
      break; // the ":" of the default domain may be omitted
    for (const NsysRange& r : data.ranges)
      if (r.name == name)
        tagged.push_back(&r);
    if (const auto it = data.ranges_without_work.find(name); it != data.ranges_without_work.end())
      without_work = static_cast<std::size_t>(it->second);
  }
  if (tagged.empty()) {
    s.tag_problem =
        without_work > 0
            ? fmt::format("{} named \"{}\", but no API call on the thread of such a range launched "
                          "GPU work in it; work that other threads launch does not count, and API "
                          "calls are recorded with --trace=cuda",
                          counted(without_work, "NVTX range is", "NVTX ranges are"), args.nvtx_tag)
            : fmt::format("no NVTX range is named \"{}\"; {}", args.nvtx_tag, frequent_names(data));
    return s;
  }
  double range_ns = 0;
  for (const NsysRange* r : tagged)
    range_ns += r->duration_ns;
  s.range_total_ms = range_ns / 1e6;
  s.range_count = static_cast<std::int64_t>(tagged.size());
  s.range_average_ms = s.range_total_ms / static_cast<double>(s.range_count);
  if (s.range_count != args.iterations && s.range_count != divisor) // one range, or one per GPU
    s.warnings.push_back(fmt::format(
        "{}: {} named \"{}\"{}, expected {} (iterations){}", args.title,
        counted(tagged.size(), "range", "ranges"), args.nvtx_tag,
        without_work == 0
            ? ""
            : fmt::format(" with GPU work launched by their thread ({} without)", without_work),
        args.iterations, args.gpus == 1 ? "" : fmt::format(" or {} (iterations x GPUs)", divisor)));
  if (data.graph_launches > 0)
    return s;
  s.estimated_ms_per_range = s.range_average_ms - s.kernel_sum.ms_per_iteration;
  if (data.has_intervals)
    s.uncovered_ms_per_range = mean_uncovered_ms(data, classes, tagged);
  return s;
}

std::string nsys_text(const NsysSummary& s) {
  std::string out = fmt::format("===== {} =====\n", s.title);
  const auto heads = [&out](const char* name, const NsysClassRow& sum) {
    out += fmt::format("{} time per iteration: {:.3f} (ms)\n{} instances per iteration: {}\n"
                       "{} total time: {:.3f} (ms)\n{} total instances: {}\n",
                       name, sum.ms_per_iteration, name, sum.count_per_iteration, name,
                       sum.total_ms, name, sum.total_count);
  };
  heads("Kernel", s.kernel_sum);
  out += "Kernel Statistic:\nClass            TimePerIter(ms)  InstancePerIter  TimePerIter(%)   "
         "TotalTime(ms)    TotalInstance  TotalTime(%)\n";
  for (const NsysClassRow& r : s.kernels)
    out += fmt::format("{:<17}{:>15.2f}{:>17}{:>16.2f}{:>16.2f}{:>17}{:>14.2f}\n", r.name,
                       r.ms_per_iteration, r.count_per_iteration,
                       percent_of(r.ms_per_iteration, s.kernel_sum.ms_per_iteration), r.total_ms,
                       r.total_count, percent_of(r.total_ms, s.kernel_sum.total_ms));
  const char* columns = "TimePerIter(ms)  InstancePerIter  TotalTime(ms)    TotalInstance";
  const auto rows = [&out](const std::vector<NsysClassRow>& list, int width) {
    for (const NsysClassRow& r : list)
      out += fmt::format("{:<{}}{:>15.2f}{:>17}{:>15.2f}{:>17}\n", r.name, width,
                         r.ms_per_iteration, r.count_per_iteration, r.total_ms, r.total_count);
  };
  out += "\n";
  heads("NCCL", s.nccl_sum);
  out += fmt::format("NCCL Statistic:\n{:<17}{}\n", "Class", columns);
  rows(s.nccl, 17);
  if (s.memory) {
    out += fmt::format("\nMem Ops Statistic:\n{:<23}{}\n", "Class", columns);
    rows(*s.memory, 23);
  }
  if (s.range_count > 0) {
    out += fmt::format("\nNVTX range count: {}\nNVTX average range time: {:.3f} (ms)\n"
                       "NVTX total range time: {:.3f} (ms)\n",
                       s.range_count, s.range_average_ms, s.range_total_ms);
  }
  if (s.estimated_ms_per_range) {
    const char* label = "Estimated non-hidden NCCL, mem ops and bubble";
    const double each = *s.estimated_ms_per_range;
    const double all = each * static_cast<double>(s.range_count);
    out += fmt::format("\n{0} time per range: {1:.3f} (ms)\n{0} time per range: {2:.2f} (%)\n"
                       "{0} total time: {3:.3f} (ms)\n{0} total time: {4:.2f} (%)\n",
                       label, each, percent_of(each, s.range_average_ms), all,
                       percent_of(all, s.range_total_ms));
  }
  if (s.uncovered_ms_per_range)
    out += fmt::format("Measured time per range without a non-NCCL kernel (overlap-aware): "
                       "{:.3f} (ms)\nMeasured time per range without a non-NCCL kernel "
                       "(overlap-aware): {:.2f} (%)\n",
                       *s.uncovered_ms_per_range,
                       percent_of(*s.uncovered_ms_per_range, s.range_average_ms));
  return out + "\n\n";
}

std::vector<NsysMetric> nsys_metrics(std::span<const NsysSummary> summaries) {
  std::vector<NsysMetric> out;
  for (const NsysSummary& s : summaries) {
    const auto add = [&](const char* name, std::variant<double, std::int64_t> value,
                         const char* unit) {
      out.push_back({s.title, name, value, unit});
    };
    add("kernel time per iteration", s.kernel_sum.ms_per_iteration, "ms");
    add("kernel total time", s.kernel_sum.total_ms, "ms");
    add("NCCL time per iteration", s.nccl_sum.ms_per_iteration, "ms");
    add("NCCL total time", s.nccl_sum.total_ms, "ms");
    if (s.range_count > 0) {
      add("NVTX range count", s.range_count, "");
      add("NVTX average range time", s.range_average_ms, "ms");
    }
    if (s.estimated_ms_per_range) {
      const char* const name = "estimated non-hidden NCCL, mem ops and bubble time per range";
      add(name, *s.estimated_ms_per_range, "ms");
      add(name, percent_of(*s.estimated_ms_per_range, s.range_average_ms), "%");
    }
    if (s.uncovered_ms_per_range)
      add("measured time per range without a non-NCCL kernel", *s.uncovered_ms_per_range, "ms");
  }
  return out;
}

std::vector<NsysClassShare> nsys_shares(const NsysSummary& s,
                                        const std::vector<NsysClassRow>& rows) {
  double total_ms = 0;
  for (const NsysClassRow& r : rows)
    total_ms += r.total_ms;
  std::vector<NsysClassShare> out;
  for (const NsysClassRow& r : rows)
    out.push_back({s.title, r, percent_of(r.total_ms, total_ms)});
  return out;
}

Schema<NsysMetric> nsys_metric_schema() {
  using R = NsysMetric;
  return {"summary",
          "metrics of each input",
          {{"input", &R::input, "title of the input"},
           {"figure", &R::metric, "name of the metric"},
           {"value", "value", Unit::kNone, CellKind::kNull,
            [](const R& r) { return std::visit([](auto v) { return Value(v); }, r.value); },
            "value of the metric, in the unit of the row"},
           {"unit", &R::unit, "unit of the value"}}};
}

Schema<NsysClassShare> nsys_class_schema(const char* name, const char* help) {
  using R = NsysClassShare;
  return {name,
          help,
          {{"input", &R::input, "title of the input"},
           {"class", [](const R& r) { return std::string_view(r.row.name); },
            "class of the kernels, NCCL operation or kind of memory operation"},
           {"time_per_iteration_ms", "time per iteration (ms)", Unit::kMs,
            [](const R& r) { return r.row.ms_per_iteration; },
            "total time divided by the number of iterations and by the number of GPUs"},
           {"instances_per_iteration", "instances per iteration", Unit::kCount,
            [](const R& r) { return r.row.count_per_iteration; },
            "number of instances divided by the number of iterations and by the number of GPUs; "
            "the quotient of each kernel name is rounded down before they are added"},
           {"percent_of_time", "share of time (%)", Unit::kPercent, &R::percent,
            "share of the total time of all rows with this input"},
           {"total_time_ms", "total time (ms)", Unit::kMs,
            [](const R& r) { return r.row.total_ms; }, "total time over all iterations and GPUs"},
           {"total_instances", "total instances", Unit::kCount,
            [](const R& r) { return r.row.total_count; },
            "number of instances over all iterations and GPUs"}}};
}

Report nsys_report(std::span<const NsysSummary> summaries) {
  Report report;
  report.title = "Nsight Systems summary";
  const auto add = [&report](Table table) {
    if (table.rows() > 0)
      report.tables.push_back(std::move(table));
  };
  std::vector<NsysClassShare> kernels;
  std::vector<NsysClassShare> nccl;
  std::vector<NsysClassShare> memory;
  const auto append = [](std::vector<NsysClassShare>& to, std::vector<NsysClassShare> rows) {
    to.insert(to.end(), rows.begin(), rows.end());
  };
  for (const NsysSummary& s : summaries) {
    append(kernels, nsys_shares(s, s.kernels));
    append(nccl, nsys_shares(s, s.nccl));
    if (s.memory)
      append(memory, nsys_shares(s, *s.memory));
  }
  add(nsys_metric_schema().table(nsys_metrics(summaries)));
  add(nsys_class_schema("kernels", "kernel time by class").table(kernels));
  add(nsys_class_schema("nccl", "time of NCCL kernels by operation").table(nccl));
  add(nsys_class_schema("memory", "memory operations by kind").table(memory));
  return report;
}

} // namespace rankscope
