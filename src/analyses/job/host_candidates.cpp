// Causes on the host: the activities of a launching thread while the GPU had no work.
#include "analyses/job/cause_candidates.h"
#include "analyses/job/host_code.h"
#include "analyses/job/training_passes.h"
#include "base/ascii.h"
#include "base/units.h"
#include "core/graph_launch.h"
#include "model/ops/op_model.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace rankscope {
namespace {

/// An activity below this factor times the median is part of launching too.
constexpr std::int64_t kTimesUsual = 10;
constexpr std::int64_t kPlainLaunchNs = 5'000;
constexpr std::size_t kLoopKernels = 50; ///< kernels per optimizer and step

bool has(std::string_view text, std::string_view part) {
  return contains(text, part);
}

CauseRule rule_of_host(std::string_view name) {
  switch (host_code_of(name)) {
  case HostCode::kLoader:
    return CauseRule::kLoader;
  case HostCode::kCollection:
    return CauseRule::kCollection;
  case HostCode::kCheckpoint:
    return CauseRule::kCheckpoint;
  case HostCode::kCompilation:
    return CauseRule::kLoading;
  case HostCode::kOther:
    break;
  }
  return CauseRule::kHostCode;
}

/// Returns the rule for a runtime call that is slow by itself.
std::optional<CauseRule> rule_of_slow_call(std::string_view name) {
  if (has(name, "HostAlloc") || has(name, "HostRegister") || has(name, "HostMalloc") ||
      has(name, "FreeHost") || has(name, "MallocHost"))
    return CauseRule::kPinning;
  if (has(name, "Malloc") || has(name, "Free") || has(name, "MemCreate") || has(name, "MemMap") ||
      has(name, "MemUnmap") || has(name, "MemRelease") || has(name, "MemSetAccess") ||
      has(name, "AddressReserve"))
    return CauseRule::kAllocator;
  if (has(name, "ModuleLoad") || has(name, "LibraryLoad"))
    return CauseRule::kLoading;
  return std::nullopt;
}

/// The key of a cause: nodes with equal keys form one cause. The fields are those of StepCause.
struct HostGroup {
  CauseRule rule;
  std::string what, before, after;
  bool from_host = false;
  auto operator<=>(const HostGroup&) const = default;
};

/// The bytes that the kernels of an optimizer read and write.
class PassedBytes {
public:
  /// Adds a kernel by the arguments of its operator.
  void add(std::string_view op, std::string_view shapes, std::string_view types) {
    const ParsedArgs args(shapes, types, "", "");
    double most = 0, type = 0;
    std::size_t tensors = 0; // with the most elements
    for (std::size_t i = 0; !args.absurd() && i < args.count(); ++i) {
      const double count = args.dims(i).empty() ? 0 : elements(args.dims(i));
      if (count > most) {
        tensors = 0;
        most = count;
        type = type_bytes(args.type(i));
      }
      tensors += count > 0 && count == most ? 1 : 0;
    }
    if (!(type > 0))
      return;
    all_ += most * type * static_cast<double>(tensors + 1); // with the result
    once_[op] += most * type;
  }
  /// Returns the bytes of one kernel for all parameters, as a share of these kernels' bytes. 0: the
  /// shapes are unknown. The operator with the fewest bytes runs once per parameter.
  [[nodiscard]] double share_of_one_kernel() const {
    constexpr double kPasses = 3; // reads the parameter and its gradient, writes the parameter
    double fewest = all_;
    for (const auto& [op, bytes] : once_)
      fewest = std::min(fewest, bytes);
    return all_ > 0 ? std::min(1.0, kPasses * fewest / all_) : 0;
  }

private:
  double all_ = 0;
  std::map<std::string_view, double> once_; ///< bytes of one tensor of each call, by operator
};

class HostCandidates {
public:
  HostCandidates(const CauseInput& in, std::uint32_t rank, std::span<const NodeId> nodes)
      : run_(in.run), rank_(rank), nodes_(nodes) {}

  std::vector<CauseCandidate> run() {
    if (run_.ranks[rank_].blocking_launches) {
      add_blocking_launches();
      return std::move(out_);
    }
    find_stall_length();
    find_last_launch();
    find_pieces();
    for (const NodeId n : nodes_)
      if (!std::ranges::binary_search(between_pieces_, n))
        sort_in(n);
    add_graph_breaks();
    add_stream_waits();
    add_hosts_of_reads();
    add_optimizer_loop();
    add_launch_bound();
    return std::move(out_);
  }

private:
  [[nodiscard]] std::int64_t dur(NodeId n) const { return run_.graph.dur_ns(n); }
  [[nodiscard]] std::string text(NodeId n, StrId id) const { return std::string(run_.text(n, id)); }

