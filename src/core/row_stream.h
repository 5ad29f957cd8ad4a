// RowStream: the rows of a table that does not fit in memory; each row is made when it is written.
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
  using Use = std::function<Result<void>(const Table& some)>;

  [[nodiscard]] virtual std::size_t rows() const = 0;
  /// Passes the rows in order to `use`, in tables of some thousand rows with the columns of the
  /// table. It may be called several times. Errors: those of `use` and of reading the rows.
  [[nodiscard]] virtual Result<void> each(const Use& use) const = 0;
};

/// Row streams by table name. The Report contains the columns and notes of such a table, but no
/// rows.
using RowStreams = std::map<std::string, std::shared_ptr<const RowStream>, std::less<>>;

[[nodiscard]] inline std::size_t rows_of(const Table& table, const RowStreams& streams) {
  const auto at = streams.find(table.name());
  return at == streams.end() ? table.rows() : at->second->rows();
}

/// Passes the rows of a table to `use`. If the table has no stream, `use` is called once with the
/// complete table.
[[nodiscard]] inline Result<void> each_rows(const Table& table, const RowStreams& streams,
                                            const RowStream::Use& use) {
  const auto at = streams.find(table.name());
  return at == streams.end() ? use(table) : at->second->each(use);
}

/// Reads all rows from the streams and adds them to the tables.
[[nodiscard]] inline Result<void> load_rows(Report& report, const RowStreams& streams) {
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
