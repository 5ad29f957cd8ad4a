// What `query` prints, and its prompt.
#pragma once

#include "app/query.h"
#include "cli/command.h"

namespace rankscope {

/// Results on standard output, one after the other; those in JSON together as one report.
class QueryPrinter {
public:
  QueryPrinter(const Context& ctx, QueryFormat format, std::size_t rows)
      : ctx_(ctx), format_(format), rows_(rows) {}
  void print(Table result);
  /// Writes the buffered results.
  Result<void> finish();

private:
  const Context& ctx_;
  QueryFormat format_;
  std::size_t rows_;
  std::vector<Table> kept_;
};

/// Runs statements from standard input until its end. At a terminal there is a prompt, and an error
/// is printed before the next statement is read; from a pipe the first error ends it.
Result<void> query_prompt(Context& ctx, Query& query, QueryPrinter& printer);

} // namespace rankscope
