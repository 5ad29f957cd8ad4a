// Flags of a command, declared where their variables are. The parser behind it (CLI11, all in
// headers) is seen by a few files alone: it took most of the time that each command takes to
// compile.
#pragma once

#include "cli/options.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace rankscope {

/// A declared flag; what is said of it is checked while the arguments are parsed.
class Flag {
public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  Flag& required();
  Flag& capture_default_str();                ///< help shows the variable's value
  Flag& default_str(const std::string& text); ///< help shows this as default
  Flag& one_of(std::vector<std::string> values);
  Flag&
  one_of_any_case(std::vector<std::string> values); ///< the variable gets the spelling given here
  Flag& range(int from, int to);
  Flag& range(double from, double to);
  Flag& positive();
  Flag& not_negative();
  Flag& delimiter(char between);           ///< of the items of a list in one argument
  Flag& group(const std::string& heading); ///< "": not in help
  Flag& expected(int least, int most);
  Flag& excludes(const Flag& other);
  Flag& type_name(const std::string& name);
  Flag& envname(const std::string& name); ///< variable that gives the value where no flag does

  [[nodiscard]] bool given() const; ///< once the arguments are parsed

private:
  CLI::Option* option_;
};

class FlagSet {
public:
  explicit FlagSet(CLI::App& app) : app_(&app) {}

  /// `names`: "-o,--output", or a word for an argument without a name. `value` outlives the
  /// parsing. Types: those that flag_set.cpp instantiates; a new one is a line there.
  template <class T>
  Flag add_option(const std::string& names, T& value, const std::string& help = "");
  Flag add_option_function(const std::string& names,
                           const std::function<void(const std::string& value)>& take,
                           const std::string& help);
  Flag add_flag(const std::string& names, bool& value, const std::string& help = "");
  Flag add_flag(const std::string& names); ///< taken and ignored

  /// `help`: in place of the flag's own.
  template <class T> Flag add(const Option& of, T& value, const char* help = nullptr) {
    const char* const text = help != nullptr ? help : of.help;
    if constexpr (std::is_same_v<T, bool>)
      return add_flag(of.names(), value, text);
    else
      return add_option(of.names(), value, text);
  }
  Flag add(const MebibyteOption& of, std::uint64_t& bytes, const char* help = nullptr);
  /// `value`: of the words' type, where help shows the word that it has, or optional.
  template <class Value, class To>
  Flag add(const Choice<Value>& of, To& value, const char* help = nullptr) {
    std::vector<std::string> words;
    std::string own;
    for (const auto& [word, meant] : of.values) {
      words.emplace_back(word);
      if (value == To(meant))
        own = word;
    }
    const auto take = [values = of.values, &value](const std::string& given) {
      for (const auto& [word, meant] : values)
        if (given == word)
          value = meant;
    };
    return add_option_function(of.name, take, help != nullptr ? help : of.help)
        .one_of(std::move(words))
        .default_str(own);
  }

  [[nodiscard]] CLI::App& app() const { return *app_; }

private:
  CLI::App* app_;
};

/// Puts the options that `add` adds under this heading in help.
void in_group(FlagSet& flags, const std::string& heading, const std::function<void()>& add);

} // namespace rankscope
