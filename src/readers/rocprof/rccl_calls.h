// Calls of RCCL (and NCCL) on the host: which collective each is, and which of them a kernel with
// a generic name belongs to.
#pragma once

#include "core/trace_builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// Arguments of one call as the profiler printed them; what it did not is empty.
struct RcclArguments {
  std::string count; ///< count, sendcount or recvcount, whichever the call has
  std::string datatype;
  std::string ranks; ///< nranks of ncclCommInitRank
  std::string peer;

  /// Takes a named argument, or leaves it.
  void take(std::string_view name, std::string_view value);
};

/// "allreduce" for ncclAllReduce; "" for what is no collective (ncclGroupStart, ncclCommInitRank).
[[nodiscard]] std::string_view collective_of_call(std::string_view function);
/// The c10d name of an ncclDataType_t, by its number or its name: "7", "ncclFloat32" -> "Float".
[[nodiscard]] std::string_view dtype_of_call(std::string_view datatype);

class RcclCalls {
public:
  explicit RcclCalls(TraceBuilder& out) : out_(out) {}

  /// A call in the order of the file. `id` names it for by_id(); kNoId: it has none.
  void add(std::string_view function, std::int64_t id, std::uint32_t track, std::int64_t start_ns,
           std::int64_t end_ns, const RcclArguments& arguments);
  /// Any call of the host that may lie below one of RCCL; `parent`: the id of the call that it was
  /// made in, 0 or kNoId = not told.
  void add_host_call(std::int64_t id, std::int64_t parent, std::uint32_t track,
                     std::int64_t start_ns) {
    host_.push_back({id, parent, start_ns, track});
  }
  /// Group sizes and the calls inside of groups are known once all calls are there.
  void finish();
  /// What the launch `id` communicates: up the chain of ids, else by the call around it in time on
  /// its thread; nullptr = nothing that is known.
  [[nodiscard]] const CollectiveArgs* collective_above(std::int64_t id) const;
  [[nodiscard]] bool empty() const { return calls_.empty(); }

  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t by_id(std::int64_t id) const;
  /// The call that holds this moment on a thread, or kNone.
  [[nodiscard]] std::size_t around(std::uint32_t track, std::int64_t ts_ns) const;
  /// What the call does; nullptr when it is no collective, nor the end of a group with one kind of
  /// them.
  [[nodiscard]] const CollectiveArgs* arguments(std::size_t call) const;

private:
  struct Call {
    std::int64_t start_ns, end_ns;
    std::uint32_t track;
    bool opens_group, closes_group;
    std::int64_t count;
    CollectiveArgs args;
  };
  struct HostCall {
    std::int64_t id, parent, start_ns;
    std::uint32_t track;
  };
  void set_sizes(Call& call, std::int64_t ranks) const;
  void close_groups();

  TraceBuilder& out_;
  std::vector<Call> calls_;
  std::vector<HostCall> host_; ///< by id
  std::unordered_map<std::int64_t, std::size_t> by_id_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_track_; ///< by start
  std::optional<std::int64_t> ranks_; ///< of every communicator; 0: they differ
};

} // namespace rankscope
