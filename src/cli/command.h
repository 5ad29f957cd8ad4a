// Subcommands: flags are declared once in setup(); help, completion and parsing come from them.
#pragma once

#include "base/diagnostics.h"
#include "base/result.h"

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace rankscope {

/// What every command shares: the global flags and the console. Only src/cli prints.
struct Context {
  unsigned threads = 1;    ///< -j, already resolved to at least 1
  bool quiet = false;      ///< no notes on stderr
  bool json = false;       ///< machine-readable result on stdout
  bool strict = false;     ///< warnings count as partial
  bool partial = false;    ///< set by a command: exit 4 at the end
  Diagnostics diagnostics; ///< printed as a summary at the end; data loss makes exit 4

  void out(std::string_view text) const;  ///< stdout, as is
  void note(std::string_view line) const; ///< stderr unless quiet, newline added
  void warn(std::string_view line) const; ///< stderr, "rankscope: warning: " in front
};

using Action = std::function<Result<void>(Context&)>;

struct Command {
  const char* name;
  const char* help;
  const char* examples; ///< shown under --help, one per line
  Action (*setup)(CLI::App& app);
};

[[nodiscard]] std::span<const Command* const> commands();

#define RANKSCOPE_COMMAND(id) extern const Command id##_command;
#include "cli/commands.def"
#undef RANKSCOPE_COMMAND

/// The whole program; returns the exit code. main() calls it.
int run_cli(int argc, char** argv);

} // namespace rankscope
