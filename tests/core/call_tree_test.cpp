// Tests which GPU work belongs to a call, depending on the source of the call, with hand-made
// traces.
#include "core/call_tree.h"
#include "core/trace_builder.h"

#include <array>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

/// An operator [0, 1000] that contains an outer call [90, 300] and an inner call [100, 200] with
/// the same id, and a kernel, a fill and a copy with that id.
class OneCall {
public:
  explicit OneCall(CallWork rule, std::uint16_t source = 0) : source_(source), rule_(rule) {
    TraceBuilder b("t", "test");
    b.source().call_work = source == 0 ? rule : CallWork::kOne;
    if (source > 0) {
      TraceSource other = b.source();
      other.call_work = rule;
      (void)b.add_source(other);
    }
    op = add(b, Category::kCpuOp, 0, 1000, kNoId);
    outer = add(b, Category::kRuntime, 90, 210, 5);
    inner = add(b, Category::kRuntime, 100, 100, 5);
    kernel = add(b, Category::kKernel, 400, 100, 5);
    fill = add(b, Category::kGpuMemset, 500, 20, 5);
    copy = add(b, Category::kGpuMemcpy, 520, 80, 5);
    stray = add(b, Category::kKernel, 600, 10, 6);
    trace = std::move(b).finish().value();
    tree = CallTree::build(trace);
  }

  [[nodiscard]] std::vector<EventId> gpu_events(EventId e) const {
    const auto events = tree.gpu_events(e);
    return {events.begin(), events.end()};
  }

  EventId op{}, outer{}, inner{}, kernel{}, fill{}, copy{}, stray{};
  Trace trace;
  CallTree tree;

private:
  EventId add(TraceBuilder& b, Category category, std::int64_t at, std::int64_t took,
              std::int64_t id) const {
    EventRow row;
    row.category = category;
    // for a database, the name is not that of a launch: its ids belong to calls of any name
    row.name = b.text(rule_ == CallWork::kAll ? "hipMemcpyWithStream" : "hipLaunchKernel");
    row.track = b.track({is_gpu(category) ? 0 : 1, 1});
    row.ts_ns = at;
    row.dur_ns = took;
    row.correlation = id;
    row.source = source_;
    row.uid = static_cast<std::uint32_t>(b.events());
    return b.add(row);
  }

  std::uint16_t source_;
  CallWork rule_;
};

TEST(CallTreeSources, ACallOfADatabaseHasAllWorkOfItsId) {
  for (const std::uint16_t source : {std::uint16_t{0}, std::uint16_t{1}}) {
    const OneCall t(CallWork::kAll, source);
    const std::vector<EventId> all = {t.kernel, t.fill, t.copy};
    EXPECT_EQ(t.gpu_events(t.inner), all);
    EXPECT_EQ(t.gpu_events(t.op), all); // each only once, although two calls have the id
    EXPECT_EQ(t.tree.linked_count(), 3U);
    for (const EventId e : all)
      EXPECT_EQ(t.tree.parent(e), t.inner);
    EXPECT_TRUE(t.tree.children(t.outer).size() == 1 && t.tree.children(t.outer)[0] == t.inner);
    EXPECT_FALSE(t.tree.linked(t.stray));
  }
}

TEST(CallTreeSources, ACallOfKinetoHasTheLastEventOfItsId) {
  const OneCall t(CallWork::kOne);
  EXPECT_EQ(t.gpu_events(t.inner), std::vector<EventId>{t.copy});
  EXPECT_EQ(t.tree.linked_count(), 1U);
  EXPECT_FALSE(t.tree.linked(t.kernel));
}

TEST(CallTreeSources, ManyCallsOfOneIdTakeTimeInProportion) {
  TraceBuilder b("t", "test"); // with quadratic time, this would take ten minutes
  b.source().call_work = CallWork::kAll;
  EventRow row;
  row.name = b.text("hipLaunchKernel");
  row.correlation = 0;
  row.dur_ns = 1;
  row.category = Category::kRuntime;
  row.track = b.track({1, 1});
  constexpr std::uint32_t kCalls = 300'000;
  for (row.uid = 0; row.uid < kCalls; ++row.uid, row.ts_ns += 2)
    (void)b.add(row);
  row.category = Category::kKernel;
  const EventId kernel = b.add(row);
  const Trace trace = std::move(b).finish().value();
  const CallTree tree = CallTree::build(trace);
  EXPECT_EQ(tree.parent(kernel), kCalls - 1);
}

// The second launch has no flow. The flow of the third launch ends where no kernel is.
TEST(CallTreeFlows, AnIdLinksWhereTheFlowIsMissing) {
  TraceBuilder b("t", "test");
  EventRow row;
  std::array<EventId, 3> launches{};
  std::array<EventId, 3> kernels{};
  for (std::uint32_t i = 0; i < 3; ++i) {
    row.correlation = 10 + i;
    row.dur_ns = 5;
    row.ts_ns = 100 * i;
    row.name = b.text("cudaLaunchKernel");
    row.category = Category::kRuntime;
    row.track = b.track({1, 1});
    row.uid = static_cast<std::uint32_t>(b.events());
    launches[i] = b.add(row);
    row.ts_ns += 20;
    row.name = b.text("k");
    row.category = Category::kKernel;
    row.track = b.track({0, 7});
    row.uid = static_cast<std::uint32_t>(b.events());
    kernels[i] = b.add(row);
    if (i != 1) {
      b.flow(10 + i, 100 * i, b.track({1, 1}), FlowKind::kAc2gStart);
      b.flow(10 + i, 100 * i + 20, b.track({0, i == 0 ? 7 : 8}), FlowKind::kAc2gEnd);
    }
  }
  const Trace trace = std::move(b).finish().value();
  const CallTree native = CallTree::build(trace);
  const CallTree reference = CallTree::build(trace, {false, TreeRules::kReference});
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(native.parent(kernels[i]), launches[i]);
    EXPECT_EQ(reference.linked(kernels[i]), i == 0);
  }
}

} // namespace
} // namespace rankscope
