// Input: a Kineto trace, for the reader, the call tree and every sheet. Aborts if reading in small
// pieces gives another trace than reading at once.
#include "analyses/analysis.h"
#include "fuzz/fuzz_target.h"
#include "readers/reader.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace rankscope;

RS_FUZZ_TARGET(kineto) {
  const int fd = ::memfd_create("fuzz", 0);
  if (fd < 0 || ::write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    ::close(fd);
    return;
  }
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  ReadOptions options;
  options.keep_python = true;
  auto complete = read_trace(path, options);
  options.window_bytes = 48;
  auto pieces = read_trace(path, options);
  ::close(fd);
  // damaged input may be truncated at other places; intact input must give the same trace
  const bool intact = complete.has_value() && !complete->diagnostics.data_lost();
  if (intact && (!pieces.has_value() || pieces->events.ts_ns != complete->events.ts_ns ||
                 pieces->events.name != complete->events.name)) {
    std::fputs("reading in pieces gives another trace\n", stderr);
    std::abort();
  }
  if (!complete.has_value())
    return;
  LoadedTrace loaded;
  loaded.tree = CallTree::build(*complete, {true});
  loaded.trace = std::move(*complete);
  ReportOptions report;
  report.detect_recompute = true;
  report.include_overlap_info = true;
  report.include_call_stack = true;
  report.enable_pseudo_ops = true;
  report.group_by_num_kernels = true;
  report.per_step = true;
  report.gpu_arch = "MI300X";
  (void)build_report(loaded, report);
  ReportOptions compat;
  compat.compat_tracelens = true;
  (void)build_report(loaded, compat);
}
