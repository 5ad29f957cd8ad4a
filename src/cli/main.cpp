#include "cli/command.h"

#include <cstdio>
#include <new>

int main(int argc, char** argv) {
  try {
    return rankscope::run_cli(argc, argv);
  } catch (const std::bad_alloc&) { // before a command began; commands report theirs with a remedy
    std::fputs("rankscope: out of memory\n", stderr);
    return rankscope::exit_code(rankscope::ErrorCode::kUnreadable);
  }
}
