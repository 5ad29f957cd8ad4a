#include "collect/library_trace/log_text.h"

#include "base/ascii.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

bool letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns whether the word is an option (-m, --transposeA, --in_layout): dashes, a letter, then
/// letters, digits, '_' and '-'. Words such as -1, a torn "--" or "-m.5" are not.
bool is_option(std::string_view word) {
  const std::size_t dashes = word.find_first_not_of('-');
  if (dashes == std::string_view::npos || dashes == 0 || dashes > 2 || !letter(word[dashes]))
    return false;
  return std::all_of(word.begin() + static_cast<std::ptrdiff_t>(dashes), word.end(), [](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

/// Returns whether the word is a number, type or mode, without quotes, brackets or other bytes.
bool is_value(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '+' || c == '.' ||
           c == ',';
  });
}

} // namespace

std::optional<std::vector<CommandOption>> parse_options(std::string_view text,
                                                        bool several_values) {
  std::vector<CommandOption> out;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text)) {
    if (is_option(word)) {
      out.push_back({word, {}});
      continue;
    }
    if (out.empty() || !is_value(word) || (!several_values && !out.back().values.empty()))
      return std::nullopt;
    out.back().values.push_back(word);
  }
  return out;
}

std::string_view option_value(const std::vector<CommandOption>& options, std::string_view name) {
  for (const CommandOption& o : options)
    if (o.name == name)
      return o.values.empty() ? std::string_view() : o.values[0];
  return {};
}

std::string_view nccl_process(std::string_view before) {
  before = trimmed(before);
  while (!before.empty()) {
    const std::size_t blank = before.rfind(' ');
    std::string_view word = blank == std::string_view::npos ? before : before.substr(blank + 1);
    if (const std::size_t tag = word.rfind(">:"); tag != std::string_view::npos)
      word.remove_prefix(tag + 2);
    const std::size_t last = word.rfind(':');
    if (last != std::string_view::npos && last > 0 &&
        word.rfind(':', last - 1) != std::string_view::npos)
      return word.substr(0, last);
    before =
        blank == std::string_view::npos ? std::string_view() : trimmed(before.substr(0, blank));
  }
  return {};
}

double element_bytes(std::string_view type) {
  std::string t = lowercase(type);
  double parts = 1;
  if (t.size() > 2 && t.ends_with("_r")) {
    t.resize(t.size() - 2);
  } else if (t.size() > 2 && t.ends_with("_c")) {
    t.resize(t.size() - 2);
    parts = 2;
  } else if (t.starts_with("r_")) { // CUDA: R_16BF, C_32F
    t.erase(0, 2);
  } else if (t.starts_with("c_")) {
    t.erase(0, 2);
    parts = 2;
  }
  static constexpr std::array<std::pair<std::string_view, double>, 34> kBytes = {
      {{"f64", 8},   {"f32", 4},   {"f16", 2},     {"bf16", 2},    {"f8", 1},
       {"bf8", 1},   {"i8", 1},    {"u8", 1},      {"i32", 4},     {"u32", 4},
       {"i64", 8},   {"u64", 8},   {"xf32", 4},    {"f8_fnuz", 1}, {"bf8_fnuz", 1},
       {"f6", 0.75}, {"bf6", .75}, {"f4", 0.5},    {"s", 4},       {"d", 8},
       {"h", 2},     {"c", 8},     {"z", 16},      {"64f", 8},     {"32f", 4},
       {"16f", 2},   {"16bf", 2},  {"8f_e4m3", 1}, {"8f_e5m2", 1}, {"4f_e2m1", 0.5},
       {"8i", 1},    {"32i", 4},   {"f8e4m3", 1},  {"f8e5m2", 1}}};
  for (const auto& [name, bytes] : kBytes)
    if (t == name)
      return bytes * parts;
  return 0;
}

bool is_complex(std::string_view type) {
  return type.ends_with("_c") || type.starts_with("C_") || type == "c" || type == "z";
}

bool is_gemm(std::string_view function) {
  const std::string name = lowercase(function);
  const std::size_t at = name.find("gemm");
  return at != std::string::npos && name.compare(at, 5, "gemmt") != 0;
}

std::string gemm_type_letter(std::string_view function) {
  std::string name = lowercase(function);
  if (name.starts_with("cublas"))
    name.erase(0, 6);
  const std::size_t at = name.find("gemm");
  return at == std::string::npos || at == 0 || name[at - 1] == '_' ? "" : name.substr(at - 1, 1);
}

std::string GemmSize::text() const {
  const std::string sizes = fmt::format("m={} n={} k={}", m, n, k);
  return batch == 1 ? sizes : fmt::format("{} batch={}", sizes, batch);
}

double GemmSize::flops(std::string_view type) const {
  return (is_complex(type) ? 8 : 2) * m * n * k * batch;
}

} // namespace rankscope
