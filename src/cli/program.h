// The frame of a program with subcommands: global flags, parsing, exit codes.
#pragma once

#include "cli/command.h"

#include <span>

namespace rankscope {

/// What is called on the command line, and its commands.
struct Program {
  const char* name;
  const char* help;
  std::span<const Command* const> commands;
  unsigned jobs = 0; ///< threads where -j does not say, 0 = all processors
  /// In place of a command's own setup; nullptr: that.
  Action (*setup)(const Command& command, FlagSet& flags) = nullptr;
};

/// Parses and runs with this context; returns the exit code.
int run_program(const Program& program, Context& ctx, int argc, char** argv);

} // namespace rankscope
