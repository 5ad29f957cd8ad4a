#include "readers/rocprof/rocpd_session.h"

#include "base/counters.h"
#include "core/json_parse.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

/// The columns that RocpdSession::rows() adds before those of the caller.
enum AddedColumn : int {
  kEventId,
  kPid,
  kTid,
  kStart,
  kEnd,
  kTrack,
  kStartId,
  kEndId,
  kStream,
  kQueue
};

constexpr std::size_t kMostCategories = 1000;

std::string_view member(simdjson::dom::parser& parser, std::string_view json, const char* key) {
  simdjson::dom::element root;
  std::string_view text;
  if (json.size() > 2 && parse_json(parser, json).get(root) == simdjson::SUCCESS &&
      root.at_key(key).get(text) == simdjson::SUCCESS)
    return text;
  return {};
}

std::string_view without_ending(std::string_view text, std::string_view end) {
  if (text.ends_with(end))
    text.remove_suffix(end.size());
  return text;
}

} // namespace

HostApi host_api(std::string_view category, std::string_view function) {
  if (category.empty())
    category = function.starts_with("hip") || function.starts_with("__hip") ? "HIP"
               : function.starts_with("hsa")                                ? "HSA"
               : function.starts_with("nccl")                               ? "RCCL"
               : function.starts_with("roctx")                              ? "MARKER"
                                                                            : "";
  return category.starts_with("HIP")      ? HostApi::kHip
         : category.starts_with("HSA")    ? HostApi::kHsa
         : category.starts_with("RCCL")   ? HostApi::kRccl
         : category.starts_with("MARKER") ? HostApi::kMarker
                                          : HostApi::kOther;
}

std::vector<std::string> RocpdSession::endings(const SqliteFile& file) {
  std::set<std::string> out;
  for (const auto& [table, columns] : file.tables())
    for (const std::string_view name :
         {"rocpd_info_process", "rocpd_kernel_dispatch", "rocpd_memory_copy", "rocpd_region"})
      if (table.starts_with(name) && (table.size() == name.size() || table[name.size()] == '_'))
        out.insert(table.substr(name.size()));
  return {out.begin(), out.end()};
}

void RocpdSession::check(const SqliteQuery& row, const char* table) const {
  if (row.failed())
    diagnostics_.add(counters::database_damaged(file_.problem()), this->table(table));
}

bool RocpdSession::key(RowIndex& index, std::int64_t id, const char* table) {
  const bool good = index.add(id);
  if (!good)
    diagnostics_.add(counters::ids_out_of_order(), this->table(table));
  return good;
}

void RocpdSession::read_processes() {
  each_row("rocpd_info_process", {"id", "pid", "environment"}, [&](const SqliteQuery& q) {
    RocpdProcess process;
    process.id = q.integer_or(0, 0);
    process.pid = q.integer_or(1, process.id);
    process.rank = rank_of_environment(q.text(2));
    processes_.push_back(process);
  });
}

void RocpdSession::read_ids() {
  read_strings();
  read_categories();
  read_threads();
  read_agents();
  read_symbols();
  read_tracks();
  read_timestamps();
}

void RocpdSession::read_strings() {
  const auto read = [&](const SqliteQuery& q) {
    const auto id = q.integer(0);
    if (!id || !key(strings_, *id, "rocpd_string"))
      return;
    const std::string_view text = q.text(1);
    string_texts_.push_back(texts_.intern(text));
    if (text.size() < 64 && (text.ends_with("_API") || text.ends_with("_API_EXT")) &&
        categories_.size() < kMostCategories)
      categories_[*id] = host_api(text, "");
  };
  each_row("rocpd_string", {"id", "string"}, read);
}

/// Reads the categories. In schema 4.x they have a separate table; in 3.x they are among the
/// strings.
void RocpdSession::read_categories() {
  const std::string name = table("rocpd_info_category");
  if (!file_.has(name))
    return;
  categories_.clear();
  SqliteQuery q = file_.rows(name, {"id", "name", "category", "string"});
  while (categories_.size() < kMostCategories && q.step()) {
    const std::string_view text = !q.null(1) ? q.text(1) : !q.null(2) ? q.text(2) : q.text(3);
    categories_[q.integer_or(0, kNoId)] = host_api(text, "");
  }
  check(q, "rocpd_info_category");
}

