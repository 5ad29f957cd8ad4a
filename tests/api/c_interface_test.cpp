// Tests the C header of librankscope.so: every table as an Arrow stream is compared with `rankscope
// query`, cell by cell, also through DuckDB. Also tested: streams that are moved, split, or used
// after their run is closed, and wrong arguments.
#include "cli/run_binary.h"
#include "sql/duckdb_fixture.h"
#include "sql/query_result.h"
#include "temp_folder.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <rankscope/rankscope_c.h>
#include <simdjson.h>
#include <string>
#include <thread>
#include <vector>

namespace rankscope {
namespace {

using Rows = std::vector<std::vector<std::string>>;

struct ReadTable {
  std::vector<std::string> names, formats;
  Rows rows;
  std::size_t batches = 0;
};

std::string two_ranks() {
  return (test::source_dir() / "tests/data/synth/amd").string();
}

struct CloseRun {
  void operator()(rankscope_run* run) const { rankscope_close(run); }
};
struct FreeTable {
  void operator()(rankscope_table* table) const { rankscope_table_free(table); }
};
using RunPointer = std::unique_ptr<rankscope_run, CloseRun>;
using TablePointer = std::unique_ptr<rankscope_table, FreeTable>;

RunPointer open_run(const std::string& path) {
  const char* const inputs[] = {path.c_str(), nullptr};
  const char* const options[] = {"jobs=2", "cache=none", nullptr};
  rankscope_run* run = nullptr;
  EXPECT_EQ(rankscope_open(inputs, options, &run), RANKSCOPE_OK) << rankscope_last_error();
  return RunPointer(run);
}

TablePointer table_of(const RunPointer& run, const std::string& name) {
  rankscope_table* table = nullptr;
  EXPECT_EQ(rankscope_run_table(run.get(), name.c_str(), &table), RANKSCOPE_OK)
      << rankscope_last_error();
  return TablePointer(table);
}

std::string number_text(double value) {
  return std::isfinite(value) ? fmt::format("{:.17g}", value) : "NULL"; // JSON has no other numbers
}

/// Returns a cell as text; `format` is as in the Arrow specification.
std::string cell_text(const ArrowArray& column, const std::string& format, std::size_t row) {
  const auto* const validity = static_cast<const std::uint8_t*>(column.buffers[0]);
  if (validity != nullptr && (validity[row / 8] >> (row % 8) & 1) == 0)
    return "NULL";
  if (format == "l")
    return std::to_string(static_cast<const std::int64_t*>(column.buffers[1])[row]);
  if (format == "g")
    return number_text(static_cast<const double*>(column.buffers[1])[row]);
  if (format == "b")
    return (static_cast<const std::uint8_t*>(column.buffers[1])[row / 8] >> (row % 8) & 1) != 0
               ? "true"
               : "false";
  EXPECT_EQ(format, "U");
  const auto* const ends = static_cast<const std::int64_t*>(column.buffers[1]);
  return {static_cast<const char*>(column.buffers[2]) + ends[row],
          static_cast<std::size_t>(ends[row + 1] - ends[row])};
}

ReadTable read_stream(ArrowArrayStream& stream) {
  ReadTable out;
  ArrowSchema schema;
  EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
  for (std::int64_t c = 0; c < schema.n_children; ++c) {
    out.names.emplace_back(schema.children[c]->name);
    out.formats.emplace_back(schema.children[c]->format);
  }
  schema.release(&schema);
  for (;; ++out.batches) {
    ArrowArray batch;
    EXPECT_EQ(stream.get_next(&stream, &batch), 0) << stream.get_last_error(&stream);
    if (batch.release == nullptr)
      break;
    for (std::int64_t r = 0; r < batch.length; ++r) {
      out.rows.emplace_back();
      for (std::int64_t c = 0; c < batch.n_children; ++c)
        out.rows.back().push_back(cell_text(*batch.children[c],
                                            out.formats[static_cast<std::size_t>(c)],
                                            static_cast<std::size_t>(r)));
    }
    batch.release(&batch);
  }
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
  return out;
}

ReadTable read_table(const TablePointer& table) {
  ArrowArrayStream stream;
  if (rankscope_table_stream(table.get(), &stream) != RANKSCOPE_OK)
    return {};
  ReadTable out = read_stream(stream);
  EXPECT_EQ(static_cast<std::size_t>(rankscope_table_rows(table.get())), out.rows.size());
  return out;
}

std::vector<std::string> all_names(bool views) {
  rankscope_table* table = nullptr;
  EXPECT_EQ(rankscope_tables(&table), RANKSCOPE_OK);
  std::vector<std::string> out;
  for (const std::vector<std::string>& row : read_table(TablePointer(table)).rows)
    if (views || row[1] != "view")
      out.push_back(row[0]);
  return out;
}

std::string json_cell(const simdjson::dom::element& cell, const std::string& format) {
  if (cell.is_null())
    return "NULL";
  if (format == "g")
    return number_text(cell.get_double().value());
  return cell.is_string() ? std::string(cell.get_string().value()) : simdjson::minify(cell);
}

/// Compares the tables with the output of one `rankscope query` that prints all of them.
void expect_as_query(const std::string& path, const std::vector<std::string>& names) {
  std::string statements;
  for (const std::string& name : names)
    statements += "FROM " + name + ";";
  // -j 1: with several threads, DuckDB may mix the rows of different ranks
  const test::RunResult query =
      test::run_binary({"query", statements, path, "--json", "-q", "-j", "1", "--no-cache"});
  ASSERT_EQ(query.code, 0) << query.err;
  simdjson::dom::parser parser;
  const simdjson::dom::element tables = parser.parse(query.out)["tables"].value();
  const RunPointer run = open_run(path);
  std::size_t cells = 0;
  for (std::size_t t = 0; t < names.size(); ++t) {
    const ReadTable got = read_table(table_of(run, names[t]));
    const std::string key = t == 0 ? "result" : fmt::format("result_{}", t + 1);
    const simdjson::dom::element want = tables[key].value();
    std::vector<std::string> columns;
    for (const std::string_view column : want["columns"].get_array())
      columns.emplace_back(column);
    ASSERT_EQ(got.names, columns) << names[t];
    std::size_t r = 0;
    for (const simdjson::dom::array row : want["rows"].get_array()) {
      ASSERT_LT(r, got.rows.size()) << names[t];
      std::size_t c = 0;
      for (const simdjson::dom::element cell : row) {
        ASSERT_EQ(got.rows[r][c], json_cell(cell, got.formats[c]))
            << names[t] << " row " << r << " column " << columns[c];
        ++c;
        ++cells;
      }
      ++r;
    }
    EXPECT_EQ(got.rows.size(), r) << names[t];
  }
  EXPECT_GT(cells, 10000U);
}

TEST(CInterface, EveryTableAndViewIsThatOfQueryCellByCell) {
  RS_NEEDS_DUCKDB(); // query needs it
  expect_as_query(two_ranks(), all_names(true));
}

TEST(CInterface, TablesOfRealTracesAreThoseOfQuery) {
  RS_NEEDS_DUCKDB();
  const auto trace = test::golden_dir() / "h100/Falconsai_nsfw_image_detection__1016002.json.gz";
  if (!std::filesystem::exists(trace))
    GTEST_SKIP() << "no " << trace;
  expect_as_query(trace.string(), all_names(false));
}

/// duckdb_arrow_scan(), with which DuckDB's C library reads a foreign stream.
using ArrowScan = int (*)(duckdb::Connection, const char*, ArrowArrayStream*);

TEST(CInterface, DuckDbReadsTheStreamsAsTheyAre) {
  RS_NEEDS_DUCKDB();
  const DuckDbLibrary& calls = *DuckDbLibrary::get().value();
  void* const handle = ::dlopen(calls.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  const auto scan = reinterpret_cast<ArrowScan>(::dlsym(handle, "duckdb_arrow_scan"));
  ASSERT_NE(scan, nullptr);
  duckdb::Config config = nullptr;
  calls.create_config(&config);
  calls.set_config(config, "threads", "1"); // keeps the order of rows
  duckdb::Database database = nullptr;
  ASSERT_EQ(calls.open_ext(nullptr, &database, config, nullptr), duckdb::kSuccess);
  calls.destroy_config(&config);
  duckdb::Connection connection = nullptr;
  ASSERT_EQ(calls.connect(database, &connection), duckdb::kSuccess);
  const RunPointer run = open_run(two_ranks());
  std::size_t cells = 0;
  for (const std::string name : {"kernels", "operators", "ranks", "findings", "gpu_timeline"}) {
    const TablePointer table = table_of(run, name);
    const ReadTable want = read_table(table);
    ArrowArrayStream stream;
    ASSERT_EQ(rankscope_table_stream(table.get(), &stream), RANKSCOPE_OK);
    ASSERT_EQ(scan(connection, "scanned", &stream), duckdb::kSuccess) << name;
    duckdb::ResultBlock result;
    ASSERT_EQ(calls.query(connection, "FROM scanned", &result), duckdb::kSuccess)
        << calls.result_error(&result);
    const Table got = query_table(calls, result, name);
    calls.destroy_result(&result);
    ASSERT_EQ(got.cols(), want.names.size());
    ASSERT_EQ(got.rows(), want.rows.size()) << name;
    for (std::size_t r = 0; r < got.rows(); ++r)
      for (std::size_t c = 0; c < got.cols(); ++c, ++cells) {
        const Value v = got.at(r, c);
        const std::string text = v.is_null()                   ? "NULL"
                                 : v.kind == CellKind::kInt    ? std::to_string(v.i)
                                 : v.kind == CellKind::kDouble ? number_text(v.d)
                                 : v.kind == CellKind::kBool   ? (v.i != 0 ? "true" : "false")
                                                               : std::string(v.text);
        ASSERT_EQ(text, want.rows[r][c]) << name << " row " << r << " column " << want.names[c];
      }
    if (stream.release != nullptr)
      stream.release(&stream);
  }
  EXPECT_GT(cells, 5000U);
  calls.disconnect(&connection);
  calls.close(&database);
  ::dlclose(handle);
}

TEST(CInterface, FindingsAsJsonAreTheRowsOfTheirTable) {
  const RunPointer run = open_run(two_ranks());
  const TablePointer table = table_of(run, "findings");
  const ReadTable rows = read_table(table);
  EXPECT_FALSE(rows.rows.empty());
  char* json = nullptr;
  ASSERT_EQ(rankscope_table_json(table.get(), &json), RANKSCOPE_OK) << rankscope_last_error();
  simdjson::dom::parser parser;
  const simdjson::padded_string text{std::string(json)};
  rankscope_free(json);
  const simdjson::dom::element document = parser.parse(text).value();
  EXPECT_EQ(std::string_view(document["schema"]), "rankscope/1");
  std::size_t r = 0;
  for (const simdjson::dom::array row : document["tables"]["findings"]["rows"].get_array()) {
    std::size_t c = 0;
    for (const simdjson::dom::element cell : row) {
      EXPECT_EQ(json_cell(cell, rows.formats[c]), rows.rows[r][c]);
      ++c;
    }
    ++r;
  }
  EXPECT_EQ(r, rows.rows.size());
}

/// Returns a trace with one operator of this name and `kernels` kernels below it.
std::string trace_with(const std::string& name, std::size_t kernels) {
  std::string out = fmt::format(
      R"({{"traceEvents":[{{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":0,"dur":{}}})",
      name, 10 * kernels);
  for (std::size_t k = 0; k < kernels; ++k)
    out += fmt::format(
        R"(,{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":{0},)"
        R"("dur":1,"args":{{"correlation":{1}}}}},{{"ph":"X","cat":"kernel","name":"k","pid":0,)"
        R"("tid":7,"ts":{2},"dur":1,"args":{{"stream":7,"device":0,"correlation":{1}}}}})",
        10 * k, k + 1, 10 * k + 5);
  return out + "]}";
}

