#include "analyses/graph/donor_sequences.h"

#include "analyses/timeline/inference_steps.h"
#include "base/sort.h"
#include "core/graph_launch.h"
#include "core/steps.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

constexpr std::size_t kMostKernels = 20000;
constexpr std::size_t kMostDonorSteps = 256; ///< maximum number of steps that are used
/// A sequence with fewer kernels does not identify a model.
constexpr std::size_t kLeastKernels = 4;

struct Span {
  std::string name;
  std::int64_t start_ns, end_ns;
};

std::vector<Span> spans_of(const Trace& trace) {
  std::vector<Span> out;
  for (const AnnotatedStep& s : annotated_steps(trace))
    out.push_back({std::string(trace.name(s.annotation)), s.start_ns, s.end_ns});
  if (out.empty())
    for (const ProfilerStep& s : profiler_steps(trace))
      out.push_back({"ProfilerStep#" + std::to_string(s.number), s.start_ns, s.end_ns});
  if (out.empty())
    out.push_back({"all of it", -kMaxTimeNs, kMaxTimeNs});
  return out;
}

bool launched_by_graph(const LoadedTrace& t, EventId gpu) {
  for (EventId at = t.tree.parent(gpu); at != kNoEvent; at = t.tree.parent(at))
    if (is_runtime(t.trace.events.category[at]) && launches_graph(t.trace.name(at)))
      return true;
  return false;
}

/// Returns eager GPU events with their launches, ordered by start of the launch.
std::vector<std::pair<EventId, EventId>> eager_launches(const LoadedTrace& t) {
  const Events& e = t.trace.events;
  std::vector<std::pair<EventId, EventId>> out;
  for (EventId i = 0; i < e.size(); ++i)
    if (is_gpu(e.category[i]) && t.tree.linked(i) && !launched_by_graph(t, i))
      out.emplace_back(t.tree.parent(i), i);
  sort_stably(out, [&e](const auto& a, const auto& b) {
    return e.ts_ns[a.first] != e.ts_ns[b.first] ? e.ts_ns[a.first] < e.ts_ns[b.first]
                                                : e.ts_ns[a.second] < e.ts_ns[b.second];
  });
  return out;
}

std::string frames_above(const LoadedTrace& t, EventId op) {
  std::string modules;
  std::string nearest;
  for (EventId at = t.tree.parent(op); at != kNoEvent; at = t.tree.parent(at)) {
    if (t.trace.events.category[at] != Category::kPythonFunction)
      continue;
    const std::string name(t.trace.name(at));
    if (name.starts_with("nn.Module: "))
      modules = name.substr(11) + (modules.empty() ? "" : " > ") + modules;
    else if (nearest.empty() && name.find(".py(") != std::string::npos)
      nearest = name;
  }
  return modules.empty() ? nearest : modules;
}

} // namespace

std::uint32_t OperatorList::add(KnownOperator op) {
  const auto [at, fresh] = known_.emplace(std::move(op), static_cast<std::uint32_t>(all_.size()));
  if (fresh) {
    all_.push_back(at->first);
    name_.push_back(
        names_.emplace(at->first.name, static_cast<std::uint32_t>(names_.size())).first->second);
  }
  return at->second;
}

std::uint32_t OperatorList::above(const LoadedTrace& t, EventId gpu) {
  const EventId op = t.tree.cpu_op_above(t.trace, gpu);
  if (op == kNoEvent)
    return kNoRow;
  const OpArgs* args = t.trace.op(op);
  return add({std::string(t.trace.name(op)), frames_above(t, op),
              args == nullptr ? "" : std::string(t.trace.strings.view(args->input_dims))});
}

std::vector<DonorSequence> eager_sequences(const LoadedTrace& t, const std::string& label,
                                           KernelSymbols& symbols, OperatorList& ops) {
  const Events& e = t.trace.events;
  const auto launches = eager_launches(t);
  std::vector<DonorSequence> out;
  std::set<std::vector<std::uint32_t>> seen;
  const auto add = [&](const std::string& name, const std::vector<EventId>& kernels) {
    std::vector<KernelToken> tokens = symbols.tokens(t.trace, kernels);
    std::vector<std::uint32_t> key;
    for (const KernelToken& token : tokens)
      key.insert(key.end(), {token.name, token.shape});
    if (!seen.insert(std::move(key)).second)
      return;
    DonorSequence donor{label + name, std::move(tokens), {}};
    for (const EventId k : kernels)
      donor.ops.push_back(ops.above(t, k));
    if (std::any_of(donor.ops.begin(), donor.ops.end(), [](auto op) { return op != kNoRow; }))
      out.push_back(std::move(donor));
  };
  const std::vector<Span> spans = spans_of(t.trace);
  const std::size_t stride = (spans.size() + kMostDonorSteps - 1) / kMostDonorSteps;
  for (std::size_t s = 0; s < spans.size(); s += stride) {
    const Span& span = spans[s];
    const auto first = std::ranges::partition_point(
        launches, [&](const auto& l) { return e.ts_ns[l.first] < span.start_ns; });
    std::vector<EventId> kernels;
    for (auto at = first;
         at != launches.end() && e.ts_ns[at->first] < span.end_ns && kernels.size() < kMostKernels;
         ++at)
      kernels.push_back(at->second);
    if (kernels.size() < kLeastKernels)
      continue;
    add(span.name, kernels);
    sort_by_start(e, kernels);
    add(span.name, kernels);
  }
  return out;
}

std::vector<DonorSequence> captured_sequences(const LoadedTrace& t, const std::string& label,
                                              KernelSymbols& symbols, OperatorList& ops) {
  if (t.trace.launch_args.empty())
    return {};
  const Events& e = t.trace.events;
  std::vector<EventId> calls;
  for (EventId i = 0; i < e.size(); ++i)
    if (is_runtime(e.category[i]))
      calls.push_back(i);
  sort_by_start(e, calls);
  std::vector<DonorSequence> out;
  bool capturing = false;
  for (const EventId call : calls) {
    const std::string_view name = t.trace.name(call);
    if (name.find("StreamBeginCapture") != std::string_view::npos) {
      capturing = true;
      out.push_back({fmt::format("{}capture {}", label, out.size() + 1), {}, {}});
    } else if (name.find("StreamEndCapture") != std::string_view::npos) {
      capturing = false;
    } else if (const LaunchArgs* args = t.trace.launch_arg(call); capturing && args != nullptr) {
      out.back().kernels.push_back(symbols.token(t.trace, *args));
      out.back().ops.push_back(ops.above(t, call));
    }
  }
  std::erase_if(out, [](const DonorSequence& d) { return d.kernels.size() < kLeastKernels; });
  return out;
}

} // namespace rankscope
