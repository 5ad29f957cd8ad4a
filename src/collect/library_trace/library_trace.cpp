#include "collect/library_trace/library_trace.h"

#include "collect/library_trace/config_table.h"
#include "collect/library_trace/line_splitter.h"
#include "collect/library_trace/log_matchers.h"
#include "collect/library_trace/log_text.h"
#include "collect/library_trace/trace_environment.h"
#include "collect/library_trace/trace_tables.h"
#include "os/byte_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <utility>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

constexpr std::size_t kMostKnownTexts = 200'000; ///< raw texts whose entry is remembered
constexpr std::size_t kMostPrefixes = 4096;
constexpr std::size_t kMostShown = 200;
constexpr std::size_t kMostLaunches = 16'384; ///< of kernels whose end may come

/// What a stream carries from line to line.
struct StreamState {
  LineSplitter lines;
  std::string process;              ///< of all its lines, where its file tells
  std::string solution;             ///< Tensile's, for the next kernel
  std::optional<CudaRecord> record; ///< begun
};

/// Without colours: ESC [ ... letter.
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

struct Ids {
  std::optional<std::uint32_t> process, rank;
};

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

/// Formats whose whole text is the configuration: a text seen before needs no second parse.
bool text_is_config(LogMarker marker) {
  return marker == LogMarker::kRocblasBench || marker == LogMarker::kHipblasltBench ||
         marker == LogMarker::kMiopenDriver || marker == LogMarker::kTensileKernel;
}

/// Where configurations go that memory should not hold: beside the output.
std::string folder_of(const LibraryTraceOptions& options) {
  if (options.csv.empty() || options.csv == "-")
    return {};
  const std::string folder = fs::path(options.csv).parent_path().string();
  return folder.empty() ? "." : folder;
}

} // namespace

const char* log_kind_name(LogKind kind) {
  static constexpr std::array<const char*, kLogKinds> kNames = {
      "rocblas", "rocblas_function", "rocblas_trace", "hipblaslt", "hipblaslt_function",
      "miopen",  "miopen_find",      "tensile",       "rccl",      "rccl_kernel",
      "cublas",  "cublaslt",         "cudnn"};
  return kNames[static_cast<std::size_t>(kind)];
}

struct LibraryTrace::State {
  explicit State(LibraryTraceOptions o)
      : options(std::move(o)), table(options.max_configs, folder_of(options)) {}

  StreamState& stream(std::size_t number) {
    while (streams.size() <= number)
      streams.push_back(std::make_unique<StreamState>());
    return *streams[number];
  }
  bool take(StreamState& s, std::string_view line, std::optional<double> t_s);
  bool take_found(StreamState& s, std::string_view line, const FoundMarker& found,
                  std::optional<double> t_s);
  void take_text(StreamState& s, LogMarker marker, std::string_view before, std::string_view text,
                 std::optional<double> t_s);
  bool take_nccl(StreamState& s, std::string_view before, std::string_view text,
                 std::optional<double> t_s);
  void time_kernel(std::string_view before, std::string_view text);
  void end_record(StreamState& s, std::optional<double> t_s);
  void add(StreamState& s, std::string_view before, const ParsedCall& parsed,
           std::optional<double> t_s);
  void damaged(LogKind kind, std::string_view line);
  Ids ids_of(const StreamState& s, std::string_view before, std::string_view process,
             std::string_view rank);
  std::uint32_t entry(const LibraryCall& call);
  LibraryCount& count(LogKind kind) { return counts[static_cast<std::size_t>(kind)]; }
  Result<void> read_file(const fs::path& file);
  [[nodiscard]] std::vector<std::string> findings() const;

  LibraryTraceOptions options;
  ConfigTable table;
  std::vector<std::unique_ptr<StreamState>> streams;
  std::array<LibraryCount, kLogKinds> counts = {};
  std::array<TextIndex, kLogKinds> known; ///< raw text -> entry, of formats that are their text
  std::unordered_map<std::string, Ids, TextHash, std::equal_to<>> prefixes;
  TextIds processes, ranks;
  ParsedCall nccl; ///< its texts are used again: there are millions of these lines
  /// Launches of RCCL's kernels without their end yet.
  struct Launch {
    double t_s = 0;
    LibraryCall call;
  };
  std::unordered_map<std::string, Launch> launches;
  std::uint64_t bytes = 0, lines = 0;
};

