// The C interface of librankscope.so, on top of the use case behind `rankscope query`;
// include/rankscope/rankscope_c.h is its reference.
#include "api/arrow_stream.h"
#include "app/query.h"
#include "base/to_number.h"
#include "engine/fact_cache.h"
#include "engine/quiet_session.h"
#include "os/tasks.h"
#include "readers/rocprof/unpacked_databases.h"
#include "sql/sql_table.h"
#include "writers/writer.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <new>
#include <rankscope/rankscope_c.h>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {
namespace {

/// The state that a run, its tables and their streams share. `mutex` guards all of it.
struct RunState {
  std::mutex mutex;
  ReuseUnpackedDatabases unpack_once;
  QuietSession session;
  std::unique_ptr<Query> query;
};

struct LastError {
  std::string text;
  bool no_memory = false; ///< there was not enough memory for the text
};
thread_local LastError last_error;

int failed(const Error& error) noexcept {
  try {
    last_error.text = error.message();
    last_error.no_memory = false;
  } catch (...) {
    last_error.no_memory = true;
  }
  return exit_code(error.code);
}

/// Runs `work`, which returns a Result<void>. Exceptions do not leave this function.
template <class Work> int guarded_call(const Work& work) noexcept {
  try {
    const Result<void> done = work();
    return done ? RANKSCOPE_OK : failed(done.error());
  } catch (...) {
    return failed(error_of_current_exception());
  }
}

Error null_argument(const char* name) {
  return {ErrorCode::kUsage, "librankscope", fmt::format("{} is NULL", name), ""};
}

struct LibraryOptions {
  RunTablesRequest request;
  std::uint64_t jobs = 0, memory_mib = 0;
  std::uint32_t gpus_per_node = 0;
  std::string cache = default_cache_folder();
};

Error wrong_option(std::string_view option) {
  return {ErrorCode::kUsage, "librankscope", fmt::format("wrong option '{}'", option),
          "rankscope_c.h and, in Python, help(rankscope.open) list them"};
}

/// Sets one option from "name=value".
Result<void> set_option(LibraryOptions& options, std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == std::string_view::npos)
    return wrong_option(text);
  const std::string_view value = text.substr(equals + 1);
  DiscoverOptions& discover = options.request.discover;
  const std::array<std::pair<std::string_view, std::string*>, 7> texts{{
      {"cache", &options.cache},
      {"gpu-arch", &options.request.gpu_arch},
      {"trace-name", &discover.trace_name},
      {"step", &discover.step},
      {"trace-pattern", &discover.trace_pattern},
      {"rank-regex", &discover.rank_regex},
      {"config-regex", &discover.config_regex},
  }};
  for (const auto& [known, variable] : texts)
    if (known == name) {
      *variable = value;
      return {};
    }
  for (const auto& [known, variable] : {std::pair{"require-all-ranks", &discover.require_all_ranks},
                                        std::pair{"files-as-runs", &discover.files_as_runs}})
    if (known == name && (value == "0" || value == "1")) {
      *variable = value == "1";
      return {};
    }
  const std::optional<std::uint32_t> number = to_number<std::uint32_t>(value);
  if (number && name == "jobs")
    options.jobs = *number;
  else if (number && name == "memory-mib")
    options.memory_mib = *number;
  else if (number && name == "gpus-per-node")
    options.gpus_per_node = *number;
  else
    return wrong_option(text);
  return {};
}

} // namespace
} // namespace rankscope

struct rankscope_run {
  std::shared_ptr<rankscope::RunState> state;
};

struct rankscope_table {
  std::shared_ptr<rankscope::RunState> state; ///< null for the list of tables
  std::shared_ptr<const rankscope::SqlTable> rows;
};

