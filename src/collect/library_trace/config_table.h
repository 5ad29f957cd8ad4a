// The configurations that were seen, each once with its counts.
#pragma once

#include "base/result.h"
#include "collect/library_trace/config_count.h"
#include "collect/library_trace/config_spill.h"
#include "collect/library_trace/library_call.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// Hash for text keys; it also allows lookup by std::string_view.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
using TextIndex = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

/// Maps texts to numbers, so that sets of texts are small.
class TextIds {
public:
  std::uint32_t id(std::string_view text);

private:
  TextIndex ids_;
};

/// Counts configurations, at most `max_configs` of a kind in memory. When there are more, all
/// entries move to a temporary file in `folder` ("" = the folder for temporary files). finish()
/// adds up the file's entries.
class ConfigTable {
public:
  explicit ConfigTable(std::size_t max_configs, std::string folder = {})
      : max_configs_(max_configs), folder_(std::move(folder)) {}

  /// Returns the index of a call's entry and adds the entry if it is new. The index is valid until
  /// generation() changes.
  std::uint32_t entry(const LibraryCall& call);
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  void count(std::uint32_t entry, std::uint64_t calls, std::optional<double> t_s,
             std::optional<std::uint32_t> process, std::optional<std::uint32_t> rank);
  void add_kernel_us(std::uint32_t entry, double us);

  /// Ends the input. Errors: kOutput: entries that did not fit in memory could not be stored.
  Result<void> finish();
  /// Calls `each` once for each configuration, in the order of the tables. Call after finish().
  /// Errors: kOutput, and those of `each`.
  Result<void> for_each(const std::function<Result<void>(const ConfigCount&)>& each);
  /// Returns the number of different configurations of a kind. Call after finish().
  [[nodiscard]] std::size_t configs(LogKind kind) const {
    return configs_[static_cast<std::size_t>(kind)];
  }

private:
  void spill();
  Result<void> sum_up();

  std::size_t max_configs_;
  std::string folder_;
  std::vector<ConfigCount> entries_;
  std::array<TextIndex, kLogKinds> by_config_; ///< one index per kind
  std::array<std::size_t, kLogKinds> configs_ = {};
  std::uint64_t generation_ = 0;
  ConfigSpill spilled_; ///< runs in text order; after finish(), in row order
  std::optional<Error> error_;
};

/// Reads the process and rank from the beginning of a line: "[rank3]: ", "[1,3]<stderr>:", "3: ",
/// "(EngineCore pid=594) ", "HOST 594_594 ". A missing value is empty. Colour codes are skipped.
struct LinePrefix {
  std::string_view process, rank;
};
[[nodiscard]] LinePrefix parse_prefix(std::string_view before);

} // namespace rankscope
