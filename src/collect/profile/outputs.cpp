#include "collect/profile/outputs.h"

#include "base/ascii.h"
#include "base/csv.h"
#include "base/fnv.h"
#include "os/foreign_sqlite.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fnmatch.h>
#include <fstream>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t kMostJson = std::uint64_t{256} << 20; ///< larger files are not counted

bool ends(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Returns the number of records that are not empty, without the first such record.
std::uint64_t csv_rows(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::vector<CsvField> fields;
  std::size_t columns = 0; // of the first record
  std::uint64_t records = 0;
  while (in) {
    const std::size_t before = text.size();
    const std::size_t more = std::max<std::size_t>(before, 65536); // linear for long records too
    text.resize(before + more);
    in.read(text.data() + before, static_cast<std::streamsize>(more));
    text.resize(before + static_cast<std::size_t>(in.gcount()));
    std::string_view rest = text;
    for (std::size_t used = 0; !rest.empty(); rest.remove_prefix(used)) {
      if (next_csv_record(rest, !in, columns, fields, used) == CsvRecord::kNeedsMore)
        break;
      if (trimmed(rest.substr(0, used), "\r\n").empty())
        continue;
      columns = records++ == 0 ? fields.size() : columns;
    }
    text.erase(0, text.size() - rest.size());
  }
  return records > 0 ? records - 1 : 0;
}

/// Returns the number of records of all kinds in the JSON of rocprofv3.
std::uint64_t rocprof_records(simdjson::dom::array processes) {
  std::uint64_t out = 0;
  for (const simdjson::dom::element process : processes)
    for (const char* group : {"buffer_records", "callback_records"})
      if (simdjson::dom::object kinds; process[group].get(kinds) == simdjson::SUCCESS)
        for (const auto kind : kinds)
          if (simdjson::dom::array list; kind.value.get(list) == simdjson::SUCCESS)
            out += list.size();
  return out;
}

/// Returns the number of elements of a list, or of an object's traceEvents, else of its longest
/// list. An object with other members counts as 1. In the JSON of rocprofv3, records are in lists
/// by kind.
std::uint64_t json_records(const std::string& path) {
  std::error_code ec;
  const std::uint64_t bytes = fs::file_size(path, ec);
  if (ec || bytes == 0)
    return 0;
  if (bytes > kMostJson)
    return 1;
  namespace dom = simdjson::dom;
  dom::parser parser;
  dom::element root;
  if (parser.load(path).get(root) != simdjson::SUCCESS)
    return 1; // another format (such as lines of JSON) in a file that is not empty
  dom::array list;
  if (root.get(list) == simdjson::SUCCESS)
    return list.size();
  dom::object object;
  if (root.get(object) != simdjson::SUCCESS)
    return 1;
  if (object["rocprofiler-sdk-tool"].get(list) == simdjson::SUCCESS)
    return rocprof_records(list);
  std::uint64_t longest = object.size() > 0 ? 1 : 0;
  for (const auto field : object)
    if (field.value.get(list) == simdjson::SUCCESS && field.key == "traceEvents")
      return list.size();
    else if (field.value.get(list) == simdjson::SUCCESS)
      longest = std::max<std::uint64_t>(longest, list.size());
  return longest;
}

/// Calls `use` with the statement for each row.
template <class Use> void for_each_row(sqlite3* db, const std::string& sql, const Use& use) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) == SQLITE_OK)
    while (sqlite3_step(statement) == SQLITE_ROW)
      use(statement);
  sqlite3_finalize(statement);
}

/// Returns the number of rows in tables whose name begins with `table` (rocpd adds a suffix), or in
/// all tables for "".
std::uint64_t database_rows(const std::string& path, const std::string& table) {
  std::error_code ec;
  SqliteBudget budget(fs::file_size(path, ec));
  const SqliteHandle db = open_foreign_sqlite(path, false, budget);
  std::vector<std::string> tables;
  for_each_row(db.get(), kSqliteTables, [&](sqlite3_stmt* row) {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
    std::string name = text == nullptr ? "" : text;
    if (name.rfind(table, 0) == 0 && name.rfind("sqlite_", 0) != 0)
      tables.push_back(std::move(name));
  });
  std::uint64_t rows = 0;
  for (const std::string& name : tables)
    for_each_row(db.get(), "select count(*) from " + in_quotes(name), [&](sqlite3_stmt* row) {
      rows += static_cast<std::uint64_t>(std::max<sqlite3_int64>(sqlite3_column_int64(row, 0), 0));
    });
  return rows;
}

std::string check_by_name(const std::string& path) {
  for (const char* machine : {"agent_info", "sysinfo"}) // rows about GPUs, not about the run
    if (contains(fs::path(path).filename().string(), machine))
      return "bytes";
  if (ends(path, ".csv"))
    return "csv";
  if (ends(path, ".json"))
    return "json";
  if (ends(path, ".db") || ends(path, ".rpd") || ends(path, ".sqlite"))
    return "sqlite";
  return "bytes";
}

std::string hash_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 65536> buffer;
  Fnv64 hash;
  while (in.read(buffer.data(), buffer.size()), in.gcount() > 0)
    hash.update({buffer.data(), static_cast<std::size_t>(in.gcount())});
  return hash.hex();
}

