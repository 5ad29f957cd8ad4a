// Cost models of operators: FLOPs, bytes and parameters from the recorded arguments
// (docs/reference/report-rules.md 7). Pure functions; formulas: docs/performance-models.md.
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

/// Recorded arguments of an operator, parsed. Positions without a value give empty results.
class ParsedArgs {
public:
  using Value = std::shared_ptr<const ArgValue>; ///< never nullptr
  ParsedArgs() : ParsedArgs("", "", "", "") {}
  /// Values of a trace's arguments; kNull = the trace has no such argument.
  ParsedArgs(Value dims, Value types, Value strides, Value concrete);
  /// The same from JSON texts; empty = no such argument.
  ParsedArgs(std::string_view dims, std::string_view types, std::string_view strides,
             std::string_view concrete);

  [[nodiscard]] bool any() const { return dims_->kind == ArgValue::Kind::kList; }
  [[nodiscard]] bool any_strides() const { return strides_->kind == ArgValue::Kind::kList; }
  [[nodiscard]] std::size_t count() const { return dims_->list.size(); }
  /// Shape of argument i; empty for scalars, absent arguments and lists of tensors.
  [[nodiscard]] Shape dims(std::size_t i) const;
  /// Shapes of a list of tensors; empty for anything else.
  [[nodiscard]] std::vector<Shape> shape_list(std::size_t i) const;
  /// Some extent is negative or above 2^40: no tensor has such a shape, and products of them would
  /// not fit 64 bits.
  [[nodiscard]] bool absurd() const;
  [[nodiscard]] std::string type(std::size_t i) const;
  /// Python tuple of the strides; "None" when they were not recorded.
  [[nodiscard]] std::string strides(std::size_t i) const;
  /// The strides as numbers; nullopt when they were not recorded.
  [[nodiscard]] std::optional<Shape> stride_list(std::size_t i) const;
  /// Text of the concrete value, "" = none.
  [[nodiscard]] std::string concrete(std::size_t i) const;
  [[nodiscard]] bool flag(std::size_t i) const { return concrete(i) == "True"; }
  /// "[1, 1]" or "3"; values beyond +-2^31 count as absent.
  [[nodiscard]] std::optional<Shape> int_list(std::size_t i) const;
  /// The one number of int_list().
  [[nodiscard]] std::optional<std::int64_t> whole(std::size_t i) const;
  [[nodiscard]] std::optional<double> number(std::size_t i) const;

private:
  Value dims_, types_, strides_, concrete_;
};

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct PerfResult {
  double flops = kUnknown;
  double bytes = kUnknown;     ///< of device memory, NaN = unknown
  double flops_bwd = kUnknown; ///< NaN = no backward model
  double bytes_bwd = kUnknown;
  std::vector<std::pair<std::string, std::string>> params; ///< name, Python repr
  std::string compute_spec;                                ///< "matrix_bf16"; "" = unknown
};

/// Product of the extents; 1 for a scalar.
[[nodiscard]] double elements(const Shape& shape);
/// Bytes of an element of a recorded type ("c10::BFloat16", "Scalar"); NaN = unknown (0.8).
[[nodiscard]] double type_bytes(std::string_view type);
/// "bf16" for "c10::BFloat16"; "" = unknown (0.8).
[[nodiscard]] std::string_view type_precision(std::string_view type);

/// Input of some models in addition to the recorded arguments.
struct ModelHints {
  std::string_view kernel;     ///< GEMM: the kernel that names the transposes; MoE: the first one
  std::string_view annotation; ///< of the inference step around the call
  std::int64_t topk = 0;       ///< experts per token; of sparse attention the keys it picks, 0 = ?
  std::int64_t window = 0;     ///< keys that a token of this layer attends to at most; 0 = all
};
/// Which hints the model of an operator reads, as a set of bits.
enum : unsigned {
  kNeedsTranspose = 1,
  kNeedsKernel = 2,
  kNeedsAnnotation = 4,
  kNeedsTopK = 8,
  kNeedsLayer = 32,   ///< the kernel qk_norm_rope_H.. of the attention layer around the call
  kNeedsForward = 16, ///< the arguments of the forward call with the same sequence number
};
[[nodiscard]] unsigned model_needs(const OpInfo& op);

/// nullopt when the arguments do not fit the model. A registered operator whose formula is not
/// known gives a result with NaN flops and bytes. `compat`: reproduce the quirks of the reference
/// instead of the right values.
[[nodiscard]] std::optional<PerfResult> evaluate(const OpInfo& op, const ParsedArgs& args,
                                                 const ModelHints& hints, bool compat);
/// The formula of this registry row is known.
[[nodiscard]] bool has_formula(const OpInfo& op);
/// Compiled kernels: names triton_poi_, triton_red_, triton_per_ (1.4); not in the registry.
[[nodiscard]] std::optional<PerfResult> evaluate_triton(std::string_view name,
                                                        const ParsedArgs& args, bool compat);

} // namespace rankscope
