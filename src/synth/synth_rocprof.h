// One rank of a simulated run in the form that a ROCm tool records, independent of the output
// format.
#pragma once

#include "synth/synth_emit.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::synth {

enum class CallKind : std::uint8_t { kHip, kRccl, kMarker };

struct CallArgument {
  std::string type, name, value;
};

/// A host call, or a roctx range.
struct HostCall {
  CallKind kind = CallKind::kHip;
  std::string name; ///< function name; for a range, its text
  std::int64_t tid = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t id = 0;    ///< consecutive numbers in the order of the calls
  std::int64_t above = 0; ///< id of the enclosing call; 0 = no enclosing call
  std::vector<CallArgument> arguments;
};

/// GPU work that a call launched.
struct DeviceWork {
  std::int64_t tid = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t call = 0; ///< id of the launching call
  std::int64_t stream = 0;
  std::int64_t bytes = 0;
};
struct KernelWork : DeviceWork {
  std::size_t kernel = 0;                      ///< index in Program::kernels
  bool fill = false;                           ///< rocprofv3 records a kernel, RPD a fill operation
  std::array<std::int64_t, 3> group{}, grid{}; ///< the grid is in work-items
};
struct CopyWork : DeviceWork {
  bool to_device = false;
};

/// The place of a rank on its machine.
struct RocprofRank {
  std::int64_t rank = 0, ranks = 1;
  std::int64_t node = 0, gpus = 1;
  std::int64_t device = 0; ///< index of the rank's GPU on its node
  std::int64_t pid = 0, second_tid = 0;
};
[[nodiscard]] RocprofRank rocprof_rank(const Options& options, std::int64_t rank);

/// Returns the kernel's name in AMD's runtime, which has special kernels for fills.
[[nodiscard]] std::string_view rocprof_kernel_name(const Kernel& kernel);

class RocprofSink {
public:
  virtual ~RocprofSink() = default;
  virtual void call(const HostCall& call) = 0;
  virtual void kernel(const KernelWork& work) = 0;
  virtual void copy(const CopyWork& work) = 0;
};

struct RocprofRun {
  const Options& options;
  const Program& program;
  const Run& run;
  std::int64_t rank = 0;
  std::int64_t clock_ns = 0; ///< machine clock at the start of the run
};

/// Visits every call, kernel and copy of emit_rank(), with times in ns, in program order. Omits
/// operators, which such tools do not record. Annotations become roctx ranges. RCCL calls contain
/// their launches and have count and datatype. Repeated walks give equal results.
void walk_rocprof(const RocprofRun& run, RocprofSink& sink);

// The functions below write the files of rocprofv3 and RPD, each with the clock of its tool.
// Errors: kOutput.
/// Writes rocprofv3 --output-format csv: PREFIX_kernel_trace.csv (`path`) and the other tables with
/// this prefix.
Result<EmitResult> emit_rank_rocprof_csv(const Options& options, const Program& program,
                                         const Groups& groups, const Run& run, std::int64_t rank,
                                         const std::string& path);
/// Writes rocprofv3 --output-format json.
Result<EmitResult> emit_rank_rocprof_json(const Options& options, const Program& program,
                                          const Groups& groups, const Run& run, std::int64_t rank,
                                          const std::string& path);
/// Writes a database of rocmProfileData, schema 2.
Result<EmitResult> emit_rank_rpd(const Options& options, const Program& program,
                                 const Groups& groups, const Run& run, std::int64_t rank,
                                 const std::string& path);

} // namespace rankscope::synth
