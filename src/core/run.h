// Runs: a configuration of a sweep and a rank. Every setting of a sweep is a parameter with a name;
// threads and channels are parameters like any other.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// One setting of a sweep, with the text of the folder name: {"threads", "256"}, {"protocol",
/// "LL"}.
struct Parameter {
  std::string name;
  std::string value;
  bool operator==(const Parameter&) const = default;
};

/// Parameters that have documented columns or outputs.
inline constexpr std::string_view kThreads = "threads";
inline constexpr std::string_view kChannels = "channels";
inline constexpr std::string_view kCus = "cus"; ///< compute units

/// One point of a sweep.
struct Configuration {
  std::string label;                 ///< "256thread_28ch", a folder name, ...; unique within a
                                     ///< sweep
  std::vector<Parameter> parameters; ///< in the order of the nested folders; names are unique

  /// Sets or replaces a parameter.
  void set(std::string_view name, std::string value);
  void set(std::string_view name, std::int64_t value) { set(name, std::to_string(value)); }
  /// Returns the value of a parameter; empty if the configuration does not have it. The view is
  /// valid as long as the configuration.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name) const;
  /// Returns the value of a parameter; empty if it is missing or not an integer.
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> threads() const { return integer(kThreads); }
  [[nodiscard]] std::optional<std::int64_t> channels() const { return integer(kChannels); }
  [[nodiscard]] std::optional<std::int64_t> cus() const { return integer(kCus); }
  /// Returns the value of the documented column `channel`: the channels or, in a sweep of compute
  /// units, the compute units.
  [[nodiscard]] std::optional<std::int64_t> channels_or_cus() const;
  /// Returns whether the configuration has exactly these parameters.
  [[nodiscard]] bool only(std::initializer_list<std::string_view> names) const;

  bool operator==(const Configuration&) const = default;
};

/// Compares by threads, then channels (or compute units), then the other parameters by name, then
/// label. Numbers are compared by value and are before texts; a configuration without the parameter
/// is last.
[[nodiscard]] bool ordered_before(const Configuration& a, const Configuration& b);

/// One rank of one configuration: the key of every part, record and report of a rank.
struct RunKey {
  Configuration configuration;
  std::int64_t rank = 0;
  bool operator==(const RunKey&) const = default;
};

/// Returns "256thread_28ch rank 3" for messages; "rank 3" if the label is "rank" or empty.
[[nodiscard]] std::string to_text(const RunKey& key);

} // namespace rankscope
