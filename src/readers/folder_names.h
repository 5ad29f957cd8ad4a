// Reads the rank of a trace and the configuration of a sweep from file and folder names.
#pragma once

#include "base/result.h"
#include "core/run.h"
#include "readers/discovery.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>

namespace rankscope {

struct Candidate {
  std::string path;
  std::optional<std::int64_t> rank; ///< rank in the file name
  std::string group;                ///< the path, with '*' instead of the rank number
  std::string too_large;            ///< the digits of the rank, if the number is too large for a
                                    ///< rank
};

/// Finds the rank in a path: with the given pattern, the given expression, or the usual forms of
/// names.
class RankNames {
public:
  /// Errors: kUsage if the expression is not valid or has no group for the rank.
  static Result<RankNames> make(const DiscoverOptions& options);

  /// Sets rank and group from the path. Returns false if the file does not match the pattern.
  bool match(Candidate& c) const;

private:
  static void set(Candidate& c, const std::smatch& m, std::size_t group, std::size_t from);

  std::regex path_regex_;
  std::regex part_;
  std::size_t group_ = 1;
  bool pattern_ = false;
};

/// The configuration in a path below the root.
struct ConfigName {
  std::string folder; ///< folder relative to the root; ends with the part that matched
  Configuration configuration;
};

/// Finds the configuration in the folder names of a path: with the given expression, or in names
/// such as <T>thread/nccl_<C>channels, <CU>cu_<T>threads and name=value.
class ConfigNames {
public:
  /// Errors: kUsage for an invalid expression.
  static Result<ConfigNames> make(const std::string& expression);

  /// Returns the configuration of a file. `relative`: its path below the root; the file name is
  /// ignored.
  [[nodiscard]] std::optional<ConfigName> match(const std::string& relative) const;

private:
  [[nodiscard]] std::optional<ConfigName> match_expression(const std::string& folder) const;

  std::regex expression_;
  std::map<std::string, std::size_t> groups_;
  bool has_expression_ = false;
};

} // namespace rankscope
