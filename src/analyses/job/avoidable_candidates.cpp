// GPU work that need not run: a forward pass that runs again, layout changes, chains of pointwise
// kernels, gradients that are filled with zeros, and copies on the GPU.
#include "analyses/job/cause_candidates.h"
#include "analyses/job/training_passes.h"
#include "base/ascii.h"
#include "model/ops/op_model.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace rankscope {
namespace {

constexpr std::size_t kShortestChain = 3;
constexpr std::size_t kFewestAgain =
    2; ///< least number of forward-only operators in a stretch that runs again

/// Returns whether each element of the result depends on one element of each input. Accepts
/// "aten::mul" and "aten::mul_".
bool is_pointwise(std::string_view op) {
  constexpr std::array<std::string_view, 36> kNames = {
      "abs",         "add",           "addcdiv",       "addcmul",
      "clamp",       "clamp_max",     "clamp_min",     "copy",
      "cos",         "div",           "erf",           "exp",
      "gelu",        "gelu_backward", "lerp",          "log",
      "masked_fill", "maximum",       "minimum",       "mul",
      "neg",         "pow",           "reciprocal",    "relu",
      "rsqrt",       "rsub",          "sigmoid",       "sigmoid_backward",
      "silu",        "silu_backward", "sin",           "sqrt",
      "sub",         "tanh",          "tanh_backward", "threshold_backward"};
  constexpr std::string_view kPrefix = "aten::";
  if (!op.starts_with(kPrefix))
    return false;
  op.remove_prefix(kPrefix.size());
  if (op.ends_with('_'))
    op.remove_suffix(1);
  return std::ranges::binary_search(kNames, op);
}

bool changes_layout(std::string_view kernel) {
  return contains(kernel, "nchwToNhwc") || contains(kernel, "nhwcToNchw") ||
         contains(kernel, "batched_transpose");
}

/// The amount of data that a pointwise kernel reads and writes.
struct Pointwise {
  double elements = 0; ///< 0: not pointwise, or unknown
  double bytes = 0;    ///< bytes of all tensors with this number of elements, and of the result
  double read = 0, written = 0; ///< bytes of one input and of the result
};

class AvoidableCandidates {
public:
  AvoidableCandidates(const CauseInput& in, std::uint32_t rank, std::span<const NodeId> nodes)
      : run_(in.run), rank_(in.run.ranks[rank]), nodes_(nodes) {}

  std::vector<CauseCandidate> run() {
    claimed_.assign(nodes_.empty() ? 0 : nodes_.back() + 1 - nodes_.front(), false);
    add_recomputation();
    add_layouts();
    add_zeroed_gradients();
    add_chains();
    add_copies();
    return std::move(out_);
  }

private:
  [[nodiscard]] std::string_view text(StrId id) const { return rank_.text(id); }
  [[nodiscard]] bool is_claimed(NodeId n) const { return claimed_[n - nodes_.front()]; }
  /// Adds GPU work to a candidate.
  void claim(NodeId n, std::int64_t without_ns, CauseCandidate& c) {
    c.add(n, without_ns);
    c.counted.push_back(n);
    claimed_[n - nodes_.front()] = true;
  }
  /// Adds the call that launches only this GPU work, and the time in its operator before the call.
  /// If the call before it launches `previous`, which is part of the cause too, adds all time since
  /// then.
  void claim_launch_of(NodeId n, CauseCandidate& c, NodeId previous = kNoNode) {
    find_launches();
    const std::vector<NodeId> before =
        previous == kNoNode ? std::vector<NodeId>{} : launch_of(previous);
    for (const NodeId host : launch_of(n)) {
      if (run_.graph.dur_ns(host) >= kStallNs)
        continue;
      const bool next =
          !before.empty() && run_.graph.waited(host, WaitKind::kHost) == before.back();
      if (run_.activity(host).kind == ActivityKind::kHost && !next)
        c.add_operator(run_, host);
      else
        c.add(host, 0);
    }
  }

