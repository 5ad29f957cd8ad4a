#include "cli/help.h"

#include "base/nearest.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

namespace rankscope {
namespace {

constexpr std::size_t kWidth = 80;

/// Returns `text` in lines of at most kWidth columns. All lines except the first are indented. A
/// long list breaks after a comma.
std::string wrapped(const std::string& text, std::size_t first_column, std::size_t indent) {
  std::string out;
  std::size_t column = first_column;
  const auto put = [&](const std::string& word) {
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  };
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    for (std::size_t comma = 0; indent + word.size() > kWidth &&
                                (comma = word.rfind(',', kWidth - indent - 1)) != std::string::npos;
         word.erase(0, comma + 1))
      put(word.substr(0, comma + 1));
    put(word);
  }
  return out;
}

/// Returns a command of an example on several lines, in shell syntax.
std::string continued(std::string line) {
  std::string out;
  while (line.size() > kWidth) {
    const std::size_t space = line.rfind(' ', kWidth - 2);
    if (space == std::string::npos || space < 8)
      break;
    out += line.substr(0, space) + " \\\n";
    line = "      " + line.substr(space + 1);
  }
  return out + line;
}

/// Returns an option by name. CLI11's get_option_no_throw() ends the program if there is no memory
/// to copy the names.
const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* option : app.get_options())
    if (option->check_name(word))
      return option;
  return nullptr;
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(sub->get_name());
  return out;
}

/// Returns "Could not convert: --top-k = abc" as a sentence; empty for any other `text`.
std::string wrong_number(const CLI::App& app, const std::vector<const CLI::App*>& used,
                         const std::string& text) {
  constexpr std::string_view kBegin = "Could not convert: ";
  const std::size_t between = text.find(" = ");
  if (!text.starts_with(kBegin) || between == std::string::npos)
    return "";
  const std::string name = text.substr(kBegin.size(), between - kBegin.size());
  const CLI::Option* option = option_named(app, name);
  for (const CLI::App* sub : used)
    option = option == nullptr ? option_named(*sub, name) : option;
  const std::string type = option == nullptr ? "" : option->get_type_name();
  const char* const needed = type.starts_with("UINT")    ? "a whole number, 0 or more"
                             : type.starts_with("INT")   ? "a whole number"
                             : type.starts_with("FLOAT") ? "a number"
                                                         : nullptr;
  if (needed == nullptr)
    return "";
  return fmt::format("{} needs {}, not '{}'", name, needed, text.substr(between + 3));
}

} // namespace

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty())
      continue;
    for (const std::string& name : option->get_lnames())
      out.push_back("--" + name);
  }
  return out;
}

std::string HelpFormatter::make_option(const CLI::Option* option, bool positional) const {
  std::string name = "  " + make_option_name(option, positional) +
                     make_option_opts(option); // the type, its values and the default
  const std::string text = make_option_desc(option);
  const std::size_t column = get_column_width();
  if (text.empty())
    return wrapped(name, 0, 4) + "\n";
  std::string out;
  if (name.size() > kWidth)
    name = "  " + wrapped(name, 2, 6);
  if (name.size() + 2 <= column) {
    name.resize(column, ' ');
    out = name;
  } else {
    out = name + "\n" + std::string(column, ' ');
  }
  return out + wrapped(text, column, column) + "\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  if (option->get_type_size() == 0 || option->get_items_expected_min() > 0)
    return CLI::Formatter::make_option_opts(option);
  return " [" + option->get_type_name() + "]";
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::string name = "  " + command->get_display_name();
  name.resize(std::max(get_column_width(), name.size() + 2), ' ');
  return name + wrapped(command->get_description(), name.size(), get_column_width()) + "\n";
}

std::string HelpFormatter::make_footer(const CLI::App* app) const {
  std::string out;
  if (const CLI::App* root = app->get_parent(); root != nullptr) {
    while (root->get_parent() != nullptr)
      root = root->get_parent();
    std::vector<const CLI::Option*> global;
    for (const CLI::Option* option : root->get_options())
      if (!option->get_group().empty() && option != root->get_help_ptr())
        global.push_back(option);
    out = make_group("Global options", false, global);
  }
  out += '\n';
  std::istringstream lines(CLI::Formatter::make_footer(app));
  for (std::string line; std::getline(lines, line);)
    out += continued(line) + '\n';
  return out;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  std::string out; // with one empty line between groups
  for (const char c : text)
    if (c != '\n' || !out.ends_with("\n\n"))
      out += c;
  return out;
}

