// Splits SQL text, typed or from a pipe, into statements. A semicolon ends a statement unless it is
// in a text, a quoted name, a comment or a $tag$ text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Takes text in pieces and returns statements as they end. The statements in order, with their
/// semicolons, are the text.
class StatementSplitter {
public:
  void add(std::string_view text);
  /// Returns the statements that have ended, without their semicolon. Leaves out statements of
  /// comments and blanks only.
  [[nodiscard]] std::vector<std::string> take();
  /// Returns the text after the last semicolon; empty if it has only blanks and comments. The
  /// splitter is empty afterwards.
  [[nodiscard]] std::string take_rest();
  /// Whether the next character is outside of texts, names and comments.
  [[nodiscard]] bool in_plain() const { return state_ == State::kPlain; }
  [[nodiscard]] bool in_name() const { return state_ == State::kName; }
  /// A statement has begun and not ended.
  [[nodiscard]] bool open() const { return has_words_ || state_ != State::kPlain; }

private:
  enum class State { kPlain, kText, kEscapeText, kName, kLine, kBlock, kDollar };
  void plain(char c);
  void inside(char c);
  void finish();

  State state_ = State::kPlain;
  std::string statement_;
  std::string tag_;       ///< of a $tag$ text, with both dollars
  std::size_t begun_ = 0; ///< where in the statement the present text or comment begins
  int depth_ = 0;         ///< of block comments
  bool escaped_ = false;  ///< the character before was a backslash of an E'' text
  bool has_words_ = false;
  std::vector<std::string> done_;
};

/// Returns all statements of a text, the last one with or without its semicolon.
[[nodiscard]] std::vector<std::string> split_statements(std::string_view text);

/// Returns every word and quoted name of a statement outside of texts and comments, lower case.
/// They include the tables that it names.
[[nodiscard]] std::set<std::string> words_of(std::string_view statement);

/// A text as SQL spells it: 'it''s'.
[[nodiscard]] std::string sql_text(std::string_view text);
/// A name as SQL spells it: "run".
[[nodiscard]] std::string sql_name(std::string_view name);

} // namespace rankscope
