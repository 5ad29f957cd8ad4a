#include "collect/library_trace/library_trace.h"

#include "collect/library_trace/library_trace_state.h"
#include "collect/library_trace/trace_environment.h"
#include "collect/library_trace/trace_tables.h"
#include "os/byte_source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

/// Returns the folder for configurations that are too many for memory: the folder of the output.
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

LibraryTrace::State::State(LibraryTraceOptions o)
    : options(std::move(o)), table(options.max_configs, folder_of(options)) {}

Result<void> LibraryTrace::State::read_file(const fs::path& file) {
  auto opened = ByteSource::open(file.string());
  if (!opened)
    return opened.error();
  std::string buffer(std::size_t{1} << 20, '\0');
  LogStream s;
  // file names: nccl.HOST.PID.log, hipblaslt.PID.log
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

std::vector<std::string> LibraryTrace::State::silent() const {
  std::vector<std::string> out;
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
      out.emplace_back(kNames[i]);
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
  LogStream& s = state_->stream(stream);
  state_->bytes += bytes.size();
  s.lines.feed(bytes, [&](std::string_view line, std::string_view end) {
    if (!state_->take(s, line, t_s) && others != nullptr)
      others->append(line).append(end);
  });
}

void LibraryTrace::end(std::size_t stream, std::string* others) {
  LogStream& s = state_->stream(stream);
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
  out.silent = st.silent();
  if (!st.options.csv.empty())
    RS_CHECK(write_trace_table(st.options, st.table));
  if (!st.options.detail_csv.empty())
    RS_CHECK(write_trace_detail(st.options, st.table, out.counts));
  return out;
}

} // namespace rankscope