  void find_stall_length() {
    std::vector<double> usual;
    for (const NodeId n : nodes_)
      if (run_.activity(n).kind == ActivityKind::kHost)
        usual.push_back(static_cast<double>(dur(n)));
    if (!usual.empty())
      stall_ns_ = std::max(
          kStallNs, kTimesUsual * static_cast<std::int64_t>(quantile_of(std::move(usual), 0.5)));
  }

  /// Finds the time of the last launch. Work without a launch counts with its start.
  void find_last_launch() {
    for (const NodeId n : nodes_) {
      if (!on_gpu(run_.activity(n).kind))
        continue;
      NodeId host = run_.graph.waited(n, WaitKind::kLaunch);
      if (host == kNoNode)
        host = run_.launch_of(n); // of a collective
      last_launch_ns_ = std::max(last_launch_ns_, host == kNoNode ? run_.graph.start_ns(n)
                                                                  : run_.graph.end_ns(host));
    }
  }

  /// Finds the host activities from a piece of compiled code to another piece, with nothing but the
  /// lookup of the code between them.
  void find_pieces() {
    struct Thread {
      std::string_view piece;    ///< the last piece, if nothing else has begun since then
      std::vector<NodeId> since; ///< host activities after it
    };
    std::map<std::uint32_t, Thread> threads;
    for (const NodeId n : nodes_) {
      const Activity& a = run_.activity(n);
      if (on_gpu(a.kind))
        continue;
      Thread& thread = threads[run_.node(n).line];
      if (a.kind == ActivityKind::kCall) {
        const std::string_view piece = piece_of(run_.text(n, a.context));
        if (!piece.empty() && !thread.piece.empty() && piece != thread.piece)
          between_pieces_.insert(between_pieces_.end(), thread.since.begin(), thread.since.end());
        thread = {piece, {}};
      } else if (!thread.piece.empty()) {
        thread.since.push_back(n);
      }
    }
    std::ranges::sort(between_pieces_);
  }
  /// Returns "3" from "Torch-Compiled Region: 3/0", else "". A piece has another number after the
  /// slash each time that it is compiled.
  [[nodiscard]] static std::string_view piece_of(std::string_view range) {
    constexpr std::string_view kRegion = "Torch-Compiled Region: ";
    if (!range.starts_with(kRegion))
      return {};
    range.remove_prefix(kRegion.size());
    return range.substr(0, range.find('/'));
  }

  void add_graph_breaks() {
    CauseCandidate c;
    c.cause.rule = CauseRule::kGraphBreaks;
    c.cause.kind = GainKind::kAtMost;
    for (const NodeId n : between_pieces_)
      c.add(n, 0);
    if (!c.nodes.empty())
      out_.push_back(std::move(c));
  }

  /// Returns the GPU activity that the call waited for, or kNoNode.
  [[nodiscard]] NodeId waited_for(NodeId n) const {
    return run_.graph.waited(n, WaitKind::kBlocking);
  }

  std::optional<CauseRule> rule_of_call(NodeId n, const Activity& a) {
    const auto [at, fresh] = rule_of_call_.try_emplace(a.name);
    if (fresh)
      at->second = rule_of_slow_call(run_.text(n, a.name));
    return at->second;
  }

  /// Adds host time, calls and copies inside a function that writes a checkpoint. Returns whether
  /// the activity is one of them.
  bool add_to_checkpoint(NodeId n, const Activity& a) {
    const StrId range = a.kind == ActivityKind::kHost ? a.name : a.context;
    const auto [at, fresh] = is_checkpoint_.try_emplace(range);
    if (fresh)
      at->second = host_code_around(run_.text(n, range)) == HostCode::kCheckpoint;
    if (!at->second)
      return false;
    CauseCandidate& c = group({CauseRule::kCheckpoint, "", "", ""}, n);
    c.durations.emplace_back(n, 0);
    if (a.kind == ActivityKind::kCall && waited_for(n) != kNoNode)
      c.unblocked.push_back(n);
    c.cause.what = text(n, range);
    return true;
  }

