// Generated runs as the Trace objects that the reader would return, without files. The events are
// the same as those that the generator writes; sweep_statements_test.cpp checks this.
#pragma once

#include "core/call_tree.h"
#include "core/trace_builder.h"
#include "engine/loader.h"
#include "synth/synth_emit.h"
#include "synth/synth_simulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <vector>

namespace rankscope::test {

/// One rank as the Trace of its file: operators, calls, kernels.
class TraceOfRun {
public:
  TraceOfRun(const synth::Options& o, const synth::Program& p, const synth::Run& run,
             std::int64_t rank)
      : o_(o), p_(p), rank_(static_cast<std::size_t>(rank)), times_(run.ranks[rank_]),
        out_("memory") {
    for (int t = 0; t < 2; ++t) {
      Track track;
      track.pid = 1;
      track.tid = 10 + t;
      threads_[t] = out_.track(track);
    }
    for (int s = 0; s < 3; ++s) {
      Track track;
      track.pid = 0;
      track.tid = s;
      streams_[s] = out_.track(track);
    }
    out_.header().rank = rank;
  }

  LoadedTrace load() {
    const auto steps = static_cast<std::size_t>(o_.steps);
    for (std::size_t s = 0; s < steps; ++s)
      ops(s);
    for (std::size_t s = 0; s < steps; ++s)
      calls(s);
    for (std::size_t s = 0; s < steps; ++s)
      kernels(s);
    LoadedTrace out;
    out.rank = *out_.header().rank;
    Result<Trace> trace = std::move(out_).finish();
    EXPECT_TRUE(trace) << trace.error().message();
    out.trace = std::move(*trace);
    out.tree = CallTree::build(out.trace);
    return out;
  }

private:
  std::int64_t at(std::size_t s, std::int32_t action) const {
    return times_.action_ns[s * p_.actions.size() + static_cast<std::size_t>(action)];
  }
  void add(EventRow event) {
    event.uid = static_cast<std::uint32_t>(out_.events());
    out_.add(event);
  }
  void ops(std::size_t s) {
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      const synth::Op& op = p_.ops[i];
      if (!synth::is_on_rank(op, rank_))
        continue;
      EventRow event;
      event.category = op.annotation ? Category::kUserAnnotation : Category::kCpuOp;
      event.name =
          out_.text(i == 0 ? fmt::format("ProfilerStep#{}", synth::first_step_number(o_) +
                                                                static_cast<std::int64_t>(s))
                           : op.name);
      event.ts_ns = at(s, op.begin);
      event.dur_ns = at(s, op.end) - event.ts_ns;
      event.track = threads_[op.thread];
      if (!op.annotation && !op.args.empty()) {
        if (args_.size() <= i)
          args_.resize(p_.ops.size(), kNoRow);
        if (args_[i] == kNoRow) {
          OpArgs args;
          args.input_dims = out_.arg_text(synth::input_dims(op.args));
          args_[i] = out_.op_args(args);
        }
        event.args = args_[i];
      }
      add(event);
    }
  }
  void calls(std::size_t s) {
    for (std::size_t i = 0; i < p_.calls.size(); ++i) {
      const synth::Call& call = p_.calls[i];
      if (!synth::is_on_rank(call, rank_))
        continue;
      EventRow event;
      event.category = Category::kRuntime;
      event.name = out_.text(call.name);
      event.ts_ns = at(s, call.begin);
      event.dur_ns = at(s, call.end) - event.ts_ns;
      event.track = threads_[call.thread];
      event.correlation = correlation(s, i);
      add(event);
    }
  }
  void kernels(std::size_t s) {
    for (std::size_t i = 0; i < p_.calls.size(); ++i) {
      if (p_.calls[i].kernel < 0 || !synth::is_on_rank(p_.calls[i], rank_))
        continue;
      const auto k = static_cast<std::size_t>(p_.calls[i].kernel);
      const synth::Kernel& kernel = p_.kernels[k];
      EventRow event;
      event.category = kernel.kind == synth::KernelKind::kMemcpy   ? Category::kGpuMemcpy
                       : kernel.kind == synth::KernelKind::kMemset ? Category::kGpuMemset
                                                                   : Category::kKernel;
      event.name = out_.text(kernel.name);
      event.ts_ns = times_.kernel_start_ns[s * p_.kernels.size() + k];
      event.dur_ns = times_.kernel_end_ns[s * p_.kernels.size() + k] - event.ts_ns;
      event.track = streams_[kernel.stream];
      event.stream = kernel.stream;
      event.device = 0;
      event.correlation = correlation(s, i);
      add(event);
    }
  }
  std::int64_t correlation(std::size_t s, std::size_t call) const {
    return static_cast<std::int64_t>(s * p_.calls.size() + call + 1);
  }

  const synth::Options& o_;
  const synth::Program& p_;
  const std::size_t rank_;
  const synth::RankTimes& times_;
  rankscope::TraceBuilder out_;
  std::uint32_t threads_[2] = {0, 0};
  std::uint32_t streams_[3] = {0, 0, 0};
  std::vector<std::uint32_t> args_;
};

} // namespace rankscope::test
