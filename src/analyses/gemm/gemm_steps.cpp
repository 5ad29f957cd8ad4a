#include "analyses/gemm/gemm_steps.h"

#include "base/interval_set.h"
#include "base/sort.h"
#include "base/to_number.h"
#include "base/units.h"
#include "core/trace.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>

namespace rankscope {
namespace {

/// An entry of a kernel_details list.
struct ListedKernel {
  std::string name;
  double total_us = 0; ///< 0 if the entry has no total_duration_us
};

/// Returns the number after `key` in a Python dict; 0 without such a number.
double number_after(std::string_view dict, std::string_view key) {
  const std::size_t at = dict.find(key);
  if (at == std::string_view::npos)
    return 0;
  dict.remove_prefix(std::min(dict.size(), dict.find_first_not_of(' ', at + key.size())));
  return to_number<double>(dict.substr(0, dict.find_first_of(",} "))).value_or(0);
}

/// Returns the entries of a Python list of dicts that have a 'name', in order.
std::vector<ListedKernel> kernels_in(std::string_view details) {
  std::vector<ListedKernel> out;
  constexpr std::string_view kKey = "'name':";
  for (std::size_t at = details.find(kKey); at != std::string_view::npos;
       at = details.find(kKey, at)) {
    at += kKey.size();
    while (at < details.size() && details[at] == ' ')
      ++at;
    if (at >= details.size() || (details[at] != '\'' && details[at] != '"'))
      continue;
    const char quote = details[at++];
    std::string name;
    for (; at < details.size() && details[at] != quote; ++at) {
      if (details[at] == '\\' && at + 1 < details.size())
        ++at;
      name += details[at];
    }
    const std::string_view rest = details.substr(std::min(at, details.size()));
    out.push_back(
        {std::move(name), number_after(rest.substr(0, rest.find(kKey)), "'total_duration_us':")});
  }
  return out;
}

std::string text_of(const Table& t, std::size_t row, std::initializer_list<const char*> columns) {
  for (const char* column : columns)
    if (const Value v = t.at(row, column); v.kind == CellKind::kText && !v.text.empty())
      return std::string(v.text);
  return {};
}

/// Returns the list in a normal form: both kinds of brackets become equal, and so do "(1,)" and
/// "[1]".
std::string plain_list(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == ' ')
      continue;
    if ((c == ')' || c == ']') && !out.empty() && out.back() == ',')
      out.pop_back();
    out += c == '(' ? '[' : c == ')' ? ']' : c;
  }
  return out;
}

/// Returns the header in snake_case.
std::string id_of(std::string_view header) {
  std::string out;
  for (const char c : header)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!out.empty() && out.back() != '_')
      out += '_';
  return out;
}

double us(const GemmInstance& i) {
  return ns_to_us(i.dur_ns);
}

/// Returns a cell's time or length in ns; empty if it is not a number or is too large for sums.
std::optional<std::int64_t> ns_of(double cell, double ns_per_unit) {
  const double ns = cell * ns_per_unit;
  if (!(std::fabs(ns) <= static_cast<double>(kMaxTimeNs)))
    return std::nullopt;
  return std::llround(ns);
}

} // namespace

std::string dominant_kernel(std::string_view details) {
  const std::vector<ListedKernel> kernels = kernels_in(details);
  std::map<std::string, double> total_us; // a kernel has an entry for each place in the call
  for (const ListedKernel& kernel : kernels)
    total_us[kernel.name] += kernel.total_us;
  std::string out;
  for (const ListedKernel& kernel : kernels)
    if (out.empty() || total_us[kernel.name] >= total_us[out])
      out = kernel.name;
  return out;
}

