#include "analyses/inference/capture_roots.h"

#include "base/ascii.h"
#include "base/sort.h"

#include <algorithm>
#include <map>

namespace rankscope {
namespace {

CaptureRoot between(const Trace& trace, EventId begin, EventId end) {
  CaptureRoot out;
  out.start_ns = trace.end_ns(begin);
  out.end_ns = trace.events.ts_ns[end];
  out.track = trace.events.track[begin];
  return out;
}

std::vector<CaptureRoot> regions(const Trace& trace, bool compat) {
  const Events& e = trace.events;
  std::vector<EventId> begins;
  std::vector<EventId> ends;
  for (EventId i = 0; i < e.size(); ++i) {
    if (e.category[i] != Category::kRuntime && (compat || e.category[i] != Category::kDriver))
      continue;
    if (contains(trace.name(i), "StreamBeginCapture"))
      begins.push_back(i);
    else if (contains(trace.name(i), "StreamEndCapture"))
      ends.push_back(i);
  }
  std::vector<CaptureRoot> out;
  if (compat) {
    for (std::size_t i = 0; i < std::min(begins.size(), ends.size()); ++i)
      out.push_back(between(trace, begins[i], ends[i]));
    return out;
  }
  std::vector<std::pair<EventId, bool>> calls; // (call, whether the call ends a capture)
  for (const EventId i : begins)
    calls.emplace_back(i, false);
  for (const EventId i : ends)
    calls.emplace_back(i, true);
  std::sort(calls.begin(), calls.end(), [&e](const auto& a, const auto& b) {
    return e.ts_ns[a.first] != e.ts_ns[b.first] ? e.ts_ns[a.first] < e.ts_ns[b.first]
                                                : a.first < b.first;
  });
  std::map<std::uint32_t, EventId> open; // by thread
  for (const auto& [call, ends_one] : calls) {
    if (!ends_one) {
      open[e.track[call]] = call;
    } else if (const auto at = open.find(e.track[call]); at != open.end()) {
      if (trace.end_ns(at->second) <= e.ts_ns[call])
        out.push_back(between(trace, at->second, call));
      open.erase(at);
    }
  }
  sort_stably(out, {}, &CaptureRoot::start_ns);
  return out;
}

/// Finds the regions that contain an event. This is fast because few regions overlap in time.
class RegionIndex {
public:
  explicit RegionIndex(const std::vector<CaptureRoot>& roots) : roots_(roots) {
    for (std::uint32_t i = 0; i < roots.size(); ++i)
      by_start_.push_back(i);
    sort_stably(by_start_, [&roots](std::uint32_t a, std::uint32_t b) {
      return roots[a].start_ns < roots[b].start_ns;
    });
    std::int64_t last = INT64_MIN;
    for (const std::uint32_t i : by_start_)
      latest_end_.push_back(last = std::max(last, roots[i].end_ns));
  }

  template <class Visit>
  void around(std::int64_t start_ns, std::int64_t end_ns, Visit&& visit) const {
    const auto after = std::ranges::partition_point(
        by_start_, [&](std::uint32_t i) { return roots_[i].start_ns <= start_ns; });
    for (auto i = static_cast<std::size_t>(after - by_start_.begin());
         i-- > 0 && latest_end_[i] >= end_ns;)
      if (roots_[by_start_[i]].end_ns >= end_ns)
        visit(by_start_[i]);
  }

private:
  const std::vector<CaptureRoot>& roots_;
  std::vector<std::uint32_t> by_start_;
  std::vector<std::int64_t> latest_end_; ///< latest end of the regions up to this position
};

void find_children(const LoadedTrace& t, bool compat, std::vector<CaptureRoot>& roots) {
  const Events& e = t.trace.events;
  const RegionIndex index(roots);
  const auto inside = [&](EventId i, const CaptureRoot& r) {
    return e.ts_ns[i] >= r.start_ns && t.trace.end_ns(i) <= r.end_ns &&
           (compat || e.track[i] == r.track);
  };
  for (EventId i = 0; i < e.size(); ++i) {
    const Category c = e.category[i];
    if (c != Category::kCpuOp && c != Category::kPythonFunction && (compat || !is_runtime(c)))
      continue;
    const EventId parent = t.tree.parent(i);
    if (compat && parent == kNoEvent)
      continue;
    index.around(e.ts_ns[i], t.trace.end_ns(i), [&](std::uint32_t at) {
      CaptureRoot& root = roots[at];
      if (inside(i, root) && (parent == kNoEvent || !inside(parent, root)))
        root.children.push_back(i);
    });
  }
}

/// Fills `below` and `dispatches`.
void walk_down(const LoadedTrace& t, CaptureRoot& root) {
  const Events& e = t.trace.events;
  root.below = root.children; // breadth first
  for (std::size_t i = 0; i < root.below.size(); ++i)
    for (const EventId child : t.tree.children(root.below[i]))
      if (!is_gpu(e.category[child]))
        root.below.push_back(child);
  sort_by_start(e, root.below);
  for (const EventId i : root.below) {
    if (!is_runtime(e.category[i]))
      continue;
    const std::string name = lowercase(t.trace.name(i));
    if (contains(name, "launch") || contains(name, "memcpy") || contains(name, "memset"))
      root.dispatches.push_back(i);
  }
}

} // namespace

std::vector<CaptureRoot> capture_roots(const LoadedTrace& capture, bool compat) {
  std::vector<CaptureRoot> out = regions(capture.trace, compat);
  find_children(capture, compat, out);
  for (CaptureRoot& root : out)
    walk_down(capture, root);
  return out;
}

} // namespace rankscope
