// What a rocpd session has beside its timeline: hardware counters of kernels and allocations.
#pragma once

#include "readers/rocprof/rocpd_session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace rankscope {

/// A kernel by the id of its event, in the trace that has it.
using KernelOfEvent =
    std::function<std::optional<std::pair<ProcessTrace*, EventId>>(std::int64_t event)>;

/// rocpd_pmc_event: a row an instance of a counter. Those of no kernel (samples of streaming
/// counters) go to `first` as not read.
void read_rocpd_counters(const RocpdSession& session, const KernelOfEvent& kernel,
                         ProcessTrace& first);

/// A kernel by its process and the number of its dispatch.
using KernelOfDispatch = std::function<std::optional<std::pair<ProcessTrace*, EventId>>(
    const RocpdPlace& place, std::int64_t dispatch)>;

/// rocpd_gpu_pc_sample: a row a sample of the program counter. Those of no kernel go to `first` as
/// not read.
void read_rocpd_pc_samples(const RocpdSession& session, const KernelOfDispatch& kernel,
                           ProcessTrace& first);
/// The name of the table of samples that the session has; nullptr = none.
[[nodiscard]] const char* rocpd_pc_sample_table(const RocpdSession& session);

/// rocpd_memory_allocate into the traces that `of` gives: memory of the program, and scratch memory
/// of queues.
void read_rocpd_allocations(const RocpdSession& session,
                            const std::function<ProcessTrace*(const RocpdPlace&)>& of);

} // namespace rankscope
