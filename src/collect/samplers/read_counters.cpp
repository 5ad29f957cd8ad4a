#include "collect/samplers/read_counters.h"

#include "base/ascii.h"
#include "collect/library_trace/log_text.h"
#include "collect/samplers/read_samples.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace rankscope {
namespace {

struct CounterColumn {
  std::string_view column, quantity, unit;
  double scale;
};
constexpr std::array<CounterColumn, 6> kCounterColumns = {
    {{"power_w", "power", "W", 1},
     {"vram_used_b", "memory", "GiB", 1.0 / (1 << 30)},
     {"gpu_busy_pct", "load", "%", 1},
     {"sclk_mhz", "clock", "MHz", 1},
     {"mclk_mhz", "memory clock", "MHz", 1},
     {"temp_c", "temperature", "C", 1}}};

/// Reads the rows of gpu_samples.csv; an incomplete last row is left out.
class CounterReader {
public:
  void row(std::string_view line, std::string_view end) {
    const std::vector<std::string_view> cells = split(line, ',');
    if (names_.empty())
      names_.assign(cells.begin(), cells.end());
    else if (cells.size() == names_.size() && !end.empty())
      sample(cells);
  }
  std::vector<GpuCounter> counters() {
    std::vector<GpuCounter> out;
    for (auto& [key, counter] : counters_)
      out.push_back(std::move(counter));
    return out;
  }

private:
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? std::nullopt
                              : std::optional(static_cast<std::size_t>(at - names_.begin()));
  }
  void sample(const std::vector<std::string_view>& cells) {
    const auto time = column("t_unix_ns");
    const auto gpu = column("gpu");
    if (!time || !gpu)
      return;
    const auto unix_ns = to_number(cells[*time]);
    const auto index = to_number<int>(cells[*gpu]);
    if (!unix_ns || !index)
      return;
    for (std::size_t i = 0; i < kCounterColumns.size(); ++i) {
      const CounterColumn& c = kCounterColumns[i];
      const auto at = column(c.column);
      const auto value = at ? to_number<double>(cells[*at]) : std::nullopt;
      if (!value)
        continue;
      GpuCounter& counter = counters_[{*index, i}];
      counter.gpu = *index;
      counter.quantity = c.quantity;
      counter.unit = c.unit;
      counter.samples.emplace_back(*unix_ns, *value * c.scale);
    }
  }

  std::vector<std::string> names_;
  std::map<std::pair<int, std::size_t>, GpuCounter> counters_; ///< by GPU and column
};

} // namespace

Result<std::vector<GpuCounter>> read_gpu_counters(const std::string& path) {
  CounterReader reader;
  RS_TRY(const PowerTable power, // reports errors in the table
         read_power_table(path, [&reader](std::string_view line, std::string_view end) {
           reader.row(line, end);
         }));
  std::vector<GpuCounter> out = reader.counters();
  if (!out.empty())
    return out;
  for (const auto& [gpu, samples] : power.gpus) {
    GpuCounter counter{gpu, "power", "W", {}};
    for (const PowerSample& s : samples)
      counter.samples.emplace_back(s.unix_ns, s.watts);
    out.push_back(std::move(counter));
  }
  return out;
}

} // namespace rankscope