Ids LibraryTrace::State::ids_of(const StreamState& s, std::string_view before,
                                std::string_view process, std::string_view rank) {
  Ids ids;
  if (!before.empty()) {
    if (const auto it = prefixes.find(before); it != prefixes.end()) {
      ids = it->second;
    } else {
      const LinePrefix p = parse_prefix(before);
      if (!p.process.empty())
        ids.process = processes.id(p.process);
      if (!p.rank.empty())
        ids.rank = ranks.id(p.rank);
      if (prefixes.size() >= kMostPrefixes) // times in them: each is another one
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

/// Entries of texts that were seen before are none any more when all went to disk.
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

void LibraryTrace::State::add(StreamState& s, std::string_view before, const ParsedCall& parsed,
                              std::optional<double> t_s) {
  const Ids ids = ids_of(s, before, parsed.process, parsed.rank);
  ++count(parsed.call.kind).lines;
  count(parsed.call.kind).calls += parsed.calls;
  table.count(entry(parsed.call), parsed.calls, t_s, ids.process, ids.rank);
}

void LibraryTrace::State::end_record(StreamState& s, std::optional<double> t_s) {
  if (!s.record)
    return;
  if (const auto parsed = finish_cuda_record(*s.record))
    add(s, "", *parsed, t_s);
  else
    damaged(s.record->kind, s.record->function);
  s.record.reset();
}

void LibraryTrace::State::take_text(StreamState& s, LogMarker marker, std::string_view before,
                                    std::string_view text, std::optional<double> t_s) {
  // MIOpen's function stands before the text and decides the kind
  const LogKind kind = marker == LogMarker::kMiopenDriver && is_miopen_find(before)
                           ? LogKind::kMiopenFind
                           : kind_of(marker);
  TextIndex& seen = known[static_cast<std::size_t>(kind)];
  const bool remember =
      text_is_config(marker) && (marker != LogMarker::kTensileKernel || s.solution.empty());
  if (remember)
    if (const auto it = seen.find(text); it != seen.end()) {
      const Ids ids = ids_of(s, before, "", "");
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

/// Remembers the launch that was just parsed, or adds the time up to its end.
void LibraryTrace::State::time_kernel(std::string_view before, std::string_view text) {
  const auto event = parse_kernel_event(before, text);
  if (!event)
    return;
  if (!event->end) {
    if (launches.size() >= kMostLaunches) // the ends of these are lost
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

bool LibraryTrace::State::take_nccl(StreamState& s, std::string_view before, std::string_view text,
                                    std::optional<double> t_s) {
  switch (parse_nccl(before, text, nccl)) {
  case NcclLine::kOther:
    time_kernel(before, text);
    return false;
  case NcclLine::kDamaged:
    damaged(nccl.call.kind, text);
    return true;
  case NcclLine::kCall:
    add(s, "", nccl, t_s);
    if (nccl.call.kind == LogKind::kRcclKernel)
      time_kernel(before, text);
    return true;
  }
  return false;
}

bool LibraryTrace::State::take_found(StreamState& s, std::string_view line,
                                     const FoundMarker& found, std::optional<double> t_s) {
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
    end_record(s, t_s); // the one before had no last line
    s.record = begin_cuda_record(kind_of(found.marker), text);
    return true;
  case LogMarker::kMiopenDriver: {
    // a driver that somebody runs prints its own command, without a function in front
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
    // others may say so too: its kernels are named by their indices
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

/// Whether the line belongs to a library.
bool LibraryTrace::State::take(StreamState& s, std::string_view line, std::optional<double> t_s) {
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

Result<void> LibraryTrace::State::read_file(const fs::path& file) {
  auto opened = ByteSource::open(file.string());
  if (!opened)
    return opened.error();
  std::string buffer(std::size_t{1} << 20, '\0');
  StreamState s;
  // nccl.HOST.PID.log, hipblaslt.PID.log
  const std::string name = file.stem().string();
  s.process = name.substr(name.find('.') + 1);
  std::replace(s.process.begin(), s.process.end(), '.', ':');
  const auto line = [&](std::string_view text, std::string_view) { (void)take(s, text, {}); };
  for (std::size_t n = (*opened)->read(buffer.data(), buffer.size()); n > 0;
       n = (*opened)->read(buffer.data(), buffer.size())) {
    bytes += n;
    s.lines.feed(std::string_view(buffer).substr(0, n), line);
  }
  s.lines.finish(line);
  end_record(s, {});
  return {};
}

std::vector<std::string> LibraryTrace::State::findings() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const LibraryCount& c = counts[i];
    if (c.damaged > 0)
      out.push_back(fmt::format("{}: {} of {} lines are damaged and not counted; the first: {}",
                                log_kind_name(static_cast<LogKind>(i)), c.damaged, c.lines,
                                c.first_damaged));
  }
  const auto seen = [&](std::initializer_list<LogKind> kinds) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](LogKind k) { return counts[static_cast<std::size_t>(k)].lines > 0; });
  };
  const std::array<std::pair<TracedLibrary, bool>, 8> libraries = {
      {{TracedLibrary::kRocblas,
        seen({LogKind::kRocblas, LogKind::kRocblasFunction, LogKind::kRocblasTrace})},
       {TracedLibrary::kHipblaslt, seen({LogKind::kHipblaslt, LogKind::kHipblasltFunction})},
       {TracedLibrary::kMiopen, seen({LogKind::kMiopen, LogKind::kMiopenFind})},
       {TracedLibrary::kTensile, seen({LogKind::kTensile})},
       {TracedLibrary::kRccl, seen({LogKind::kRccl, LogKind::kRcclKernel})},
       {TracedLibrary::kCublas, seen({LogKind::kCublas})},
       {TracedLibrary::kCublaslt, seen({LogKind::kCublaslt})},
       {TracedLibrary::kCudnn, seen({LogKind::kCudnn})}}};
  static constexpr std::array<const char*, 8> kNames = {
      "rocBLAS", "hipBLASLt", "MIOpen", "Tensile", "RCCL/NCCL", "cuBLAS", "cuBLASLt", "cuDNN"};
  for (std::size_t i = 0; i < libraries.size(); ++i)
    if (!libraries[i].second && std::find(options.libraries.begin(), options.libraries.end(),
                                          libraries[i].first) != options.libraries.end())
      out.push_back(fmt::format("{}: not a line; the program does not call it, is linked to it "
                                "statically, or something turned its log off",
                                kNames[i]));
  return out;
}

LibraryTrace::LibraryTrace(LibraryTraceOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}

LibraryTrace::~LibraryTrace() = default;

EnvironmentChange LibraryTrace::environment(const std::map<std::string, std::string>& child) const {
  return trace_environment(state_->options, child);
}

void LibraryTrace::feed(std::size_t stream, std::string_view bytes, std::optional<double> t_s,
                        std::string* others) {
  StreamState& s = state_->stream(stream);
  state_->bytes += bytes.size();
  s.lines.feed(bytes, [&](std::string_view line, std::string_view end) {
    if (!state_->take(s, line, t_s) && others != nullptr)
      others->append(line).append(end);
  });
}

void LibraryTrace::end(std::size_t stream, std::string* others) {
  StreamState& s = state_->stream(stream);
  s.lines.finish([&](std::string_view line, std::string_view) {
    if (!state_->take(s, line, {}) && others != nullptr)
      others->append(line);
  });
  state_->end_record(s, {});
}

void LibraryTrace::name_process(std::size_t stream, const std::string& process) {
  state_->stream(stream).process = process;
}

Result<LibraryTraceSummary> LibraryTrace::finish() {
  State& st = *state_;
  for (std::size_t i = 0; i < st.streams.size(); ++i)
    end(i);
  LibraryTraceSummary out;
  if (!st.options.log_folder.empty()) {
    std::vector<fs::path> files;
    std::error_code ec;
    for (fs::directory_iterator it(st.options.log_folder, ec), last; !ec && it != last;
         it.increment(ec))
      if (it->is_regular_file(ec) && it->path().extension() == ".log")
        files.push_back(it->path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files)
      RS_CHECK(st.read_file(file));
  }
  RS_CHECK(st.table.finish());
  out.bytes = st.bytes;
  out.lines = st.lines;
  for (const auto& s : st.streams)
    out.long_lines += s->lines.long_lines();
  for (std::size_t i = 0; i < st.counts.size(); ++i) {
    LibraryCount c = st.counts[i];
    c.kind = static_cast<LogKind>(i);
    c.configs = st.table.configs(c.kind);
    if (c.lines > 0 || c.calls > 0)
      out.counts.push_back(std::move(c));
  }
  out.findings = st.findings();
  if (!st.options.csv.empty())
    RS_CHECK(write_trace_table(st.options, st.table));
  if (!st.options.detail_csv.empty())
    RS_CHECK(write_trace_detail(st.options, st.table, out.counts));
  return out;
}

} // namespace rankscope
