// Tests kernel_counters, instruction_mix and device_memory with hand-calculated values.
#include "analyses/operators/kernel_counters.h"
#include "analyses/timeline/device_memory.h"
#include "core/trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

EventId add(TraceBuilder& b, const char* name, std::int64_t at, std::int64_t took) {
  EventRow row;
  row.category = Category::kKernel;
  row.name = b.text(name);
  row.track = b.track({0, 1});
  row.ts_ns = at;
  row.dur_ns = took;
  row.uid = static_cast<std::uint32_t>(b.events());
  return b.add(row);
}

TEST(KernelCountersSheet, ByHand) {
  TraceBuilder b("t", "test");
  const EventId first = add(b, "gemm", 0, 1000);
  const EventId second = add(b, "gemm", 1000, 3000);
  const EventId other = add(b, "copy", 4000, 100);
  (void)add(b, "gemm", 5000, 9000); // without counters
  const StrId waves = b.text("SQ_WAVES");
  const StrId valu = b.text("SQ_INSTS_VALU_MFMA_F16");
  const StrId plain = b.text("SQ_INSTS_VALU");
  b.kernel_counter(first, waves, 10);
  b.kernel_counter(second, waves, 30);
  b.kernel_counter(first, valu, 5);
  b.kernel_counter(second, plain, 7);
  b.kernel_counter(other, waves, 1);
  const Trace t = std::move(b).finish().value();
  const std::vector<KernelCounterRow> rows = kernel_counters_of(t);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].kernel, "gemm"); // 4 us; `copy` has 0.1 us
  EXPECT_EQ(rows[0].counter, "SQ_INSTS_VALU");
  EXPECT_EQ(rows[2].counter, "SQ_WAVES");
  EXPECT_EQ(rows[3].kernel, "copy");
  const Table table = kernel_counters_schema().table(rows);
  EXPECT_EQ(table.at(2, "launches").number(), 2);
  EXPECT_EQ(table.at(2, "mean").number(), 20);
  EXPECT_EQ(table.at(2, "min").number(), 10);
  EXPECT_EQ(table.at(2, "max").number(), 30);
  EXPECT_EQ(table.at(2, "per us").number(), 10); // 40 in 4 us
  const std::vector<InstructionRow> mix = instruction_mix_of(rows);
  ASSERT_EQ(mix.size(), 1U);
  EXPECT_EQ(mix[0].kernel, "gemm");
  EXPECT_EQ(mix[0].valu, 12);
  EXPECT_EQ(mix[0].salu, 0);
}

TEST(DeviceMemorySheet, ByHand) {
  constexpr double kMiB = 1024.0 * 1024.0;
  TraceBuilder b("t", "test");
  (void)add(b, "k", 1'000'000, 9'000'000); // ends at 10 ms
  const StrId name = b.text("GPU memory in use");
  const std::uint32_t gpu = b.track({3, -1});
  b.sample(gpu, name, 2'000'000, 2 * kMiB);
  b.sample(gpu, name, 4'000'000, 6 * kMiB);
  b.sample(gpu, name, 6'000'000, 1 * kMiB);
  b.sample(gpu, b.text("something else"), 6'000'000, 99 * kMiB);
  b.sample(gpu, b.text("GPU scratch memory in use"), 3'000'000, 4 * kMiB);
  const Trace t = std::move(b).finish().value();
  const Table table = device_memory_schema().table(device_memory_of(t));
  ASSERT_EQ(table.rows(), 2U);
  EXPECT_EQ(table.at(0, "memory").text, "allocated");
  EXPECT_EQ(table.at(1, "memory").text, "scratch");
  EXPECT_EQ(table.at(1, "peak (MiB)").number(), 4);
  EXPECT_EQ(table.at(1, "changes").number(), 1);
  EXPECT_EQ(table.at(0, "device").number(), 3);
  EXPECT_EQ(table.at(0, "peak (MiB)").number(), 6);
  EXPECT_EQ(table.at(0, "peak at (ms)").number(), 3); // relative to the start of the kernel
  EXPECT_EQ(table.at(0, "mean (MiB)").number(), (2 * 2 + 6 * 2 + 1 * 4) / 8.0);
  EXPECT_EQ(table.at(0, "at end (MiB)").number(), 1);
  EXPECT_EQ(table.at(0, "changes").number(), 3);
  TraceBuilder none("t", "test");
  (void)add(none, "k", 0, 1);
  EXPECT_TRUE(device_memory_of(std::move(none).finish().value()).empty());
}

} // namespace
} // namespace rankscope
