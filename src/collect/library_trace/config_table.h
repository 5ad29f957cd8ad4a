// The configurations that were seen, each once, with what was counted of it.
#pragma once

#include "collect/library_trace/library_call.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

struct ConfigCount {
  LibraryCall call;
  std::uint64_t calls = 0;
  std::optional<double> first_s, last_s;
  std::vector<std::uint32_t> processes, ranks; ///< ids of texts, ascending
};

/// Hash of texts that are looked up by views.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};
using TextIndex = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

/// Texts as numbers, so that sets of them are small.
class TextIds {
public:
  std::uint32_t id(std::string_view text);

private:
  TextIndex ids_;
};

/// At most `max_configs` of a kind: further ones are counted in one entry of their kind.
class ConfigTable {
public:
  explicit ConfigTable(std::size_t max_configs) : max_configs_(max_configs) {}

  /// The entry of a call, made when it is new.
  std::uint32_t entry(const LibraryCall& call);
  void count(std::uint32_t entry, std::uint64_t calls, std::optional<double> t_s,
             std::optional<std::uint32_t> process, std::optional<std::uint32_t> rank);
  [[nodiscard]] const std::vector<ConfigCount>& entries() const { return entries_; }
  [[nodiscard]] std::size_t configs(LogKind kind) const {
    return configs_[static_cast<std::size_t>(kind)];
  }
  /// Whether some calls of this kind had to go into the one entry.
  [[nodiscard]] bool overflowed(LogKind kind) const {
    return overflow_[static_cast<std::size_t>(kind)].has_value();
  }

private:
  std::size_t max_configs_;
  std::vector<ConfigCount> entries_;
  std::array<TextIndex, kLogKinds> by_config_; ///< of each kind
  std::array<std::size_t, kLogKinds> configs_ = {};
  std::array<std::optional<std::uint32_t>, kLogKinds> overflow_ = {};
};

/// The process and rank that a line's beginning tells: "[rank3]: ", "[1,3]<stderr>:", "3: ",
/// "(EngineCore pid=594) ", "HOST 594_594 ". Empty where it does not. Colours are skipped.
struct LinePrefix {
  std::string_view process, rank;
};
[[nodiscard]] LinePrefix parse_prefix(std::string_view before);

} // namespace rankscope
