#include "readers/rocprof/process_trace.h"

#include "base/ascii.h"
#include "base/counters.h"
#include "base/json_text.h"
#include "core/json_parse.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace rankscope {
namespace {

constexpr std::array<std::string_view, kTracedKinds> kTracedNames = {
    "kernels", "memory copies", "HIP calls", "RCCL calls", "roctx ranges"};

std::optional<std::int64_t> number_at(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end == text.data())
    return std::nullopt;
  return value;
}

/// Splits a text such as "step 7", "train_step#7" or "Iteration: 7" into the text before the number
/// and the number.
std::optional<std::pair<std::string, std::int64_t>> counted_step(std::string_view text) {
  std::size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9')
    --digits;
  if (digits == text.size() || text.size() - digits > 9 || digits > 40)
    return std::nullopt;
  std::string head = lowercase(text.substr(0, digits));
  std::string_view word = head;
  while (!word.empty() && std::string_view(" _#:=-").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  for (const std::string_view end : {"step", "iteration", "iter"}) {
    if (!word.ends_with(end))
      continue;
    const std::string_view before = word.substr(0, word.size() - end.size());
    if (before.empty() || std::string_view(" _-.").find(before.back()) != std::string_view::npos)
      return std::pair(std::move(head), *number_at(text.substr(digits)));
  }
  return std::nullopt;
}

/// Returns the list after "sizes = " in a text of emit_nvtx, up to ", input_op_ids" or the end of
/// the text.
std::string_view sizes_of(std::string_view text) {
  constexpr std::string_view kKey = ", sizes = ";
  const std::size_t at = text.find(kKey);
  if (at == std::string_view::npos)
    return {};
  const std::string_view rest = text.substr(at + kKey.size());
  return rest.substr(0, rest.find(", input_op_ids = "));
}

} // namespace

std::string_view copy_name(std::string_view direction) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {{
      {"MEMORY_COPY_HOST_TO_DEVICE", "Memcpy HtoD (Host -> Device)"},
      {"MEMORY_COPY_DEVICE_TO_HOST", "Memcpy DtoH (Device -> Host)"},
      {"MEMORY_COPY_DEVICE_TO_DEVICE", "Memcpy DtoD (Device -> Device)"},
      {"MEMORY_COPY_HOST_TO_HOST", "Memcpy HtoH (Host -> Host)"},
      {"CopyHostToDevice", "Memcpy HtoD (Host -> Device)"},
      {"CopyDeviceToHost", "Memcpy DtoH (Device -> Host)"},
      {"CopyDeviceToDevice", "Memcpy DtoD (Device -> Device)"},
      {"CopyHostToHost", "Memcpy HtoH (Host -> Host)"},
  }};
  for (const auto& [from, to] : kNames)
    if (from == direction)
      return to;
  return direction;
}

ProcessTrace::ProcessTrace(const std::string& path, const char* reader, const char* clock)
    : out_(path, reader), clock_(clock) {
  out_.source().clock = {ClockDomain::kMonotonic, 0};
  out_.source().call_work = CallWork::kAll;
  fact("rocprof_producer", reader);
  fact("rocprof_clock", clock);
}

void ProcessTrace::fact(const char* name, std::string_view value) {
  out_.header().other.emplace_back(name, fmt::format("\"{}\"", json_escaped(value)));
}

std::uint32_t ProcessTrace::thread(std::int64_t pid, std::int64_t tid) {
  if (pid != last_pid_ || tid != last_tid_) {
    Track track;
    track.pid = pid;
    track.tid = tid;
    last_thread_ = out_.track(track);
    last_pid_ = pid;
    last_tid_ = tid;
  }
  return last_thread_;
}

bool ProcessTrace::usable(const std::optional<std::int64_t>& start_ns,
                          const std::optional<std::int64_t>& end_ns, std::string_view row) {
  ++rows_;
  if (start_ns && end_ns && *start_ns >= 0 && *end_ns >= *start_ns &&
      usable_time(*start_ns, *end_ns - *start_ns))
    return true;
  if (bad_times_++ == 0)
    first_bad_time_ = fmt::format("row {} ({})", rows_, row);
  return false;
}

EventId ProcessTrace::add(EventRow& row) {
  row.uid = static_cast<std::uint32_t>(out_.events());
  return out_.add(row);
}

EventRow ProcessTrace::host_row(Category category, std::uint32_t track, StrId name,
                                std::int64_t start_ns, std::int64_t end_ns) {
  EventRow row;
  row.category = category;
  row.track = track;
  row.name = name;
  row.ts_ns = start_ns;
  row.dur_ns = end_ns - start_ns;
  return row;
}

