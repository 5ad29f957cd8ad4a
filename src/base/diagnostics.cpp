#include "base/diagnostics.h"

#include <algorithm>

namespace rankscope {

Diagnostics::Diagnostics(const Diagnostics& other) {
  *this = other;
}

Diagnostics& Diagnostics::operator=(const Diagnostics& other) {
  if (this != &other) {
    const std::scoped_lock lock(mutex_, other.mutex_);
    problems_ = other.problems_;
    index_ = other.index_;
  }
  return *this;
}

void Diagnostics::add(Severity severity, std::string_view name, std::string_view where,
                      std::string_view sentence, std::uint64_t count) {
  count_in(std::string(name),
           {std::string(name), severity, count, std::string(where), std::string(sentence), false});
}

void Diagnostics::add_at(Severity severity, std::string_view name, std::string_view where,
                         std::string_view sentence, std::uint64_t count) {
  count_in(std::string(name) + '\n' + std::string(where),
           {std::string(name), severity, count, std::string(where), std::string(sentence), true});
}

void Diagnostics::count_in(const std::string& key, const Problem& problem) {
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = index_.emplace(key, problems_.size());
  if (fresh)
    problems_.push_back(problem);
  else
    problems_[found->second].count += problem.count;
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const Problem& p : other.problems()) {
    if (p.by_place)
      add_at(p.severity, p.name, p.where, p.sentence, p.count);
    else
      add(p.severity, p.name, p.where, p.sentence, p.count);
  }
}

bool Diagnostics::data_lost() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(problems_.begin(), problems_.end(),
                     [](const Problem& p) { return p.severity == Severity::kDataLoss; });
}

bool Diagnostics::empty() const {
  const std::lock_guard lock(mutex_);
  return problems_.empty();
}

std::vector<Problem> Diagnostics::problems() const {
  const std::lock_guard lock(mutex_);
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return static_cast<int>(a.severity) > static_cast<int>(b.severity);
  });
  return sorted;
}

} // namespace rankscope
