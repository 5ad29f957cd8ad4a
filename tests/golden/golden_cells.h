// Compares cells of rankscope's tables with cells of reference tables.
#pragma once

#include "core/table.h"
#include "writers/writer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

namespace rankscope::golden {

/// Converts "np.float64(39.75)" to "39.75".
inline std::string strip_numpy(std::string text) {
  for (const std::string prefix : {"np.float64(", "np.float32(", "np.int64("})
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix)) {
      const std::size_t close = text.find(')', at);
      text.erase(close, 1);
      text.erase(at, prefix.size());
    }
  return text;
}

inline bool number_of(const std::string& text, double& value) {
  if (text.empty())
    return false;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return *end == '\0';
}

/// Uses the absolute tolerance of the reference's own comparison.
inline bool close(double got, double want) {
  return std::fabs(got - want) < 1e-6;
}

/// Whether two texts, such as lists of kernels, are equal except for small differences of numbers.
inline bool texts_equal(const std::string& got, const std::string& want) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto numeric = [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; };
  while (i < got.size() && j < want.size()) {
    if (got[i] >= '0' && got[i] <= '9' && want[j] >= '0' && want[j] <= '9') {
      std::size_t a = i;
      std::size_t b = j;
      while (a < got.size() && (numeric(got[a]) || got[a] == 'e'))
        ++a;
      while (b < want.size() && (numeric(want[b]) || want[b] == 'e'))
        ++b;
      const std::string x = got.substr(i, a - i);
      const std::string y = want.substr(j, b - j);
      double p = 0;
      double q = 0;
      if (x != y && !(number_of(x, p) && number_of(y, q) &&
                      (x + y).find('.') != std::string::npos && close(p, q)))
        return false;
      i = a;
      j = b;
    } else if (got[i++] != want[j++]) {
      return false;
    }
  }
  return i == got.size() && j == want.size();
}

/// Sorts the items of a list of dicts, because the reference's own test ignores their order.
inline std::string sorted_items(const std::string& text) {
  if (text.size() < 2 || text.substr(0, 2) != "[{")
    return text;
  std::vector<std::string> items;
  std::size_t start = 1;
  for (std::size_t at = text.find("}, {"); at != std::string::npos; at = text.find("}, {", start)) {
    items.push_back(text.substr(start, at + 1 - start));
    start = at + 3;
  }
  items.push_back(text.substr(start, text.size() - 1 - start));
  std::sort(items.begin(), items.end());
  std::string out;
  for (const std::string& item : items)
    out += item + ";";
  return out;
}

/// Returns the text of a cell as the reference writes it.
inline std::string text_of(const Value& v) {
  if (v.kind == CellKind::kText)
    return std::string(v.text);
  if (v.kind == CellKind::kBool)
    return v.i != 0 ? "True" : "False";
  return v.kind == CellKind::kInt ? std::to_string(v.i) : shortest_double(v.number());
}

inline bool same(const Value& got, const std::string& want) {
  double number = 0;
  if (number_of(want, number)) {
    double value = got.number();
    if (got.kind == CellKind::kText && !number_of(std::string(got.text), value))
      return false;
    return close(value, number);
  }
  const std::string text = strip_numpy(want);
  return texts_equal(text_of(got), text) ||
         texts_equal(sorted_items(text_of(got)), sorted_items(text));
}

} // namespace rankscope::golden
