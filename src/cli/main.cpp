#include "cli/command.h"
#include "os/library_memory.h"

#include <cstdio>
#include <new>

int main(int argc, char** argv) {
  try {
    rankscope::allocate_from_one_arena_under_a_limit();
    return rankscope::run_cli(argc, argv);
  } catch (const std::bad_alloc&) { // before a command began; commands report a lack of memory with
                                    // a remedy
    std::fputs("rankscope: out of memory\n", stderr);
    return rankscope::exit_code(rankscope::ErrorCode::kUnreadable);
  }
}
