#include "app/sweep_metrics.h"

#include "collect/profile/merge_ranks.h"
#include "os/output_file.h"
#include "writers/writer.h"

#include <filesystem>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

Value exit_of(const RunOutcome& outcome) {
  if (outcome.exit_code >= 0)
    return Value(std::int64_t{outcome.exit_code});
  return outcome.signal > 0 ? Value(std::int64_t{128} + outcome.signal) : Value();
}

} // namespace

Table sweep_metrics(const std::vector<SummaryRow>& rows) {
  Table out("metrics", {"setting", "repeat", "metric", "seconds", "joules", "exit",
                        "joules_per_step", "host_joules"});
  for (const SummaryRow& row : rows) {
    const bool ran = row.outcome && row.outcome->status != RunStatus::kSkipped;
    out.add_row({Value(row.setting->configuration.label),
                 row.run->repeat > 0 ? Value(row.run->repeat) : Value(), Value(row.metric),
                 ran ? Value(row.outcome->seconds) : Value(), Value(row.joules),
                 ran ? exit_of(*row.outcome) : Value(), Value(row.joules_per_step),
                 Value(row.host_joules)});
  }
  return out;
}

Result<void> write_sweep_metrics(const std::string& folder, const std::vector<SummaryRow>& rows) {
  Report report;
  report.title = folder;
  report.tables.push_back(sweep_metrics(rows));
  RS_CHECK(write_file(folder + "/metrics.csv", csv_text(report.tables.front())));
  return write_file(folder + "/metrics.json", json_text(report));
}

std::optional<double> joules_of_run(const std::string& folder) {
  std::vector<std::string> profiles;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    if (it->is_directory(ec))
      profiles.push_back(it->path().string());
  std::optional<double> out;
  for (const std::string& profile : profiles)
    if (const Result<ProfiledRanks> ranks = merge_ranks({profile}); ranks && ranks->joules)
      out = out.value_or(0) + *ranks->joules;
  return out;
}

} // namespace rankscope