  void find_launches() {
    if (!launched_.empty())
      return;
    for (const NodeId n : nodes_) {
      const ActivityKind kind = run_.activity(n).kind;
      for (const Wait& wait : run_.graph.waits(n))
        if (on_gpu(kind) && wait.kind() == WaitKind::kLaunch)
          launched_[wait.from].push_back(n);
        else if (kind == ActivityKind::kCall && wait.kind() == WaitKind::kHost)
          call_behind_[wait.from] = n;
    }
  }
  /// Returns the call that launches only this kernel, and the host activity before it.
  [[nodiscard]] std::vector<NodeId> launch_of(NodeId n) const {
    for (const Wait& wait : run_.graph.waits(n)) {
      if (wait.kind() != WaitKind::kLaunch || launched_.at(wait.from).size() > 1)
        continue;
      const auto call = call_behind_.find(wait.from);
      return call == call_behind_.end() ? std::vector{wait.from}
                                        : std::vector{wait.from, call->second};
    }
    return {};
  }

  // -- a forward pass that runs again
  /// Consecutive launches of the backward pass on one thread whose operators and shapes also occur
  /// in the forward pass.
  struct Stretch {
    std::vector<NodeId> gpu, host;
    std::vector<NodeId> rest; ///< host activities since the last launch
    std::size_t forward_only = 0;
  };

  void add_recomputation() {
    std::set<std::pair<StrId, StrId>> forward; // operator, shapes
    for (const Activity& a : rank_.activities)
      if (on_gpu(a.kind) && a.op != kEmptyStr && a.shapes != kEmptyStr &&
          !in_backward_pass(text(a.context)))
        forward.emplace(a.op, a.shapes);
    std::vector<bool> again, forward_only; // by activity
    for (const Activity& a : rank_.activities) {
      again.push_back(on_gpu(a.kind) && in_backward_pass(text(a.context)) &&
                      forward.contains({a.op, a.shapes}));
      forward_only.push_back(again.back() && only_in_forward_pass(text(a.op)));
    }
    if (std::ranges::find(forward_only, true) == forward_only.end())
      return;
    find_launches();
    std::map<std::uint32_t, std::vector<NodeId>> threads;
    for (const NodeId n : nodes_)
      if (!on_gpu(run_.activity(n).kind))
        threads[run_.node(n).line].push_back(n);
    CauseCandidate c;
    c.cause.rule = CauseRule::kRecomputation;
    c.removes_gaps = true;
    c.cause.kind = GainKind::kAtMost;
    for (const auto& [line, hosts] : threads) {
      Stretch stretch;
      for (const NodeId host : hosts) {
        stretch.rest.push_back(host);
        const auto works = launched_.find(host);
        if (works == launched_.end())
          continue;
        if (!std::ranges::all_of(works->second,
                                 [&](NodeId n) { return again[run_.node(n).activity]; })) {
          end(stretch, c);
          continue;
        }
        if (stretch.gpu.empty())
          stretch.rest = {host};
        stretch.host.insert(stretch.host.end(), stretch.rest.begin(), stretch.rest.end());
        stretch.rest.clear();
        for (const NodeId n : works->second) {
          stretch.gpu.push_back(n);
          stretch.forward_only += forward_only[run_.node(n).activity] ? 1 : 0;
        }
      }
      end(stretch, c);
    }
    if (!c.nodes.empty())
      out_.push_back(std::move(c));
  }

  void end(Stretch& stretch, CauseCandidate& c) {
    if (stretch.forward_only >= kFewestAgain) {
      for (const NodeId n : stretch.gpu)
        claim(n, 0, c);
      if (!stretch.rest.empty() && run_.activity(stretch.rest.front()).kind == ActivityKind::kCall)
        stretch.host.push_back(stretch.rest.front()); // call of the last launch
      for (const NodeId n : stretch.host)
        c.add(n, 0);
    }
    stretch = {};
  }

