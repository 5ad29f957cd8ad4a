// Builds the trace of one process and its diagnostics; used by the readers for AMD tools. Times are
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

/// The kinds of rows that a profiler writes only if requested. If there are no rows of a kind, it
/// was not requested or it did not occur; the files do not show which of the two.
enum class Traced : std::uint8_t {
  kKernels,
  kCopies,
  kHostCalls, ///< HIP or CUDA calls
  kRccl,
  kMarkers,
};
inline constexpr std::size_t kTracedKinds = 5;

/// The grid size and group size of a launch; 0: unknown.
struct LaunchShape {
  std::array<std::int64_t, 3> grid{}; ///< in work-items or in groups; see kernel()
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

/// Returns the name that Kineto uses, for example "Memcpy HtoD (Host -> Device)" for
/// MEMORY_COPY_HOST_TO_DEVICE and CopyHostToDevice. Other texts are returned unchanged.
[[nodiscard]] std::string_view copy_name(std::string_view direction);

class ProcessTrace {
public:
  /// `clock`: name of the clock, "CLOCK_BOOTTIME" or "CLOCK_MONOTONIC".
  ProcessTrace(const std::string& path, const char* reader, const char* clock);

  [[nodiscard]] TraceBuilder& builder() { return out_; }
  StrId text(std::string_view text) { return out_.text(text); }
  /// Returns the track of a host thread.
  std::uint32_t thread(std::int64_t pid, std::int64_t tid);

  /// Returns whether a row has a valid start and end. Counts rows without them.
  [[nodiscard]] bool usable(const std::optional<std::int64_t>& start_ns,
                            const std::optional<std::int64_t>& end_ns, std::string_view row);

  /// Adds a host call and returns its event.
  EventId call(Category category, std::uint32_t track, StrId name, std::int64_t start_ns,
               std::int64_t end_ns, std::int64_t correlation);
  /// Adds a range, or a mark if `instant` (both times are then equal). If the text is from
  /// PyTorch's emit_nvtx ("aten::mm, seq = 2, op_id = 14, sizes = [[2, 3], [3, 4]]"), an operator
  /// is added.
  void marker(std::uint32_t track, std::string_view text, std::int64_t start_ns,
              std::int64_t end_ns, bool instant = false);
  /// Adds an operator with the sizes of its inputs ("": unknown) and its sequence number.
  void operation(std::uint32_t track, std::string_view name, std::string_view sizes,
                 std::int64_t sequence, std::int64_t start_ns, std::int64_t end_ns);
  /// Adds a kernel. If `items`, the grid in `shape` is in work-items, otherwise in groups.
  EventId kernel(const GpuWork& work, const LaunchShape& shape, bool items);
  EventId copy(const GpuWork& work, std::int64_t bytes, bool fill = false);

  /// Returns the log of allocations. finish() converts it to samples.
  [[nodiscard]] MemoryLog& memory() { return memory_; }
  /// Sets the scratch memory of a queue from `at_ns` on. `bytes`: 0 or less means released; nullopt
  /// means unknown, and counts as a row that cannot be stored.
  void scratch(std::int64_t at_ns, std::int64_t device, std::int64_t queue,
               std::optional<std::int64_t> bytes);
  void saw(Traced kind) { seen_[static_cast<std::size_t>(kind)] = true; }
  /// Counts rows that cannot be stored in the trace.
  void not_read(std::string_view what, std::uint64_t rows);
  /// Adds a GPU, if the file contains more than its number.
  void device(const DeviceInfo& device) { out_.header().devices.push_back(device); }
  void fact(const char* name, std::string_view value);
  [[nodiscard]] std::size_t gpu_events() const { return gpu_events_; }

  /// Returns the trace. If the names of ranges contain step numbers, it contains steps too. Errors:
  /// kUnreadable if there are no events.
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
  std::map<std::string, std::vector<StepRange>> steps_; ///< key: the text before the step number
  bool has_profiler_steps_ = false;
  bool cuda_ = false;
  std::uint64_t rows_ = 0; ///< number of entries of the file, including dropped ones
  std::uint64_t bad_times_ = 0;
  std::string first_bad_time_;
  std::size_t gpu_events_ = 0;
  MemoryLog memory_{kMemoryInUse}, scratch_{kScratchInUse};
  std::unordered_map<std::int64_t, std::int32_t> handle_streams_;
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
/// Reads RANK or the variables of Open MPI, Slurm and PMI (in this order) from the environment,
/// which is a JSON object. Other variables are neither read nor stored.
[[nodiscard]] RankOfProcess rank_of_environment(std::string_view json);

} // namespace rankscope
