// Input: up to three traces, separated by NUL, which are merged. Aborts if the merged text is not a
// valid trace, or if its number of slices differs from the counted number.
#include "fuzz/fuzz_target.h"
#include "readers/reader.h"
#include "temp_folder.h"
#include "writers/merged_trace.h"

#include <cstdlib>

using namespace rankscope;

RS_FUZZ_TARGET(merge) {
  std::string parts[3];
  rankscope::test::split_parts(bytes, parts);
  const rankscope::test::TempFolder folder;
  for (const bool cpu_ops : {false, true}) {
    MergeOptions options;
    options.cpu_ops = cpu_ops;
    // read below, so it counts as an input
    const std::string path = folder.path(cpu_ops ? "all.json" : "gpu.json");
    Result<MergedTraceWriter> writer = MergedTraceWriter::create(path, options);
    if (!writer)
      std::abort();
    Diagnostics diagnostics;
    std::int64_t rank = 0;
    for (const std::string& part : parts)
      if (const Result<Trace> trace = read_trace(folder.write("t.json", part))) {
        writer->add(*trace, rank, ClockLine{1000 * rank, rank % 2 == 0 ? 0 : kMaxDriftPpt, 0},
                    diagnostics);
        ++rank;
      }
    const Result<MergeSummary> summary = writer->finish();
    if (!summary)
      std::abort();
    std::uint64_t slices = 0;
    for (const MergedRank& merged : summary->ranks)
      for (const auto& [category, events] : merged.events)
        slices += events;
    if (slices == 0)
      continue;
    ReadOptions read;
    read.keep_python = true;
    const Result<Trace> again = read_trace(path, read);
    if (!again || again->diagnostics.data_lost() || again->events.size() != slices)
      std::abort();
  }
}
