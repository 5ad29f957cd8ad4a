// Parses the C++ name of a kernel, demangled or not, in one pass. A demangler is not used, because
// names are from untrusted files and a demangled name can be extremely long.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct KernelSymbol {
  std::vector<std::string> scopes; ///< name spaces except anonymous ones, outermost first
  std::string base;                ///< the function's name
  std::vector<std::string> types;  ///< types in its template arguments: "bf16", "i64"; without
                                   ///< duplicates
  std::vector<std::string> sizes;  ///< integers among its template arguments
  std::string first_class;         ///< the first template argument that is a class, not one of
                                   ///< `types`
  std::string arguments;           ///< template arguments as they are in the name; empty for
                                   ///< mangled names
};

/// Returns the parts of "void ns::kernel<float, 4>(int)" or "_ZN2ns6kernelIfLi4EEEvi". Returns
/// nullopt for any other text, also for plain names such as "attn_fwd". Linear in the length of the
/// name.
[[nodiscard]] std::optional<KernelSymbol> parse_kernel_symbol(std::string_view name);

/// Returns "bf16" for "c10::BFloat16", "__nv_bfloat16 const*"; empty for types that are not
/// numeric.
[[nodiscard]] std::string short_type(std::string_view type);
/// Returns the short types in a list such as "float, 4, long", without duplicates.
[[nodiscard]] std::vector<std::string> types_in(std::string_view list);

/// Returns the text between the opening bracket < or ( at `at` and the closing bracket.
[[nodiscard]] std::string_view bracketed(std::string_view text, std::size_t at);

} // namespace rankscope