std::optional<GemmFacts> variance_of_report(const Report& report, const RunKey& key,
                                            std::size_t top_k) {
  const Table* const sheet = report.find("GEMM");
  if (sheet == nullptr)
    return std::nullopt;
  const auto details = sheet->column("kernel_details__summarize_kernel_stats");
  const auto low = sheet->column("Kernel Time (\u00b5s)_min");
  const auto high = sheet->column("Kernel Time (\u00b5s)_max");
  if (!details || !low || !high)
    return std::nullopt;
  GemmFacts out;
  std::vector<std::size_t> columns(sheet->cols());
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  std::sort(columns.begin(), columns.end(), [&](std::size_t a, std::size_t b) {
    return sheet->columns()[a].name < sheet->columns()[b].name;
  });
  for (const std::size_t c : columns)
    out.sheet_columns.push_back({id_of(sheet->columns()[c].name), sheet->columns()[c].name});
  for (std::size_t r = 0; r < sheet->rows(); ++r) {
    GemmRow row;
    row.key = key;
    row.kernel = dominant_kernel(sheet->at(r, *details).text);
    row.calls_us.min = sheet->at(r, *low).number();
    row.calls_us.max = sheet->at(r, *high).number();
    row.range_us = row.calls_us.max - row.calls_us.min;
    if (row.kernel.empty() || std::isnan(row.range_us))
      continue;
    for (const std::size_t c : columns)
      row.sheet.push_back(SheetCell::of(sheet->at(r, c)));
    out.rows.push_back(std::move(row));
  }
  sort_stably(out.rows, std::ranges::greater(), &GemmRow::range_us);
  if (out.rows.size() > top_k)
    out.rows.resize(top_k);
  return out;
}

FoundInstances find_instances(const Table& variance, std::size_t row, const RankGemms& gemms) {
  const std::string op = text_of(variance, row, {"op", "col_name"});
  const std::string dims =
      plain_list(text_of(variance, row, {"input_dims", "col_Input Dims_first"}));
  const std::string strides =
      plain_list(text_of(variance, row, {"input_strides", "col_Input Strides_first"}));
  const std::string kernel = text_of(variance, row, {"kernel_name"});
  const double low = variance.at(row, "kernel_time_min_us").number();
  const double high = variance.at(row, "kernel_time_max_us").number();
  const auto fits_operator = [&](const GemmGroup& g) {
    return !op.empty() && g.op == op && plain_list(g.dims) == dims &&
           (strides.empty() || plain_list(g.strides) == strides);
  };
  std::vector<const GemmGroup*> fitting;
  for (const GemmGroup& g : gemms.groups)
    if (fits_operator(g))
      fitting.push_back(&g);
  if (fitting.empty())
    for (const GemmGroup& g : gemms.groups)
      if (g.kernel == kernel)
        fitting.push_back(&g);
  FoundInstances out;
  if (fitting.empty())
    return out;
  // a row of a report joins several groups, whose streams or scalar arguments differ
  const auto nearest = [&](std::size_t GemmGroup::*extreme, double want_us) {
    return *std::ranges::min_element(fitting, {}, [&](const GemmGroup* g) {
      return std::fabs(us(g->instances[g->*extreme]) - want_us);
    });
  };
  const GemmGroup& least = *nearest(&GemmGroup::shortest, low);
  const GemmGroup& most = *nearest(&GemmGroup::longest, high);
  out.found = true;
  out.trace_start_ns = gemms.trace_start_ns;
  out.min_start_ns = least.instances[least.shortest].start_ns;
  out.max_start_ns = most.instances[most.longest].start_ns;
  out.min_us = us(least.instances[least.shortest]);
  out.max_us = us(most.instances[most.longest]);
  out.max_busy = most.longest_busy;
  return out;
}

Table with_timestamps(const Table& variance, const std::vector<FoundInstances>& found,
                      double tolerance) {
  std::vector<Column> columns = variance.columns();
  const std::size_t kept = columns.size();
  for (const char* name :
       {"min_duration_timestamp_ms", "max_duration_timestamp_ms", "time_between_min_max_ms",
        "min_duration_found_us", "max_duration_found_us", "min_verified", "max_verified",
        "min_from_trace_start_ms", "max_from_trace_start_ms", "min_duration_timestamp_ns",
        "max_duration_timestamp_ns", "max_duration_busy_ns"})
    columns.push_back({name});
  Table out(variance.name() + "_with_timestamps", std::move(columns));
  const auto verdict = [&](double got, double expected) {
    return std::fabs(got - expected) <= tolerance * expected ? "pass" : "fail";
  };
  for (std::size_t r = 0; r < variance.rows(); ++r) {
    std::vector<Value> row;
    for (std::size_t c = 0; c < kept; ++c)
      row.push_back(variance.at(r, c));
    if (const FoundInstances& f = found[r]; f.found)
      for (const Value& v :
           {Value(ns_to_ms(f.min_start_ns)), Value(ns_to_ms(f.max_start_ns)),
            Value(ns_to_ms(std::abs(f.max_start_ns - f.min_start_ns))), Value(f.min_us),
            Value(f.max_us),
            Value(verdict(f.min_us, variance.at(r, "kernel_time_min_us").number())),
            Value(verdict(f.max_us, variance.at(r, "kernel_time_max_us").number())),
            Value(ns_to_ms(f.min_start_ns - f.trace_start_ns)),
            Value(ns_to_ms(f.max_start_ns - f.trace_start_ns)), Value(f.min_start_ns),
            Value(f.max_start_ns), Value(f.max_busy)})
        row.push_back(v);
    out.add_row(row);
  }
  return out;
}