  void sort_in(NodeId n) {
    const Activity& a = run_.activity(n);
    if (add_to_checkpoint(n, a))
      return;
    if (a.kind == ActivityKind::kHost) {
      if (dur(n) >= stall_ns_)
        add_stall(n, a);
      else
        short_.push_back(n);
      return;
    }
    if (a.kind != ActivityKind::kCall)
      return;
    const NodeId gpu = waited_for(n);
    const std::optional<CauseRule> rule = rule_of_call(n, a);
    if (!rule && gpu == kNoNode && dur(n) < stall_ns_) {
      short_.push_back(n);
      return;
    }
    const std::string name = text(n, a.name);
    if (rule) {
      CauseCandidate& c = group({*rule, "", "", ""}, n);
      c.cause.what = name;
      c.durations.emplace_back(n, 0);
      if (gpu != kNoNode)
        c.unblocked.push_back(n);
    } else if (gpu != kNoNode) {
      if (!large_copy(gpu))
        add_read_back(n, gpu, name);
    } else if (!has(name, "Synchronize")) { // that one waits for work outside of the trace
      CauseCandidate& c = group({CauseRule::kHostCode, name, "", ""}, n);
      c.durations.emplace_back(n, 0);
      c.cause.call = true;
      c.cause.kind = GainKind::kAtMost;
      c.cause.confidence = Confidence::kLikely;
    }
  }

  /// Returns whether the blocking call waits for a large copy, which has a separate rule.
  [[nodiscard]] bool large_copy(NodeId gpu) const {
    const Activity& a = run_.activity(gpu);
    return a.kind == ActivityKind::kCopy && a.bytes >= kSmallCopyBytes;
  }

  void add_stall(NodeId n, const Activity& a) {
    const std::string name = text(n, a.name);
    const CauseRule rule = rule_of_host(name);
    // grouped by rule for loading, by name if it is known, else by the operators around the
    // activity
    CauseCandidate& c = rule == CauseRule::kLoading ? group({rule, "", "", ""}, n)
                        : name.empty() ? group({rule, "", text(n, a.context), text(n, a.op)}, n)
                                       : group({rule, name, "", ""}, n);
    c.durations.emplace_back(n, 0);
    c.cause.kind = rule == CauseRule::kHostCode || rule == CauseRule::kLoader ? GainKind::kAtMost
                                                                              : GainKind::kEstimate;
    c.cause.confidence = name.empty() ? Confidence::kLikely : Confidence::kSure;
  }

  void add_read_back(NodeId n, NodeId gpu, const std::string& name) {
    const Activity& a = run_.activity(n);
    const std::string op = text(n, a.op);
    // a synchronisation outside of operators waits for all work, whatever ends last
    const bool from_host = (!op.empty() || has(name, "Memcpy")) &&
                           run_.activity(gpu).kind == ActivityKind::kCopy &&
                           copies_from_host(run_.text(gpu, run_.activity(gpu).name));
    const HostGroup key{CauseRule::kReadBack, op.empty() ? name : op, "", "", from_host};
    // no work follows a call after the last launch, so the call alone is not a cause
    const bool launches = run_.graph.end_ns(n) <= last_launch_ns_;
    if (!launches && !groups_.contains(key))
      return;
    CauseCandidate& c = group(key, n);
    if (!launches)
      return;
    c.unblocked.push_back(n);
    c.durations.emplace_back(n, 0);
    c.cause.kind = GainKind::kEstimate;
    for (const StrId id : {a.op, a.context})
      if (run_.text(n, id).starts_with("aten::"))
        read_by_.emplace(text(n, id), key);
  }

  /// Adds the host activities inside operators that wait for the GPU to the cause of that wait.
  void add_hosts_of_reads() {
    std::vector<NodeId> rest;
    for (const NodeId n : short_) {
      const Activity& a = run_.activity(n);
      const auto read = a.kind == ActivityKind::kHost && a.name != kEmptyStr
                            ? read_by_.find(text(n, a.name))
                            : read_by_.end();
      if (read == read_by_.end())
        rest.push_back(n);
      else
        out_[groups_.at(read->second)].durations.emplace_back(n, 0);
    }
    short_ = std::move(rest);
  }

