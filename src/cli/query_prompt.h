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
  /// What was kept until now.
  Result<void> finish();

private:
  const Context& ctx_;
  QueryFormat format_;
  std::size_t rows_;
  std::vector<Table> kept_;
};

/// Statements from standard input until its end: at a terminal with a prompt, where an error is
/// told and the next statement read; from a pipe the first error ends it.
Result<void> query_prompt(Context& ctx, Query& query, QueryPrinter& printer);

} // namespace rankscope
