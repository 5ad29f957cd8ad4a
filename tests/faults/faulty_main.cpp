// The program with failures on demand: rankscope's main() with the hooks.
#include "faults/fault_hooks.h"

int rankscope_main(int argc, char** argv); // src/cli/main.cpp, compiled with this name

int main(int argc, char** argv) {
  rankscope::test::arm_from_environment();
  return rankscope_main(argc, argv);
}
