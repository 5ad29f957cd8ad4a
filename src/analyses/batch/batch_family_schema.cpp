// The columns of gemm, conv, attn, un_elemwise and bin_elemwise.
#include "analyses/batch/batch_facts.h"

#include "analyses/operators/cost_columns.h"
#include "core/arg_text.h"

#include <memory>
#include <unordered_map>

namespace rankscope {
namespace {

using R = BatchOpRow;
constexpr std::array kMeanAndStd{kMean, kStd};
constexpr std::array kMeanStdSum{kMean, kStd, kSum};

void add_compute(Schema<R>& schema) {
  add_stats(schema, "compute_tflops_per_s", "Non-Data-Mov TFLOPS/s", Unit::kTflops,
            &R::compute_tflops, kMeanAndStd,
            "floating-point operations of a call, divided by the time of its kernels that do more "
            "than copy or transpose; the header names the statistic over the calls");
  schema.add({"compute_us_sum", "Non-Data-Mov Kernel Time (\u00b5s)_sum", Unit::kUs, &R::compute_us,
              "time of the kernels that do more than copy or transpose, summed over the calls"});
}

/// Returns a column with a list from the first call of each row. Each distinct JSON text is
/// converted once.
Field<R> list(const char* id, const char* label, std::string R::*field) {
  const auto made = std::make_shared<std::unordered_map<std::string, std::string>>();
  return {id,
          label,
          Unit::kNone,
          CellKind::kText,
          [field, made](const R& r) {
            const std::string& json = r.*field;
            if (json.empty())
              return Value();
            const auto [it, fresh] = made->try_emplace(json);
            if (fresh)
              it->second = python_repr(json, false);
            return Value(it->second);
          },
          "recorded value of the first call of the row"};
}

} // namespace

Schema<BatchOpRow> batch_family_schema(const BatchFamily& family) {
  Schema<R> schema(std::string(batch_group_name(family.group)),
                   "operators with a cost model, by name and parameters, over all ranks",
                   {{"name", &R::name, "name of the operator"}});
  add_param_columns(schema, family.params);
  add_cost_columns(schema, "_first", "a call");
  add_rate_columns(schema, kMeanAndStd);
  add_compute(schema);
  schema.add({"kernel_details", "kernel_details__summarize_kernel_stats", Unit::kNone,
              &R::kernel_details,
              "Python list of the kernels of a call, each with its times over all calls"});
  schema.add(list("input_dims_first", "Input Dims_first", &R::input_dims));
  schema.add(list("input_type_first", "Input type_first", &R::input_types));
  schema.add(list("input_strides_first", "Input Strides_first", &R::input_strides));
  schema.add(list("concrete_inputs_first", "Concrete Inputs_first", &R::concrete_inputs));
  add_stats(schema, "kernel_us", "Kernel Time (\u00b5s)", Unit::kUs, &R::kernel_us, kMeanStdSum,
            "time of the kernels of a call (overlapping kernels count once); the header names the "
            "statistic over the calls");
  schema.add({"name_count", Unit::kCount, &R::count, "number of calls on all ranks"});
  schema.add({"uid_first", "UID_first", Unit::kNone, &R::first_uid,
              "index of the first call in the traceEvents of its file"});
  schema.add(
      {"kernel_time_sum_cum_pct", Unit::kRatio, &R::cumulative,
       "cumulative share of the sheet's kernel time, from the first row to this row (0 to 1)"});
  return schema;
}

} // namespace rankscope