void RocpdSession::read_threads() {
  each_row("rocpd_info_thread", {"id", "tid"}, [&](const SqliteQuery& q) {
    threads_[q.integer_or(0, kNoId)] = q.integer_or(1, q.integer_or(0, 0));
  });
}

void RocpdSession::read_agents() {
  simdjson::dom::parser parser;
  const auto read = [&](const SqliteQuery& q) {
    if (q.text(1) != "GPU")
      return;
    DeviceInfo device;
    device.id = q.integer_or(2, q.integer_or(3, q.integer_or(4, 0)));
    for (const int column : {5, 6, 7})
      if (device.name.empty())
        device.name = q.text(column);
    simdjson::dom::element properties;
    const std::string_view json = q.text(8);
    if (parse_json(parser, json).get(properties) == simdjson::SUCCESS) {
      std::int64_t value = 0;
      if (properties.at_key("wave_front_size").get(value) == simdjson::SUCCESS)
        device.warp_size = value;
      if (properties.at_key("cu_count").get(value) == simdjson::SUCCESS)
        device.multiprocessors = value;
    }
    if (agents_.emplace(q.integer_or(0, kNoId), device.id).second)
      devices_.push_back(std::move(device));
  };
  each_row("rocpd_info_agent",
           {"id", "type", "type_index", "logical_index", "absolute_index", "product_name",
            "model_name", "name", "extdata"},
           read);
}

void RocpdSession::read_symbols() {
  simdjson::dom::parser parser;
  const auto read = [&](const SqliteQuery& q) {
    const auto id = q.integer(0);
    if (!id)
      return;
    std::string_view text = q.text(1);
    if (text.empty())
      text = member(parser, q.text(2), "formatted_kernel_name");
    if (text.empty())
      text = without_ending(q.text(3), ".kd");
    if (key(symbols_, *id, "rocpd_info_kernel_symbol"))
      symbol_names_.push_back(texts_.intern(text));
  };
  each_row("rocpd_info_kernel_symbol", {"id", "display_name", "extdata", "kernel_name"}, read);
}

void RocpdSession::read_tracks() {
  const auto read = [&](const SqliteQuery& q) {
    if (const auto id = q.integer(0); id && key(tracks_, *id, "rocpd_track"))
      track_places_.push_back({q.integer_or(1, kNoId), q.integer_or(2, kNoId),
                               q.integer_or(3, kNoId), q.integer_or(4, kNoId),
                               q.integer_or(5, kNoId), q.integer_or(6, kNoId)});
  };
  each_row("rocpd_track", {"id", "pid", "tid", "agent_id", "queue_id", "stream_id", "name_id"},
           read);
}

void RocpdSession::read_timestamps() {
  const auto read = [&](const SqliteQuery& q) {
    if (const auto id = q.integer(0); id && key(timestamps_, *id, "rocpd_timestamp"))
      timestamp_values_.push_back(q.integer_or(1, kNoId));
  };
  each_row("rocpd_timestamp", {"id", "value"}, read);
}

void RocpdSession::read_events() {
  const std::string name = table("rocpd_event");
  if (!file_.has(name))
    return;
  std::string markers = "NULL"; // a text is needed only for rows of these categories
  for (const auto& [id, api] : categories_)
    if (api == HostApi::kMarker)
      markers += fmt::format(", {}", id);
  SqliteQuery q = file_.query(fmt::format(
      "SELECT \"id\", {}, {}, {}, CASE WHEN {} IN ({}) THEN {} END FROM \"{}\" NOT INDEXED",
      file_.column(name, "stack_id"), file_.column(name, "parent_stack_id"),
      file_.column(name, "category_id"), file_.column(name, "category_id"), markers,
      file_.column(name, "extdata"), name));
  simdjson::dom::parser parser;
  while (q.step()) {
    const auto id = q.integer(0);
    if (!id || !key(events_, *id, "rocpd_event"))
      continue;
    RocpdEvent event;
    event.stack = q.integer_or(1, kNoId);
    event.parent = q.integer_or(2, kNoId);
    if (const auto category = q.integer(3)) {
      const auto it = categories_.find(*category);
      event.api = it == categories_.end() ? HostApi::kOther : it->second;
      event.has_category = true;
    }
    if (event.api == HostApi::kMarker)
      event.message = texts_.intern(member(parser, q.text(4), "message"));
    rccl_events_ = rccl_events_ || event.api == HostApi::kRccl;
    event_rows_.push_back(event);
  }
  check(q, "rocpd_event");
}

