// Annotations that inference servers put around a step: how many tokens are computed and attended.
#pragma once

#include <optional>
#include <string_view>

namespace rankscope {

/// Sums over the requests of a step, prefill ("context", c) and decode ("generation", g) apart: sq
/// = new tokens, sk = tokens attended, sqsq and sqsk = sums of the products per request.
struct StepSums {
  double c_sq = 0, c_sk = 0, c_sqsq = 0, c_sqsk = 0;
  double g_sq = 0, g_sk = 0, g_sqsq = 0, g_sqsk = 0;
  bool detailed = false;   ///< every sum was recorded
  bool kv_unknown = false; ///< decode without the attended lengths: g_sk and g_sqsk say nothing
};

/// "execute_64_context_0(sq0sk0sqsq0sqsk0)_generation_64(sq64sk131072sqsq64sqsk131072)" (vLLM),
/// "step[DECODE bs=64 g_sq=64 ...]" (SGLang), "prefill[bs=2 tok=14721 sqsq=.. sqsk=.. sk=..]"
/// (ATOM), and their short forms without products. From a short form only what follows is filled
/// in: SGLang's prefill as requests of equal length without history, its decode with one token a
/// request. nullopt for anything else.
[[nodiscard]] std::optional<StepSums> parse_step_annotation(std::string_view name);

} // namespace rankscope
