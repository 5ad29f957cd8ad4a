// Flags of a command, declared next to their variables. Only a few files include the parser (CLI11,
// all in headers), because it took most of the compile time of each command.
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

/// A declared flag. Its checks and conditions apply while the arguments are parsed.
class Flag {
public:
  explicit Flag(CLI::Option& option) : option_(&option) {}

  Flag& required();
  Flag& capture_default_str();                ///< show the variable's value in help
  Flag& default_str(const std::string& text); ///< show this default in help
  Flag& one_of(std::vector<std::string> values);
  Flag&
  one_of_any_case(std::vector<std::string> values); ///< the variable gets the spelling in `values`
  Flag& range(int from, int to);
  Flag& range(double from, double to);
  Flag& positive();
  Flag& not_negative();
  Flag& delimiter(char between);           ///< separator of the items of a list in one argument
  Flag& group(const std::string& heading); ///< "": hidden in help
  Flag& expected(int least, int most);
  Flag& excludes(const Flag& other);
  Flag& type_name(const std::string& name);
  Flag& envname(const std::string& name); ///< environment variable with the default value

  [[nodiscard]] bool given() const; ///< valid after the arguments are parsed

private:
  CLI::Option* option_;
};

class FlagSet {
public:
  explicit FlagSet(CLI::App& app) : app_(&app) {}

  /// Adds an option. `names`: "-o,--output", or a word for an argument without a name. `value`
  /// outlives the parsing. T is a type that flag_set.cpp instantiates; a new type is a line there.
  template <class T>
  Flag add_option(const std::string& names, T& value, const std::string& help = "");
  Flag add_option_function(const std::string& names,
                           const std::function<void(const std::string& value)>& use,
                           const std::string& help);
  Flag add_flag(const std::string& names, bool& value, const std::string& help = "");
  Flag add_flag(const std::string& names); ///< accepted and ignored

  /// Adds a shared option. `help` replaces the option's own help.
  template <class T> Flag add(const Option& option, T& value, const char* help = nullptr) {
    const char* const text = help != nullptr ? help : option.help;
    if constexpr (std::is_same_v<T, bool>)
      return add_flag(option.names(), value, text);
    else
      return add_option(option.names(), value, text);
  }
  Flag add(const MebibyteOption& option, std::uint64_t& bytes, const char* help = nullptr);
  /// Adds a choice. `value` has the type of the words' values, and help shows the word for its
  /// current value. `value` may also be a std::optional of that type.
  template <class Value, class To>
  Flag add(const Choice<Value>& choice, To& value, const char* help = nullptr) {
    std::vector<std::string> words;
    std::string default_word;
    for (const auto& [word, meant] : choice.values) {
      words.emplace_back(word);
      if (value == To(meant))
        default_word = word;
    }
    const auto assign = [values = choice.values, &value](const std::string& given) {
      for (const auto& [word, meant] : values)
        if (given == word)
          value = meant;
    };
    return add_option_function(choice.name, assign, help != nullptr ? help : choice.help)
        .one_of(std::move(words))
        .default_str(default_word);
  }

  [[nodiscard]] CLI::App& app() const { return *app_; }

private:
  CLI::App* app_;
};

/// Shows the options that `add` adds under this heading in help.
void in_group(FlagSet& flags, const std::string& heading, const std::function<void()>& add);

} // namespace rankscope
