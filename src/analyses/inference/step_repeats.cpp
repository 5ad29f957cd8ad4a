#include "analyses/inference/step_repeats.h"

#include <algorithm>
#include <deque>
#include <map>

namespace rankscope {
namespace {

constexpr std::int64_t kMostWork = 300'000'000; ///< number of comparisons; takes about a second
constexpr std::size_t kLeastTimes = 3;

/// Returns for each position p the length of the common prefix of names[p...] and names.
std::vector<std::size_t> common_prefixes(std::span<const StrId> names) {
  const std::size_t n = names.size();
  std::vector<std::size_t> out(n);
  std::size_t left = 0;
  std::size_t right = 0;
  for (std::size_t i = 1; i < n; ++i) {
    std::size_t same = i < right ? std::min(right - i, out[i - left]) : 0;
    while (i + same < n && names[same] == names[i + same])
      ++same;
    out[i] = same;
    if (i + same > right) {
      left = i;
      right = i + same;
    }
  }
  return out;
}

bool on_the_cpu(Category c) {
  return c == Category::kCpuOp || c == Category::kPythonFunction || is_runtime(c);
}

AnnotatedStep step_of(const Trace& trace, EventId first, EventId last) {
  AnnotatedStep out;
  out.annotation = first;
  out.start_ns = trace.events.ts_ns[first];
  out.end_ns = std::max(trace.end_ns(last), out.start_ns);
  out.counts.kind = StepKind::kRepeated;
  out.counts.generation_requests = 1;
  out.counts.batch_size = 1;
  return out;
}

class Search {
public:
  Search(const LoadedTrace& t, bool compat) : t_(t), compat_(compat) {}

  std::vector<AnnotatedStep> run() {
    for (const std::vector<EventId>& roots : outermost())
      if (find_steps(roots))
        return std::move(steps_);
    while (!queue_.empty()) {
      const EventId at = queue_.front();
      queue_.pop_front();
      std::vector<EventId> children;
      for (const EventId child : t_.tree.children(at))
        if (!t_.trace.gpu(child))
          children.push_back(child);
      if (find_steps(children))
        break;
    }
    return std::move(steps_);
  }

private:
  [[nodiscard]] bool has_gpu_work(EventId e) const { return !t_.tree.gpu_events(e).empty(); }

  /// Returns the outermost calls of each thread with GPU work, ordered by start.
  [[nodiscard]] std::vector<std::vector<EventId>> outermost() const {
    const Events& e = t_.trace.events;
    std::map<std::uint32_t, std::vector<EventId>> by_track;
    for (EventId i = 0; i < e.size(); ++i)
      if (on_the_cpu(e.category[i]) && t_.tree.parent(i) == kNoEvent)
        by_track[e.track[i]].push_back(i);
    std::vector<std::vector<EventId>> out;
    for (auto& [track, roots] : by_track) {
      if (std::none_of(roots.begin(), roots.end(), [&](EventId i) { return has_gpu_work(i); }))
        continue;
      sort_by_start(e, roots);
      out.push_back(std::move(roots));
    }
    return out;
  }

  /// Returns whether these siblings are the steps.
  bool find_steps(const std::vector<EventId>& siblings) {
    std::vector<StrId> names;
    bool works = false;
    for (const EventId i : siblings) {
      names.push_back(t_.trace.events.name[i]);
      works = works || has_gpu_work(i);
    }
    if (!works)
      return false;
    if (const auto repeat = find_repeat(names, work_)) {
      if (compat_)
        add_by_names(siblings, names, *repeat);
      else
        add_by_blocks(siblings, names, *repeat);
      return true;
    }
    for (const EventId i : siblings)
      if (has_gpu_work(i))
        queue_.push_back(i);
    return false;
  }

  void add_by_blocks(const std::vector<EventId>& siblings, const std::vector<StrId>& names,
                     const Repeat& repeat) {
    const auto at = [&names](std::size_t i) {
      return names.begin() + static_cast<std::ptrdiff_t>(i);
    };
    for (std::size_t i = repeat.start; i + repeat.period <= names.size();) {
      if (!std::equal(at(i), at(i + repeat.period), at(repeat.start))) {
        ++i;
        continue;
      }
      steps_.push_back(step_of(t_.trace, siblings[i], siblings[i + repeat.period - 1]));
      i += repeat.period;
    }
  }

  void add_by_names(const std::vector<EventId>& siblings, const std::vector<StrId>& names,
                    const Repeat& repeat) {
    std::vector<EventId> first;
    std::vector<EventId> last;
    for (std::size_t i = repeat.start; i < names.size(); ++i) {
      if (names[i] == names[repeat.start])
        first.push_back(siblings[i]);
      if (names[i] == names[repeat.start + repeat.period - 1])
        last.push_back(siblings[i]);
    }
    for (std::size_t k = 0; k < std::min(first.size(), last.size()); ++k)
      steps_.push_back(step_of(t_.trace, first[k], last[k]));
  }

  const LoadedTrace& t_;
  bool compat_;
  std::deque<EventId> queue_;
  std::int64_t work_ = kMostWork;
  std::vector<AnnotatedStep> steps_;
};

} // namespace

std::optional<Repeat> find_repeat(std::span<const StrId> names, std::int64_t& work) {
  for (std::size_t start = 0; start + kLeastTimes <= names.size() && work > 0; ++start) {
    const std::span<const StrId> rest = names.subspan(start);
    work -= static_cast<std::int64_t>(rest.size());
    const std::vector<std::size_t> same = common_prefixes(rest);
    for (std::size_t period = 1; period * kLeastTimes <= rest.size(); ++period) {
      const std::size_t times = 1 + same[period] / period;
      if (times >= kLeastTimes && times * period * 2 > rest.size())
        return Repeat{start, period, times};
    }
  }
  return std::nullopt;
}

std::vector<AnnotatedStep> repeated_steps(const LoadedTrace& trace, bool compat) {
  return Search(trace, compat).run();
}

std::vector<AnnotatedStep> steps_to_choose(const LoadedTrace& trace, bool compat) {
  std::vector<AnnotatedStep> out = annotated_steps(trace.trace);
  if (compat) // the reference takes the phase from the values
    for (AnnotatedStep& s : out)
      s.counts.phase.reset();
  return out.empty() ? repeated_steps(trace, compat) : out;
}

} // namespace rankscope
