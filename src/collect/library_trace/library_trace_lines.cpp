// Reads the lines of the libraries' logs into LibraryTrace's tables.
#include "base/saturated.h"
#include "collect/library_trace/library_trace_state.h"

#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kMostKnownTexts = 200'000; ///< raw texts whose entry is remembered
constexpr std::size_t kMostPrefixes = 4096;
constexpr std::size_t kMostShown = 200;
constexpr std::size_t kMostLaunches = 16'384; ///< launches whose end may still follow

/// Returns the text without colours: ESC [ ... letter.
std::string without_colours(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      out += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') {
      i += 2;
      while (i < text.size() && (text[i] < '@' || text[i] > '~'))
        ++i;
    }
  }
  return out;
}

LogKind kind_of(LogMarker marker) {
  switch (marker) {
  case LogMarker::kRocblasBench:
    return LogKind::kRocblas;
  case LogMarker::kRocblasFunction:
    return LogKind::kRocblasFunction;
  case LogMarker::kRocblasTrace:
    return LogKind::kRocblasTrace;
  case LogMarker::kHipblasltBench:
    return LogKind::kHipblaslt;
  case LogMarker::kHipblasltFunction:
    return LogKind::kHipblasltFunction;
  case LogMarker::kMiopenDriver:
    return LogKind::kMiopen;
  case LogMarker::kTensileKernel:
  case LogMarker::kTensileSolution:
    return LogKind::kTensile;
  case LogMarker::kNccl:
    return LogKind::kRccl;
  case LogMarker::kCublaslt:
    return LogKind::kCublaslt;
  case LogMarker::kCublasBegin:
  case LogMarker::kCudaField:
    return LogKind::kCublas;
  case LogMarker::kCudnnBegin:
    return LogKind::kCudnn;
  }
  return LogKind::kRocblas;
}

/// Returns whether the complete text is the configuration. Such a text is parsed only once.
bool text_is_config(LogMarker marker) {
  return marker == LogMarker::kRocblasBench || marker == LogMarker::kHipblasltBench ||
         marker == LogMarker::kMiopenDriver || marker == LogMarker::kTensileKernel;
}

} // namespace

LogIds LibraryTrace::State::ids_of(const LogStream& s, std::string_view before,
                                   std::string_view process, std::string_view rank) {
  LogIds ids;
  if (!before.empty()) {
    if (const auto it = prefixes.find(before); it != prefixes.end()) {
      ids = it->second;
    } else {
      const LinePrefix p = parse_prefix(before);
      if (!p.process.empty())
        ids.process = processes.id(p.process);
      if (!p.rank.empty())
        ids.rank = ranks.id(p.rank);
      if (prefixes.size() >= kMostPrefixes) // prefixes that contain times are all different
        prefixes.clear();
      prefixes.emplace(std::string(before), ids);
    }
  }
  if (!process.empty())
    ids.process = processes.id(process);
  else if (!ids.process && !s.process.empty())
    ids.process = processes.id(s.process);
  if (!rank.empty())
    ids.rank = ranks.id(rank);
  return ids;
}

/// Returns the entry of a call. Clears the table of known texts once all its entries have been
/// written to disk.
std::uint32_t LibraryTrace::State::entry(const LibraryCall& call) {
  const std::uint64_t before = table.generation();
  const std::uint32_t found = table.entry(call);
  if (table.generation() != before)
    for (TextIndex& texts : known)
      texts.clear();
  return found;
}

void LibraryTrace::State::damaged(LogKind kind, std::string_view line) {
  LibraryCount& c = count(kind);
  ++c.lines;
  if (c.damaged++ == 0)
    c.first_damaged = line.substr(0, kMostShown);
}

void LibraryTrace::State::add(LogStream& s, std::string_view before, const ParsedCall& parsed,
                              std::optional<double> t_s) {
  const LogIds ids = ids_of(s, before, parsed.process, parsed.rank);
  ++count(parsed.call.kind).lines;
  add_saturated(count(parsed.call.kind).calls, parsed.calls);
  table.count(entry(parsed.call), parsed.calls, t_s, ids.process, ids.rank);
}

void LibraryTrace::State::end_record(LogStream& s, std::optional<double> t_s) {
  if (!s.record)
    return;
  if (s.record->returned) {
    s.record.reset();
    return;
  }
  if (const auto parsed = finish_cuda_record(*s.record))
    add(s, "", *parsed, t_s);
  else
    damaged(s.record->kind, s.record->function);
  s.record.reset();
}

