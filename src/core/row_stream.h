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
  /// Hands over the rows in their order, some thousand at a time, in tables with the columns of the
  /// one they belong to. May be called again. Errors: those of `take`, and of reading them.
  [[nodiscard]] virtual Result<void> each(const Take& take) const = 0;
};

/// By the name of a table of a Report, which has the columns and the notes, and no rows.
using RowStreams = std::map<std::string, std::shared_ptr<const RowStream>, std::less<>>;

[[nodiscard]] inline std::size_t rows_of(const Table& table, const RowStreams& streams) {
  const auto at = streams.find(table.name());
  return at == streams.end() ? table.rows() : at->second->rows();
}

/// Hands over the rows of a table from its stream; a table without a stream is handed over once,
/// complete.
[[nodiscard]] inline Result<void> each_rows(const Table& table, const RowStreams& streams,
                                            const RowStream::Take& take) {
  const auto at = streams.find(table.name());
  return at == streams.end() ? take(table) : at->second->each(take);
}

/// Puts all rows into the tables.
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