  /// Adds the kernels that a call waits for, if other streams get their next work only after that,
  /// and no event is known to order the streams. Kernels of the same operator and stream that calls
  /// wait for before that belong to the cause too.
  void add_stream_waits() {
    std::map<NodeId, NodeId> call_of; // by kernel
    std::vector<std::int64_t> events;
    for (const NodeId n : nodes_) {
      if (run_.activity(n).kind != ActivityKind::kCall)
        continue;
      const NodeId gpu = waited_for(n);
      if (gpu != kNoNode && run_.activity(gpu).kind == ActivityKind::kKernel)
        call_of[gpu] = n;
      else if (has(run_.text(n, run_.activity(n).name), "StreamWaitEvent"))
        events.push_back(run_.graph.start_ns(n));
    }
    if (call_of.empty())
      return;
    std::map<std::pair<std::string, std::uint32_t>, std::vector<NodeId>> held; // next work
    for (const NodeId n : nodes_)
      if (on_gpu(run_.activity(n).kind))
        for (const Wait& wait : run_.graph.waits(n))
          if (const auto at = call_of.find(wait.from);
              at != call_of.end() && wait.kind() == WaitKind::kOtherStream &&
              only_call_orders(at->first, at->second, n, events))
            held[work_of(at->first)].push_back(n);
    for (const auto& [kernel, call] : call_of)
      if (const auto next = held.find(work_of(kernel)); next != held.end()) {
        CauseCandidate& c = group({CauseRule::kStreamWait, next->first.first, "", ""}, kernel);
        c.unblocked.push_back(call);
        c.durations.emplace_back(call, 0);
        c.unordered.insert(c.unordered.end(), next->second.begin(), next->second.end());
        next->second.clear();
        c.cause.kind = GainKind::kAtMost;
        c.cause.confidence = Confidence::kLikely; // the trace does not show who needs the result
      }
  }
  /// Returns the operator, else the name, of a kernel, and its stream.
  [[nodiscard]] std::pair<std::string, std::uint32_t> work_of(NodeId kernel) const {
    const Activity& a = run_.activity(kernel);
    return {text(kernel, a.op == kEmptyStr ? a.name : a.op), run_.node(kernel).line};
  }
  /// Returns whether `next` was launched after the call, and no stream was made to wait for an
  /// event since the launch of the kernel. `events`: begins of such calls.
  [[nodiscard]] bool only_call_orders(NodeId kernel, NodeId call, NodeId next,
                                      const std::vector<std::int64_t>& events) const {
    const NodeId launch = run_.graph.waited(kernel, WaitKind::kLaunch);
    const NodeId next_launch = run_.graph.waited(next, WaitKind::kLaunch);
    if (launch == kNoNode || next_launch == kNoNode ||
        run_.graph.end_ns(next_launch) < run_.graph.end_ns(call))
      return false;
    const auto event = std::ranges::lower_bound(events, run_.graph.start_ns(launch));
    return event == events.end() || *event > run_.graph.end_ns(next_launch);
  }

  CauseCandidate& group(const HostGroup& key, NodeId n) {
    const auto [at, is_new] = groups_.try_emplace(key, out_.size());
    if (is_new) {
      out_.emplace_back();
      StepCause& cause = out_.back().cause;
      cause.rule = key.rule;
      cause.what = key.what;
      cause.before = key.before;
      cause.after = key.after;
      cause.from_host = key.from_host;
    }
    out_[at->second].nodes.push_back(n);
    return out_[at->second];
  }

  void add_blocking_launches() {
    CauseCandidate c;
    c.cause.rule = CauseRule::kBlockingLaunch;
    c.cause.kind = GainKind::kAtMost;
    for (const NodeId n : nodes_)
      if (run_.activity(n).kind == ActivityKind::kCall && waited_for(n) != kNoNode) {
        c.add(n, std::min(dur(n), kPlainLaunchNs));
        c.unblocked.push_back(n);
      }
    out_.push_back(std::move(c));
  }

  /// Adds an optimizer that runs kernel by kernel. One kernel would read each parameter with its
  /// gradient and write it; that is the bound, because optimizers also have a state.
  void add_optimizer_loop() {
    CauseCandidate c;
    bool fused = false;
    PassedBytes passed;
    for (const NodeId n : nodes_) {
      const Activity& a = run_.activity(n);
      if (a.kind != ActivityKind::kKernel || !in_optimizer(n, a.context))
        continue;
      c.counted.push_back(n);
      const std::string name = text(n, a.name);
      fused = fused || has(name, "multi_tensor") || has(name, "fused") || has(name, "Fused");
      passed.add(run_.text(n, a.op), run_.text(n, a.shapes), run_.text(n, a.types));
    }
    if (fused || c.counted.size() < kLoopKernels * run_.steps())
      return;
    c.cause.rule = CauseRule::kOptimizerLoop;
    c.cause.kind = GainKind::kAtMost;
    join_kernels(passed.share_of_one_kernel(), c);
    std::vector<NodeId> rest;
    for (const NodeId n : short_) {
      const Activity& a = run_.activity(n);
      const bool host = a.kind == ActivityKind::kHost;
      if (!in_optimizer(n, host ? a.op : a.context)) {
        rest.push_back(n);
        continue;
      }
      if (host)
        c.add_operator(run_, n);
      else
        c.add(n, 0);
      c.cause.what = text(n, host ? a.op : a.context);
    }
    short_ = std::move(rest);
    out_.push_back(std::move(c));
  }
  /// Replaces the kernels of each step by their first one, with a share of the time of all.
  void join_kernels(double share, CauseCandidate& c) const {
    std::map<std::size_t, double> ns_of_step;
    for (const NodeId n : c.counted)
      ns_of_step[run_.step_of(n)] += static_cast<double>(dur(n));
    c.exact = true; // the first kernel may become longer
    c.removes_gaps = true;
    for (const NodeId n : c.counted) {
      double& ns = ns_of_step[run_.step_of(n)];
      c.add(n, static_cast<std::int64_t>(std::exchange(ns, 0) * share));
    }
  }
  [[nodiscard]] bool in_optimizer(NodeId n, StrId context) const {
    return in_optimizer_step(run_.text(n, context));
  }

