#include "core/trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(KernelCounters, AreSummedByNameAndFollowTheirKernel) {
  TraceBuilder b("t", "test");
  EventRow row;
  row.category = Category::kKernel;
  row.track = b.track({0, 1});
  const EventId first = b.add(row);
  row.uid = 1;
  const EventId second = b.add(row);
  const StrId waves = b.text("SQ_WAVES");
  const StrId cycles = b.text("GRBM_GUI_ACTIVE");
  b.kernel_counter(second, waves, 3);
  b.kernel_counter(first, cycles, 100);
  b.kernel_counter(second, waves, 4); // from another shader engine
  const Trace t = std::move(b).finish().value();
  ASSERT_EQ(t.kernel_counters.size(), 2U);
  EXPECT_EQ(t.kernel_counters[0].event, first);
  EXPECT_EQ(t.kernel_counters[1].event, second);
  EXPECT_EQ(t.kernel_counters[1].value, 7);

  TraceBuilder part = TraceBuilder::like(t);
  part.add_events(t, {second});
  const Trace added = std::move(part).finish().value();
  ASSERT_EQ(added.kernel_counters.size(), 1U);
  EXPECT_EQ(added.kernel_counters[0].event, 0U);
  EXPECT_EQ(added.strings.view(added.kernel_counters[0].name), "SQ_WAVES");

  TraceBuilder broken("t", "test");
  broken.kernel_counter(5, kEmptyStr, 1);
  EXPECT_FALSE(std::move(broken).finish().has_value());
}

} // namespace
} // namespace rankscope
