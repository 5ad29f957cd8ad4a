// rankscope info TRACE...: what a trace holds, before anything is analysed.
#include "analyses/timeline/stream_overlap.h"
#include "cli/command.h"
#include "core/steps.h"
#include "engine/loader.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <array>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

Report describe(const LoadedTrace& t) {
  const Trace& trace = t.trace;
  const Events& e = trace.events;
  Report report;
  report.title = trace.path;
  Table facts("trace", {{"fact"}, {"value"}});
  const auto fact = [&facts](const char* name, const std::string& value) {
    if (!value.empty())
      facts.add_row({name, value});
  };
  fact("file", trace.path);
  fact("vendor", trace.vendor().empty() ? "unknown" : trace.vendor());
  if (!trace.header.devices.empty())
    fact("device", fmt::format("{} x {}", trace.header.devices.size(),
                               trace.header.devices.front().name.empty()
                                   ? "(no name)"
                                   : trace.header.devices.front().name));
  fact("rank", trace.header.rank ? std::to_string(*trace.header.rank) : "not in the file");
  if (trace.header.world_size)
    fact("world size", std::to_string(*trace.header.world_size));
  fact("backend", trace.header.backend);
  fact("NCCL or RCCL version", trace.header.nccl_version);
  for (const ProcessGroup& pg : trace.header.process_groups)
    fact("process group", fmt::format("{} ({}), {} ranks", pg.name, pg.description, pg.size));
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  std::array<std::uint64_t, 14> counts{};
  for (EventId i = 0; i < e.size(); ++i) {
    ++counts[static_cast<std::size_t>(e.category[i])];
    if (e.category[i] == Category::kOther)
      continue; // "Trace" rows span the whole recording
    first = std::min(first, e.ts_ns[i]);
    last = std::max(last, trace.end_ns(i));
  }
  fact("profiler steps", std::to_string(profiler_steps(trace).size()));
  if (last >= first)
    fact("span", fmt::format("{:.3f} ms", static_cast<double>(last - first) / 1e6));
  if (trace.header.has_base_time)
    fact("base time", fmt::format("{} ns since 1970", trace.header.base_time_ns));
  fact("JSON",
       fmt::format("{:.1f} MB after unpacking", static_cast<double>(trace.input_bytes) / 1e6));
  fact("events", fmt::format("{} in the file, {} kept, {} python_function skipped",
                             trace.events_in_file, e.size(), trace.python_events_skipped));
  fact("memory",
       fmt::format("{:.1f} bytes per kept event",
                   static_cast<double>(trace.memory_bytes()) / static_cast<double>(e.size())));
  const std::size_t gpu = t.tree.gpu_event_count();
  fact("linked", gpu == 0
                     ? "no GPU events"
                     : fmt::format("{} of {} GPU events ({:.1f} %)", t.tree.linked_count(), gpu,
                                   100.0 * static_cast<double>(t.tree.linked_count()) /
                                       static_cast<double>(gpu)));
  const StreamOverlaps overlaps = find_stream_overlaps(trace);
  if (overlaps.count > 0)
    fact("same-stream overlaps",
         fmt::format("{} ({:.3f} us in all, longest {:.3f} us)", overlaps.count,
                     static_cast<double>(overlaps.total_ns) / 1e3,
                     static_cast<double>(overlaps.longest_ns) / 1e3));
  report.tables.push_back(std::move(facts));
  Table categories("events", {{"category"}, {"events", Unit::kCount}});
  for (std::size_t c = 0; c < counts.size(); ++c)
    if (counts[c] > 0)
      categories.add_row({category_name(static_cast<Category>(c)), counts[c]});
  report.tables.push_back(std::move(categories));
  report.diagnostics = trace.diagnostics;
  return report;
}

Action setup(CLI::App& app) {
  auto traces = std::make_shared<std::vector<std::string>>();
  app.add_option("TRACE", *traces, "trace files, - for standard input")->required();
  return [traces](Context& ctx) -> Result<void> {
    std::size_t failed = 0;
    for (const std::string& path : *traces) {
      LoadOptions load;
      load.threads = ctx.threads;
      Result<LoadedTrace> loaded = load_trace(path, load);
      if (!loaded) {
        if (++failed == traces->size())
          return std::move(loaded.error());
        ctx.warn(loaded.error().message());
        ctx.partial = true;
        continue;
      }
      const Report report = describe(*loaded);
      ctx.diagnostics.merge(report.diagnostics);
      if (ctx.json) {
        ctx.out(json_text(report));
        continue;
      }
      for (const Table& t : report.tables)
        ctx.out(console_table(t, 100, 100) + "\n");
    }
    return {};
  };
}

} // namespace

const Command info_command{"info", "what a trace holds: vendor, ranks, steps, events, problems",
                           "  rankscope info rank0.json.gz\n"
                           "  rankscope info --json rank*.json.gz",
                           setup};

} // namespace rankscope
