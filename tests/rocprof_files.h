// Databases in the format of AMD's profilers, made with SQL for a test.
#pragma once

#include "temp_folder.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <string>
#include <vector>

namespace rankscope::test {

/// Runs `sql` on a database; creates the database if it does not exist.
inline void run_sql(const std::string& path, const std::string& sql) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
      << (message == nullptr ? "" : message);
  sqlite3_free(message);
  sqlite3_close(db);
}

/// Returns the first value of a query; opens the database read-only.
inline std::int64_t sql_number(const std::string& path, const std::string& query) {
  sqlite3* db = nullptr;
  sqlite3_stmt* statement = nullptr;
  std::int64_t out = -1;
  const std::string uri = "file:" + path + "?immutable=1";
  if (sqlite3_open_v2(uri.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) ==
          SQLITE_OK &&
      sqlite3_prepare_v2(db, query.c_str(), -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW)
    out = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  return out;
}

enum class RocpdSchema {
  k300,           ///< start and end in each row
  k302,           ///< as k300, plus graph ids
  k400Timestamps, ///< tracks; times in a separate table
  k410,           ///< tracks; times in each row
};

/// One session: process 4242 (thread 4243) on GPU agent 4 (device 1 of the node) runs
///   roctx range "step 7"                                     [1000, 9000]
///   hipLaunchKernel (stack 2) -> gemm, stream 1              [2000, 2100] -> [3000, 4000]
///   ncclAllReduce (stack 3) > hipExtLaunchKernel (stack 4)   [2200, 2600] > [2300, 2400]
///     -> ncclDevKernel_Generic_4, stream 2                   -> [3500, 5500]
///   hipMemcpyAsync (stack 5) -> 4096 bytes, device to host   [2700, 2750] -> [6000, 6100]
///   hipGraphLaunch (stack 6) -> two kernels, stream 1        [2800, 2850] -> [7000, 7100], [7100,
///   7300]
///   mark "here"                                              2900
inline std::string rocpd_session(RocpdSchema schema, const std::string& guid,
                                 const std::string& environment, std::int64_t shift = 0) {
  const bool tracks = schema == RocpdSchema::k400Timestamps || schema == RocpdSchema::k410;
  const bool stamps = schema == RocpdSchema::k400Timestamps;
  const bool graphs = schema != RocpdSchema::k300;
  const auto table = [&guid](const char* name) {
    return "rocpd_" + std::string(name) + "_" + guid;
  };
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  std::string sql = "BEGIN;";
  sql += "CREATE TABLE " + table("metadata") + "(id INTEGER PRIMARY KEY, tag TEXT, value TEXT);";
  sql += "CREATE TABLE " + table("string") +
         "(id INTEGER PRIMARY KEY, guid TEXT, string TEXT UNIQUE);";
  sql += "CREATE TABLE " + table("info_process") +
         "(id INTEGER PRIMARY KEY, nid, pid, command TEXT, environment TEXT);";
  sql += "CREATE TABLE " + table("info_thread") + "(id INTEGER PRIMARY KEY, nid, pid, tid, name);";
  sql += "CREATE TABLE " + table("info_agent") +
         "(id INTEGER PRIMARY KEY, nid, pid, type TEXT, absolute_index, logical_index, type_index, "
         "name TEXT, model_name TEXT, product_name TEXT, extdata TEXT);";
  sql += "CREATE TABLE " + table("info_kernel_symbol") +
         "(id INTEGER PRIMARY KEY, kernel_name TEXT, display_name TEXT, extdata TEXT);";
  sql += "CREATE TABLE " + table("event") +
         "(id INTEGER PRIMARY KEY, category_id, stack_id, parent_stack_id, correlation_id, "
         "extdata TEXT);";
  sql += "CREATE TABLE " + table("arg") +
         "(id INTEGER PRIMARY KEY, event_id, position, type TEXT, name TEXT, value TEXT);";
  sql += "CREATE TABLE " + table("track") + "(id INTEGER PRIMARY KEY, nid, pid, tid, name_id" +
         (tracks ? ", agent_id, queue_id, stream_id" : "") + ");";
  sql += "CREATE TABLE " + table("sample") +
         "(id INTEGER PRIMARY KEY, track_id, timestamp, "
         "event_id);";
  const std::string place = tracks ? "track_id" : "nid, pid, tid";
  const std::string gpu = tracks ? "track_id" : "nid, pid, tid, agent_id, queue_id, stream_id";
  const std::string times = stamps ? "start_id, end_id" : "start, \"end\"";
  const std::string graph = graphs ? ", graph_exec_id, graph_node_id" : "";
  sql += "CREATE TABLE " + table("region") + "(id INTEGER PRIMARY KEY, " + place + ", " + times +
         ", name_id, event_id);";
  sql += "CREATE TABLE " + table("kernel_dispatch") + "(id INTEGER PRIMARY KEY, " + gpu + ", " +
         times +
         ", kernel_id, dispatch_id, workgroup_size_x, workgroup_size_y, workgroup_size_z, "
         "grid_size_x, grid_size_y, grid_size_z, event_id" +
         graph + ");";
  sql += "CREATE TABLE " + table("memory_copy") + "(id INTEGER PRIMARY KEY, " +
         (tracks ? "track_id" : "nid, pid, tid, queue_id, stream_id") + ", " + times +
         ", name_id, dst_agent_id, src_agent_id, size, event_id" + graph + ");";
  if (stamps)
    sql +=
        "CREATE TABLE " + table("timestamp") + "(id INTEGER PRIMARY KEY, value, phase, track_id);";
  // the ids are not in ascending order, because the table is in the order of the index on `string`
  sql += "INSERT INTO " + table("string") +
         "(id, string) VALUES (1, ''), (2, 'MARKER_CORE_RANGE_API'), (3, 'roctxRangePushA'), (4, "
         "'HIP_RUNTIME_API_EXT'), (5, 'hipLaunchKernel'), (6, 'RCCL_API'), (7, 'ncclAllReduce'), "
         "(8, 'hipExtLaunchKernel'), (9, 'hipMemcpyAsync'), (10, 'KERNEL_DISPATCH'), (11, "
         "'MEMORY_COPY'), (12, 'MEMORY_COPY_DEVICE_TO_HOST'), (13, 'hipGraphLaunch'), (14, "
         "'MARKER_CORE_API'), (15, 'roctxMarkA');";
  if (tracks) {
    sql += "CREATE TABLE " + table("info_category") + "(id INTEGER PRIMARY KEY, name TEXT);";
    sql += "INSERT INTO " + table("info_category") +
           " VALUES (2, 'MARKER_CORE_RANGE_API'), (4, 'HIP_RUNTIME_API_EXT'), (6, 'RCCL_API'), "
           "(10, 'KERNEL_DISPATCH'), (11, 'MEMORY_COPY'), (14, 'MARKER_CORE_API');";
  }
  sql += "INSERT INTO " + table("info_process") + " VALUES (4242, 77, 4242, 'python', '" +
         environment + "');";
  sql += "INSERT INTO " + table("info_thread") + " VALUES (9, 77, 4242, 4243, NULL);";
  sql += "INSERT INTO " + table("info_agent") +
         " VALUES (0, 77, 4242, 'CPU', 0, 0, 0, 'EPYC', 'EPYC', 'EPYC', '{}'), (4, 77, 4242, "
         "'GPU', 4, 3, 1, 'gfx942', '', 'AMD Instinct MI300X', '{\"cu_count\": 304, "
         "\"wave_front_size\": 64}');";
  sql += "INSERT INTO " + table("info_kernel_symbol") +
         " VALUES (8, 'Cijk_Ailk_Bljk_BBS_BH.kd', 'Cijk_Ailk_Bljk_BBS_BH', '{}'), (9, "
         "'ncclDevKernel_Generic_4.kd', 'ncclDevKernel_Generic_4', '{}'), (11, 'in_graph.kd', "
         "NULL, '{}');";
  sql += "INSERT INTO " + table("track") +
         (tracks ? " VALUES (1, 77, 4242, 9, NULL, NULL, NULL, "
                   "NULL), (2, 77, 4242, 9, NULL, 4, 1, 1), (3, "
                   "77, 4242, 9, NULL, 4, 2, 2), (4, 77, 4242, "
                   "9, 15, NULL, NULL, NULL);"
                 : " VALUES (4, 77, 4242, 9, 15);");
  sql += "INSERT INTO " + table("event") +
         " VALUES (1, 2, 1, 0, 0, '{\"message\": \"step 7\"}'), (2, 4, 2, 0, 0, '{}'), (3, 6, 3, "
         "0, 0, '{}'), (4, 4, 4, 3, 0, '{}'), (5, 4, 5, 0, 0, '{}'), (6, 10, 2, 2, 0, '{}'), (7, "
         "10, 4, 4, 0, '{}'), (8, 11, 5, 5, 0, '{}'), (9, 4, 6, 0, 0, '{}'), (10, 10, 6, 6, 0, "
         "'{}'), (11, 10, 6, 6, 0, '{}'), (12, 14, 7, 0, 0, '{\"message\": \"here\"}');";
  sql += "INSERT INTO " + table("arg") +
         " VALUES (1, 3, 0, 'size_t', 'count', '1048576'), (2, 3, 1, 'ncclDataType_t', 'datatype', "
         "'7'), (3, 2, 0, 'dim3', 'count', '3');";
  std::int64_t stamp = 0;
  const auto span = [&](std::int64_t from, std::int64_t to) {
    if (!stamps)
      return number(from + shift) + ", " + number(to + shift);
    sql += "INSERT INTO " + table("timestamp") + " VALUES (" + number(stamp + 1) + ", " +
           number(from + shift) + ", 0, 1), (" + number(stamp + 2) + ", " + number(to + shift) +
           ", 1, 1);";
    stamp += 2;
    return number(stamp - 1) + ", " + number(stamp);
  };
  const auto region = [&](std::int64_t from, std::int64_t to, int name, int event) {
    const std::string when = span(from, to);
    sql += "INSERT INTO " + table("region") + " VALUES (NULL, " + (tracks ? "1" : "77, 4242, 9") +
           ", " + when + ", " + number(name) + ", " + number(event) + ");";
  };
  region(1000, 9000, 3, 1);
  region(2000, 2100, 5, 2);
  region(2200, 2600, 7, 3);
  region(2300, 2400, 8, 4);
  region(2700, 2750, 9, 5);
  region(2800, 2850, 13, 9);
  const auto kernel = [&](std::int64_t from, std::int64_t to, int stream, int symbol, int event) {
    const std::string when = span(from, to);
    sql += "INSERT INTO " + table("kernel_dispatch") + " VALUES (NULL, " +
           (tracks ? number(stream + 1)
                   : "77, 4242, 9, 4, " + number(stream) + ", " + number(stream)) +
           ", " + when + ", " + number(symbol) + ", 1, 256, 1, 1, 65537, 2, 1, " + number(event) +
           (graphs ? symbol == 11 ? ", 5, 1" : ", 0, 0" : "") + ");";
  };
  kernel(3000, 4000, 1, 8, 6);
  kernel(3500, 5500, 2, 9, 7);
  kernel(7000, 7100, 1, 11, 10);
  kernel(7100, 7300, 1, 11, 11);
  const std::string when = span(6000, 6100);
  sql += "INSERT INTO " + table("memory_copy") + " VALUES (NULL, " +
         (tracks ? "2" : "77, 4242, 9, NULL, 1") + ", " + when + ", 12, 0, 4, 4096, 8" +
         (graphs ? ", 0, 0" : "") + ");";
  sql += "INSERT INTO " + table("sample") + " VALUES (1, 4, " + number(2900 + shift) + ", 12);";
  return sql + "COMMIT;";
}

} // namespace rankscope::test
