// RowStream: the rows of a table that does not fit in memory; they are made while they are written.
#pragma once

#include "base/noncopyable.h"
#include "base/result.h"
#include "core/report.h"
#include "core/table.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace rankscope {

class RowStream : public Interface {
public:
  using Take = std::function<Result<void>(const Table& some)>;

  [[nodiscard]] virtual std::size_t rows() const = 0;
  /// Passes the rows to `take` in their order, some thousand at a time, in tables with the columns
  /// of the streamed table. May be called again. Errors: those of `take` and of reading the rows.
  [[nodiscard]] virtual Result<void> each(const Take& take) const = 0;
};

/// Row streams by table name. The table in the Report has the columns and the notes, but no rows.
using RowStreams = std::map<std::string, std::shared_ptr<const RowStream>, std::less<>>;

[[nodiscard]] inline std::size_t rows_of(const Table& table, const RowStreams& streams) {
  const auto at = streams.find(table.name());
  return at == streams.end() ? table.rows() : at->second->rows();
}

/// Passes the rows of a table from its stream to `take`. A table without a stream is passed once,
/// complete.
[[nodiscard]] inline Result<void> each_rows(const Table& table, const RowStreams& streams,
                                            const RowStream::Take& take) {
  const auto at = streams.find(table.name());
  return at == streams.end() ? take(table) : at->second->each(take);
}

/// Reads all rows from the streams into the tables.
[[nodiscard]] inline Result<void> hold_rows(Report& report, const RowStreams& streams) {
  for (Table& table : report.tables) {
    const auto at = streams.find(table.name());
    if (at == streams.end())
      continue;
    RS_CHECK(at->second->each([&](const Table& some) -> Result<void> {
      std::vector<Value> row(some.cols());
      for (std::size_t r = 0; r < some.rows(); ++r) {
        for (std::size_t c = 0; c < row.size(); ++c)
          row[c] = some.at(r, c);
        table.add_row(row);
      }
      return {};
    }));
  }
  return {};
}

} // namespace rankscope
