// The reader of tests/extension/toy_reader.cpp, for tests of functions that get a reader.
#pragma once

#include "readers/reader.h"

namespace rankscope {
extern const Reader toy_reader;
} // namespace rankscope

namespace rankscope::test {

inline constexpr const char* kTwoToyRanks = "toy 1 0 1\n0 gemm 0 10\n1 gemm 5 20\n1 copy 30 1\n";

} // namespace rankscope::test
