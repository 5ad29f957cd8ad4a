// Generates synthetic multi-rank training sweeps with known answers (docs/synth.md). Everything is
// a pure function of synth::Options: equal options give equal bytes.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope::synth {

/// A configuration in which the GPU is slower by a factor in all work.
struct SlowConfig {
  std::string label; ///< "256thread_28ch", or the folder with cu_layout
  double factor = 1;
};

/// A link between two ranks. Collectives of groups that contain both ranks take longer by a factor.
struct SlowLink {
  std::int64_t a = -1, b = -1;
  double factor = 1;
};

/// Causes of variation in the compute times of steps (docs/synth.md).
enum class StepNoise : std::uint8_t {
  kNone,
  kIid,         ///< normal, independent for each step of each rank
  kCommon,      ///< normal, the same factor on all ranks
  kAr1,         ///< successive steps have a correlation of 0.7
  kAr1Common,   ///< correlated like kAr1, the same on all ranks
  kHeavy,       ///< Student's t with 3 degrees of freedom
  kHeavyCommon, ///< heavy-tailed like kHeavy, the same on all ranks
  kOutlier,     ///< one step of one rank is longer, by ten standard deviations
  kBimodal,     ///< three of ten steps are slow
  kHetero,      ///< the ranks' standard deviations differ, the last is ten times the first
  kThrottle,    ///< every rank slows down from step to step, by a different amount
  kRuns,        ///< each configuration has an offset with half the standard deviation
};

/// Additional work in each step.
enum class AddedWork : std::uint8_t {
  kLoader,     ///< waits in the data loader before the step
  kPython,     ///< runs code without operators before the forward pass
  kAllocator,  ///< takes device memory from the driver before the optimizer
  kPinning,    ///< pins host memory before the input copy
  kItem,       ///< reads values back from the GPU after the first layer
  kPageable,   ///< copies more input from pageable memory
  kInput,      ///< copies more input from pinned memory
  kPieces,     ///< runs pieces of compiled code before the forward pass, each followed by host time
  kConcat,     ///< concatenates tensors after the first layer
  kZeroGrad,   ///< fills more gradients with zeros after the optimizer
  kCheckpoint, ///< writes tensors to a file at the end of the step
  kCollection, ///< collects Python's garbage at the end of the step
  kCompilation, ///< compiles a function again before the forward pass
  kSideStream,  ///< waits for a kernel on another stream after the first layer
};
inline constexpr std::size_t kAddedWorks = 14;
/// Returns the name that --inject uses for a cause: "loader", "python", ...
[[nodiscard]] std::string_view added_work_name(AddedWork cause);
/// Returns whether the amount of this work is in MB, not in ms of the host.
[[nodiscard]] constexpr bool is_in_mb(AddedWork work) {
  return work == AddedWork::kPageable || work == AddedWork::kInput || work == AddedWork::kConcat ||
         work == AddedWork::kZeroGrad;
}
struct InjectedWork {
  AddedWork cause = AddedWork::kLoader;
  double ms = 0; ///< time per occurrence, or MB (is_in_mb()); of kItem, until the host wakes up
  std::int64_t count = 1;
  std::int64_t rank = -1; ///< -1: all ranks
};

/// The format of matrix products.
enum class ProductFormat : std::uint8_t { kBf16, kTf32, kFp32 };

/// Causes that are injected into a run, in addition to the causes in Options (a straggler, a slower
/// GPU, a slow link).
struct Injected {
  /// Rank with one more kernel, which overlaps the exposed all-reduce.
  std::int64_t overlap_rank = -1;
  std::int64_t more_rank = -1; ///< rank with one more GEMM per step
  std::int64_t data_rank = -1; ///< rank with another number of tokens per step
  double data_factor = 1;      ///< factor on these tokens
  double first_layer = 1;      ///< factor on the first layer's GEMMs in the last configuration
  bool batch = false;          ///< the last configuration has twice the tokens
  bool tile = false;           ///< one GEMM of the last configuration uses another kernel
  std::vector<InjectedWork> work;
  std::int64_t host_rank = -1;   ///< rank with a slower host; -1: all ranks
  double host_factor = 1;        ///< factor on its host times
  std::int64_t op_rank = -1;     ///< rank with a slower aten::addmm
  double op_factor = 1;          ///< factor on the time of this operator
  std::int64_t copy_rank = -1;   ///< rank whose copies from the host are slower
  double copy_factor = 1;        ///< factor on the time of these copies
  double shape_factor = 1;       ///< factor on the time of the forward GEMM of one shape
  double pause_ms = 0;           ///< pause of the host at a random place of some steps
  std::int64_t pause_period = 1; ///< steps from one pause of a rank to its next
  std::int64_t passes =
      0; ///< forward and backward passes of a step without sharding; 0: one, with sharding
  std::int64_t exchange_rank =
      -1; ///< rank with more data in the all-to-alls of each layer; -1: no all-to-alls
  double exchange_factor = 1;   ///< factor on its data
  bool update_all = false;      ///< the optimizer updates the weights after every pass
  bool reduce_all = false;      ///< every backward pass reduces its gradients, not only the last
  bool launch_blocking = false; ///< each launch waits for its kernel
  double profiler_start_ms = 0; ///< maximum difference between the starts of the ranks' recordings
  double glitch_ms = 0;         ///< one collective of the middle step takes longer by this time
  /// Tensors that the optimizer updates one after another; 0: the optimizer is fused.
  std::int64_t optimizer_tensors = 0;
  bool pointwise = false; ///< GELU as nine pointwise operators
  bool scores = false;    ///< attention writes its scores to memory
  bool recompute = false; ///< the backward pass computes each layer again
  /// Factor on the time of the GEMMs of a vocabulary of 32001; 0: the usual vocabulary.
  double vocabulary_factor = 0;
  ProductFormat products = ProductFormat::kBf16; ///< not bf16: all tensors are float
  std::int64_t convolutions = 0;                 ///< number of convolutions before the forward pass
  bool nchw = false;                             ///< their tensors are converted to NHWC and back
  std::int64_t small_count = 0; ///< number of additional all-reduces after the backward pass
  std::int64_t small_bytes = 0; ///< bytes of each additional all-reduce
};

