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

/// The parsed arguments recorded for an operator. Positions without a value give empty results.
class ParsedArgs {
public:
  using Value = std::shared_ptr<const ArgValue>; ///< never nullptr
  ParsedArgs() : ParsedArgs("", "", "", "") {}
  /// Uses the values of a trace's arguments; kNull = the trace has no such argument.
  ParsedArgs(Value dims, Value types, Value strides, Value concrete);
  /// Parses the arguments from JSON texts; empty = no such argument.
  ParsedArgs(std::string_view dims, std::string_view types, std::string_view strides,
             std::string_view concrete);

  [[nodiscard]] bool any() const { return dims_->kind == ArgValue::Kind::kList; }
  [[nodiscard]] bool any_strides() const { return strides_->kind == ArgValue::Kind::kList; }
  [[nodiscard]] std::size_t count() const { return dims_->list.size(); }
  /// Returns the shape of argument i; empty for scalars, absent arguments and lists of tensors.
  [[nodiscard]] Shape dims(std::size_t i) const;
  /// Returns the shapes of a list of tensors; empty for anything else.
  [[nodiscard]] std::vector<Shape> shape_list(std::size_t i) const;
  /// Returns whether an extent is negative or above 2^40. Tensors have no such shape, and products
  /// of such extents would not fit in 64 bits.
  [[nodiscard]] bool absurd() const;
  [[nodiscard]] std::string type(std::size_t i) const;
  /// Returns a Python tuple of the strides; "None" when they were not recorded.
  [[nodiscard]] std::string strides(std::size_t i) const;
  /// Returns the strides as numbers; nullopt when they were not recorded.
  [[nodiscard]] std::optional<Shape> stride_list(std::size_t i) const;
  /// Returns the text of the concrete value, or "".
  [[nodiscard]] std::string concrete(std::size_t i) const;
  [[nodiscard]] bool flag(std::size_t i) const { return concrete(i) == "True"; }
  /// Parses "[1, 1]" or "3"; values beyond +-2^31 count as absent.
  [[nodiscard]] std::optional<Shape> int_list(std::size_t i) const;
  /// Returns the only number of int_list().
  [[nodiscard]] std::optional<std::int64_t> whole(std::size_t i) const;
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

/// Input of some models in addition to the recorded arguments.
struct ModelHints {
  std::string_view kernel; ///< GEMM: the kernel that names the transposes; MoE: the first kernel
  std::string_view annotation; ///< annotation of the inference step around the call
  std::int64_t topk = 0;       ///< experts per token; sparse attention: picked keys, 0 = unknown
  std::int64_t window = 0;     ///< most keys that a token of this layer attends to; 0 = all
};
/// The hints that the model of an operator reads, as a set of bits.
enum : unsigned {
  kNeedsTranspose = 1,
  kNeedsKernel = 2,
  kNeedsAnnotation = 4,
  kNeedsTopK = 8,
  kNeedsLayer = 32,   ///< the kernel qk_norm_rope_H.. of the attention layer around the call
  kNeedsForward = 16, ///< the arguments of the forward call with the same sequence number
};
[[nodiscard]] unsigned model_needs(const OpInfo& op);

/// Returns the costs of a call; nullopt when the arguments do not fit the model. A registered
/// operator with an unknown formula gives NaN flops and bytes. `compat`: reproduce the quirks of
/// the reference instead of the right values.
[[nodiscard]] std::optional<PerfResult> evaluate(const OpInfo& op, const ParsedArgs& args,
                                                 const ModelHints& hints, bool compat);
/// Returns whether the formula of this registry row is known.
[[nodiscard]] bool has_formula(const OpInfo& op);
/// Returns the costs of a compiled kernel: names triton_poi_, triton_red_, triton_per_ (1.4). These
/// names are not in the registry.
[[nodiscard]] std::optional<PerfResult> evaluate_triton(std::string_view name,
                                                        const ParsedArgs& args, bool compat);

} // namespace rankscope
