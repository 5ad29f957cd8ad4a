#include "analyses/inference/step_pairs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

namespace rankscope {
namespace {

/// Maximum number of pairs of blocks at the smallest distance that are searched for the longest
/// run.
constexpr std::size_t kMostTies = 10'000'000;

/// A distance that is compared by `first`, then by `second`. Sums and differences keep that order.
/// So a block is never nearer than the nearest of the parts that it can be cut into.
struct Distance {
  double first = 0, second = 0;
};

/// A distance summed over a number of steps.
struct Block {
  Distance sum;
  std::size_t steps = 0;
};

/// Compares the mean distances. Returns -1, 0 or 1.
int compare(const Block& a, const Block& b) {
  const auto order = [](double x, double y) { return x < y ? -1 : x > y ? 1 : 0; };
  const auto na = static_cast<double>(a.steps);
  const auto nb = static_cast<double>(b.steps);
  if (const int first = order(a.sum.first * nb, b.sum.first * na); first != 0)
    return first;
  return order(a.sum.second * nb, b.sum.second * na);
}

/// Maximum number of steps of a block: longer blocks can be cut into blocks of at most this size.
constexpr std::size_t kMostSteps = 3;
constexpr std::size_t kDims = 2 * kMostSteps;

/// The values that distances are summed over. Decode: g_sq and g_sk of each step, last step first.
/// Other phases: the requests, then c_sq and g_sq, of one step. The other coordinates are 0.
using Coordinates = std::array<double, kDims>;

/// The coordinates of a block of steps; `end` is the position after its last step.
struct Window {
  Coordinates at{};
  std::size_t end = 0;
};

Coordinates coordinates_of(StepPhase phase, const StepCounts& step) {
  if (phase == StepPhase::kDecode)
    return {step.sums.g_sq, step.sums.g_sk};
  return {static_cast<double>(step.context_requests), static_cast<double>(step.generation_requests),
          step.sums.c_sq, step.sums.g_sq};
}

/// Returns the windows of `steps` consecutive steps of the phase.
std::vector<Window> windows_of(StepPhase phase, const std::vector<AnnotatedStep>& list,
                               std::size_t steps) {
  std::vector<Window> out;
  std::size_t run = 0;
  for (std::size_t end = 1; end <= list.size(); ++end) {
    run = phase_of(list[end - 1].counts) == phase ? run + 1 : 0;
    if (run < steps)
      continue;
    Window window{coordinates_of(phase, list[end - 1].counts), end};
    for (std::size_t i = 1; i < steps; ++i) { // `steps` > 1 only in the decode phase
      const Coordinates earlier = coordinates_of(phase, list[end - 1 - i].counts);
      window.at[2 * i] = earlier[0];
      window.at[2 * i + 1] = earlier[1];
    }
    out.push_back(window);
  }
  return out;
}

/// Windows of one size in nested boxes (a k-d tree). The nearest windows are found without a search
/// of all of them.
class WindowTree {
public:
  WindowTree(StepPhase phase, std::size_t steps, std::vector<Window> windows)
      : decode_(phase == StepPhase::kDecode), steps_(steps), windows_(std::move(windows)) {
    if (!windows_.empty())
      build(0, windows_.size());
  }

  /// Lowers `best` to the distance of the nearest window.
  void lower(const Coordinates& from, std::optional<Block>& best) const {
    if (!windows_.empty())
      visit(
          0, from, [&](const Block& block) { return !best || compare(block, *best) < 0; },
          [&](const Block& block, const Window&) { best = block; });
  }
  /// Calls use(window) for each window at exactly this distance.
  template <class Use>
  void each_at(const Coordinates& from, const Block& distance, Use&& use) const {
    if (!windows_.empty())
      visit(
          0, from, [&](const Block& block) { return compare(block, distance) <= 0; },
          [&](const Block&, const Window& window) { use(window); });
  }

private:
  struct Node {
    Coordinates low{}, high{};
    std::size_t begin = 0, end = 0;
    std::size_t right = 0; ///< the left child is the next node; 0: the node is a leaf
  };
  static constexpr std::size_t kLeaf = 8;

  std::size_t build(std::size_t begin, std::size_t end) {
    Node node{windows_[begin].at, windows_[begin].at, begin, end};
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t d = 0; d < kDims; ++d) {
        node.low[d] = std::min(node.low[d], windows_[i].at[d]);
        node.high[d] = std::max(node.high[d], windows_[i].at[d]);
      }
    std::size_t widest = 0;
    for (std::size_t d = 1; d < kDims; ++d)
      if (node.high[d] - node.low[d] > node.high[widest] - node.low[widest])
        widest = d;
    const bool equal = node.high[widest] == node.low[widest];
    const std::size_t number = nodes_.size();
    nodes_.push_back(node);
    if (end - begin <= kLeaf || equal)
      return number;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto place = [this](std::size_t i) {
      return windows_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    std::nth_element(
        place(begin), place(middle), place(end),
        [widest](const Window& a, const Window& b) { return a.at[widest] < b.at[widest]; });
    (void)build(begin, middle);
    nodes_[number].right = build(middle, end);
    return number;
  }

