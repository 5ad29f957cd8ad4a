#include "analyses/replay/replay_items.h"

#include "analyses/operators/roofline.h"
#include "analyses/timeline/gpu_timeline.h"
#include "base/sort.h"
#include "base/units.h"
#include "model/kernels.h"
#include "model/ops/op_model.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rankscope {
namespace {

/// Returns the call's GEMM kernel, else its first kernel. The kernel's name shows the data type of
/// the accumulation.
std::string_view kernel_of(const LoadedTrace& t, EventId e) {
  const auto gpu = t.tree.gpu_events(e);
  std::vector<EventId> kernels(gpu.begin(), gpu.end());
  sort_by_start(t.trace.events, kernels);
  for (const EventId k : kernels)
    if (is_gemm_kernel(t.trace.name(k)))
      return t.trace.name(k);
  return kernels.empty() ? std::string_view() : t.trace.name(kernels.front());
}

ReplayItem item_of(const LoadedTrace& t, const FamilyRow& row, ReplayGroup group, double busy_us) {
  ReplayItem out;
  out.group = group;
  out.name = row.name;
  if (const OpArgs* args = t.trace.op(row.first)) {
    const auto text = [&](StrId id) { return std::string(t.trace.strings.view(id)); };
    out.dims = text(args->input_dims);
    out.types = text(args->input_types);
    out.strides = text(args->input_strides);
    out.concrete = text(args->concrete_inputs);
  }
  out.count = static_cast<std::int64_t>(row.count);
  out.profile_us = row.kernel_us.mean;
  if (busy_us > 0)
    out.share_pct = 100 * row.kernel_us.sum / busy_us;
  out.request = replay_request(out.name, ParsedArgs(out.dims, out.types, out.strides, out.concrete),
                               kernel_of(t, row.first));
  return out;
}

double busy_us_of(const LoadedTrace& t, const ReportOptions& options) {
  for (const TimelineRow& row : t.shared(TimelineKey{options}))
    if (row.kind == TimeKind::kBusy)
      return ns_to_us(row.time_ns);
  return 0;
}

std::optional<double> difference(const std::optional<double>& measured, double profile) {
  return measured ? std::optional(*measured - profile) : std::nullopt;
}
std::optional<double> percent_replay_items(const std::optional<double>& measured, double profile) {
  return measured && profile > 0 ? std::optional(100 * (*measured - profile) / profile)
                                 : std::nullopt;
}

/// Adds the eight documented columns.
void add_times(Schema<ReplayRow>& s, const std::string& g) {
  using Row = ReplayRow;
  s.add({"number", g + " no.", Unit::kNone,
         [](const Row& r) { return static_cast<std::uint64_t>(r.number); },
         "number of the row in the sheet " + g + " and of the command file"});
  s.add({"bench_us", "Avg. " + g + "-bench time (us)", Unit::kUs,
         [](const Row& r) { return r.bench.us; },
         "mean time of a call, measured by the library's benchmark program or by the library "
         "itself; blank if it was not measured"});
  s.add({"replay_us", "Avg. replay time (us)", Unit::kUs, [](const Row& r) { return r.torch.us; },
         "mean time of a call of the operator in PyTorch, including gaps on the host; blank if it "
         "was not measured"});
  s.add({"profile_us", "Avg. profile time (us)", Unit::kUs,
         [](const Row& r) { return r.item.profile_us; },
         "mean kernel time of a call in the trace"});
  s.add({"replay_diff_us", "Diff profile vs. replay (us)", Unit::kUs,
         [](const Row& r) { return difference(r.torch.us, r.item.profile_us); },
         "replay time - profile time"});
  s.add({"bench_diff_us", "Diff profile vs. " + g + "-bench (us)", Unit::kUs,
         [](const Row& r) { return difference(r.bench.us, r.item.profile_us); },
         "bench time - profile time"});
  s.add({"replay_diff_pct", "Diff profile vs. replay (pct)", Unit::kPercent,
         [](const Row& r) { return percent_replay_items(r.torch.us, r.item.profile_us); },
         "replay time - profile time, in percent of the profile time"});
  s.add({"bench_diff_pct", "Diff profile vs. " + g + "-bench (pct)", Unit::kPercent,
         [](const Row& r) { return percent_replay_items(r.bench.us, r.item.profile_us); },
         "bench time - profile time, in percent of the profile time"});
}

void add_facts(Schema<ReplayRow>& s) {
  using Row = ReplayRow;
  s.add({"share_pct", "share of GPU time (%)", Unit::kPercent,
         [](const Row& r) { return r.item.share_pct; },
         "kernel time of all calls, in percent of the busy time of the GPU"});
  s.add({"count", Unit::kCount, [](const Row& r) { return r.item.count; },
         "number of calls in the trace"});
  s.add({"name", [](const Row& r) { return text_or_blank(r.item.name); }, "name of the operator"});
  s.add({"input_dims", "Input Dims", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.item.dims); }, "recorded shapes of the inputs"});
  s.add({"input_type", "Input type", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.item.types); }, "recorded types of the inputs"});
  s.add({"input_strides", "Input Strides", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.item.strides); },
         "recorded strides of the inputs"});
  s.add({"bench_runner", "bench runner", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.bench.runner); },
         "program or library that measured the benchmark time"});
  s.add({"bench_status", "bench status", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.bench.status); },
         "status of the benchmark: ok, missing, unsupported, failed or skipped"});
  s.add({"bench_detail", "bench detail", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.bench.detail); },
         "without a benchmark time: the reason; otherwise: the parts of the operator that the "
         "benchmarked call leaves out"});
  s.add({"replay_status", "replay status", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.torch.status); },
         "status of the replay in PyTorch: ok, missing, unsupported, failed or skipped; blank if "
         "no replay was requested"});
  s.add({"replay_detail", "replay detail", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.torch.detail); },
         "reason why no time was measured in PyTorch"});
  s.add({"command_file", "command file", Unit::kNone,
         [](const Row& r) { return text_or_blank(r.command_file); },
         "file with the commands of the benchmark program, for tuning"});
}

} // namespace

