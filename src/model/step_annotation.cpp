#include "model/step_annotation.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace rankscope {
namespace {

/// Reads a text from left to right: fixed words and numbers.
class Cursor {
public:
  explicit Cursor(std::string_view text) : text_(text) {}
  [[nodiscard]] bool word(std::string_view w) {
    if (text_.substr(0, w.size()) != w)
      return false;
    text_.remove_prefix(w.size());
    return true;
  }
  [[nodiscard]] bool number(double& out) {
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (ec != std::errc() || end == text_.data() || value < 0)
      return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    out = static_cast<double>(value);
    return true;
  }

  [[nodiscard]] bool done() const { return text_.empty(); }

private:
  std::string_view text_;
};

/// Reads "sq5sk8sqsq25sqsk40" in parentheses.
bool sums(Cursor& c, double& sq, double& sk, double& sqsq, double& sqsk) {
  return c.word("(sq") && c.number(sq) && c.word("sk") && c.number(sk) && c.word("sqsq") &&
         c.number(sqsq) && c.word("sqsk") && c.number(sqsk) && c.word(")");
}

/// Returns the value of " key=" in a bracketed list, or `fallback`.
double field(std::string_view body, std::string_view key, double fallback, bool* found = nullptr) {
  for (std::size_t at = body.find(key); at != std::string_view::npos; at = body.find(key, at + 1)) {
    const bool starts = at == 0 || body[at - 1] == ' ' || body[at - 1] == '[';
    const std::size_t value = at + key.size();
    if (!starts || value >= body.size() || body[value] != '=')
      continue;
    double v = fallback;
    Cursor c(body.substr(value + 1));
    if (c.number(v)) {
      if (found != nullptr)
        *found = true;
      return v;
    }
  }
  return fallback;
}

std::optional<StepSums> atom(std::string_view name) {
  const bool prefill = name.substr(0, 8) == "prefill[";
  const bool decode = name.substr(0, 7) == "decode[";
  const std::size_t end = name.rfind(']');
  if ((!prefill && !decode) || end == std::string_view::npos)
    return std::nullopt;
  const std::size_t begin = name.find('[') + 1;
  if (end < begin)
    return std::nullopt;
  const std::string_view body = name.substr(begin, end - begin);
  StepSums s;
  bool sqsq = false;
  bool sqsk = false;
  const double tokens = field(body, "tok", 0);
  const double sk = field(body, "sk", 0);
  const double a = field(body, "sqsq", 0, &sqsq);
  const double b = field(body, "sqsk", 0, &sqsk);
  (prefill ? s.c_sq : s.g_sq) = tokens;
  (prefill ? s.c_sk : s.g_sk) = sk;
  (prefill ? s.c_sqsq : s.g_sqsq) = a;
  (prefill ? s.c_sqsk : s.g_sqsk) = b;
  s.detailed = sqsq && sqsk;
  return s;
}

std::int64_t integer_of(double v) {
  constexpr double kMost = 4e18; // the sum of two such values still fits
  return static_cast<std::int64_t>(std::min(v, kMost));
}

std::optional<StepCounts> vllm_counts(std::string_view name) {
  StepCounts s;
  double n = 0, context = 0, generation = 0;
  Cursor c(name);
  StepSums& v = s.sums;
  if (c.word("execute_") && c.number(n) && c.word("_context_") && c.number(context) &&
      sums(c, v.c_sq, v.c_sk, v.c_sqsq, v.c_sqsk) && c.word("_generation_") &&
      c.number(generation) && sums(c, v.g_sq, v.g_sk, v.g_sqsq, v.g_sqsk)) {
    s.kind = StepKind::kVllm;
    v.detailed = true;
  } else {
    v = {};
    Cursor brief(name);
    if (!brief.word("execute_context_") || !brief.number(context) || !brief.word("(") ||
        !brief.number(v.c_sq) || !brief.word(")_generation_") || !brief.number(generation) ||
        !brief.word("(") || !brief.number(v.g_sq) || !brief.word(")"))
      return std::nullopt;
    s.kind = StepKind::kVllmShort;
  }
  s.context_requests = integer_of(context);
  s.generation_requests = integer_of(generation);
  s.batch_size = integer_of(v.c_sq + v.g_sq);
  return s;
}

/// Reads "bs=4" or "bs=4 toks=4096". Returns false if other text follows.
bool brief_body(std::string_view rest, double& bs, double& toks) {
  Cursor c(rest);
  if (!c.word(" bs=") || !c.number(bs))
    return false;
  if (c.word(" toks=") && !c.number(toks))
    return false;
  return c.done();
}

std::optional<StepCounts> sglang_counts(std::string_view name) {
  const std::size_t end = name.find(']');
  if (name.substr(0, 5) != "step[" || end == std::string_view::npos)
    return std::nullopt;
  const std::string_view body = name.substr(5, end - 5);
  const std::string_view mode = body.substr(0, body.find(' '));
  StepCounts s;
  StepSums& v = s.sums;
  bool c_products = false;
  bool g_products = false;
  v.c_sqsq = field(body, "c_sqsq", 0, &c_products);
  v.g_sqsq = field(body, "g_sqsq", 0, &g_products);
  const bool known_mode = mode == "EXTEND" || mode == "DECODE" || mode == "MIXED";
  double bs = field(body, "bs", 0);
  double toks = field(body, "toks", 0);
  if (known_mode && (c_products || g_products)) {
    s.kind = StepKind::kSglang;
    v.detailed = true;
    v.c_sq = field(body, "c_sq", 0);
    v.c_sk = field(body, "c_sk", 0);
    v.c_sqsk = field(body, "c_sqsk", 0);
    v.g_sq = field(body, "g_sq", 0);
    v.g_sk = field(body, "g_sk", 0);
    v.g_sqsk = field(body, "g_sqsk", 0);
    s.context_requests = integer_of(mode == "EXTEND"  ? bs
                                    : mode == "MIXED" ? field(body, "c", 0)
                                                      : 0);
    s.generation_requests = integer_of(mode == "DECODE"  ? bs
                                       : mode == "MIXED" ? field(body, "g", 0)
                                                         : 0);
    const double batch = v.c_sq + v.g_sq > 0 ? v.c_sq + v.g_sq : toks > 0 ? toks : bs;
    s.batch_size = integer_of(batch);
    return s;
  }
  if (mode.empty() || !brief_body(body.substr(mode.size()), bs, toks))
    return std::nullopt;
  s.kind = StepKind::kSglangShort;
  v = {};
  if (mode == "DECODE") {
    s.generation_requests = integer_of(bs);
    v.g_sq = bs;
  } else if (mode != "IDLE") { // an idle step has no requests
    s.context_requests = integer_of(bs);
    v.c_sq = toks;
    if (mode != "EXTEND")
      s.phase = mode == "MIXED" ? StepPhase::kMixed : StepPhase::kUnstated;
  }
  s.batch_size = integer_of(v.c_sq + v.g_sq > 0 ? v.c_sq + v.g_sq : bs);
  return s;
}

std::optional<StepCounts> atom_counts(std::string_view name) {
  const auto sums = atom(name);
  if (!sums)
    return std::nullopt;
  const std::string_view body = name.substr(name.find('[') + 1);
  bool requests = false;
  bool tokens = false;
  const double bs = field(body, "bs", 0, &requests);
  const double tok = field(body, "tok", 0, &tokens);
  if (!requests || !tokens)
    return std::nullopt;
  StepCounts s;
  s.kind = sums->detailed ? StepKind::kAtom : StepKind::kAtomShort;
  s.sums = *sums;
  (name[0] == 'p' ? s.context_requests : s.generation_requests) = integer_of(bs);
  s.batch_size = integer_of(tok);
  return s;
}

std::optional<StepCounts> diffusion_counts(std::string_view name) {
  double n = 0, width = 0, height = 0;
  Cursor c(name);
  if (!c.word("execute_diffusion_") || !c.number(n) || !c.word("_") || !c.number(width) ||
      !c.word("x") || !c.number(height))
    return std::nullopt;
  StepCounts s;
  s.kind = StepKind::kDiffusion;
  s.phase = StepPhase::kDiffusion;
  s.batch_size = integer_of(n);
  return s;
}

} // namespace

