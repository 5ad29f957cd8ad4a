// Subcommands: flags are declared once in setup(); help, completion and parsing come from them.
#pragma once

#include "app/partial.h"
#include "base/result.h"
#include "cli/flag_set.h"
#include "engine/session.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rankscope {

class Progress;
class Table;
struct Report;

/// The state shared by all commands: the global flags and the console. Only src/cli prints.
class Context : public Session {
public:
  Context();
  ~Context() override;

  bool quiet = false;          ///< no notes on stderr
  bool json = false;           ///< machine-readable result on stdout
  bool strict = false;         ///< warnings count as partial
  bool problems_shown = false; ///< the diagnostics are on the terminal: do not print them again
  std::optional<int> program_status; ///< exit status of the command's program; becomes ours
  std::vector<std::string> program;  ///< program to run: the words after `--`, unchanged

  /// Prints on stdout; a control character in a name or path becomes '?'.
  void out(std::string_view text) const;
  /// Prints a table on stdout: as wide as the terminal and coloured, or plain in a pipe or file.
  void table(const Table& table, std::size_t max_rows = 20, std::size_t max_text = 48) const;
  /// Prints a page on stdout, unchanged and flushed. The caller must escape all text from a trace.
  void page(std::string_view text) const;
  /// Prints a JSON report on stdout, including the problems of the run so far.
  void report(Report report) const;
  void note(std::string_view line) const override; ///< stderr unless quiet, newline added
  void warn(std::string_view line) const override; ///< stderr, prefixed with "rankscope: warning: "
  void begin_progress(std::size_t traces, std::uint64_t bytes) override;
  void step_progress(std::uint64_t bytes) override;

  /// Flushes stdout. Returns false when stdout could not be written. It is not an error if the
  /// reader closed the pipe (`| head`).
  [[nodiscard]] bool finish_output() const;

private:
  void put(std::string_view text) const; ///< stdout, unchanged

  std::unique_ptr<Progress> progress_;
  mutable bool reader_left_ = false;
};

/// The work of a command after its flags are parsed.
struct Action {
  std::function<Result<void>(Context&)> run;
  /// Commands over ranks only: returns the runs or sweeps that the flags name, each for
  /// `options.wanted.front()`. Errors: kUsage, also for flags that `run` refuses.
  std::function<Result<std::vector<PartialRequest>>(const Context&)> runs = {};

  Action() = default;
  template <class Run>
  requires std::is_invocable_r_v < Result<void>,
  const Run&,
      Context& > Action(Run does, decltype(runs) has = {}) // NOLINT(google-explicit-constructor)
      : run(std::move(does)),
  runs(std::move(has)) {}
};

struct Command {
  const char* name;
  const char* help;
  const char* examples; ///< shown under --help, one per line
  Action (*setup)(FlagSet& app);
  bool runs_program = false; ///< `--` ends the command's own arguments and begins Context::program
  bool shows_all_commands = false; ///< the parent of its App has all commands with their flags
  bool reads_parts = false;        ///< represents the command that --as names
};

[[nodiscard]] std::span<const Command* const> commands();

#define RANKSCOPE_COMMAND(id) extern const Command id##_command;
#include "cli/commands.def"
#undef RANKSCOPE_COMMAND

/// Runs the program; returns the exit code. main() calls it.
int run_cli(int argc, char** argv);

} // namespace rankscope
