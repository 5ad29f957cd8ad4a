// ground_truth.json: the answers of a generated sweep, computed from the simulated intervals. The
// code is simple loops and shares no code with the analyses. Schema: docs/synth.md.
#pragma once

#include "os/text_sink.h"
#include "synth/synth_emit.h"

#include <string>
#include <vector>

namespace rankscope::synth {

struct RankOutput {
  bool written = false;
  std::string file; ///< path relative to the sweep
  EmitResult emitted;
};

class Truth {
public:
  static Result<Truth> create(const std::string& path, const Options& options);
  /// Appends one configuration.
  void add(const Program& program, const Groups& groups, const Run& run, const std::string& folder,
           const std::vector<RankOutput>& outputs);
  /// Writes the best configurations and finishes the file.
  Result<void> commit();

private:
  Truth(TextSink sink, const Options& options) : sink_(std::move(sink)), options_(options) {}

  struct Best {
    std::string label;
    double value_ns = 0;
  };
  TextSink sink_;
  Options options_;
  std::size_t configs_ = 0;
  Best best_total_;
  Best best_exposed_;
};

} // namespace rankscope::synth
