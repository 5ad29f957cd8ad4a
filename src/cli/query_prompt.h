// The output of `query`, and its prompt.
#pragma once

#include "app/query.h"
#include "cli/command.h"

namespace rankscope {

/// Prints results on standard output, one after the other; JSON results together as one report.
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
/// is printed before the next statement is read. From a pipe, the first error ends the input.
Result<void> query_prompt(Context& ctx, Query& query, QueryPrinter& printer);

} // namespace rankscope
