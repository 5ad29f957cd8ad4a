#include "synth/synth_emit.h"

#include "os/text_sink.h"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

namespace rankscope::synth {
namespace {

constexpr std::int64_t kFirstCorrelation = 5001;
constexpr std::int64_t kFirstSeq = 101;
/// Delay of each frame in a chain after the previous frame.
constexpr std::int64_t kPythonStepNs = 30;

class RankEmitter {
public:
  RankEmitter(const Options& o, const Program& p, const Groups& g, const Run& run,
              std::int64_t rank, TextSink& out)
      : o_(o), p_(p), g_(g), run_(run), rank_(rank),
        times_(run.ranks[static_cast<std::size_t>(rank)]), window_(window_of(o, rank)), out_(out),
        pid_(3200 + 37 * rank), autograd_tid_(pid_ + 611), device_(rank % o.gpus_per_node),
        shift_(file_ns(run, rank, 0)) {
    prepare();
  }

  EmitResult run() {
    header();
    const auto steps = static_cast<std::size_t>(window_.last);
    for (auto s = static_cast<std::size_t>(window_.first); s < steps; ++s)
      cpu_step(s);
    for (auto s = static_cast<std::size_t>(window_.first); s < steps; ++s)
      runtime_step(s);
    for (auto s = static_cast<std::size_t>(window_.first); s < steps; ++s)
      gpu_step(s);
    metadata();
    out_.text(fmt::format("\n  ],\n  \"traceName\": \"{}\",\n  \"displayTimeUnit\": \"ms\",\n"
                          "  \"baseTimeNanoseconds\": {}\n}}\n",
                          o_.cu_layout ? "trace.json" : "trace_step19.json",
                          run_.base_time_ns[static_cast<std::size_t>(rank_)]));
    result_.by_category.clear();
    for (std::size_t i = 0; i < kKinds; ++i)
      if (counts_[i] > 0)
        result_.by_category[kKindNames[i]] = counts_[i];
    result_.bytes = out_.bytes();
    return result_;
  }

private:
  enum Kind : std::size_t {
    kCpuOp,
    kUserAnnotation,
    kPython,
    kRuntime,
    kKernelEvent,
    kMemcpyEvent,
    kMemsetEvent,
    kGpuAnnotation,
    kAc2gStart,
    kAc2gEnd,
    kFwdBwdStart,
    kFwdBwdEnd,
    kMeta,
    kSpan,
    kInstant,
    kKinds
  };
  static constexpr auto kKindNames = std::to_array<const char*>(
      {"X cpu_op", "X user_annotation", "X python_function", "X cuda_runtime", "X kernel",
       "X gpu_memcpy", "X gpu_memset", "X gpu_user_annotation", "s ac2g", "f ac2g", "s fwdbwd",
       "f fwdbwd", "M", "X Trace", "i"});
  static_assert(kKindNames.size() == kKinds);

  std::int64_t tid(std::int32_t thread) const { return thread == 0 ? pid_ : autograd_tid_; }
  std::int64_t stream(std::int32_t s) const {
    static constexpr std::array<std::int64_t, 3> kAmd = {0, 4, 5};
    static constexpr std::array<std::int64_t, 3> kNvidia = {7, 20, 24};
    return o_.nvidia ? kNvidia[static_cast<std::size_t>(s)] : kAmd[static_cast<std::size_t>(s)];
  }
  void event(Kind kind) {
    if (result_.events++ > 0)
      out_.text(",\n");
    ++counts_[kind];
  }

  /// Prepares all texts that are equal in each step.
  void prepare() {
    for (const Op& op : p_.ops)
      prepare_op(op);
    for (const Call& call : p_.calls)
      prepare_call(call);
    for (const Kernel& kernel : p_.kernels)
      prepare_kernel(kernel);
    if (o_.python_events > 0) {
      const std::int64_t slots =
          (window_.last - window_.first) * std::max<std::int64_t>(1, p_.python_ops);
      python_per_op_ = o_.python_events / slots;
      python_extra_ = o_.python_events % slots;
    }
  }

  void prepare_op(const Op& op) {
    op_head_.push_back(fmt::format("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}",
                                   op.annotation ? "user_annotation" : "cpu_op", op.name));
    op_place_.push_back(
        fmt::format("\", \"pid\": {}, \"tid\": {},\n    \"ts\": ", pid_, tid(op.thread)));
    if (op.collective < 0) {
      op_args_.push_back(argument_members(op.args));
      return;
    }
    const Collective& c = p_.collectives[static_cast<std::size_t>(op.collective)];
    op_args_.push_back(collective_members(c, true) + ", " + argument_members(comms_args(c)));
  }

