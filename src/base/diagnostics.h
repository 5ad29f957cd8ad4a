// Diagnostics: named counters of lost data and of other problems that do not stop the program.
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
  std::string name; ///< stable key, one of base/counters.def
  Severity severity = Severity::kInfo;
  std::uint64_t count = 0;
  std::string where;      ///< first location: file, byte offset or event
  std::string sentence;   ///< message for the user
  bool by_place = false;  ///< one problem per place, not one for all places
  std::string label = {}; ///< name of the run, if several runs have the same place; not stored in
                          ///< parts
};

/// Returns "loss", "warning" or "note": the words that all outputs use.
[[nodiscard]] const char* severity_name(Severity severity);
/// Returns "where: sentence [3 times]".
[[nodiscard]] std::string problem_text(const Problem& problem);

/// Thread-safe collection of problems. A problem with kDataLoss makes the process exit with 4
/// (partial).
class Diagnostics {
public:
  Diagnostics() = default;
  Diagnostics(const Diagnostics& other);
  Diagnostics& operator=(const Diagnostics& other);

  /// Adds `problem`, which a counter makes from its parameters (base/counters.h). A counter with
  /// kOnce (base/counters.def) is one problem, with the first place and sentence; a counter with
  /// kEach is one problem per place, label and sentence.
  void add(const Problem& problem, std::string_view where, std::uint64_t count = 1,
           std::string_view label = {});
  /// Adds the problem with its own count and place.
  void merge(const Problem& problem);
  void merge(const Diagnostics& other);
  [[nodiscard]] bool data_lost() const;
  [[nodiscard]] bool empty() const;
  /// Returns the problems by severity (worst first), then in order of first occurrence.
  [[nodiscard]] std::vector<Problem> problems() const;

private:
  mutable std::mutex mutex_;
  std::vector<Problem> problems_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

} // namespace rankscope
