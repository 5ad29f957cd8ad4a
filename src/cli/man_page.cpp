#include "cli/man_page.h"

#include "cli/help.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace rankscope {
namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string heading(const std::string& name, const std::string& about) {
  return fmt::format(".TH {} 1 \"\" \"rankscope {}\" \"rankscope\"\n.SH NAME\n{} \\- {}\n",
                     roff_text(name), RANKSCOPE_VERSION, roff_text(name), roff_text(about));
}

/// Returns the lines unchanged, in the font of a terminal.
std::string as_is(const std::string& text) {
  return ".nf\n" + roff_text(text) + (text.ends_with('\n') ? "" : "\n") + ".fi\n";
}

std::string option_entry(const CLI::Option& option, bool positional) {
  const HelpFormatter names;
  return fmt::format(".TP\n.B {}{}\n{}\n", roff_text(names.make_option_name(&option, positional)),
                     roff_text(names.make_option_opts(&option)),
                     roff_text(option.get_description()));
}

std::string arguments(const CLI::App& app) {
  std::string out;
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() && !option->get_group().empty())
      out += option_entry(*option, true);
  return out;
}

/// Returns the options of `group` in the order of their declaration.
std::string options_in(const CLI::App& app, const std::string& group) {
  std::string out;
  for (const CLI::Option* option : app.get_options())
    if (!option->get_positional() && option->get_group() == group)
      out += option_entry(*option, false);
  return out;
}

std::string options(const CLI::App& app) {
  std::string out;
  std::set<std::string> done = {""}; // hidden options have no group
  for (const CLI::Option* option : app.get_options())
    if (done.insert(option->get_group()).second)
      if (const std::string list = options_in(app, option->get_group()); !list.empty())
        out += fmt::format(".SS {}\n{}", roff_text(option->get_group()), list);
  return out;
}

std::string synopsis(const CLI::App& app, const std::string& name) {
  std::string out = fmt::format(".SH SYNOPSIS\n.B {}\n[OPTIONS]", roff_text(name));
  for (const CLI::Option* option : app.get_options())
    if (option->get_positional() && !option->get_group().empty())
      out += fmt::format(" {}", roff_text(option->get_single_name()));
  return out + (commands_of(app).empty() ? "\n" : " COMMAND\n");
}

std::string body(const CLI::App& app) {
  std::string out;
  if (const std::string list = arguments(app); !list.empty())
    out += ".SH ARGUMENTS\n" + list;
  for (const CLI::App* inner : commands_of(app))
    out += fmt::format(".SH COMMAND {}\n{}\n.PP\n{}{}", roff_text(inner->get_name()),
                       roff_text(inner->get_description()), arguments(*inner), options(*inner));
  out += ".SH OPTIONS\n" + options(app);
  return out;
}

ManPage command_page(const CLI::App& root, const CLI::App& command) {
  const std::string name = root.get_name() + "-" + command.get_name();
  std::string examples = command.get_footer();
  constexpr std::string_view kTitle = "Examples:\n";
  if (examples.rfind(kTitle, 0) == 0)
    examples.erase(0, kTitle.size());
  std::string out = heading(name, command.get_description());
  out += synopsis(command, root.get_name() + " " + command.get_name()) + body(command);
  out += ".SS Global options\n" + options_in(root, "Options");
  if (!examples.empty())
    out += ".SH EXAMPLES\n" + as_is(examples);
  out += fmt::format(".SH SEE ALSO\n.BR {} (1)\n", roff_text(root.get_name()));
  return {name + ".1", std::move(out)};
}

ManPage program_page(const CLI::App& root) {
  std::string out = heading(root.get_name(), root.get_description());
  out += synopsis(root, root.get_name()) + ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(root))
    out +=
        fmt::format(".TP\n.BR {} (1)\n{}\n", roff_text(root.get_name() + "-" + command->get_name()),
                    roff_text(command->get_description()));
  out += ".SH OPTIONS\n" + options(root);
  out += ".SH EXIT STATUS\n" + as_is(root.get_footer());
  return {root.get_name() + ".1", std::move(out)};
}

} // namespace

std::string roff_text(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\''))
      out += "\\&";
    line_start = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

std::vector<ManPage> man_pages(const CLI::App& root) {
  std::vector<ManPage> out = {program_page(root)};
  for (const CLI::App* command : commands_of(root))
    out.push_back(command_page(root, *command));
  return out;
}

} // namespace rankscope
