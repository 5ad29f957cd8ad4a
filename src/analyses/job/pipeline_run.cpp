#include "analyses/job/pipeline_run.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace rankscope {
namespace {

constexpr std::int64_t kClockErrorNs = 10'000'000;
/// Tolerance in the search for sends and receives without a computation.
constexpr std::int64_t kOrderErrorNs = 50'000;

using Op = PipelineOp;

[[nodiscard]] constexpr bool is_point_to_point(Op op) {
  return op >= Op::kForwardSend && op <= Op::kBackwardRecv;
}
[[nodiscard]] constexpr bool is_receive(Op op) {
  return op == Op::kForwardRecv || op == Op::kBackwardRecv;
}
[[nodiscard]] constexpr bool is_forward(Op op) {
  return op == Op::kForwardCompute || op == Op::kForwardSend || op == Op::kForwardRecv;
}
[[nodiscard]] constexpr Op peer_of(Op op) {
  switch (op) {
  case Op::kForwardSend:
    return Op::kForwardRecv;
  case Op::kForwardRecv:
    return Op::kForwardSend;
  case Op::kBackwardSend:
    return Op::kBackwardRecv;
  default:
    return Op::kBackwardSend;
  }
}
/// Returns the stage offset from the worker to its peer.
[[nodiscard]] constexpr std::int64_t direction_of(Op op) {
  return op == Op::kForwardSend || op == Op::kBackwardRecv ? 1 : -1;
}
[[nodiscard]] constexpr bool among_data_parallel(Op op) {
  return op == Op::kParamsAllGather || op == Op::kGradsReduceScatter ||
         op == Op::kSeparateAllReduce || op == Op::kClipMainGrad;
}
/// Returns whether the operation counts as communication, with or without a group.
[[nodiscard]] constexpr bool is_communication(Op op) {
  return op >= Op::kForwardSend && op <= Op::kClipMainGrad;
}

/// An operation of the schedule. It is the same on every data-parallel rank and in every step.
using ShapeKey = std::tuple<std::int64_t, Op, std::int64_t>; // stage, operation, number
struct ShapeOp {
  Op op = Op::kForwardCompute;
  std::int64_t stage = 0, seq = 0, chunk = -1, start_ns = 0, end_ns = 0;
  std::vector<std::size_t> after;   ///< rows of the schedule that this operation waits for
  std::optional<std::size_t> group; ///< group whose operations form one transfer
};

/// The schedule of data-parallel rank 0 in the first step.
class PipelineSchedule {
public:
  PipelineSchedule(const PipelineTimeline& timeline, const std::string& path) : path_(path) {
    std::int64_t first_dp = timeline.workers.front().data_parallel;
    for (const PipelineWorker& w : timeline.workers)
      first_dp = std::min(first_dp, w.data_parallel);
    std::set<std::int64_t> replicas;
    for (const PipelineWorker& w : timeline.workers) {
      stages_ = std::max(stages_, w.stage + 1);
      replicas.insert(w.data_parallel);
    }
    for (const PipelineRow& row : timeline.rows) {
      const PipelineWorker& w = timeline.workers[row.worker];
      gathers_ = gathers_ || row.op == Op::kParamsAllGather || row.op == Op::kGradsReduceScatter;
      overlapped_ = overlapped_ || row.op == Op::kSeparateAllReduce;
      chunks_ = std::max(chunks_, row.chunk + 1);
      if (row.step == 0 && w.data_parallel == first_dp)
        ops.push_back(
            {row.op, w.stage, row.seq, row.chunk, row.start_ns, row.start_ns + row.dur_ns, {}, {}});
    }
    data_parallel_ = replicas.size() > 1 || gathers_;
  }

  Result<void> set_waits() {
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (!row_of.emplace(ShapeKey{ops[k].stage, ops[k].op, ops[k].seq}, k).second)
        return wrong(ops[k], "occurs twice in the first step");
    for (std::int64_t stage = 0; stage < stages_; ++stage)
      RS_CHECK(set_stage(stage));
    RS_CHECK(set_transfers());
    std::vector<std::size_t> clips, embeddings;
    for (std::size_t k = 0; k < ops.size(); ++k) {
      const Op op = ops[k].op;
      if (data_parallel_ && among_data_parallel(op) && op != Op::kClipMainGrad)
        ops[k].group = groups_++;
      else if (op == Op::kClipMainGrad)
        clips.push_back(k);
      else if (op == Op::kEmbeddingAllReduce)
        embeddings.push_back(k);
    }
    for (const std::vector<std::size_t>& members : {clips, embeddings}) {
      for (const std::size_t k : members)
        ops[k].group = groups_;
      ++groups_;
    }
    return {};
  }

