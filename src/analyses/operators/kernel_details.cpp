#include "analyses/operators/kernel_details.h"

#include "base/number_text.h"
#include "base/sort.h"
#include "base/units.h"
#include "core/arg_text.h"

#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace rankscope {

KernelDetails kernel_details(const Trace& trace, const std::vector<std::span<const EventId>>& calls,
                             bool compat) {
  std::span<const EventId> model;
  for (const auto& call : calls)
    if (!call.empty()) {
      model = call;
      break;
    }
  if (model.empty())
    return {};
  struct Entry {
    EventId event;
    bool of_first_call;
    std::string_view name;
    std::int32_t stream;
    std::vector<std::int64_t> durations;
    Stats stats;
  };
  std::vector<Entry> entries;
  std::map<std::tuple<std::size_t, StrId, std::int32_t>, std::size_t> rows;
  for (const auto& call : calls) {
    if (compat && call.size() != model.size())
      continue;
    for (std::size_t k = 0; k < call.size(); ++k) {
      const EventId named = compat ? model[k] : call[k];
      const std::int32_t stream = trace.events.stream[named];
      const auto [row, fresh] =
          rows.try_emplace({k, trace.events.name[named], stream}, entries.size());
      if (fresh)
        entries.push_back({named, call.data() == model.data(), trace.name(named), stream, {}, {}});
      entries[row->second].durations.push_back(trace.events.dur_ns[call[k]]);
    }
  }
  for (Entry& e : entries)
    e.stats = stats_of_ns(std::move(e.durations));
  sort_stably(entries, [](const Entry& a, const Entry& b) {
    return a.stats.sum != b.stats.sum ? a.stats.sum < b.stats.sum : a.name < b.name;
  });
  KernelDetails out;
  out.summary = "[";
  out.truncated = "[";
  for (const Entry& e : entries) {
    const char* const comma = &e == entries.data() ? "" : ", ";
    if (e.of_first_call)
      out.kernels.push_back(e.event);
    out.summary += comma + kernel_entry(e.name, e.stream, e.stats);
    out.truncated += comma + short_kernel_entry(e.name, e.stream, e.stats);
  }
  out.summary += "]";
  out.truncated += "]";
  return out;
}

std::string kernel_entry(std::string_view name, std::int32_t stream, const Stats& us,
                         const std::string& more) {
  return fmt::format("{{'name': {}, 'stream': {}, 'count': {}, 'total_duration_us': {}, "
                     "'mean_duration_us': {}, 'median_duration_us': {}, 'std_dev_duration_us': {}, "
                     "'min_duration_us': {}, 'max_duration_us': {}{}}}",
                     python_quote(name), stream, us.count, python_float(us.sum),
                     python_float(us.mean), python_float(us.median),
                     python_float(us.std_population), python_float(us.min), python_float(us.max),
                     more);
}

std::string short_kernel_entry(std::string_view name, std::int32_t stream, const Stats& us,
                               const std::string& more) {
  constexpr std::size_t kMost = 64;
  const std::string cut =
      name.size() > kMost ? std::string(name.substr(0, kMost)) + "..." : std::string(name);
  const double hundredths = std::nearbyint(us.mean * 100) / 100; // rounds ties to even, like numpy
  return fmt::format("{{'name': {}, 'stream': {}, 'mean_duration_us': {}{}}}", python_quote(cut),
                     stream, python_float(hundredths), more);
}

} // namespace rankscope
