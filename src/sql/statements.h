// Splits SQL text into statements; the text may be typed or read from a pipe. A semicolon ends a
// statement unless it is inside a text, a quoted name, a comment or a $tag$ text.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

/// Collects pieces of text and returns complete statements. All statements, joined in order with
/// their semicolons, are equal to the collected text.
class StatementSplitter {
public:
  void add(std::string_view text);
  /// Returns the statements that are complete, without their semicolons. Statements that contain
  /// only comments and blanks are omitted.
  [[nodiscard]] std::vector<std::string> take();
  /// Returns the text after the last semicolon; empty if it contains only blanks and comments.
  /// Afterwards, the splitter is empty.
  [[nodiscard]] std::string take_rest();
  /// Returns whether the next character is outside of texts, quoted names and comments.
  [[nodiscard]] bool in_plain() const { return state_ == State::kPlain; }
  [[nodiscard]] bool in_name() const { return state_ == State::kName; }
  /// Returns whether a statement has begun and has not ended yet.
  [[nodiscard]] bool open() const { return has_words_ || state_ != State::kPlain; }

private:
  enum class State { kPlain, kText, kEscapeText, kName, kLine, kBlock, kDollar };
  void plain(char c);
  void inside(char c);
  void finish();

  State state_ = State::kPlain;
  std::string statement_;
  std::string tag_;       ///< delimiter of a $tag$ text, with both dollar signs
  std::size_t begun_ = 0; ///< position in the statement at which the current text or comment begins
  int depth_ = 0;         ///< nesting depth of block comments
  bool escaped_ = false;  ///< the previous character was a backslash in an E'' text
  bool has_words_ = false;
  std::vector<std::string> done_;
};

/// Returns all statements of a text; the last one may have no semicolon.
[[nodiscard]] std::vector<std::string> split_statements(std::string_view text);

/// Returns the words and quoted names of a statement in lower case, except those in texts and
/// comments and those after AS. The names of its tables are among them.
[[nodiscard]] std::set<std::string> words_of(std::string_view statement);

/// Returns a text as an SQL literal: 'it''s'.
[[nodiscard]] std::string sql_text(std::string_view text);
/// Returns a name as an SQL identifier: "run".
[[nodiscard]] std::string sql_name(std::string_view name);

} // namespace rankscope