void LibraryTrace::State::take_text(LogStream& s, LogMarker marker, std::string_view before,
                                    std::string_view text, std::optional<double> t_s) {
  // the name of MIOpen's function precedes the text and determines the kind
  const LogKind kind = marker == LogMarker::kMiopenDriver && is_miopen_find(before)
                           ? LogKind::kMiopenFind
                           : kind_of(marker);
  TextIndex& seen = known[static_cast<std::size_t>(kind)];
  const bool remember =
      text_is_config(marker) && (marker != LogMarker::kTensileKernel || s.solution.empty());
  if (remember)
    if (const auto it = seen.find(text); it != seen.end()) {
      const LogIds ids = ids_of(s, before, "", "");
      ++count(kind).lines;
      ++count(kind).calls;
      table.count(it->second, 1, t_s, ids.process, ids.rank);
      return;
    }
  std::optional<ParsedCall> parsed;
  switch (marker) {
  case LogMarker::kRocblasBench:
    parsed = parse_rocblas_bench(text);
    break;
  case LogMarker::kRocblasFunction:
    parsed = parse_rocblas_function(text);
    break;
  case LogMarker::kRocblasTrace:
    parsed = parse_rocblas_trace(text);
    break;
  case LogMarker::kHipblasltBench:
    parsed = parse_hipblaslt_bench(text);
    break;
  case LogMarker::kHipblasltFunction:
    parsed = parse_hipblaslt_function(text);
    break;
  case LogMarker::kMiopenDriver:
    parsed = parse_miopen(before, text);
    break;
  case LogMarker::kTensileKernel:
    parsed = parse_tensile(text);
    break;
  default:
    parsed = parse_cublaslt(text);
    break;
  }
  if (!parsed) {
    damaged(kind, text);
    return;
  }
  if (marker == LogMarker::kTensileKernel)
    parsed->call.solution = std::exchange(s.solution, {});
  add(s, before, *parsed, t_s);
  if (remember && seen.size() < kMostKnownTexts)
    seen.emplace(std::string(text), entry(parsed->call));
}

/// Remembers the launch that was just parsed, or adds the time from a launch to its end.
void LibraryTrace::State::time_kernel(std::string_view before, std::string_view text) {
  const auto event = parse_kernel_event(before, text);
  if (!event)
    return;
  if (!event->end) {
    if (launches.size() >= kMostLaunches) // the ends of these launches are ignored
      launches.clear();
    launches[event->key] = {event->t_s, nccl.call};
    return;
  }
  const auto it = launches.find(event->key);
  if (it == launches.end())
    return;
  if (const double us = (event->t_s - it->second.t_s) * 1e6; us >= 0)
    table.add_kernel_us(entry(it->second.call), us);
  launches.erase(it);
}

/// Reads the last message of a line in which another process's line cut off the first message. The
/// begin of the last message's prefix is unknown, so its call has no process.
NcclLine LibraryTrace::State::take_last_nccl(LogStream& s, std::string_view text,
                                             std::optional<double> t_s) {
  const std::size_t last = text.rfind("NCCL INFO ");
  if (last == std::string_view::npos || last == 0)
    return NcclLine::kOther;
  const NcclLine found = parse_nccl("", text.substr(last), nccl);
  if (found == NcclLine::kCall)
    add(s, "", nccl, t_s);
  return found;
}

bool LibraryTrace::State::take_nccl(LogStream& s, std::string_view before, std::string_view text,
                                    std::optional<double> t_s) {
  switch (parse_nccl(before, text, nccl)) {
  case NcclLine::kOther: {
    time_kernel(before, text);
    const NcclLine last = take_last_nccl(s, text, t_s);
    if (last == NcclLine::kDamaged)
      damaged(nccl.call.kind, text);
    return last != NcclLine::kOther;
  }
  case NcclLine::kDamaged:
    damaged(nccl.call.kind, text);
    (void)take_last_nccl(s, text, t_s);
    return true;
  case NcclLine::kCall:
    add(s, before, nccl, t_s);
    if (nccl.call.kind == LogKind::kRcclKernel)
      time_kernel(before, text);
    return true;
  }
  return false;
}

bool LibraryTrace::State::take_found(LogStream& s, std::string_view line, const FoundMarker& found,
                                     std::optional<double> t_s) {
  const std::string_view before = line.substr(0, found.begin);
  const std::string_view text = trimmed(line.substr(found.begin));
  switch (found.marker) {
  case LogMarker::kNccl:
    return take_nccl(s, before, text, t_s);
  case LogMarker::kTensileSolution:
    s.solution = text.substr(text.rfind(' ') + 1);
    return true;
  case LogMarker::kCudaField:
    if (s.record && !add_cuda_field(*s.record, text))
      end_record(s, t_s);
    return true;
  case LogMarker::kCublasBegin:
  case LogMarker::kCudnnBegin:
    end_record(s, t_s); // the previous record had no last line
    s.record = begin_cuda_record(kind_of(found.marker), text);
    return true;
  case LogMarker::kMiopenDriver: {
    // a driver that a user runs prints its own command, without a function in front
    const std::string_view front = trimmed(before.substr(0, before.rfind(' ') + 1));
    if (!is_miopen_log(front))
      return false;
    take_text(s, found.marker, front, text, t_s);
    return true;
  }
  case LogMarker::kCublaslt:
    if (text.find("][Trace][") == std::string_view::npos ||
        text.find("Matmul]") == std::string_view::npos)
      return false;
    break;
  case LogMarker::kTensileKernel:
    // other programs may print this text; names of Tensile's kernels contain "Cijk" (tensor
    // indices) or "Custom"
    if (text.find("Cijk", 16) == std::string_view::npos &&
        text.find("Custom", 16) == std::string_view::npos)
      return false;
    break;
  default:
    break;
  }
  take_text(s, found.marker, before, text, t_s);
  return true;
}

/// Returns whether the line belongs to a library.
bool LibraryTrace::State::take(LogStream& s, std::string_view line, std::optional<double> t_s) {
  ++lines;
  const auto found = find_marker(line);
  if (!found)
    return false;
  if (line.find('\x1b') == std::string_view::npos)
    return take_found(s, line, *found, t_s);
  const std::string plain = without_colours(line);
  const auto again = find_marker(plain);
  return again && take_found(s, plain, *again, t_s);
}

} // namespace rankscope