  // -- layouts
  void add_layouts() {
    std::vector<bool> changes; // by activity
    for (const Activity& a : rank_.activities)
      changes.push_back(a.kind == ActivityKind::kKernel && changes_layout(text(a.name)));
    CauseCandidate c;
    c.cause.rule = CauseRule::kLayoutConversion;
    c.removes_gaps = true;
    for (const NodeId n : nodes_)
      if (changes[run_.node(n).activity] && !is_claimed(n))
        claim(n, 0, c);
    if (!c.nodes.empty())
      out_.push_back(std::move(c));
  }

  // -- zeros
  void add_zeroed_gradients() {
    CauseCandidate c;
    c.cause.rule = CauseRule::kZeroGrad;
    c.removes_gaps = true;
    for (const NodeId n : nodes_)
      if (const Activity& a = run_.activity(n);
          (a.kind == ActivityKind::kKernel || a.kind == ActivityKind::kSet) &&
          text(a.context).starts_with("Optimizer.zero_grad")) {
        claim(n, 0, c);
        claim_launch_of(n, c);
      }
    if (!c.nodes.empty())
      out_.push_back(std::move(c));
  }

  // -- copies
  /// Returns whether the activity only copies tensors on the GPU, without a change of their type.
  /// Copies of the backward pass are left out, because operators of the forward pass need them.
  [[nodiscard]] bool copies_on_gpu(const Activity& a) const {
    const std::string_view op = text(a.op);
    if ((op != "aten::cat" && op != "aten::copy_") || text(a.context).starts_with("Optimizer.") ||
        in_backward_pass(text(a.context)))
      return false;
    if (a.kind == ActivityKind::kCopy)
      return copies_within_gpu(text(a.name));
    if (a.kind != ActivityKind::kKernel || op == "aten::cat")
      return a.kind == ActivityKind::kKernel;
    const ParsedArgs args(text(a.shapes), text(a.types), "", "");
    return !args.absurd() && args.count() >= 2 && !args.type(0).empty() &&
           args.type(0) == args.type(1);
  }

  /// Adds such copies by operator. The bound removes them.
  void add_copies() {
    std::vector<bool> copies; // by activity
    for (const Activity& a : rank_.activities)
      copies.push_back(copies_on_gpu(a));
    std::map<StrId, CauseCandidate> by_operator;
    for (const NodeId n : nodes_)
      if (copies[run_.node(n).activity] && !is_claimed(n)) {
        CauseCandidate& c = by_operator[run_.activity(n).op];
        claim(n, 0, c);
        claim_launch_of(n, c);
      }
    for (auto& [op, c] : by_operator) {
      c.cause.rule = CauseRule::kDeviceCopy;
      c.removes_gaps = true;
      c.cause.kind = GainKind::kAtMost;
      c.cause.what = text(op);
      out_.push_back(std::move(c));
    }
  }

  // -- chains of pointwise kernels
  [[nodiscard]] Pointwise pointwise_of(const Activity& a) const {
    Pointwise out;
    const std::string_view op = text(a.op);
    if (a.kind != ActivityKind::kKernel || !is_pointwise(op) ||
        text(a.context).starts_with("Optimizer."))
      return out;
    const ParsedArgs args(text(a.shapes), text(a.types), "", "");
    if (args.absurd())
      return out;
    for (std::size_t i = 0; i < args.count(); ++i)
      out.elements = std::max(out.elements, args.dims(i).empty() ? 0 : elements(args.dims(i)));
    // copies from the second argument to the first
    const bool copies = op.starts_with("aten::copy");
    for (std::size_t i = 0; i < args.count(); ++i) {
      if (args.dims(i).empty() || elements(args.dims(i)) != out.elements)
        continue;
      const double bytes = out.elements * type_bytes(args.type(i));
      if (out.written == 0)
        out.written = bytes;
      if (i == 0 && copies)
        continue;
      out.read = bytes;
      out.bytes += bytes;
    }
    out.bytes += out.written;
    if (!(out.read > 0 && out.bytes > 0)) // the type is unknown
      out.elements = 0;
    return out;
  }

  /// Consecutive kernels on a stream with the same number of elements.
  struct Chain {
    std::vector<NodeId> nodes;
    double elements = 0, bytes = 0, read = 0, written = 0;
  };

