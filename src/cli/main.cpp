#include "cli/command.h"

int main(int argc, char** argv) {
  return rankscope::run_cli(argc, argv);
}
