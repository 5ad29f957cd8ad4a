// Plots and page of one sweep. They are not made again if nothing changed since the last time.
#pragma once

#include "app/analyze.h"
#include "writers/plot.h"

#include <optional>
#include <string>

namespace rankscope {

/// Draws the plots in tasks of the pool while the tables are written.
class SweepPlots {
public:
  SweepPlots(const AnalyzeRequest& request, AnalyzedSweep& sweep);

  void start(Session& ctx);
  /// Waits for the plots, writes the page, and adds all file names to sweep.outputs. If Cairo is
  /// missing, warns. Errors: kOutput.
  Result<void> finish(Session& ctx);

private:
  [[nodiscard]] std::string mark() const;

  const AnalyzeRequest& request_;
  AnalyzedSweep& sweep_;
  bool wanted_ = false;
  std::optional<Result<Drawing>> drawing_;
};

} // namespace rankscope