  void prepare_call(const Call& call) {
    call_head_.push_back(fmt::format("  {{\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", "
                                     "\"name\": \"{}\", \"pid\": {}, \"tid\": {},\n    \"ts\": ",
                                     call.name, pid_, tid(call.thread)));
    const Kernel* const kernel =
        call.kernel < 0 ? nullptr : &p_.kernels[static_cast<std::size_t>(call.kernel)];
    // with roctracer, a call's event has the arguments of the launched kernel or copy; with CUPTI,
    // it does not
    const bool copies = !o_.nvidia && kernel != nullptr && kernel->kind == KernelKind::kMemcpy;
    const bool launches =
        !o_.nvidia && kernel != nullptr && !copies && kernel->kind != KernelKind::kMemset;
    call_mid_.push_back(
        fmt::format("{}\"{}\": {}, \"correlation\": ",
                    launches ? fmt::format("\"kernel\": \"{}\", ", kernel->name) : std::string(),
                    o_.nvidia ? "cbid" : "cid", call.cbid));
    call_tail_.push_back(
        copies     ? fmt::format(", \"src\": \"0x7f0e4a7e8000\", \"dst\": \"0x7f0e79800400\", "
                                     "\"bytes\": \"{}\", \"kind\": \"1\"",
                                 kernel->bytes)
        : launches ? fmt::format(", \"grid\": {}, \"block\": {}, \"shared memory\": 0",
                                 grid_of(*kernel), block_of(*kernel))
                   : std::string());
  }

  void prepare_kernel(const Kernel& k) {
    const char* const category = k.kind == KernelKind::kMemcpy   ? "gpu_memcpy"
                                 : k.kind == KernelKind::kMemset ? "gpu_memset"
                                                                 : "kernel";
    kernel_head_.push_back(fmt::format("  {{\n    \"ph\": \"X\", \"cat\": \"{}\", \"name\": "
                                       "\"{}\", \"pid\": {}, \"tid\": {},\n    \"ts\": ",
                                       category, k.name, device_, stream(k.stream)));
    kernel_mid_.push_back(o_.nvidia ? fmt::format("\"queued\": 0, \"device\": {}, \"context\": 1, "
                                                  "\"stream\": {}, \"correlation\": ",
                                                  device_, stream(k.stream))
                                    : fmt::format("\"device\": {}, \"stream\": {}, "
                                                  "\"correlation\": ",
                                                  device_, stream(k.stream)));
    const bool memory = k.kind == KernelKind::kMemcpy || k.kind == KernelKind::kMemset;
    std::string tail = memory ? memory_members(k) : launch_members(k);
    if (k.collective >= 0)
      tail +=
          ", " + collective_members(p_.collectives[static_cast<std::size_t>(k.collective)], false);
    kernel_tail_.push_back(std::move(tail));
  }

  std::string memory_members(const Kernel& k) const {
    const std::string kind = !o_.nvidia && k.kind == KernelKind::kMemcpy
                                 ? fmt::format(", \"kind\": \"{}\"", k.name.substr(7, 4))
                                 : std::string();
    return fmt::format("{}, \"bytes\": {}", kind, k.bytes);
  }
  std::string launch_members(const Kernel& k) const {
    return fmt::format("{}, \"grid\": {}, \"block\": {}{}",
                       o_.nvidia ? ", \"registers per thread\": 96, \"shared memory\": 0, \"blocks "
                                   "per SM\": 1.000000, \"warps per SM\": 12.000000"
                                 : ", \"kind\": \"Dispatch Kernel\"",
                       grid_of(k), block_of(k),
                       o_.nvidia ? ", \"est. achieved occupancy %\": 19" : "");
  }

  std::string grid_of(const Kernel& k) const {
    if (k.kind == KernelKind::kComm)
      return fmt::format("[{}, 1, 1]", run_.config.channels);
    return k.grid;
  }
  std::string block_of(const Kernel& k) const {
    if (k.kind == KernelKind::kComm)
      return fmt::format("[{}, 1, 1]", run_.config.threads);
    return k.block;
  }

