#include "collect/finding_json.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

Json cell_json(const Value& value) {
  switch (value.kind) {
  case CellKind::kInt:
    return value.i;
  case CellKind::kDouble:
    return value.d;
  case CellKind::kBool:
    return value.i != 0;
  case CellKind::kText:
    return value.text;
  case CellKind::kNull:
    break;
  }
  return {};
}

} // namespace

Json findings_json(std::span<const Finding> findings) {
  return Json::list(findings, [](const Finding& finding) {
    Json entry = Json::object();
    for (const AnyField& field : finding_schema().fields())
      if (const Value value = field.get(&finding); !value.is_null())
        entry.at(field.id) = cell_json(value);
    return entry;
  });
}

std::string findings_text(std::span<const Finding> findings) {
  std::string out;
  for (const Finding& f : findings) {
    out += fmt::format("{}: {}\n", f.rule, f.headline);
    std::string evidence = f.evidence;
    for (std::size_t at = evidence.find('\n'); at != std::string::npos;
         at = evidence.find('\n', at + 5))
      evidence.replace(at, 1, "\n    ");
    if (!evidence.empty())
      out += "    " + evidence + "\n";
    if (!f.action.empty())
      out += "    next: " + f.action + "\n";
  }
  return out;
}

} // namespace rankscope
