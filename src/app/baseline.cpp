#include "app/baseline.h"

#include "app/baseline_part.h"
#include "app/compare.h"
#include "app/compare_load.h"
#include "app/write_outputs.h"
#include "os/byte_source.h"
#include "os/output_file.h"

#include <filesystem>

namespace rankscope {
namespace {

constexpr std::string_view kHead = "RSKPART1"; // the first bytes of every part (core/part.h)
/// The baseline of a thousand ranks is a few megabytes: a larger file is not a baseline.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

/// Up to this version, the waits at collectives are estimates.
constexpr std::uint32_t kEstimatedWaits = 3;
/// The steps of this version do not contain the idle time between them.
constexpr std::uint32_t kWithoutIdleBetweenSteps = 2;

/// Adds the mean idle time between the steps of a rank to each of them, and returns it. Does
/// nothing if some GPU work of the rank is in no step, or steps overlap, because the time is then
/// unknown.
std::int64_t add_idle_between_steps(RankTimeline& rank) {
  for (const TimeKind kind : {TimeKind::kTotal, TimeKind::kBusy, TimeKind::kIdle})
    if (!rank.step_ns.contains(kind) || !rank.kinds.contains(kind))
      return 0;
  const auto outside = [&rank](TimeKind kind) {
    std::int64_t out = rank.kinds[kind].time_ns;
    for (const auto& [step, ns] : rank.step_ns[kind])
      out -= ns;
    return out;
  };
  const std::size_t steps = rank.step_ns[TimeKind::kTotal].size();
  if (steps < 2 || outside(TimeKind::kTotal) <= 0 || outside(TimeKind::kBusy) != 0)
    return 0;
  const std::int64_t idle = outside(TimeKind::kTotal) / static_cast<std::int64_t>(steps - 1);
  for (const TimeKind kind : {TimeKind::kTotal, TimeKind::kIdle})
    for (auto& [step, ns] : rank.step_ns[kind])
      ns += idle;
  return idle;
}
void add_idle_between_steps(ComparedRun& run) {
  std::int64_t sum = 0;
  for (auto& [rank, timeline] : run.ranks)
    sum += add_idle_between_steps(timeline);
  for (std::int64_t& ns : run.work.total_ns)
    ns += sum;
  for (auto& [key, work] : run.work.work)
    if (key.kind == StepWorkKind::kIdle)
      for (std::int64_t& ns : work.self_ns)
        ns += sum;
}

void remove_waits(StepWork& work) {
  work.waits_known = false;
  for (auto& [key, row] : work.work)
    row.wait_ns.clear();
}

} // namespace

std::string baseline_bytes(const SavedBaseline& baseline) {
  return encode_part(kBaselineKind, kBaselineVersion, baseline);
}

Result<SavedBaseline> baseline_of(std::string_view bytes) {
  Result<SavedBaseline> out = decode_part<SavedBaseline>(kBaselineKind, kBaselineVersion, bytes);
  for (const std::uint32_t version :
       {kWithoutDamagedRanks, kEstimatedWaits, kWithoutIdleBetweenSteps}) {
    if (out)
      break;
    if (auto old = decode_part<OldBaseline>(kBaselineKind, version, bytes)) {
      if (version == kWithoutIdleBetweenSteps)
        add_idle_between_steps(old->saved.run);
      if (version != kWithoutDamagedRanks)
        remove_waits(old->saved.run.work);
      old->saved.run.label.clear(); // not one that the user gave: the folder's name
      out = std::move(old->saved);
    }
  }
  if (out && out->run.ranks.empty() && out->run.collectives.summary.empty())
    return Error{ErrorCode::kUnreadable, "", "not a valid part: a baseline without ranks", ""};
  return out;
}

bool is_baseline(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec))
    return false;
  const auto source = ByteSource::open(path);
  return source && (*source)->peek(kHead.size()).substr(0, kHead.size()) == kHead;
}

Result<SavedBaseline> load_baseline(const std::string& path) {
  RS_TRY(const std::unique_ptr<ByteSource> source, ByteSource::open(path));
  std::string bytes;
  std::string block(std::size_t{1} << 16, '\0');
  const bool is_part = source->peek(kHead.size()) == kHead;
  while (const std::size_t got = is_part ? source->read(block.data(), block.size()) : 0) {
    bytes.append(block, 0, got);
    if (bytes.size() > kMostBytes)
      return Error{ErrorCode::kUnreadable, path, "too large for a saved baseline", ""};
  }
  Result<SavedBaseline> out = baseline_of(bytes);
  if (!out) {
    Error error = out.error();
    error.where = path + (error.where.empty() ? "" : ": " + error.where);
    error.hint = "to make it again: rankscope baseline save RUN -o " + path;
    return error;
  }
  return out;
}

std::string saved_label(const std::string& path) {
  if (!is_baseline(path))
    return {};
  const Result<SavedBaseline> saved = load_baseline(path);
  return saved ? saved->run.label : std::string();
}

Result<BaselineSaved> save_baseline(Session& session, const BaselineSaveRequest& request) {
  RS_CHECK(check_ending(request.output, {".rsb"})); // a history finds baselines by this ending
  RS_TRY(OutputFile file, OutputFile::create(request.output)); // before any trace is read
  CompareInput input;
  input.folder = request.folder;
  input.label = request.label;
  if (input.label.empty())
    input.label = distinct_labels(folder_names({request.folder})).front();
  input.discover = request.discover;
  input.reports_only = request.reports_only;
  input.align = request.align;
  input.write_reports = false;
  BaselineSaved out;
  out.baseline.made_by = "rankscope " RANKSCOPE_VERSION;
  out.baseline.source = request.folder;
  RS_TRY(out.baseline.run, load_compared_run(session, input));
  out.baseline.run.label = request.label;
  out.baseline.complete = !session.partial && !session.diagnostics.data_lost();
  const std::string bytes = baseline_bytes(out.baseline);
  out.bytes = bytes.size();
  file.write(bytes);
  RS_CHECK(file.commit());
  return out;
}

} // namespace rankscope
