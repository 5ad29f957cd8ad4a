// Whether this build runs under a sanitizer, where programs and loops take ten times as long: tests
// that repeat something many times do it less often there. The figures are those of the release
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

/// Whether the program that tests run (test::binary()) is of a sanitized build.
inline bool sanitized_program() {
  return kSanitized || std::getenv("RANKSCOPE_SANITIZED") != nullptr;
}

/// The same of ThreadSanitizer, with which a program's start takes a second: RANKSCOPE_SANITIZED is
/// "thread".
inline bool thread_sanitized_program() {
  const char* const kind = std::getenv("RANKSCOPE_SANITIZED");
  return kThreadSanitized || (kind != nullptr && std::string_view(kind) == "thread");
}

} // namespace rankscope::test
