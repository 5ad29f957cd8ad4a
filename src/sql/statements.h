// SQL text cut into statements, as people type them and as pipes bring them: a semicolon ends one
// unless it stands in a text, a quoted name, a comment or a $tag$ text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Takes text as it comes and gives statements as they end. The pieces in order, with their
/// semicolons, are the text.
class StatementSplitter {
public:
  void add(std::string_view text);
  /// The statements that have ended, without their semicolon; those of comments and blanks alone
  /// are left out.
  [[nodiscard]] std::vector<std::string> take();
  /// What stands behind the last semicolon; empty when that is blanks and comments alone. The
  /// splitter is empty afterwards.
  [[nodiscard]] std::string take_rest();
  /// What the next character belongs to.
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

/// All statements of a text, the last one with or without its semicolon.
[[nodiscard]] std::vector<std::string> split_statements(std::string_view text);

/// Every word and quoted name of a statement outside of texts and comments, lower case: the tables
/// that it names are among them.
[[nodiscard]] std::set<std::string> words_of(std::string_view statement);

/// A text as SQL spells it: 'it''s'.
[[nodiscard]] std::string sql_text(std::string_view text);
/// A name as SQL spells it: "run".
[[nodiscard]] std::string sql_name(std::string_view name);

} // namespace rankscope
