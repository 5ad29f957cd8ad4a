// Annotations that inference servers put around a step: how many tokens are computed and attended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope {

/// Sums over the requests of a step, prefill ("context", c) and decode ("generation", g) apart: sq
/// = new tokens, sk = tokens attended, sqsq and sqsk = sums of the products per request.
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

/// The values in a step's annotation; nothing is filled in.
struct StepCounts {
  StepKind kind = StepKind::kVllm;
  std::int64_t context_requests = 0;    ///< prefill
  std::int64_t generation_requests = 0; ///< decode
  std::int64_t batch_size = 0;          ///< tokens that are computed; of diffusion its n
  StepSums sums;                        ///< without `detailed`: sq alone, or nothing

  [[nodiscard]] std::int64_t requests() const { return context_requests + generation_requests; }
};

/// Forms, tried in this order, anchored at the start of the name; what follows is free:
/// - execute_N_context_R(sqAskBsqsqCsqskD)_generation_R(...) (vLLM), batch = both sq;
/// - execute_context_R(T)_generation_R(T);
/// - step[EXTEND|DECODE|MIXED key=number ...] (SGLang) with a key of products; requests are bs, of
///   MIXED c and g; batch = c_sq + g_sq, else toks, else bs;
/// - step[KIND bs=R] and step[KIND bs=R toks=T], nothing else in the brackets;
/// - prefill[bs=R/PADDED tok=T ...], decode[...] (ATOM), batch = tok;
/// - execute_diffusion_N_WxH (xDiT).
/// nullopt for any other name.
[[nodiscard]] std::optional<StepCounts> parse_step_counts(std::string_view name);

/// Returns the sums of any of these except diffusion. `fill`: SGLang's short prefill counts as
/// requests of equal length without history, its decode as one token per request. Other short
/// forms, and all of them without `fill`, give their recorded sums only. nullopt for any other
/// name.
[[nodiscard]] std::optional<StepSums> parse_step_annotation(std::string_view name,
                                                            bool fill = true);

/// Tokens that each request of the step attends to, where the annotation lists them: ATOM's
/// "ctx=[7803, 6918]" (at most 65536 of them). No other annotation separates requests, and no
/// annotation names them. Empty for any other text.
[[nodiscard]] std::vector<std::int64_t> step_request_lengths(std::string_view name);

/// The first tier: in a trace with one of these, other annotations are not steps (patched servers
/// write both around one step).
[[nodiscard]] constexpr bool has_all_sums(StepKind kind) {
  return kind == StepKind::kVllm || kind == StepKind::kSglang || kind == StepKind::kAtom;
}

enum class StepPhase : std::uint8_t { kIdle, kPrefill, kMixed, kDecode };
[[nodiscard]] constexpr StepPhase phase_of(const StepCounts& s) {
  if (s.context_requests > 0)
    return s.generation_requests > 0 ? StepPhase::kMixed : StepPhase::kPrefill;
  return s.generation_requests > 0 ? StepPhase::kDecode : StepPhase::kIdle;
}
/// "prefill", "mixed", "decode", "idle".
[[nodiscard]] std::string_view phase_name(StepPhase phase);

} // namespace rankscope
