#include "collect/samplers/read_samples.h"

#include "collect/library_trace/line_splitter.h"
#include "collect/library_trace/log_text.h"
#include "os/byte_source.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace rankscope {
namespace {

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> out;
  while (true) {
    const std::size_t comma = line.find(',');
    out.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos)
      return out;
    line.remove_prefix(comma + 1);
  }
}

class SampleReader {
public:
  explicit SampleReader(const std::string& path) : path_(path) {}

  void row(std::string_view line, std::string_view end) {
    ++line_;
    if (error_ || (end.empty() && line_ > 1)) // cut off in mid-row
      return;
    const std::vector<std::string_view> cells = cells_of(line);
    if (line_ == 1)
      header(cells);
    else if (cells.size() != columns_)
      fail(fmt::format("{} cells, expected {}", cells.size(), columns_));
    else
      sample(cells);
  }
  Result<std::map<int, std::vector<PowerSample>>> finish() {
    if (line_ == 0)
      fail("is empty");
    if (error_)
      return *error_;
    return std::move(samples_);
  }

private:
  void fail(std::string what) {
    error_ =
        Error{ErrorCode::kUnreadable, fmt::format("{}: row {}", path_, line_), std::move(what), ""};
  }
  void header(const std::vector<std::string_view>& cells) {
    columns_ = cells.size();
    const auto find = [&](std::string_view name) {
      const auto it = std::find(cells.begin(), cells.end(), name);
      if (it == cells.end())
        fail(fmt::format("has no column \"{}\"", name));
      return static_cast<std::size_t>(it - cells.begin());
    };
    time_ = find("t_unix_ns");
    gpu_ = find("gpu");
    power_ = find("power_w");
  }
  void sample(const std::vector<std::string_view>& cells) {
    const auto t = to_number(cells[time_]);
    const auto gpu = to_number<int>(cells[gpu_]);
    const auto watts = to_number<double>(cells[power_]);
    if (!t || !gpu || (!watts && !cells[power_].empty()))
      return fail("is no sample");
    if (!watts)
      return;
    std::vector<PowerSample>& list = samples_[*gpu];
    if (!list.empty() && list.back().unix_ns > *t)
      return fail("is older than the row before");
    list.push_back({*t, *watts});
  }

  std::string path_;
  std::size_t line_ = 0, columns_ = 0, time_ = 0, gpu_ = 0, power_ = 0;
  std::optional<Error> error_;
  std::map<int, std::vector<PowerSample>> samples_;
};

} // namespace

Result<std::map<int, std::vector<PowerSample>>> read_power_samples(const std::string& path) {
  RS_TRY(const auto source, ByteSource::open(path));
  SampleReader reader(path);
  LineSplitter lines;
  const auto row = [&](std::string_view line, std::string_view end) { reader.row(line, end); };
  std::string buffer(std::size_t{1} << 20, '\0');
  for (std::size_t n = source->read(buffer.data(), buffer.size()); n > 0;
       n = source->read(buffer.data(), buffer.size()))
    lines.feed(std::string_view(buffer).substr(0, n), row);
  lines.finish(row);
  return reader.finish();
}

} // namespace rankscope
