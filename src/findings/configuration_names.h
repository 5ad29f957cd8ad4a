// Configurations as sentences name them: "28 or 42 channels" where only the channels differ.
#pragma once

#include "analyses/sweep/sweep_facts.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

class ConfigurationNames {
public:
  explicit ConfigurationNames(const std::vector<ConfigurationRanks>& groups);

  /// "28 channels", "protocol=LL" or the label.
  [[nodiscard]] std::string one(const ConfigurationRanks& group) const;
  /// "28 or 42 channels"; in at most `width` columns the first ones and how many more.
  [[nodiscard]] std::string any_of(const std::vector<const ConfigurationRanks*>& groups,
                                   std::size_t width) const;
  /// The verb's form: "are fastest" of channels, "is fastest" of a label.
  [[nodiscard]] std::string verb(const std::vector<const ConfigurationRanks*>& groups,
                                 const char* singular, const char* plural) const;

private:
  [[nodiscard]] std::string value_of(const ConfigurationRanks& group) const;

  std::string parameter_; ///< the only one that differs; empty: labels
  std::string noun_;      ///< "channels", ...; empty: "name=value"
};

} // namespace rankscope
