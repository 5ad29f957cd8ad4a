// Hand-worked collectives: all-to-all-v with its heat map, type inference, exposed time.
#include "analyses/collectives/collective_findings.h"
#include "analyses/collectives/collective_report.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

Collective all_to_all_v(RankCollectives& r, const char* split, std::int64_t nelems,
                        std::int64_t ts_ns, std::int64_t dur_ns) {
  Collective c;
  c.pg_name = r.texts.intern("3");
  c.pg_ranks = r.texts.intern("[4, 6]");
  c.name = r.texts.intern("all_to_allv");
  c.dtype = r.texts.intern("Float");
  c.in_split = r.texts.intern(split);
  c.kind = collective_kind("all_to_allv");
  c.in_nelems = c.out_nelems = nelems;
  c.group_size = 2;
  c.seq = 1;
  c.ts_ns = ts_ns;
  c.dur_ns = dur_ns;
  return c;
}

TEST(CollectiveReport, AllToAllVByHand) {
  std::vector<RankCollectives> ranks(2);
  ranks[0].rank = 4;
  ranks[1].rank = 6;
  // 3 and 1 rows of 262144 floats: 3 and 1 MiB; rank 6 sends 2 and 2
  ranks[0].rows.push_back(all_to_all_v(ranks[0], "[3, 1]", 4 * 262144, 1000, 9000));
  ranks[1].rows.push_back(all_to_all_v(ranks[1], "[2, 2]", 4 * 262144, 3000, 7000));
  CollectiveOptions options;
  options.align = AlignMode::kNone;
  options.all_to_all_v_heatmap = true;
  const auto report = build_collective_report(ranks, options);
  ASSERT_TRUE(report) << report.error().message();
  const Table* t = report->find("nccl_all2allv");
  ASSERT_NE(t, nullptr);
  EXPECT_DOUBLE_EQ(t->at(0, "total data communicated (MB)").number(), 8);
  EXPECT_DOUBLE_EQ(t->at(0, "wall_time (us)").number(), 9);
  EXPECT_DOUBLE_EQ(t->at(0, "skew in start time").number(), 2);
  EXPECT_DOUBLE_EQ(t->at(0, "skew in end time").number(), 0);
  EXPECT_NEAR(t->at(0, "throughput (GB/s)").number(), 8 * 1048576 / 9e-6 / 1e9, 1e-9);
  const Table* heat = report->find("all2allv_heatmap");
  ASSERT_NE(heat, nullptr);
  ASSERT_EQ(heat->rows(), 4U);
  const double want[4][3] = {{4, 4, 3}, {4, 6, 1}, {6, 4, 2}, {6, 6, 2}};
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(heat->at(r, "src_rank").i, static_cast<std::int64_t>(want[r][0]));
    EXPECT_EQ(heat->at(r, "dst_rank").i, static_cast<std::int64_t>(want[r][1]));
    EXPECT_DOUBLE_EQ(heat->at(r, "total_sent_MB").number(), want[r][2]);
  }
}

// The first row of the sheet waits least; another rank may be last more often.
TEST(CollectiveReport, TheFindingNamesTheRankThatIsLastMostOften) {
  CollectiveFacts facts;
  Straggler seldom; // 2 of 10 times, but by far
  seldom.rank = 4;
  seldom.wait_us = 10;
  seldom.mean_lateness_us = 900;
  seldom.last = 2;
  seldom.collectives = 10;
  Straggler often;
  often.rank = 6;
  often.wait_us = 20;
  often.mean_lateness_us = -0.4;
  often.last = 8;
  often.collectives = 10;
  facts.stragglers = {seldom, often};
  const std::vector<Finding> findings = collective_findings(facts);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].text, "rank 6 comes last in 80 % of 10 collectives; it starts 0.4 us "
                              "before the median rank on average");
  EXPECT_EQ(findings[0].sheet, "straggler_summary");
}

