// The host calls of RCCL (and NCCL): finds their collectives, and finds the call that launched a
// kernel whose name does not show the collective.
#pragma once

#include "core/trace_builder.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// Arguments of one call as texts from the profiler; an argument is empty if the profiler did not
/// record it.
struct RcclArguments {
  std::string count; ///< count, sendcount or recvcount, depending on the call
  std::string datatype;
  std::string ranks; ///< nranks of ncclCommInitRank
  std::string peer;

  /// Stores an argument if it is one of those above.
  void add(std::string_view name, std::string_view value);
};

/// Returns the collective of a call: "allreduce" for ncclAllReduce; "" for other calls
/// (ncclGroupStart, ncclCommInitRank).
[[nodiscard]] std::string_view collective_of_call(std::string_view function);
/// Returns the c10d name of a data type: "Float" for "7" or "ncclFloat32". `datatype` is a number
/// or name of ncclDataType_t.
[[nodiscard]] std::string_view dtype_of_call(std::string_view datatype);

class RcclCalls {
public:
  explicit RcclCalls(TraceBuilder& out) : out_(out) {}

  /// Adds an RCCL call. Calls must be added in file order. `id`: its key for call_of_id(); kNoId:
  /// unknown.
  void add(std::string_view function, std::int64_t id, std::uint32_t track, std::int64_t start_ns,
           std::int64_t end_ns, const RcclArguments& arguments);
  /// Adds a host call that may be inside an RCCL call. `parent`: id of the call that contains this
  /// call; 0 or kNoId: unknown.
  void add_host_call(std::int64_t id, std::int64_t parent, std::uint32_t track,
                     std::int64_t start_ns) {
    host_.push_back({id, parent, start_ns, track});
  }
  /// Sets the group sizes, and the arguments of calls that end a group. Call it after all calls
  /// have been added.
  void finish();
  /// Returns the collective to which the launch call `id` belongs; nullptr: unknown. It follows the
  /// parent ids; if that gives no result, it uses the RCCL call on the same thread that contains
  /// the launch in time.
  [[nodiscard]] const CollectiveArgs* collective_above(std::int64_t id) const;
  [[nodiscard]] bool empty() const { return calls_.empty(); }

  static constexpr std::size_t kNone = SIZE_MAX;
  [[nodiscard]] std::size_t call_of_id(std::int64_t id) const;
  /// Returns the call on a thread that contains the time `ts_ns`, or kNone.
  [[nodiscard]] std::size_t around(std::uint32_t track, std::int64_t ts_ns) const;
  /// Returns the collective of a call. Returns nullptr if the call is neither a collective nor the
  /// end of a group whose collectives are all of the same kind.
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
  std::vector<HostCall> host_; ///< sorted by id
  std::unordered_map<std::int64_t, std::size_t> by_id_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_track_; ///< sorted by start
  std::optional<std::int64_t> ranks_; ///< number of ranks of all communicators; 0: they have
                                      ///< different numbers
};

} // namespace rankscope
