// Flags of a command, declared where their variables are. The parser behind it (CLI11, all in
// headers) is seen by a few files alone: it took most of the time that each command takes to
// compile.
#pragma once

#include <functional>
#include <string>
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

  [[nodiscard]] CLI::App& app() const { return *app_; }

private:
  CLI::App* app_;
};

/// Puts the options that `add` adds under this heading in help.
void in_group(FlagSet& flags, const std::string& heading, const std::function<void()>& add);

} // namespace rankscope
