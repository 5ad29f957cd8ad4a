// Tests TraceBuilder: traces built event by event and chunk by chunk; inconsistent input is
// reported.
#include "core/steps.h"
#include "core/trace_builder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

Track track_of(std::int64_t pid, std::int64_t tid) {
  Track out;
  out.pid = pid;
  out.tid = tid;
  return out;
}

EventRow event(TraceBuilder& b, const char* name, std::int64_t ts, std::int64_t dur,
               Category category = Category::kCpuOp) {
  EventRow out;
  out.name = b.text(name);
  out.ts_ns = ts;
  out.dur_ns = dur;
  out.track = b.track(track_of(1, 2));
  out.category = category;
  return out;
}

TEST(TraceBuilder, EventByEvent) {
  TraceBuilder b("run.toy", "toy");
  b.source().clock = {ClockDomain::kUnix, 1000};
  OpArgs args;
  args.input_dims = b.arg_text("[[2,3]]");
  EventRow op = event(b, "aten::mm", 5, 10);
  op.args = b.op_args(args);
  op.uid = 7;
  const EventId first = b.add(op);
  CollectiveArgs collective;
  collective.seq = 3;
  const EventId second = b.add(event(b, "nccl", 6, 2, Category::kKernel));
  b.collective(second, collective);
  b.set_process_name(1, b.text("python"));
  b.set_thread_name(b.track(track_of(1, 2)), b.text("main"));
  b.flow(4, 5, b.track(track_of(1, 2)), FlowKind::kAc2gStart);
  b.sample(b.track(track_of(9, 0)), b.text("power"), 6, 301.5, b.text("W"));
  b.set_input(100, 9);
  const Result<Trace> t = std::move(b).finish();
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->path, "run.toy");
  EXPECT_EQ(t->sources.at(0).reader, "toy");
  EXPECT_EQ(t->clock().offset_ns, 1000);
  EXPECT_EQ(t->name(first), "aten::mm");
  EXPECT_EQ(t->events.uid[first], 7U);
  EXPECT_EQ(t->strings.view(t->op(first)->input_dims), "[[2, 3]]");
  EXPECT_EQ(t->arg(t->op(first)->input_dims)->list.size(), 1U);
  EXPECT_EQ(t->collective_of(second)->seq, 3);
  ASSERT_EQ(t->tracks.size(), 2U);
  EXPECT_EQ(t->strings.view(t->tracks[0].process_name), "python");
  EXPECT_EQ(t->strings.view(t->tracks[0].thread_name), "main");
  ASSERT_EQ(t->counters.size(), 1U);
  EXPECT_EQ(t->counters.value[0], 301.5);
  EXPECT_EQ(t->strings.view(t->counters.unit[0]), "W");
  EXPECT_EQ(t->events_in_file, 9U);
}

