#include "analyses/inference/step_pairs.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace rankscope {
namespace {

/// Compared by the first, then by the second; sums and differences keep that order, so that a block
/// is never nearer than the nearest of the parts it can be cut into.
struct Distance {
  double first = 0, second = 0;
};

Distance between(StepPhase phase, const StepCounts& a, const StepCounts& b) {
  const auto far = [](double x, double y) { return std::fabs(x - y); };
  if (phase == StepPhase::kDecode)
    return {far(a.sums.g_sq, b.sums.g_sq) + far(a.sums.g_sk, b.sums.g_sk), 0};
  return {far(static_cast<double>(a.context_requests), static_cast<double>(b.context_requests)) +
              far(static_cast<double>(a.generation_requests),
                  static_cast<double>(b.generation_requests)),
          far(a.sums.c_sq, b.sums.c_sq) + far(a.sums.g_sq, b.sums.g_sq)};
}

struct Block {
  Distance sum;
  std::size_t steps = 0;
};

/// Of means; -1, 0, 1.
int compare(const Block& a, const Block& b) {
  const auto of = [](double x, double y) { return x < y ? -1 : x > y ? 1 : 0; };
  const auto na = static_cast<double>(a.steps);
  const auto nb = static_cast<double>(b.steps);
  if (const int first = of(a.sum.first * nb, b.sum.first * na); first != 0)
    return first;
  return of(a.sum.second * nb, b.sum.second * na);
}

/// Blocks of `least` to 2 `least` - 1 steps: every longer one can be cut into such.
class Pairing {
public:
  Pairing(StepPhase phase, const std::vector<AnnotatedStep>& first,
          const std::vector<AnnotatedStep>& second)
      : phase_(phase), least_(phase == StepPhase::kDecode ? 2 : 1), first_(first), second_(second) {
  }

  std::optional<PairedSteps> nearest() {
    each_diagonal([this](std::size_t, std::size_t, const std::vector<Distance>& run) {
      each_block(run, [this](std::size_t, const Block& block) {
        if (!best_ || compare(block, *best_) < 0)
          best_ = block;
      });
    });
    if (!best_)
      return std::nullopt;
    std::optional<PairedSteps> out;
    each_diagonal([&](std::size_t i, std::size_t j, const std::vector<Distance>& run) {
      // steps up to here that can be cut into blocks as near as the nearest
      std::vector<std::size_t> chain(run.size() + 1);
      each_block(run, [&](std::size_t end, const Block& block) {
        if (compare(block, *best_) != 0)
          return;
        chain[end] = std::max(chain[end], chain[end - block.steps] + block.steps);
        const std::size_t begin = end - chain[end];
        if (!out || chain[end] > out->first.size() ||
            (chain[end] == out->first.size() && i + begin < out->first.begin))
          out = PairedSteps{phase_,
                            {i + begin, i + end},
                            {j + begin, j + end},
                            best_->sum.first / static_cast<double>(best_->steps),
                            best_->sum.second / static_cast<double>(best_->steps)};
      });
    });
    return out;
  }

private:
  /// take(i, j, distances) for each longest run of pairs (i, j), (i + 1, j + 1), ... of the phase.
  template <class Take> void each_diagonal(Take&& take) const {
    const std::size_t n = first_.size();
    const std::size_t m = second_.size();
    std::vector<Distance> run;
    for (std::size_t d = 0; d + 1 < n + m; ++d) { // starts in the first column, then the first row
      std::size_t i = d < n ? d : 0;
      std::size_t j = d < n ? 0 : d - n + 1;
      run.clear();
      for (; i < n && j < m; ++i, ++j) {
        const StepCounts& a = first_[i].counts;
        const StepCounts& b = second_[j].counts;
        if (phase_of(a) == phase_ && phase_of(b) == phase_) {
          run.push_back(between(phase_, a, b));
          continue;
        }
        if (!run.empty())
          take(i - run.size(), j - run.size(), run);
        run.clear();
      }
      if (!run.empty())
        take(i - run.size(), j - run.size(), run);
    }
  }

  /// take(end, block) by end, shorter ones first.
  template <class Take> void each_block(const std::vector<Distance>& run, Take&& take) const {
    for (std::size_t end = least_; end <= run.size(); ++end) {
      Block block;
      for (std::size_t i = end; i-- > 0 && block.steps + 1 < 2 * least_;) {
        block.sum.first += run[i].first;
        block.sum.second += run[i].second;
        if (++block.steps >= least_)
          take(end, block);
      }
    }
  }

  StepPhase phase_;
  std::size_t least_;
  const std::vector<AnnotatedStep>& first_;
  const std::vector<AnnotatedStep>& second_;
  std::optional<Block> best_;
};

} // namespace

std::vector<PairedSteps> pair_steps(const std::vector<AnnotatedStep>& first,
                                    const std::vector<AnnotatedStep>& second) {
  std::vector<PairedSteps> out;
  for (const StepPhase phase : {StepPhase::kPrefill, StepPhase::kMixed, StepPhase::kDecode})
    if (const auto found = Pairing(phase, first, second).nearest())
      out.push_back(*found);
  return out;
}

Schema<PairedSteps> paired_steps_schema() {
  using P = PairedSteps;
  Schema<P> s("paired_steps", "steps of two traces that do like work (split --pair-with)");
  s.add({"phase", "phase", Unit::kNone, CellKind::kText,
         [](const P& p) { return Value(phase_name(p.phase)); }, "what the steps do"});
  s.add({"first_step", "first step", Unit::kNone, CellKind::kInt,
         [](const P& p) { return Value(p.first.begin); }, "of this trace, from 0"});
  s.add({"other_step", "other step", Unit::kNone, CellKind::kInt,
         [](const P& p) { return Value(p.second.begin); }, "of the other trace, from 0"});
  s.add({"steps", "steps", Unit::kCount, CellKind::kInt,
         [](const P& p) { return Value(p.first.size()); }, "from there on, in each"});
  s.add({"distance", "distance", Unit::kNone, CellKind::kDouble,
         [](const P& p) { return Value(p.distance); },
         "mean difference of a pair: decode: new tokens plus attended tokens; else requests"});
  s.add({"distance_of_tokens", "distance of tokens", Unit::kNone, CellKind::kDouble,
         [](const P& p) { return Value(p.then); },
         "of prefill and mixed: mean difference of new tokens"});
  return s;
}

} // namespace rankscope
