// State of LibraryTrace. library_trace.cpp handles the streams, files and tables,
// library_trace_lines.cpp the lines.
#pragma once

#include "collect/library_trace/config_table.h"
#include "collect/library_trace/library_trace.h"
#include "collect/library_trace/line_splitter.h"
#include "collect/library_trace/log_matchers.h"
#include "collect/library_trace/log_text.h"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rankscope {

/// State of a stream between lines.
struct LogStream {
  LineSplitter lines;
  std::string process;              ///< process of all lines, if the file's name has it
  std::string solution;             ///< Tensile's solution index for the next kernel
  std::optional<CudaRecord> record; ///< unfinished record
};

struct LogIds {
  std::optional<std::uint32_t> process, rank;
};

struct LibraryTrace::State {
  explicit State(LibraryTraceOptions o);

  LogStream& stream(std::size_t number) {
    while (streams.size() <= number)
      streams.push_back(std::make_unique<LogStream>());
    return *streams[number];
  }
  bool take(LogStream& s, std::string_view line, std::optional<double> t_s);
  bool take_found(LogStream& s, std::string_view line, const FoundMarker& found,
                  std::optional<double> t_s);
  void take_text(LogStream& s, LogMarker marker, std::string_view before, std::string_view text,
                 std::optional<double> t_s);
  NcclLine take_last_nccl(LogStream& s, std::string_view text, std::optional<double> t_s);
  bool take_nccl(LogStream& s, std::string_view before, std::string_view text,
                 std::optional<double> t_s);
  void time_kernel(std::string_view before, std::string_view text);
  void end_record(LogStream& s, std::optional<double> t_s);
  void add(LogStream& s, std::string_view before, const ParsedCall& parsed,
           std::optional<double> t_s);
  void damaged(LogKind kind, std::string_view line);
  LogIds ids_of(const LogStream& s, std::string_view before, std::string_view process,
                std::string_view rank);
  std::uint32_t entry(const LibraryCall& call);
  LibraryCount& count(LogKind kind) { return counts[static_cast<std::size_t>(kind)]; }
  Result<void> read_file(const std::filesystem::path& file);
  [[nodiscard]] std::vector<std::string> silent() const;

  LibraryTraceOptions options;
  ConfigTable table;
  std::vector<std::unique_ptr<LogStream>> streams;
  std::array<LibraryCount, kLogKinds> counts = {};
  std::array<TextIndex, kLogKinds> known; ///< raw text -> entry, if the text is the configuration
  std::unordered_map<std::string, LogIds, TextHash, std::equal_to<>> prefixes;
  TextIds processes, ranks;
  ParsedCall nccl; ///< reused, because there are millions of these lines
  /// Launches of RCCL kernels whose end was not read yet.
  struct Launch {
    double t_s = 0;
    LibraryCall call;
  };
  std::unordered_map<std::string, Launch> launches;
  std::uint64_t bytes = 0, lines = 0;
};

} // namespace rankscope
