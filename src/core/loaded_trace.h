// LoadedTrace: a trace with its call tree, parsed and linked once. It is the input of analyses.
#pragma once

#include "base/invariant.h"
#include "base/noncopyable.h"
#include "core/call_tree.h"
#include "core/graph_launch.h"

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <typeindex>
#include <utility>
#include <vector>

namespace rankscope {

struct LoadedTrace;

/// Results that several analyses of one trace use: launchers, overlaps, rows. Each computation is
/// declared by a key type, which names the type of its result, `Key::Value`, and by a function
/// `compute(const LoadedTrace&, const Key&)`, which reads only the trace and the key. A copy of
/// this object contains no results. Only one thread at a time may use it.
class SharedFacts {
public:
  SharedFacts() = default;
  SharedFacts(const SharedFacts& /*other*/) {}
  SharedFacts(SharedFacts&& other) noexcept : memos_(std::move(other.memos_)) {}
  SharedFacts& operator=(const SharedFacts&) = delete;
  SharedFacts& operator=(SharedFacts&& other) noexcept {
    memos_ = std::move(other.memos_);
    return *this;
  }
  ~SharedFacts() = default;

  /// Returns the result for `key`; the first call computes it.
  template <class Key> const typename Key::Value& get(const LoadedTrace& trace, const Key& key) {
    const Use use(user_);
    std::unique_ptr<Memo>& memo = memos_[typeid(Key)];
    if (memo == nullptr)
      memo = std::make_unique<MemoOf<Key>>();
    auto& values = static_cast<MemoOf<Key>&>(*memo).values;
    auto at = values.find(key);
    if (at == values.end())
      at = values.emplace(key, compute(trace, key)).first;
    return at->second;
  }

private:
  struct Memo {
    virtual ~Memo() = default;
  };
  template <class Key> struct MemoOf final : Memo { std::map<Key, typename Key::Value> values; };

  /// A call of get(). One computation may get the result of another.
  class Use : public NonCopyable {
  public:
    explicit Use(std::atomic<std::thread::id>& user) : user_(user) {
      const std::thread::id here = std::this_thread::get_id();
      RS_ASSERT((user_.compare_exchange_strong(before_, here) || before_ == here) &&
                "one thread analyses a trace");
    }
    ~Use() { user_ = before_; }

  private:
    std::atomic<std::thread::id>& user_;
    std::thread::id before_;
  };

  std::map<std::type_index, std::unique_ptr<Memo>> memos_;
  std::atomic<std::thread::id> user_; ///< the thread in get(); the default id: no thread
};

/// User input about the attention of a model, which the model's operators do not record.
struct AttentionHints {
  /// The maximum number of keys that a token attends to, for each layer; 0 = all keys. If there are
  /// more layers than entries, the list is repeated. Empty: unknown.
  std::vector<std::int64_t> layer_windows;
  std::int64_t sparse_topk = 0; ///< number of keys that sparse attention selects; 0 = computed from
                                ///< the number of heads
};

struct LoadedTrace {
  Trace trace;
  CallTree tree;
  std::int64_t rank = 0; ///< the run's rank (from discovery), else the rank in the header, else 0
  std::string label;     ///< short name in messages and columns
  /// The graph launches that were compared with captures, by start time. Empty if there was no
  /// merge with captures.
  std::vector<GraphLaunch> graph_launches;
  std::optional<std::size_t> pseudo_ops; ///< number of inserted pseudo operators; nullopt = not
                                         ///< searched
  AttentionHints attention;
  /// The trace with all steps, if this trace is a part of it that was chosen by server steps.
  std::shared_ptr<const LoadedTrace> complete;
  /// Clear it if the trace changes.
  mutable SharedFacts facts;

  /// Returns the result of a shared computation. The reference is valid as long as this object.
  template <class Key> [[nodiscard]] const typename Key::Value& shared(const Key& key) const {
    return facts.get(*this, key);
  }
};

/// Visits the events below `root` except GPU work: parents before their children, siblings in
/// order.
template <class Visit> void visit_below(const LoadedTrace& t, EventId root, Visit&& visit) {
  std::vector<EventId> stack{root};
  while (!stack.empty()) {
    const EventId at = stack.back();
    stack.pop_back();
    if (at != root)
      visit(at);
    const auto children = t.tree.children(at);
    for (auto it = children.rbegin(); it != children.rend(); ++it)
      if (!t.trace.gpu(*it))
        stack.push_back(*it);
  }
}

/// Returns the call that launched linked GPU work. For work that a merge with captures put below a
/// graph launch, returns the graph launch, not the call of the capture.
[[nodiscard]] inline EventId launch_of(const LoadedTrace& t, EventId gpu) {
  const EventId call = t.tree.parent(gpu);
  for (EventId at = call; at != kNoEvent; at = t.tree.parent(at))
    if (is_runtime(t.trace.events.category[at]) && launches_graph(t.trace.name(at)))
      return at;
  return call;
}

} // namespace rankscope
