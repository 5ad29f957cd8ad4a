// Whether this build runs under a sanitizer, where programs and loops take ten times as long: tests
// that repeat something many times do it less often there. The figures are those of the release
// build.
#pragma once

namespace rankscope::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

} // namespace rankscope::test
