// Reads the hardware counters and PC samples of kernels, and the memory allocations, of a rocpd
// session.
#pragma once

#include "readers/rocprof/rocpd_session.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace rankscope {

/// Returns the kernel of an event id, and the trace that contains the kernel.
using KernelOfEvent =
    std::function<std::optional<std::pair<ProcessTrace*, EventId>>(std::int64_t event)>;

/// Reads rocpd_pmc_event, which has one row for each instance of a counter. Rows without a kernel
/// (samples of streaming counters) are counted in `first` as rows that were not read.
void read_rocpd_counters(const RocpdSession& session, const KernelOfEvent& kernel,
                         ProcessTrace& first);

/// Returns the kernel of a process and dispatch number, and the trace that contains the kernel.
using KernelOfDispatch = std::function<std::optional<std::pair<ProcessTrace*, EventId>>(
    const RocpdPlace& place, std::int64_t dispatch)>;

/// Reads rocpd_gpu_pc_sample, which has one row for each PC sample. Rows without a kernel are
/// counted in `first` as rows that were not read.
void read_rocpd_pc_samples(const RocpdSession& session, const KernelOfDispatch& kernel,
                           ProcessTrace& first);
/// Returns the name of the session's table of PC samples; nullptr if it has no such table.
[[nodiscard]] const char* rocpd_pc_sample_table(const RocpdSession& session);

/// Reads rocpd_memory_allocate: memory of the program, and scratch memory of queues. `trace_of`
/// returns the trace to which a row is added.
void read_rocpd_allocations(const RocpdSession& session,
                            const std::function<ProcessTrace*(const RocpdPlace&)>& trace_of);

} // namespace rankscope
