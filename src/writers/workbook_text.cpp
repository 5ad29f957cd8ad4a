#include "writers/workbook_text.h"

#include "base/ascii.h"
#include "base/xml_text.h"

namespace rankscope {
namespace {

constexpr std::size_t kMaxName = 31;

} // namespace

const char* number_format(const Column& column) {
  static const char* const kDecimals[] = {"#,##0", "#,##0.0", "#,##0.00", "#,##0.000"};
  if (column.decimals >= 0 && column.decimals <= 3)
    return kDecimals[column.decimals];
  switch (column.unit) {
  case Unit::kCount:
  case Unit::kNs:
  case Unit::kBytes:
    return "#,##0";
  case Unit::kUs:
  case Unit::kMs:
  case Unit::kSeconds:
    return "#,##0.000";
  case Unit::kPercent:
    return "0.00";
  case Unit::kRatio:
    return "0.0000";
  case Unit::kMiB:
  case Unit::kGBps:
  case Unit::kTBps:
  case Unit::kTflops:
  case Unit::kGflops:
  case Unit::kWatt:
    return "#,##0.00";
  case Unit::kNone:
    break;
  }
  return nullptr;
}

std::string sheet_name(const std::string& wanted, std::set<std::string>& used) {
  std::string base;
  for (const char c : wanted)
    base += std::string_view("[]:*?/\\'").find(c) == std::string_view::npos ? c : '_';
  if (base.empty())
    base = "sheet";
  std::string name = base.substr(0, kMaxName);
  for (int i = 2; !used.insert(lowercase(name)).second; ++i) {
    const std::string suffix = "~" + std::to_string(i);
    name = base.substr(0, kMaxName - suffix.size()) + suffix;
  }
  return name;
}

std::string cell_text(std::string_view text) {
  std::string out = xml_characters(text);
  if (out.size() > kMaxCellText) {
    out.resize(kMaxCellText);
    while ((static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
      out.pop_back();
    out.pop_back(); // the UTF-8 character at the cut may be incomplete
  }
  return out;
}

} // namespace rankscope