  const Group& group_of(const Collective& c) const {
    return g_.groups[static_cast<std::size_t>(
        g_.group_of[c.group_kind][static_cast<std::size_t>(rank_)])];
  }
  static std::int64_t rank_stride(const Group& group) {
    return group.ranks.size() > 1 ? group.ranks[1] - group.ranks[0] : 1;
  }

  /// Returns a list of group members. Like the profiler, it names 30 members and omits the others.
  static std::string members_text(const Group& group) {
    constexpr std::size_t kNamed = 30;
    if (group.ranks.size() <= kNamed)
      return fmt::format("{}", fmt::join(group.ranks, ", "));
    return fmt::format("{}, ...",
                       fmt::join(group.ranks.begin(), group.ranks.begin() + kNamed, ", "));
  }

  /// Returns the arguments of record_param_comms: input, sequence, group, rank, name, splits in and
  /// out, first rank, stride of ranks, size.
  Args comms_args(const Collective& c) const {
    const Group& group = group_of(c);
    return {c.list_input ? Arg::tensors({c.input}) : Arg(c.input),
            Arg::none(),
            Arg::none(),
            Arg::scalar(std::to_string(rank_)),
            Arg::none(),
            Arg::list("[]"),
            Arg::list("[]"),
            Arg::scalar(std::to_string(group.ranks[0])),
            Arg::scalar(std::to_string(rank_stride(group))),
            Arg::scalar(std::to_string(group.ranks.size()))};
  }

  /// Returns the members of a collective except "Seq", which differs between steps;
  /// collective_seq() adds it.
  std::string collective_members(const Collective& c, bool on_cpu) const {
    const Group& group = group_of(c);
    const auto nelems = [&](std::int64_t elements) {
      return std::llround(static_cast<double>(elements) * data_factor(c, rank_));
    };
    std::string out = fmt::format(
        "\"Collective name\": \"{}\", \"In msg nelems\": {}, \"Out msg nelems\": {}, \"Group "
        "size\": {}, \"dtype\": \"{}\", \"In split size\": \"[]\", \"Out split size\": \"[]\", "
        "\"Process Group Name\": \"{}\", \"Process Group Description\": \"{}\", \"Process Group "
        "Ranks\": \"[{}]\"",
        c.name, nelems(c.in_nelems), nelems(c.out_nelems), group.ranks.size(), c.dtype, group.name,
        group.description, members_text(group));
    if (on_cpu)
      out += fmt::format(", \"Rank\": {}, \"Global rank start\": {}, \"Global rank stride\": {}, "
                         "\"Is asynchronized op\": true",
                         rank_, group.ranks[0], rank_stride(group));
    return out;
  }
  void collective_seq(std::int32_t collective, std::size_t s) {
    if (!o_.seq || collective < 0)
      return;
    out_.text(", \"Seq\": ");
    out_.number(collective_number(p_, collective, s));
  }

public:
  static std::int64_t collective_number(const Program& p, std::int32_t collective, std::size_t s) {
    const Collective& c = p.collectives[static_cast<std::size_t>(collective)];
    return static_cast<std::int64_t>(s) * p.collectives_per_kind[c.group_kind] + c.seq + 1;
  }

private:
  std::int64_t action(std::size_t s, std::int32_t a) const {
    return times_.action_ns[s * p_.actions.size() + static_cast<std::size_t>(a)] + shift_;
  }
  std::int64_t external_id(std::size_t s, std::int32_t op) const {
    return static_cast<std::int64_t>(s * p_.ops.size()) + op + 1;
  }
  std::int64_t correlation(std::size_t s, std::size_t call) const {
    return kFirstCorrelation + static_cast<std::int64_t>(s * p_.calls.size() + call);
  }

