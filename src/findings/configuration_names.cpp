#include "findings/configuration_names.h"

#include "base/display_text.h"
#include "findings/compose.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace rankscope {

ConfigurationNames::ConfigurationNames(const std::vector<ConfigurationRanks>& groups) {
  std::map<std::string, std::set<std::string>> values;
  std::map<std::string, std::size_t> known;
  for (const ConfigurationRanks& g : groups)
    for (const Parameter& p : g.configuration.parameters) {
      values[p.name].insert(p.value);
      ++known[p.name];
    }
  for (const auto& [name, distinct] : values) {
    if (distinct.size() == 1 && known[name] == groups.size())
      continue;
    if (distinct.size() != groups.size() || !parameter_.empty()) { // groups have the same value, or
                                                                   // several parameters differ
      parameter_.clear();
      return;
    }
    parameter_ = name;
  }
  noun_ = parameter_ == kChannels || parameter_ == kThreads ? parameter_
          : parameter_ == kCus                              ? "compute units"
                                                            : "";
}

std::string ConfigurationNames::value_of(const ConfigurationRanks& group) const {
  const auto value = parameter_.empty() ? std::nullopt : group.configuration.text(parameter_);
  return !value          ? brief(group.configuration.label, 32)
         : noun_.empty() ? brief(fmt::format("{}={}", parameter_, *value), 32)
                         : brief(*value, 16);
}

std::string ConfigurationNames::name_of(const ConfigurationRanks& group) const {
  const std::string value = value_of(group);
  return noun_.empty()  ? value
         : value == "1" ? value + " " + noun_.substr(0, noun_.size() - 1)
                        : value + " " + noun_;
}

std::string ConfigurationNames::any_of(const std::vector<const ConfigurationRanks*>& groups,
                                       std::size_t width) const {
  if (groups.size() == 1)
    return name_of(*groups.front());
  const std::string tail = noun_.empty() ? "" : " " + noun_;
  std::vector<std::string> names;
  for (const ConfigurationRanks* g : groups)
    names.push_back(value_of(*g));
  std::string out = joined(names, "or") + tail;
  for (std::size_t left = 1; display_width(out) > width && names.size() > 2; ++left) {
    names.resize(groups.size() - left - 1);
    const std::size_t more = groups.size() - names.size();
    names.push_back(counted(more, "other", "others"));
    out = joined(names, "or") + tail;
  }
  return out;
}

std::string ConfigurationNames::verb(const std::vector<const ConfigurationRanks*>& groups,
                                     const char* singular, const char* plural) const {
  const bool many =
      noun_.empty() ? groups.size() > 1 : groups.size() > 1 || value_of(*groups.front()) != "1";
  return many ? plural : singular;
}

} // namespace rankscope
