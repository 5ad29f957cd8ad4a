// What a trace holds, before anything is analysed.
#pragma once

#include "base/result.h"
#include "core/loaded_trace.h"
#include "core/report.h"
#include "core/schema.h"
#include "engine/session.h"

#include <string>
#include <vector>

namespace rankscope {

/// A property of the trace, in words.
struct TraceFact {
  std::string name;
  std::string value;
};

struct CategoryCount {
  Category category = Category::kOther;
  std::uint64_t events = 0;
};

/// File, vendor, ranks, steps, span, sizes; what the file does not say is left out.
[[nodiscard]] std::vector<TraceFact> trace_facts(const LoadedTrace& trace);
/// Events kept of each category that occurs.
[[nodiscard]] std::vector<CategoryCount> category_counts(const Trace& trace);

[[nodiscard]] Schema<TraceFact> trace_fact_schema();
[[nodiscard]] Schema<CategoryCount> category_count_schema();

/// Loads a trace ("-": standard input) and describes it in the tables trace and events; its
/// diagnostics go to the session too. Errors: kUnreadable.
Result<Report> inspect_trace(Session& session, const std::string& path);

} // namespace rankscope
