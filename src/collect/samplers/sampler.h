// Samples power, memory, load, clocks and temperature of GPUs and the load of the host during a
// run, in one thread on one monotonic schedule. Every row is written to its file when the sample is
// taken.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "collect/samplers/gpu_backend.h"
#include "collect/samplers/sampler_summary.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rankscope {

enum class DocumentedKind { kPower, kVram };

/// A CSV in the documented form: `time,Power(Watt) GPU0,...` or `time,vram(%) GPU0,...`. It has one
/// row per period; `time` is local time with microseconds; the cell of a missing value is empty.
struct DocumentedCsv {
  DocumentedKind kind = DocumentedKind::kPower;
  std::string path;
  std::string devices;                ///< "" = those of the sampler
  std::chrono::nanoseconds period{0}; ///< 0 = that of the sampler
  bool dual_gcd = false;              ///< one more column for each package with two dies
};

struct SamplerOptions {
  std::string devices = "all"; ///< see choose_gpus(); "none" = the host alone
  std::chrono::nanoseconds period = std::chrono::milliseconds(100);
  GpuBackendOptions backend;
  std::string proc_root = "/proc";
  std::string samples_csv; ///< table of all GPU readings, "" = none
  std::string host_csv;    ///< CPU and memory of the host, "" = none
  /// Table of the memory of each process on each GPU, "" = none. It is written if the source of
  /// readings reports processes.
  std::string processes_csv;
  std::vector<DocumentedCsv> documented;
};

/// Applies the environment variables of the documented profilers (PREFIX is POWER or VRAM):
/// PREFIX_DEVICE, PREFIX_SAMPLING_RATE (seconds), PREFIX_MODE, PREFIX_DUAL_GCD, PREFIX_OUTPUT_FILE.
/// Names without prefix and DUAL-GCD work too; a prefixed name wins. `csv` contains the defaults.
/// Errors: kUsage naming the variable: not a number above 0, neither true nor false, MODE of the
/// other profiler.
Result<void> apply_sampler_environment(const std::map<std::string, std::string>& environment,
                                       DocumentedCsv& csv);

/// Parses "0.1", "100ms", "2s", "500us" as a time from 100 us to 1 h. Errors: kUsage.
Result<std::chrono::nanoseconds> parse_period(const std::string& text);

/// Samples until stop() or destruction.
class Sampler : NonCopyable {
public:
  /// Opens the GPUs and the files and takes a first sample. Errors: kMissingTool (no GPU can be
  /// read, with the sources that were tried), kUsage (`devices` names a missing GPU), kOutput.
  static Result<std::unique_ptr<Sampler>> start(SamplerOptions options);
  ~Sampler();

  /// Assigns later rows to `next`. A sample is taken at the boundary, so that a phase is measured
  /// up to its ends. The first phase is pre.
  void phase(Phase next);
  /// Takes a last sample, ends the thread and closes the files. Later calls return the same
  /// summary. The summary is complete even if rows could not be written (`write_error`).
  Result<SamplerSummary> stop();
  /// Errors: kOutput as soon as a row could not be written; the rows before it are in the file.
  [[nodiscard]] Result<void> problem() const;

  [[nodiscard]] const std::vector<GpuIdentity>& gpus() const; ///< the sampled GPUs
  [[nodiscard]] std::string backend() const;                  ///< its name; "" with devices "none"

private:
  struct State;
  explicit Sampler(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

} // namespace rankscope
