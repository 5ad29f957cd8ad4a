// The columns of the family sheets and of GEMM_kernels.
#include "analyses/operators/cost_columns.h"
#include "analyses/operators/op_costs.h"
#include "analyses/operators/op_key.h"
#include "analyses/operators/roofline.h"

namespace rankscope {
namespace {

using RooflineRow = FamilyRow;

Value list_or_empty(const std::string& list) {
  return list.empty() ? Value("[]") : Value(list);
}

void add_place(Schema<RooflineRow>& schema, bool arch) {
  schema.add({"process_name_first", &RooflineRow::process_name, "process name of the first call"});
  schema.add(
      {"process_label_first", &RooflineRow::process_label, "process label of the first call"});
  schema.add({"thread_name_first", &RooflineRow::thread_name, "thread name of the first call"});
  schema.add({"compute_spec", "Compute Spec", Unit::kNone, &RooflineRow::compute_spec,
              "compute unit and data type whose peak the roofline uses"});
  if (!arch)
    return;
  schema.add(
      {"roofline_time_us_first", "Roofline Time (\u00b5s)_first", Unit::kUs, CellKind::kDouble,
       [](const RooflineRow& r) { return r.roofline ? Value(r.roofline->time_us) : Value(); },
       "minimum time of a call at the GPU's peak compute rate and memory bandwidth"});
  schema.add({"roofline_bound_first", "Roofline Bound_first", Unit::kNone, CellKind::kText,
              [](const RooflineRow& r) { return roofline_bound(r.roofline); },
              "compute or memory: the peak of the GPU that limits the time of the operator"});
  add_stats(schema, "percent_of_roofline", "Pct Roofline", Unit::kPercent,
            &RooflineRow::percent_of_roofline, kSpread,
            "roofline time of a call in percent of its kernel time; the header names the statistic "
            "over the calls");
}

void add_arguments(Schema<RooflineRow>& schema, bool compat) {
  schema.add({"kernel_details", "kernel_details__summarize_kernel_stats", Unit::kNone,
              CellKind::kText,
              [](const RooflineRow& r) { return list_or_empty(r.details.summary); },
              "Python list of the kernels of the calls, each with its own count and times",
              ColumnStyle{.nested = true}});
  schema.add(
      {"kernel_details_short", "trunc_kernel_details", Unit::kNone, CellKind::kText,
       [compat](const RooflineRow& r) {
         return compat ? text_or_blank(r.details.truncated) : list_or_empty(r.details.truncated);
       },
       "list of the kernels of the calls, with names cut to 64 characters and only mean times",
       ColumnStyle{.nested = true}});
  schema.add({"input_dims_first", "Input Dims_first", Unit::kNone,
              or_blank(&RooflineRow::input_dims), "input shapes of the first call",
              ColumnStyle{.nested = true}});
  schema.add({"input_type_first", "Input type_first", Unit::kNone,
              or_blank(&RooflineRow::input_types), "input types of the first call",
              ColumnStyle{.nested = true}});
  schema.add({"input_strides_first", "Input Strides_first", Unit::kNone,
              or_blank(&RooflineRow::input_strides), "input strides of the first call",
              ColumnStyle{.nested = true}});
  schema.add({"concrete_inputs_first", "Concrete Inputs_first", Unit::kNone,
              or_blank(&RooflineRow::concrete_inputs),
              "inputs of the first call that are not tensors", ColumnStyle{.nested = true}});
}

} // namespace

Schema<FamilyRow> family_schema(const FamilySheet& sheet, const ReportOptions& options) {
  Schema<RooflineRow> schema(
      sheet.name, "operators of this family, with FLOPs, bytes, TB/s, TFLOPS/s and kernel time",
      {{"name", &RooflineRow::name, "name of the operator"}});
  add_param_columns(schema, sheet.params,
                    options.compat_tracelens && !options.compat_inference ? reference_cell
                                                                          : python_cell);
  add_key_options(schema, options.group_by_num_kernels && !sheet.legacy,
                  options.detect_recompute && !sheet.legacy);
  add_cost_columns(schema, "_first", "a call");
  add_rate_columns(schema, kSpread);
  if (!sheet.legacy)
    add_place(schema, sheet.arch.has_value());
  add_arguments(schema, options.compat_tracelens);
  add_stats(schema, "kernel_time_us", "Kernel Time (\u00b5s)", Unit::kUs, &RooflineRow::kernel_us,
            kSpreadAndSum,
            "time of the GPU work that a call and the operators inside it launched (overlapping "
            "work counts once); the header names the statistic over the calls");
  schema.add(
      {"count", "name_count", Unit::kCount, &RooflineRow::count, "number of calls in the row"});
  schema.add({"first_uid", "UID_first", Unit::kNone, &RooflineRow::first_uid,
              "index of the first call in the file's traceEvents"});
  return schema;
}

Table family_table(const FamilySheet& sheet, const ReportOptions& options) {
  Table table = family_schema(sheet, options).table(sheet.rows);
  keep_top(table, options.top_k_roofline_ops, "");
  if (sheet.arch)
    table.notes.push_back("roofline of " + sheet.arch->name + ": " + sheet.arch->source);
  return table;
}

Schema<GemmKernelRow> gemm_kernel_schema() {
  using K = GemmKernelRow;
  Schema<K> schema(
      "GEMM_kernels", "GEMM kernels that were not launched by a recorded matrix product",
      {{"kernel", &K::kernel, "name of the kernel"},
       {"library", &K::library, "library that contains the kernel, derived from the kernel name"},
       {"transpose", or_blank(&K::transpose),
        "transposes of the two operands (T or N), from the kernel name"},
       {"macro_tile", "macro tile", Unit::kNone, or_blank(&K::tile),
        "macro tile, from the kernel name"},
       {"types", or_blank(&K::types), "data types, from the kernel name"},
       {"count", Unit::kCount, &K::count, "number of launches in the row"}});
  add_stats(schema, "kernel_time_us", "Kernel Time (\u00b5s)", Unit::kUs, &K::kernel_us,
            kSpreadAndSum,
            "duration of the kernel; the header names the statistic over the launches");
  schema.add({"first_uid", "UID_first", Unit::kNone, &K::first_uid,
              "index of the first launch in the file's traceEvents"});
  return schema;
}

} // namespace rankscope
