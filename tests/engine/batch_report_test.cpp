// Tests the batch report of small traces against hand-calculated values.
#include "analyses/batch/batch_facts.h"
#include "batch_trace.h"
#include "engine/loader.h"
#include "temp_folder.h"

#include <cmath>
#include <gtest/gtest.h>

namespace rankscope {
namespace {

using test::BatchTrace;

BatchPart part_of(const BatchTrace& trace, bool compat, std::int64_t rank = 0,
                  bool all_kernels = false) {
  const test::TempFolder folder;
  LoadOptions load;
  load.rules = compat ? TreeRules::kBatchReference : TreeRules::kRankscope;
  auto loaded = load_trace(folder.write("t.json", trace.text()), load);
  EXPECT_TRUE(loaded) << loaded.error().message();
  loaded->rank = rank;
  auto part = extract_batch(*loaded, {compat, all_kernels});
  EXPECT_TRUE(part);
  return std::move(*part);
}

std::unique_ptr<const BatchFacts> facts_of(const BatchTrace& trace, bool compat) {
  std::vector<BatchPart> parts;
  parts.push_back(part_of(trace, compat));
  return batch_facts(std::move(parts), {compat, false});
}

std::unique_ptr<const BatchFacts>
facts_of(const std::vector<std::pair<std::int64_t, BatchTrace>>& ranks, bool compat) {
  std::vector<BatchPart> parts;
  for (const auto& [rank, trace] : ranks)
    parts.push_back(part_of(trace, compat, rank));
  return batch_facts(std::move(parts), {compat, false});
}

const BatchFamily& family(const BatchFacts& facts, BatchGroup group) {
  static const BatchFamily kNone;
  for (const BatchFamily& f : facts.families)
    if (f.group == group)
      return f;
  ADD_FAILURE() << "no " << batch_group_name(group);
  return kNone;
}

std::string param(const BatchFamily& f, std::size_t row, const std::string& name) {
  for (std::size_t i = 0; i < f.params.size(); ++i)
    if (f.params[i] == name)
      return f.rows.at(row).params[i];
  return "no such column";
}

const BatchLauncherRow* launcher(const BatchFacts& facts, const std::string& name) {
  for (const BatchLauncherRow& l : facts.launchers)
    if (l.name == name)
      return &l;
  return nullptr;
}

double breakdown(const BatchFacts& facts, const std::string& group) {
  for (const BatchBreakdownRow& row : facts.breakdown)
    if (row.group == group)
      return row.time_s;
  return -1;
}

constexpr const char* kFloats = R"(["float","float","float"])";

TEST(BatchReport, DataMovementInsideAGemmIsTold) {
  BatchTrace t;
  t.op("aten::mm", 0, 5, "[[10,20],[20,30]]", kFloats, "[[20,1],[30,1]]", R"(["",""])")
      .kernel("transpose_kernel", 1, 10, 2)
      .kernel("Cijk_Ailk_Bljk_SB_MT64x64x8", 2, 12, 4);
  for (const bool compat : {false, true}) {
    const auto facts = facts_of(t, compat);
    const BatchFamily& gemm = family(*facts, BatchGroup::kGemm);
    ASSERT_EQ(gemm.rows.size(), 1U);
    const BatchOpRow& row = gemm.rows[0];
    EXPECT_DOUBLE_EQ(row.flops, 12000); // 2 * 10 * 20 * 30
    EXPECT_DOUBLE_EQ(row.bytes, (200 + 600 + 300) * 4);
    EXPECT_NEAR(row.kernel_us.sum, 6, 1e-9);
    EXPECT_NEAR(row.compute_us, 4, 1e-9);
    EXPECT_NEAR(row.tflops.mean, 0.002, 1e-12);         // 12000 / 6e-6 / 1e12
    EXPECT_NEAR(row.compute_tflops.mean, 0.003, 1e-12); // 12000 / 4e-6 / 1e12
    EXPECT_EQ(param(gemm, 0, "transpose"), "(False, False)");
    EXPECT_NE(row.kernel_details.find("[{'name': 'transpose_kernel', 'stream': 7, 'count': 1"),
              std::string::npos)
        << row.kernel_details;
  }
}

TEST(BatchReport, ABatchedProductKeepsItsBatchUnlessCompat) {
  BatchTrace t;
  t.op("aten::bmm", 0, 5, "[[8,128,64],[8,64,256]]", kFloats).kernel("gemm", 1, 10, 4);
  const auto ours = facts_of(t, false);
  const auto theirs = facts_of(t, true);
  EXPECT_DOUBLE_EQ(family(*ours, BatchGroup::kGemm).rows[0].flops, 8 * 4194304.0);
  EXPECT_DOUBLE_EQ(family(*theirs, BatchGroup::kGemm).rows[0].flops, 4194304);
  EXPECT_EQ(param(family(*ours, BatchGroup::kGemm), 0, "B"), "8");
  EXPECT_EQ(param(family(*theirs, BatchGroup::kGemm), 0, "B"), "1");
  EXPECT_DOUBLE_EQ(family(*theirs, BatchGroup::kGemm).rows[0].bytes * 8,
                   family(*ours, BatchGroup::kGemm).rows[0].bytes);
  EXPECT_EQ(family(*theirs, BatchGroup::kGemm).params[0], "B"); // the first parameter
}

TEST(BatchReport, AGemmWithoutKernelsIsLeftOutAndCounted) {
  BatchTrace t;
  t.op("aten::mm", 0, 5, "[[10,20],[20,30]]", kFloats)
      .op("aten::add", 10, 5, "[[4],[4],[]]", kFloats) // other groups retain it
      .op("aten::mm", 20, 5, "[[10,20],[20,30]]", kFloats)
      .kernel("gemm", 21, 30, 4);
  const auto facts = facts_of(t, false);
  EXPECT_EQ(family(*facts, BatchGroup::kGemm).rows[0].count, 1U);
  EXPECT_EQ(family(*facts, BatchGroup::kGemm).without_kernel, 1U);
  const BatchOpRow& add = family(*facts, BatchGroup::kBinary).rows.at(0);
  EXPECT_EQ(add.kernel_us.sum, 0);
  EXPECT_TRUE(std::isnan(add.tflops.mean));
}

TEST(BatchReport, Convolutions) {
  BatchTrace t;
  const char* const types = R"(["float","float","float","","","","","",""])";
  // transposed: output (1, 2, 16, 16), 2 * (2*3*3) * 256 FLOPs
  t.op("aten::convolution", 0, 5, "[[1,4,8,8],[4,2,3,3],[],[],[],[],[],[],[]]", types, "[]",
       R"(["","","","[2, 2]","[1, 1]","[1, 1]","True","[1, 1]","1"])")
      .kernel("conv", 1, 10, 4)
      // three dimensions with a bias: output (1, 3, 3, 3, 3), 2 * (2*2*2*2) * 81 FLOPs (+ 81)
      .op("aten::convolution", 20, 5, "[[1,2,4,4,4],[3,2,2,2,2],[3],[],[],[],[],[],[]]", types,
          "[]", R"(["","","","[1, 1, 1]","[0, 0, 0]","[1, 1, 1]","False","[0, 0, 0]","1"])")
      .kernel("conv", 21, 30, 2);
  for (const bool compat : {false, true}) {
    const auto facts = facts_of(t, compat);
    const BatchFamily& conv = family(*facts, BatchGroup::kConv);
    ASSERT_EQ(conv.rows.size(), 2U);
    EXPECT_DOUBLE_EQ(conv.rows[0].flops, 9216);
    EXPECT_DOUBLE_EQ(conv.rows[0].bytes, (256 + 72 + 512) * 4);
    EXPECT_EQ(param(conv, 0, "transposed_conv"), "True");
    EXPECT_EQ(param(conv, 1, "convNd"), "'conv3d'");
    // the reference does not recognize the bias in a call with nine arguments
    EXPECT_EQ(param(conv, 1, "bias"), compat ? "False" : "True");
    EXPECT_DOUBLE_EQ(conv.rows[1].flops, compat ? 2592 : 2592 + 81);
    EXPECT_DOUBLE_EQ(conv.rows[1].bytes, (128 + 48 + 81 + (compat ? 0 : 3)) * 4);
  }
}

TEST(BatchReport, Attention) {
  BatchTrace t;
  const char* const halves = R"(["c10::Half","c10::Half","c10::Half"])";
  const char* const causal = R"(["","","","0.","True"])";
  // grouped heads and a causal mask: 2*1*4*8*8*(16+16)/2 FLOPs
  t.op("aten::_scaled_dot_product_flash_attention", 0, 5,
       "[[1,4,8,16],[1,2,8,16],[1,2,8,16],[],[]]", halves, "[]", causal)
      .kernel("flash", 1, 10, 4)
      // a causal mask with different lengths: no model
      .op("aten::_scaled_dot_product_flash_attention", 20, 5,
          "[[1,4,8,16],[1,2,9,16],[1,2,9,16],[],[]]", halves, "[]", causal)
      .kernel("flash", 21, 30, 4)
      // three sequences of 60, 20 and 20 tokens: 2*2*(3600 + 800)*16 FLOPs
      .op("flash_attn::_flash_attn_varlen_forward", 40, 5,
          "[[100,2,8],[100,2,8],[100,2,8],[4],[4],[],[],[],[],[]]", halves,
          "[[16,8,1],[16,8,1],[16,8,1]]", R"(["","","","","","60","60","0.","0.5","False"])")
      .kernel("flash", 41, 50, 2);
  for (const bool compat : {false, true}) {
    const auto facts = facts_of(t, compat);
    const BatchFamily& attn = family(*facts, BatchGroup::kAttention);
    ASSERT_EQ(attn.rows.size(), 2U);
    EXPECT_EQ(attn.unfit, 1U);
    EXPECT_DOUBLE_EQ(attn.rows[0].flops, 8192);
    EXPECT_DOUBLE_EQ(attn.rows[0].bytes, 2 * (512 + 256 + 256 + 512));
    EXPECT_EQ(param(attn, 0, "H_KV"), "2");
    EXPECT_EQ(param(attn, 0, "causal"), "True");
    EXPECT_EQ(param(attn, 0, "dtype_A_B"), compat ? "" : "('c10::Half', 'c10::Half')");
    EXPECT_DOUBLE_EQ(attn.rows[1].flops, 281600);
    EXPECT_EQ(param(attn, 1, "q_stride"), "(16, 8, 1)");
    EXPECT_EQ(param(attn, 1, "num_seqs_q"), "3");
    EXPECT_EQ(param(attn, 1, "max_seqlen_q"), "60.0");
  }
}

TEST(BatchReport, TypesWithoutASizeAndOperandsThatDoNotBroadcast) {
  BatchTrace t;
  t.op("aten::div", 0, 5, "[[4],[4]]", R"(["int","int"])")
      .kernel("div", 1, 10, 4)
      .op("aten::add", 20, 5, "[[3],[4],[]]", kFloats) // shapes 3 and 4 do not broadcast
      .kernel("add", 21, 30, 4)
      .op("aten::mul", 40, 5, "[[4],[4]]", R"(["bool","bool"])")
      .kernel("mul", 41, 50, 2);
  const auto ours = facts_of(t, false);
  const auto theirs = facts_of(t, true);
  const BatchFamily& a = family(*ours, BatchGroup::kBinary);
  const BatchFamily& b = family(*theirs, BatchGroup::kBinary);
  ASSERT_EQ(a.rows.size(), 2U);
  ASSERT_EQ(b.rows.size(), 2U);
  EXPECT_EQ(a.unfit, 1U);
  EXPECT_EQ(b.unfit, 1U);
  EXPECT_DOUBLE_EQ(a.rows[0].bytes, 3 * 4 * 4); // an int has four bytes
  EXPECT_TRUE(std::isnan(b.rows[0].bytes));     // not in the list of the reference
  EXPECT_TRUE(std::isnan(b.rows[0].tbps.mean));
  EXPECT_DOUBLE_EQ(b.rows[0].flops, 4);
  EXPECT_TRUE(std::isnan(a.rows[1].bytes)) << "bool";
}

TEST(BatchReport, AnOperatorThatOutlivesItsParentByLittle) {
  BatchTrace t;
  t.op("outer", 0, 20)
      .op("aten::first", 1, 9)    // ends at 10
      .op("aten::second", 9.5, 1) // ends at 10.5
      .kernel("k", 9.6, 30, 4);
  const auto ours = facts_of(t, false);
  EXPECT_NE(launcher(*ours, "aten::second"), nullptr);
  // the reference drops it and assigns its launch to the operator before it
  const auto theirs = facts_of(t, true);
  EXPECT_EQ(launcher(*theirs, "aten::second"), nullptr);
  EXPECT_NE(launcher(*theirs, "aten::first"), nullptr);
}

TEST(BatchReport, CallsThatLaunchThroughAnotherCall) {
  BatchTrace t;
  t.op("aten::mul", 0, 10)
      .call("hipLaunchKernel", 1, 5, 500)
      .call("hipModuleLaunchKernel", 2, 2, 1, "cuda_driver")
      .gpu("kernel", "k", 10, 4, 1)
      .flow(1);
  const auto ours = facts_of(t, false);
  ASSERT_EQ(ours->launchers.size(), 1U);
  EXPECT_EQ(ours->launchers[0].name, "aten::mul");
  EXPECT_DOUBLE_EQ(ours->launchers[0].time_ns, 4000);
  const auto theirs = facts_of(t, true); // counted twice, without the operator
  ASSERT_EQ(theirs->launchers.size(), 2U);
  EXPECT_EQ(theirs->launchers[0].name, "hipLaunchKernel");
  EXPECT_EQ(theirs->launchers[1].name, "hipModuleLaunchKernel");
  EXPECT_DOUBLE_EQ(theirs->launchers[0].percent, 50);
}

TEST(BatchReport, WorkLaunchedOutsideOfOperators) {
  BatchTrace t;
  t.kernel("k", 1, 10, 4).kernel("copy", 20, 30, 2, "", "gpu_memcpy");
  for (const bool compat : {false, true}) {
    const auto facts = facts_of(t, compat);
    ASSERT_EQ(facts->launchers.size(), 1U);
    EXPECT_EQ(facts->launchers[0].name, "hipLaunchKernel");
    EXPECT_EQ(facts->launchers[0].count, 2U);
    EXPECT_DOUBLE_EQ(facts->launchers[0].time_ns, 6000);
    // the copy is in Memcpy; the reference also counts it with its launcher
    EXPECT_NEAR(breakdown(*facts, "Memcpy"), 2e-6, 1e-15);
    EXPECT_NEAR(breakdown(*facts, "Other"), compat ? 6e-6 : 4e-6, 1e-15);
    EXPECT_NEAR(breakdown(*facts, "Total"), compat ? 8e-6 : 6e-6, 1e-15);
  }
}

TEST(BatchReport, LaunchesWithoutAFlowAndEventsWithoutAnId) {
  BatchTrace t;
  t.op("aten::mul", 0, 10)
      .call("hipLaunchKernel", 1, 1, 1) // no flow: not in the tree of the reference
      .gpu("kernel", "no_flow", 10, 20, 1)
      .call("hipLaunchKernel", 3, 1, 2) // launched, but without an External id
      .gpu("kernel", "hidden", 40, 3, 2, false)
      .flow(2)
      .gpu("gpu_memset", "hidden", 50, 12, 3, false);
  for (const bool compat : {false, true}) {
    const auto facts = facts_of(t, compat);
    const BatchLinks& links = facts->links[0].links;
    EXPECT_EQ(links.linked, 1U);
    EXPECT_EQ(links.unlinked, 2U);
    EXPECT_EQ(links.short_linked, 0U);
    EXPECT_EQ(links.short_unlinked, 1U);
    ASSERT_EQ(facts->unlinked.size(), 2U); // the same name in two categories
    EXPECT_EQ(facts->unlinked[0].category, "gpu_memset");
    EXPECT_EQ(facts->unlinked[1].category, "kernel");
    EXPECT_EQ(facts->unlinked[1].sum_ns, 3000);
    // the launched kernels
    EXPECT_NEAR(facts->timeline[0].time_ms[0], compat ? 0.003 : 0.023, 1e-12);
    ASSERT_EQ(facts->short_ops.size(), 1U);
    EXPECT_EQ(facts->short_ops[0], std::pair(std::string("aten::mul"), std::size_t{1}));
  }
}

TEST(BatchReport, AGraphLaunchWithACollectiveInIt) {
  BatchTrace t;
  t.call("hipLaunchKernel", 0, 0.5, 7)
      .gpu("kernel", "k", 1, 1, 7)
      .flow(7)
      .call("hipGraphLaunch", 2, 1, 1)
      .gpu("kernel", "k1", 10, 4, 1)
      .gpu("kernel", "ncclDevKernel_Generic", 20, 8, 1);
  const auto ours = facts_of(t, false);
  EXPECT_DOUBLE_EQ(launcher(*ours, "hipGraphLaunch")->time_ns, 4000);
  const auto theirs = facts_of(t, true); // counted in Comms and in Other
  EXPECT_DOUBLE_EQ(launcher(*theirs, "hipGraphLaunch")->time_ns, 12000);
  EXPECT_NEAR(breakdown(*theirs, "Comms"), 8e-6, 1e-15);
}

TEST(BatchReport, RuntimeCallsByRank) {
  BatchTrace a;
  a.call("hipMemcpy", 0, 3, 1)
      .call("hipMemcpy", 10, 5, 2)
      .call("hipMemcpy", 20, 7, 3, "cuda_driver");
  BatchTrace b;
  b.call("hipFree", 0, 2, 1);
  const auto facts = facts_of({{0, a}, {1, b}, {10, b}}, true);
  ASSERT_EQ(facts->runtime.size(), 3U);
  EXPECT_EQ(facts->runtime[0].name, "hipFree");
  EXPECT_EQ(facts->runtime[0].ranks[0], nullptr);
  EXPECT_EQ(facts->runtime[1].category, "cuda_driver"); // the same name in both categories
  EXPECT_EQ(facts->runtime[2].category, "cuda_runtime");
  EXPECT_EQ(facts->runtime[2].ranks[0]->count, 2U);
  EXPECT_EQ(facts->runtime[2].ranks[0]->sum_ns, 8000);
  const std::vector<Table> tables = batch_tables(*facts, {true, false});
  for (const Table& table : tables)
    if (table.name() == "cuda_events_summary") {
      EXPECT_EQ(table.columns()[4].name, "count_10"); // rank numbers as in the files
      EXPECT_EQ(table.pivot->places[2].member, 10);
    }
}

TEST(BatchReport, TwoGroupsAMissingMemberAndMetadataThatDiffers) {
  BatchTrace a;
  a.collective("allreduce", 100, 10, "0")
      .collective("_allgather_base", 200, 20, "1", "Half", 512, 1024);
  BatchTrace b;
  b.collective("allreduce", 104, 7, "0", "Half");
  const auto facts = facts_of({{0, a}, {10, b}}, true);
  const BatchCollectives& c = facts->collectives;
  ASSERT_EQ(c.kernels.size(), 3U);
  EXPECT_EQ(c.kernels[2].rank, 1) << "the position, not the number";
  ASSERT_EQ(c.synchronous.size(), 2U);
  const BatchCollective& reduce = c.synchronous[0];
  EXPECT_EQ(reduce.id, "0_0");
  EXPECT_DOUBLE_EQ(reduce.latency_us, 7);
  EXPECT_DOUBLE_EQ(reduce.start_skew_us, 4);
  EXPECT_EQ(*reduce.earliest_rank, 0);
  EXPECT_DOUBLE_EQ(reduce.mean_wait_us, 2);
  EXPECT_DOUBLE_EQ(reduce.end_skew_us, 1);             // ends at 110 and 111
  EXPECT_DOUBLE_EQ(reduce.full_mib, 4096.0 / 1048576); // type of the first rank
  EXPECT_DOUBLE_EQ(reduce.algo_gbps, 4096.0 / 1048576 / 1024 / 7e-6);
  EXPECT_DOUBLE_EQ(reduce.bus_gbps, reduce.algo_gbps); // 2 (2 - 1) / 2
  EXPECT_EQ(c.problems.size(), 1U);
  const BatchCollective& gather = c.synchronous[1];
  EXPECT_EQ(gather.members.size(), 1U);                // the other rank has no member
  EXPECT_DOUBLE_EQ(gather.full_mib, 2048.0 / 1048576); // size of the output
  EXPECT_DOUBLE_EQ(gather.bus_gbps, gather.algo_gbps / 2);

  const auto ours = facts_of({{0, a}, {10, b}}, false);
  EXPECT_EQ(ours->collectives.kernels[2].rank, 10);
  ASSERT_EQ(ours->collectives.synchronous.size(), 2U);
  EXPECT_TRUE(std::isnan(ours->collectives.synchronous[1].bus_gbps)) << "a member is missing";
}

TEST(BatchReport, AllToAllVUnknownTypesAndGroupsWithoutAName) {
  BatchTrace a;
  a.collective("all_to_allv", 100, 10, "", "Float", 1048576, 5)
      .collective("allreduce", 200, 10, "", "Float8_e4m3fn");
  BatchTrace b;
  b.collective("all_to_allv", 103, 9, "", "Float", 2097152, 5)
      .collective("allreduce", 200, 10, "", "Float8_e4m3fn");
  const auto facts = facts_of({{0, a}, {1, b}}, true);
  ASSERT_EQ(facts->collectives.all_to_all_v.size(), 1U);
  const BatchCollective& v = facts->collectives.all_to_all_v[0];
  EXPECT_EQ(v.id, "Unknown_Group_0");
  EXPECT_DOUBLE_EQ(v.sent_mib, 4 + 8);
  EXPECT_DOUBLE_EQ(v.sent_nelems, 3 * 1048576.0);
  EXPECT_DOUBLE_EQ(v.start_skew_us, 3);
  EXPECT_DOUBLE_EQ(v.end_skew_us, 2); // ends at 110 and 112
  EXPECT_TRUE(std::isnan(facts->collectives.synchronous.at(0).full_mib));
  const auto ours = facts_of({{0, a}, {1, b}}, false);
  EXPECT_DOUBLE_EQ(ours->collectives.synchronous.at(0).full_mib, 1024.0 / 1048576);
  bool found = false;
  for (const Table& table : batch_tables(*facts, {true, false}))
    found = found || table.name() == "nccl_all2allv";
  EXPECT_TRUE(found);
}

TEST(BatchReport, CollectivesOfEqualSizeInTwoGroups) {
  BatchTrace a;
  a.collective("allreduce", 100, 10, "0").collective("allreduce", 200, 10, "1");
  const auto theirs = facts_of({{0, a}, {1, a}}, true);
  const auto ours = facts_of({{0, a}, {1, a}}, false);
  EXPECT_EQ(theirs->collectives.sums.size(), 1U) << "added up";
  EXPECT_EQ(ours->collectives.sums.size(), 2U);
}

TEST(BatchReport, EveryKernelOfARank) {
  BatchTrace t;
  t.event("cpu_op", "aten::mul", 0, 10,
          R"({"Input Dims":[[4],[4]],"Input type":["float","float"],"kernel_file":"/a.py"})")
      .kernel("k1", 1, 20, 4)
      .kernel("k2", 2, 22, 4) // overlaps k1: 6 us for both
      .gpu("kernel", "alone", 30, 2, 99);
  const BatchPart part = part_of(t, false, 3, true);
  const Table table = batch_kernel_schema(part).table(part.kernels);
  EXPECT_EQ(table.name(), "kernels_3");
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.at(0, "Kernel name").text, "k1");
  EXPECT_EQ(table.at(0, "Parent cpu_op UID").i, 0);
  EXPECT_EQ(table.at(0, "Input dims").text, "((4,), (4,))");
  EXPECT_EQ(table.at(0, "kernel_file").text, "/a.py");
  EXPECT_DOUBLE_EQ(table.at(0, "Parent cpu_op busy time (\u00b5s)").d, 6);
  EXPECT_EQ(table.at(0, "Parent cpu_op kernel count").i, 2);
  EXPECT_NEAR(table.at(0, "Percent of Parent cpu_op busy time (%)").d, 400.0 / 6, 1e-12);
  EXPECT_TRUE(table.at(2, "Parent cpu_op").is_null());
  EXPECT_TRUE(table.at(2, "Percent of Parent cpu_op busy time (%)").is_null());
}

TEST(BatchReport, FlashAttentionIsAttentionAndAPassBackwardCountsAsItsForwardOperator) {
  for (const char* const name :
       {"aten::_flash_attention_backward", "aten::native_layer_norm_backward",
        "aten::convolution_backward"}) {
    BatchTrace back;
    back.op(name, 0, 10).kernel("k", 1, 20, 4);
    EXPECT_NEAR(breakdown(*facts_of(back, false), "Other"), 0, 1e-15) << name;
    EXPECT_NEAR(breakdown(*facts_of(back, true), "Other"), 4e-6, 1e-15) << name;
  }
  BatchTrace t;
  t.op("aten::_flash_attention_forward", 0, 10).kernel("k", 1, 20, 4);
  EXPECT_NEAR(breakdown(*facts_of(t, false), "Attention"), 4e-6, 1e-15);
  const auto theirs = facts_of(t, true); // not in the lists of the reference
  EXPECT_NEAR(breakdown(*theirs, "Other"), 4e-6, 1e-15);
  EXPECT_EQ(theirs->other, std::vector<std::string>{"aten::_flash_attention_forward"});
}

TEST(BatchReport, LayersOfTransformerEngineHaveTheirProducts) {
  const auto layer = [](const char* more) {
    BatchTrace t;
    const std::string args = R"("Sequence number":5,"Input Dims":[[30,20],[2,5,20],[],[],[]],)"
                             R"("Input type":["c10::BFloat16","c10::BFloat16","","",""],)"
                             R"("Concrete Inputs":["","","","","True"]})";
    t.event("cpu_op", "_Linear", 0, 10, "{" + args)
        .kernel("Cijk_Ailk_Bljk_SB_MT64x64x8", 1, 20, 4)
        .event("cpu_op", "autograd::engine::evaluate_function: _LinearBackward", 50, 20,
               R"({"Sequence number":5})", 1, 2)
        .event("cuda_runtime", "hipLaunchKernel", 51, 1, R"({"correlation":1})", 1, 2)
        .gpu("kernel", "Cijk_Ailk_Bljk_SB_MT64x64x8", 60, 4, 1)
        .flow(1)
        .event("cuda_runtime", "hipLaunchKernel", 53, 1, R"({"correlation":2})", 1, 2)
        .gpu("kernel", "Cijk_Ailk_Bljk_SB_MT64x64x8", 70, 4, 2)
        .flow(2);
    if (*more != '\0')
      t.op(more, 100, 1);
    return t;
  };
  for (const bool compat : {false, true}) {
    const auto facts = facts_of(layer(""), compat);
    const BatchFamily& gemm = family(*facts, BatchGroup::kGemm);
    ASSERT_EQ(gemm.rows.size(), 1U);
    EXPECT_EQ(gemm.rows[0].name, "_Linear_yfwd_mm"); // X (10, 20), W (30, 20)
    EXPECT_DOUBLE_EQ(gemm.rows[0].flops, 2 * 10 * 20 * 30);
    EXPECT_EQ(param(gemm, 0, "M"), "10");
    EXPECT_EQ(param(gemm, 0, "dtype_A_B"), "('fp8', 'fp8')");
    EXPECT_NE(launcher(*facts, "_LinearBackward_xgrad_mm"), nullptr);
    EXPECT_NE(launcher(*facts, "_LinearBackward_wgrad_mm"), nullptr);
    EXPECT_EQ(launcher(*facts, "_Linear"), nullptr);
  }
  EXPECT_EQ(launcher(*facts_of(layer("tex_ts::te_gemm_ts"), false), "_Linear_yfwd_mm"), nullptr);
}

TEST(BatchReport, RanksAddUp) {
  const auto mm = [](double us) {
    BatchTrace t;
    t.op("aten::mm", 0, 5, "[[10,20],[20,30]]", kFloats).kernel("gemm", 1, 10, us);
    return t;
  };
  const auto facts = facts_of({{0, mm(4)}, {1, mm(6)}}, true);
  const BatchOpRow& row = family(*facts, BatchGroup::kGemm).rows.at(0);
  EXPECT_EQ(row.count, 2U);
  EXPECT_NEAR(row.kernel_us.mean, 5, 1e-12);
  EXPECT_NEAR(row.kernel_us.std_sample, std::sqrt(2.0), 1e-12);
  EXPECT_NE(row.kernel_details.find("'std_dev_duration_us': 1.0"), std::string::npos);
  EXPECT_NEAR(facts->timeline[0].mean_ms, 0.005, 1e-12);
  // population standard deviation: two values, divided by 2
  EXPECT_NEAR(facts->timeline[0].std_ms, 0.001, 1e-12);
  EXPECT_DOUBLE_EQ(facts->launchers[0].percent, 100);
}

} // namespace
} // namespace rankscope
