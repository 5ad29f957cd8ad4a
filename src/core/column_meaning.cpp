#include "core/column_meaning.h"

#include <array>
#include <utility>

namespace rankscope {
namespace {

/// Names of units in headers and descriptions, in lower case.
constexpr auto kUnitWords = std::to_array<std::pair<Unit, std::string_view>>({
    {Unit::kNs, "ns"},
    {Unit::kNs, "nanoseconds"},
    {Unit::kNs, "ns/s"},
    {Unit::kUs, "us"},
    {Unit::kUs, "\u00b5s"},
    {Unit::kUs, "microseconds"},
    {Unit::kMs, "ms"},
    {Unit::kMs, "milliseconds"},
    {Unit::kSeconds, "s"},
    {Unit::kSeconds, "seconds"},
    {Unit::kPercent, "%"},
    {Unit::kPercent, "percent"},
    {Unit::kPercent, "pct"},
    {Unit::kPercent, "percentage"},
    {Unit::kBytes, "bytes"},
    {Unit::kMiB, "mib"},
    {Unit::kMiB, "mb"},
    {Unit::kMiB, "2^20"},
    {Unit::kGBps, "gb/s"},
    {Unit::kTBps, "tb/s"},
    {Unit::kTflops, "tflops"},
    {Unit::kTflops, "tflops/s"},
    {Unit::kGflops, "gflops"},
    {Unit::kGflops, "gflop"},
    {Unit::kWatt, "w"},
    {Unit::kWatt, "watts"},
    // units for which Unit has no enumerator
    {Unit::kNone, "joules"},
    {Unit::kNone, "j"},
    {Unit::kNone, "tokens"},
    {Unit::kNone, "nelems"},
    {Unit::kNone, "elements"},
    {Unit::kNone, "flops/byte"},
    {Unit::kNone, "mhz"},
});

/// Returns whether a character can be part of a unit or word, as in "TB/s", "FLOPS/Byte", "2^20",
/// "\u00b5s", "rank's". "_" and brackets separate words.
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '%' || c == '/' || c == '^' ||
         c == '\'' || static_cast<unsigned char>(c) >= 0x80;
}

bool says(std::string_view text, Unit unit) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (in_word(small)) {
      word += small;
      continue;
    }
    for (const auto& [word_unit, known] : kUnitWords)
      if (word == known && (unit == Unit::kNone || word_unit == unit))
        return true;
    word.clear();
  }
  return false;
}

} // namespace

bool names_unit(const Column& column) {
  return says(column.name, column.unit) || says(column.help, column.unit);
}

std::string column_meaning(const Column& column) {
  const bool open = column.unit != Unit::kNone && column.unit != Unit::kRatio &&
                    column.unit != Unit::kCount && !names_unit(column);
  if (!open)
    return column.help;
  return column.help + (column.help.empty() ? "in " : "; in ") + unit_name(column.unit);
}

} // namespace rankscope