  /// Returns the call that launches the graph of this kernel, as a node of the rank's graph;
  /// kNoNode: no graph launch.
  [[nodiscard]] NodeId graph_launch_of(NodeId kernel) const {
    const NodeId host = run_.graph.waited(kernel, WaitKind::kLaunch);
    const RankGraph& rank = run_.ranks[rank_];
    if (host == kNoNode || run_.local_of[host] / 2 >= rank.operator_ns.size())
      return kNoNode;
    const NodeId call = run_.local_of[host] / 2 * 2 + 1;
    return launches_graph(rank.text(rank.activity(call).name)) ? call : kNoNode;
  }

  /// Adds the remaining host activities: launches and the time between them. If most kernels are in
  /// graphs, the launches of graphs are compared with the time of their kernels.
  void add_launch_bound() {
    CauseCandidate c;
    c.cause.rule = CauseRule::kLaunchBound;
    c.cause.kind = GainKind::kAtMost;
    std::vector<double> kernel_us, interval_us;
    std::map<NodeId, double> graph_us; // by launch
    double all_us = 0, in_graphs_us = 0;
    for (const NodeId n : nodes_) {
      if (run_.activity(n).kind != ActivityKind::kKernel)
        continue;
      c.counted.push_back(n);
      const double us = ns_to_us(dur(n));
      kernel_us.push_back(us);
      all_us += us;
      if (const NodeId launch = graph_launch_of(n); launch != kNoNode) {
        graph_us[launch] += us;
        in_graphs_us += us;
      }
    }
    const bool graphs = in_graphs_us > all_us / 2;
    std::int64_t last = INT64_MIN;
    for (const NodeId n : nodes_) {
      const Activity& a = run_.activity(n);
      if (a.kind != ActivityKind::kCall || dur(n) >= stall_ns_ ||
          (graphs && !launches_graph(run_.text(n, a.name))))
        continue;
      if (last != INT64_MIN)
        interval_us.push_back(ns_to_us(run_.graph.start_ns(n) - last));
      last = run_.graph.start_ns(n);
      if (graphs)
        c.cause.what = text(n, a.name);
    }
    if (graphs) {
      kernel_us.clear();
      for (const auto& [launch, us] : graph_us)
        kernel_us.push_back(us);
    }
    if (kernel_us.empty() || interval_us.empty())
      return;
    c.cause.kernel_us = quantile_of(std::move(kernel_us), 0.5);
    c.cause.launch_us = quantile_of(std::move(interval_us), 0.5);
    if (c.cause.kernel_us >= c.cause.launch_us)
      return;
    for (const NodeId n : short_)
      c.add(n, 0);
    out_.push_back(std::move(c));
  }

  const JobRun& run_;
  std::uint32_t rank_;
  std::span<const NodeId> nodes_;
  std::int64_t stall_ns_ = kStallNs;
  std::int64_t last_launch_ns_ = INT64_MIN;
  std::map<HostGroup, std::size_t> groups_;
  std::map<std::string, HostGroup> read_by_; ///< operators around calls that wait for the GPU
  std::unordered_map<StrId, std::optional<CauseRule>> rule_of_call_; ///< by the name of the call
  std::unordered_map<StrId, bool> is_checkpoint_;                    ///< by the range
  std::vector<NodeId> between_pieces_;                               ///< ascending
  std::vector<NodeId> short_; ///< activities and calls that are part of launching
  std::vector<CauseCandidate> out_;
};

} // namespace

std::vector<CauseCandidate> host_candidates(const CauseInput& in, std::uint32_t rank,
                                            std::span<const NodeId> nodes) {
  return HostCandidates(in, rank, nodes).run();
}

} // namespace rankscope