/// The format of the traces: that of the PyTorch profiler, or formats of AMD's tools, which record
/// the same kernels, copies and calls but no operators.
enum class TraceFormat { kKineto, kRocpd, kRpd, kRocprofCsv, kRocprofJson };

struct Options {
  std::vector<std::int64_t> threads = {256, 512};
  std::vector<std::int64_t> channels = {28, 42, 56, 70}; ///< number of CUs if cu_layout is set
  std::int64_t ranks = 8;
  std::int64_t layers = 12;
  std::int64_t steps = 3;
  std::uint64_t seed = 1;
  bool gz = false;
  TraceFormat format = TraceFormat::kKineto;
  bool nvidia = false;
  bool cu_layout = false;         ///< <CU>cu_<T>threads/torch_profiler/rank<r>/trace.json
  std::int64_t python_events = 0; ///< python_function events per rank
  std::int64_t events = 0;        ///< minimum number of events per rank; raises the number of steps
  std::int64_t straggler = -2;    ///< rank; -1: no straggler, -2: chosen by the seed
  double straggler_us = 2000;     ///< additional compute time per step on the straggler
  double clock_offset_us = 0;     ///< offsets are drawn from +- this value
  bool clock_per_node = false;    ///< one offset per node instead of per rank
  bool distinct_base = false;     ///< different baseTimeNanoseconds on each rank
  std::vector<std::int64_t> missing_ranks;
  /// Ranges of ranks (first, last) whose traces are written; empty: all. The run does not depend on
  /// them, so a large run can be made, read and deleted in pieces.
  std::vector<std::pair<std::int64_t, std::int64_t>> only_ranks;
  std::int64_t shift_window = -1; ///< the recording of this rank lacks the first step
  std::int64_t fewer_steps = -1;  ///< the recording of this rank lacks the last step
  std::int64_t gpus_per_node = 8;
  int process_groups = 1;      ///< 2: data parallel x tensor parallel (size 2)
  double gemm_scale = 1;       ///< factor on the duration of every GEMM
  double noise = 0.01;         ///< relative standard deviation of kernel durations
  bool seq = true;             ///< write "Seq" (older versions do not)
  double contention = 1;       ///< factor on the slowdown of GEMMs under collectives; 0: no effect
  bool equal_configs = false;  ///< every configuration is as fast as the first one
  bool equal_devices = false;  ///< no differences between the ranks' devices
  std::int64_t throttled = -1; ///< rank whose compute times are multiplied by throttle_factor
  /// Last rank of a range that begins at `throttled`; -1: only that rank.
  std::int64_t throttled_last = -1;
  double throttle_factor = 1;
  std::vector<SlowConfig> slow_configs;
  std::vector<SlowLink> slow_links;
  StepNoise step_noise = StepNoise::kNone;
  double step_sd = 0.02;      ///< standard deviation of step times, relative to their compute time
  bool step_balanced = false; ///< in each step, all ranks have the mean of their step noise
  Injected inject;
  bool force = false; ///< write also into a folder that contains another sweep
};

struct Summary {
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;  ///< uncompressed JSON
  std::uint64_t events = 0; ///< entries of traceEvents
  std::string truth_path;
};

/// Writes the sweep and `out`/ground_truth.json. Calls `progress` with the folder of each finished
/// configuration. Errors: kUsage for impossible options and, without `force`, for a folder that
/// contains a sweep; kOutput.
Result<Summary> generate(const Options& options, const std::string& out, unsigned threads,
                         const std::function<void(const std::string&)>& progress);

} // namespace rankscope::synth