  std::vector<ShapeOp> ops;
  std::map<ShapeKey, std::size_t> row_of;

private:
  [[nodiscard]] Error wrong(const ShapeOp& op, const char* why) const {
    return {ErrorCode::kUnreadable, path_,
            fmt::format("stage {}: {} {} {}", op.stage,
                        kPipelineOpNames[static_cast<std::size_t>(op.op)], op.seq, why),
            "expected a schedule as docs/whatif.md describes it"};
  }

  /// Returns the wanted operations of a stage, ordered by start.
  template <class Wanted>
  [[nodiscard]] std::vector<std::size_t> in_order(std::int64_t stage, const Wanted& wanted) const {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < ops.size(); ++k)
      if (ops[k].stage == stage && wanted(ops[k].op))
        out.push_back(k);
    std::ranges::sort(out, {}, [this](std::size_t k) {
      return std::tuple(ops[k].start_ns, ops[k].seq, kPipelineOpNames[std::size_t(ops[k].op)]);
    });
    return out;
  }
  [[nodiscard]] std::vector<std::size_t> in_order(std::int64_t stage, Op op) const {
    return in_order(stage, [op](Op other) { return op == other; });
  }
  void chain(const std::vector<std::size_t>& rows) {
    for (std::size_t k = 1; k < rows.size(); ++k)
      ops[rows[k]].after.push_back(rows[k - 1]);
  }

  Result<void> set_stage(std::int64_t stage) {
    const std::vector<std::size_t> compute = in_order(stage, is_computation);
    if (compute.empty())
      return Error{ErrorCode::kUnreadable, path_,
                   fmt::format("stage {}: no computation in the first step", stage), ""};
    chain(compute);
    for (const Op op : {Op::kForwardSend, Op::kForwardRecv, Op::kBackwardSend, Op::kBackwardRecv}) {
      chain(in_order(stage, op));
      RS_CHECK(match_computations(stage, op));
    }
    const auto backward = std::ranges::find_if(
        compute, [this](std::size_t k) { return ops[k].op == Op::kBackwardCompute; });
    if (backward != compute.end() && backward - compute.begin() >= 2)
      for (const Op op : {Op::kBackwardRecv, Op::kBackwardSend})
        if (const auto first = row_of.find({stage, op, 0}); first != row_of.end())
          ops[first->second].after.push_back(*(backward - 2));
    if (data_parallel_)
      set_data_parallel(stage, compute);
    set_end(stage, compute);
    return {};
  }

