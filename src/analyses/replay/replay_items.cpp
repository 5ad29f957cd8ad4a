#include "analyses/replay/replay_items.h"

#include "analyses/operators/launchers.h"
#include "analyses/operators/roofline.h"
#include "analyses/timeline/gpu_timeline.h"
#include "base/units.h"
#include "model/kernels.h"
#include "model/ops/op_model.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rankscope {
namespace {

/// The kernel that names what sums are made in: the product among those of the call.
std::string_view kernel_of(const LoadedTrace& t, EventId e) {
  const auto gpu = t.tree.gpu_events(e);
  std::vector<EventId> kernels(gpu.begin(), gpu.end());
  sort_by_start(t.trace, kernels);
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

/// The eight columns of the document.
void add_times(Schema<ReplayRow>& s, const std::string& g) {
  using Row = ReplayRow;
  const auto add = [&](std::string id, std::string label, Unit unit, CellKind kind,
                       std::function<Value(const Row&)> get, std::string help) {
    s.add({std::move(id), std::move(label), unit, kind, std::move(get), std::move(help)});
  };
  add(
      "number", g + " no.", Unit::kNone, CellKind::kInt,
      [](const Row& r) { return Value(static_cast<std::uint64_t>(r.number)); },
      "row of the sheet " + g + ", number of the command file");
  add(
      "bench_us", "Avg. " + g + "-bench time (us)", Unit::kUs, CellKind::kDouble,
      [](const Row& r) { return Value(r.bench.us); },
      "time of a call by the library's bench program, or by the library itself; blank: not "
      "measured");
  add(
      "replay_us", "Avg. replay time (us)", Unit::kUs, CellKind::kDouble,
      [](const Row& r) { return Value(r.torch.us); },
      "time of a call of the operator under PyTorch, gaps on the host included; blank: not "
      "measured");
  add(
      "profile_us", "Avg. profile time (us)", Unit::kUs, CellKind::kDouble,
      [](const Row& r) { return Value(r.item.profile_us); },
      "mean time of its kernels in the trace");
  add(
      "replay_diff_us", "Diff profile vs. replay (us)", Unit::kUs, CellKind::kDouble,
      [](const Row& r) { return Value(difference(r.torch.us, r.item.profile_us)); },
      "replay less profile");
  add(
      "bench_diff_us", "Diff profile vs. " + g + "-bench (us)", Unit::kUs, CellKind::kDouble,
      [](const Row& r) { return Value(difference(r.bench.us, r.item.profile_us)); },
      "bench less profile");
  add(
      "replay_diff_pct", "Diff profile vs. replay (pct)", Unit::kPercent, CellKind::kDouble,
      [](const Row& r) { return Value(percent_replay_items(r.torch.us, r.item.profile_us)); },
      "the difference as a share of the profile's time");
  add(
      "bench_diff_pct", "Diff profile vs. " + g + "-bench (pct)", Unit::kPercent, CellKind::kDouble,
      [](const Row& r) { return Value(percent_replay_items(r.bench.us, r.item.profile_us)); },
      "the difference as a share of the profile's time");
}

void add_facts(Schema<ReplayRow>& s) {
  using Row = ReplayRow;
  s.add({"share_pct", "share of GPU time (%)", Unit::kPercent, CellKind::kDouble,
         [](const Row& r) { return Value(r.item.share_pct); },
         "kernel time of all its calls, of the time in which the GPU was busy"});
  s.add({"count", "count", Unit::kCount, CellKind::kInt,
         [](const Row& r) { return Value(r.item.count); }, "calls in the trace"});
  const auto text = [&](const char* id, const char* label,
                        std::function<const std::string&(const Row&)> get, const char* help) {
    s.add({id, label, Unit::kNone, CellKind::kText,
           [get = std::move(get)](const Row& r) { return text_or_blank(get(r)); }, help});
  };
  text(
      "name", "name", [](const Row& r) -> const std::string& { return r.item.name; }, "operator");
  text(
      "input_dims", "Input Dims", [](const Row& r) -> const std::string& { return r.item.dims; },
      "recorded shapes of the inputs");
  text(
      "input_type", "Input type", [](const Row& r) -> const std::string& { return r.item.types; },
      "recorded types of the inputs");
  text(
      "input_strides", "Input Strides",
      [](const Row& r) -> const std::string& { return r.item.strides; },
      "recorded strides of the inputs");
  text(
      "bench_runner", "bench runner",
      [](const Row& r) -> const std::string& { return r.bench.runner; },
      "program or library that was measured");
  text(
      "bench_status", "bench status",
      [](const Row& r) -> const std::string& { return r.bench.status; },
      "ok, missing, unsupported, failed or skipped");
  text(
      "bench_detail", "bench detail",
      [](const Row& r) -> const std::string& { return r.bench.detail; },
      "why there is no time; with one: what the call leaves out");
  text(
      "replay_status", "replay status",
      [](const Row& r) -> const std::string& { return r.torch.status; },
      "the same of PyTorch; blank: not asked for");
  text(
      "replay_detail", "replay detail",
      [](const Row& r) -> const std::string& { return r.torch.detail; },
      "why there is no time under PyTorch");
  text(
      "command_file", "command file",
      [](const Row& r) -> const std::string& { return r.command_file; },
      "commands of the bench program, for tuning");
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
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
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
                            ? "matrix products run again, against their time in the trace"
                            : "convolutions run again, against their time in the trace");
  add_times(out, g);
  if (all)
    add_facts(out);
  return out;
}

Table replay_table(std::span<const ReplayRow> rows, ReplayGroup group, bool all) {
  std::vector<ReplayRow> own;
  for (const ReplayRow& row : rows)
    if (row.item.group == group)
      own.push_back(row);
  return replay_schema(group, all).table(own);
}

} // namespace rankscope
