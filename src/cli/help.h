// How help looks and what is said of words that the program does not know.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace rankscope {

/// Help within 80 columns; the help of a subcommand ends with the global options.
class HelpFormatter : public CLI::Formatter {
public:
  [[nodiscard]] std::string make_option(const CLI::Option* option, bool positional) const override;
  [[nodiscard]] std::string make_subcommand(const CLI::App* command) const override;
  [[nodiscard]] std::string make_footer(const CLI::App* app) const override;
  [[nodiscard]] std::string make_help(const CLI::App* app, std::string name,
                                      CLI::AppFormatMode mode) const override;
};

/// Long flags that --help shows, with their dashes.
[[nodiscard]] std::vector<std::string> flags_of(const CLI::App& app);

/// The values that an option takes, if it has a list of them; otherwise empty.
[[nodiscard]] std::vector<std::string> values_of(const CLI::Option& option);

/// The first word among the arguments that names a subcommand, or could: flags and the values of
/// global options are skipped. "" without one.
[[nodiscard]] std::string command_word(const CLI::App& app,
                                       const std::vector<std::string>& arguments);

/// What is wrong with arguments that could not be parsed, with the nearest command or option where
/// there is one; a line.
[[nodiscard]] std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

/// Each use of a named option takes one text (a list is written a,b or by repeating the option), so
/// that it does not take the file behind it too.
void take_one_text_each(CLI::App& app);

/// Lists in the way of the scripts (`--threads 256 512`) as repeated options. A number behind a
/// list of numbers belongs to it; a word behind a list of words does unless the command takes files
/// and the word names one.
[[nodiscard]] std::vector<std::string> lists_spelled_out(const CLI::App& command,
                                                         const std::vector<std::string>& arguments);

} // namespace rankscope
