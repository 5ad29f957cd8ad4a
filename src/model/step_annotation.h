// Step annotations of inference servers: the numbers of computed and attended tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope {

/// Sums over the requests of a step, separately for prefill ("context", c) and decode
/// ("generation", g). sq = new tokens, sk = tokens attended, sqsq and sqsk = sums of the products
/// per request.
struct StepSums {
  double c_sq = 0, c_sk = 0, c_sqsq = 0, c_sqsk = 0;
  double g_sq = 0, g_sk = 0, g_sqsq = 0, g_sqsk = 0;
  bool detailed = false;   ///< every sum was recorded
  bool kv_unknown = false; ///< decode without the attended lengths: ignore g_sk and g_sqsk
};

/// The producer of a step's annotation, and the values in it.
enum class StepKind : std::uint8_t {
  kVllm,      ///< all sums
  kVllmShort, ///< requests and tokens
  kSglang,    ///< all sums
  kSglangShort,
  kAtom, ///< all sums
  kAtomShort,
  kDiffusion, ///< xDiT: no requests
  kRepeated,  ///< no annotation: a repeated pattern of the CPU
};

/// The values in a step's annotation. Missing values are not estimated.
struct StepCounts {
  StepKind kind = StepKind::kVllm;
  std::int64_t context_requests = 0;    ///< prefill
  std::int64_t generation_requests = 0; ///< decode
  std::int64_t batch_size = 0;          ///< computed tokens; for diffusion, its n
  StepSums sums;                        ///< without `detailed`: only sq, or no sums

  [[nodiscard]] std::int64_t requests() const { return context_requests + generation_requests; }
};

/// Parses these forms, tried in this order, anchored at the start of the name; any text may follow:
/// - execute_N_context_R(sqAskBsqsqCsqskD)_generation_R(...) (vLLM), batch = both sq;
/// - execute_context_R(T)_generation_R(T);
/// - step[EXTEND|DECODE|MIXED key=number ...] (SGLang) with a key of products; requests are bs, for
///   MIXED c and g; batch = c_sq + g_sq, else toks, else bs;
/// - step[KIND bs=R] and step[KIND bs=R toks=T], nothing else in the brackets;
/// - prefill[bs=R/PADDED tok=T ...], decode[...] (ATOM), batch = tok;
/// - execute_diffusion_N_WxH (xDiT).
/// nullopt for any other name.
[[nodiscard]] std::optional<StepCounts> parse_step_counts(std::string_view name);

/// Returns the sums of any of these forms except diffusion; nullopt for any other name. With
/// `fill`, SGLang's short prefill counts as requests of equal length without history, and its
/// decode as one token per request. Other short forms, and all short forms without `fill`, give
/// only their recorded sums.
[[nodiscard]] std::optional<StepSums> parse_step_annotation(std::string_view name,
                                                            bool fill = true);

/// Returns the tokens that each request of the step attends to, if the annotation lists them:
/// ATOM's "ctx=[7803, 6918]" (at most 65536 requests). Other annotations do not separate requests,
/// and no annotation names the requests. Empty for any other text.
[[nodiscard]] std::vector<std::int64_t> step_request_lengths(std::string_view name);

/// Returns whether an annotation has all sums. In a trace with such annotations, others are not
/// steps (patched servers write both around one step).
[[nodiscard]] constexpr bool has_all_sums(StepKind kind) {
  return kind == StepKind::kVllm || kind == StepKind::kSglang || kind == StepKind::kAtom;
}

enum class StepPhase : std::uint8_t { kIdle, kPrefill, kMixed, kDecode };
[[nodiscard]] constexpr StepPhase phase_of(const StepCounts& s) {
  if (s.context_requests > 0)
    return s.generation_requests > 0 ? StepPhase::kMixed : StepPhase::kPrefill;
  return s.generation_requests > 0 ? StepPhase::kDecode : StepPhase::kIdle;
}
/// Returns "prefill", "mixed", "decode" or "idle".
[[nodiscard]] std::string_view phase_name(StepPhase phase);

} // namespace rankscope