  /// Matches each send or receive to its computation.
  Result<void> match_computations(std::int64_t stage, Op op) {
    const std::vector<std::size_t> rows = in_order(stage, op);
    const std::vector<std::size_t> compute =
        in_order(stage, is_forward(op) ? Op::kForwardCompute : Op::kBackwardCompute);
    if (rows.empty())
      return {};
    if (compute.empty())
      return wrong(ops[rows.front()], "has no computation");
    std::int64_t last_start = ops[compute.front()].start_ns,
                 first_end = ops[compute.front()].end_ns;
    for (const std::size_t k : compute) {
      last_start = std::max(last_start, ops[k].start_ns);
      first_end = std::min(first_end, ops[k].end_ns);
    }
    const auto belongs = [&](std::size_t k) {
      return is_receive(op) ? ops[k].start_ns <= last_start + kOrderErrorNs
                            : ops[k].end_ns >= first_end - kOrderErrorNs;
    };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(rows, belongs));
    std::size_t number = 0;
    if (count != compute.size()) {
      if (count != 0 && count + 1 != compute.size())
        return wrong(ops[rows.front()], "and its like do not match the computations");
      if (is_receive(op) && count != 0)
        number = 1;
    }
    for (const std::size_t k : rows) {
      if (!belongs(k))
        continue;
      const ShapeOp& shape_op = ops[compute[number]];
      const std::int64_t chunk =
          std::max<std::int64_t>(0, shape_op.chunk) * stages_ + stage + direction_of(op);
      if (is_receive(op)) {
        ops[compute[number]].after.push_back(k);
        if (number > 0)
          ops[k].after.push_back(compute[number - 1]);
      } else {
        ops[k].after.push_back(compute[number]);
      }
      if (chunk >= 0 && chunk < std::max<std::int64_t>(1, chunks_) * stages_)
        transfers_[{stage, op}].push_back(k);
      ++number;
      if (number == compute.size())
        break;
    }
    return {};
  }

  /// Pairs the k-th send of a stage with the k-th receive of its neighbour.
  Result<void> set_transfers() {
    for (const auto& [key, rows] : transfers_) {
      const auto& [stage, op] = key;
      if (is_receive(op))
        continue;
      const std::int64_t other = (stage + direction_of(op) + stages_) % stages_;
      const auto peers = transfers_.find({other, peer_of(op)});
      if (peers == transfers_.end() || peers->second.size() != rows.size())
        return wrong(ops[rows.front()], "and its like do not match the receives of the peer");
      for (std::size_t k = 0; k < rows.size(); ++k)
        ops[rows[k]].group = ops[peers->second[k]].group = groups_++;
    }
    for (ShapeOp& op : ops)
      if (is_point_to_point(op.op) && !op.group)
        op.group = groups_++;
    return {};
  }

  void set_data_parallel(std::int64_t stage, const std::vector<std::size_t>& compute) {
    chain(in_order(
        stage, [](Op op) { return op == Op::kParamsAllGather || op == Op::kGradsReduceScatter; }));
    std::set<std::int64_t> done;
    std::vector<std::size_t> gathers = in_order(stage, Op::kParamsAllGather);
    std::ranges::reverse(gathers);
    for (const std::size_t gather : gathers) {
      if (!done.insert(ops[gather].chunk).second)
        continue;
      for (const std::size_t k : compute)
        if (ops[k].op == Op::kForwardCompute && ops[k].chunk == ops[gather].chunk) {
          ops[k].after.push_back(gather);
          break;
        }
    }
    if (!overlapped_)
      return;
    done.clear();
    for (const std::size_t scatter : in_order(stage, Op::kGradsReduceScatter)) {
      if (!done.insert(ops[scatter].chunk).second)
        continue;
      std::optional<std::size_t> last;
      for (const std::size_t k : compute)
        if (ops[k].op == Op::kBackwardCompute && ops[k].chunk == ops[scatter].chunk &&
            (!last || ops[k].end_ns > ops[*last].end_ns))
          last = k;
      if (last)
        ops[scatter].after.push_back(*last);
    }
  }

  /// Chains the operations after the last computation.
  void set_end(std::int64_t stage, const std::vector<std::size_t>& compute) {
    std::vector<std::size_t> rows{
        *std::ranges::max_element(compute, {}, [this](std::size_t k) { return ops[k].end_ns; })};
    const auto add = [&](Op op) {
      const std::vector<std::size_t> more = in_order(stage, op);
      rows.insert(rows.end(), more.begin(), more.end());
    };
    add(Op::kCollection);
    if (const std::vector<std::size_t> scatters = in_order(stage, Op::kGradsReduceScatter);
        data_parallel_ && overlapped_ && !scatters.empty())
      for (const std::size_t k : in_order(stage, Op::kLayernormAllReduce))
        ops[k].after.push_back(scatters.back());
    add(Op::kLayernormAllReduce);
    add(Op::kEmbeddingAllReduce);
    if (data_parallel_)
      add(overlapped_ ? Op::kSeparateAllReduce : Op::kGradsReduceScatter);
    add(Op::kClipMainGrad);
    add(Op::kOptimizer);
    chain(rows);
  }

  const std::string& path_;
  std::int64_t stages_ = 1, chunks_ = 1;
  bool data_parallel_ = false, gathers_ = false;
  bool overlapped_ = false; ///< gradients are reduced during the computation
  std::size_t groups_ = 0;
  std::map<std::pair<std::int64_t, Op>, std::vector<std::size_t>> transfers_;
};

