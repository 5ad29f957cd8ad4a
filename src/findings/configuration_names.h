// Names of configurations in sentences: "28 or 42 channels" where only the channels differ.
#pragma once

#include "analyses/sweep/sweep_facts.h"

#include <cstddef>
#include <string>
#include <vector>

namespace rankscope {

class ConfigurationNames {
public:
  explicit ConfigurationNames(const std::vector<ConfigurationRanks>& groups);

  /// Returns "28 channels", "protocol=LL" or the label.
  [[nodiscard]] std::string one(const ConfigurationRanks& group) const;
  /// Returns "28 or 42 channels"; in at most `width` columns, the first ones and the number of
  /// others.
  [[nodiscard]] std::string any_of(const std::vector<const ConfigurationRanks*>& groups,
                                   std::size_t width) const;
  /// Returns the verb's form: "are fastest" for channels, "is fastest" for a label.
  [[nodiscard]] std::string verb(const std::vector<const ConfigurationRanks*>& groups,
                                 const char* singular, const char* plural) const;

private:
  [[nodiscard]] std::string value_of(const ConfigurationRanks& group) const;

  std::string parameter_; ///< the only parameter that differs; empty: labels are used
  std::string noun_;      ///< "channels", ...; empty: "name=value"
};

} // namespace rankscope