namespace rankscope {
namespace {

/// Makes a table from the run's query with `get`, under the run's lock.
template <class Get>
int table_of_run(const rankscope_run* run, const char* text, const char* text_name,
                 rankscope_table** table, const Get& get) noexcept {
  return guarded_call([&]() -> Result<void> {
    if (table == nullptr)
      return null_argument("table");
    *table = nullptr;
    if (run == nullptr || text == nullptr)
      return null_argument(run == nullptr ? "run" : text_name);
    auto out = std::make_unique<rankscope_table>();
    out->state = run->state;
    const std::lock_guard lock(run->state->mutex);
    RS_TRY(out->rows, get(*run->state->query, std::string(text)));
    *table = out.release();
    return {};
  });
}

Result<void> start_stream(const rankscope_table* table, ArrowArrayStream* stream) {
  if (stream == nullptr)
    return null_argument("stream");
  *stream = {};
  if (table == nullptr)
    return null_argument("table");
  make_arrow_stream(
      {table->state, table->rows, table->state == nullptr ? nullptr : &table->state->mutex},
      *stream);
  return {};
}

// Python may destroy a capsule at any time, also while an exception is set. A destructor written in
// Python could not run then. The Python functions are looked up in the process; the library does
// not link Python.
constexpr const char* kCapsuleName = "arrow_array_stream";

template <class Function> Function* python_function(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

void destroy_capsule(void* capsule) {
  auto* const get = python_function<void*(void*, const char*)>("PyCapsule_GetPointer");
  const std::unique_ptr<ArrowArrayStream> stream(
      static_cast<ArrowArrayStream*>(get(capsule, kCapsuleName)));
  if (stream != nullptr && stream->release != nullptr) // the stream was not consumed
    stream->release(stream.get());
}

} // namespace
} // namespace rankscope

using namespace rankscope;

const char* rankscope_version() {
  return RANKSCOPE_VERSION;
}

const char* rankscope_last_error() {
  return last_error.no_memory ? "out of memory" : last_error.text.c_str();
}

int rankscope_open(const char* const* inputs, const char* const* options, rankscope_run** run) {
  return guarded_call([&]() -> Result<void> {
    if (run == nullptr)
      return null_argument("run");
    *run = nullptr;
    if (inputs == nullptr || *inputs == nullptr)
      return null_argument("inputs");
    LibraryOptions given;
    for (const char* const* option = options; option != nullptr && *option != nullptr; ++option)
      RS_CHECK(set_option(given, *option));
    for (const char* const* input = inputs; *input != nullptr; ++input) {
      std::error_code ec;
      if (!std::filesystem::exists(*input, ec)) // also rejects "-": the process owns standard input
        return Error{ErrorCode::kUnreadable, *input, "no such file or folder", ""};
      given.request.inputs.emplace_back(*input);
    }
    given.request.gpus_per_node = given.gpus_per_node;
    given.request.memory_bytes = given.memory_mib << 20U;
    given.request.keep_traces = true;
    auto out = std::make_unique<rankscope_run>();
    out->state = std::make_shared<RunState>();
    Session& session = out->state->session;
    session.threads = sensible_threads(static_cast<unsigned>(given.jobs));
    if (!given.cache.empty() && given.cache != "none")
      session.cache = std::make_shared<FactCache>(given.cache);
    RS_TRY(out->state->query, Query::over(session, std::move(given.request)));
    *run = out.release();
    return {};
  });
}

void rankscope_close(rankscope_run* run) {
  delete run;
}

int rankscope_tables(rankscope_table** table) {
  return guarded_call([&]() -> Result<void> {
    if (table == nullptr)
      return null_argument("table");
    *table = nullptr;
    auto out = std::make_unique<rankscope_table>();
    out->rows = std::make_shared<const SqlTable>(
        table_of_result(std::make_shared<const Table>(query_tables())));
    *table = out.release();
    return {};
  });
}

int rankscope_run_table(rankscope_run* run, const char* name, rankscope_table** table) {
  return table_of_run(run, name, "name", table, [](Query& query, const std::string& table_name) {
    return query.table(table_name);
  });
}

int rankscope_run_query(rankscope_run* run, const char* sql, rankscope_table** table) {
  return table_of_run(
      run, sql, "sql", table,
      [](Query& query, const std::string& statement) -> Result<std::shared_ptr<const SqlTable>> {
        RS_TRY(Table rows, query.run(statement));
        return std::make_shared<const SqlTable>(
            table_of_result(std::make_shared<const Table>(std::move(rows))));
      });
}

int64_t rankscope_table_rows(const rankscope_table* table) {
  return table == nullptr ? -1 : static_cast<int64_t>(table->rows->rows());
}

int rankscope_table_stream(const rankscope_table* table, ArrowArrayStream* stream) {
  return guarded_call([&] { return start_stream(table, stream); });
}

void* rankscope_table_capsule(const rankscope_table* table) {
  void* out = nullptr;
  guarded_call([&]() -> Result<void> {
    auto* const make = python_function<void*(void*, const char*, void (*)(void*))>("PyCapsule_New");
    if (make == nullptr)
      return Error{ErrorCode::kMissingTool, "librankscope", "no Python in this process", ""};
    auto stream = std::make_unique<ArrowArrayStream>();
    RS_CHECK(start_stream(table, stream.get()));
    out = make(stream.get(), kCapsuleName, &destroy_capsule);
    if (out == nullptr)
      stream->release(stream.get());
    else
      (void)stream.release();
    return {};
  });
  return out;
}

int rankscope_table_json(const rankscope_table* table, char** json) {
  return guarded_call([&]() -> Result<void> {
    if (json == nullptr)
      return null_argument("json");
    *json = nullptr;
    if (table == nullptr)
      return null_argument("table");
    Report report;
    report.title = table->rows->name;
    {
      const std::unique_lock lock = table->state == nullptr ? std::unique_lock<std::mutex>()
                                                            : std::unique_lock(table->state->mutex);
      report.tables.push_back(copied_rows(*table->rows));
      if (table->state != nullptr)
        report.diagnostics = table->state->session.diagnostics;
    }
    const std::string text = json_text(report);
    *json = ::strdup(text.c_str());
    return *json == nullptr ? throw std::bad_alloc() : Result<void>();
  });
}

void rankscope_free(char* text) {
  std::free(text);
}

void rankscope_table_free(rankscope_table* table) {
  delete table;
}
