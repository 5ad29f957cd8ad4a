// Tests collective reports with hand-calculated values: all-to-all-v with its heat map, type
// inference, exposed time.
#include "analyses/collectives/collective_report.h"
#include "analyses/collectives/late_ranks.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <iostream>
#include <random>

namespace rankscope {
namespace {

/// Returns the tables of the facts of these ranks.
Result<Report> report_of_ranks(const std::vector<RankCollectives>& ranks,
                               const CollectiveOptions& options) {
  RS_TRY(const CollectiveFacts facts, collective_facts(ranks, options));
  return collective_tables(facts, options);
}

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
  // rank 4 sends 3 and 1 rows of 262144 floats (3 and 1 MiB); rank 6 sends 2 and 2
  ranks[0].rows.push_back(all_to_all_v(ranks[0], "[3, 1]", 4 * 262144, 1000, 9000));
  ranks[1].rows.push_back(all_to_all_v(ranks[1], "[2, 2]", 4 * 262144, 3000, 7000));
  CollectiveOptions options;
  options.align = AlignMode::kNone;
  options.all_to_all_v_heatmap = true;
  const auto report = report_of_ranks(ranks, options);
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

// With an unknown data type, bytes and rates are unknown: the cells are blank, not 0.
TEST(CollectiveReport, AllToAllVOfUnknownSizesIsBlank) {
  std::vector<RankCollectives> ranks(2);
  ranks[0].rank = 4;
  ranks[1].rank = 6;
  ranks[0].rows.push_back(all_to_all_v(ranks[0], "[3, 1]", 4 * 262144, 1000, 9000));
  ranks[1].rows.push_back(all_to_all_v(ranks[1], "[2, 2]", 4 * 262144, 3000, 7000));
  ranks[1].rows[0].dtype = ranks[1].texts.intern("Strange");
  CollectiveOptions options;
  options.all_to_all_v_heatmap = true;
  const auto report = report_of_ranks(ranks, options);
  ASSERT_TRUE(report) << report.error().message();
  const Table* t = report->find("nccl_all2allv");
  ASSERT_NE(t, nullptr);
  EXPECT_TRUE(std::isnan(t->at(0, "total data communicated (MB)").number()));
  EXPECT_TRUE(std::isnan(t->at(0, "throughput (GB/s)").number()));
  const Table* heat = report->find("all2allv_heatmap");
  ASSERT_NE(heat, nullptr);
  EXPECT_DOUBLE_EQ(heat->at(0, "total_sent_MB").number(), 3);
  EXPECT_TRUE(std::isnan(heat->at(2, "total_sent_MB").number()));
}

Collective plain(RankCollectives& r, const char* pg, const char* list, const char* name,
                 std::int64_t nelems, std::int64_t seq, std::int64_t ts_ns, std::int64_t dur_ns) {
  Collective c;
  c.pg_name = r.texts.intern(pg);
  c.pg_ranks = r.texts.intern(list);
  c.name = r.texts.intern(name);
  c.dtype = r.texts.intern("Float");
  c.kind = collective_kind(name);
  c.in_nelems = c.out_nelems = nelems;
  c.group_size = 2;
  c.seq = seq;
  c.ts_ns = ts_ns;
  c.dur_ns = dur_ns;
  return c;
}

// Kernels that differ after 40 characters are different rows, and no name ends inside a
// parenthesis.
TEST(CollectiveReport, CollectivesWithoutANameHaveTheShortNameOfTheKernel) {
  std::vector<RankCollectives> ranks(1);
  for (const char* kernel : {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)",
                             "ncclDevKernel_Generic(ncclDevKernelArgsStorage<8192ul>)",
                             "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)"}) {
    Collective c;
    c.kernel = ranks[0].texts.intern(kernel);
    c.dur_ns = 1000;
    c.ts_ns = 5000 * static_cast<std::int64_t>(ranks[0].rows.size());
    ranks[0].rows.push_back(c);
  }
  const auto report = report_of_ranks(ranks, {});
  ASSERT_TRUE(report) << report.error().message();
  const Table* t = report->find("exposed_by_type");
  ASSERT_NE(t, nullptr);
  std::vector<std::string> names;
  for (std::size_t r = 0; r < t->rows(); ++r)
    names.emplace_back(t->at(r, "Collective name").text);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"(unknown: AllReduce bf16 sum RING LL)",
                                             "(unknown: nccl Generic 4096ul)",
                                             "(unknown: nccl Generic 8192ul)"}));
}

