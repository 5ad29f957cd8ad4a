// The columns of unified_perf_summary.
#include "analyses/operators/cost_columns.h"
#include "analyses/operators/op_costs.h"
#include "analyses/operators/unified_perf.h"

namespace rankscope {
namespace {

using UnifiedOut = UnifiedRow;

constexpr std::array kMedianMinMax{kMedian, kMin, kMax};
constexpr std::array kMeanStd{kMean, kStd};
constexpr std::array kUnifiedPerfSchemaMeanStdSum{kMean, kStd, kSum};

const char* const kCpuHelp =
    "duration of a call on the CPU; the header names the statistic over the calls";
const char* const kKernelHelp =
    "time of the GPU work that a call and the operators inside it launched (overlapping work "
    "counts once); the header names the statistic over the calls";

void add_cost(Schema<UnifiedOut>& schema, bool arch) {
  add_cost_columns(schema, "", "the first call");
  schema.add({"compute_spec", "Compute Spec", Unit::kNone, &UnifiedOut::compute_spec,
              "compute unit and data type whose peak the roofline uses"});
  if (arch)
    schema.add({"roofline_bound", "Roofline Bound", Unit::kNone, CellKind::kText,
                [](const UnifiedOut& r) { return roofline_bound(r.roofline); },
                "compute or memory: the peak of the GPU that limits the time of the operator"});
}

void add_times(Schema<UnifiedOut>& schema, bool arch) {
  add_rate_columns(schema, kMeanStd);
  add_stats(schema, "kernel_time_us", "Kernel Time (\u00b5s)", Unit::kUs, &UnifiedOut::kernel_us,
            kUnifiedPerfSchemaMeanStdSum, kKernelHelp);
  add_stats(schema, "duration_us", "duration_us", Unit::kUs, &UnifiedOut::cpu_us, kMedianMinMax,
            kCpuHelp);
  add_rate_columns(schema, kMedianMinMax);
  if (arch)
    schema.add(
        {"roofline_time_us", "Roofline Time (\u00b5s)", Unit::kUs, CellKind::kDouble,
         [](const UnifiedOut& r) { return r.roofline ? Value(r.roofline->time_us) : Value(); },
         "minimum time of a call at the GPU's peak compute rate and memory bandwidth"});
  add_stats(schema, "kernel_time_us", "Kernel Time (\u00b5s)", Unit::kUs, &UnifiedOut::kernel_us,
            kMedianMinMax, kKernelHelp);
}

} // namespace

Schema<UnifiedRow> unified_perf_schema(const ReportOptions& options, bool by_overlap) {
  const bool arch = !options.gpu_arch.empty();
  Schema<UnifiedOut> schema(
      by_overlap ? "unified_perf_summary_kl_overlap" : "unified_perf_summary",
      by_overlap ? "one row per operator, arguments and set of kernels of other operators that ran "
                   "at the same time"
                 : "one row per operator and arguments, with kernel time, FLOPs and bytes");
  add_op_columns(schema, &UnifiedOut::op);
  add_key_options(schema, options.group_by_num_kernels && !options.compat_inference,
                  options.detect_recompute);
  schema.add({"example_uid", "ex_UID", Unit::kNone, &UnifiedOut::example_uid,
              "index of the first call in the file's traceEvents; if the index is beyond the end "
              "of traceEvents, the row is a kernel without an operator"});
  schema.add({"operation_count", Unit::kCount, &UnifiedOut::count, "number of calls in the row"});
  const auto cpu = [&schema](const char* name, double Stats::*value) {
    schema.add(
        {name, Unit::kUs, [value](const UnifiedOut& r) { return r.cpu_us.*value; }, kCpuHelp});
  };
  cpu("total_duration_us", &Stats::sum);
  cpu("mean_duration_us", &Stats::mean);
  cpu("std_duration_us", &Stats::std_sample);
  add_cost(schema, arch);
  add_times(schema, arch);
  add_detail_columns(schema, &UnifiedOut::details);
  if (by_overlap)
    add_overlap_columns(schema, &UnifiedOut::overlap);
  schema.add({"perf_params", or_blank(&UnifiedOut::params),
              "Python dict of the parameters of the cost model"});
  schema.add({"has_perf_model", &UnifiedOut::has_model, "whether the operator has a cost model"});
  if (options.include_call_stack) {
    // without a call stack, the cell is blank; with one, it is a text, which may be empty
    schema.add(
        {"entry_point", "entry_point", Unit::kNone, CellKind::kText,
         [](const UnifiedOut& r) { return r.call_stack.empty() ? Value() : Value(r.entry_point); },
         "innermost Python frame outside PyTorch and Python's own modules"});
    schema.add({"call_stack", "call_stack_full", Unit::kNone, or_blank(&UnifiedOut::call_stack),
                "Python list of all Python frames around the first call, outermost first"});
  }
  if (options.graph_columns)
    add_graph_columns(schema, &UnifiedOut::graph);
  add_shares(schema, "the kernel time");
  return schema;
}

} // namespace rankscope
