// Pseudo operators: operators that a library runs and the profiler does not record. They are put
// into the trace so that cost models apply to their kernels (docs/reference/report-rules.md 16).
#pragma once

#include "core/loaded_trace.h"

#include <optional>

namespace rankscope {

/// Puts pseudo operators into the trace, in place, and sets its pseudo_ops. Each has the times of
/// the launch or frame that it wraps and the arguments of the operator that says the shapes:
/// - pseudo_op::moe_aiter_fused_1stage: the one AITER fmoe kernel below vllm::rocm_aiter_fused_moe;
/// - pseudo_op::moe_triton_unfused_up, _down: the matmul_ogs kernels below vllm::moe_forward, the
///   first and the others; with them _finalize_matmul_scatter, the one kernel of that name;
/// - pseudo_op::moe_gptq_awq_up, _down: the same for fused_moe_kernel_gptq_awq below
///   vllm::outplace_fused_experts;
/// - pseudo_op::moe_flydsl_stage1, _stage2: those stages below aiter::fused_moe_;
/// - pseudo_mla_decode_fwd, pseudo_mla_prefill_fwd: inside the frames of aiter/mla.py.
/// The number that SGLang's profiler puts behind an operator's name is taken off. Python frames are
/// used where the trace and the tree have them. `compat`: around a launch they have no length, and
/// the launch still counts for the operator above.
void add_pseudo_ops(LoadedTrace& trace, bool compat);
/// A copy of the trace with them.
[[nodiscard]] LoadedTrace with_pseudo_ops(const LoadedTrace& trace, bool compat);

/// Copies the trace and adds the products of TransformerEngine 2 layers, for the batch report:
/// NAME_yfwd_mm, NAMEBackward_xgrad_mm and NAMEBackward_wgrad_mm of _Linear and _LayerNormLinear,
/// each around the launch of its kernel, with the shapes of the layer. nullopt without such layers
/// and if the trace has tex_ts::te_gemm_ts, which records the products itself.
[[nodiscard]] std::optional<LoadedTrace> with_transformer_engine_ops(const LoadedTrace& trace);

} // namespace rankscope
