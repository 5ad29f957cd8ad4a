// Records one step of a program: operators, runtime calls, kernels and collectives in the order in
// which the CPU reaches them. The durations, and the kernel names for the GPUs of both vendors, are
// defined here; the model is in synth_program.cpp.
#pragma once

#include "synth/synth_program.h"

#include <string>
#include <utility>

namespace rankscope::synth {

inline constexpr double kFlopPerNs = 5.2e5; ///< 520 TFLOP/s sustained bf16
inline constexpr double kBytePerNs = 3.2e3; ///< 3.2 TB/s

struct OpOptions {
  std::int64_t seq = -1;
  bool backward = false;
  OpFlow flow = OpFlow::kNone;
};

/// A collective call in the form of c10d.
struct CollectiveCall {
  const char* op;     ///< "c10d::allreduce_"
  const char* name;   ///< "allreduce"
  const char* note;   ///< annotation inside the operator: "nccl:all_reduce"
  const char* dtype;  ///< "BFloat16"
  const char* kernel; ///< kernel name on NVIDIA GPUs
  std::int64_t in = 0;
  std::int64_t out = 0;
  int kind = 0;  ///< kind of process group: 0 world, 1 data parallel, 2 tensor parallel
  Args after;    ///< arguments after the tensors
  bool in_place; ///< one list of tensors instead of separate output and input
  std::int64_t heavy_rank = -1; ///< rank with another amount of data; -1: no rank
  double heavy_factor = 1;
};

class Recorder {
public:
  explicit Recorder(const Options& options) : o_(options) {}

  std::int32_t begin(std::string name, Args args, OpOptions options = {}, bool annotation = false);
  /// Begins a Python frame.
  void begin_frame(std::string name);
  void end();
  void leaf(const char* name, Args args, OpOptions options = {});
  /// Begins a node of the backward pass and its caller. `grad`: the incoming gradient.
  void begin_node(const std::string& node, std::int64_t seq, Tensor grad) {
    begin("autograd::engine::evaluate_function: " + node, {}, {seq, true, OpFlow::kNone});
    begin(node, {std::move(grad)}, {seq, true, OpFlow::kBackward});
  }
  void end_node() {
    end();
    end();
  }
  void thread(std::int32_t t);
  void action(ActionKind kind, std::int32_t index, std::int32_t cost_ns);

  /// Records a runtime call. `kernel` -1: it launches no kernel.
  void runtime(const char* name, int cbid, std::int32_t kernel, std::int32_t cost_ns);
  /// Records a kernel and the runtime call that launches this kind of kernel.
  void launch(Kernel kernel);
  void compute(const char* amd, const char* nvidia, std::int64_t bytes, std::int64_t extra_ns = 0);
  void compute(const char* both, std::int64_t bytes) { compute(both, both, bytes); }
  /// Records an operator with one kernel.
  void op(std::string name, Args args, const char* kernel, std::int64_t bytes,
          OpOptions options = {}) {
    begin(std::move(name), std::move(args), options);
    compute(kernel, bytes);
    end();
  }
  /// Records a copy between host and GPU that takes `base_ns`.
  void copy(const char* amd, const char* nvidia, std::int64_t bytes, std::int64_t base_ns);
  /// Records a kernel of `base_ns` on the stream of the tensor-parallel collectives.
  void on_other_stream(const char* name, std::int64_t base_ns);
  /// Records a GEMM. `layout`: transposes as in the kernel's name; `dims`: Input Dims of its
  /// operator.
  void gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::string dims, bool bias,
            const char* layout);
  /// Records `batch` GEMMs of one operator.
  void batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                    std::string dims, const char* layout);
  void collective(const CollectiveCall& call);
  /// Makes the compute stream wait for the earlier work on comm stream `stream`.
  void wait_for_comm(std::int32_t stream);
  /// Makes the CPU wait until every stream is empty.
  void synchronize(std::int32_t wake_up_ns = 0);

  /// Begins an injected cause: everything recorded from now on is part of it, only on `rank` (-1:
  /// on all ranks).
  void begin_cause(std::int64_t rank) {
    only_rank_ = static_cast<std::int32_t>(rank);
    injected_ = true;
  }
  void end_cause() {
    only_rank_ = -1;
    injected_ = false;
  }
  /// Begins work that other work replaces: it keeps its random numbers, but no rank does it.
  void begin_replaced() { only_rank_ = kNoRank; }
  /// What recorded work belongs to.
  struct Scope {
    std::int32_t only_rank = -1;
    bool injected = false;
  };
  [[nodiscard]] Scope scope() const { return {only_rank_, injected_}; }
  void set_scope(Scope scope) {
    only_rank_ = scope.only_rank;
    injected_ = scope.injected;
  }
  /// Makes the host busy for `ms` milliseconds.
  void pause(double ms) {
    action(ActionKind::kThread, thread_, static_cast<std::int32_t>(ms * 1e6));
  }
  /// Makes the next recorded call return only after its kernel.
  void block_next() { blocks_ = true; }
  /// Sets the factor on the time of GEMMs that are recorded from now on.
  void gemm_factor(double factor) { gemm_factor_ = factor; }
  /// Makes GEMMs use the kernels for extents that do not fit the matrix units.
  void unaligned(bool on) { unaligned_ = on; }
  /// Makes the next GEMM use another kernel of the library.
  void other_tile() { other_tile_ = true; }

  /// Ends recording and returns the program.
  [[nodiscard]] Program take();

private:
  [[nodiscard]] std::string name_of_gemm(std::int64_t tile_m, std::int64_t tile_n, bool bias,
                                         const char* layout) const;
  [[nodiscard]] std::int32_t here() const { return static_cast<std::int32_t>(p_.actions.size()); }
  /// Returns the innermost cpu_op. Annotations are skipped: kernels do not get their External id
  /// from them.
  [[nodiscard]] std::int32_t innermost_op() const;

  const Options& o_;
  Program p_;
  std::vector<std::int32_t> stack_;
  std::int32_t thread_ = 0;
  std::int32_t only_rank_ = -1;
  bool injected_ = false;
  bool blocks_ = false;
  double gemm_factor_ = 1;
  bool other_tile_ = false;
  bool unaligned_ = false;
};

} // namespace rankscope::synth