EventRow ProcessTrace::gpu_row(Category category, const GpuWork& work) {
  ++gpu_events_;
  EventRow row = host_row(category, 0, work.name, work.start_ns, work.end_ns);
  row.correlation = work.correlation;
  row.stream = stream_number(work.stream);
  row.device = work.device >= 0 && work.device <= std::numeric_limits<std::int16_t>::max()
                   ? static_cast<std::int16_t>(work.device)
                   : std::int16_t{-1};
  row.track = thread(row.device, row.stream);
  return row;
}

EventId ProcessTrace::call(Category category, std::uint32_t track, StrId name,
                           std::int64_t start_ns, std::int64_t end_ns, std::int64_t correlation) {
  EventRow row = host_row(category, track, name, start_ns, end_ns);
  row.correlation = correlation;
  if (category == Category::kRuntime && !cuda_) {
    const std::string_view text = out_.view(name);
    cuda_ = text.starts_with("cuda") || text.starts_with("cuLaunch");
  }
  return add(row);
}

void ProcessTrace::operation(std::uint32_t track, std::string_view name, std::string_view sizes,
                             std::int64_t sequence, std::int64_t start_ns, std::int64_t end_ns) {
  EventRow row = host_row(Category::kCpuOp, track, out_.text(name), start_ns, end_ns);
  OpArgs args;
  args.sequence_number = sequence;
  if (is_plain_json_list(sizes)) {
    args.input_dims = out_.arg_text(sizes);
    out_.header().record_shapes = true;
  }
  if (sequence != kNoId || args.input_dims != kEmptyStr)
    row.args = out_.op_args(args);
  (void)add(row);
}

void ProcessTrace::marker(std::uint32_t track, std::string_view text, std::int64_t start_ns,
                          std::int64_t end_ns, bool instant) {
  saw(Traced::kMarkers);
  const std::size_t comma = text.find(", ");
  const std::string_view rest = comma == std::string_view::npos ? "" : text.substr(comma);
  if (!instant && (rest.starts_with(", op_id = ") || rest.starts_with(", seq = "))) {
    const bool has_seq = rest.starts_with(", seq = ");
    operation(track, text.substr(0, comma), sizes_of(rest),
              has_seq ? number_at(rest.substr(8)).value_or(kNoId) : kNoId, start_ns, end_ns);
    return;
  }
  EventRow row = host_row(instant ? Category::kCpuInstant : Category::kUserAnnotation, track,
                          out_.text(text), start_ns, end_ns);
  (void)add(row);
  if (instant)
    return;
  has_profiler_steps_ = has_profiler_steps_ || text.starts_with("ProfilerStep#");
  if (auto step = counted_step(text))
    steps_[std::move(step->first)].push_back({start_ns, end_ns, step->second, track});
}

/// Returns the number of a stream. If it is a handle and not a small number, a number from 2^30 on
/// is assigned to it, which differs from all small numbers.
std::int32_t ProcessTrace::stream_number(std::int64_t stream) {
  constexpr std::int32_t kFirstHandle = 1 << 30;
  if (stream >= -1 && stream < kFirstHandle)
    return static_cast<std::int32_t>(stream);
  return handle_streams_
      .try_emplace(stream, kFirstHandle + static_cast<std::int32_t>(handle_streams_.size()))
      .first->second;
}

StrId ProcessTrace::dims(const std::array<std::int64_t, 3>& size) {
  if (size == last_dims_)
    return last_dims_text_;
  StrId& id = dims_[size];
  if (id == kEmptyStr)
    id = out_.text(fmt::format("[{}, {}, {}]", size[0], size[1], size[2]));
  last_dims_ = size;
  last_dims_text_ = id;
  return id;
}

EventId ProcessTrace::kernel(const GpuWork& work, const LaunchShape& shape, bool items) {
  saw(Traced::kKernels);
  EventRow row = gpu_row(Category::kKernel, work);
  if (shape.group[0] > 0 && shape.group[1] > 0 && shape.group[2] > 0) {
    std::array<std::int64_t, 3> groups = shape.grid;
    for (std::size_t i = 0; items && i < 3; ++i)
      groups[i] = groups[i] / shape.group[i] + (groups[i] % shape.group[i] > 0 ? 1 : 0);
    GpuArgs args;
    args.grid = dims(groups);
    args.block = dims(shape.group);
    row.args = out_.gpu_args(args);
  }
  return add(row);
}

EventId ProcessTrace::copy(const GpuWork& work, std::int64_t bytes, bool fill) {
  saw(Traced::kCopies);
  EventRow row = gpu_row(fill ? Category::kGpuMemset : Category::kGpuMemcpy, work);
  if (bytes >= 0) {
    GpuArgs args;
    args.bytes = bytes;
    row.args = out_.gpu_args(args);
  }
  return add(row);
}

