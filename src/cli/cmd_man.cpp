// rankscope man: writes the manual pages, from the tables of commands and flags with which the
// program parses its arguments.
#include "cli/command.h"
#include "cli/man_page.h"
#include "os/output_file.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

namespace rankscope {
namespace {

struct ManArguments {
  std::string command;
  std::string folder;
};

Result<void> write_all(const std::vector<ManPage>& pages, const std::string& folder) {
  RS_CHECK(make_folder(folder));
  for (const ManPage& page : pages) {
    RS_CHECK(write_file((std::filesystem::path(folder) / page.file).string(), page.text));
  }
  return {};
}

Action setup_man(FlagSet& app) {
  auto given = std::make_shared<ManArguments>();
  app.add_option("command", given->command,
                 "print the page of this command as roff (default: the program's page)");
  app.add(options::output, given->folder, "write the pages of all commands into this folder");
  CLI::App* const self = &app.app();
  return [given, self](Context& ctx) -> Result<void> {
    const CLI::App& root = *self->get_parent();
    const std::vector<ManPage> pages = man_pages(root);
    if (!given->folder.empty())
      return write_all(pages, given->folder);
    const std::string wanted =
        root.get_name() + (given->command.empty() ? "" : "-" + given->command) + ".1";
    for (const ManPage& page : pages)
      if (page.file == wanted) {
        ctx.out(page.text);
        return {};
      }
    return Error{ErrorCode::kUsage, "man", fmt::format("no command {}", given->command),
                 "see rankscope --help"};
  };
}

} // namespace

const Command man_command{"man",
                          "print manual pages",
                          "  rankscope man report | man -l -\n"
                          "  rankscope man -o ~/.local/share/man/man1",
                          setup_man,
                          false,
                          true};

} // namespace rankscope
