// The program frame: global flags, subcommand table, exit codes. Exceptions of libraries stop here.
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/parts_flags.h"
#include "cli/program.h"
#include "cli/progress.h"
#include "engine/fact_cache.h"
#include "os/signals.h"
#include "os/tasks.h"
#include "os/terminal.h"
#include "readers/rocprof/unpacked_databases.h"
#include "writers/console.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {
namespace {

constexpr const char* kExitCodes =
    "exit codes: 0 success, 2 usage, 3 input unreadable, 4 partial (events or\n"
    "            ranks lost), 5 regression (--fail-on) or alarm (watch),\n"
    "            6 output failed, 7 missing tool, 70 internal error,\n"
    "            130 interrupted";

/// Returns a line for the terminal, without the control characters that a name may contain.
std::string printable(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return text;
}

void print_problems(const Context& ctx) {
  if (ctx.problems_shown || (ctx.quiet && !ctx.diagnostics.data_lost()))
    return;
  constexpr std::size_t kNamed = 100; // a run of thousands of ranks may lose most of them
  std::map<std::string, std::size_t> by_name;
  for (const Problem& p : ctx.diagnostics.problems()) {
    if (p.severity == Severity::kInfo && ctx.quiet)
      continue;
    if (p.by_place && ++by_name[p.name] > kNamed)
      continue;
    const char* kind = p.severity == Severity::kInfo ? "note" : "warning";
    const std::string line = fmt::format("rankscope: {}: {}", kind, problem_text(p));
    std::fputs((printable(line) + "\n").c_str(), stderr);
  }
  for (const auto& [name, lines] : by_name)
    if (lines > kNamed)
      std::fputs(fmt::format("rankscope: warning: {} more messages of the kind '{}' ({} in all)\n",
                             lines - kNamed, name, lines)
                     .c_str(),
                 stderr);
}

const Command* find_command(const Program& program, const std::string& name) {
  const auto all = program.commands;
  const auto at = std::ranges::find_if(all, [&](const Command* c) { return c->name == name; });
  return at == all.end() ? nullptr : *at;
}

/// Removes the words after the first `--` from the arguments. They belong to the program to run, so
/// rules about flags, lists and brackets do not apply to them.
std::vector<std::string> take_program(std::vector<std::string>& arguments) {
  const auto at = std::find(arguments.begin(), arguments.end(), "--");
  if (at == arguments.end())
    return {};
  std::vector<std::string> out(at + 1, arguments.end());
  arguments.erase(at, arguments.end());
  return out;
}

/// Returns the arguments with hyphens in flags. The scripts that this program replaces write
/// --short_kernel_study; both spellings are valid.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> out(argv + std::min(argc, 1), argv + argc);
  for (std::string& argument : out) {
    if (argument == "--")
      break;
    if (argument.rfind("--", 0) == 0)
      std::replace(argument.begin(),
                   argument.begin() +
                       static_cast<std::ptrdiff_t>(std::min(argument.find('='), argument.size())),
                   '_', '-');
  }
  return out;
}

/// Adds the requested command with its flags, which sets `action` when it was parsed. Without a
/// request, only the names of all commands are added. Adding the flags of all commands would take a
/// millisecond, a fifth of the start-up time.
void add_commands(CLI::App& app, const Program& program, const Command* asked, Action& action) {
  for (const Command* command : program.commands) {
    if (asked != nullptr && command != asked && !asked->shows_all_commands)
      continue;
    CLI::App* const sub = app.add_subcommand(command->name, command->help);
    if (asked == nullptr)
      continue;
    sub->footer(std::string("Examples:\n") + command->examples);
    FlagSet flags(*sub);
    auto run = std::make_shared<Action>(program.setup != nullptr ? program.setup(*command, flags)
                                                                 : command->setup(flags));
    sub->callback([run, &action] { action = *run; });
  }
}

int output_failed() {
  std::fputs("rankscope: standard output: cannot write\n", stderr);
  return exit_code(ErrorCode::kOutput);
}

} // namespace

Context::Context() = default;
Context::~Context() = default;

void Context::begin_progress(std::size_t traces, std::uint64_t bytes) {
  progress_ = std::make_unique<Progress>(*this, traces, bytes);
}

void Context::step_progress(std::uint64_t bytes) {
  progress_->step(bytes);
}

void Context::out(std::string_view text) const {
  const auto moves_cursor = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  };
  if (std::none_of(text.begin(), text.end(), moves_cursor)) {
    put(text);
    return;
  }
  std::string safe(text);
  std::replace_if(safe.begin(), safe.end(), moves_cursor, '?');
  put(safe);
}

void Context::put(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size())
    reader_left_ = reader_left_ || errno == EPIPE;
}

void Context::table(const Table& table, std::size_t max_rows, std::size_t max_text) const {
  ConsoleStyle style{max_rows, max_text, 0, false};
  if (const Terminal terminal = terminal_of(1); terminal.is_terminal) {
    style.width = terminal.columns;
    style.colour = terminal.colour;
  }
  put(console_table(table, style));
}

void Context::report(Report report) const {
  report.diagnostics = diagnostics;
  page(json_text(report)); // unchanged: JSON escapes control characters
}

void Context::page(std::string_view text) const {
  put(text);
  if (std::fflush(stdout) != 0) // flushed: a page that is watched must not wait for the next page
    reader_left_ = reader_left_ || errno == EPIPE;
}

