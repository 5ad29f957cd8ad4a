// A kernel's C++ name in parts, demangled or not. One pass over the text: no demangler, because
// names come from untrusted files and a mangled name can expand without limit.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope {

struct KernelSymbol {
  std::vector<std::string> scopes; ///< name spaces, without anonymous ones; outermost first
  std::string base;                ///< the function's name
  std::vector<std::string> types;  ///< of its template arguments: "bf16", "i64"; each once
  std::vector<std::string> sizes;  ///< whole numbers among its template arguments
  std::string first_class;         ///< the first template argument that is another class
  std::string arguments;           ///< template arguments as written; empty of mangled names
};

/// Returns the parts of "void ns::kernel<float, 4>(int)" or "_ZN2ns6kernelIfLi4EEEvi". Nullopt: the
/// text is neither (plain names such as "attn_fwd" have no parts). Linear in the length of the
/// name.
[[nodiscard]] std::optional<KernelSymbol> parse_kernel_symbol(std::string_view name);

/// "bf16" for "c10::BFloat16", "__nv_bfloat16 const*"; empty for what is not a type of numbers.
[[nodiscard]] std::string short_type(std::string_view type);
/// The short types of a list "float, 4, long", each once.
[[nodiscard]] std::vector<std::string> types_in(std::string_view list);

/// The text between the bracket < or ( at `at` and its partner.
[[nodiscard]] std::string_view bracketed(std::string_view text, std::size_t at);

} // namespace rankscope