// A send on one rank and a receive on the other rank are matched without a warning, also if their
// sizes differ.
TEST(CollectiveReport, SendsAndTheirReceivesAgree) {
  std::vector<RankCollectives> ranks(2);
  ranks[1].rank = 1;
  for (std::int64_t i = 0; i < 6; ++i) {
    ranks[0].rows.push_back(
        plain(ranks[0], "0", "[0, 1]", i % 2 == 0 ? "send" : "recv", 100, i, i * 10'000, 5000));
    ranks[1].rows.push_back(plain(ranks[1], "0", "[0, 1]", i % 2 == 0 ? "recv" : "send", 100 + i, i,
                                  i * 10'000 + 100, 4900));
  }
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->collectives.size(), 6U);
  EXPECT_TRUE(facts->problems.empty()) << facts->problems.front().problem;
}

// A group of four ranks with a send from rank 0 to rank 1 (1 MiB in 10 us) and one from rank 2 to
// rank 3 (2 MiB in 20 us), all with the same Seq.
TEST(CollectiveReport, TransfersOfAGroupAreCountedByPair) {
  std::vector<RankCollectives> ranks(4);
  for (std::size_t r = 0; r < 4; ++r) {
    ranks[r].rank = static_cast<std::int64_t>(r);
    const std::int64_t mib = r < 2 ? 1 : 2;
    Collective c = plain(ranks[r], "0", "[0, 1, 2, 3]", r % 2 == 0 ? "send" : "recv", mib << 18, 1,
                         0, mib * 10'000);
    c.group_size = 4;
    c.src_rank = ranks[r].rank / 2 * 2;
    c.dst_rank = c.src_rank + 1;
    ranks[r].rows.push_back(c);
  }
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->totals.incomplete, 0U);
  ASSERT_EQ(facts->groups.size(), 1U);
  EXPECT_EQ(facts->groups[0].collectives, 2);
  EXPECT_EQ(facts->groups[0].kernels, 4);
  EXPECT_DOUBLE_EQ(facts->groups[0].mib, 3);
  ASSERT_EQ(facts->collectives.size(), 2U);
  EXPECT_EQ(facts->collectives[0].id, "0_0->1_0");
  EXPECT_EQ(facts->collectives[1].id, "0_2->3_0");
  EXPECT_DOUBLE_EQ(facts->collectives[1].bus_gbps, 2 * 1048576 / 20e3); // bytes/ns
  // the sender does not record the receiver: the time of one side can be waiting
  for (RankCollectives& r : ranks)
    (r.rows[0].kind == CollectiveKind::kSend ? r.rows[0].dst_rank : r.rows[0].src_rank) = kNoId;
  const Result<CollectiveFacts> unknown = collective_facts(ranks, {});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->totals.incomplete, 0U);
  EXPECT_EQ(unknown->collectives.size(), 4U);
  for (const TimedCollective& t : unknown->collectives)
    EXPECT_TRUE(std::isnan(t.bus_gbps));
}

TEST(CollectiveReport, WithoutAGroupsSizeTheBusBandwidthIsBlank) {
  std::vector<RankCollectives> ranks(1);
  ranks[0].rows.push_back(plain(ranks[0], "", "", "allreduce", 1 << 20, 1, 0, 5000));
  ranks[0].rows[0].group_size = kNoId;
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts);
  EXPECT_GT(facts->collectives[0].algo_gbps, 0);
  EXPECT_TRUE(std::isnan(facts->collectives[0].bus_gbps));
}

// Groups with the same name but different members are different groups, and so are their
// collectives.
TEST(CollectiveReport, IdsTellGroupsOfOneNameApart) {
  std::vector<RankCollectives> ranks(4);
  for (std::size_t r = 0; r < 4; ++r) {
    ranks[r].rank = static_cast<std::int64_t>(r);
    ranks[r].rows.push_back(
        plain(ranks[r], "1", r < 2 ? "[0, 1]" : "[2, 3]", "allreduce", 1 << 20, 1, 0, 5000));
  }
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts);
  ASSERT_EQ(facts->collectives.size(), 2U);
  EXPECT_EQ(facts->collectives[0].id, "1_0");
  EXPECT_EQ(facts->collectives[1].id, "1~2_0");
}

