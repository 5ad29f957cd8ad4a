#include "collect/samplers/read_samples.h"

#include "base/ascii.h"
#include "collect/library_trace/line_splitter.h"
#include "collect/library_trace/log_text.h"
#include "collect/samplers/sample_time.h"
#include "core/trace.h"
#include "os/byte_source.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace rankscope {
namespace {

/// A cell "71.24 W" or "71.24" as a number. Empty for a blank and for N/A in any form.
struct Watts {
  bool is_cell = true; ///< false: neither a number nor a missing value
  std::optional<double> value;
};
Watts watts_of(std::string_view cell) {
  if (cell.empty() || cell.find("N/A") != std::string_view::npos ||
      cell.find("Not Supported") != std::string_view::npos || cell == "[Unknown Error]")
    return {};
  if (cell.ends_with('W'))
    cell = trimmed(cell.substr(0, cell.size() - 1));
  const auto value = to_number<double>(cell);
  return {value.has_value(), value};
}

class SampleReader {
public:
  explicit SampleReader(const std::string& path) : path_(path) {}

  void row(std::string_view line, std::string_view end) {
    ++line_;
    if (error_ || (end.empty() && line_ > 1)) // the row is cut off
      return;
    std::vector<std::string_view> cells = split(line, ',');
    if (form_ != Form::kRankscope)
      for (std::string_view& cell : cells)
        cell = trimmed(cell);
    if (line_ == 1)
      header(cells);
    else if (cells.size() != columns_)
      fail(fmt::format("{} cells, expected {}", cells.size(), columns_));
    else
      sample(cells);
  }
  Result<PowerTable> finish() {
    if (line_ == 0)
      fail("is empty");
    if (error_)
      return *error_;
    out_.longest_gap_ns = longest_gap();
    return std::move(out_);
  }

private:
  enum class Form { kUnknown, kRankscope, kWide, kVendor };

  void fail(std::string what) {
    error_ =
        Error{ErrorCode::kUnreadable, fmt::format("{}: row {}", path_, line_), std::move(what), ""};
  }

  void header(const std::vector<std::string_view>& cells) {
    columns_ = cells.size();
    const auto find = [&](std::initializer_list<std::string_view> names) {
      for (const std::string_view name : names)
        for (std::size_t i = 0; i < cells.size(); ++i) // "power.draw [W]" is power.draw
          if (cells[i] == name || cells[i].starts_with(std::string(name) + " ["))
            return i;
      return kNone;
    };
    time_ = find({"t_unix_ns"});
    gpu_ = find({"gpu", "index"});
    power_ = find({"power_w"});
    energy_ = find({"energy_j"});
    monotonic_ = find({"t_mono_ns"});
    form_ = Form::kRankscope;
    if (time_ != kNone && gpu_ != kNone && power_ != kNone)
      return;
    form_ = Form::kVendor;
    time_ = find({"timestamp"});
    power_ = find({"power.draw.instant", "power.draw", "power.draw.average", "power_usage",
                   "socket_power", "current_socket_power", "average_socket_power"});
    if (time_ != kNone && gpu_ != kNone && power_ != kNone)
      return;
    form_ = Form::kWide;
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (const std::string_view number = behind(cells[i], kWidePower.size());
          cells[i].starts_with(kWidePower))
        if (const auto gpu = to_number<int>(number)) // "0+1" is a sum of two GPUs
          wide_.emplace_back(i, *gpu);
    if (wide_.empty() || cells[0] != "time")
      fail("is not a power table: expected the columns t_unix_ns, gpu, power_w; or timestamp, "
           "index or gpu, power.draw or power_usage; or time, \"Power(Watt) GPU0\", ...");
  }

  void sample(const std::vector<std::string_view>& cells) {
    if (form_ == Form::kWide) {
      const auto t = sample_time_ns(cells[0]);
      if (!t)
        return fail("has no time");
      for (const auto& [column, gpu] : wide_)
        add(*t, gpu, watts_of(cells[column]));
      return;
    }
    const auto t =
        form_ == Form::kRankscope ? to_number(cells[time_]) : sample_time_ns(cells[time_]);
    const auto gpu = to_number<int>(cells[gpu_]);
    if (!t || !gpu)
      return fail("is not a sample");
    add(*t, *gpu,
        form_ == Form::kRankscope ? sampled_watts(cells[power_]) : watts_of(cells[power_]),
        energy_ == kNone ? std::nullopt : to_number<double>(cells[energy_]));
    const auto monotonic = monotonic_ == kNone ? std::nullopt : to_number(cells[monotonic_]);
    if (!monotonic || error_ || *monotonic < 0 || *monotonic > kMaxTimeNs)
      return;
    ClockAnchor at;
    at.unix_ns = *t;
    at.monotonic_ns = at.boottime_ns = *monotonic; // equal except for times of suspension
    if (!out_.clocks)
      out_.clocks.emplace(at, at);
    out_.clocks->second = at;
  }

  static Watts sampled_watts(std::string_view cell) {
    const auto value = to_number<double>(cell);
    return {value.has_value() || cell.empty(), value};
  }

  void add(std::int64_t t, int gpu, const Watts& watts,
           std::optional<double> energy_j = std::nullopt) {
    if (error_)
      return;
    if (!watts.is_cell || t < -kMaxTimeNs || t > kMaxTimeNs)
      return fail("is not a sample");
    if (!watts.value)
      return;
    std::vector<PowerSample>& list = out_.gpus[gpu];
    if (!list.empty() && list.back().unix_ns > t)
      return fail("has an earlier time than the previous row");
    list.push_back(
        {t, *watts.value, energy_j && std::isfinite(*energy_j) ? energy_j : std::nullopt});
  }

  [[nodiscard]] std::int64_t longest_gap() const {
    std::vector<std::int64_t> apart;
    for (const auto& [gpu, list] : out_.gpus)
      for (std::size_t i = 1; i < list.size(); ++i)
        if (list[i].unix_ns > list[i - 1].unix_ns)
          apart.push_back(list[i].unix_ns - list[i - 1].unix_ns);
    if (apart.empty())
      return 0;
    const auto middle = apart.begin() + static_cast<std::ptrdiff_t>(apart.size() / 2);
    std::nth_element(apart.begin(), middle, apart.end());
    return *middle / 2 * 5; // no overflow: times are below INT64_MAX / 4
  }

  static constexpr std::string_view kWidePower = "Power(Watt) GPU";
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::string path_;
  Form form_ = Form::kUnknown;
  std::size_t line_ = 0, columns_ = 0, time_ = 0, gpu_ = 0, power_ = 0, monotonic_ = kNone,
              energy_ = kNone;
  std::vector<std::pair<std::size_t, int>> wide_; ///< column and GPU
  std::optional<Error> error_;
  PowerTable out_;
};

} // namespace

Result<PowerTable>
read_power_table(const std::string& path,
                 const std::function<void(std::string_view line, std::string_view end)>& also) {
  RS_TRY(const auto source, ByteSource::open(path));
  SampleReader reader(path);
  each_line(*source, [&](std::string_view line, std::string_view end) {
    reader.row(line, end);
    if (also)
      also(line, end);
  });
  return reader.finish();
}

Result<std::map<int, std::vector<PowerSample>>> read_power_samples(const std::string& path) {
  RS_TRY(PowerTable table, read_power_table(path));
  return std::move(table.gpus);
}

} // namespace rankscope
