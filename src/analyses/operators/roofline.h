// Cost and rates of the operators of a family (GEMM, CONV_fwd, ...), grouped by parameters: the
// facts behind the family sheets and GEMM_kernels.
#pragma once

#include "analyses/analysis.h"
#include "analyses/group_stats.h"
#include "analyses/operators/kernel_details.h"
#include "analyses/operators/launchers.h"
#include "model/gpu_arch.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// The calls of one operator with the same parameters. Views live as long as the trace.
struct FamilyRow {
  std::string_view name;           ///< operator
  std::vector<std::string> params; ///< one Python repr per name in FamilySheet::params; "" if the
                                   ///< call has no such parameter
  std::size_t num_kernels = 0;     ///< number of kernels of the first call
  bool recompute = false;
  double flops = 0, bytes = 0;                               ///< cost of one call; NaN: unknown
  Stats tbps, tflops;                                        ///< statistics over the calls
  std::string_view process_name, process_label, thread_name; ///< names of the first call
  std::string compute_spec;                                  ///< "matrix_bf16"; "" = unknown
  std::optional<Roofline> roofline; ///< roofline of the first call that has one
  Stats percent_of_roofline;        ///< statistics over the calls
  KernelDetails details;
  /// Arguments of the first call.
  std::string input_dims, input_types, input_strides, concrete_inputs;
  Stats kernel_us; ///< statistics over the calls: time of the union of a call's kernels
  std::size_t count = 0;
  std::uint32_t first_uid = 0;
  EventId first = kNoEvent;
};

struct FamilySheet {
  std::string name;                ///< "GEMM", "CONV_fwd", ...
  std::vector<std::string> params; ///< names of the parameters, in order of first appearance
  bool legacy = false;             ///< use the column order of --layout 2025-11
  std::optional<GpuArch> arch;     ///< GPU of the rooflines
  std::vector<FamilyRow> rows;     ///< most kernel time first, then by first_uid
};

/// A GEMM kernel without a recorded matrix product that launched it, as in compiled code and
/// GPU-only traces.
struct GemmKernelRow {
  std::string_view kernel;
  std::string_view library; ///< static text
  std::string transpose;    ///< "TN"; "?" for an unknown operand; "" = both unknown
  std::string tile;         ///< "128x128x64"; "" = unknown
  std::string types;        ///< "" = unknown
  Stats kernel_us;
  std::size_t count = 0;
  std::uint32_t first_uid = 0;
};

struct FamilyFacts {
  /// Families with calls in the trace, in the order of the registry.
  std::vector<FamilySheet> sheets;
  std::vector<GemmKernelRow> gemm_kernels; ///< empty in compat mode
};

/// Key of the family sheets with all rows, without the limit of top_k_roofline_ops. Errors: those
/// of load_gpu_arch.
struct FamiliesKey {
  using Value = Result<FamilyFacts>;
  LaunchersKey launchers;
  bool inference = false;   ///< follow the reference's inference report (with compat)
  bool num_kernels = false; ///< use the number of kernels of a call as a key
  bool legacy = false;      ///< --layout 2025-11
  std::string gpu_arch;     ///< file or built-in name; "" = no rooflines
  FamiliesKey() = default;
  FamiliesKey(const ReportOptions& o)
      : launchers(o), inference(o.compat_inference), num_kernels(o.group_by_num_kernels),
        legacy(o.legacy_gemm_layout), gpu_arch(o.gpu_arch) {}
  auto operator<=>(const FamiliesKey&) const = default;
};
[[nodiscard]] Result<FamilyFacts> compute(const LoadedTrace& trace, const FamiliesKey& key);

/// Returns the family with this name, or nullptr ("GEMM": the matrix products).
[[nodiscard]] const FamilySheet* find_family(const std::vector<FamilySheet>& sheets,
                                             std::string_view name);

/// Returns whether the registry has a family with a sheet of this name.
[[nodiscard]] bool is_family_sheet(std::string_view name);

[[nodiscard]] Schema<FamilyRow> family_schema(const FamilySheet& sheet,
                                              const ReportOptions& options);

/// Returns the family as a sheet, cut to top_k_roofline_ops rows.
[[nodiscard]] Table family_table(const FamilySheet& sheet, const ReportOptions& options);

[[nodiscard]] Schema<GemmKernelRow> gemm_kernel_schema();

} // namespace rankscope
