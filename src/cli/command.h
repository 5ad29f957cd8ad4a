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

/// What every command shares: the global flags and the console. Only src/cli prints.
class Context : public Session {
public:
  Context();
  ~Context() override;

  bool quiet = false;                ///< no notes on stderr
  bool json = false;                 ///< machine-readable result on stdout
  bool strict = false;               ///< warnings count as partial
  bool problems_shown = false;       ///< the terminal has the diagnostics: not once more
  std::optional<int> program_status; ///< of a command that runs one: its exit status becomes ours
  std::vector<std::string> program; ///< of a command that runs one: the words after `--`, unchanged

  /// stdout; a control character of a name or path in it becomes '?'.
  void out(std::string_view text) const;
  /// A table on stdout: as wide as the terminal and coloured there, plain in a pipe or file.
  void table(const Table& table, std::size_t max_rows = 20, std::size_t max_text = 48) const;
  /// stdout, as is and at once: a page whose maker lets no text of a trace reach the terminal.
  void page(std::string_view text) const;
  /// stdout, as JSON with the problems of the run so far.
  void report(Report report) const;
  void note(std::string_view line) const override; ///< stderr unless quiet, newline added
  void warn(std::string_view line) const override; ///< stderr, "rankscope: warning: " in front
  void begin_progress(std::size_t traces, std::uint64_t bytes) override;
  void step_progress(std::uint64_t bytes) override;

  /// Flushes stdout; false when it could not be written. A reader that left (`| head`) is not an
  /// error.
  [[nodiscard]] bool finish_output() const;

private:
  void put(std::string_view text) const; ///< stdout, as is

  std::unique_ptr<Progress> progress_;
  mutable bool reader_left_ = false;
};

/// What a command does, once its flags are parsed.
struct Action {
  std::function<Result<void>(Context&)> run;
  /// Of a command over ranks: its runs or sweeps as its flags name them, each for
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
  bool runs_program = false;       ///< `--` ends its own arguments and begins Context::program
  bool shows_all_commands = false; ///< its App's parent has all commands with their flags
  bool of_parts = false;           ///< stands for the command that --as names
};

[[nodiscard]] std::span<const Command* const> commands();

#define RANKSCOPE_COMMAND(id) extern const Command id##_command;
#include "cli/commands.def"
#undef RANKSCOPE_COMMAND

/// Runs the program; returns the exit code. main() calls it.
int run_cli(int argc, char** argv);

} // namespace rankscope
