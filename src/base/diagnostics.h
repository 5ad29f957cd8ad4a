// Diagnostics: named counters for what was lost or odd while the work went on.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

enum class Severity { kInfo, kWarning, kDataLoss };

struct Problem {
  std::string name; ///< stable key, e.g. "event_missing_dur"
  Severity severity = Severity::kInfo;
  std::uint64_t count = 0;
  std::string where;     ///< first location: file, byte offset or event
  std::string sentence;  ///< for the user: what it means
  bool by_place = false; ///< one of several problems of this name, each at a place of its own
};

/// Thread-safe. kDataLoss makes the process exit with 4 (partial).
class Diagnostics {
public:
  Diagnostics() = default;
  Diagnostics(const Diagnostics& other);
  Diagnostics& operator=(const Diagnostics& other);

  void add(Severity severity, std::string_view name, std::string_view where,
           std::string_view sentence, std::uint64_t count = 1);
  /// As add(), with a line for each `where`: what is lost rank by rank or file by file has one name
  /// and is still named one by one.
  void add_at(Severity severity, std::string_view name, std::string_view where,
              std::string_view sentence, std::uint64_t count = 1);
  void merge(const Diagnostics& other);
  [[nodiscard]] bool data_lost() const;
  [[nodiscard]] bool empty() const;
  /// Sorted by severity (worst first), then in order of first occurrence.
  [[nodiscard]] std::vector<Problem> problems() const;

private:
  void count_in(const std::string& key, const Problem& problem);

  mutable std::mutex mutex_;
  std::vector<Problem> problems_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

} // namespace rankscope
