// One session (guid) of a rocpd database. It finds tables and columns in all versions of the
// schema, and loads the small tables into memory.
#pragma once

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "core/trace.h"
#include "readers/rocprof/process_trace.h"
#include "readers/rocprof/sqlite_file.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace rankscope {

/// The API to which a host call belongs.
enum class HostApi : std::uint8_t { kOther, kHip, kHsa, kRccl, kMarker };
/// Returns the API for a category such as "HIP_RUNTIME_API_EXT"; if the category is empty, for the
/// name of the function.
[[nodiscard]] HostApi host_api(std::string_view category, std::string_view function);

/// The process, thread, agent, queue, stream and track name to which a row belongs; kNoId: unknown.
struct RocpdPlace {
  std::int64_t process = kNoId, thread = kNoId, agent = kNoId, queue = kNoId, stream = kNoId;
  std::int64_t name = kNoId; ///< name of the track
};

struct RocpdProcess {
  std::int64_t id = 0; ///< id in the database
  std::int64_t pid = 0;
  RankOfProcess rank;
};

struct RocpdEvent {
  std::int64_t stack = kNoId;
  std::int64_t parent = kNoId;
  StrId message = kEmptyStr; ///< text of a roctx range or mark
  HostApi api = HostApi::kOther;
  bool has_category = false;
};

class RocpdSession {
public:
  /// Returns the endings of the table names, sorted; there is one for each session in the file.
  static std::vector<std::string> endings(const SqliteFile& file);

  RocpdSession(const SqliteFile& file, std::string ending, Diagnostics& diagnostics)
      : file_(file), ending_(std::move(ending)), diagnostics_(diagnostics) {}

  /// Returns the name of a table of this session, for example for "rocpd_region".
  [[nodiscard]] std::string table(const char* name) const { return name + ending_; }
  [[nodiscard]] const SqliteFile& file() const { return file_; }
  /// Calls SqliteFile::each_row() for a table of this session.
  template <class Use>
  void each_row(const char* name, const std::vector<std::string>& columns, const Use& use) const {
    file_.each_row(table(name), columns, diagnostics_, use);
  }
  /// Reads only the table of processes, which is small.
  void read_processes();
  /// Reads strings, threads, agents, kernel symbols, tracks and timestamps.
  void read_ids();
  void read_tracks();
  void read_events();

  [[nodiscard]] const std::vector<RocpdProcess>& processes() const { return processes_; }
  /// Returns the ids of processes with a kernel or a copy; tables that are not readable are
  /// ignored.
  [[nodiscard]] std::vector<std::int64_t> processes_with_gpu_work() const;

  // rows() adds these columns before those of the caller; the functions below return their values
  static constexpr int kCallerColumn = 10;
  [[nodiscard]] SqliteQuery rows(const char* name, std::vector<std::string> more) const;
  [[nodiscard]] RocpdPlace place(const SqliteQuery& row) const;
  [[nodiscard]] std::optional<std::int64_t> start(const SqliteQuery& row) const;
  [[nodiscard]] std::optional<std::int64_t> end(const SqliteQuery& row) const;
  [[nodiscard]] const RocpdEvent& event(const SqliteQuery& row) const;
  [[nodiscard]] std::int64_t event_id(const SqliteQuery& row) const;
  /// Reports an error if a query ended before the end of the table.
  void check(const SqliteQuery& row, const char* table) const;

  // These functions search by id. If the id is unknown, they return RowIndex::kNone, "" or the id
  // itself.
  [[nodiscard]] std::string_view string(std::int64_t id) const;
  [[nodiscard]] std::size_t symbol(std::int64_t kernel_id) const {
    return symbols_.find(kernel_id);
  }
  /// Returns the id of the symbol's name in texts().
  [[nodiscard]] StrId symbol_text(std::size_t symbol) const { return symbol_names_[symbol]; }
  [[nodiscard]] std::int64_t os_thread(std::int64_t thread) const;
  [[nodiscard]] std::int64_t device(std::int64_t agent) const;
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const { return devices_; }
  [[nodiscard]] const StringPool& texts() const { return texts_; }
  [[nodiscard]] bool has_rccl_events() const { return rccl_events_; }
  [[nodiscard]] const RocpdEvent* event_by_id(std::int64_t id) const;

private:
  void read_strings();
  void read_categories();
  void read_threads();
  void read_agents();
  void read_symbols();
  void read_timestamps();
  /// Adds an id to an index. If the id cannot be a key, reports this and returns false; its row is
  /// then never found.
  bool key(RowIndex& index, std::int64_t id, const char* table);
  [[nodiscard]] std::optional<std::int64_t> time(const SqliteQuery& row, int inline_at,
                                                 int by_id) const;

  const SqliteFile& file_;
  std::string ending_;
  Diagnostics& diagnostics_;
  StringPool texts_;
  std::vector<RocpdProcess> processes_;
  RowIndex strings_;
  std::vector<StrId> string_texts_;
  std::map<std::int64_t, HostApi> categories_;
  std::map<std::int64_t, std::int64_t> threads_; ///< id in the database -> thread id of the system
  std::map<std::int64_t, std::int64_t> agents_;  ///< only GPUs: id in the database -> GPU number on
                                                 ///< the node
  std::vector<DeviceInfo> devices_;
  RowIndex symbols_;
  std::vector<StrId> symbol_names_;
  RowIndex tracks_;
  std::vector<RocpdPlace> track_places_;
  RowIndex timestamps_;
  std::vector<std::int64_t> timestamp_values_;
  RowIndex events_;
  std::vector<RocpdEvent> event_rows_;
  RocpdEvent no_event_;
  bool rccl_events_ = false;
};

} // namespace rankscope
