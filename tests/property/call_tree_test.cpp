// Compares linking with a slow implementation, and checks that the result does not depend on the
// order of events or on the clock.
#include "analyses/analysis.h"
#include "analyses/operators/kernel_overlap.h"
#include "base/interval_set.h"
#include "trace_builder.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace rankscope {
namespace {

using CallTreeRandom = std::mt19937;

/// Returns a trace of randomly nested operators on two threads, and kernels on three streams that
/// overlap. No two events of a thread start or end at the same time.
test::TraceBuilder random_trace(CallTreeRandom& random, double shift_us = 0) {
  test::TraceBuilder b(shift_us);
  const auto chance = [&random](int in) { return static_cast<int>(random() % 100) < in; };
  double gpu = 5000;
  for (const int tid : {1, 2}) {
    double now = 1000 + tid * 0.25;
    const std::function<void(int)> emit = [&](int depth) {
      const double start = now;
      now += 1;
      std::vector<double> calls;
      const int parts = static_cast<int>(random() % 4);
      for (int i = 0; i < parts; ++i) {
        if (depth < 5 && chance(50)) {
          emit(depth + 1);
        } else {
          calls.push_back(now);
          now += 2;
        }
        now += 0.5;
      }
      const char* const names[] = {"aten::mm", "aten::add", "aten::sum", "my op"};
      b.op(names[random() % 4], start, now - start + 0.125,
           R"({"Input Dims":[[4,8],[8,)" + std::to_string(1 + random() % 3) +
               R"(]],"Input type":["float","float"],"Input Strides":[[8,1],[6,1]]})",
           tid);
      for (const double call : calls) {
        gpu += static_cast<double>(random() % 20);
        b.kernel("kernel_" + std::to_string(random() % 5), call, gpu,
                 static_cast<double>(random() % 60), 7 + static_cast<int>(random() % 3), tid);
      }
      now += 1;
    };
    for (int i = 0; i < 12; ++i)
      emit(0);
  }
  return b;
}

/// Returns the innermost event that contains e; checks every event.
EventId slow_parent(const Trace& t, EventId e) {
  EventId best = kNoEvent;
  for (EventId p = 0; p < t.events.size(); ++p) {
    const Category c = t.events.category[p];
    if (p == e || (c != Category::kCpuOp && !is_runtime(c)) ||
        t.events.track[p] != t.events.track[e] || t.events.ts_ns[p] > t.events.ts_ns[e] ||
        t.end_ns(p) < t.end_ns(e))
      continue;
    if (best == kNoEvent || t.events.dur_ns[p] < t.events.dur_ns[best])
      best = p;
  }
  return best;
}

TEST(CallTree, EqualsASlowTwin) {
  CallTreeRandom random(7);
  for (int round = 0; round < 25; ++round) {
    test::TraceBuilder b = random_trace(random);
    b.shuffle(random);
    const LoadedTrace t = b.load();
    const Trace& trace = t.trace;
    std::vector<EventId> parent(trace.events.size(), kNoEvent);
    for (EventId e = 0; e < trace.events.size(); ++e) {
      if (trace.gpu(e)) {
        for (EventId r = 0; r < trace.events.size(); ++r)
          if (is_runtime(trace.events.category[r]) &&
              trace.events.correlation[r] == trace.events.correlation[e])
            parent[e] = r;
      } else {
        parent[e] = slow_parent(trace, e);
      }
      ASSERT_EQ(t.tree.parent(e), parent[e]) << trace.name(e);
    }
    for (EventId e = 0; e < trace.events.size(); ++e) {
      std::set<EventId> below;
      std::set<EventId> children;
      for (EventId g = 0; g < trace.events.size(); ++g) {
        if (parent[g] == e)
          children.insert(g);
        if (trace.gpu(g))
          for (EventId at = parent[g]; at != kNoEvent; at = parent[at])
            if (at == e)
              below.insert(g);
      }
      const auto got = t.tree.gpu_events(e);
      ASSERT_EQ(std::set<EventId>(got.begin(), got.end()), below);
      ASSERT_EQ(got.size(), trace.gpu(e) ? 0 : below.size());
      const auto kids = t.tree.children(e);
      ASSERT_EQ(std::set<EventId>(kids.begin(), kids.end()), children);
    }
  }
}

/// Returns every cell of every sheet, in sorted rows, without the columns that contain a place in
/// the file.
std::multiset<std::string> cells(const Report& report) {
  std::multiset<std::string> out;
  for (const Table& table : report.tables)
    for (std::size_t r = 0; r < table.rows(); ++r) {
      const bool by_arguments = table.name().find("unique_args") != std::string::npos ||
                                table.name().find("unified") != std::string::npos;
      std::string row = table.name();
      for (std::size_t c = 0; c < table.cols(); ++c) {
        // for rows with equal time, the cumulative share depends on their order
        const std::string& name = table.columns()[c].name;
        if (name == "ex_UID" || name == "Cumulative Percentage (%)" || name == "UID_first" ||
            name.find("kernel_details") != std::string::npos)
          continue;
        // rows of a family show the arguments of the first call
        if (!by_arguments && name.find("Input") != std::string::npos)
          continue;
        const Value v = table.at(r, c);
        char number[40];
        std::snprintf(number, sizeof number, "%.9g", v.number());
        row += "|" + (v.kind == CellKind::kText ? std::string(v.text) : std::string(number));
      }
      out.insert(row);
    }
  return out;
}

TEST(Report, DoesNotDependOnTheOrderOfEventsOrOnTheClock) {
  ReportOptions options;
  options.include_overlap_info = true;
  options.group_by_num_kernels = true;
  for (unsigned seed = 0; seed < 12; ++seed) {
    CallTreeRandom first(seed);
    CallTreeRandom second(seed);
    test::TraceBuilder plain = random_trace(first);
    test::TraceBuilder moved = random_trace(second, 123456789.0);
    moved.shuffle(second);
    auto a = build_report(plain.load(), options);
    auto b = build_report(moved.load(), options);
    ASSERT_TRUE(a && b);
    ASSERT_GT(cells(*a).size(), 50U);
    const auto x = cells(*a);
    const auto y = cells(*b);
    std::vector<std::string> only;
    std::set_difference(x.begin(), x.end(), y.begin(), y.end(), std::back_inserter(only));
    std::set_difference(y.begin(), y.end(), x.begin(), x.end(), std::back_inserter(only));
    EXPECT_TRUE(only.empty()) << "seed " << seed << ": " << only.front() << "\n" << only.back();
  }
}

TEST(KernelOverlaps, EqualABruteForceTwin) {
  CallTreeRandom random(11);
  for (int round = 0; round < 25; ++round) {
    const LoadedTrace t = random_trace(random).load();
    const Trace& trace = t.trace;
    const KernelOverlaps& overlaps = t.shared(OverlapsKey{});
    int found = 0;
    for (EventId op = 0; op < trace.events.size(); ++op) {
      if (trace.events.category[op] != Category::kCpuOp)
        continue;
      const auto kernels = t.tree.gpu_events(op);
      const std::set<EventId> inner(kernels.begin(), kernels.end());
      std::vector<Interval> covered;
      std::set<EventId> others;
      for (const EventId k : kernels)
        for (EventId o = 0; o < trace.events.size(); ++o) {
          if (!trace.gpu(o) || inner.count(o) > 0 ||
              trace.events.stream[o] == trace.events.stream[k] ||
              t.tree.cpu_op_above(trace, o) == t.tree.cpu_op_above(trace, k))
            continue;
          const Interval both{std::max(trace.events.ts_ns[k], trace.events.ts_ns[o]),
                              std::min(trace.end_ns(k), trace.end_ns(o))};
          if (both.end - both.start < 1000)
            continue;
          covered.push_back(both);
          others.insert(o);
        }
      const auto call = overlaps.find(trace, kernels);
      ASSERT_EQ(std::set<EventId>(call.others.begin(), call.others.end()), others);
      ASSERT_EQ(call.covered_ns, IntervalSet(covered).length());
      found += static_cast<int>(others.size());
    }
    EXPECT_GT(found, 0);
  }
}

} // namespace
} // namespace rankscope