std::optional<StepSums> parse_step_annotation(std::string_view name, bool fill) {
  const auto counts = parse_step_counts(name);
  if (!counts || counts->kind == StepKind::kDiffusion || (fill && counts->phase))
    return std::nullopt;
  StepSums s = counts->sums;
  if (counts->kind != StepKind::kSglangShort || !fill)
    return s;
  if (counts->generation_requests > 0) {
    s.g_sk = s.g_sq;
    s.kv_unknown = true;
  } else if (s.c_sq > 0 && counts->context_requests > 0) {
    s.c_sk = s.c_sq;
    s.c_sqsq = s.c_sqsk = s.c_sq * s.c_sq / static_cast<double>(counts->context_requests);
    s.detailed = true; // all sums are set now
  }
  return s;
}

std::optional<StepCounts> parse_step_counts(std::string_view name) {
  if (auto s = vllm_counts(name))
    return s;
  if (auto s = sglang_counts(name))
    return s;
  if (auto s = atom_counts(name))
    return s;
  return diffusion_counts(name);
}

std::vector<std::int64_t> step_request_lengths(std::string_view name) {
  constexpr std::size_t kMost = 65536;
  constexpr std::string_view kMark = " ctx=[";
  const std::size_t at = name.find(kMark);
  std::vector<std::int64_t> out;
  if (at == std::string_view::npos || !atom(name))
    return out;
  Cursor c(name.substr(at + kMark.size()));
  for (double length = 0; out.size() < kMost && c.number(length);) {
    out.push_back(integer_of(length));
    if (!c.word(", ") && !c.word(","))
      return c.word("]") ? out : std::vector<std::int64_t>();
  }
  return {};
}

std::string_view phase_name(StepPhase phase) {
  switch (phase) {
  case StepPhase::kPrefill:
    return "prefill";
  case StepPhase::kMixed:
    return "mixed";
  case StepPhase::kDecode:
    return "decode";
  case StepPhase::kDiffusion:
    return "diffusion";
  case StepPhase::kIdle:
    return "idle";
  case StepPhase::kUnstated:
    break;
  }
  return "";
}

} // namespace rankscope
