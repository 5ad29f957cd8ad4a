// One training step as a list of actions: actions of the CPU threads, the kernels that they launch,
// and the collectives that they join. The list is equal on every rank and in every step.
#pragma once

#include "synth/synth.h"
#include "synth/synth_args.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::synth {

enum class ActionKind : std::uint8_t {
  kBegin,    ///< a cpu_op or user_annotation begins; index = op
  kEnd,      ///< a cpu_op or user_annotation ends; index = op
  kRuntime,  ///< a runtime call begins; index = call
  kReturn,   ///< a runtime call returns; index = call
  kThread,   ///< the following actions run on CPU thread `index` (0 main, 1 autograd)
  kWaitComm, ///< the compute stream waits for the earlier work on comm stream `index`
  kSync,     ///< the CPU waits until every stream is empty
};

/// Value of `only_rank` for work that no rank does, because other work replaces it. It still takes
/// its random numbers, so all other times stay as they are.
inline constexpr std::int32_t kNoRank = INT32_MAX;

struct Action {
  ActionKind kind;
  std::int32_t index;
  std::int32_t cost_ns; ///< CPU time before the action
  std::int32_t only_rank = -1;
  bool injected = false; ///< belongs to a cause: uses no random numbers that other actions use
};

enum class OpFlow : std::uint8_t { kNone, kForward, kBackward };

struct Op {
  std::string name;
  bool annotation = false;
  bool frame = false;    ///< a Python frame instead of an operator
  Args args;             ///< empty: not recorded; record_param_comms: depends on the rank
  std::int64_t seq = -1; ///< sequence number within the step
  bool backward = false; ///< "Fwd thread id" is 1
  OpFlow flow = OpFlow::kNone;
  std::int32_t depth = 0;
  std::int32_t thread = 0;
  std::int32_t begin = 0;       ///< index of the first action
  std::int32_t end = 0;         ///< index of the last action
  std::int32_t collective = -1; ///< record_param_comms: index of its Collective
  std::int32_t only_rank = -1;
};

enum class KernelKind : std::uint8_t { kGemm, kCompute, kComm, kMemcpy, kMemset };

struct Kernel {
  std::string name;
  KernelKind kind = KernelKind::kCompute;
  std::int64_t base_ns = 0; ///< duration without contention; not used for communication
  std::int32_t stream = 0;  ///< 0 = compute, 1 and 2 = communication, 2 also kSideStream
  std::int32_t op = -1;     ///< index of the innermost cpu_op (External id)
  std::int32_t collective = -1;
  std::int64_t bytes = 0; ///< for memcpy and memset
  std::string grid;
  std::string block;
  std::string gemm_dims; ///< Input Dims of the operator, only for GEMMs
  std::int32_t only_rank = -1;
  bool injected = false;
};

struct Call {
  std::string name;
  int cbid = 0;
  std::int32_t kernel = -1;
  std::int32_t op = -1;
  std::int32_t thread = 0;
  std::int32_t begin = 0;
  std::int32_t end = 0;
  std::int32_t only_rank = -1;
  bool blocks = false; ///< the call returns after its kernel ends
};

/// Returns whether an action, an operator, a call or a kernel is on the given rank. It is either on
/// all ranks, or only on `only_rank`, or on none (kNoRank).
template <class Item> [[nodiscard]] bool is_on_rank(const Item& item, std::size_t rank) {
  return item.only_rank < 0 || static_cast<std::size_t>(item.only_rank) == rank;
}

struct Collective {
  std::string name; ///< "allreduce", "_allgather_base", ...
  std::string dtype;
  std::int64_t in_nelems = 0;
  std::int64_t out_nelems = 0;
  std::int64_t full_bytes = 0;  ///< bytes of the larger buffer
  std::int64_t heavy_rank = -1; ///< rank with another amount of data; -1: no rank
  double heavy_factor = 1;      ///< factor on its amount
  Tensor input;                 ///< input tensor of one rank
  bool list_input = false;      ///< recorded as a list of tensors
  int group_kind = 0;           ///< 0 = world, 1 = data parallel, 2 = tensor parallel
  std::int64_t seq = 0;         ///< sequence number within the step and group kind
};

/// Returns the factor on the elements and bytes of a collective on this rank.
[[nodiscard]] inline double data_factor(const Collective& c, std::int64_t rank) {
  return rank == c.heavy_rank ? c.heavy_factor : 1;
}

struct Program {
  std::vector<Action> actions;
  std::vector<Op> ops;
  std::vector<Call> calls;
  std::vector<Kernel> kernels;
  std::vector<Collective> collectives;
  std::int64_t seqs_per_step = 0;
  std::int64_t collectives_per_kind[3] = {0, 0, 0};
  std::int64_t compute_base_ns = 0; ///< sum over all compute kernels
  std::int32_t python_ops = 0;      ///< number of outermost operators on the main thread
};

/// The ranks of one process group, with its name and description.
struct Group {
  std::string name;
  std::string description;
  std::vector<std::int64_t> ranks;
};

/// All groups of the run. group_of[kind][rank] is an index into groups.
struct Groups {
  std::vector<Group> groups;
  std::vector<std::int32_t> group_of[3];
};

[[nodiscard]] Groups make_groups(const Options& options);
/// Makes the program of a step. `last_configuration`: add the causes of the last configuration.
/// `token_factor`: factor on the tokens of a step; it does not change the actions of the program.
[[nodiscard]] Program make_program(const Options& options, const Groups& groups,
                                   bool last_configuration = false, double token_factor = 1);

} // namespace rankscope::synth
