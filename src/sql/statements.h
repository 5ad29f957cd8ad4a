// Splits SQL text, typed or from a pipe, into statements. A semicolon ends a statement unless it is
// in a text, a quoted name, a comment or a $tag$ text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Collects pieces of text and returns complete statements. All statements in order, with their
/// semicolons, are the text.
class StatementSplitter {
public:
  void add(std::string_view text);
  /// Returns the statements that are complete, without their semicolons. Omits statements with only
  /// comments and blanks.
  [[nodiscard]] std::vector<std::string> take();
  /// Returns the text after the last semicolon; empty if it has only blanks and comments.
  /// Afterwards the splitter is empty.
  [[nodiscard]] std::string take_rest();
  /// Returns whether the next character is outside texts, names and comments.
  [[nodiscard]] bool in_plain() const { return state_ == State::kPlain; }
  [[nodiscard]] bool in_name() const { return state_ == State::kName; }
  /// Returns whether a statement has begun but not ended.
  [[nodiscard]] bool open() const { return has_words_ || state_ != State::kPlain; }

private:
  enum class State { kPlain, kText, kEscapeText, kName, kLine, kBlock, kDollar };
  void plain(char c);
  void inside(char c);
  void finish();

  State state_ = State::kPlain;
  std::string statement_;
  std::string tag_;       ///< delimiter of a $tag$ text, with both dollar signs
  std::size_t begun_ = 0; ///< start of the current text or comment within the statement
  int depth_ = 0;         ///< nesting depth of block comments
  bool escaped_ = false;  ///< the previous character was a backslash in an E'' text
  bool has_words_ = false;
  std::vector<std::string> done_;
};

/// Returns all statements of a text, the last one with or without its semicolon.
[[nodiscard]] std::vector<std::string> split_statements(std::string_view text);

/// Returns the words and quoted names of a statement outside texts and comments, in lower case.
/// They include the tables that it names.
[[nodiscard]] std::set<std::string> words_of(std::string_view statement);

/// Returns a text as an SQL literal: 'it''s'.
[[nodiscard]] std::string sql_text(std::string_view text);
/// Returns a name as an SQL identifier: "run".
[[nodiscard]] std::string sql_name(std::string_view name);

} // namespace rankscope
