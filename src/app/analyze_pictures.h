// Plots and page of one sweep; not again when nothing changed since they were made.
#pragma once

#include "app/analyze.h"
#include "writers/plot.h"

#include <optional>
#include <string>

namespace rankscope {

/// The plots are drawn by tasks of the pool while the tables are written.
class SweepPictures {
public:
  SweepPictures(const AnalyzeRequest& request, AnalyzedSweep& sweep);

  void start(Session& ctx);
  /// Waits for the plots and writes the page; adds the names of all to sweep.outputs. A missing
  /// Cairo is a warning. Errors: kOutput.
  Result<void> finish(Session& ctx);

private:
  [[nodiscard]] std::string mark() const;

  const AnalyzeRequest& request_;
  AnalyzedSweep& sweep_;
  bool wanted_ = false;
  std::optional<Result<Drawing>> drawing_;
};

} // namespace rankscope