TEST(CInterface, BatchesAreBoundedInRowsAndBytes) {
  const test::TempFolder folder;
  const RunPointer many = open_run(folder.write("many.json", trace_with("op", 40000)));
  const ReadTable events = read_table(table_of(many, "events"));
  EXPECT_EQ(events.rows.size(), 80001U);
  EXPECT_EQ(events.batches, 2U);
  const std::string name(std::size_t{1} << 20, 'x');
  const RunPointer wide = open_run(folder.write("wide.json", trace_with(name, 100)));
  const TablePointer kernels = table_of(wide, "kernels");
  ArrowArrayStream stream;
  ASSERT_EQ(rankscope_table_stream(kernels.get(), &stream), RANKSCOPE_OK);
  std::int64_t rows = 0;
  std::size_t batches = 0;
  for (ArrowArray batch; stream.get_next(&stream, &batch) == 0 && batch.release != nullptr;
       ++batches) {
    rows += batch.length;
    EXPECT_LE(batch.length, 64); // rows of 1 MiB each
    batch.release(&batch);
  }
  stream.release(&stream);
  EXPECT_EQ(rows, 100);
  EXPECT_GE(batches, 2U);
}

TEST(CInterface, NamesOfTracesArriveAsTheyAreAndAsUtf8) {
  const test::TempFolder folder;
  const RunPointer run =
      open_run(folder.write("odd.json", trace_with("<b>\\n\\\"\\u0000\xff\xc3\xa9", 1)));
  const ReadTable operators = read_table(table_of(run, "operators"));
  ASSERT_EQ(operators.rows.size(), 1U);
  std::string all;
  for (const std::string& cell : operators.rows[0])
    all += cell + "|";
  using namespace std::string_literals;
  EXPECT_NE(all.find("<b>\n\"\0\xef\xbf\xbd\xc3\xa9"s), std::string::npos) << all;
}

