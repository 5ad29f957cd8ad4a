#include "readers/rocprof/rccl_calls.h"

#include "base/ascii.h"
#include "model/bus_bandwidth.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace rankscope {
namespace {

constexpr std::int64_t kMostCount = std::int64_t{1} << 50; ///< elements; larger numbers are damage

std::int64_t number_of_rccl_calls(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc() && end == text.data() + text.size() && value >= 0 &&
                 value <= kMostCount
             ? value
             : kNoId;
}

} // namespace

void RcclArguments::add(std::string_view name, std::string_view value) {
  if (name == "count" || name == "sendcount" || name == "recvcount")
    count = value;
  else if (name == "datatype")
    datatype = value;
  else if (name == "nranks")
    ranks = value;
  else if (name == "peer")
    peer = value;
}

std::string_view collective_of_call(std::string_view function) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kNames = {{
      {"ncclAllReduce", "allreduce"},
      {"ncclAllReduceWithBias", "allreduce"},
      {"ncclAllGather", "allgather"},
      {"ncclReduceScatter", "reduce_scatter"},
      {"ncclBroadcast", "broadcast"},
      {"ncclBcast", "broadcast"},
      {"ncclReduce", "reduce"},
      {"ncclAllToAll", "alltoall"},
      {"ncclAllToAllv", "alltoallv"},
      {"ncclGather", "gather"},
      {"ncclScatter", "scatter"},
      {"ncclSend", "send"},
      {"ncclRecv", "recv"},
  }};
  for (const auto& [call, name] : kNames)
    if (call == function)
      return name;
  return {};
}

std::string_view dtype_of_call(std::string_view datatype) {
  // c10d names, indexed by the number of ncclDataType_t in nccl.h (several names there have the
  // same number)
  static constexpr std::array<std::string_view, 12> kByNumber = {
      "Char", "Byte",  "Int",    "UInt32",   "Long",          "UInt64",
      "Half", "Float", "Double", "BFloat16", "Float8_e4m3fn", "Float8_e5m2"};
  static constexpr std::array<std::pair<std::string_view, int>, 18> kNames = {{{"int8", 0},
                                                                               {"char", 0},
                                                                               {"uint8", 1},
                                                                               {"int32", 2},
                                                                               {"int", 2},
                                                                               {"uint32", 3},
                                                                               {"int64", 4},
                                                                               {"uint64", 5},
                                                                               {"float16", 6},
                                                                               {"half", 6},
                                                                               {"float32", 7},
                                                                               {"float", 7},
                                                                               {"float64", 8},
                                                                               {"double", 8},
                                                                               {"bfloat16", 9},
                                                                               {"float8e4m3", 10},
                                                                               {"fp8e4m3", 10},
                                                                               {"float8e5m2", 11}}};
  const std::int64_t number = number_of_rccl_calls(datatype);
  if (number != kNoId)
    return number < static_cast<std::int64_t>(kByNumber.size())
               ? kByNumber[static_cast<std::size_t>(number)]
               : std::string_view();
  const std::string lower = lowercase(datatype);
  if (!lower.starts_with("nccl"))
    return {};
  const std::string_view rest = std::string_view(lower).substr(4);
  for (const auto& [name, at] : kNames)
    if (name == rest)
      return kByNumber[static_cast<std::size_t>(at)];
  return rest == "fp8e5m2" ? kByNumber[11] : std::string_view();
}

void RcclCalls::add(std::string_view function, std::int64_t id, std::uint32_t track,
                    std::int64_t start_ns, std::int64_t end_ns, const RcclArguments& arguments) {
  Call call{start_ns, end_ns, track, function == "ncclGroupStart", function == "ncclGroupEnd",
            kNoId,    {}};
  const std::string_view name = collective_of_call(function);
  if (!name.empty()) {
    call.args.collective_name = out_.text(name);
    call.args.dtype = out_.text(dtype_of_call(arguments.datatype));
    call.count = number_of_rccl_calls(arguments.count);
    if (name == "send")
      call.args.dst_rank = number_of_rccl_calls(arguments.peer);
    else if (name == "recv")
      call.args.src_rank = number_of_rccl_calls(arguments.peer);
  } else if (const std::int64_t ranks = number_of_rccl_calls(arguments.ranks); ranks > 0) {
    ranks_ = !ranks_ || *ranks_ == ranks ? ranks : 0;
  }
  if (id != kNoId)
    by_id_.emplace(id, calls_.size());
  by_track_[track].push_back(calls_.size());
  calls_.push_back(call);
}

