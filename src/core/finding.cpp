#include "core/finding.h"

#include <array>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, 4> kFindingKinds = {"claim", "cause", "advice", "note"};
constexpr std::array<std::string_view, 3> kFindingScopes = {"these steps", "this run",
                                                            "this hardware"};

Schema<Finding> make_finding_schema() {
  using R = Finding;
  using enum CellKind;
  const auto place = [](const char* id, Unit unit, std::int64_t FindingPlace::*member,
                        const char* help) {
    return Field<R>{id,
                    id,
                    unit,
                    kInt,
                    [member](const R& r) { return r.place ? Value((*r.place).*member) : Value(); },
                    help};
  };
  return {
      "findings",
      "conclusions with their evidence, the most important first",
      {{"headline", or_blank(&R::headline), "the effect, in at most 100 characters"},
       {"evidence", or_blank(&R::evidence),
        "numbers that support the effect: interval, number of steps or calls"},
       {"action", or_blank(&R::action), "recommended action; may be empty"},
       {"rule", &R::rule, "stable name of this kind of finding (docs/findings.md)"},
       {"kind", [](const R& r) { return finding_kind_name(r.kind); },
        "kind of finding: claim, cause, advice or note"},
       {"subject_kind", or_blank(&R::subject_kind), "what the finding is about: run, rank, ..."},
       {"subject", or_blank(&R::subject), "name of the subject; empty for a run"},
       {"value", &R::value, "size of the effect, in `unit`"},
       {"unit", [](const R& r) { return text_or_blank(unit_name(r.unit)); },
        "unit of value, low, high and detectable"},
       {"low", &R::low, "lower end of the value's interval"},
       {"high", &R::high, "upper end of the value's interval"},
       {"steps", "steps", Unit::kCount, kInt,
        [](const R& r) { return r.steps > 0 ? Value(r.steps) : Value(); },
        "number of steps that the value is based on; the smallest if it differs between ranks or "
        "runs"},
       {"scope", [](const R& r) { return finding_scope_name(r.scope); },
        "what the finding is valid for: these steps, this run or this hardware"},
       {"cost_ms", Unit::kMs, &R::cost_ms, "time per step that the effect costs"},
       {"detectable", &R::detectable, "smallest effect that the data could have shown, in `unit`"},
       place("rank", Unit::kNone, &FindingPlace::rank, "rank for which the trace shows the effect"),
       place("start_ns", Unit::kNs, &FindingPlace::start_ns,
             "start of the time range that shows the effect, on the clock of this rank's trace"),
       place("end_ns", Unit::kNs, &FindingPlace::end_ns,
             "end of the time range that shows the effect, on the clock of this rank's trace")}};
}

} // namespace

std::string_view finding_kind_name(FindingKind kind) {
  return kFindingKinds[static_cast<std::size_t>(kind)];
}

std::string_view finding_scope_name(FindingScope scope) {
  return kFindingScopes[static_cast<std::size_t>(scope)];
}

std::string Finding::sentence() const {
  std::string out;
  for (const std::string* part : {&headline, &evidence, &action})
    if (!part->empty())
      out += (out.empty() ? "" : " ") + *part + ".";
  return out;
}

std::vector<std::string> sentences_of(std::span<const Finding> findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings)
    out.push_back(finding.sentence());
  return out;
}

const Schema<Finding>& finding_schema() {
  static const Schema<Finding> schema = make_finding_schema();
  return schema;
}

} // namespace rankscope
