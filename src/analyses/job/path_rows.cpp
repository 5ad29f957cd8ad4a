#include "analyses/job/path_rows.h"

#include "base/sort.h"
#include "base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <utility>

namespace rankscope {
namespace {

class PathSums {
public:
  PathSums(const JobRun& run, const CountedSteps& clock) : run_(run), clock_(clock) {}

  void add(std::span<const PathPiece> path) {
    for (const PathPiece& piece : path) {
      const PathLabel label = label_of_piece(run_, piece);
      ns_[{std::string(label.kind), label.what}] += piece.end_ns - piece.begin_ns;
    }
  }

  [[nodiscard]] std::vector<PathRow> rows() const {
    std::int64_t all = 0;
    for (const auto& [key, ns] : ns_)
      all += ns;
    std::vector<PathRow> out;
    for (const auto& [key, ns] : ns_)
      out.push_back({key.first, key.second, clock_.per_step_ms(ns), percent_of(ns, all, 0.0)});
    sort_stably(out, [](const PathRow& a, const PathRow& b) { return a.ms > b.ms; });
    return out;
  }

private:
  const JobRun& run_;
  const CountedSteps& clock_;
  std::map<std::pair<std::string, std::string>, std::int64_t> ns_; ///< by kind and operator
};

} // namespace

PathLabel label_of_piece(const JobRun& run, const PathPiece& piece) {
  if (piece.kind != PathPiece::Kind::kActivity)
    return {piece.kind == PathPiece::Kind::kLag ? "launch or gap" : "unexplained", ""};
  const Activity& a = run.activity(piece.node);
  const std::string_view name = run.text(piece.node, a.name), op = run.text(piece.node, a.op);
  std::string what(a.kind == ActivityKind::kHost || op.empty() ? name : op);
  if (what.empty() && !op.empty())
    what = fmt::format("before {}", op);
  return {activity_kind_name(a.kind), std::move(what)};
}

std::vector<PathPart> path_parts(const JobRun& run, std::int64_t least_ns) {
  std::vector<PathPart> out;
  std::int64_t longest = 0; // piece of the last part
  for (const PathPiece& piece : critical_path(run.graph)) {
    const RankGraph& rank = run.ranks[run.rank_of[piece.node]];
    // a collective's arrival begins, and its transfer ends, with its event in the trace
    const RankNode& node = run.node(piece.node);
    const std::int64_t event_end = node.start_ns + (run.is_activity(piece.node) ? node.dur_ns : 0);
    const std::int64_t end = event_end - (run.graph.end_ns(piece.node) - piece.end_ns);
    const std::int64_t ns = piece.end_ns - piece.begin_ns;
    const PathLabel label = label_of_piece(run, piece);
    if (out.empty() || out.back().rank != rank.rank ||
        out.back().end_ns - out.back().begin_ns >= least_ns) {
      out.push_back({rank.rank, end - ns, end, std::string(label.kind), label.what});
      longest = ns;
      continue;
    }
    PathPart& part = out.back();
    part.end_ns = end;
    if (ns > longest) {
      part.kind = label.kind;
      part.what = label.what;
      longest = ns;
    }
  }
  return out;
}

std::vector<PathPiece> path_between(std::span<const PathPiece> path, std::int64_t begin_ns,
                                    std::int64_t end_ns) {
  std::vector<PathPiece> out;
  for (PathPiece piece : path) {
    piece.begin_ns = std::max(piece.begin_ns, begin_ns);
    piece.end_ns = std::min(piece.end_ns, end_ns);
    if (piece.begin_ns < piece.end_ns)
      out.push_back(piece);
  }
  return out;
}

std::vector<PathRow> path_rows(const JobRun& run, const std::vector<PathPiece>& path,
                               const CountedSteps& clock) {
  PathSums sums(run, clock);
  sums.add(path);
  return sums.rows();
}

std::vector<PathRow> path_rows(const JobRun& run, const JobEdit& edit, const CountedSteps& clock) {
  const std::vector<std::int64_t> start = replay_starts(run.graph, edit);
  const std::vector<std::int64_t> ends = step_ends(run, edit, start);
  if (run.step_begin_ns.empty())
    return path_rows(run, clock.part_of(critical_path(run.graph, edit), ends), clock);
  PathSums sums(run, clock);
  std::vector<NodeId> last(run.steps(), kNoNode);
  for (NodeId n = 0; n < run.graph.size(); ++n) {
    const std::size_t step = run.step_of(n);
    if (last[step] == kNoNode && start[n] + edit.duration(run.graph, n) == ends[step])
      last[step] = n;
  }
  for (std::size_t step = 0; step < last.size(); ++step)
    if (last[step] != kNoNode)
      sums.add(
          path_between(critical_path(run.graph, edit, start, last[step]), run.step_begin_ns[step]));
  return sums.rows();
}

} // namespace rankscope