/// Sets the sizes of a collective; n is the number of ranks. `count` is the number of elements that
/// a rank sends in an all-gather, receives in a reduce-scatter, and sends to each rank in an
/// all-to-all. In these collectives, the other sizes are n times the count, and unknown if n is
/// unknown. In all other collectives, a rank sends and receives `count` elements.
void RcclCalls::set_sizes(Call& call, std::int64_t ranks) const {
  const bool known = ranks > 0 && call.count != kNoId &&
                     call.count <= std::numeric_limits<std::int64_t>::max() / ranks;
  const std::int64_t all = known ? call.count * ranks : kNoId;
  if (ranks > 0)
    call.args.group_size = ranks;
  switch (collective_kind(out_.view(call.args.collective_name))) {
  case CollectiveKind::kAllGather:
    call.args.in_nelems = call.count;
    call.args.out_nelems = all;
    return;
  case CollectiveKind::kReduceScatter:
    call.args.in_nelems = all;
    call.args.out_nelems = call.count;
    return;
  case CollectiveKind::kAllToAll:
    call.args.in_nelems = all;
    call.args.out_nelems = all;
    return;
  default:
    call.args.in_nelems = call.count;
    call.args.out_nelems = call.count;
  }
}

/// An outermost ncclGroupEnd launches the collectives since its ncclGroupStart. Sets its arguments:
/// if the group contains one collective, all its arguments; if it contains several of one kind,
/// only their name.
void RcclCalls::close_groups() {
  for (const auto& [track, order] : by_track_) {
    std::size_t depth = 0;
    std::size_t inside = 0; // number of collectives in the open group
    bool same = true;
    const CollectiveArgs* first = nullptr;
    for (const std::size_t at : order) {
      Call& call = calls_[at];
      if (call.opens_group) {
        if (depth++ == 0) {
          inside = 0;
          same = true;
        }
      } else if (call.closes_group && depth > 0) {
        if (--depth > 0 || inside == 0 || !same)
          continue;
        if (inside == 1)
          call.args = *first;
        else
          call.args.collective_name = first->collective_name;
      } else if (call.args.collective_name != kEmptyStr && depth > 0) {
        first = inside++ == 0 ? &call.args : first;
        same = same && call.args.collective_name == first->collective_name;
      }
    }
  }
}

void RcclCalls::finish() {
  for (auto& [track, order] : by_track_)
    std::stable_sort(order.begin(), order.end(), [this](std::size_t a, std::size_t b) {
      return calls_[a].start_ns < calls_[b].start_ns;
    });
  for (Call& call : calls_)
    if (call.args.collective_name != kEmptyStr)
      set_sizes(call, ranks_.value_or(0));
  close_groups();
  if (calls_.empty())
    host_.clear();
  std::ranges::stable_sort(host_, [](const HostCall& a, const HostCall& b) { return a.id < b.id; });
}

const CollectiveArgs* RcclCalls::collective_above(std::int64_t id) const {
  constexpr int kDeepest = 64; // limits the search, because ids in a damaged file may form a cycle
  const HostCall* launch = nullptr;
  for (int depth = 0; depth < kDeepest && id != kNoId && id != 0; ++depth) {
    if (const CollectiveArgs* const args = arguments(call_of_id(id)))
      return args;
    const auto it = std::lower_bound(
        host_.begin(), host_.end(), id,
        [](const HostCall& call, std::int64_t wanted) { return call.id < wanted; });
    if (it == host_.end() || it->id != id)
      break;
    launch = launch == nullptr ? &*it : launch;
    if (it->parent == id)
      break;
    id = it->parent;
  }
  return launch == nullptr ? nullptr : arguments(around(launch->track, launch->start_ns));
}

std::size_t RcclCalls::call_of_id(std::int64_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? kNone : it->second;
}

std::size_t RcclCalls::around(std::uint32_t track, std::int64_t ts_ns) const {
  const auto it = by_track_.find(track);
  if (it == by_track_.end())
    return kNone;
  const std::vector<std::size_t>& order = it->second;
  auto at =
      std::upper_bound(order.begin(), order.end(), ts_ns,
                       [this](std::int64_t t, std::size_t i) { return t < calls_[i].start_ns; });
  // nested calls have only a few levels (ncclGroupEnd inside a collective)
  for (int tries = 0; at != order.begin() && tries < 4; ++tries)
    if (const Call& call = calls_[*--at]; ts_ns <= call.end_ns)
      return *at;
  return kNone;
}

const CollectiveArgs* RcclCalls::arguments(std::size_t call) const {
  return call != kNone && calls_[call].args.collective_name != kEmptyStr ? &calls_[call].args
                                                                         : nullptr;
}

} // namespace rankscope
