// Input: SQL text that is split into statements. The result must not depend on the pieces in which
// the text arrives, and must contain only text of the input.
#include "fuzz/fuzz_target.h"
#include "sql/statements.h"

#include <cstdlib>

RS_FUZZ_TARGET(sql_statements) {
  const std::string text(bytes);
  const std::vector<std::string> complete = rankscope::split_statements(text);
  rankscope::StatementSplitter splitter;
  std::vector<std::string> pieces;
  for (const char c : text) {
    splitter.add(std::string_view(&c, 1));
    for (std::string& statement : splitter.take())
      pieces.push_back(std::move(statement));
  }
  if (std::string rest = splitter.take_rest(); !rest.empty())
    pieces.push_back(std::move(rest));
  if (pieces != complete)
    std::abort();
  for (const std::string& statement : complete)
    if (text.find(statement) == std::string::npos)
      std::abort();
  (void)rankscope::words_of(text);
}
