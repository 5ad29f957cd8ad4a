#include "collect/library_perf/perf_rows.h"

#include "base/csv.h"
#include "base/saturated.h"
#include "base/sort.h"
#include "base/to_number.h"
#include "os/byte_source.h"
#include "os/output_file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

std::optional<double> number(const std::string& text) {
  const auto value = to_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

Result<std::string> all_of(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 30;
  RS_TRY(const auto source, ByteSource::open(path));
  std::string text, buffer(std::size_t{1} << 20, '\0');
  for (std::size_t n = source->read(buffer.data(), buffer.size());
       n > 0 && text.size() < kMostBytes; n = source->read(buffer.data(), buffer.size()))
    text.append(buffer, 0, n);
  if (!source->problem().empty())
    return Error{ErrorCode::kUnreadable, path, source->problem(), ""};
  return text;
}

std::uint64_t calls_of(const CsvRow& row) {
  const auto value = number(row.at("calls"));
  return value && *value > 0 ? static_cast<std::uint64_t>(std::min(*value, 1e18)) : 0;
}

} // namespace

Result<std::vector<CsvRow>> read_csv(const std::string& path,
                                     const std::vector<std::string>& wanted) {
  RS_TRY(const std::string text, all_of(path));
  std::string_view rest = text;
  std::vector<CsvField> fields;
  const auto next = [&](std::size_t columns) {
    std::size_t used = 0;
    const CsvRecord found = next_csv_record(rest, true, columns, fields, used);
    rest.remove_prefix(used);
    return found == CsvRecord::kComplete;
  };
  std::vector<std::string> names;
  if (!rest.empty() && next(0))
    for (const CsvField& field : fields)
      names.push_back(field.unquoted());
  for (const std::string& name : wanted)
    if (std::find(names.begin(), names.end(), name) == names.end())
      return Error{ErrorCode::kUnreadable, path, fmt::format("has no column \"{}\"", name), ""};
  std::vector<CsvRow> rows;
  for (std::size_t line = 2; !rest.empty(); ++line) {
    const bool complete = next(names.size());
    if (fields.size() == 1 && fields[0].text.empty())
      continue;
    if (!complete)
      return Error{ErrorCode::kUnreadable, fmt::format("{}: row {}", path, line),
                   "a quote is not closed", ""};
    if (fields.size() != names.size())
      return Error{ErrorCode::kUnreadable, fmt::format("{}: row {}", path, line),
                   fmt::format("{} cells, expected {}", fields.size(), names.size()), ""};
    CsvRow row;
    for (std::size_t i = 0; i < names.size(); ++i)
      row[names[i]] = fields[i].unquoted();
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<PerfRow>> read_trace_rows(const std::string& path) {
  RS_TRY(const std::vector<CsvRow> table,
         read_csv(path, {"jobid", "created_date", "model", "library", "config", "calls"}));
  std::vector<PerfRow> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (const CsvRow& r : table) {
    const auto [it, fresh] = seen.emplace(std::pair(r.at("library"), r.at("config")), rows.size());
    if (!fresh) {
      add_saturated(rows[it->second].calls, calls_of(r));
      continue;
    }
    PerfRow row;
    row.job_id = r.at("jobid");
    row.created = r.at("created_date");
    row.model = r.at("model");
    row.library = r.at("library");
    row.config = r.at("config");
    row.calls = calls_of(r);
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<void> write_perf_table(const std::string& path, std::vector<PerfRow> rows) {
  sort_stably(rows, [](const PerfRow& a, const PerfRow& b) {
    return a.total_us().value_or(-1) > b.total_us().value_or(-1);
  });
  double all = 0;
  for (const PerfRow& r : rows)
    all += r.total_us().value_or(0);
  RS_TRY(OutputFile file, OutputFile::create(path));
  file.write("jobid,created_date,model,library,config,calls,gpu_vendor,gpu_architecture,backend,"
             "time_us,time_us_stddev,iters,gflops,gbps,total_us,share_pct,status,detail\n");
  for (const PerfRow& r : rows) {
    const auto total = r.total_us();
    const auto share = total && all > 0 ? std::optional(100 * *total / all) : std::nullopt;
    file.write(csv_line(r.job_id, r.created, r.model, r.library, r.config, r.calls, r.gpu_vendor,
                        r.gpu_architecture, r.backend, r.time_us, r.time_us_stddev,
                        r.iters > 0 ? csv_cell(r.iters) : "", r.gflops, r.gbps, total, share,
                        r.status, r.detail));
  }
  return file.commit();
}

Result<PerfComparison> compare_perf_tables(const std::string& a, const std::string& b,
                                           const std::string& out) {
  const std::vector<std::string> columns = {"library", "config", "calls", "time_us", "status"};
  RS_TRY(const std::vector<CsvRow> left, read_csv(a, columns));
  RS_TRY(const std::vector<CsvRow> right, read_csv(b, columns));
  struct Pair {
    const CsvRow *a = nullptr, *b = nullptr;
    double weight = 0;
  };
  std::map<std::pair<std::string, std::string>, Pair> pairs;
  for (const CsvRow& r : left)
    pairs[{r.at("library"), r.at("config")}].a = &r;
  for (const CsvRow& r : right)
    pairs[{r.at("library"), r.at("config")}].b = &r;
  const auto time = [](const CsvRow* r) {
    return r == nullptr ? std::nullopt : number(r->at("time_us"));
  };
  std::vector<std::pair<std::pair<std::string, std::string>, Pair>> rows(pairs.begin(),
                                                                         pairs.end());
  for (auto& [key, p] : rows)
    p.weight = static_cast<double>(calls_of(p.a != nullptr ? *p.a : *p.b)) *
               std::max(time(p.a).value_or(0), time(p.b).value_or(0));
  sort_stably(rows, [](const auto& x, const auto& y) { return x.second.weight > y.second.weight; });
  PerfComparison sum;
  RS_TRY(OutputFile file, OutputFile::create(out));
  file.write("library,config,calls,a_us,b_us,ratio,winner,a_status,b_status\n");
  for (const auto& [key, p] : rows) {
    const std::uint64_t calls = calls_of(p.a != nullptr ? *p.a : *p.b);
    const auto ta = time(p.a), tb = time(p.b);
    std::optional<double> ratio;
    std::string winner;
    if (ta && tb && *ta > 0 && *tb > 0) {
      ratio = *tb / *ta;
      const bool same = std::abs(*tb - *ta) <= kSameTime * (*ta + *tb) / 2;
      winner = same ? "same" : *ta < *tb ? "A" : "B";
      ++(same ? sum.same : *ta < *tb ? sum.a_wins : sum.b_wins);
      sum.a_total_us += *ta * static_cast<double>(calls);
      sum.b_total_us += *tb * static_cast<double>(calls);
    } else {
      ++sum.not_comparable;
    }
    const auto status = [](const CsvRow* r) { return r == nullptr ? "absent" : r->at("status"); };
    file.write(
        csv_line(key.first, key.second, calls, ta, tb, ratio, winner, status(p.a), status(p.b)));
  }
  RS_CHECK(file.commit());
  return sum;
}

} // namespace rankscope
