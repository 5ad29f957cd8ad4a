// The flags of `rankscope compare` and the request that they make.
#pragma once

#include "app/compare.h"
#include "cli/flag_set.h"

#include <string>
#include <vector>

namespace rankscope {

/// The flags as given on the command line.
struct CompareFlags {
  CompareRequest request;
  std::string baseline;
  std::vector<std::string> tests, fail_on;
  GivenLabels labels;
  bool individual_only = false, collective_only = false;
  bool gpu_timeline = false, collective = false, final_report = false, plots = false; ///< choices
  bool all = false;
  bool no_plots = false;
  std::string fail_on_file;
  bool annotate = false;
};

void add_compare_flags(FlagSet& app, CompareFlags& f);
/// Adds the flags that define how runs are judged and where the verdict is written.
void add_verdict_flags(FlagSet& app, CompareFlags& f);
/// Adds the flags that name the runs.
void add_label_flags(FlagSet& app, GivenLabels& labels);
/// Adds the flags that choose workbooks and pages.
void add_compare_choice(FlagSet& app, CompareFlags& f);

/// Returns the request that the flags make. Errors: kUsage; kUnreadable for a file of conditions.
[[nodiscard]] Result<CompareRequest> compare_request(const CompareFlags& f);

} // namespace rankscope