Table with_overlap(const Table& timestamps, const std::vector<const Table*>& collectives) {
  std::vector<Column> columns = timestamps.columns();
  const std::size_t kept = columns.size();
  for (const char* name :
       {"overlapping_collective_count", "overlapping_collective_names", "max_overlap_percentage",
        "max_overlap_collective", "total_overlap_duration_ms", "overlap_evaluated",
        "total_overlap_percentage"})
    columns.push_back({name});
  std::string name = timestamps.name();
  const std::string tail = "_with_timestamps";
  if (name.size() > tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0)
    name.resize(name.size() - tail.size());
  Table out(name + "_with_collective_overlap", std::move(columns));
  for (std::size_t r = 0; r < timestamps.rows(); ++r) {
    std::vector<Value> row;
    for (std::size_t c = 0; c < kept; ++c)
      row.push_back(timestamps.at(r, c));
    const Value exact = timestamps.at(r, "max_duration_timestamp_ns");
    const auto start_ns = exact.kind == CellKind::kInt && usable_time(exact.i, 0)
                              ? std::optional(exact.i)
                              : ns_of(timestamps.at(r, "max_duration_timestamp_ms").number(), 1e6);
    auto dur_ns = ns_of(timestamps.at(r, "max_duration_found_us").number(), 1e3);
    if (!dur_ns)
      dur_ns = ns_of(timestamps.at(r, "kernel_time_max_us").number(), 1e3);
    const Table* const t = collectives[r];
    if (t == nullptr || !start_ns || !dur_ns || *dur_ns <= 0) {
      row.resize(kept + 5);
      row.emplace_back(false);
      out.add_row(row);
      continue;
    }
    IntervalSet call = busy_of_text(text_of(timestamps, r, {"max_duration_busy_ns"}));
    if (call.empty()) // a table of another tool: without gaps
      call = IntervalSet({{*start_ns, *start_ns + *dur_ns}});
    const double rank = timestamps.at(r, "rank").number();
    const char* const ts = t->column("ts") ? "ts" : "ts (us)";
    const char* const dur = t->column("dur") ? "dur" : "dur (us)";
    std::vector<Interval> during;
    std::string names;
    std::string most_name;
    std::int64_t most = 0;
    std::int64_t count = 0;
    for (std::size_t i = 0; i < t->rows(); ++i) {
      const auto from = ns_of(t->at(i, ts).number(), 1e3);
      const auto length = ns_of(t->at(i, dur).number(), 1e3);
      if (t->at(i, "rank").number() != rank || !from || !length)
        continue;
      const std::int64_t overlap = call.covered(*from, *from + *length);
      if (overlap <= 0) // events that only touch do not overlap
        continue;
      const std::string collective = text_of(*t, i, {"Collective name"});
      names += (count > 0 ? ";" : "") + collective;
      ++count;
      during.push_back({*from, *from + *length});
      if (overlap > most) {
        most = overlap;
        most_name = collective;
      }
    }
    const std::int64_t total = call.intersect(IntervalSet(std::move(during))).length();
    const auto length = static_cast<double>(call.length());
    row.insert(row.end(),
               {Value(count), Value(names), Value(100 * static_cast<double>(most) / length),
                Value(most_name), Value(ns_to_ms(total)), Value(true),
                Value(100 * static_cast<double>(total) / length)});
    out.add_row(row);
  }
  return out;
}

} // namespace rankscope
