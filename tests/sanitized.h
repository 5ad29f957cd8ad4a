// Shows whether this build runs under a sanitizer, where programs and loops take ten times as long.
// Tests with many repetitions then repeat less often. The numbers in the tests are for the release
// build.
#pragma once

#include <cstdlib>
#include <string_view>

namespace rankscope::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool kAddressSanitized = true;
#else
inline constexpr bool kAddressSanitized = false;
#endif
#else
inline constexpr bool kAddressSanitized = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kThreadSanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
#else
inline constexpr bool kThreadSanitized = false;
#endif

inline constexpr bool kSanitized = kAddressSanitized || kThreadSanitized;

/// Whether the program that the tests run (test::binary()) is a sanitized build.
inline bool sanitized_program() {
  return kSanitized || std::getenv("RANKSCOPE_SANITIZED") != nullptr;
}

/// Whether the program is built with ThreadSanitizer, where the start of a program takes a second:
/// RANKSCOPE_SANITIZED is "thread".
inline bool thread_sanitized_program() {
  const char* const kind = std::getenv("RANKSCOPE_SANITIZED");
  return kThreadSanitized || (kind != nullptr && std::string_view(kind) == "thread");
}

} // namespace rankscope::test