void ProcessTrace::not_read(std::string_view what, std::uint64_t rows) {
  if (rows > 0)
    not_read_[std::string(what)] += rows;
}

void ProcessTrace::scratch(std::int64_t at_ns, std::int64_t device, std::int64_t queue,
                           std::optional<std::int64_t> bytes) {
  if (!bytes) {
    not_read("scratch memory without a size", 1);
    return;
  }
  const auto key = (static_cast<std::uint64_t>(device) << 48U) ^ static_cast<std::uint64_t>(queue);
  if (*bytes > 0)
    scratch_.allocate(at_ns, key, *bytes, device);
  else
    scratch_.release(at_ns, key);
}

/// Adds a ProfilerStep#N event, in a separate source, for each range whose name contains a step
/// number. If there are several kinds of such ranges, those with the largest total time are used,
/// because they contain the others.
void ProcessTrace::add_steps() {
  if (has_profiler_steps_ || steps_.empty())
    return;
  const auto time = [](const std::vector<StepRange>& ranges) {
    double sum = 0;
    for (const StepRange& r : ranges)
      sum += static_cast<double>(r.end_ns - r.start_ns);
    return sum;
  };
  const auto longest = std::ranges::max_element(
      steps_, [&time](const auto& a, const auto& b) { return time(a.second) < time(b.second); });
  TraceSource made_here = out_.source();
  made_here.reader.clear();
  const std::uint16_t source = out_.add_source(std::move(made_here));
  std::uint32_t uid = 0;
  for (const StepRange& r : longest->second) {
    EventRow row =
        host_row(Category::kUserAnnotation, r.track,
                 out_.text(fmt::format("ProfilerStep#{}", r.number)), r.start_ns, r.end_ns);
    row.source = source;
    row.uid = uid++;
    (void)out_.add(row);
  }
  fact("rocprof_steps_from", fmt::format("ranges {}N", longest->first));
}

void ProcessTrace::report() {
  Diagnostics& d = out_.diagnostics();
  const std::string path = out_.source().path;
  if (bad_times_ > 0)
    d.add(counters::row_bad_time(), fmt::format("{}: {}", path, first_bad_time_), bad_times_);
  std::string absent;
  for (std::size_t k = 0; k < kTracedKinds; ++k)
    if (!seen_[k])
      absent += fmt::format("{}{}", absent.empty() ? "" : ", ", kTracedNames[k]);
  if (!absent.empty())
    fact("rocprof_not_in_file", absent);
  std::string others;
  std::uint64_t other_rows = 0;
  for (const auto& [what, rows] : not_read_) {
    others += fmt::format("{}{} of {}", others.empty() ? "" : ", ", rows, what);
    other_rows += rows;
  }
  if (other_rows > 0)
    d.add(counters::rows_not_read(others), path, other_rows);
}

Result<Trace> ProcessTrace::finish(std::uint64_t input_bytes) && {
  report();
  if (out_.events() == 0) {
    std::string others;
    for (const auto& [what, rows] : not_read_)
      others += fmt::format("; rows not read: {} of {}", rows, what);
    return Error{ErrorCode::kUnreadable, out_.source().path,
                 fmt::format("no usable event among {} rows; expected kernels, copies or calls "
                             "with start and end{}",
                             rows_, others),
                 ""};
  }
  add_steps();
  if (!memory_.empty())
    if (const std::uint64_t strange = memory_.put(out_); strange > 0)
      out_.diagnostics().add(counters::memory_released_only(), out_.source().path, strange);
  (void)scratch_.put(out_); // the result is ignored: a queue may release memory that was allocated
                            // before the recording
  for (auto& [name, value] : out_.header().other)
    if (cuda_) // RPD also records NVIDIA GPUs
      name.replace(0, std::string_view("rocprof").size(), "cuda");
  out_.set_input(input_bytes, rows_);
  return std::move(out_).finish();
}

RankOfProcess rank_of_environment(std::string_view json) {
  RankOfProcess out;
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parse_json(parser, json).get(object) != simdjson::SUCCESS)
    return out;
  const auto value_of = [&object](std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      simdjson::dom::element value;
      if (object.at_key(key).get(value) != simdjson::SUCCESS)
        continue;
      std::string_view text;
      std::int64_t number = 0;
      if (value.get(text) == simdjson::SUCCESS) {
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (status != std::errc() || end != text.data() + text.size())
          continue;
      } else if (value.get(number) != simdjson::SUCCESS) {
        continue;
      }
      if (number >= 0 && number < (std::int64_t{1} << 31))
        return std::optional<std::int64_t>(number);
    }
    return std::optional<std::int64_t>();
  };
  out.rank = value_of({"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK"});
  out.world_size = value_of({"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE"});
  return out;
}

} // namespace rankscope
