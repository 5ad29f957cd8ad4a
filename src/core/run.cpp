#include "core/run.h"

#include "base/to_number.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

/// Compares two values (< 0, 0, > 0): numbers by value; texts are after numbers, missing values are
/// last.
int compared(const std::optional<std::string_view>& a, const std::optional<std::string_view>& b) {
  if (!a || !b)
    return static_cast<int>(!a.has_value()) - static_cast<int>(!b.has_value());
  const auto x = to_number(*a);
  const auto y = to_number(*b);
  if (x && y)
    return *x < *y ? -1 : static_cast<int>(*x > *y);
  if (x || y)
    return x ? -1 : 1;
  return a->compare(*b);
}

std::optional<std::string_view> channels_text(const Configuration& c) {
  const auto text = c.text(kChannels);
  return text ? text : c.text(kCus);
}

bool has_fixed_place(std::string_view name) {
  return name == kThreads || name == kChannels || name == kCus;
}

} // namespace

void Configuration::set(std::string_view name, std::string value) {
  for (Parameter& p : parameters)
    if (p.name == name) {
      p.value = std::move(value);
      return;
    }
  parameters.push_back({std::string(name), std::move(value)});
}

std::optional<std::string_view> Configuration::text(std::string_view name) const {
  for (const Parameter& p : parameters)
    if (p.name == name)
      return p.value;
  return std::nullopt;
}

std::optional<std::int64_t> Configuration::integer(std::string_view name) const {
  const auto value = text(name);
  return value ? to_number(*value) : std::nullopt;
}

std::optional<std::int64_t> Configuration::channels_or_cus() const {
  const auto count = channels();
  return count ? count : cus();
}

bool Configuration::only(std::initializer_list<std::string_view> names) const {
  return parameters.size() == names.size() &&
         std::all_of(names.begin(), names.end(),
                     [this](std::string_view name) { return text(name).has_value(); });
}

bool ordered_before(const Configuration& a, const Configuration& b) {
  if (const int order = compared(a.text(kThreads), b.text(kThreads)); order != 0)
    return order < 0;
  if (const int order = compared(channels_text(a), channels_text(b)); order != 0)
    return order < 0;
  std::set<std::string_view> names; // the names of both sides in one sorted order, so that the
                                    // comparison is a strict order
  for (const Configuration* side : {&a, &b})
    for (const Parameter& p : side->parameters)
      if (!has_fixed_place(p.name))
        names.insert(p.name);
  for (const std::string_view name : names)
    if (const int order = compared(a.text(name), b.text(name)); order != 0)
      return order < 0;
  return a.label < b.label;
}

std::string to_text(const RunKey& key) {
  const std::string& label = key.configuration.label; // "rank" for files rank0.json, rank1.json
  return label.empty() || label == "rank" ? fmt::format("rank {}", key.rank)
                                          : fmt::format("{} rank {}", label, key.rank);
}

} // namespace rankscope
