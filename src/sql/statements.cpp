#include "sql/statements.h"

#include "base/ascii.h"

#include <utility>

namespace rankscope {
namespace {

bool word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

} // namespace

void StatementSplitter::finish() {
  if (has_words_)
    done_.push_back(std::move(statement_));
  statement_.clear();
  has_words_ = false;
}

void StatementSplitter::plain(char c) {
  const char before = statement_.empty() ? '\0' : statement_.back();
  const char before_that = statement_.size() < 2 ? '\0' : statement_[statement_.size() - 2];
  if (c == ';') {
    finish();
    return;
  }
  begun_ = statement_.size();
  statement_ += c;
  if (c == '\'') {
    const bool escapes = (before == 'e' || before == 'E') && !word_character(before_that);
    state_ = escapes ? State::kEscapeText : State::kText;
  } else if (c == '"') {
    state_ = State::kName;
  } else if (c == '-' && before == '-') {
    state_ = State::kLine;
    return;
  } else if (c == '*' && before == '/') {
    state_ = State::kBlock;
    depth_ = 1;
    return;
  } else if (c == '$') {
    // this may be the second dollar sign of $tag$, where tag consists of letters, digits and _, or
    // is empty
    std::size_t first = begun_;
    while (first > 0 && word_character(statement_[first - 1]))
      --first;
    const bool opened = first > 0 && statement_[first - 1] == '$' &&
                        (first == begun_ || statement_[first] < '0' || statement_[first] > '9') &&
                        (first < 2 || !word_character(statement_[first - 2]));
    if (opened) {
      tag_ = statement_.substr(first - 1);
      state_ = State::kDollar;
    }
  }
  // a dash or a slash may begin a comment; the next character decides
  if (!blank(c) && c != '-' && c != '/')
    has_words_ = true;
}

void StatementSplitter::inside(char c) {
  statement_ += c;
  const std::size_t size = statement_.size();
  switch (state_) {
  case State::kText:
  case State::kName: // a doubled quote ends a text and begins another one, so no special case is
                     // needed
    if (c == (state_ == State::kText ? '\'' : '"'))
      state_ = State::kPlain;
    return;
  case State::kEscapeText:
    if (!escaped_ && c == '\'')
      state_ = State::kPlain;
    escaped_ = !escaped_ && c == '\\';
    return;
  case State::kLine:
    if (c == '\n')
      state_ = State::kPlain;
    return;
  case State::kBlock:
    if (size < begun_ + 3) // this star is still part of the start of the comment
      return;
    if (c == '/' && statement_[size - 2] == '*') {
      begun_ = size - 1;
      if (--depth_ == 0)
        state_ = State::kPlain;
    } else if (c == '*' && statement_[size - 2] == '/') {
      begun_ = size - 1;
      ++depth_;
    }
    return;
  case State::kDollar:
    if (c == '$' && size >= begun_ + 1 + tag_.size() && statement_.ends_with(tag_))
      state_ = State::kPlain;
    return;
  case State::kPlain:
    return;
  }
}

void StatementSplitter::add(std::string_view text) {
  for (const char c : text)
    if (state_ == State::kPlain)
      plain(c);
    else
      inside(c);
}

std::vector<std::string> StatementSplitter::take() {
  return std::exchange(done_, {});
}

std::string StatementSplitter::take_rest() {
  std::string rest = has_words_ ? std::move(statement_) : std::string();
  *this = StatementSplitter();
  return rest;
}

std::vector<std::string> split_statements(std::string_view text) {
  StatementSplitter splitter;
  splitter.add(text);
  std::vector<std::string> out = splitter.take();
  if (std::string rest = splitter.take_rest(); !rest.empty())
    out.push_back(std::move(rest));
  return out;
}

std::set<std::string> words_of(std::string_view statement) {
  std::set<std::string> out;
  StatementSplitter splitter;
  std::string word;
  std::string before; // the word before, if only blanks are between
  const auto end_word = [&] {
    if (word.empty())
      return;
    std::string lower = lowercase(word);
    if (before != "as")
      out.insert(lower);
    before = std::move(lower);
    word.clear();
  };
  for (std::size_t i = 0; i < statement.size(); ++i) {
    const bool name = splitter.in_name();
    const bool plain = splitter.in_plain();
    splitter.add(statement.substr(i, 1));
    const bool goes_on = name ? splitter.in_name() : plain && word_character(statement[i]);
    if (goes_on && (name || splitter.in_plain()))
      word += statement[i];
    else
      end_word();
    if (statement[i] == '(')
      before.clear();
  }
  end_word();
  return out;
}

std::string sql_text(std::string_view text) {
  return in_quotes(text, '\'');
}

std::string sql_name(std::string_view name) {
  return in_quotes(name);
}

} // namespace rankscope
