#include "base/diagnostics.h"

#include <algorithm>

namespace rankscope {

const char* severity_name(Severity severity) {
  switch (severity) {
  case Severity::kDataLoss:
    return "loss";
  case Severity::kWarning:
    return "warning";
  case Severity::kInfo:
    break;
  }
  return "note";
}

std::string problem_text(const Problem& p) {
  return p.where + (p.where.empty() ? "" : ": ") + p.sentence +
         (p.count > 1 ? " [" + std::to_string(p.count) + " times]" : "");
}

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

void Diagnostics::add(const Problem& problem, std::string_view where, std::uint64_t count,
                      std::string_view label) {
  Problem entry = problem;
  entry.where = where;
  entry.count = count;
  entry.label = label;
  merge(entry);
}

void Diagnostics::merge(const Problem& problem) {
  std::string key = problem.name;
  if (problem.by_place)
    for (const std::string* part : {&problem.where, &problem.label, &problem.sentence})
      key += '\n' + *part;
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = index_.emplace(key, problems_.size());
  if (fresh)
    problems_.push_back(problem);
  else
    problems_[found->second].count += problem.count;
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const Problem& problem : other.problems())
    merge(problem);
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
