// Times at which most ranks of a running job reached each window. They show that a rank makes no
// progress while the others continue.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace rankscope {

/// The newest windows with these times, ascending.
class ReachedWindows {
public:
  static constexpr std::size_t kMost = 64;

  /// Notes that most ranks reached this window. Ignores a window that is not newer than the
  /// previous ones.
  void note(std::int64_t number, std::int64_t now_ns) {
    if (!numbers_.empty() && number <= numbers_.back())
      return;
    numbers_.push_back(number);
    at_ns_.push_back(now_ns);
    if (numbers_.size() > kMost) {
      numbers_.erase(numbers_.begin());
      at_ns_.erase(at_ns_.begin());
    }
  }

  /// Returns the time since most ranks passed `newest`, a rank's newest window; nullopt if most
  /// ranks have not passed it.
  [[nodiscard]] std::optional<std::int64_t> behind_ns(std::int64_t newest,
                                                      std::int64_t now_ns) const {
    const auto after = std::upper_bound(numbers_.begin(), numbers_.end(), newest);
    if (after == numbers_.end())
      return std::nullopt;
    return now_ns - at_ns_[static_cast<std::size_t>(after - numbers_.begin())];
  }

  /// Returns whether data read from a file is consistent.
  [[nodiscard]] bool sound() const {
    return numbers_.size() == at_ns_.size() && std::is_sorted(numbers_.begin(), numbers_.end()) &&
           std::all_of(at_ns_.begin(), at_ns_.end(), [](std::int64_t at) { return at >= 0; });
  }

private:
  template <class Archive, class Row>
  requires std::same_as<std::remove_const_t<Row>, ReachedWindows>
  friend void part_fields(Archive& archive, Row& r) { archive(r.numbers_, r.at_ns_); }

  /// The windows, and the times at which they were noted (unix ns).
  std::vector<std::int64_t> numbers_, at_ns_;
};

} // namespace rankscope
