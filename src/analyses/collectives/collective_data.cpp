#include "analyses/collectives/collective_data.h"

#include "analyses/collectives/collective_sums.h"
#include "base/ascii.h"
#include "core/steps.h"
#include "model/kernels.h"

#include <algorithm>
#include <iterator>

namespace rankscope {
namespace {

/// Returns the collective that a kernel name contains: "allreduce" for
/// "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)". RCCL's Generic kernels do not name it.
std::string_view name_from_kernel(std::string_view kernel) {
  const std::string lower = lowercase(kernel.substr(0, kernel.find('(')));
  const auto has = [&lower](const char* part) { return contains(lower, part); };
  if (has("cross_device_reduce"))
    return "allreduce";
  if (has("deep_ep::") || has("epdispatch") || has("epcombine")) // halves of an all-to-all
    return has("notify") || has("barrier") || has("clean") ? "barrier"
           : has("dispatch")                               ? "dispatch"
           : has("combine")                                ? "combine"
                                                           : "";
  if (has("generic"))
    return "";
  const CollectiveKind kind = collective_kind(lower);
  return kind == CollectiveKind::kOther ? "" : collective_kind_name(kind);
}

/// Returns the collective of the nearest c10d operator above a kernel, since the kernels of an
/// all-to-all are called SendRecv. Example: "alltoall" below c10d::alltoall_base_. Empty if no
/// operator above the kernel is a collective.
std::string_view name_from_operator(const LoadedTrace& t, EventId kernel) {
  constexpr std::string_view kPrefix = "c10d::";
  for (EventId at = t.tree.parent(kernel); at != kNoEvent; at = t.tree.parent(at))
    if (const std::string_view name = t.trace.name(at); name.starts_with(kPrefix))
      if (const CollectiveKind kind = collective_kind(name.substr(kPrefix.size()));
          kind != CollectiveKind::kOther)
        return collective_kind_name(kind);
  return {};
}

void take_arguments(Collective& c, const CollectiveArgs& args, const Trace& trace,
                    RankCollectives& out) {
  const auto copy_text = [&](StrId id) { return out.texts.intern(trace.strings.view(id)); };
  c.pg_name = copy_text(args.pg_name);
  c.pg_ranks = copy_text(args.pg_ranks);
  c.pg_description = copy_text(args.pg_description);
  c.name = copy_text(args.collective_name);
  c.dtype = copy_text(args.dtype);
  c.in_split = copy_text(args.in_split);
  c.out_split = copy_text(args.out_split);
  c.in_nelems = args.in_nelems;
  c.out_nelems = args.out_nelems;
  c.group_size = args.group_size;
  c.seq = args.seq;
}

/// Sets the ranks of a send or a receive. Producers record the peer as its number in the run,
/// together with the list of the group's ranks.
void set_pair(Collective& c, const CollectiveArgs* args, const RankCollectives& rank) {
  const bool sends = c.kind == CollectiveKind::kSend;
  if (args == nullptr || (!sends && c.kind != CollectiveKind::kRecv))
    return;
  const std::string_view list = rank.text(c.pg_ranks);
  const std::int64_t size =
      c.group_size != kNoId ? c.group_size : static_cast<std::int64_t>(numbers_in(list).size());
  if (size <= 2)
    return;
  (sends ? c.src_rank : c.dst_rank) = rank.rank;
  const std::int64_t peer = sends ? args->dst_rank : args->src_rank;
  if (!list.empty() && peer != rank.rank)
    (sends ? c.dst_rank : c.src_rank) = peer;
}

/// Returns the collective with data from this event only, not from linked operators.
Collective collective_at(const Trace& trace, EventId event, const CollectiveArgs* args,
                         RankCollectives& out) {
  Collective c;
  c.kernel = out.texts.intern(trace.name(event));
  if (args != nullptr)
    take_arguments(c, *args, trace, out);
  c.kind = collective_kind(out.texts.view(c.name));
  set_pair(c, args, out);
  c.name_from = args != nullptr ? Collective::NameFrom::kKernelArgs : Collective::NameFrom::kNone;
  c.stream = trace.events.stream[event];
  c.ts_ns = trace.events.ts_ns[event];
  c.dur_ns = trace.events.dur_ns[event];
  return c;
}

} // namespace

std::int64_t gpus_per_node(std::int64_t chosen, std::int64_t devices) {
  if (chosen > 0)
    return chosen;
  return devices > 1 ? devices : 0;
}

bool synchronises(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kAllGather || kind == CollectiveKind::kAllToAll;
}

bool is_point_to_point(CollectiveKind kind) {
  return kind == CollectiveKind::kSend || kind == CollectiveKind::kRecv;
}

RankCollectives described_collectives(const Trace& trace, std::int64_t rank) {
  RankCollectives out;
  out.rank = rank;
  out.path = trace.path;
  out.base_time_ns = trace.clock().offset_ns;
  for (const auto& [event, args] : trace.collectives)
    if (trace.events.category[event] == Category::kKernel)
      out.rows.push_back(collective_at(trace, event, &args, out));
  return out;
}

RankCollectives named_collectives(const Trace& trace, std::int64_t rank,
                                  const std::vector<bool>& names) {
  RankCollectives out;
  out.rank = rank;
  out.path = trace.path;
  out.base_time_ns = trace.clock().offset_ns;
  const Events& e = trace.events;
  for (EventId i = 0; i < e.size(); ++i)
    if (e.category[i] == Category::kKernel && names[e.name[i]] && e.external_id[i] != kNoId)
      out.rows.push_back(collective_at(trace, i, trace.collective_of(i), out));
  return out;
}

void as_reference(RankCollectives& rank) {
  bool one_group = true;
  for (Collective& c : rank.rows) {
    c.src_rank = c.dst_rank = kNoId; // the reference matches sends and receives by group
    if (c.name_from == Collective::NameFrom::kOperator) {
      c.pg_name = c.pg_ranks = c.pg_description = c.dtype = c.in_split = c.out_split = kEmptyStr;
      c.in_nelems = c.out_nelems = c.group_size = c.seq = kNoId;
    }
    if (c.name_from != Collective::NameFrom::kKernelArgs) {
      const bool reduces = contains(lowercase(rank.text(c.kernel)), "cross_device_reduce");
      c.name = reduces ? rank.texts.intern("allreduce") : kEmptyStr;
      c.name_from = Collective::NameFrom::kNone;
      c.kind = collective_kind(rank.text(c.name));
    }
    one_group = one_group && c.pg_name == kEmptyStr && c.stream == rank.rows.front().stream;
  }
  if (!one_group)
    return;
  const StrId every = rank.texts.intern(kEveryCollective);
  for (Collective& c : rank.rows) {
    c.pg_name = every;
    if (c.kind == CollectiveKind::kOther)
      c.kind = CollectiveKind::kAllReduce;
  }
}

RankCollectives extract_collectives(const LoadedTrace& t) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  RankCollectives out;
  out.rank = t.rank;
  out.path = trace.path;
  out.base_time_ns = trace.clock().offset_ns;
  out.device_count = trace.header.devices.size();

