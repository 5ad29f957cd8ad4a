#include "synth/synth_rocprof.h"

#include <charconv>
#include <fmt/format.h>

namespace rankscope::synth {
namespace {

constexpr std::int64_t kFirstId = 5001;

/// Returns the numbers in a text like "[304, 1, 1]".
std::array<std::int64_t, 3> dims_of(const std::string& text) {
  std::array<std::int64_t, 3> out{1, 1, 1};
  const char* p = text.data();
  const char* const end = p + text.size();
  for (std::int64_t& n : out) {
    while (p < end && (*p < '0' || *p > '9'))
      ++p;
    p = std::from_chars(p, end, n).ptr;
  }
  return out;
}

const char* rccl_call(const std::string& name) {
  return name == "allreduce"              ? "ncclAllReduce"
         : name == "_allgather_base"      ? "ncclAllGather"
         : name == "_reduce_scatter_base" ? "ncclReduceScatter"
                                          : "ncclBroadcast";
}

class Walk {
public:
  Walk(const RocprofRun& run, RocprofSink& sink)
      : o_(run.options), p_(run.program), run_(run.run),
        times_(run.run.ranks[static_cast<std::size_t>(run.rank)]),
        window_(window_of(run.options, run.rank)), place_(rocprof_rank(run.options, run.rank)),
        shift_(file_ns(run.run, run.rank, 0) + run.clock_ns), sink_(sink) {}

  void all() {
    if (o_.process_groups == 1)
      communicator();
    for (std::int64_t s = window_.first; s < window_.last; ++s)
      step(static_cast<std::size_t>(s));
  }

private:
  /// Adds the call that creates the communicator. Its argument is the number of ranks.
  void communicator() {
    HostCall call;
    call.kind = CallKind::kRccl;
    call.name = "ncclCommInitRank";
    call.tid = place_.pid;
    call.start_ns = action(static_cast<std::size_t>(window_.first), 0) - 100'000;
    call.end_ns = call.start_ns + 50'000;
    call.id = next_id_++;
    call.arguments = {{"int", "nranks", std::to_string(o_.ranks)}};
    sink_.call(call);
  }

  [[nodiscard]] std::int64_t tid(std::int32_t thread) const {
    return thread == 0 ? place_.pid : place_.second_tid;
  }
  [[nodiscard]] std::int64_t action(std::size_t s, std::int32_t a) const {
    return times_.action_ns[s * p_.actions.size() + static_cast<std::size_t>(a)] + shift_;
  }
  [[nodiscard]] HostCall begin(CallKind kind, std::int32_t thread, std::int64_t start_ns,
                               std::int64_t end_ns) {
    HostCall call;
    call.kind = kind;
    call.tid = tid(thread);
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    call.id = next_id_++;
    return call;
  }

  void step(std::size_t s) {
    std::unordered_map<std::int32_t, std::int64_t> id_of; // id of the call, by collective
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      const Op& op = p_.ops[i];
      if (op.annotation)
        range(op, i, s);
      else if (op.collective >= 0)
        id_of.emplace(op.collective, rccl(op, s));
    }
    for (const Call& c : p_.calls) {
      HostCall call = begin(CallKind::kHip, c.thread, action(s, c.begin), action(s, c.end));
      call.name = c.name;
      const Kernel* const kernel =
          c.kernel < 0 ? nullptr : &p_.kernels[static_cast<std::size_t>(c.kernel)];
      if (kernel != nullptr)
        if (const auto above = id_of.find(kernel->collective); above != id_of.end())
          call.above = above->second;
      sink_.call(call);
      if (kernel != nullptr)
        work(*kernel, static_cast<std::size_t>(c.kernel), s, call);
    }
  }

  void range(const Op& op, std::size_t i, std::size_t s) {
    HostCall call = begin(CallKind::kMarker, op.thread, action(s, op.begin), action(s, op.end));
    call.name =
        i == 0 ? fmt::format("{}#{}", op.name, first_step_number(o_) + static_cast<std::int64_t>(s))
               : op.name;
    sink_.call(call);
  }

  /// Adds the RCCL call that c10d makes, at the position of its record_param_comms.
  std::int64_t rccl(const Op& op, std::size_t s) {
    const Collective& c = p_.collectives[static_cast<std::size_t>(op.collective)];
    HostCall call = begin(CallKind::kRccl, op.thread, action(s, op.begin), action(s, op.end));
    call.name = rccl_call(c.name);
    const bool gives = call.name == "ncclAllGather";
    const bool takes = call.name == "ncclReduceScatter";
    call.arguments = {{"size_t",
                       gives   ? "sendcount"
                       : takes ? "recvcount"
                               : "count",
                       std::to_string(takes ? c.out_nelems : c.in_nelems)},
                      {"ncclDataType_t", "datatype", c.dtype == "BFloat16" ? "9" : "7"}};
    sink_.call(call);
    return call.id;
  }

  void work(const Kernel& kernel, std::size_t k, std::size_t s, const HostCall& call) {
    static constexpr std::array<std::int64_t, 3> kStreams = {0, 4, 5};
    DeviceWork at;
    at.tid = call.tid;
    at.start_ns = times_.kernel_start_ns[s * p_.kernels.size() + k] + shift_;
    at.end_ns = times_.kernel_end_ns[s * p_.kernels.size() + k] + shift_;
    at.call = call.id;
    at.stream = kStreams[static_cast<std::size_t>(kernel.stream)];
    at.bytes = kernel.bytes;
    if (kernel.kind == KernelKind::kMemcpy) {
      CopyWork copy;
      static_cast<DeviceWork&>(copy) = at;
      copy.to_device = kernel.name.find("HtoD") != std::string::npos;
      sink_.copy(copy);
      return;
    }
    KernelWork out;
    static_cast<DeviceWork&>(out) = at;
    out.kernel = k;
    out.fill = kernel.kind == KernelKind::kMemset;
    const bool comm = kernel.kind == KernelKind::kComm;
    out.group =
        comm ? std::array<std::int64_t, 3>{run_.config.threads, 1, 1} : dims_of(kernel.block);
    out.grid =
        comm ? std::array<std::int64_t, 3>{run_.config.channels, 1, 1} : dims_of(kernel.grid);
    for (std::size_t i = 0; i < 3; ++i)
      out.grid[i] *= out.group[i];
    sink_.kernel(out);
  }

  const Options& o_;
  const Program& p_;
  const Run& run_;
  const RankTimes& times_;
  const Window window_;
  const RocprofRank place_;
  const std::int64_t shift_; ///< offset from true time to the machine's clock
  RocprofSink& sink_;
  std::int64_t next_id_ = kFirstId;
};

} // namespace

RocprofRank rocprof_rank(const Options& options, std::int64_t rank) {
  RocprofRank out;
  out.rank = rank;
  out.ranks = options.ranks;
  out.node = rank / options.gpus_per_node;
  out.gpus = options.gpus_per_node;
  out.device = rank % options.gpus_per_node;
  out.pid = 3200 + 37 * rank;
  out.second_tid = out.pid + 611;
  return out;
}

std::string_view rocprof_kernel_name(const Kernel& kernel) {
  return kernel.kind == KernelKind::kMemset ? "__amd_rocclr_fillBufferAligned"
                                            : std::string_view(kernel.name);
}

void walk_rocprof(const RocprofRun& run, RocprofSink& sink) {
  Walk(run, sink).all();
}

} // namespace rankscope::synth
