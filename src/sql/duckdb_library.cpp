#include "sql/duckdb_library.h"

#include "os/library_calls.h"
#include "os/own_file.h"
#include "os/shared_library.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libduckdb.so";
constexpr const char* kHint =
    "get it with scripts/web_parts.sh, from the npm package @duckdb/node-bindings-linux-x64, or "
    "from duckdb.org (C/C++); set RANKSCOPE_DUCKDB to its path";

Result<DuckDbLibrary> opened() {
  const char* const named = std::getenv("RANKSCOPE_DUCKDB");
  const std::vector<std::string> places = duckdb_places();
  for (const std::string& place : places) {
    std::error_code ec;
    const bool by_loader = place == kName;
    if (!by_loader && named == nullptr && !fs::exists(place, ec))
      continue;
    Result<DuckDbLibrary> library = open_duckdb(place);
    if (library || !by_loader)
      return library;
  }
  return Error{ErrorCode::kMissingTool, "DuckDB",
               fmt::format("SQL and Parquet need DuckDB's library {}, which was not found in: {}",
                           kName, fmt::join(places, ", ")),
               kHint};
}

} // namespace

std::vector<std::string> duckdb_places() {
  if (const char* named = std::getenv("RANKSCOPE_DUCKDB"); named != nullptr && *named != '\0')
    return {named};
  std::vector<std::string> out;
  std::error_code ec;
  const fs::path program = fs::canonical(this_binary(), ec);
  if (!ec) {
    out.push_back((program.parent_path() / kName).string());
    out.push_back(
        (program.parent_path().parent_path() / "lib" / "rankscope" / kName).lexically_normal());
  }
#ifdef RANKSCOPE_DUCKDB_BUILD
  if (*RANKSCOPE_DUCKDB_BUILD != '\0')
    out.emplace_back(RANKSCOPE_DUCKDB_BUILD);
#endif
  out.emplace_back(kName);
  return out;
}

Result<DuckDbLibrary> open_duckdb(const std::string& path) {
  Result<SharedLibrary> library = SharedLibrary::open(path, {kName});
  if (!library)
    return Error{ErrorCode::kMissingTool, "DuckDB", library.error().what, kHint};
  DuckDbLibrary calls;
  const char* lacks = nullptr;
#define RS_DUCK(name, result, arguments)                                                           \
  if (!library->find("duckdb_" #name, calls.name) && lacks == nullptr)                             \
    lacks = "duckdb_" #name;
  RANKSCOPE_DUCKDB_CALLS(RS_DUCK)
#undef RS_DUCK
  if (lacks != nullptr)
    return Error{ErrorCode::kMissingTool, path,
                 fmt::format("not a DuckDB library, or older than 1.4: it has no {}", lacks),
                 kHint};
  calls.path = path;
  library->keep();
  return calls;
}

Result<const DuckDbLibrary*> DuckDbLibrary::get() {
  static const Result<DuckDbLibrary> library = opened();
  return shared(library);
}

} // namespace rankscope
