// kernel_counters and instruction_mix, for traces with hardware counters.
#include "analyses/operators/kernel_counters.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>

namespace rankscope {
namespace {

double* part_of(InstructionRow& row, std::string_view counter) {
  const std::string name = lowercase(counter);
  const std::array<std::pair<std::string_view, double*>, 6> parts = {
      {{"sq_insts_valu", &row.valu},
       {"sq_insts_salu", &row.salu},
       {"sq_insts_vmem", &row.vmem},
       {"sq_insts_smem", &row.smem},
       {"sq_wait_inst", &row.wait},
       {"sq_insts_branch", &row.branch}}};
  for (const auto& [text, value] : parts)
    if (name.find(text) != std::string::npos)
      return value;
  return nullptr;
}

std::vector<SheetInfo> describe_kernel_counters(const ReportOptions& /*options*/) {
  return {kernel_counters_schema().info(), instruction_mix_schema().info()};
}

Result<std::vector<Table>> run_kernel_counters(const LoadedTrace& t,
                                               const ReportOptions& /*options*/) {
  std::vector<Table> out;
  const std::vector<KernelCounterRow> rows = kernel_counters_of(t.trace);
  if (rows.empty())
    return out;
  out.push_back(kernel_counters_schema().table(rows));
  if (const std::vector<InstructionRow> mix = instruction_mix_of(rows); !mix.empty())
    out.push_back(instruction_mix_schema().table(mix));
  return out;
}

} // namespace

std::vector<KernelCounterRow> kernel_counters_of(const Trace& trace) {
  std::map<std::pair<StrId, StrId>, KernelCounterRow> rows;
  std::unordered_map<StrId, std::int64_t> kernel_ns; ///< kernel time; each launch counts once
  EventId last = kNoEvent;
  for (const KernelCounter& c : trace.kernel_counters) {
    const StrId name = trace.events.name[c.event];
    if (c.event != last)
      kernel_ns[name] += trace.events.dur_ns[c.event];
    last = c.event;
    KernelCounterRow& row = rows[{name, c.name}];
    row.min = row.launches == 0 ? c.value : std::min(row.min, c.value);
    row.max = row.launches == 0 ? c.value : std::max(row.max, c.value);
    ++row.launches;
    row.sum += c.value;
    row.time_ns += trace.events.dur_ns[c.event];
  }
  std::vector<std::pair<std::int64_t, KernelCounterRow>> sorted;
  for (auto& [key, row] : rows) {
    row.kernel = trace.strings.view(key.first);
    row.counter = trace.strings.view(key.second);
    sorted.emplace_back(kernel_ns[key.first], row);
  }
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first)
      return a.first > b.first;
    return std::pair(a.second.kernel, a.second.counter) <
           std::pair(b.second.kernel, b.second.counter);
  });
  std::vector<KernelCounterRow> out;
  out.reserve(sorted.size());
  for (const auto& entry : sorted)
    out.push_back(entry.second);
  return out;
}

std::vector<InstructionRow> instruction_mix_of(const std::vector<KernelCounterRow>& counters) {
  std::vector<InstructionRow> out;
  for (const KernelCounterRow& c : counters) {
    InstructionRow fresh;
    fresh.kernel = c.kernel;
    const bool same = !out.empty() && out.back().kernel == c.kernel;
    InstructionRow& row = same ? out.back() : fresh;
    double* const part = part_of(row, c.counter);
    if (part == nullptr)
      continue;
    *part += c.sum;
    if (!same)
      out.push_back(fresh);
  }
  return out;
}

Schema<KernelCounterRow> kernel_counters_schema() {
  using Row = KernelCounterRow;
  return Schema<Row>(
      "kernel_counters", "hardware counters by kernel, if the profiler collected them",
      {{"kernel", or_blank(&Row::kernel), "name of the kernel"},
       {"counter", or_blank(&Row::counter),
        "name of the counter; for a counter that the profiler derives from other counters: name of "
        "the expression"},
       {"launches", Unit::kCount, &Row::launches,
        "number of launches of the kernel for which this counter was recorded"},
       {"mean", [](const Row& r) { return r.sum / static_cast<double>(r.launches); },
        "mean value of a launch; the value of a launch is the sum over the counter's instances"},
       {"min", &Row::min, "smallest value of a launch"},
       {"max", &Row::max, "largest value of a launch"},
       {"sum", &Row::sum, "sum of the values of all launches"},
       {"per_us", "per us", Unit::kNone, CellKind::kDouble,
        [](const Row& r) {
          return r.time_ns > 0 ? Value(r.sum / (static_cast<double>(r.time_ns) / 1e3)) : Value();
        },
        "sum divided by the duration of the launches in \u00b5s; a rate if the counter counts "
        "events"}});
}

Schema<InstructionRow> instruction_mix_schema() {
  using Row = InstructionRow;
  return Schema<Row>(
      "instruction_mix",
      "instructions of each kernel by kind, if the profiler collected the counters",
      {{"kernel", or_blank(&Row::kernel), "name of the kernel"},
       {"valu", "VALU", Unit::kNone, &Row::valu,
        "number of vector instructions in all launches (sum of the counters SQ_INSTS_VALU...)"},
       {"salu", "SALU", Unit::kNone, &Row::salu,
        "number of scalar instructions in all launches (sum of the counters SQ_INSTS_SALU...)"},
       {"vmem", "VMEM", Unit::kNone, &Row::vmem,
        "number of vector memory instructions in all launches (sum of the counters "
        "SQ_INSTS_VMEM...)"},
       {"smem", "SMEM", Unit::kNone, &Row::smem,
        "number of scalar memory instructions in all launches (sum of the counters "
        "SQ_INSTS_SMEM...)"},
       {"wait", "WAITCNT", Unit::kNone, &Row::wait,
        "waits for instructions in all launches (sum of the counters SQ_WAIT_INST...)"},
       {"branch", "BRANCH", Unit::kNone, &Row::branch,
        "number of branches in all launches (sum of the counters SQ_INSTS_BRANCH...)"}});
}

const Analysis kernel_counters_analysis{"kernel_counters",
                                        "hardware counters by kernel",
                                        {"kernel_counters", "instruction_mix"},
                                        run_kernel_counters,
                                        describe_kernel_counters};

} // namespace rankscope