std::vector<std::int64_t> RocpdSession::processes_with_gpu_work() const {
  std::set<std::int64_t> out;
  for (const char* name : {"rocpd_kernel_dispatch", "rocpd_memory_copy"}) {
    if (!file_.has(table(name)))
      continue;
    SqliteQuery q = file_.rows(table(name), {"pid", "track_id"});
    while (out.size() < processes_.size() && q.step()) {
      const auto pid = q.integer(0);
      const std::size_t track = pid ? RowIndex::kNone : tracks_.find(q.integer_or(1, kNoId));
      if (pid || track != RowIndex::kNone)
        out.insert(pid ? *pid : track_places_[track].process);
    }
  }
  return {out.begin(), out.end()};
}

SqliteQuery RocpdSession::rows(const char* name, std::vector<std::string> more) const {
  std::vector<std::string> columns = {"event_id", "pid",      "tid",    "start",     "end",
                                      "track_id", "start_id", "end_id", "stream_id", "queue_id"};
  columns.insert(columns.end(), more.begin(), more.end());
  return file_.rows(table(name), columns);
}

RocpdPlace RocpdSession::place(const SqliteQuery& row) const {
  RocpdPlace out;
  if (const auto track = row.integer(kTrack)) {
    const std::size_t at = tracks_.find(*track);
    if (at != RowIndex::kNone)
      out = track_places_[at];
  }
  out.process = row.integer_or(kPid, out.process);
  out.thread = row.integer_or(kTid, out.thread);
  out.stream = row.integer_or(kStream, out.stream);
  out.queue = row.integer_or(kQueue, out.queue);
  return out;
}

std::optional<std::int64_t> RocpdSession::time(const SqliteQuery& row, int inline_at,
                                               int id_at) const {
  const std::optional<std::int64_t> id = row.null(inline_at) ? row.integer(id_at) : std::nullopt;
  if (!id)
    return row.integer(inline_at);
  const std::size_t at = timestamps_.find(*id);
  if (at == RowIndex::kNone || timestamp_values_[at] == kNoId)
    return std::nullopt;
  return timestamp_values_[at];
}

std::optional<std::int64_t> RocpdSession::start(const SqliteQuery& row) const {
  return time(row, kStart, kStartId);
}

std::optional<std::int64_t> RocpdSession::end(const SqliteQuery& row) const {
  return time(row, kEnd, kEndId);
}

std::int64_t RocpdSession::event_id(const SqliteQuery& row) const {
  return row.integer_or(kEventId, kNoId);
}

const RocpdEvent* RocpdSession::event_by_id(std::int64_t id) const {
  const std::size_t at = events_.find(id);
  return at == RowIndex::kNone ? nullptr : &event_rows_[at];
}

const RocpdEvent& RocpdSession::event(const SqliteQuery& row) const {
  const RocpdEvent* const found = event_by_id(event_id(row));
  return found == nullptr ? no_event_ : *found;
}

std::string_view RocpdSession::string(std::int64_t id) const {
  const std::size_t at = strings_.find(id);
  return at == RowIndex::kNone ? std::string_view() : texts_.view(string_texts_[at]);
}

std::int64_t RocpdSession::os_thread(std::int64_t thread) const {
  const auto it = threads_.find(thread);
  return it != threads_.end() ? it->second : thread == kNoId ? -1 : thread;
}

std::int64_t RocpdSession::device(std::int64_t agent) const {
  const auto it = agents_.find(agent);
  return it == agents_.end() ? -1 : it->second;
}

} // namespace rankscope
