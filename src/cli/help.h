// The layout of help, and messages about words that the program does not know.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rankscope {

/// Formats help within 80 columns; the help of a subcommand ends with the global options.
class HelpFormatter : public CLI::Formatter {
public:
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool positional) const override;
  /// Shows an optional value in brackets, and not as a default: without the option, it is not used.
  [[nodiscard]] std::string make_option_opts(const CLI::Option* option) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

/// Returns the long flags that --help shows, with their dashes.
[[nodiscard]] std::vector<std::string> flags_of(const CLI::App& app);

/// Returns the list of values that an option accepts; empty if it has no such list.
[[nodiscard]] std::vector<std::string> values_of(const CLI::Option& option);

/// Returns the first argument that names a subcommand, or could name one. Flags and the values of
/// global options are skipped. "" if there is no such word.
[[nodiscard]] std::string command_word(const CLI::App& app,
                                       const std::vector<std::string>& arguments);

/// Returns one line about arguments that could not be parsed, with the nearest command or option if
/// there is one.
[[nodiscard]] std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

/// Makes each use of a named option accept one text (a list is written a,b or by repeating the
/// option), so that the option does not consume the file after it.
void take_one_text_each(CLI::App& app);

/// Rewrites lists in the style of the scripts (`--threads 256 512`) as repeated options. A number
/// after a list of numbers belongs to the list. So does a word after a list of words, unless the
/// command accepts files and the word names a file.
[[nodiscard]] std::vector<std::string> lists_spelled_out(const CLI::App& command,
                                                         const std::vector<std::string>& arguments);

} // namespace rankscope
