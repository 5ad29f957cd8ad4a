// Tests where statements end, and that no part of the text is lost.
#include "sql/statements.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

using Texts = std::vector<std::string>;

TEST(Statements, SemicolonsInTextsNamesAndCommentsEndNothing) {
  EXPECT_EQ(split_statements("SELECT 1; SELECT 2"), (Texts{"SELECT 1", " SELECT 2"}));
  EXPECT_EQ(split_statements("SELECT 'a;''b;', \"c;\"\"d\""),
            (Texts{"SELECT 'a;''b;', \"c;\"\"d\""}));
  EXPECT_EQ(split_statements("SELECT 1 -- a; b\n, 2; x"), (Texts{"SELECT 1 -- a; b\n, 2", " x"}));
  EXPECT_EQ(split_statements("a /* ; /* ; */ ; */ b; c"), (Texts{"a /* ; /* ; */ ; */ b", " c"}));
  EXPECT_EQ(split_statements("a /*/ ; */ b; c"), (Texts{"a /*/ ; */ b", " c"}));
  EXPECT_EQ(split_statements("SELECT E'a\\';b'; c"), (Texts{"SELECT E'a\\';b'", " c"}));
  // the backslash is not an escape here
  EXPECT_EQ(split_statements("SELECT 'a\\'; c"), (Texts{"SELECT 'a\\'", " c"}));
  EXPECT_EQ(split_statements("SELECT $$a;b$$, $t$;$$;$t$; c"),
            (Texts{"SELECT $$a;b$$, $t$;$$;$t$", " c"}));
  EXPECT_EQ(split_statements("SELECT $1; c"), (Texts{"SELECT $1", " c"}));
  EXPECT_EQ(split_statements("SELECT 8-3; c"), (Texts{"SELECT 8-3", " c"}));
}

TEST(Statements, CommentsAndBlanksAloneAreNone) {
  EXPECT_EQ(split_statements(" ;;\n -- nothing\n;"), Texts{});
  EXPECT_EQ(split_statements("/* nothing */"), Texts{});
  EXPECT_EQ(split_statements(""), Texts{});
}

TEST(Statements, TextMayComeInAnyPieces) {
  const std::string text = "SELECT 'a;b' /* ; */; SELECT $x$;$x$ -- ;\n; SELECT E'\\';'";
  for (std::size_t step = 1; step < text.size(); ++step) {
    StatementSplitter splitter;
    Texts got;
    for (std::size_t at = 0; at < text.size(); at += step) {
      splitter.add(std::string_view(text).substr(at, step));
      for (std::string& statement : splitter.take())
        got.push_back(std::move(statement));
    }
    if (std::string rest = splitter.take_rest(); !rest.empty())
      got.push_back(std::move(rest));
    EXPECT_EQ(got, split_statements(text)) << step;
  }
}

TEST(Statements, AnOpenStatementIsKnown) {
  StatementSplitter splitter;
  EXPECT_FALSE(splitter.open());
  splitter.add("SELECT '");
  EXPECT_TRUE(splitter.open());
  splitter.add(";");
  EXPECT_TRUE(splitter.open());
  splitter.add("';\n");
  EXPECT_FALSE(splitter.open());
}

TEST(Statements, WordsAreThoseOutsideOfTextsAndComments) {
  EXPECT_EQ(words_of("SELECT a.B FROM Kernels AS a JOIN \"Odd name\" USING (x) -- ranks\n"
                     "WHERE t = 'steps' /* idle */ AND y IN (FROM steps_1)"),
            (std::set<std::string>{"select", "a", "b", "from", "kernels", "as", "join", "odd name",
                                   "using", "x", "where", "t", "and", "y", "in", "steps_1"}));
  // a column may have the name of a table
  EXPECT_EQ(
      words_of("WITH w AS (FROM idle) SELECT count(*) AS kernels, sum(n) AS \"steps\" FROM w"),
      (std::set<std::string>{"with", "w", "as", "from", "idle", "select", "count", "sum", "n"}));
}

TEST(Statements, QuotesAreDoubled) {
  EXPECT_EQ(sql_text("it's"), "'it''s'");
  EXPECT_EQ(sql_name("a\"b"), "\"a\"\"b\"");
}

} // namespace
} // namespace rankscope
