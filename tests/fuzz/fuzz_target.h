// One fuzz target per file: `RS_FUZZ_TARGET(name) { ... bytes ... }` at namespace scope. With
// clang, the file is a libFuzzer program. In every other build it is a test, FuzzCorpus.name, which
// replays tests/fuzz/corpus/name: seeds and inputs that crashed earlier.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#ifdef RANKSCOPE_FUZZ_REPLAY

#include "temp_folder.h"
#include "test_paths.h"

#include <filesystem>
#include <gtest/gtest.h>

namespace rankscope::test {

inline void replay_corpus(const char* name, void (*target)(std::string_view bytes)) {
  std::size_t seeds = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(source_dir() / "tests" / "fuzz" / "corpus" / name)) {
    const std::string bytes = bytes_of(entry.path());
    target(bytes);
    target(std::string_view(bytes).substr(0, bytes.size() / 2)); // truncated
    ++seeds;
  }
  EXPECT_GE(seeds, 1U) << "no seeds in tests/fuzz/corpus/" << name;
}

} // namespace rankscope::test

#define RS_FUZZ_TARGET(name)                                                                       \
  static void fuzz_##name(std::string_view bytes);                                                 \
  TEST(FuzzCorpus, name) {                                                                         \
    ::rankscope::test::replay_corpus(#name, fuzz_##name);                                          \
  }                                                                                                \
  static void fuzz_##name(std::string_view bytes)

#else

#define RS_FUZZ_TARGET(name)                                                                       \
  static void fuzz_##name(std::string_view bytes);                                                 \
  extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {             \
    fuzz_##name({reinterpret_cast<const char*>(data), size});                                      \
    return 0;                                                                                      \
  }                                                                                                \
  static void fuzz_##name(std::string_view bytes)

#endif

namespace rankscope::test {

/// Splits an input that contains several files separated by NUL bytes; missing files are "".
template <std::size_t N> void split_parts(std::string_view bytes, std::string (&parts)[N]) {
  for (std::size_t i = 0; i < N; ++i) {
    const std::size_t end = i + 1 < N ? bytes.find('\0') : std::string_view::npos;
    parts[i] = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
}

} // namespace rankscope::test