TEST(CInterface, StreamsOutliveTableAndRunAndChildrenTheirParents) {
  RunPointer run = open_run(two_ranks());
  TablePointer table = table_of(run, "kernels");
  const ReadTable want = read_table(table);
  ArrowArrayStream stream;
  ASSERT_EQ(rankscope_table_stream(table.get(), &stream), RANKSCOPE_OK);
  ArrowSchema schema;
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  table.reset();
  run.reset();
  ArrowArray batch;
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  // moved as the specification says: copied, and the original is marked as released
  ArrowSchema field = *schema.children[1];
  schema.children[1]->release = nullptr;
  ArrowArray column = *batch.children[1];
  batch.children[1]->release = nullptr;
  schema.release(&schema);
  batch.release(&batch);
  stream.release(&stream);
  EXPECT_EQ(field.name, want.names[1]);
  EXPECT_EQ(cell_text(column, field.format, 0), want.rows[0][1]);
  field.release(&field);
  column.release(&column);
  EXPECT_EQ(column.release, nullptr);
}

TEST(CInterface, ThreadsShareARun) {
  const RunPointer run = open_run(two_ranks());
  const ReadTable want = read_table(table_of(run, "kernels"));
  std::vector<std::size_t> rows(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < rows.size(); ++t)
    threads.emplace_back([&, t] {
      (void)read_table(table_of(run, t % 2 == 0 ? "gpu_timeline" : "operators"));
      rows[t] = read_table(table_of(run, "kernels")).rows.size();
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const std::size_t n : rows)
    EXPECT_EQ(n, want.rows.size());
}

TEST(CInterface, WrongArgumentsAreErrorsWithASentence) {
  const std::string path = two_ranks();
  const char* const inputs[] = {path.c_str(), nullptr};
  const char* const nothing[] = {nullptr};
  const char* const missing[] = {"/no/such\nrun", nullptr};
  auto* run = reinterpret_cast<rankscope_run*>(1);
  const auto fails = [](int code, int want, const char* word) {
    EXPECT_EQ(code, want);
    EXPECT_NE(std::string(rankscope_last_error()).find(word), std::string::npos)
        << rankscope_last_error();
  };
  fails(rankscope_open(inputs, nullptr, nullptr), RANKSCOPE_USAGE, "run");
  fails(rankscope_open(nullptr, nullptr, &run), RANKSCOPE_USAGE, "inputs");
  EXPECT_EQ(run, nullptr);
  fails(rankscope_open(nothing, nullptr, &run), RANKSCOPE_USAGE, "inputs");
  fails(rankscope_open(missing, nullptr, &run), RANKSCOPE_INPUT, "/no/such");
  for (const char* option : {"jobs", "jobs=", "jobs=x", "jobs=-1", "jobs=99999999999", "", "=",
                             "threads=2", "files-as-runs=yes"}) {
    const char* const options[] = {option, nullptr};
    fails(rankscope_open(inputs, options, &run), RANKSCOPE_USAGE, "wrong option");
    EXPECT_EQ(run, nullptr) << option;
  }

  const RunPointer good = open_run(path);
  rankscope_table* table = nullptr;
  fails(rankscope_tables(nullptr), RANKSCOPE_USAGE, "table");
  fails(rankscope_run_table(nullptr, "kernels", &table), RANKSCOPE_USAGE, "run");
  fails(rankscope_run_table(good.get(), nullptr, &table), RANKSCOPE_USAGE, "name");
  fails(rankscope_run_table(good.get(), "kernels", nullptr), RANKSCOPE_USAGE, "table");
  fails(rankscope_run_table(good.get(), "kernel", &table), RANKSCOPE_USAGE, "kernels");
  fails(rankscope_run_table(good.get(), "kernels; DROP", &table), RANKSCOPE_USAGE, "no table");
  fails(rankscope_run_query(good.get(), nullptr, &table), RANKSCOPE_USAGE, "sql");
  fails(rankscope_table_stream(nullptr, nullptr), RANKSCOPE_USAGE, "stream");
  ArrowArrayStream stream;
  fails(rankscope_table_stream(nullptr, &stream), RANKSCOPE_USAGE, "table");
  EXPECT_EQ(stream.release, nullptr);
  fails(rankscope_table_json(nullptr, nullptr), RANKSCOPE_USAGE, "json");
  EXPECT_EQ(rankscope_table_capsule(nullptr), nullptr); // also without Python in the process
  EXPECT_EQ(rankscope_table_rows(nullptr), -1);
  rankscope_close(nullptr);
  rankscope_table_free(nullptr);
  rankscope_free(nullptr);
}

TEST(CInterface, SqlHasItsErrorsAndNoFiles) {
  RS_NEEDS_DUCKDB();
  const RunPointer run = open_run(two_ranks());
  rankscope_table* table = nullptr;
  EXPECT_EQ(rankscope_run_query(run.get(), "SELEC 1", &table), RANKSCOPE_USAGE);
  EXPECT_NE(rankscope_run_query(run.get(), "FROM read_text('/etc/passwd')", &table), RANKSCOPE_OK);
  EXPECT_EQ(table, nullptr);
  ASSERT_EQ(rankscope_run_query(
                run.get(), "SELECT 1 AS a, 'x' AS a, 2.5 AS \"a b\", NULL AS n, true AS t", &table),
            RANKSCOPE_OK)
      << rankscope_last_error();
  const TablePointer rows(table);
  for (int twice = 0; twice < 2; ++twice) {
    const ReadTable got = read_table(rows);
    EXPECT_EQ(got.names, (std::vector<std::string>{"a", "a", "a b", "n", "t"}));
    EXPECT_EQ(got.rows, (Rows{{"1", "x", "2.5", "NULL", "true"}}));
  }
}

TEST(CInterface, WhatWasLostIsInTheJson) {
  const test::TempFolder folder;
  std::string cut = trace_with("op", 3);
  cut.resize(cut.size() - 20);
  const RunPointer run = open_run(folder.write("cut.json", cut));
  char* json = nullptr;
  const TablePointer table = table_of(run, "kernels");
  ASSERT_EQ(rankscope_table_json(table.get(), &json), RANKSCOPE_OK);
  EXPECT_NE(std::string(json).find("\"severity\":\"loss\""), std::string::npos) << json;
  rankscope_free(json);
}

} // namespace
} // namespace rankscope
