#include "analyses/inference/graph_align.h"

#include "base/ascii.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace rankscope {
namespace {

/// Maximum number of cells in the table for the longest common subsequence.
constexpr std::size_t kMostCells = std::size_t{1} << 25;

bool pair(const GraphItem& call, const GraphItem& kernel) {
  return (call.copy && kernel.copy) || (call.set && kernel.set) || call.name == kernel.name;
}

std::string counts(std::size_t calls, std::size_t kernels) {
  return fmt::format("{} calls captured, {} kernels replayed", calls, kernels);
}

GraphAlignment matched_calls(GraphMatch match, std::vector<std::uint32_t> call_of) {
  GraphAlignment out;
  out.match = match;
  out.matched = call_of.size();
  out.call_of = std::move(call_of);
  return out;
}

GraphAlignment none(std::string why) {
  GraphAlignment out;
  out.why = std::move(why);
  return out;
}

class Aligner {
public:
  Aligner(std::span<const GraphItem> calls, std::span<const GraphItem> kernels, bool compat)
      : calls_(calls), kernels_(kernels), compat_(compat) {}

  [[nodiscard]] GraphAlignment run() const {
    if (kernels_.empty())
      return none("it ran no kernel");
    if (calls_.empty())
      return none("its capture has no launch");
    GraphAlignment out = exact();
    if (out.match != GraphMatch::kNone || compat_ || !all_named())
      return out;
    GraphAlignment part = subsequence();
    if (part.match == GraphMatch::kNone)
      return out;
    part.why = std::move(out.why);
    return part;
  }

private:
  [[nodiscard]] GraphAlignment exact() const {
    const auto other = [this](const GraphItem& k) { return k.stream != kernels_[0].stream; };
    if (std::any_of(kernels_.begin(), kernels_.end(), other))
      return streams();
    if (calls_.size() != kernels_.size())
      return greedy();
    GraphAlignment out = position();
    return out.match == GraphMatch::kNone ? groups(std::move(out.why)) : out;
  }

  /// Returns whether a call without a kernel name may have launched this kernel. Without compat,
  /// such a call matches any kernel, but no copy.
  [[nodiscard]] bool fits_unnamed(const GraphItem& call, const GraphItem& kernel) const {
    return !call.named && (compat_ || (call.copy == kernel.copy && !call.set && !kernel.copy));
  }
  [[nodiscard]] bool all_named() const {
    return std::all_of(calls_.begin(), calls_.end(),
                       [](const GraphItem& c) { return c.named || c.copy || c.set; });
  }

  [[nodiscard]] GraphAlignment position() const {
    std::vector<std::uint32_t> call_of;
    bool unchecked = false;
    for (std::uint32_t i = 0; i < kernels_.size(); ++i) {
      if (!pair(calls_[i], kernels_[i])) {
        if (!fits_unnamed(calls_[i], kernels_[i]))
          return none(fmt::format(
              "kernel {} has another name than the captured call at the same position", i + 1));
        unchecked = true;
      }
      call_of.push_back(i);
    }
    GraphAlignment out = matched_calls(GraphMatch::kPosition, std::move(call_of));
    out.unchecked = unchecked;
    return out;
  }

  [[nodiscard]] GraphAlignment groups(std::string why) const {
    std::unordered_map<StrId, std::vector<std::uint32_t>> by_name;
    for (std::uint32_t c = 0; c < calls_.size(); ++c)
      by_name[calls_[c].name].push_back(c);
    std::unordered_map<StrId, std::size_t> next;
    std::vector<std::uint32_t> call_of;
    for (const GraphItem& kernel : kernels_) {
      const auto at = by_name.find(kernel.name);
      std::size_t& k = next[kernel.name];
      if (at == by_name.end() || k == at->second.size())
        // there are as many calls as kernels, so no call can be left over without this
        return none(std::move(why));
      call_of.push_back(at->second[k++]);
    }
    return matched_calls(GraphMatch::kGroups, std::move(call_of));
  }

  [[nodiscard]] GraphAlignment greedy() const {
    std::vector<std::uint32_t> call_of;
    std::uint32_t c = 0;
    for (const GraphItem& kernel : kernels_) {
      while (c < calls_.size() && !pair(calls_[c], kernel))
        ++c;
      if (c == calls_.size())
        return none(counts(calls_.size(), kernels_.size()));
      call_of.push_back(c++);
    }
    return matched_calls(GraphMatch::kGreedy, std::move(call_of));
  }

  struct Queue {
    std::int32_t stream = 0;
    std::size_t head = 0;
    std::vector<std::uint32_t> kernels{};
  };

