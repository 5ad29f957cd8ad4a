// Tests the names of collectives without arguments.
#include "analyses/collectives/collective_data.h"
#include "trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

std::string name_below(const std::string& op, const std::string& kernel) {
  test::TraceBuilder b;
  b.op(op, 0, 100).kernel(kernel, 10, 20, 30);
  const LoadedTrace t = b.load();
  const RankCollectives c = extract_collectives(t);
  return c.rows.empty() ? "no collective" : std::string(c.text(c.rows.front().name));
}

// ST-C17: an all-to-all is a group of sends and receives; its operator shows that it is an
// all-to-all.
TEST(CollectiveNames, TheOperatorGoesBeforeTheKernel) {
  const std::string kernel = "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)";
  EXPECT_EQ(name_below("c10d::alltoall_base_", kernel), "alltoall");
  EXPECT_EQ(name_below("c10d::alltoall_", kernel), "alltoall");
  EXPECT_EQ(name_below("c10d::send", kernel), "send");
  EXPECT_EQ(name_below("aten::mm", kernel), "send"); // only the name of the kernel is available
}

} // namespace
} // namespace rankscope