TEST(CollectiveReport, KindsOfNamesThatOccur) {
  const std::pair<const char*, CollectiveKind> cases[] = {
      {"allreduce", CollectiveKind::kAllReduce},
      {"allreduce_coalesced", CollectiveKind::kAllReduce},
      {"_reduce_scatter_base", CollectiveKind::kReduceScatter},
      {"reduce_scatter_tensor_coalesced", CollectiveKind::kReduceScatter},
      {"_allgather_base", CollectiveKind::kAllGather},
      {"all_gather_into_tensor_coalesced", CollectiveKind::kAllGather},
      {"all_to_all", CollectiveKind::kAllToAll},
      {"all_to_allv", CollectiveKind::kAllToAllV},
      {"broadcast", CollectiveKind::kBroadcast},
      {"reduce", CollectiveKind::kReduce},
      {"send", CollectiveKind::kSend},
      {"recv", CollectiveKind::kRecv},
      {"barrier", CollectiveKind::kBarrier},
  };
  for (const auto& [name, kind] : cases)
    EXPECT_EQ(collective_kind(name), kind) << name;
  EXPECT_EQ(dtype_bytes("Float8_e4m3fn"), 1);
  EXPECT_EQ(dtype_bytes("Float8_e5m2fnuz"), 1);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_bandwidth_factor(CollectiveKind::kAllGather, 8), 0.875);
}

LoadedTrace kernel_trace(const char* kernel) {
  LoadedTrace t;
  Trace& trace = t.trace;
  trace.tracks.push_back({});
  const auto add = [&trace](const char* name, std::int64_t ts, std::int64_t dur, Category c) {
    Events& e = trace.events;
    e.ts_ns.push_back(ts);
    e.dur_ns.push_back(dur);
    e.correlation.push_back(kNoId);
    e.external_id.push_back(kNoId);
    e.name.push_back(trace.strings.intern(name));
    e.uid.push_back(static_cast<std::uint32_t>(e.uid.size()));
    e.track.push_back(0);
    e.args.push_back(kNoRow);
    e.stream.push_back(0);
    e.device.push_back(0);
    e.category.push_back(c);
  };
  add(kernel, 0, 100, Category::kKernel);
  add("gemm", 20, 30, Category::kKernel);           // hides [20, 50)
  add("Memcpy DtoD", 40, 30, Category::kGpuMemcpy); // hides [50, 70)
  t.tree = CallTree::build(trace);
  return t;
}

TEST(CollectiveReport, ExposedTimeAndTypeFromTheKernelsName) {
  const RankCollectives r = extract_collectives(kernel_trace("ncclDevKernel_AllGather_RING_LL(x)"));
  ASSERT_EQ(r.rows.size(), 1U);
  EXPECT_EQ(r.rows[0].kind, CollectiveKind::kAllGather);
  EXPECT_EQ(r.rows[0].name_from, Collective::NameFrom::kKernelName);
  EXPECT_EQ(r.rows[0].hidden_compute_ns, 30);
  EXPECT_EQ(r.rows[0].hidden_memcpy_ns, 20);
  EXPECT_EQ(r.exposed_ns, 50);
  EXPECT_EQ(extract_collectives(kernel_trace("ncclDevKernel_Generic_1(x)")).rows[0].name_from,
            Collective::NameFrom::kNone);
  EXPECT_EQ(
      extract_collectives(kernel_trace("void vllm::cross_device_reduce_1stage<half>")).rows[0].kind,
      CollectiveKind::kAllReduce);
  EXPECT_EQ(extract_collectives(kernel_trace("mscclKernel_Sum_float")).rows.size(), 1U);
  const std::pair<const char*, const char*> names[] = {
      {"void deep_ep::internode_ll::dispatch<true, false, 7168>(void*)", "dispatch"},
      {"void deep_ep::intranode::combine<__nv_bfloat16, 8, 768, 4096>(void*)", "combine"},
      {"void deep_ep::intranode::cached_notify_combine<8>(void*)", "barrier"},
      {"EpDispatchIntraNodeKernel_bf16", "dispatch"},
      {"void multimem_all_gather_kernel<16>(char*)", "allgather"},
      {"void quickreduce::allreduce_prototype_twoshot<X, __half>(__half*)", "allreduce"}};
  for (const auto& [kernel, name] : names) {
    const RankCollectives one = extract_collectives(kernel_trace(kernel));
    ASSERT_EQ(one.rows.size(), 1U) << kernel;
    EXPECT_EQ(one.text(one.rows[0].name), name) << kernel;
  }
  EXPECT_EQ(extract_collectives(kernel_trace("elementwise")).rows.size(), 0U);
}

} // namespace
} // namespace rankscope