  void add_chains() {
    std::vector<std::optional<Pointwise>> known(rank_.activities.size());
    std::map<std::uint32_t, Chain> chains; // by stream
    CauseCandidate c;
    c.cause.rule = CauseRule::kPointwiseChain;
    c.exact = true; // the first kernel may become longer
    c.removes_gaps = true;
    c.cause.kind = GainKind::kAtMost;
    c.cause.confidence = Confidence::kLikely;
    for (const NodeId n : nodes_) {
      const Activity& a = run_.activity(n);
      if (!on_gpu(a.kind))
        continue;
      std::optional<Pointwise>& kernel = known[run_.node(n).activity];
      if (!kernel)
        kernel = pointwise_of(a);
      Chain& chain = chains[run_.node(n).line];
      if (kernel->elements != chain.elements || is_claimed(n))
        end(chain, c);
      if (kernel->elements == 0 || is_claimed(n))
        continue;
      if (chain.nodes.empty())
        chain = {{}, kernel->elements, 0, kernel->read, 0};
      chain.nodes.push_back(n);
      chain.bytes += kernel->bytes;
      chain.written = kernel->written;
    }
    for (auto& [line, chain] : chains)
      end(chain, c);
    if (!c.nodes.empty())
      out_.push_back(std::move(c));
  }

  void end(Chain& chain, CauseCandidate& c) {
    if (chain.nodes.size() >= kShortestChain) {
      const double part = std::min(1.0, (chain.read + chain.written) / chain.bytes);
      double all_ns = 0;
      for (const NodeId n : chain.nodes)
        all_ns += static_cast<double>(run_.graph.dur_ns(n));
      NodeId previous = kNoNode;
      for (const NodeId n : chain.nodes) { // the first kernel becomes the fused one
        claim(n, previous == kNoNode ? static_cast<std::int64_t>(all_ns * part) : 0, c);
        if (previous != kNoNode) // one launch remains
          claim_launch_of(n, c, previous);
        previous = n;
      }
      if (chain.nodes.size() > longest_) {
        longest_ = chain.nodes.size();
        c.cause.what = names_of(chain);
      }
    }
    chain = {};
  }
  /// Returns "aten::mul, aten::add, aten::tanh, ..."
  [[nodiscard]] std::string names_of(const Chain& chain) const {
    constexpr std::size_t kNamed = 3;
    std::string out;
    for (std::size_t k = 0; k < std::min(kNamed, chain.nodes.size()); ++k)
      out += (k > 0 ? ", " : "") + std::string(text(run_.activity(chain.nodes[k]).op));
    return chain.nodes.size() > kNamed ? out + ", ..." : out;
  }

  const JobRun& run_;
  const RankGraph& rank_;
  std::span<const NodeId> nodes_;
  std::map<NodeId, std::vector<NodeId>> launched_; ///< GPU work, by the preceding host activity
  std::map<NodeId, NodeId> call_behind_;           ///< calls, by the preceding host activity
  std::vector<bool> claimed_; ///< by node, from the first node on: belongs to a candidate
  std::size_t longest_ = 0;   ///< length of the chain that named the cause
  std::vector<CauseCandidate> out_;
};

} // namespace

bool copies_within_gpu(std::string_view name) {
  return contains(name, "DtoD") || contains(name, "DeviceToDevice") ||
         contains(name, "DEVICE_TO_DEVICE");
}

bool copies_host_memory(std::string_view name) {
  return !copies_within_gpu(name) && !contains(name, "PtoP") && !contains(name, "PeerToPeer");
}

bool copies_from_host(std::string_view name) {
  return contains(name, "HtoD") || contains(name, "HostToDevice") ||
         contains(name, "HOST_TO_DEVICE");
}

std::vector<CauseCandidate> avoidable_candidates(const CauseInput& in, std::uint32_t rank,
                                                 std::span<const NodeId> nodes) {
  return AvoidableCandidates(in, rank, nodes).run();
}

} // namespace rankscope