class PipelineJoin {
public:
  PipelineJoin(const PipelineTimeline& timeline, const PipelineSchedule& schedule,
               const std::string& path)
      : timeline_(timeline), schedule_(schedule), path_(path) {}

  Result<PipelineRun> run() {
    set_ranks();
    RS_CHECK(set_rows());
    for (std::uint32_t step = 0; step < timeline_.steps.size(); ++step)
      add_step(step);
    builder_.finish(out_.run, Trust::kWaits);
    for (StageComputation& computation : out_.grid.computations)
      computation.node = builder_.numbers()[computation.node];
    return std::move(out_);
  }

private:
  void set_ranks() {
    JobRun& run = out_.run;
    run.step_numbers = timeline_.steps;
    run.step_begin_ns.assign(timeline_.steps.size(), INT64_MAX);
    for (const PipelineWorker& w : timeline_.workers) {
      RankGraph& rank = run.ranks.emplace_back();
      rank.rank = w.rank;
      rank.steps = timeline_.steps;
      out_.grid.data_parallel.push_back(w.data_parallel);
      out_.grid.stage.push_back(w.stage);
      const std::int64_t replica = w.data_parallel;
      replicas_.try_emplace(replica, static_cast<std::uint32_t>(replicas_.size()));
      for (std::int64_t line = 0; line < 3; ++line)
        rank.lines.push_back({true, line, 0});
      for (std::size_t k = 0; k < kPipelineOps; ++k) {
        const auto op = static_cast<Op>(k);
        Activity a;
        a.kind = is_communication(op) ? ActivityKind::kCollective : ActivityKind::kKernel;
        a.name = rank.texts.intern(kPipelineOpNames[k]);
        a.op = is_point_to_point(op)
                   ? rank.texts.intern(is_forward(op) ? "forward-pp-comm" : "backward-pp-comm")
                   : a.name;
        rank.activities.push_back(a);
      }
    }
  }

  [[nodiscard]] std::size_t slot(std::uint32_t step, std::uint32_t replica,
                                 std::size_t shape) const {
    return (step * replicas_.size() + replica) * schedule_.ops.size() + shape;
  }

  /// Checks that every step and replica has each operation of the schedule once.
  Result<void> set_rows() {
    const double slots = static_cast<double>(timeline_.steps.size()) *
                         static_cast<double>(replicas_.size()) *
                         static_cast<double>(schedule_.ops.size());
    if (slots != static_cast<double>(timeline_.rows.size()))
      return Error{ErrorCode::kUnreadable, path_,
                   fmt::format("{} operations, where {} steps of {} data-parallel ranks with {} "
                               "each have {}",
                               timeline_.rows.size(), timeline_.steps.size(), replicas_.size(),
                               schedule_.ops.size(), slots),
                   "all steps and ranks must have the operations of the first step"};
    rows_.assign(timeline_.rows.size(), nullptr);
    for (const PipelineRow& row : timeline_.rows) {
      const PipelineWorker& w = timeline_.workers[row.worker];
      const auto shape = schedule_.row_of.find({w.stage, row.op, row.seq});
      if (shape == schedule_.row_of.end())
        return differs(row, "the schedule of the first step lacks it");
      const PipelineRow*& at = rows_[slot(row.step, replicas_.at(w.data_parallel), shape->second)];
      if (at != nullptr)
        return differs(row, "it occurs twice");
      at = &row;
      out_.run.step_begin_ns[row.step] = std::min(out_.run.step_begin_ns[row.step], row.start_ns);
    }
    const std::int64_t origin = *std::ranges::min_element(out_.run.step_begin_ns);
    for (std::int64_t& begin : out_.run.step_begin_ns)
      begin -= origin;
    origin_ = origin;
    return {};
  }
  [[nodiscard]] Error differs(const PipelineRow& row, const char* why) const {
    return {ErrorCode::kUnreadable, path_,
            fmt::format("step {}, rank {}: {} {}: {}", timeline_.steps[row.step],
                        timeline_.workers[row.worker].rank,
                        kPipelineOpNames[static_cast<std::size_t>(row.op)], row.seq, why),
            "all steps must have the operations of the first one"};
  }