/// Copies `file` into `folder` under a free name. Returns the new path; "" = the copy failed.
std::string copied_into(const std::string& file, const std::string& folder) {
  std::error_code ec;
  fs::create_directories(folder, ec);
  fs::path target = fs::path(folder) / fs::path(file).filename();
  for (int n = 1; fs::exists(target, ec) && n < 1000; ++n) // files of two folders may share a name
    target = fs::path(folder) / fmt::format("{}_{}", n, fs::path(file).filename().string());
  return fs::copy_file(file, target, ec) ? target.string() : "";
}

bool is_absolute(const ToolOutput& output) {
  return output.path.starts_with('/');
}

/// Returns the pattern without its backslashes.
std::string unescaped(std::string_view pattern) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size())
      ++i;
    out += pattern[i];
  }
  return out;
}

/// Returns the position of the first wildcard of a pattern; npos without one.
std::size_t first_special(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i)
    if (pattern[i] == '\\')
      ++i;
    else if (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '[')
      return i;
  return std::string_view::npos;
}

} // namespace

std::string escaped_pattern(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == '*' || c == '?' || c == '[' || c == '\\')
      out += '\\';
    out += c;
  }
  return out;
}

std::vector<std::string> matching_files(const std::string& pattern) {
  std::vector<std::string> out;
  std::error_code ec;
  const std::size_t special = first_special(pattern);
  if (special == std::string::npos) {
    if (const std::string path = unescaped(pattern); fs::is_regular_file(path, ec))
      out.push_back(path);
    return out;
  }
  const std::size_t slash = pattern.rfind('/', special);
  const std::string root = slash == std::string::npos ? "." : unescaped(pattern.substr(0, slash));
  const bool deep = pattern.find("**") != std::string::npos;
  std::string match = slash == std::string::npos ? "./" + pattern : pattern;
  if (const std::size_t at = match.find("**/"); at != std::string::npos)
    match.erase(at, 3); // without FNM_PATHNAME, "*" matches '/' too
  const int flags = deep ? 0 : FNM_PATHNAME;
  using Walk = fs::recursive_directory_iterator;
  for (Walk it(root, fs::directory_options::skip_permission_denied, ec), end; !ec && it != end;
       it.increment(ec)) {
    const std::string path = it->path().string();
    if (it->is_regular_file(ec) && ::fnmatch(match.c_str(), path.c_str(), flags) == 0)
      out.push_back(slash == std::string::npos ? path.substr(2) : path);
    else if (!deep && it->is_directory(ec) &&
             std::ranges::count(path, '/') >= std::ranges::count(match, '/'))
      it.disable_recursion_pending();
    ec.clear();
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::uint64_t ToolOutputs::bytes() const {
  std::uint64_t out = 0;
  for (const OutputFound& file : files)
    out += file.bytes;
  return out;
}

std::optional<std::uint64_t> ToolOutputs::records() const {
  std::optional<std::uint64_t> out;
  for (const OutputFound& file : files)
    if (file.records)
      out = out.value_or(0) + *file.records;
  return out;
}

bool ToolOutputs::empty() const {
  if (const auto counted = records())
    return *counted == 0;
  return std::ranges::all_of(files, &OutputFound::empty);
}

std::optional<std::uint64_t> count_records(const std::string& path, const std::string& check) {
  std::error_code ec;
  const std::uint64_t bytes = fs::file_size(path, ec);
  if (ec || bytes == 0)
    return 0;
  const std::string kind = check == "trace" ? check_by_name(path) : check;
  if (kind == "csv")
    return csv_rows(path);
  if (kind == "json")
    return json_records(path);
  if (kind.rfind("sqlite", 0) == 0)
    return database_rows(path, kind.size() > 7 ? kind.substr(7) : "");
  return std::nullopt;
}

std::vector<std::string> files_before(const ToolEntry& tool, const std::string& folder) {
  std::vector<std::string> out;
  for (const ToolOutput& output : tool.produces)
    if (!is_absolute(output))
      for (std::string& file : matching_files(escaped_pattern(folder) + "/" + output.path))
        out.push_back(std::move(file));
  std::sort(out.begin(), out.end());
  return out;
}

ToolOutputs collect_outputs(const ToolEntry& tool, const std::string& tool_folder,
                            const std::string& folder, fs::file_time_type since,
                            const std::vector<std::string>& before) {
  ToolOutputs out;
  for (const ToolOutput& output : tool.produces) {
    const bool absolute = is_absolute(output);
    bool found = false;
    for (const std::string& file :
         matching_files(absolute ? output.path : escaped_pattern(folder) + "/" + output.path)) {
      std::error_code ec;
      if (fs::last_write_time(file, ec) < since || ec)
        continue;
      if (std::binary_search(before.begin(), before.end(), file)) {
        out.there_before.push_back(file);
        continue;
      }
      OutputFound f;
      f.path = absolute ? file : copied_into(file, tool_folder);
      const bool known = std::any_of(out.files.begin(), out.files.end(),
                                     [&](const OutputFound& o) { return o.path == f.path; });
      if (f.path.empty() || known)
        continue;
      found = true;
      f.legacy = output.legacy;
      f.bytes = fs::file_size(f.path, ec);
      f.records = count_records(f.path, output.check);
      f.hash = hash_of(f.path);
      out.files.push_back(std::move(f));
    }
    if (!found && output.required)
      out.missing.push_back(output.path);
  }
  return out;
}

} // namespace rankscope
