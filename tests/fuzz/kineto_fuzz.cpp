// Feeds bytes to the whole reader, call tree and report. Small windows and large ones, one thread
// and two, must agree.
#include "fuzz_one.h"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, unsigned long size) {
  rankscope::fuzz_one(data, size);
  return 0;
}