// The three collectives before the first step are not a sample. All collectives of one step are one
// sample (ST-0.4).
TEST(CollectiveReport, WhatIsBeforeTheFirstStepIsNoStep) {
  for (const std::int64_t steps : {1, 4}) {
    std::vector<RankCollectives> ranks(2);
    ranks[1].rank = 1;
    for (std::int64_t i = 0; i < 20; ++i)
      for (std::size_t r = 0; r < 2; ++r) {
        Collective c = plain(ranks[r], "0", "[0, 1]", "allreduce", 1 << 20, i, i * 100'000,
                             r == 0 ? 50'000 : 40'000);
        c.step = i < 3 ? -1 : i % steps;
        ranks[r].rows.push_back(c);
      }
    const Result<CollectiveFacts> facts = collective_facts(ranks, {});
    ASSERT_TRUE(facts);
    ASSERT_EQ(facts->stragglers.size(), 2U);
    EXPECT_EQ(facts->stragglers[0].late_us.size(), steps == 1 ? 1U : 4U);
  }
}

// One BFloat16 collective has half the bytes of the Float collectives and takes as long. It is not
// reported as slow: a collective is compared only with collectives of the same type.
TEST(CollectiveReport, ASlowCollectiveIsSlowForItsType) {
  std::vector<RankCollectives> ranks(2);
  ranks[1].rank = 1;
  for (std::int64_t i = 0; i < 200; ++i)
    for (RankCollectives& r : ranks) {
      Collective c =
          plain(r, "0", "[0, 1]", "allreduce", 1 << 20, i, i * 100'000, 40'000 + i % 7 * 100);
      if (i == 77)
        c.dtype = r.texts.intern("BFloat16"); // half the bytes, the same duration
      r.rows.push_back(c);
    }
  const Result<CollectiveFacts> facts = collective_facts(ranks, {});
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->totals.slow) << facts->totals.slow->id;
}

/// Returns a random run: each step has three all-reduces, and all ranks leave an all-reduce within
/// 0.5 us. Each rank starts late by random noise per step and per collective; rank 5 starts
/// `late_us` later.
std::vector<RankCollectives> random_run(std::mt19937_64& random, double late_us, bool with_steps) {
  constexpr std::size_t kRanks = 8;
  constexpr int kSteps = 10;
  constexpr int kPerStep = 3;
  std::normal_distribution<double> step_noise(0, 20);
  std::normal_distribution<double> call_noise(0, 10);
  std::uniform_real_distribution<double> leave(0, 0.5);
  std::vector<RankCollectives> ranks(kRanks);
  for (std::size_t r = 0; r < kRanks; ++r)
    ranks[r].rank = static_cast<std::int64_t>(r);
  double now = 1000;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<double> late;
    for (std::size_t r = 0; r < kRanks; ++r)
      late.push_back(step_noise(random) + (r == 5 ? late_us : 0));
    for (int call = 0; call < kPerStep; ++call) {
      std::vector<double> start;
      for (std::size_t r = 0; r < kRanks; ++r)
        start.push_back(now + 200 + late[r] + call_noise(random));
      const double end = *std::max_element(start.begin(), start.end()) + 300;
      for (std::size_t r = 0; r < kRanks; ++r) {
        RankCollectives& rank = ranks[r];
        Collective c;
        c.pg_name = rank.texts.intern("0");
        c.pg_ranks = rank.texts.intern("[0, 1, 2, 3, 4, 5, 6, 7]");
        c.name = rank.texts.intern("allreduce");
        c.dtype = rank.texts.intern("Float");
        c.kind = CollectiveKind::kAllReduce;
        c.in_nelems = c.out_nelems = 1 << 20;
        c.group_size = kRanks;
        c.seq = step * kPerStep + call;
        c.step = with_steps ? step : -1;
        c.ts_ns = std::llround(start[r] * 1e3);
        c.dur_ns = std::llround((end + leave(random)) * 1e3) - c.ts_ns;
        rank.rows.push_back(c);
      }
      now = end;
    }
  }
  return ranks;
}