  void add_step(std::uint32_t step) {
    const std::size_t replicas = replicas_.size(), shapes = schedule_.ops.size();
    // by replica and operation: its first node, and the node that the next operations wait for
    std::vector<NodeId> first(replicas * shapes), last(replicas * shapes);
    const std::uint32_t worker = rows_[slot(step, 0, 0)]->worker;
    const NodeId begin =
        builder_.add(worker, local_of_next(worker), out_.run.step_begin_ns[step] + origin_, 0,
                     NodeRole::kMeeting);
    for (std::uint32_t dp = 0; dp < replicas; ++dp)
      for (std::size_t k = 0; k < shapes; ++k) {
        const PipelineRow& row = *rows_[slot(step, dp, k)];
        const bool member = schedule_.ops[k].group.has_value();
        first[dp * shapes + k] = last[dp * shapes + k] = builder_.add(
            row.worker, local_of_next(row.worker), row.start_ns, member ? 0 : row.dur_ns,
            member ? NodeRole::kArrival : NodeRole::kActivity);
        if (is_computation(row.op))
          out_.grid.computations.push_back(
              {first[dp * shapes + k], row.op == Op::kForwardCompute, row.chunk, row.micro_batch});
        RankGraph& rank = out_.run.ranks[row.worker];
        rank.nodes.push_back(
            {row.start_ns, row.dur_ns, static_cast<std::uint32_t>(row.op), line_of(row.op)});
        rank.step_of.push_back(static_cast<std::int32_t>(step));
      }
    // one group for each replica, or one group for all replicas
    std::map<std::pair<std::size_t, std::uint32_t>, std::vector<std::size_t>> groups;
    for (std::uint32_t dp = 0; dp < replicas; ++dp)
      for (std::size_t k = 0; k < shapes; ++k)
        if (const std::optional<std::size_t> group = schedule_.ops[k].group)
          groups[{*group, among_data_parallel(schedule_.ops[k].op) ? 0 : dp}].push_back(
              dp * shapes + k);
    for (const auto& [key, members] : groups)
      add_transfer(step, members, first, last);
    for (std::uint32_t dp = 0; dp < replicas; ++dp)
      for (std::size_t k = 0; k < shapes; ++k) {
        const NodeId node = first[dp * shapes + k];
        if (schedule_.ops[k].after.empty())
          builder_.wait(node, begin, WaitKind::kStream);
        for (const std::size_t after : schedule_.ops[k].after)
          builder_.wait(node, last[dp * shapes + after], WaitKind::kStream);
      }
  }

  void add_transfer(std::uint32_t step, const std::vector<std::size_t>& members,
                    const std::vector<NodeId>& first, std::vector<NodeId>& last) {
    std::vector<JobRunBuilder::Member> parts;
    for (const std::size_t member : members) {
      const PipelineRow& row = *rows_[slot(step, 0, 0) + member];
      parts.push_back({first[member], row.start_ns, row.start_ns + row.dur_ns});
    }
    const std::vector<NodeId> transfers = builder_.transfer(parts, kClockErrorNs);
    for (std::size_t k = 0; k < members.size(); ++k)
      last[members[k]] = transfers[k];
  }

  /// Returns the index of the rank's next node.
  [[nodiscard]] NodeId local_of_next(std::uint32_t worker) const {
    return static_cast<NodeId>(out_.run.ranks[worker].nodes.size());
  }
  [[nodiscard]] static std::uint16_t line_of(Op op) {
    return is_point_to_point(op) ? 1 : is_communication(op) ? 2 : 0;
  }

  const PipelineTimeline& timeline_;
  const PipelineSchedule& schedule_;
  const std::string& path_;
  PipelineRun out_;
  JobRunBuilder builder_;
  std::map<std::int64_t, std::uint32_t> replicas_; ///< by data-parallel rank
  std::vector<const PipelineRow*> rows_;           ///< by slot()
  std::int64_t origin_ = 0;
};

} // namespace

Result<PipelineRun> pipeline_run(const PipelineTimeline& timeline, const std::string& path) {
  PipelineSchedule schedule(timeline, path);
  RS_CHECK(schedule.set_waits());
  return PipelineJoin(timeline, schedule, path).run();
}

} // namespace rankscope
