// What the readers of AMD's tools share: the trace of one process as it is filled, and what is told
// about it. Times are nanoseconds on a clock of the machine.
#pragma once

#include "core/trace_builder.h"
#include "readers/rocprof/memory_log.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// Kinds of rows that a profiler writes when it was asked to; a kind without a row was not traced
/// or did not happen, which the files do not tell apart.
enum class Traced : std::uint8_t {
  kKernels,
  kCopies,
  kHostCalls, ///< HIP or CUDA
  kRccl,
  kMarkers,
};
inline constexpr std::size_t kTracedKinds = 5;

/// Work groups and threads of a launch; 0 = not told.
struct LaunchShape {
  std::array<std::int64_t, 3> grid{}; ///< in work-items or in groups, as the reader says
  std::array<std::int64_t, 3> group{};
  bool operator==(const LaunchShape&) const = default;
};

struct GpuWork {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t correlation = kNoId;
  StrId name = kEmptyStr;
  std::int64_t device = -1;
  std::int64_t stream = -1;
};

/// "Memcpy HtoD (Host -> Device)" for MEMORY_COPY_HOST_TO_DEVICE and CopyHostToDevice, as Kineto
/// names it; any other text as it is.
[[nodiscard]] std::string_view copy_name(std::string_view direction);

class ProcessTrace {
public:
  /// `clock`: "CLOCK_BOOTTIME" or "CLOCK_MONOTONIC".
  ProcessTrace(const std::string& path, const char* reader, const char* clock);

  [[nodiscard]] TraceBuilder& builder() { return out_; }
  StrId text(std::string_view text) { return out_.text(text); }
  /// The track of a thread on the host.
  std::uint32_t thread(std::int64_t pid, std::int64_t tid);

  /// A time that both ends have; counts rows for which that does not hold.
  [[nodiscard]] bool usable(const std::optional<std::int64_t>& start_ns,
                            const std::optional<std::int64_t>& end_ns, std::string_view row);

  /// A call on the host; gives its event.
  EventId call(Category category, std::uint32_t track, StrId name, std::int64_t start_ns,
               std::int64_t end_ns, std::int64_t correlation);
  /// A range or, where both times are equal and `instant`, a mark. Text that PyTorch's emit_nvtx
  /// wrote ("aten::mm, seq = 2, op_id = 14, sizes = [[2, 3], [3, 4]]") is an operator.
  void marker(std::uint32_t track, std::string_view text, std::int64_t start_ns,
              std::int64_t end_ns, bool instant = false);
  /// An operator with the sizes of its inputs, "" = not told, and its sequence number.
  void operation(std::uint32_t track, std::string_view name, std::string_view sizes,
                 std::int64_t sequence, std::int64_t start_ns, std::int64_t end_ns);
  /// `shape` in work-items when `items`, else in groups.
  EventId kernel(const GpuWork& work, const LaunchShape& shape, bool items);
  EventId copy(const GpuWork& work, std::int64_t bytes, bool fill = false);

  /// What was allocated; samples of it come with finish().
  [[nodiscard]] MemoryLog& memory() { return memory_; }
  /// Scratch memory of a queue from now on; 0 or less = given back. `bytes` nullopt: not told, and
  /// counted as not read.
  void scratch(std::int64_t at_ns, std::int64_t device, std::int64_t queue,
               std::optional<std::int64_t> bytes);
  void saw(Traced kind) { seen_[static_cast<std::size_t>(kind)] = true; }
  /// Rows that nothing of the trace has a place for.
  void not_read(std::string_view what, std::uint64_t rows);
  /// A GPU of which the file tells more than its number.
  void device(const DeviceInfo& device) { out_.header().devices.push_back(device); }
  void fact(const char* name, std::string_view value);
  [[nodiscard]] std::size_t gpu_events() const { return gpu_events_; }
  [[nodiscard]] bool has_cuda_calls() const { return cuda_; }

  /// The trace, with steps where ranges count them. Errors: kUnreadable without any event.
  Result<Trace> finish(std::uint64_t input_bytes) &&;

private:
  struct StepRange {
    std::int64_t start_ns, end_ns, number;
    std::uint32_t track;
  };
  EventId add(EventRow& row);
  static EventRow host_row(Category category, std::uint32_t track, StrId name,
                           std::int64_t start_ns, std::int64_t end_ns);
  EventRow gpu_row(Category category, const GpuWork& work);
  std::int32_t stream_number(std::int64_t stream);
  StrId dims(const std::array<std::int64_t, 3>& size);
  void add_steps();
  void report();

  TraceBuilder out_;
  std::string clock_;
  std::array<bool, kTracedKinds> seen_{};
  std::map<std::string, std::uint64_t, std::less<>> not_read_;
  std::map<std::string, std::vector<StepRange>> steps_; ///< by the text before the number
  bool has_profiler_steps_ = false;
  bool cuda_ = false;
  std::uint64_t rows_ = 0; ///< entries of the file, dropped ones included
  std::uint64_t bad_times_ = 0;
  std::string first_bad_time_;
  std::size_t gpu_events_ = 0;
  MemoryLog memory_{kMemoryInUse}, scratch_{kScratchInUse};
  std::unordered_map<std::int64_t, std::int32_t> odd_streams_;
  std::map<std::array<std::int64_t, 3>, StrId> dims_;
  std::array<std::int64_t, 3> last_dims_{-1, -1, -1};
  StrId last_dims_text_ = kEmptyStr;
  std::uint32_t last_thread_ = 0;
  std::int64_t last_pid_ = kNoId, last_tid_ = kNoId;
};

/// What a process's environment says of its place in the run.
struct RankOfProcess {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
};
/// From the JSON object of the environment: RANK, then those of Open MPI, Slurm and PMI. Nothing
/// else of it is looked at or kept.
[[nodiscard]] RankOfProcess rank_of_environment(std::string_view json);

} // namespace rankscope