  /// Returns the sum of far(d) over the dimensions.
  template <class Far> [[nodiscard]] Block sum(Far&& far) const {
    Block out{{}, steps_};
    if (decode_) {
      for (std::size_t i = 0; i < steps_; ++i)
        out.sum.first += far(2 * i) + far(2 * i + 1);
    } else {
      out.sum = {far(0) + far(1), far(2) + far(3)};
    }
    return out;
  }
  [[nodiscard]] Block to_box(const Coordinates& from, const Node& node) const {
    return sum([&](std::size_t d) {
      return std::max({node.low[d] - from[d], from[d] - node.high[d], 0.0});
    });
  }

  /// Calls use(block, window) for the windows with a wanted distance. Skips boxes without such
  /// windows.
  template <class Wanted, class Use>
  void visit(std::size_t number, const Coordinates& from, const Wanted& wanted,
             const Use& use) const {
    const Node& node = nodes_[number];
    if (!wanted(to_box(from, node)))
      return;
    if (node.right == 0) {
      for (std::size_t i = node.begin; i < node.end; ++i) {
        const Block block =
            sum([&](std::size_t d) { return std::fabs(from[d] - windows_[i].at[d]); });
        if (wanted(block))
          use(block, windows_[i]);
      }
      return;
    }
    std::size_t near = number + 1;
    std::size_t other = node.right;
    if (compare(to_box(from, nodes_[other]), to_box(from, nodes_[near])) < 0)
      std::swap(near, other);
    visit(near, from, wanted, use);
    visit(other, from, wanted, use);
  }

  bool decode_;
  std::size_t steps_;
  std::vector<Window> windows_;
  std::vector<Node> nodes_;
};

/// Two blocks, given by their ends in the lists and by their length.
struct BlockPair {
  std::size_t first_end = 0, second_end = 0, steps = 0;
};
/// Returns whether `a` is longer than `b`, or equally long and earlier.
bool before(const BlockPair& a, const BlockPair& b) {
  if (a.steps != b.steps)
    return a.steps > b.steps;
  return a.first_end != b.first_end ? a.first_end < b.first_end : a.second_end < b.second_end;
}

/// Finds the longest equal blocks in two lists of steps, in which each step is a number.
class EqualBlocks {
public:
  EqualBlocks(std::vector<std::uint64_t> first, std::vector<std::uint64_t> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  [[nodiscard]] BlockPair longest() const {
    // all parts of equal blocks are equal, so a binary search finds the greatest length
    std::size_t found = 0;
    std::size_t beyond = std::min(first_.size(), second_.size()) + 1;
    while (found + 1 < beyond) {
      const std::size_t middle = found + (beyond - found) / 2;
      (first_equal(middle) ? found : beyond) = middle;
    }
    return found == 0 ? BlockPair{} : *first_equal(found);
  }

private:
  /// Calls use(begin, hash) for each block of this length until it returns true.
  template <class Use>
  static void each_hash(const std::vector<std::uint64_t>& list, std::size_t length, Use&& use) {
    constexpr std::uint64_t kBase = 0x9e3779b97f4a7c15;
    std::uint64_t power = 1; // power of the base for the number that leaves the block
    for (std::size_t i = 1; i < length; ++i)
      power *= kBase;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i >= length)
        hash -= mixed(list[i - length]) * power;
      hash = hash * kBase + mixed(list[i]);
      if (i + 1 >= length && use(i + 1 - length, hash))
        return;
    }
  }
  static std::uint64_t mixed(std::uint64_t number) {
    number = (number ^ (number >> 31U)) * 0xbf58476d1ce4e5b9;
    return number ^ (number >> 29U);
  }
  /// Returns the first equal blocks of this length.
  [[nodiscard]] std::optional<BlockPair> first_equal(std::size_t length) const {
    std::unordered_map<std::uint64_t, std::size_t> begins;
    each_hash(second_, length, [&](std::size_t begin, std::uint64_t hash) {
      begins.emplace(hash, begin);
      return false;
    });
    std::optional<BlockPair> out;
    each_hash(first_, length, [&](std::size_t begin, std::uint64_t hash) {
      const auto found = begins.find(hash);
      if (found != begins.end() &&
          std::ranges::equal(std::span(first_).subspan(begin, length),
                             std::span(second_).subspan(found->second, length)))
        out = BlockPair{begin + length, found->second + length, length};
      return out.has_value();
    });
    return out;
  }