bool Context::finish_output() const {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return true;
  return reader_left_ || errno == EPIPE;
}

void Context::note(std::string_view line) const {
  if (!quiet)
    std::fputs(fmt::format("{}\n", line).c_str(), stderr);
}

void Context::warn(std::string_view line) const {
  page({}); // if both streams are one file, the warning must not be inside a line of the output
  std::fputs(fmt::format("rankscope: warning: {}\n", line).c_str(), stderr);
}

std::span<const Command* const> commands() {
  static const std::vector<const Command*> kAll = {
#define RANKSCOPE_COMMAND(id) &id##_command,
#include "cli/commands.def"
#undef RANKSCOPE_COMMAND
  };
  return kAll;
}

int run_cli(int argc, char** argv) {
  Context ctx;
  return run_program({"rankscope", "rankscope: analyze traces of distributed GPU runs", commands()},
                     ctx, argc, argv);
}

int run_program(const Program& program, Context& ctx, int argc, char** argv) {
  install_interrupt_handler();
  unsigned jobs = program.jobs;
  CLI::App app{program.help, program.name};
  app.formatter(std::make_shared<HelpFormatter>()); // before the subcommands, which inherit it
  app.set_version_flag("-V,--version", std::string(program.name) + " " + RANKSCOPE_VERSION);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(kExitCodes);
  app.add_option("-j,--jobs", jobs, "number of threads (0: all processors)")->capture_default_str();
  app.add_flag("-q,--quiet", ctx.quiet, "print no notes on stderr");
  app.add_flag("--json", ctx.json, "print the result as JSON on stdout");
  app.add_flag("--strict", ctx.strict, "exit with 4 also if there are warnings");
  std::string cache = default_cache_folder();
  bool no_cache = false;
  app.add_option("--cache", cache, "folder for cached trace data; 'none': no cache");
  app.add_flag("--no-cache", no_cache, "same as --cache none: read every trace and cache nothing");
  std::vector<std::string> arguments = arguments_of(argc, argv);
  std::string command = command_word(app, arguments);
  if (command == "help") { // "help CMD" is "CMD --help"
    arguments.erase(std::find(arguments.begin(), arguments.end(), "help"));
    arguments.emplace_back("--help");
    command = command_word(app, arguments);
  }
  const Command* known = find_command(program, command);
  if (!command.empty() && known == nullptr) {
    std::vector<std::string> names;
    for (const Command* other : program.commands)
      names.emplace_back(other->name);
    std::string meant = did_you_mean(command, names);
    if (std::error_code ec; meant.empty() && std::filesystem::exists(command, ec))
      meant = fmt::format("; did you mean {} top {}?", program.name, printable(command));
    std::fputs(fmt::format("{0}: no command named '{1}'{2} ({0} --help lists all commands)\n",
                           program.name, printable(command), meant)
                   .c_str(),
               stderr);
    return exit_code(ErrorCode::kUsage);
  }
  const Command* const named_command =
      known != nullptr && known->reads_parts ? command_of_parts(arguments) : nullptr;
  if (named_command != nullptr) {
    known = named_command;
    command = known->name;
  }
  Action action;
  add_commands(app, program, known, action);
  take_one_text_each(app);
  if (known != nullptr && known->runs_program)
    ctx.program = take_program(arguments);
  if (known != nullptr)
    arguments = lists_spelled_out(*app.get_subcommand(command), arguments);
  std::reverse(arguments.begin(), arguments.end()); // CLI11 reads the arguments from the end
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) { // help or version
      (void)app.exit(e);
      return ctx.finish_output() ? 0 : output_failed();
    }
    std::fputs(fmt::format("rankscope: {}\n", printable(usage_problem(app, e))).c_str(), stderr);
    return exit_code(ErrorCode::kUsage);
  }
  ctx.threads = sensible_threads(jobs);
  if (ctx.threads < jobs)
    ctx.note(fmt::format("-j {}: {} threads are used", jobs, ctx.threads));
  if (!no_cache && !cache.empty() && cache != "none")
    ctx.cache = std::make_shared<FactCache>(cache);
  const ReuseUnpackedDatabases unpack_once;
  try {
    Result<void> result = named_command != nullptr ? open_parts(ctx, action) : Result<void>();
    if (result)
      result = action.run(ctx);
    ctx.page({}); // if both streams are one file, messages must not be inside a line of the output
    print_problems(ctx);
    if (!result) {
      std::fputs(fmt::format("rankscope: {}\n", printable(result.error().message())).c_str(),
                 stderr);
      return exit_code(result.error().code);
    }
  } catch (const std::bad_alloc&) {
    std::fputs("rankscope: out of memory (lower -j)\n", stderr);
    return exit_code(ErrorCode::kUnreadable);
  } catch (const std::exception& e) {
    std::fputs(fmt::format("rankscope: internal error, please report: {}\n", e.what()).c_str(),
               stderr);
    return exit_code(ErrorCode::kInternal);
  }
  if (!ctx.finish_output())
    return output_failed();
  if (ctx.program_status.value_or(0) != 0)
    return *ctx.program_status;
  const bool strict_hit = ctx.strict && !ctx.diagnostics.empty();
  return ctx.partial || ctx.diagnostics.data_lost() || strict_hit ? 4 : 0;
}

} // namespace rankscope
