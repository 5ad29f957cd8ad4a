// The frame of a program with subcommands: global flags, parsing, exit codes.
#pragma once

#include "cli/command.h"

#include <span>

namespace rankscope {

/// A program on the command line, with its commands.
struct Program {
  const char* name;
  const char* help;
  std::span<const Command* const> commands;
  unsigned jobs = 0; ///< number of threads without -j, 0 = all processors
  /// Replaces a command's own setup, unless nullptr.
  Action (*setup)(const Command& command, FlagSet& flags) = nullptr;
};

/// Parses the arguments and runs the command with this context; returns the exit code.
int run_program(const Program& program, Context& ctx, int argc, char** argv);

} // namespace rankscope
