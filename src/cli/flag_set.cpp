#include "cli/flag_set.h"

#include "base/nearest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <utility>

namespace rankscope {
namespace {

/// Accepts finite numbers above 0, or also 0.
CLI::Validator finite_number(bool zero) {
  return {[zero](std::string& given) {
            double value = 0;
            const bool fits = CLI::detail::lexical_cast(given, value) && std::isfinite(value) &&
                              (zero ? value >= 0 : value > 0);
            return fits ? std::string()
                        : fmt::format("'{}' is not a number {}", given,
                                      zero ? "of 0 or more" : "above 0");
          },
          zero ? "NONNEGATIVE" : "POSITIVE"};
}

/// Rejects negative numbers, which CLI11 converts to large unsigned numbers.
CLI::Validator natural() {
  return {[](std::string& given) {
            return given.starts_with('-')
                       ? fmt::format("'{}' is not a whole number, 0 or more", given)
                       : std::string();
          },
          ""};
}

} // namespace

Flag& Flag::required() {
  option_->required();
  return *this;
}

Flag& Flag::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Flag& Flag::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Flag& Flag::one_of(std::vector<std::string> values) {
  const std::string type = CLI::IsMember(values).get_description();
  option_->check(CLI::Validator(
      [values = std::move(values)](std::string& given) -> std::string {
        if (std::find(values.begin(), values.end(), given) != values.end())
          return {};
        return fmt::format("'{}' is not one of {}{}", given, fmt::join(values, ", "),
                           did_you_mean(given, values));
      },
      type));
  return *this;
}

Flag& Flag::one_of_any_case(std::vector<std::string> values) {
  option_->transform(CLI::IsMember(std::move(values), CLI::ignore_case));
  return *this;
}

Flag& Flag::range(int from, int to) {
  option_->check(CLI::Range(from, to));
  return *this;
}

Flag& Flag::range(double from, double to) {
  option_->check(CLI::Range(from, to));
  return *this;
}

Flag& Flag::positive() {
  option_->check(finite_number(false));
  return *this;
}

Flag& Flag::not_negative() {
  option_->check(finite_number(true));
  return *this;
}

Flag& Flag::delimiter(char between) {
  option_->delimiter(between);
  return *this;
}

Flag& Flag::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Flag& Flag::expected(int least, int most) {
  option_->expected(least, most);
  return *this;
}

Flag& Flag::excludes(const Flag& other) {
  option_->excludes(other.option_);
  return *this;
}

Flag& Flag::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Flag& Flag::envname(const std::string& name) {
  option_->envname(name);
  return *this;
}

bool Flag::given() const {
  return option_->count() > 0;
}

template <class T>
Flag FlagSet::add_option(const std::string& names, T& value, const std::string& help) {
  CLI::Option& option = *app_->add_option(names, value, help);
  if constexpr (std::is_unsigned_v<T>)
    option.check(natural());
  return Flag(option);
}

template Flag FlagSet::add_option(const std::string&, std::string&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::vector<std::string>&,
                                  const std::string&);
template Flag FlagSet::add_option(const std::string&, int&, const std::string&);
template Flag FlagSet::add_option(const std::string&, unsigned&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::int64_t&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::uint64_t&, const std::string&);
template Flag FlagSet::add_option(const std::string&, double&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::optional<double>&, const std::string&);
template Flag FlagSet::add_option(const std::string&, std::optional<std::int64_t>&,
                                  const std::string&);
template Flag FlagSet::add_option(const std::string&, std::vector<std::int64_t>&,
                                  const std::string&);

Flag FlagSet::add_option_function(const std::string& names,
                                  const std::function<void(const std::string& value)>& use,
                                  const std::string& help) {
  return Flag(*app_->add_option_function<std::string>(names, use, help));
}

Flag FlagSet::add(const MebibyteOption& option, std::uint64_t& bytes, const char* help) {
  CLI::Option& added = *app_->add_option_function<std::uint64_t>(
      option.name, [&bytes](const std::uint64_t& mib) { bytes = mib << 20U; },
      help != nullptr ? help : option.help);
  return Flag(*added.check(natural()));
}

Flag FlagSet::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Flag(*app_->add_flag(names, value, help));
}

Flag FlagSet::add_flag(const std::string& names) {
  return Flag(*app_->add_flag(names));
}

void in_group(FlagSet& flags, const std::string& heading, const std::function<void()>& add) {
  const std::size_t before = flags.app().get_options().size();
  add();
  const std::vector<CLI::Option*> options = flags.app().get_options();
  for (std::size_t i = before; i < options.size(); ++i)
    if (!options[i]->get_positional() && options[i]->get_group() == "Options")
      options[i]->group(heading);
}

} // namespace rankscope