  void cpu_step(std::size_t s) {
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      const Op& op = p_.ops[i];
      if (!is_on_rank(op, static_cast<std::size_t>(rank_)))
        continue;
      const std::int64_t start = action(s, op.begin);
      const std::int64_t end = action(s, op.end);
      if (op.frame) {
        frame(op, start, end);
        continue;
      }
      if (o_.python_events > 0 && op.depth == 1 && op.thread == 0)
        python_frames(s, i, start, end);
      event(op.annotation ? kUserAnnotation : kCpuOp);
      out_.text(op_head_[i]);
      if (i == 0) {
        out_.character('#');
        out_.number(first_step_number(o_) + static_cast<std::int64_t>(s));
      }
      out_.text(op_place_[i]);
      out_.microseconds(start);
      out_.text(", \"dur\": ");
      out_.microseconds(end - start);
      out_.text(",\n    \"args\": {\n      \"External id\": ");
      out_.number(external_id(s, static_cast<std::int32_t>(i)));
      std::int64_t seq = 0;
      if (op.seq >= 0) {
        seq = kFirstSeq + static_cast<std::int64_t>(s) * p_.seqs_per_step + op.seq;
        out_.text(", \"Sequence number\": ");
        out_.number(seq);
        out_.text(op.backward ? ", \"Fwd thread id\": 1" : ", \"Fwd thread id\": 0");
      }
      out_.text(", \"Record function id\": 0, ");
      if (!op_args_[i].empty()) {
        out_.text(op_args_[i]);
        collective_seq(op.collective, s);
        out_.text(", ");
      }
      out_.text("\"Ev Idx\": ");
      out_.number(ev_idx_++);
      out_.text("\n    }\n  }");
      if (op.flow != OpFlow::kNone)
        forward_backward(op, seq, start);
    }
  }

  void forward_backward(const Op& op, std::int64_t id, std::int64_t ts) {
    const bool s = op.flow == OpFlow::kForward;
    event(s ? kFwdBwdStart : kFwdBwdEnd);
    out_.text(s ? "  {\n    \"ph\": \"s\", \"id\": " : "  {\n    \"ph\": \"f\", \"id\": ");
    out_.number(id);
    place(pid_, tid(op.thread), ts);
    out_.text(s ? ",\n    \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\"\n  }"
                : ",\n    \"cat\": \"fwdbwd\", \"name\": \"fwdbwd\", \"bp\": \"e\"\n  }");
  }

  void place(std::int64_t pid, std::int64_t tid, std::int64_t ts) {
    out_.text(", \"pid\": ");
    out_.number(pid);
    out_.text(", \"tid\": ");
    out_.number(tid);
    out_.text(", \"ts\": ");
    out_.microseconds(ts);
  }

  /// Writes a chain of frames around the operator, then leaf calls before it, all within the host's
  /// free time.
  void python_frames(std::size_t s, std::size_t op, std::int64_t start, std::int64_t end) {
    std::int64_t count = python_per_op_ + (python_extra_ > 0 ? 1 : 0);
    if (python_extra_ > 0)
      --python_extra_;
    // frames may use the free host time on both sides of the operator
    const std::int32_t before = p_.ops[op].begin - 1;
    const std::int32_t after = p_.ops[op].end + 1;
    const std::int64_t lower = before >= 0 ? action(s, before) : start;
    const std::int64_t upper =
        after < static_cast<std::int32_t>(p_.actions.size()) ? action(s, after) : end;
    const std::int64_t room = std::min(start - lower, (upper - end) / 2) / 2;
    const std::int64_t chain =
        std::min<std::int64_t>({count, 24, std::max<std::int64_t>(1, room / kPythonStepNs)});
    const std::int64_t step =
        std::max<std::int64_t>(1, std::min(room / (chain + 1), kPythonStepNs));
    std::int64_t parent = -1;
    for (std::int64_t i = 0; i < chain; ++i) {
      python(kPythonNames[static_cast<std::size_t>(i) % kPythonNames.size()],
             start - step * (chain - i), end - start + 2 * step * (chain - i), parent);
      parent = python_id_ - 1;
    }
    // leaf calls share the remaining nanoseconds before the operator; some may have no length
    for (std::int64_t i = chain; i < count; ++i)
      python(kPythonNames[static_cast<std::size_t>(i) % kPythonNames.size()], start, 0, parent);
  }

  /// Writes a frame of the program. Its parent is the innermost of the frames around it.
  void frame(const Op& op, std::int64_t start, std::int64_t end) {
    while (!open_frames_.empty() && open_frames_.back().second < end)
      open_frames_.pop_back();
    const std::int64_t parent = open_frames_.empty() ? -1 : open_frames_.back().first;
    open_frames_.emplace_back(python_id_, end);
    python(op.name.c_str(), start, end - start, parent);
  }