  /// Returns the number of consecutive calls from `c` on that match the queue from its head on.
  [[nodiscard]] std::size_t run_of(const Queue& queue, std::size_t c) const {
    std::size_t length = 0;
    while (queue.head + length < queue.kernels.size() && c + length < calls_.size() &&
           pair(calls_[c + length], kernels_[queue.kernels[queue.head + length]]))
      ++length;
    return length;
  }

  [[nodiscard]] GraphAlignment streams() const {
    if (!all_named()) {
      GraphAlignment out =
          none("several streams, and the capture does not name the kernels of its calls");
      out.hopeless = true;
      return out;
    }
    std::vector<Queue> queues; // ordered by first kernel
    for (std::uint32_t k = 0; k < kernels_.size(); ++k) {
      auto at = std::ranges::find(queues, kernels_[k].stream, &Queue::stream);
      if (at == queues.end())
        at = queues.insert(queues.end(), Queue{kernels_[k].stream});
      at->kernels.push_back(k);
    }
    std::vector<std::uint32_t> call_of(kernels_.size(), kNoRow);
    std::size_t matched = 0;
    for (std::uint32_t c = 0; c < calls_.size(); ++c)
      if (Queue* queue = queue_for(queues, c); queue != nullptr) {
        call_of[queue->kernels[queue->head++]] = c;
        ++matched;
      }
    if (matched != kernels_.size())
      return none(counts(calls_.size(), kernels_.size()) + " on " + std::to_string(queues.size()) +
                  " streams");
    return matched_calls(GraphMatch::kStreams, std::move(call_of));
  }

  [[nodiscard]] Queue* queue_for(std::vector<Queue>& queues, std::size_t c) const {
    Queue* only = nullptr;
    bool several = false;
    for (Queue& queue : queues)
      if (queue.head < queue.kernels.size() &&
          pair(calls_[c], kernels_[queue.kernels[queue.head]])) {
        several = several || only != nullptr;
        only = only == nullptr ? &queue : only;
      }
    if (!several)
      return only;
    std::size_t longest = 0;
    for (Queue& queue : queues)
      if (const std::size_t length = run_of(queue, c); length > longest) {
        longest = length;
        only = &queue;
      }
    return only;
  }

  /// Returns the longest common subsequence. The equal parts at both ends are matched first.
  [[nodiscard]] GraphAlignment subsequence() const {
    std::size_t first = 0;
    std::size_t c_end = calls_.size();
    std::size_t k_end = kernels_.size();
    GraphAlignment out;
    out.call_of.assign(kernels_.size(), kNoRow);
    const auto add_pair = [&out](std::size_t c, std::size_t k) {
      out.call_of[k] = static_cast<std::uint32_t>(c);
      ++out.matched;
    };
    for (; first < std::min(c_end, k_end) && pair(calls_[first], kernels_[first]); ++first)
      add_pair(first, first);
    for (; std::min(c_end, k_end) > first && pair(calls_[c_end - 1], kernels_[k_end - 1]);
         --c_end, --k_end)
      add_pair(c_end - 1, k_end - 1);
    const std::size_t rows = c_end - first;
    const std::size_t cols = k_end - first;
    if (rows > 0 && cols > 0 && rows < 0xffff && (rows + 1) * (cols + 1) <= kMostCells) {
      // length of the longest common subsequence of the rest of both lists
      std::vector<std::uint16_t> best((rows + 1) * (cols + 1), 0);
      const auto at = [&best, cols](std::size_t r, std::size_t c) -> std::uint16_t& {
        return best[r * (cols + 1) + c];
      };
      for (std::size_t r = rows; r-- > 0;)
        for (std::size_t c = cols; c-- > 0;)
          at(r, c) = pair(calls_[first + r], kernels_[first + c])
                         ? static_cast<std::uint16_t>(at(r + 1, c + 1) + 1)
                         : std::max(at(r + 1, c), at(r, c + 1));
      for (std::size_t r = 0, c = 0; r < rows && c < cols;)
        if (pair(calls_[first + r], kernels_[first + c]))
          add_pair(first + r++, first + c++);
        else if (at(r + 1, c) >= at(r, c + 1))
          ++r;
        else
          ++c;
    }
    if (2 * out.matched < kernels_.size())
      return none("");
    out.match = GraphMatch::kPartial;
    return out;
  }

  std::span<const GraphItem> calls_;
  std::span<const GraphItem> kernels_;
  bool compat_;
};

} // namespace

GraphItem graph_item(StrId name, std::string_view text, bool kernel) {
  GraphItem out;
  out.name = name;
  out.copy = contains(text, "Memcpy");
  out.set = contains(text, "Memset") || (kernel && contains(text, "fillBuffer"));
  return out;
}

GraphAlignment align_graph(std::span<const GraphItem> calls, std::span<const GraphItem> kernels,
                           bool compat) {
  return Aligner(calls, kernels, compat).run();
}

} // namespace rankscope
