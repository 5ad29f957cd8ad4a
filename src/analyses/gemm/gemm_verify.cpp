// Finds the extremes of GEMM groups in the trace by time alone and measures them. The method
// differs from extract_gemms(): it goes from the kernel up to its operator, and from the operator
// down to its kernels, without the index of launchers.
#include "analyses/gemm/gemm_data.h"
#include "base/interval_set.h"
#include "model/kernels.h"

#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

/// Returns the operator that a GPU event belongs to, or kNoEvent.
EventId operator_above(const LoadedTrace& t, EventId gpu, StrId execute) {
  const Events& e = t.trace.events;
  EventId at = t.tree.linked(gpu) ? t.tree.parent(gpu) : kNoEvent;
  while (at != kNoEvent && (e.category[at] != Category::kCpuOp || e.name[at] == execute))
    at = t.tree.parent(at);
  return at;
}

/// Classifies kernel names as communication or not. Each name is classified on its first use.
class CommunicationNames {
public:
  explicit CommunicationNames(const StringPool& strings)
      : strings_(strings), known_(strings.size(), -1) {}
  bool operator[](StrId name) {
    if (known_[name] < 0)
      known_[name] = is_communication_name(strings_.view(name)) ? 1 : 0;
    return known_[name] == 1;
  }

private:
  const StringPool& strings_;
  std::vector<signed char> known_;
};

/// Returns the time of the GPU work that an operator launched directly, not through an operator or
/// annotation inside it. Communication is left out.
std::int64_t direct_gpu_ns(const LoadedTrace& t, EventId op, StrId execute,
                           CommunicationNames& communication) {
  const Events& e = t.trace.events;
  std::vector<Interval> spans;
  std::vector<EventId> open(1, op);
  while (!open.empty()) {
    const EventId at = open.back();
    open.pop_back();
    for (const EventId child : t.tree.children(at)) {
      const Category c = e.category[child];
      if (c == Category::kPythonFunction || (c == Category::kCpuOp && e.name[child] == execute))
        open.push_back(child);
      else if (c != Category::kCpuOp)
        for (const EventId gpu : t.tree.children(child))
          if (is_gpu(e.category[gpu]) && !communication[e.name[gpu]])
            spans.push_back({e.ts_ns[gpu], t.trace.end_ns(gpu)});
    }
  }
  return IntervalSet(std::move(spans)).length();
}

/// An extreme call of a group, and the place for its measured duration.
struct Stated {
  const GemmGroup* group;
  std::int64_t dur_ns;
  std::optional<std::int64_t>* measured;
};

} // namespace

void measure_extremes(const LoadedTrace& t, RankGemms& gemms) {
  const Events& e = t.trace.events;
  // key: start, GPU and stream
  std::multimap<std::tuple<std::int64_t, std::int16_t, std::int32_t>, Stated> wanted;
  for (GemmGroup& g : gemms.groups) {
    g.shortest_measured_ns.reset();
    g.longest_measured_ns.reset();
    for (const auto& [at, measured] : {std::pair(g.shortest, &g.shortest_measured_ns),
                                       std::pair(g.longest, &g.longest_measured_ns)})
      wanted.emplace(std::tuple(g.instances[at].start_ns, g.device, g.stream),
                     Stated{&g, g.instances[at].dur_ns, measured});
  }
  const StrId execute = t.trace.strings.find("execute");
  CommunicationNames communication(t.trace.strings);
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_gpu(e.category[i]))
      continue;
    const auto [first, last] = wanted.equal_range({e.ts_ns[i], e.device[i], e.stream[i]});
    for (auto it = first; it != last; ++it) {
      const Stated& stated = it->second;
      if (*stated.measured == stated.dur_ns) // another event at the same time already matched
        continue;
      if (stated.group->op == kGemmKernelOnly) {
        if (t.trace.name(i) == stated.group->kernel)
          *stated.measured = e.dur_ns[i];
      } else if (const EventId op = operator_above(t, i, execute);
                 op != kNoEvent && t.trace.name(op) == stated.group->op) {
        *stated.measured = direct_gpu_ns(t, op, execute, communication);
      }
    }
  }
}

} // namespace rankscope