  std::vector<std::uint64_t> first_, second_;
};

/// Compares blocks of `least` to 2 `least` - 1 steps, because every longer block can be cut into
/// such blocks.
class Pairing {
public:
  Pairing(StepPhase phase, const std::vector<AnnotatedStep>& first,
          const std::vector<AnnotatedStep>& second)
      : phase_(phase), least_(phase == StepPhase::kDecode ? 2 : 1), first_(first), second_(second) {
  }

  std::optional<PairedSteps> nearest() {
    for (std::size_t steps = least_; steps < 2 * least_; ++steps) {
      blocks_.push_back(windows_of(phase_, first_, steps));
      trees_.emplace_back(phase_, steps, windows_of(phase_, second_, steps));
      for (const Window& window : blocks_.back())
        trees_.back().lower(window.at, best_);
    }
    if (!best_)
      return std::nullopt;
    const bool equal = best_->sum.first == 0 && best_->sum.second == 0;
    const BlockPair found = equal ? longest_equal() : longest_chain();
    return PairedSteps{phase_,
                       {found.first_end - found.steps, found.first_end},
                       {found.second_end - found.steps, found.second_end},
                       best_->sum.first / static_cast<double>(best_->steps),
                       best_->sum.second / static_cast<double>(best_->steps)};
  }

private:
  [[nodiscard]] BlockPair longest_equal() const {
    std::map<Coordinates, std::uint64_t> numbers;
    std::uint64_t others = std::uint64_t{1} << 62U; // numbers for steps that are equal to no other
                                                    // step
    const auto numbered = [&](const std::vector<AnnotatedStep>& list) {
      std::vector<std::uint64_t> out;
      for (const AnnotatedStep& step : list)
        out.push_back(
            phase_of(step.counts) == phase_
                ? numbers.emplace(coordinates_of(phase_, step.counts), numbers.size()).first->second
                : others++);
      return out;
    };
    std::vector<std::uint64_t> first = numbered(first_);
    return EqualBlocks(std::move(first), numbered(second_)).longest();
  }

  /// Returns the longest run of blocks with the smallest distance.
  [[nodiscard]] BlockPair longest_chain() const {
    BlockPair out;
    std::array<std::map<std::size_t, std::size_t>, kMostSteps + 1> rows; // second_end -> steps
    std::vector<std::size_t> next(blocks_.size());
    std::size_t ties = 0;
    for (std::size_t end = least_; end <= first_.size() && ties < kMostTies; ++end) {
      auto& row = rows[end % rows.size()];
      row.clear();
      for (std::size_t size = 0; size < blocks_.size(); ++size) {
        const std::vector<Window>& windows = blocks_[size];
        if (next[size] >= windows.size() || windows[next[size]].end != end)
          continue;
        const std::size_t steps = least_ + size;
        const auto& earlier = rows[(end - steps) % rows.size()];
        trees_[size].each_at(windows[next[size]++].at, *best_, [&](const Window& window) {
          ++ties;
          const auto before_it = earlier.find(window.end - steps);
          const std::size_t chain = steps + (before_it == earlier.end() ? 0 : before_it->second);
          std::size_t& longest = row[window.end];
          longest = std::max(longest, chain);
          if (const BlockPair pair{end, window.end, longest}; before(pair, out))
            out = pair;
        });
      }
    }
    return out;
  }

  StepPhase phase_;
  std::size_t least_;
  const std::vector<AnnotatedStep>& first_;
  const std::vector<AnnotatedStep>& second_;
  std::vector<std::vector<Window>> blocks_; ///< windows of the first list, by size
  std::vector<WindowTree> trees_;           ///< windows of the second list, by size
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
  Schema<P> s("paired_steps", "steps with similar work in two traces (split --pair-with)");
  s.add({"phase", [](const P& p) { return phase_name(p.phase); },
         "phase of the steps: prefill, mixed or decode"});
  s.add({"first_step", "first step", Unit::kNone, [](const P& p) { return p.first.begin; },
         "number of the first paired step in this trace, from 0"});
  s.add({"other_step", "other step", Unit::kNone, [](const P& p) { return p.second.begin; },
         "number of the first paired step in the other trace, from 0"});
  s.add({"steps", Unit::kCount, [](const P& p) { return p.first.size(); },
         "number of successive paired steps; it is the same in both traces"});
  s.add({"distance", &P::distance,
         "mean distance between the two steps of a pair. For decode: difference of new tokens plus "
         "difference of attended tokens; for other phases: difference of the numbers of requests"});
  s.add({"distance_of_tokens", "distance of tokens", Unit::kNone, &P::then,
         "for prefill and mixed: mean difference of the numbers of new tokens between the two "
         "steps of a pair"});
  return s;
}

} // namespace rankscope
