// Columns of cost and rates that several sheets share: model parameters, FLOPs, bytes, TB/s.
#pragma once

#include "analyses/group_stats.h"
#include "analyses/operators/python_cell.h"
#include "base/ascii.h"
#include "base/units.h"
#include "core/schema.h"

#include <limits>
#include <span>
#include <string>
#include <vector>

namespace rankscope {

/// Adds a column "param: NAME" for each of `names`. The values are Row::params (Python reprs);
/// `cell` converts a repr to a cell.
template <class Row>
void add_param_columns(Schema<Row>& schema, const std::vector<std::string>& names,
                       Value (*cell)(const std::string&) = python_cell) {
  for (std::size_t i = 0; i < names.size(); ++i)
    schema.add({"param_" + lowercase(names[i]), "param: " + names[i], Unit::kNone, CellKind::kNull,
                [i, cell](const Row& r) { return cell(r.params[i]); },
                "parameter of the cost model, from the recorded arguments"});
}

/// Adds columns for Row::flops, Row::bytes and their ratio. `suffix` ("_first") is appended to ids
/// and labels; `whose` is a phrase for the help, such as "a call".
template <class Row>
void add_cost_columns(Schema<Row>& schema, const std::string& suffix, const std::string& whose) {
  schema.add({"gflops" + suffix, "GFLOPS" + suffix, Unit::kGflops,
              [](const Row& r) { return r.flops / 1e9; },
              "number of floating-point operations of " + whose + ", in units of 10^9"});
  schema.add({"data_moved_mib" + suffix, "Data Moved (MB)" + suffix, Unit::kMiB,
              [](const Row& r) { return bytes_to_mib(r.bytes); },
              "data that " + whose + " has to read and write, in units of 2^20 bytes"});
  schema.add({"flops_per_byte" + suffix, "FLOPS/Byte" + suffix, Unit::kRatio,
              [](const Row& r) {
                return r.bytes != 0 ? r.flops / r.bytes : std::numeric_limits<double>::quiet_NaN();
              },
              "arithmetic intensity: floating-point operations per byte"});
}

/// Adds columns with the statistics of Row::tbps and Row::tflops.
template <class Row> void add_rate_columns(Schema<Row>& schema, std::span<const StatField> which) {
  add_stats(schema, "tb_per_s", "TB/s", Unit::kTBps, &Row::tbps, which,
            "bytes that a call reads and writes, divided by its kernel time, in 10^12 bytes per "
            "second; the header names the statistic over the calls");
  add_stats(schema, "tflops_per_s", "TFLOPS/s", Unit::kTflops, &Row::tflops, which,
            "floating-point operations of a call, divided by its kernel time; the header names the "
            "statistic over the calls");
}

} // namespace rankscope
