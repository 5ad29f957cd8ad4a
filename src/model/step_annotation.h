// Reads step annotations of inference servers: the numbers of computed and attended tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankscope {

/// Sums over the requests of a step, separately for prefill ("context", c) and decode
/// ("generation", g). For each request, sq is the number of new tokens and sk the number of tokens
/// that they attend to. c_sq and so on are the sums of sq, sk, sq * sq and sq * sk over the
/// requests.
struct StepSums {
  double c_sq = 0, c_sk = 0, c_sqsq = 0, c_sqsk = 0;
  double g_sq = 0, g_sk = 0, g_sqsq = 0, g_sqsk = 0;
  bool detailed = false;   ///< all sums were recorded
  bool kv_unknown = false; ///< decode, but the attended lengths are not recorded: ignore g_sk and
                           ///< g_sqsk
};

/// The server that wrote the annotation of a step, and the values in it.
enum class StepKind : std::uint8_t {
  kVllm,      ///< all sums
  kVllmShort, ///< requests and tokens
  kSglang,    ///< all sums
  kSglangShort,
  kAtom, ///< all sums
  kAtomShort,
  kDiffusion, ///< xDiT: no numbers of requests
  kRepeated,  ///< no annotation: the step is a repeated pattern of CPU events
};

/// kUnstated: the annotation does not show what the step computes.
enum class StepPhase : std::uint8_t { kIdle, kPrefill, kMixed, kDecode, kDiffusion, kUnstated };
inline constexpr std::size_t kStepPhases = static_cast<std::size_t>(StepPhase::kUnstated) + 1;
/// Returns "prefill", "mixed", "decode", "diffusion" or "idle"; "" for kUnstated.
[[nodiscard]] std::string_view phase_name(StepPhase phase);

/// The values in a step's annotation. Missing values are not estimated.
struct StepCounts {
  StepKind kind = StepKind::kVllm;
  std::int64_t context_requests = 0;    ///< prefill
  std::int64_t generation_requests = 0; ///< decode
  std::int64_t batch_size = 0;          ///< number of computed tokens; for diffusion, the number N
                                        ///< in its annotation
  StepSums sums;                        ///< if not `detailed`: only the sq sums, or no sums
  /// The phase that the annotation names, if it does not divide its values between prefill and
  /// decode. All values then count as prefill, as in the reference.
  std::optional<StepPhase> phase;

  [[nodiscard]] std::int64_t requests() const { return context_requests + generation_requests; }
};

/// Parses the following forms, tried in this order. The name must begin with the form; other text
/// may follow:
/// - execute_N_context_R(sqAskBsqsqCsqskD)_generation_R(...) (vLLM); the batch size is the sum of
///   both sq;
/// - execute_context_R(T)_generation_R(T);
/// - step[EXTEND|DECODE|MIXED key=number ...] (SGLang) with one of the keys for products; the
///   number of requests is bs, for MIXED c and g; the batch size is c_sq + g_sq, else toks, else
///   bs;
/// - step[KIND bs=R] and step[KIND bs=R toks=T], with no other text in the brackets; `phase` is set
///   if KIND is MIXED or unknown (TARGET_VERIFY, ...);
/// - prefill[bs=R/PADDED tok=T ...], decode[...] (ATOM); the batch size is tok;
/// - execute_diffusion_N_WxH (xDiT); `phase` is set, because the step has no tokens.
/// nullopt for any other name.
[[nodiscard]] std::optional<StepCounts> parse_step_counts(std::string_view name);

/// Returns the sums of any of these forms except diffusion; nullopt for any other name. With
/// `fill`, missing sums of SGLang's short forms are computed: for prefill, the requests are assumed
/// to have equal lengths and no history; for decode, one token per request; if `phase` is set,
/// there are no sums (nullopt). Without `fill`, and for other short forms, the result contains only
/// the sums that the name contains.
[[nodiscard]] std::optional<StepSums> parse_step_annotation(std::string_view name,
                                                            bool fill = true);

/// Returns the number of tokens that each request of the step attends to, if the annotation lists
/// these numbers, as ATOM does: "ctx=[7803, 6918]" (at most 65536 requests). Other annotations
/// contain only sums over requests. Empty for any other text.
[[nodiscard]] std::vector<std::int64_t> step_request_lengths(std::string_view name);

/// Returns whether an annotation of this kind contains all sums. In a trace with such annotations,
/// annotations of other kinds are not steps (patched servers write both for the same step).
[[nodiscard]] constexpr bool has_all_sums(StepKind kind) {
  return kind == StepKind::kVllm || kind == StepKind::kSglang || kind == StepKind::kAtom;
}

[[nodiscard]] constexpr StepPhase phase_of(const StepCounts& s) {
  if (s.phase)
    return *s.phase;
  if (s.context_requests > 0)
    return s.generation_requests > 0 ? StepPhase::kMixed : StepPhase::kPrefill;
  return s.generation_requests > 0 ? StepPhase::kDecode : StepPhase::kIdle;
}
/// Returns whether the step computes prompts.
[[nodiscard]] constexpr bool with_prefill(const StepCounts& s) {
  return phase_of(s) == StepPhase::kPrefill || phase_of(s) == StepPhase::kMixed;
}

} // namespace rankscope
