// OpKey: the grouping key of operator calls (name, category, process, thread, arguments), as ids.
#pragma once

#include "core/schema.h"
#include "core/trace.h"

#include <string>
#include <string_view>
#include <unordered_map>

namespace rankscope {

struct OpKey {
  StrId name = 0;
  std::string_view category; ///< static text
  StrId process_name = 0, process_label = 0, thread_name = 0;
  StrId dims = 0, types = 0, strides = 0, concrete = 0;
  std::uint32_t num_kernels = 0;
  std::uint32_t overlap_set = 0; ///< number from OverlapGroups; 0: nothing overlapped
  std::uint32_t module = 0;      ///< index into ParentModules, if modules are a key
  bool recompute = false;
  bool operator==(const OpKey&) const = default;
};

struct OpKeyHash {
  std::size_t operator()(const OpKey& k) const;
};

[[nodiscard]] OpKey op_key(const Trace& trace, EventId e, std::string_view category);

/// Returns a process or thread name; "Unknown" if the trace does not contain it.
[[nodiscard]] inline std::string_view name_or_unknown(const Trace& trace, StrId id) {
  return id == kEmptyStr ? std::string_view("Unknown") : trace.strings.view(id);
}

/// The nine key cells of a row. Views of names are valid as long as the trace; an empty text is a
/// blank cell.
struct OpLabels {
  std::string name;
  std::string_view category;
  std::string_view process_name, process_label, thread_name; ///< "Unknown" if not recorded
  std::string dims, types, strides, concrete;                ///< Python tuples
};

/// Makes the texts of keys, once per distinct argument. The trace must outlive the object.
class OpKeyTexts {
public:
  explicit OpKeyTexts(const Trace& trace) : trace_(trace) {}
  [[nodiscard]] OpLabels labels(const OpKey& key);
  /// Returns the Python repr of an argument; "" for an absent argument. The view lives as long as
  /// this object.
  [[nodiscard]] std::string_view repr(StrId json);

private:
  const Trace& trace_;
  std::unordered_map<StrId, std::string> reprs_;
};

/// Adds the columns of `labels`: name, op category, process_name, ..., Concrete Inputs.
/// `module` is a member with the parent module, shown after the category; nullptr: no such column.
template <class Row>
void add_op_columns(Schema<Row>& schema, OpLabels Row::*labels,
                    std::string Row::*module = nullptr) {
  const auto name = [&](const char* id, const char* label, std::string_view OpLabels::*text,
                        const char* help) {
    schema.add({id, label, Unit::kNone,
                [labels, text](const Row& r) { return std::string_view((r.*labels).*text); },
                help});
  };
  const auto argument = [&](const char* id, const char* label, std::string OpLabels::*text,
                            const char* help) {
    schema.add({id, label, Unit::kNone,
                [labels, text](const Row& r) { return text_or_blank((r.*labels).*text); }, help,
                ColumnStyle{.nested = true}});
  };
  schema.add({"name", [labels](const Row& r) { return std::string_view((r.*labels).name); },
              "name of the operator; for kernels without an operator: names of the launching call "
              "and the kernel"});
  name("op_category", "op category", &OpLabels::category,
       "kind of work of the operator, derived from its name and kernels");
  if (module != nullptr)
    schema.add({"parent_module", [module](const Row& r) { return std::string_view(r.*module); },
                "class of the innermost nn.Module around the operator; NA: no module"});
  name("process_name", "process_name", &OpLabels::process_name,
       "name of the process that calls the operator");
  name("process_label", "process_label", &OpLabels::process_label,
       "label of the process that calls the operator");
  name("thread_name", "thread_name", &OpLabels::thread_name,
       "name of the thread that calls the operator");
  argument("input_dims", "Input Dims", &OpLabels::dims, "recorded shapes of the inputs");
  argument("input_type", "Input type", &OpLabels::types, "recorded types of the inputs");
  argument("input_strides", "Input Strides", &OpLabels::strides, "recorded strides of the inputs");
  argument("concrete_inputs", "Concrete Inputs", &OpLabels::concrete,
           "recorded values of the inputs that are not tensors");
}

/// Adds the columns num_kernels and is_recompute, if the options make them keys.
template <class Row> void add_key_options(Schema<Row>& schema, bool num_kernels, bool recompute) {
  if (num_kernels)
    schema.add({"num_kernels", Unit::kCount,
                [](const Row& r) { return static_cast<std::int64_t>(r.num_kernels); },
                "number of kernels per call"});
  if (recompute)
    schema.add({"is_recompute", &Row::recompute,
                "whether the row contains work that activation checkpointing repeats"});
}

} // namespace rankscope