  std::vector<signed char> comm(trace.strings.size(), -1);
  const auto is_comm = [&](EventId i) {
    signed char& known = comm[e.name[i]];
    if (known < 0)
      known = is_communication_name(trace.name(i)) ? 1 : 0;
    return known == 1;
  };
  std::vector<Interval> compute;
  std::vector<Interval> copies;
  std::vector<Interval> all;
  std::vector<EventId> kernels;
  for (EventId i = 0; i < e.size(); ++i) {
    if (!is_gpu(e.category[i]))
      continue;
    const Interval span{e.ts_ns[i], trace.end_ns(i)};
    if (e.category[i] == Category::kGpuMemcpy) {
      copies.push_back(span);
    } else if (is_comm(i)) {
      all.push_back(span);
      if (e.category[i] == Category::kKernel)
        kernels.push_back(i);
    } else {
      compute.push_back(span);
    }
  }
  const IntervalSet compute_set(std::move(compute));
  const IntervalSet copies_only = IntervalSet(std::move(copies)).minus(compute_set);
  const IntervalSet comm_set(std::move(all));
  out.comm_ns = comm_set.length();
  out.hidden_compute_ns = comm_set.intersect(compute_set).length();
  out.hidden_memcpy_ns = comm_set.intersect(copies_only).length();
  out.exposed_ns = out.comm_ns - out.hidden_compute_ns - out.hidden_memcpy_ns;

  const StrId record = trace.strings.find("record_param_comms");
  const StepsOfGpuWork steps(trace, t.tree);
  out.rows.reserve(kernels.size());
  for (const EventId i : kernels) {
    Collective c;
    c.kernel = out.texts.intern(trace.name(i));
    const CollectiveArgs* args = trace.collective_of(i);
    c.name_from = Collective::NameFrom::kKernelArgs;
    if (args == nullptr || args->collective_name == kEmptyStr) {
      // the operator that launched the kernel may have the arguments
      for (EventId at = t.tree.parent(i); at != kNoEvent; at = t.tree.parent(at))
        if (e.name[at] == record && trace.collective_of(at) != nullptr) {
          args = trace.collective_of(at);
          c.name_from = Collective::NameFrom::kOperator;
          break;
        }
    }
    if (args != nullptr)
      take_arguments(c, *args, trace, out);
    if (c.name == kEmptyStr) {
      std::string_view guess = name_from_operator(t, i);
      if (guess.empty())
        guess = name_from_kernel(trace.name(i));
      c.name = out.texts.intern(guess);
      c.name_from = guess.empty() ? Collective::NameFrom::kNone : Collective::NameFrom::kKernelName;
    }
    c.kind = collective_kind(out.texts.view(c.name));
    set_pair(c, args, out);
    c.stream = e.stream[i];
    c.step = steps.of(trace, t.tree, i);
    c.ts_ns = e.ts_ns[i];
    c.dur_ns = e.dur_ns[i];
    c.hidden_compute_ns = compute_set.covered(e.ts_ns[i], trace.end_ns(i));
    c.hidden_memcpy_ns = copies_only.covered(e.ts_ns[i], trace.end_ns(i));
    c.has_ids = e.correlation[i] != kNoId || e.external_id[i] != kNoId;
    out.rows.push_back(c);
  }
  return out;
}

} // namespace rankscope
