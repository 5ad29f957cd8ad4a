// Cost models of operators: compute FLOPs, bytes and parameters from the recorded arguments
// (docs/reference/report-rules.md 7). Pure functions. The formulas are in
// docs/performance-models.md.
#pragma once

#include "core/arg_text.h"
#include "model/ops/op_registry.h"

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {

using Shape = std::vector<std::int64_t>;

/// The parsed arguments of an operator. For an argument that is not recorded, functions return an
/// empty result.
class ParsedArgs {
public:
  using Value = std::shared_ptr<const ArgValue>; ///< never nullptr
  ParsedArgs() : ParsedArgs("", "", "", "") {}
  /// Uses values of the arguments of a trace; kNull = the trace does not contain the argument.
  ParsedArgs(Value dims, Value types, Value strides, Value concrete);
  /// Parses the arguments from JSON texts; "" = the argument is not recorded.
  ParsedArgs(std::string_view dims, std::string_view types, std::string_view strides,
             std::string_view concrete);

  [[nodiscard]] bool any() const { return dims_->kind == ArgValue::Kind::kList; }
  [[nodiscard]] bool any_strides() const { return strides_->kind == ArgValue::Kind::kList; }
  [[nodiscard]] std::size_t count() const { return dims_->list.size(); }
  /// Returns the shape of argument i; empty for scalars, missing arguments and lists of tensors.
  [[nodiscard]] Shape dims(std::size_t i) const;
  /// Returns the shapes of argument i if it is a list of tensors; otherwise empty.
  [[nodiscard]] std::vector<Shape> shape_list(std::size_t i) const;
  /// Returns whether an extent is negative or above 2^40. No tensor has such a shape, and products
  /// of such extents would not fit in 64 bits.
  [[nodiscard]] bool absurd() const;
  [[nodiscard]] std::string type(std::size_t i) const;
  /// Returns the strides as a Python tuple; "None" if they were not recorded.
  [[nodiscard]] std::string strides(std::size_t i) const;
  /// Returns the strides as numbers; nullopt if they were not recorded.
  [[nodiscard]] std::optional<Shape> stride_list(std::size_t i) const;
  /// Returns the text of the recorded value ("Concrete Inputs"), or "".
  [[nodiscard]] std::string concrete(std::size_t i) const;
  [[nodiscard]] bool flag(std::size_t i) const { return concrete(i) == "True"; }
  /// Returns the values of a list of flags such as "[True, False]"; empty for other text.
  [[nodiscard]] std::vector<bool> flags(std::size_t i) const;
  /// Parses a value such as "[1, 1]" or "3"; values beyond +-2^31 count as not recorded.
  [[nodiscard]] std::optional<Shape> int_list(std::size_t i) const;
  /// Returns the number in int_list() if there is exactly one.
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t i) const;
  [[nodiscard]] std::optional<double> number(std::size_t i) const;

private:
  Value dims_, types_, strides_, concrete_;
};

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct PerfResult {
  double flops = kUnknown;
  double bytes = kUnknown;     ///< bytes of device memory, NaN = unknown
  double flops_bwd = kUnknown; ///< NaN = no backward model
  double bytes_bwd = kUnknown;
  std::vector<std::pair<std::string, std::string>> params; ///< name, Python repr
  std::string compute_spec;                                ///< "matrix_bf16"; "" = unknown
};

/// Returns the product of the extents; 1 for a scalar.
[[nodiscard]] double elements(const Shape& shape);
/// Returns bytes per element of a recorded type ("c10::BFloat16", "Scalar"); NaN = unknown (0.8).
[[nodiscard]] double type_bytes(std::string_view type);
/// Returns "bf16" for "c10::BFloat16"; "" = unknown (0.8).
[[nodiscard]] std::string_view type_precision(std::string_view type);

/// Inputs of some models in addition to the recorded arguments.
struct ModelHints {
  std::string_view kernel; ///< GEMM: the kernel whose name contains the transposes; MoE: the first
                           ///< kernel
  std::string_view annotation; ///< annotation of the inference step that contains the call
  std::int64_t topk = 0;       ///< experts per token; for sparse attention: number of selected
                               ///< keys; 0 = unknown
  std::int64_t window = 0;     ///< maximum number of keys that a token of this layer attends to; 0
                               ///< = all
};
/// The inputs that the model of an operator needs, as a set of bits.
enum : unsigned {
  kNeedsTranspose = 1,
  kNeedsKernel = 2,
  kNeedsAnnotation = 4,
  kNeedsTopK = 8,
  kNeedsLayer = 32,   ///< the kernel qk_norm_rope_H.. in the attention layer that contains the call
  kNeedsForward = 16, ///< the recorded arguments of the forward call with the same sequence number
};
[[nodiscard]] unsigned model_needs(const OpInfo& op);

/// Returns the costs of a call; nullopt if the arguments do not have the form that the model
/// expects. For an operator in the registry without a known formula, flops and bytes are NaN.
/// `compat`: return the values of the reference, even if they are not correct.
[[nodiscard]] std::optional<PerfResult> evaluate(const OpInfo& op, const ParsedArgs& args,
                                                 const ModelHints& hints, bool compat);
/// Returns whether the formula of this registry row is known.
[[nodiscard]] bool has_formula(const OpInfo& op);
/// Returns the costs of a kernel that was compiled by Inductor, from its name (triton_poi_,
/// triton_red_, triton_per_) and arguments (1.4). These names are not in the registry.
[[nodiscard]] std::optional<PerfResult> evaluate_triton(std::string_view name,
                                                        const ParsedArgs& args, bool compat);

} // namespace rankscope
