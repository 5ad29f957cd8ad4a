// Input: tables that one step gets from another: configurations of libraries, their measurements,
// results of a workload, perf.csv.
#include "collect/library_perf/perf_rows.h"
#include "collect/profile/perf_csv.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cstdlib>
#include <string>

using namespace rankscope;

RS_FUZZ_TARGET(library_tables) {
  // a new folder each time, because files that were read are not overwritten
  const test::TempFolder folder;
  std::string parts[2];
  test::split_parts(bytes, parts);
  const std::string a = folder.write("a.csv", parts[0]);
  const std::string b = folder.write("b.csv", parts[1]);
  (void)read_results_csv(a);
  (void)check_perf_csv(a);
  (void)compare_perf_tables(a, b, folder.path("compared.csv"));
  auto rows = read_trace_rows(a);
  if (!rows.has_value())
    return;
  const std::size_t configurations = rows->size();
  if (!write_perf_table(folder.path("perf.csv"), *std::move(rows)))
    std::abort();
  const auto again = read_trace_rows(folder.path("perf.csv"));
  if (!again.has_value() || again->size() != configurations)
    std::abort();
}