  void python(const char* name, std::int64_t ts, std::int64_t dur, std::int64_t parent) {
    event(kPython);
    out_.text("  {\n    \"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"");
    out_.text(name);
    out_.text("\", \"pid\": ");
    out_.number(pid_);
    out_.text(", \"tid\": ");
    out_.number(pid_);
    out_.text(",\n    \"ts\": ");
    out_.microseconds(ts);
    out_.text(", \"dur\": ");
    out_.microseconds(dur);
    out_.text(",\n    \"args\": {\n      \"Python parent id\": ");
    if (parent < 0)
      out_.text("null");
    else
      out_.number(parent);
    out_.text(", \"Python id\": ");
    out_.number(python_id_++);
    out_.text(", \"Ev Idx\": ");
    out_.number(ev_idx_++);
    out_.text("\n    }\n  }");
  }

  void runtime_step(std::size_t s) {
    for (std::size_t i = 0; i < p_.calls.size(); ++i) {
      const Call& call = p_.calls[i];
      if (!is_on_rank(call, static_cast<std::size_t>(rank_)))
        continue;
      const std::int64_t start = action(s, call.begin);
      event(kRuntime);
      out_.text(call_head_[i]);
      out_.microseconds(start);
      out_.text(", \"dur\": ");
      out_.microseconds(action(s, call.end) - start);
      out_.text(",\n    \"args\": {\n      ");
      if (call.op >= 0) {
        out_.text("\"External id\": ");
        out_.number(external_id(s, call.op));
        out_.text(", ");
      }
      out_.text(call_mid_[i]);
      out_.number(correlation(s, i));
      out_.text(call_tail_[i]);
      out_.text("\n    }\n  }");
      // a call without a launch gets a single flow end, as Kineto writes it
      const bool starts = call.kernel >= 0;
      event(starts ? kAc2gStart : kAc2gEnd);
      out_.text(starts ? "  {\n    \"ph\": \"s\", \"id\": " : "  {\n    \"ph\": \"f\", \"id\": ");
      out_.number(correlation(s, i));
      place(pid_, tid(call.thread), start);
      out_.text(starts ? ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\"\n  }"
                       : ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }");
    }
  }

  void gpu_step(std::size_t s) {
    std::int64_t first = INT64_MAX;
    std::int64_t last = INT64_MIN;
    for (std::size_t i = 0; i < p_.calls.size(); ++i) {
      const std::int32_t kernel = p_.calls[i].kernel;
      if (kernel < 0 || !is_on_rank(p_.calls[i], static_cast<std::size_t>(rank_)))
        continue;
      const auto k = static_cast<std::size_t>(kernel);
      const Kernel& info = p_.kernels[k];
      const std::int64_t start = times_.kernel_start_ns[s * p_.kernels.size() + k] + shift_;
      const std::int64_t end = times_.kernel_end_ns[s * p_.kernels.size() + k] + shift_;
      event(info.kind == KernelKind::kMemcpy   ? kMemcpyEvent
            : info.kind == KernelKind::kMemset ? kMemsetEvent
                                               : kKernelEvent);
      out_.text(kernel_head_[k]);
      out_.microseconds(start);
      out_.text(", \"dur\": ");
      out_.microseconds(end - start);
      out_.text(",\n    \"args\": {\n      \"External id\": ");
      out_.number(external_id(s, info.op));
      out_.text(", ");
      out_.text(kernel_mid_[k]);
      out_.number(correlation(s, i));
      out_.text(kernel_tail_[k]);
      if (info.kind == KernelKind::kMemcpy || info.kind == KernelKind::kMemset)
        out_.text(fmt::format(", \"memory bandwidth (GB/s)\": {:.6f}",
                              static_cast<double>(info.bytes) / static_cast<double>(end - start)));
      collective_seq(info.collective, s);
      out_.text("\n    }\n  }");
      event(kAc2gEnd);
      out_.text("  {\n    \"ph\": \"f\", \"id\": ");
      out_.number(correlation(s, i));
      place(device_, stream(info.stream), start);
      out_.text(",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }");
      if (info.stream == 0) {
        first = std::min(first, start);
        last = std::max(last, end);
      }
    }
    event(kGpuAnnotation); // as Kineto writes it: starts 1 ns early and is 2 ns longer
    out_.text(fmt::format("  {{\n    \"ph\": \"X\", \"cat\": \"gpu_user_annotation\", \"name\": "
                          "\"ProfilerStep#{}\", \"pid\": {}, \"tid\": {},\n    \"ts\": ",
                          first_step_number(o_) + static_cast<std::int64_t>(s), device_,
                          stream(0)));
    out_.microseconds(first - 1);
    out_.text(", \"dur\": ");
    out_.microseconds(last - first + 2);
    out_.text(",\n    \"args\": {\n      \"External id\": ");
    out_.number(external_id(s, 0));
    out_.text("\n    }\n  }");
  }

  void header() {
    out_.text("\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n");
    for (std::int64_t d = 0; d < o_.gpus_per_node; ++d)
      out_.text(fmt::format(
          "{}    {{\n      \"id\": {}, \"name\": \"{}\", \"totalGlobalMem\": {},\n      "
          "\"computeMajor\": 9, \"computeMinor\": {},\n      \"maxThreadsPerBlock\": 1024, "
          "\"maxThreadsPerMultiprocessor\": 2048,\n      \"regsPerBlock\": 65536, \"warpSize\": "
          "{},\n      \"sharedMemPerBlock\": {}, \"numSms\": {}\n    {}\n    }}",
          d == 0 ? "" : ",\n", d, o_.nvidia ? "NVIDIA H100 80GB HBM3" : "AMD Instinct MI300X",
          o_.nvidia ? 85018279936 : 206141652992, o_.nvidia ? 0 : 4, o_.nvidia ? 32 : 64,
          o_.nvidia ? 49152 : 65536, o_.nvidia ? 132 : 304,
          o_.nvidia ? ", \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
                      "\"sharedMemPerMultiprocessor\": 233472"
                    : ", \"maxSharedMemoryPerMultiProcessor\": 65536"));
    out_.text(o_.nvidia ? "\n  ],\n  \"cupti_version\": 22,\n  \"cuda_runtime_version\": 12040,\n  "
                          "\"cuda_driver_version\": 12090,\n"
                        : "\n  ],\n  \"roctracer_version\": 4.1,\n  \"hip_runtime_version\": "
                          "60443483,\n  \"hip_driver_version\": 60443483,\n");
    std::string groups;
    std::size_t count = 0;
    const auto all_of_many = [this](const Group& g) {
      constexpr std::size_t kMany = 64; // small runs list all members, as older versions do
      return g.ranks.size() > kMany && std::cmp_equal(g.ranks.size(), o_.ranks);
    };
    for (const Group& g : g_.groups) {
      if (std::find(g.ranks.begin(), g.ranks.end(), rank_) == g.ranks.end())
        continue;
      groups += fmt::format("{}{{\"pg_name\": \"{}\", \"pg_desc\": \"{}\", \"backend_config\": "
                            "\"cuda:nccl\", \"pg_size\": {}, \"ranks\": [{}]}}",
                            count++ == 0 ? "" : ", ", g.name, g.description, g.ranks.size(),
                            // for a group of all ranks, the header lists no members
                            all_of_many(g) ? "" : fmt::format("{}", fmt::join(g.ranks, ", ")));
    }
    out_.text(fmt::format("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, "
                          "\"world_size\": {}, \"pg_count\": {}, \"pg_config\": [{}], "
                          "\"nccl_version\": \"2.22.3\"}},\n",
                          rank_, o_.ranks, count, groups));
    out_.text(fmt::format("  \"record_shapes\": 1,\n{}  \"trace_id\": "
                          "\"{:016X}{:08X}{:04X}{:04X}\",\n  \"traceEvents\": [\n",
                          o_.python_events > 0 ? "  \"with_stack\": 1,\n" : "", o_.seed,
                          static_cast<unsigned>(run_.config.threads),
                          static_cast<unsigned>(run_.config.channels),
                          static_cast<unsigned>(rank_)));
  }

  void meta(const char* name, std::int64_t pid, std::int64_t tid, const std::string& args) {
    event(kMeta);
    out_.text(fmt::format("  {{\n    \"name\": \"{}\", \"ph\": \"M\", \"ts\": ", name));
    out_.microseconds(action(static_cast<std::size_t>(window_.first), 0));
    out_.text(fmt::format(", \"pid\": {}, \"tid\": {},\n    \"args\": {{\n      {}\n    }}\n  }}",
                          pid, tid, args));
  }
  void process(std::int64_t pid, const std::string& label, std::int64_t sort) {
    meta("process_name", pid, 0, "\"name\": \"python3\"");
    meta("process_labels", pid, 0, fmt::format("\"labels\": \"{}\"", label));
    meta("process_sort_index", pid, 0, fmt::format("\"sort_index\": {}", sort));
  }
  void thread(std::int64_t pid, std::int64_t tid, const std::string& name) {
    meta("thread_name", pid, tid, fmt::format("\"name\": \"{}\"", name));
    meta("thread_sort_index", pid, tid, fmt::format("\"sort_index\": {}", tid));
  }

  void metadata() {
    process(pid_, "CPU", pid_);
    for (std::int64_t d = 0; d < o_.gpus_per_node; ++d)
      process(d, fmt::format("GPU {}", d), 5000000 + d);
    for (std::int32_t s = 0; s < (o_.process_groups > 1 ? 3 : 2); ++s)
      thread(device_, stream(s), fmt::format("stream {} ", stream(s)));
    thread(pid_, pid_, fmt::format("thread {} (python3)", pid_));
    thread(pid_, autograd_tid_, fmt::format("thread {} (pt_autograd_0)", autograd_tid_));
    const std::int64_t from = action(static_cast<std::size_t>(window_.first), 0) - 150000;
    const std::int64_t to = action(static_cast<std::size_t>(window_.last - 1),
                                   static_cast<std::int32_t>(p_.actions.size()) - 1) +
                            90000;
    event(kSpan);
    out_.text("  {\n    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ");
    out_.microseconds(from);
    out_.text(", \"dur\": ");
    out_.microseconds(to - from);
    out_.text(",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch "
              "Profiler (0)\",\n    \"args\": {\n      \"Op count\": 0\n    }\n  }");
    event(kMeta);
    out_.text("  {\n    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": ");
    out_.microseconds(from);
    out_.text(",\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {\n      \"sort_index\": "
              "536870912\n    }\n  }");
    event(kInstant);
    out_.text("  {\n    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": "
              "\"g\",\n    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": ");
    out_.microseconds(from);
    out_.text("\n  }");
    event(kInstant);
    out_.text("  {\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    "
              "\"pid\": \"\", \"tid\": \"\", \"ts\": ");
    out_.microseconds(to);
    out_.text("\n  }");
  }

  static constexpr std::array<const char*, 6> kPythonNames = {
      "torch/nn/modules/module.py(1773): _wrapped_call_impl",
      "torch/nn/modules/module.py(1784): _call_impl",
      "nn.Module: DecoderLayer_0",
      "model/decoder.py(214): forward",
      "nn.Module: Linear_3",
      "torch/nn/modules/linear.py(125): forward"};

  const Options& o_;
  const Program& p_;
  const Groups& g_;
  const Run& run_;
  const std::int64_t rank_;
  const RankTimes& times_;
  const Window window_;
  TextSink& out_;
  const std::int64_t pid_;
  const std::int64_t autograd_tid_;
  const std::int64_t device_;
  const std::int64_t shift_; ///< offset from true time to file time
  std::vector<std::string> op_head_, op_place_, op_args_, call_head_, call_mid_, call_tail_,
      kernel_head_, kernel_mid_, kernel_tail_;
  std::int64_t python_per_op_ = 0;
  std::int64_t python_extra_ = 0;
  std::int64_t python_id_ = 1;
  std::vector<std::pair<std::int64_t, std::int64_t>> open_frames_; ///< Python id, end
  std::int64_t ev_idx_ = 0;
  std::array<std::uint64_t, kKinds> counts_{};
  EmitResult result_;
};

} // namespace

Window window_of(const Options& options, std::int64_t rank) {
  return {rank == options.shift_window ? 1 : 0,
          options.steps - (rank == options.fewer_steps ? 1 : 0)};
}

std::int64_t first_step_number(const Options& options) {
  return std::max<std::int64_t>(1, 20 - options.steps);
}

std::int64_t file_ns(const Run& run, std::int64_t rank, std::int64_t true_ns) {
  const auto r = static_cast<std::size_t>(rank);
  return true_ns + run.clock_offset_ns[r] + kBaseTimeNs - run.base_time_ns[r];
}

Result<EmitResult> emit_rank(const Options& options, const Program& program, const Groups& groups,
                             const Run& run, std::int64_t rank, const std::string& path) {
  RS_TRY(TextSink out, TextSink::create(path, options.gz));
  EmitResult result = RankEmitter(options, program, groups, run, rank, out).run();
  RS_CHECK(out.commit());
  return result;
}

} // namespace rankscope::synth