const char* replay_group_name(ReplayGroup group) {
  return group == ReplayGroup::kGemm ? "gemm" : "conv";
}

Result<std::vector<ReplayItem>> replay_items(const LoadedTrace& trace, const ReportOptions& options,
                                             std::size_t top) {
  const Result<FamilyFacts>& families = trace.shared(FamiliesKey{options});
  if (!families)
    return families.error();
  std::vector<std::pair<const FamilyRow*, ReplayGroup>> rows;
  for (const auto& [sheet, group] :
       {std::pair("GEMM", ReplayGroup::kGemm), std::pair("CONV_fwd", ReplayGroup::kConv),
        std::pair("CONV_bwd", ReplayGroup::kConv)})
    if (const FamilySheet* const found = find_family(families->sheets, sheet))
      for (const FamilyRow& row : found->rows)
        if (row.kernel_us.sum > 0)
          rows.emplace_back(&row, group);
  sort_stably(rows, [](const auto& a, const auto& b) {
    return a.first->kernel_us.sum != b.first->kernel_us.sum
               ? a.first->kernel_us.sum > b.first->kernel_us.sum
               : a.first->first_uid < b.first->first_uid;
  });
  if (top > 0 && rows.size() > top)
    rows.resize(top);
  const double busy_us = busy_us_of(trace, options);
  std::vector<ReplayItem> out;
  out.reserve(rows.size());
  for (const auto& [row, group] : rows)
    out.push_back(item_of(trace, *row, group, busy_us));
  return out;
}

std::vector<ReplayRow> replay_rows(std::vector<ReplayItem> items) {
  std::array<std::size_t, kReplayGroups> next{};
  std::vector<ReplayRow> out;
  out.reserve(items.size());
  for (ReplayItem& item : items) {
    ReplayRow row;
    row.number = next[static_cast<std::size_t>(item.group)]++;
    row.commands = replay_commands(item.request);
    row.item = std::move(item);
    out.push_back(std::move(row));
  }
  return out;
}

std::size_t replay_selection(std::span<const double> running_share, bool compat) {
  std::size_t n = 0;
  while (n < running_share.size() && running_share[n] < 0.99)
    ++n;
  if (!compat)
    return std::min(n + 1, running_share.size());
  return n > 0 ? n : running_share.size();
}

Schema<ReplayRow> replay_schema(ReplayGroup group, bool all) {
  const std::string g = replay_group_name(group);
  Schema<ReplayRow> out(g + "_node_replay",
                        group == ReplayGroup::kGemm
                            ? "replayed matrix products, compared with their time in the trace"
                            : "replayed convolutions, compared with their time in the trace");
  add_times(out, g);
  if (all)
    add_facts(out);
  return out;
}

Table replay_table(std::span<const ReplayRow> rows, ReplayGroup group, bool all) {
  std::vector<ReplayRow> group_rows;
  for (const ReplayRow& row : rows)
    if (row.item.group == group)
      group_rows.push_back(row);
  return replay_schema(group, all).table(group_rows);
}

} // namespace rankscope
