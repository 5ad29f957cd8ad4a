// Pseudo operators: operators that a library runs and the profiler does not record. They are put
// into the trace so that cost models apply to their kernels (docs/reference/report-rules.md 16).
#pragma once

#include "core/loaded_trace.h"

#include <optional>

namespace rankscope {

/// Adds pseudo operators to the trace, in place, and sets its pseudo_ops. A pseudo operator has the
/// times of the launch or frame that it wraps. Its arguments come from the operator that has the
/// shapes:
/// - pseudo_op::moe_aiter_fused_1stage: the only AITER fmoe kernel below
///   vllm::rocm_aiter_fused_moe;
/// - pseudo_op::moe_triton_unfused_up, _down: the first matmul_ogs kernel below vllm::moe_forward,
///   and the other matmul_ogs kernels; also _finalize_matmul_scatter, if there is only one kernel
///   of that name;
/// - pseudo_op::moe_gptq_awq_up, _down: the first fused_moe_kernel_gptq_awq kernel below
///   vllm::outplace_fused_experts, and the other kernels of that name;
/// - pseudo_op::moe_flydsl_stage1, _stage2: operators or frames of these stages below
///   aiter::fused_moe_;
/// - pseudo_mla_decode_fwd, pseudo_mla_prefill_fwd: inside the frames of aiter/mla.py. The number
/// that SGLang's profiler appends to an operator's name is removed. Python frames are used if the
/// trace and the tree contain them. `compat`: a pseudo operator around a launch has duration 0, and
/// the launch still counts for the operator above.
void add_pseudo_ops(LoadedTrace& trace, bool compat);
/// Returns a copy of the trace with pseudo operators.
[[nodiscard]] LoadedTrace with_pseudo_ops(const LoadedTrace& trace, bool compat);

/// Copies the trace and adds the matrix products of TransformerEngine 2 layers, for the batch
/// report: NAME_yfwd_mm, NAMEBackward_xgrad_mm and NAMEBackward_wgrad_mm for _Linear and
/// _LayerNormLinear. Each surrounds the launch of its kernel and has the shapes of the layer.
/// nullopt without such layers, or if the trace has tex_ts::te_gemm_ts, which records the products
/// itself.
[[nodiscard]] std::optional<LoadedTrace> with_transformer_engine_ops(const LoadedTrace& trace);

} // namespace rankscope
