#include "readers/foreign_format.h"

#include "base/ascii.h"
#include "os/byte_source.h"
#include "readers/inspector/inspector_log.h"
#include "readers/rocprof/sqlite_file.h"

#include <array>
#include <filesystem>
#include <fmt/format.h>

namespace fs = std::filesystem;

namespace rankscope {
namespace {

constexpr ForeignFormat kNsys{"an SQLite export of Nsight Systems",
                              "`rankscope nsys` reads it; the other commands need a trace of the "
                              "PyTorch profiler or of rocprof"};
constexpr ForeignFormat kNsysReport{"a report of Nsight Systems",
                                    "`rankscope nsys` reads it with the help of `nsys export`"};
constexpr ForeignFormat kInspector{"a log of the NCCL or RCCL Inspector",
                                   "`rankscope watch FOLDER --once` reads it"};
constexpr ForeignFormat kRecorder{
    "a file of the RCCL recorder",
    "no command reads it: its entries have no durations; record a trace, or a log with "
    "NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=COLL for `rankscope library-trace`"};
constexpr ForeignFormat kFlightRecorder{
    "a dump of the PyTorch Flight Recorder",
    "no command reads it: it is not a trace; read it with PyTorch's `torchfrtrace`"};
constexpr ForeignFormat kSnapshot{
    "a memory snapshot of PyTorch",
    "no command reads it: it contains allocations, not GPU work; open it at "
    "pytorch.org/memory_viz"};
constexpr ForeignFormat kExecutionTrace{"a PyTorch execution trace",
                                        "no command reads it: it contains operators without times; "
                                        "use the trace of the PyTorch profiler"};
constexpr ForeignFormat kChakra{"a Chakra execution trace",
                                "no command reads it; use the trace of the PyTorch profiler"};
constexpr ForeignFormat kXplane{
    "an XPlane profile of JAX or TensorFlow",
    "no command reads XLA profiles; record PyTorch, or the GPU with rocprofv3 or nsys"};
constexpr ForeignFormat kPerfetto{
    "a Perfetto protobuf trace",
    "no command reads it; run rocprofv3 with --output-format rocpd, csv or json"};
constexpr ForeignFormat kProton{"a call-path profile of Triton's proton",
                                "no command reads it; start proton with data=\"trace\""};
constexpr ForeignFormat kTuner{"a file of the NCCL tuner plugin",
                               "no command reads it; `rankscope sweep --write-tuner` writes such "
                               "files"};

constexpr ForeignFormat kTar{"a tar archive", "unpack it (tar -xf FILE) and give its folder"};
constexpr ForeignFormat kZip{"a zip archive", "unpack it (unzip FILE) and give its folder"};

constexpr ForeignFormat kXla{
    "a trace of JAX, XLA or TensorFlow",
    "no command reads it: its GPU events have no category; record the GPU with rocprofv3 or nsys"};
constexpr ForeignFormat kAscend{"a trace of an Ascend NPU",
                                "no command reads it: its device events have no category"};
constexpr ForeignFormat kMtia{"a trace of an MTIA device", "no command reads its device events"};
constexpr ForeignFormat kGaudi{"a trace of a Gaudi HPU", "no command reads its device events"};

const ForeignFormat* foreign_json(std::string_view head) {
  if (contains(head, "\"traceEvents\"") || contains(head, "\"ph\""))
    return nullptr;
  if (is_inspector_log(head))
    return &kInspector;
  if (contains(head, "\"pg_config\"") &&
      (contains(head, "\"entries\"") || contains(head, "\"pg_status\"")))
    return &kFlightRecorder;
  if (contains(head, "GetUniqueId : [") || contains(head, "CommInitRank : ["))
    return &kRecorder;
  if (contains(head, "\"schema\"") && contains(head, "\"nodes\""))
    return &kExecutionTrace;
  if (contains(head, "\"frame\"") && contains(head, "\"metrics\""))
    return &kProton;
  return nullptr;
}

const ForeignFormat* foreign_pickle(std::string_view head) {
  if (contains(head, "pg_config") || contains(head, "comm_lib_version") ||
      contains(head, "nccl_version"))
    return &kFlightRecorder;
  return contains(head, "device_traces") || contains(head, "segments") ? &kSnapshot : nullptr;
}

const ForeignFormat* foreign_name(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, const ForeignFormat*>, 6> kEndings = {
      {{".nsys-rep", &kNsysReport},
       {".qdrep", &kNsysReport},
       {".et", &kChakra},
       {".xplane.pb", &kXplane},
       {".pftrace", &kPerfetto},
       {".perfetto-trace", &kPerfetto}}};
  for (const auto& [ending, format] : kEndings)
    if (path.ends_with(ending))
      return format;
  return nullptr;
}

} // namespace

const ForeignFormat* foreign_format(std::string_view head, std::string_view path) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos)
    return nullptr;
  if (head[first] == '{' || head[first] == '[')
    return foreign_json(head);
  if (is_sqlite(head))
    return contains(head, "CUPTI_ACTIVITY_KIND_") || contains(head, "TARGET_INFO_") ? &kNsys
                                                                                    : nullptr;
  if (head.size() > 1 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5)
    return foreign_pickle(head);
  if (head.starts_with("# NCCL Tuner Configuration"))
    return &kTuner;
  constexpr std::size_t kTarMagic = 257;
  if (head.size() > kTarMagic && head.substr(kTarMagic).starts_with("ustar"))
    return &kTar;
  if (head.starts_with("PK\3\4") && path.ends_with(".zip")) // checks the ending too, because report
                                                            // workbooks are zip archives
    return &kZip;
  return foreign_name(path);
}

const ForeignFormat* foreign_producer(const Trace& trace, std::string_view category) {
  for (const Track& track : trace.tracks)
    for (const StrId text : {track.process_name, track.process_label, track.pid_text}) {
      const std::string_view name = trace.strings.view(text);
      if (contains(name, "/device:GPU:") || contains(name, "/device:TPU:"))
        return &kXla;
      if (name == "Ascend Hardware")
        return &kAscend;
      if (name.starts_with("mtia_") || name.starts_with("MTIA"))
        return &kMtia;
      if (name.starts_with("HPU"))
        return &kGaudi;
    }
  if (!foreign_category(category))
    return nullptr;
  return category.starts_with("mtia_") ? &kMtia : &kGaudi;
}

Error refusal_of(const ForeignFormat& format, const std::string& path) {
  return {ErrorCode::kUnreadable, path, fmt::format("is {}", format.what), format.hint};
}

std::optional<Error> refusal_below(const std::vector<std::string>& paths) {
  constexpr int kMostFiles = 256;
  constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
  int left = kMostFiles;
  const auto examine = [&](const std::string& path) -> std::optional<Error> {
    --left;
    const auto source = ByteSource::open(path, false);
    const ForeignFormat* const format =
        source ? foreign_format((*source)->peek(kHeadBytes), path) : nullptr;
    return format == nullptr ? std::nullopt : std::optional(refusal_of(*format, path));
  };
  for (const std::string& path : paths) {
    std::error_code ec;
    if (fs::is_regular_file(path, ec)) {
      if (auto refusal = examine(path))
        return refusal;
      continue;
    }
    fs::recursive_directory_iterator it(path, fs::directory_options::skip_permission_denied, ec);
    for (; !ec && left > 0 && it != fs::recursive_directory_iterator(); it.increment(ec)) {
      std::error_code aside;
      if (it->is_regular_file(aside))
        if (auto refusal = examine(it->path().string()))
          return refusal;
    }
  }
  return std::nullopt;
}

} // namespace rankscope