struct Named {
  int a_rank = 0, the_rank = 0, slow = 0;
};

Named named_ranks(double late_us, bool with_steps) {
  Named out;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    const std::vector<RankCollectives> ranks = random_run(random, late_us, with_steps);
    const Result<CollectiveFacts> facts = collective_facts(ranks, CollectiveOptions{});
    EXPECT_TRUE(facts);
    for (const LateRank& r : late_ranks(*facts).ranks) {
      out.a_rank += r.late.significant ? 1 : 0;
      out.the_rank += r.late.significant && r.rank->rank == 5 ? 1 : 0;
    }
    out.slow += facts->totals.slow ? 1 : 0;
  }
  return out;
}

// Noise of a rank's mean in a step: sqrt(20^2 + 10^2 / 3) = 20.8 us; the effect is four times that.
TEST(CollectiveReport, OverAHundredRunsNoRankIsNamedByChanceAndASlowOneIs) {
  for (const bool with_steps : {true, false}) {
    const Named none = named_ranks(0, with_steps);
    const Named slow = named_ranks(83.2, with_steps);
    std::cout << "no slow rank: one named in " << none.a_rank << " of 100, a slow collective in "
              << none.slow << "\nlate by four times the noise: named in " << slow.the_rank
              << " of 100, another in " << slow.a_rank - slow.the_rank << "\n";
    EXPECT_LE(none.a_rank, 5);
    EXPECT_LE(none.slow, 5);
    // without steps, each of the eight ranks is one sample: too few peers
    EXPECT_TRUE(with_steps ? slow.the_rank >= 95 : slow.a_rank == 0);
    EXPECT_LE(slow.a_rank - slow.the_rank, 5);
  }
}

TEST(CollectiveReport, NoWaitIsMadeUpForWhatMakesNobodyWait) {
  std::vector<RankCollectives> ranks(2);
  for (std::size_t r = 0; r < 2; ++r) {
    ranks[r].rank = static_cast<std::int64_t>(r);
    for (const char* name : {"send", "broadcast", "", "allreduce"}) {
      Collective c;
      c.name = ranks[r].texts.intern(name);
      c.pg_name = ranks[r].texts.intern(name);
      c.kernel = ranks[r].texts.intern("ncclDevKernel_Generic_1");
      c.kind = collective_kind(name);
      c.ts_ns = static_cast<std::int64_t>(1000 * r);
      c.dur_ns = 5000 - c.ts_ns;
      ranks[r].rows.push_back(c);
    }
  }
  CollectiveOptions options;
  options.align = AlignMode::kNone;
  const auto report = report_of_ranks(ranks, options);
  ASSERT_TRUE(report);
  const Table* rows = report->find("nccl_long");
  ASSERT_NE(rows, nullptr);
  for (std::size_t r = 0; r < rows->rows(); ++r) {
    const bool sync = rows->at(r, "Collective name").text == "allreduce";
    EXPECT_EQ(rows->at(r, "wait (\u00b5s)").is_null(), !sync) << r;
    EXPECT_EQ(rows->at(r, "transfer (\u00b5s)").is_null(), !sync) << r;
  }
}