TEST(TraceBuilder, ChunksGetTheIdsOfTheTrace) {
  TraceBuilder b("x");
  (void)b.text("something before");
  (void)b.track(track_of(8, 8));
  const auto chunk = [](const char* name, std::int64_t ts) {
    TraceChunk c;
    c.tracks.push_back(track_of(1, 2));
    c.events.ts_ns = {ts, ts + 1};
    c.events.dur_ns = {1, 1};
    c.events.correlation = {kNoId, 5};
    c.events.external_id = {kNoId, kNoId};
    c.events.name = {c.strings.intern(name), c.strings.intern("nccl")};
    c.events.uid = {0, 2};
    c.events.track = {0, 0};
    c.events.args = {0, 0};
    c.events.stream = {-1, 7};
    c.events.device = {-1, 0};
    c.events.category = {Category::kCpuOp, Category::kKernel};
    OpArgs op;
    op.input_dims = c.strings.intern("[[1]]");
    c.op_args.push_back(op);
    c.gpu_args.push_back({c.strings.intern("[9]"), kEmptyStr, 77});
    CollectiveArgs args;
    args.dtype = c.strings.intern("Float");
    c.collectives.emplace_back(1, args);
    c.counters.track = {0};
    c.counters.name = {c.strings.intern("power")};
    c.counters.ts_ns = {ts};
    c.counters.value = {2};
    c.counters.unit = {kEmptyStr};
    return c;
  };
  EXPECT_EQ(b.append(chunk("first", 10), 0), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(b.append(chunk("second", 20), 3), (std::vector<std::uint32_t>{1}));
  const Result<Trace> t = std::move(b).finish();
  ASSERT_TRUE(t) << t.error().message();
  ASSERT_EQ(t->events.size(), 4U);
  EXPECT_EQ(t->name(2), "second");
  EXPECT_EQ(t->events.uid, (std::vector<std::uint32_t>{0, 2, 3, 5}));
  EXPECT_EQ(t->strings.view(t->op(2)->input_dims), "[[1]]");
  EXPECT_EQ(t->gpu_arg(3)->bytes, 77);
  EXPECT_EQ(t->strings.view(t->gpu_arg(3)->grid), "[9]");
  EXPECT_EQ(t->strings.view(t->collective_of(3)->dtype), "Float");
  EXPECT_EQ(t->collective_of(2), nullptr);
  EXPECT_EQ(t->strings.view(t->counters.name[1]), "power");
  EXPECT_EQ(t->tracks.size(), 2U);
}

TEST(TraceBuilder, EventsOfASecondSource) {
  TraceBuilder b("x");
  (void)b.add(event(b, "file", 1, 1));
  const std::uint16_t made = b.add_source({"x", "", {}});
  EventRow row = event(b, "made", 2, 1);
  row.source = made;
  (void)b.add(row);
  (void)b.add(event(b, "file again", 3, 1));
  const Result<Trace> t = std::move(b).finish();
  ASSERT_TRUE(t) << t.error().message();
  EXPECT_EQ(t->events.row(0).source, 0);
  EXPECT_EQ(t->events.row(1).source, 1);
  EXPECT_EQ(t->events.row(2).source, 0);
  const Trace part = select_events(*t, {1, 2});
  EXPECT_EQ(part.events.row(0).source, 1);
  EXPECT_EQ(part.events.row(1).source, 0);
  EXPECT_EQ(part.name(1), "file again");
}

TEST(TraceBuilder, WhatDoesNotFitIsAnInternalError) {
  const auto why = [](auto&& spoil) {
    TraceBuilder b("x");
    EventRow row = event(b, "a", 1, 1);
    spoil(b, row);
    (void)b.add(row);
    const Result<Trace> t = std::move(b).finish();
    if (t)
      return std::string();
    EXPECT_EQ(t.error().code, ErrorCode::kInternal);
    return t.error().what;
  };
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_EQ(why([](TraceBuilder&, EventRow&) {}), "");
  EXPECT_TRUE(has(why([](TraceBuilder&, EventRow& r) { r.name = 99; }), "not a text"));
  EXPECT_TRUE(has(why([](TraceBuilder&, EventRow& r) { r.track = 99; }), "no track"));
  EXPECT_TRUE(has(why([](TraceBuilder&, EventRow& r) { r.args = 0; }), "arguments"));
  EXPECT_TRUE(has(why([](TraceBuilder&, EventRow& r) { r.source = 1; }), "source"));
  EXPECT_TRUE(has(why([](TraceBuilder&, EventRow& r) { r.dur_ns = -1; }), "times"));
  EXPECT_TRUE(
      has(why([](TraceBuilder&, EventRow& r) { r.ts_ns = r.dur_ns = kMaxTimeNs; }), "times"));
  EXPECT_TRUE(has(why([](TraceBuilder& b, EventRow&) { b.collective(5, {}); }), "collectives"));
  EXPECT_TRUE(has(why([](TraceBuilder& b, EventRow&) { b.sample(7, 0, 0, 0); }), "no track"));
}

TEST(Trace, ColumnsOfUnequalLengthAreFound) {
  Trace t;
  EXPECT_EQ(broken_invariant(t), "");
  t.events.ts_ns.push_back(1);
  EXPECT_EQ(broken_invariant(t), "event columns differ in length");
}

TEST(Trace, UsableTimesLeaveRoomForSumsAndDistances) {
  EXPECT_TRUE(usable_time(kMaxTimeNs, 0));
  EXPECT_TRUE(usable_time(-kMaxTimeNs, 2 * kMaxTimeNs));
  EXPECT_FALSE(usable_time(kMaxTimeNs, 1));
  EXPECT_FALSE(usable_time(INT64_MIN, 0));
  EXPECT_FALSE(usable_time(0, INT64_MAX));
  EXPECT_FALSE(usable_time(0, -1));
}

} // namespace
} // namespace rankscope
