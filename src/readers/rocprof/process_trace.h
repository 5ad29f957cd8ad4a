// Builds the trace of one process and its diagnostics, for the readers of AMD's tools. Times are
// nanoseconds on a clock of the machine.
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

/// The kinds of rows that a profiler writes on request. If a kind has no rows, it was not traced or
/// did not happen; the files do not show which.
enum class Traced : std::uint8_t {
  kKernels,
  kCopies,
  kHostCalls, ///< HIP or CUDA calls
  kRccl,
  kMarkers,
};
inline constexpr std::size_t kTracedKinds = 5;

/// The work groups and threads of a launch; 0: unknown.
struct LaunchShape {
  std::array<std::int64_t, 3> grid{}; ///< in work-items or in groups, as the caller defines
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

/// Returns Kineto's name "Memcpy HtoD (Host -> Device)" for MEMORY_COPY_HOST_TO_DEVICE and
/// CopyHostToDevice. Returns other texts unchanged.
[[nodiscard]] std::string_view copy_name(std::string_view direction);

class ProcessTrace {
public:
  /// `clock`: "CLOCK_BOOTTIME" or "CLOCK_MONOTONIC".
  ProcessTrace(const std::string& path, const char* reader, const char* clock);

  [[nodiscard]] TraceBuilder& builder() { return out_; }
  StrId text(std::string_view text) { return out_.text(text); }
  /// Returns the track of a host thread.
  std::uint32_t thread(std::int64_t pid, std::int64_t tid);

  /// Returns whether a row has a valid start and end. Counts the rows that do not.
  [[nodiscard]] bool usable(const std::optional<std::int64_t>& start_ns,
                            const std::optional<std::int64_t>& end_ns, std::string_view row);

  /// Adds a host call and returns its event.
  EventId call(Category category, std::uint32_t track, StrId name, std::int64_t start_ns,
               std::int64_t end_ns, std::int64_t correlation);
  /// Adds a range, or a mark if `instant` (then both times are equal). A text from PyTorch's
  /// emit_nvtx ("aten::mm, seq = 2, op_id = 14, sizes = [[2, 3], [3, 4]]") becomes an operator.
  void marker(std::uint32_t track, std::string_view text, std::int64_t start_ns,
              std::int64_t end_ns, bool instant = false);
  /// Adds an operator with its input sizes ("": unknown) and its sequence number.
  void operation(std::uint32_t track, std::string_view name, std::string_view sizes,
                 std::int64_t sequence, std::int64_t start_ns, std::int64_t end_ns);
  /// Adds a kernel. `shape` is in work-items if `items`, else in groups.
  EventId kernel(const GpuWork& work, const LaunchShape& shape, bool items);
  EventId copy(const GpuWork& work, std::int64_t bytes, bool fill = false);

  /// Returns the log of allocations. finish() converts it to samples.
  [[nodiscard]] MemoryLog& memory() { return memory_; }
  /// Sets the scratch memory of a queue from `at_ns` on. `bytes` 0 or less: released; nullopt:
  /// unknown, and counted as not read.
  void scratch(std::int64_t at_ns, std::int64_t device, std::int64_t queue,
               std::optional<std::int64_t> bytes);
  void saw(Traced kind) { seen_[static_cast<std::size_t>(kind)] = true; }
  /// Counts rows that cannot be stored in the trace.
  void not_read(std::string_view what, std::uint64_t rows);
  /// Adds a GPU that the file describes with more than a number.
  void device(const DeviceInfo& device) { out_.header().devices.push_back(device); }
  void fact(const char* name, std::string_view value);
  [[nodiscard]] std::size_t gpu_events() const { return gpu_events_; }
  [[nodiscard]] bool has_cuda_calls() const { return cuda_; }

  /// Returns the trace. It contains steps if ranges count steps. Errors: kUnreadable if it has no
  /// events.
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
  std::map<std::string, std::vector<StepRange>> steps_; ///< by the text before the step number
  bool has_profiler_steps_ = false;
  bool cuda_ = false;
  std::uint64_t rows_ = 0; ///< entries of the file, including dropped ones
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

/// The rank and world size of a process, from its environment variables.
struct RankOfProcess {
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
};
/// Reads RANK, then the variables of Open MPI, Slurm and PMI, from the JSON object of the
/// environment. Other variables are neither read nor stored.
[[nodiscard]] RankOfProcess rank_of_environment(std::string_view json);

} // namespace rankscope