std::vector<std::string> values_of(const CLI::Option& option) {
  // an IsMember check shows its set in the type: TEXT:{xlsx,csv,json}
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  std::vector<std::string> out;
  if (open == std::string::npos || close == std::string::npos || close < open)
    return out;
  std::istringstream in(type.substr(open + 1, close - open - 1));
  for (std::string value; std::getline(in, value, ',');)
    out.push_back(value);
  return out;
}

std::string command_word(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word.empty() || word[0] != '-')
      return word;
    if (const CLI::Option* option = option_named(app, word);
        option != nullptr && option->get_items_expected_min() > 0)
      ++i; // skips its value
  }
  return "";
}

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<const CLI::App*> used = [&app] {
    std::vector<const CLI::App*> out;
    for (const CLI::App* sub : app.get_subcommands())
      out.push_back(sub);
    return out;
  }();
  const std::string before = used.empty() ? "" : used.front()->get_name() + ": ";
  // An unknown option is named first, because it may be the reason for the other error. A wrong
  // value of an option is named before it: with `reduce --as`, the value decides which options
  // exist.
  const bool wrong_value = dynamic_cast<const CLI::ValidationError*>(&error) != nullptr &&
                           std::string_view(error.what()).starts_with('-');
  std::vector<std::string> known = flags_of(app);
  for (const CLI::App* sub : used)
    for (std::string& flag : flags_of(*sub))
      known.push_back(std::move(flag));
  for (const std::string& word : app.remaining(true))
    if (!wrong_value && word.size() > 1 && word[0] == '-')
      return fmt::format("{}no option {}{}", before, word,
                         did_you_mean(word.substr(0, word.find('=')), known));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : app.remaining(true)) {
      const std::vector<std::string> inner =
          used.empty() ? std::vector<std::string>{} : names_of_commands(*used.front());
      return fmt::format("{}'{}' was not expected here{}", before, word, did_you_mean(word, inner));
    }
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr)
    if (const std::string text = wrong_number(app, used, error.what()); !text.empty())
      return before + text;
  if (used.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return fmt::format("needs a command: {}", fmt::join(names_of_commands(app), ", "));
  return before + error.what();
}

std::vector<std::string> lists_spelled_out(const CLI::App& command,
                                           const std::vector<std::string>& arguments) {
  const auto is_list = [](const CLI::Option& option) {
    return option.get_items_expected_max() > 1 && !option.get_lnames().empty();
  };
  const auto is_number = [](const std::string& word) {
    return !word.empty() && word.find_first_not_of("0123456789,") == std::string::npos;
  };
  const auto options = command.get_options();
  const bool takes_files = std::any_of(options.begin(), options.end(),
                                       [](const CLI::Option* o) { return o->get_positional(); });
  std::vector<std::string> out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    out.push_back(word);
    if (word == "--") {
      out.insert(out.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                 arguments.end());
      break;
    }
    const CLI::Option* option =
        word.size() > 1 && word[0] == '-' ? option_named(command, word) : nullptr;
    if (option == nullptr || !is_list(*option) || i + 1 >= arguments.size())
      continue;
    out.push_back(arguments[++i]);
    const bool numbers = option->get_type_name().rfind("INT", 0) == 0 ||
                         option->get_type_name().rfind("UINT", 0) == 0;
    for (; i + 1 < arguments.size(); ++i) {
      const std::string& next = arguments[i + 1];
      std::error_code ec;
      const bool is_value = numbers ? is_number(next)
                                    : !next.empty() && next[0] != '-' &&
                                          !(takes_files && std::filesystem::exists(next, ec));
      if (!is_value)
        break;
      out.push_back(word);
      out.push_back(next);
    }
  }
  return out;
}

void take_one_text_each(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (!option->get_lnames().empty() || !option->get_snames().empty())
      option->allow_extra_args(false);
  for (CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    take_one_text_each(*sub);
}

} // namespace rankscope
