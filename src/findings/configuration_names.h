// Names of configurations in sentences: "28 or 42 channels" if only the channels differ.
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
  [[nodiscard]] std::string name_of(const ConfigurationRanks& group) const;
  /// Returns "28 or 42 channels". If this needs more than `width` columns, returns only the first
  /// ones and the number of the others.
  [[nodiscard]] std::string any_of(const std::vector<const ConfigurationRanks*>& groups,
                                   std::size_t width) const;
  /// Returns the form of the verb that belongs to the names: "are fastest" for channels, "is
  /// fastest" for a label.
  [[nodiscard]] std::string verb(const std::vector<const ConfigurationRanks*>& groups,
                                 const char* singular, const char* plural) const;

private:
  [[nodiscard]] std::string value_of(const ConfigurationRanks& group) const;

  std::string parameter_; ///< the parameter, if exactly one differs; otherwise empty, and labels
                          ///< are used
  std::string noun_;      ///< "channels", ...; if empty, "name=value" is used
};

} // namespace rankscope