TEST(CollectiveReport, AChartOfTheBandwidthBySize) {
  CollectiveFacts facts;
  for (const double mib : {1.0, 64.0}) {
    SyncSummary row;
    row.name = "allreduce";
    row.full_mib = mib;
    row.bus_gbps.mean = 3 * mib;
    facts.summary.push_back(row);
  }
  facts.summary.emplace_back(); // its bandwidth is unknown: no point in the chart
  facts.summary.back().full_mib = 2;
  const auto charts = [&facts](const CollectiveOptions& options) {
    const Report report = collective_tables(facts, options);
    const Table* const table = report.find("nccl_summary_implicit_sync");
    EXPECT_NE(table, nullptr);
    for (const Chart& chart : table->charts) {
      EXPECT_EQ(table->columns()[chart.label_column].id, "full_mib");
      EXPECT_EQ(table->columns()[chart.value_columns.front()].id, "bus_bw_gbps_mean");
      EXPECT_EQ(chart.last_row, 3U);
    }
    return table->charts.size();
  };
  CollectiveOptions options;
  EXPECT_EQ(charts(options), 1U);
  options.agg_metrics = {"max"};
  EXPECT_EQ(charts(options), 0U);
  facts.summary.front().bus_gbps.mean = 0; // 0 is not on a logarithmic axis
  EXPECT_EQ(charts({}), 0U);
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

// PyTorch records only the peer. In a group of two ranks, the pair is the group.
TEST(CollectiveReport, ASendsRanksAreThatOfItsTraceAndItsPeer) {
  const auto pair_of = [](const char* name, const char* list, std::int64_t size,
                          std::int64_t src_rank, std::int64_t dst_rank) {
    LoadedTrace t = kernel_trace("ncclDevKernel_SendRecv(x)");
    t.rank = 5;
    CollectiveArgs args;
    args.collective_name = t.trace.strings.intern(name);
    args.pg_ranks = t.trace.strings.intern(list);
    args.group_size = size;
    args.src_rank = src_rank;
    args.dst_rank = dst_rank;
    t.trace.collectives.emplace_back(0, args);
    const RankCollectives r = extract_collectives(t);
    return std::pair(r.rows.at(0).src_rank, r.rows.at(0).dst_rank);
  };
  EXPECT_EQ(pair_of("send", "[4, 5, 6]", 3, kNoId, 6), std::pair(std::int64_t{5}, std::int64_t{6}));
  EXPECT_EQ(pair_of("recv", "[4, 5, 6]", kNoId, 4, kNoId),
            std::pair(std::int64_t{4}, std::int64_t{5}));
  EXPECT_EQ(pair_of("recv", "[4, 5, 6]", 3, kNoId, kNoId), std::pair(kNoId, std::int64_t{5}));
  EXPECT_EQ(pair_of("send", "[5, 6]", 2, kNoId, 6), std::pair(kNoId, kNoId));
  EXPECT_EQ(pair_of("allreduce", "[4, 5, 6]", 3, kNoId, kNoId), std::pair(kNoId, kNoId));
  // without the list, the peer's number is that in the communicator
  EXPECT_EQ(pair_of("send", "", 3, kNoId, 1), std::pair(std::int64_t{5}, kNoId));
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
    const RankCollectives collectives = extract_collectives(kernel_trace(kernel));
    ASSERT_EQ(collectives.rows.size(), 1U) << kernel;
    EXPECT_EQ(collectives.text(collectives.rows[0].name), name) << kernel;
  }
  EXPECT_EQ(extract_collectives(kernel_trace("elementwise")).rows.size(), 0U);
}

} // namespace
} // namespace rankscope
