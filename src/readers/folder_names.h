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
  std::string group;                ///< path with the rank's digits replaced by '*'
  std::string too_large;            ///< the digits, if the number is too large for a rank
};

/// Finds the rank in a file name: with the pattern, the given expression, or the usual spellings.
class RankNames {
public:
  /// Errors: kUsage for an invalid expression, or for one without a group for the rank.
  static Result<RankNames> make(const DiscoverOptions& options);

  /// Fills in rank and group from the path. Returns false if the pattern does not match the file.
  bool match(Candidate& c) const;

private:
  static void set(Candidate& c, const std::smatch& m, std::size_t group, std::size_t from);

  std::regex whole_;
  std::regex part_;
  std::size_t group_ = 1;
  bool pattern_ = false;
};

/// The configuration of a path below the root.
struct ConfigName {
  std::string folder; ///< relative to the root; ends with the matched part
  Configuration configuration;
};

/// Finds configurations in the folders of a path: with the given expression, or as folders
/// <T>thread/nccl_<C>channels, <CU>cu_<T>threads and name=value.
class ConfigNames {
public:
  /// Errors: kUsage for an invalid expression.
  static Result<ConfigNames> make(const std::string& expression);

  /// Returns the configuration of a file from its path below the root; ignores the file name.
  [[nodiscard]] std::optional<ConfigName> match(const std::string& relative) const;

private:
  [[nodiscard]] std::optional<ConfigName> by_own(const std::string& folder) const;

  std::regex own_;
  std::map<std::string, std::size_t> groups_;
  bool has_own_ = false;
};

} // namespace rankscope
