// The parts of a kernel's C++ name, demangled or not. One pass over the text. A demangler is not
// used, because names come from untrusted files and a mangled name can expand without limit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct KernelSymbol {
  std::vector<std::string> scopes; ///< name spaces except anonymous ones; outermost first
  std::string base;                ///< the function's name
  std::vector<std::string> types;  ///< types in its template arguments: "bf16", "i64"; each once
  std::vector<std::string> sizes;  ///< integers among its template arguments
  std::string first_class;         ///< the first template argument that is another class
  std::string arguments;           ///< template arguments as written; empty for mangled names
};

/// Returns the parts of "void ns::kernel<float, 4>(int)" or "_ZN2ns6kernelIfLi4EEEvi". Nullopt for
/// any other text (plain names such as "attn_fwd" have no parts). Linear in the length of the name.
[[nodiscard]] std::optional<KernelSymbol> parse_kernel_symbol(std::string_view name);

/// Returns "bf16" for "c10::BFloat16", "__nv_bfloat16 const*"; empty for types that are not
/// numeric.
[[nodiscard]] std::string short_type(std::string_view type);
/// Returns the short types of a list "float, 4, long", each once.
[[nodiscard]] std::vector<std::string> types_in(std::string_view list);

/// Returns the text between the bracket < or ( at `at` and its closing bracket.
[[nodiscard]] std::string_view bracketed(std::string_view text, std::size_t at);

} // namespace rankscope
