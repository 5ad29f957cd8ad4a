// Tests matching of the calls of a graph capture with the kernels of a replay, with expected
// matches found by hand.
#include "analyses/inference/graph_align.h"

#include "base/string_pool.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using Calls = std::vector<std::uint32_t>;

class GraphAlign : public ::testing::Test {
protected:
  std::vector<GraphItem> items(const std::vector<std::string>& names, bool kernels) {
    std::vector<GraphItem> out;
    for (const std::string& name : names)
      out.push_back(graph_item(pool_.intern(name), name, kernels));
    return out;
  }
  GraphAlignment align(const std::vector<std::string>& calls,
                       const std::vector<std::string>& kernels, bool compat = false) {
    return align_graph(items(calls, false), items(kernels, true), compat);
  }
  StringPool pool_;
};

TEST_F(GraphAlign, ByPosition) {
  const GraphAlignment a =
      align({"a", "hipMemcpyAsync", "b", "hipMemsetAsync"},
            {"a", "Memcpy DtoD (Device -> Device)", "b", "__amd_rocclr_fillBufferAligned"});
  EXPECT_EQ(a.match, GraphMatch::kPosition);
  EXPECT_EQ(a.call_of, (Calls{0, 1, 2, 3}));
  EXPECT_EQ(a.matched, 4U);
  EXPECT_FALSE(a.unchecked);
}

// two kernels changed places: the k-th kernel with a name matches the k-th call with that name
TEST_F(GraphAlign, ByGroupsOfAName) {
  const GraphAlignment a = align({"a", "b", "a", "c"}, {"a", "a", "c", "b"});
  EXPECT_EQ(a.match, GraphMatch::kGroups);
  EXPECT_EQ(a.call_of, (Calls{0, 2, 3, 1}));
}

// 5 calls, 4 kernels: the second call ran no kernel
TEST_F(GraphAlign, GreedyPassesCallsOver) {
  const GraphAlignment a = align({"a", "x", "b", "a", "b"}, {"a", "b", "a", "b"});
  EXPECT_EQ(a.match, GraphMatch::kGreedy);
  EXPECT_EQ(a.call_of, (Calls{0, 2, 3, 4}));
}

// calls a b c d e, kernels a X c d e: the reference rejects the launch; rankscope accepts a match
// of half of the kernels or more
TEST_F(GraphAlign, ThePartThatAgreesIsKept) {
  EXPECT_EQ(align({"a", "b", "c", "d", "e"}, {"a", "X", "c", "d", "e"}, true).match,
            GraphMatch::kNone);
  const GraphAlignment a = align({"a", "b", "c", "d", "e"}, {"a", "X", "c", "d", "e"});
  EXPECT_EQ(a.match, GraphMatch::kPartial);
  EXPECT_EQ(a.call_of, (Calls{0, kNoRow, 2, 3, 4}));
  EXPECT_EQ(a.matched, 4U);
  EXPECT_FALSE(a.why.empty());
  // an extra kernel in the middle: the longest common subsequence with "b c b d" is "b c d"
  const GraphAlignment b = align({"a", "b", "c", "d", "z"}, {"a", "b", "c", "b", "d", "z"});
  EXPECT_EQ(b.call_of, (Calls{0, 1, 2, kNoRow, 3, 4}));
}

TEST_F(GraphAlign, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(align({"p", "q", "r"}, {"a", "b", "c"}).match, GraphMatch::kNone);
  EXPECT_EQ(align({"p", "q", "a"}, {"a", "b", "c"}).match, GraphMatch::kNone); // 1 of 3 fits
  EXPECT_EQ(align({}, {"a"}).match, GraphMatch::kNone);
  EXPECT_EQ(align({"a"}, {}).match, GraphMatch::kNone);
  EXPECT_FALSE(align({"p"}, {"a"}).why.empty());
}

// Kernels of stream 1: x a b; of stream 2: a c. Call 1 "a" fits the next kernel of both streams.
TEST_F(GraphAlign, SeveralStreams) {
  std::vector<GraphItem> kernels = items({"x", "a", "a", "b", "c"}, true);
  const std::int32_t streams[] = {1, 1, 2, 1, 2};
  for (std::size_t i = 0; i < kernels.size(); ++i)
    kernels[i].stream = streams[i];
  const GraphAlignment a = align_graph(items({"x", "a", "c", "a", "b"}, false), kernels, false);
  EXPECT_EQ(a.match, GraphMatch::kStreams);
  // calls 1 and 2 are "a c": one kernel of stream 1 matches (a, then b), two of stream 2 (a c)
  EXPECT_EQ(a.call_of, (Calls{0, 3, 1, 4, 2}));
}

TEST_F(GraphAlign, CallsThatDoNotSayTheirKernel) {
  std::vector<GraphItem> calls = items({"cudaLaunchKernel", "cudaMemcpyAsync", "b"}, false);
  calls[0].named = calls[1].named = false;
  const auto kernels = items({"a", "Memcpy DtoD", "b"}, true);
  const GraphAlignment a = align_graph(calls, kernels, false);
  EXPECT_EQ(a.match, GraphMatch::kPosition);
  EXPECT_TRUE(a.unchecked);
  // a call that launches a kernel does not match a copy, except with the rules of the reference
  const auto copies = items({"Memcpy DtoD", "Memcpy DtoD", "b"}, true);
  EXPECT_EQ(align_graph(calls, copies, false).match, GraphMatch::kNone);
  EXPECT_EQ(align_graph(calls, copies, true).match, GraphMatch::kPosition);
  std::vector<GraphItem> spread = kernels;
  spread[2].stream = 9;
  EXPECT_TRUE(align_graph(calls, spread, true).hopeless);
}

} // namespace
} // namespace rankscope
