#include "model/kernel_names.h"

#include "base/ascii.h"
#include "base/display_text.h"
#include "base/fnv.h"
#include "model/kernel_symbol.h"
#include "model/kernels.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace rankscope {
namespace {

/// Only this many bytes of a name are parsed. The rest of a longer name only affects its hash.
constexpr std::size_t kReadBytes = 16384;
constexpr std::size_t kAddedWidth = 22; ///< maximum number of characters added to make equal names
                                        ///< differ
constexpr std::size_t kAddedParts = 2;

bool decimal(char c) {
  return c >= '0' && c <= '9';
}

bool word_char(char c) {
  return decimal(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string joined(std::initializer_list<std::string_view> words) {
  std::string out;
  for (const std::string_view word : words)
    if (!word.empty())
      out.append(out.empty() ? "" : " ").append(word);
  return out;
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), text) != set.end();
}

/// Returns whether a text is a tile: "256x128", "128x64x32".
bool is_tile(std::string_view text) {
  return text.find('x') != std::string_view::npos && !text.empty() && decimal(text.front()) &&
         decimal(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return decimal(c) || c == 'x'; });
}

std::string layout(const std::optional<bool>& a, const std::optional<bool>& b) {
  if (!a || !b)
    return "";
  return {*a ? 'T' : 'N', *b ? 'T' : 'N'};
}

std::string tile(const GemmKernel& gemm) {
  if (gemm.tile_m == 0)
    return "";
  std::string out = std::to_string(gemm.tile_m) + "x" + std::to_string(gemm.tile_n);
  if (gemm.tile_k > 0)
    out += "x" + std::to_string(gemm.tile_k);
  return out;
}

/// Returns the input type, from the first letters of "BBS", "F8BS" or "S".
std::string tensile_type(std::string_view letters) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes = {
      {{"F8", "f8"},
       {"B8", "bf8"},
       {"I8", "i8"},
       {"4xi8", "i8"},
       {"B", "bf16"},
       {"H", "f16"},
       {"S", "f32"},
       {"D", "f64"},
       {"C", "c64"},
       {"Z", "c128"}}};
  for (const auto& [code, name] : kTypes)
    if (letters.starts_with(code))
      return std::string(name);
  return std::string(letters);
}

std::string tensile(std::string_view name, const GemmKernel& gemm) {
  std::string extras;
  const auto add = [&](std::string_view word) { extras = joined({extras, word}); };
  for (const std::string_view part : split_nonempty(name, "_")) {
    const auto number_after = [part](std::string_view key) {
      return part.size() > key.size() && part.starts_with(key) &&
             std::all_of(part.begin() + static_cast<std::ptrdiff_t>(key.size()), part.end(),
                         decimal);
    };
    if (part == "Bias")
      add("bias");
    else if (number_after("GSU") && !one_of(part, {"GSU0", "GSU1"}))
      add(part);
    else if (number_after("SK") && part != "SK0")
      add("stream-K");
    else if (part.starts_with("PostGSU"))
      add(part);
  }
  if (name.starts_with("Custom"))
    add("custom");
  return joined({"Tensile", layout(gemm.transpose_a, gemm.transpose_b), tensile_type(gemm.types),
                 tile(gemm), extras});
}

/// Name form: nvjet_TYPES_TILE_KxSTAGES_CLUSTER_..._LAYOUT
std::string nvjet(std::string_view name, const GemmKernel& gemm) {
  const std::vector<std::string_view> parts = split_nonempty(name, "_");
  std::string extras;
  std::size_t tiles = 0;
  std::string stages;
  for (std::size_t i = 2; i + 1 < parts.size(); ++i) {
    if (is_tile(parts[i]) && ++tiles == 2)
      stages = std::string(parts[i].substr(parts[i].find('x') + 1)) + " stages";
    else if (is_tile(parts[i]) && tiles == 1)
      continue;
    else if (!one_of(parts[i], {"v", "h", "bz"}))
      extras = joined({extras, parts[i]});
  }
  return joined({"nvjet", layout(gemm.transpose_a, gemm.transpose_b),
                 gemm.types == "tst" ? "" : gemm.types, tile(gemm), stages, extras});
}

/// Returns the first of the types in a text such as "bf16bf16" or "tf32f32".
std::string first_type(std::string_view text) {
  for (const std::string_view type :
       {"bf16", "tf32", "f16", "f32", "f64", "e4m3", "e5m2", "i8", "s8"})
    if (text.starts_with(type))
      return std::string(type);
  return "";
}

/// Name form: smNN_xmma_KIND_..._TYPES_..._tilesizeMxNxK_...
std::string xmma(std::string_view name) {
  std::string kind;
  std::string type;
  std::string letters;
  std::string size;
  std::string extras;
  for (const std::string_view part : split_nonempty(name.substr(name.find("xmma")), "_")) {
    if (one_of(part, {"fprop", "dgrad", "wgrad"}))
      kind = std::string(part);
    else if (type.empty() && !first_type(part).empty())
      type = first_type(part);
    else if (one_of(part, {"tn", "nt", "nn", "tt"}) && letters.empty())
      letters = {part[0] == 't' ? 'T' : 'N', part[1] == 't' ? 'T' : 'N'};
    else if (part.starts_with("tilesize"))
      size = std::string(part.substr(8));
    else if (part == "indexed" || part.starts_with("stage") || part.starts_with("align") ||
             one_of(part, {"nhwc", "nchw", "t1r1s1"}))
      extras = joined({extras, part});
  }
  const std::string_view arch = name.substr(0, name.find('_'));
  return joined({"xmma", kind, letters, type, size, extras, arch.starts_with("sm") ? arch : ""});
}

/// Splits "s16816gemm", "h884fprop", "sgemm" or "scudnn" into the text before the kind and the
/// kind.
std::pair<std::string_view, std::string_view> split_kind(std::string_view part) {
  for (const std::string_view kind : {"gemm", "fprop", "dgrad", "wgrad", "cudnn"})
    if (part.size() > kind.size() && part.ends_with(kind))
      return {part.substr(0, part.size() - kind.size()), kind};
  return {};
}

std::string accumulated_type(std::string_view letter) {
  return letter == "s"   ? "f32"
         : letter == "h" ? "f16"
         : letter == "d" ? "f64"
         : letter == "c" ? "c64"
         : letter == "z" ? "c128"
                         : std::string(letter);
}

/// Name forms: cutlass_ARCH_..._TYPE_sMMAgemm_..._TILE_KxSTAGES_LAYOUT_alignN,
/// ARCH_TYPE_sMMAgemm_... (cuBLAS) and cudnn_MODE_ARCH_scudnn_TILE_...
std::string underscored(std::string_view library, std::string_view name) {
  std::string type;
  std::string instruction;
  std::string size;
  std::string letters;
  std::string extras;
  std::string arch;
  std::string depth;
  std::string kind;
  for (const std::string_view part : split_nonempty(name, "_")) {
    const auto [mma, what] = split_kind(part);
    if (!one_of(what, {"gemm", "cudnn", ""}))
      kind = std::string(what);
    if (one_of(part, {"volta", "turing", "ampere", "maxwell", "pascal", "hopper"}))
      arch = std::string(part);
    else if (one_of(part, {"cutlass", "tensorop", "kernel", "cublas", "cudnn", "stages",
                           "optimized", "v1"}) ||
             (std::all_of(part.begin(), part.end(), decimal) && part.size() < 4))
      continue;
    else if (mma.size() == 1)
      type = accumulated_type(mma);
    else if (!mma.empty())
      instruction = std::string(mma);
    else if (first_type(part) == part)
      type = type.empty() ? std::string(part) : type;
    else if (is_tile(part) && size.empty())
      size = std::string(part);
    else if (is_tile(part) && depth.empty())
      depth = std::string(part);
    else if (one_of(part, {"tn", "nt", "nn", "tt"}))
      letters = {part[0] == 't' ? 'T' : 'N', part[1] == 't' ? 'T' : 'N'};
    else
      extras = joined({extras, part});
  }
  if (const std::size_t at = depth.find('x'); at != std::string::npos) {
    size += "x" + depth.substr(0, at);
    depth = depth.substr(at + 1) + " stages";
  }
  return joined({library, kind, letters, type, size, depth, instruction, extras, arch});
}

/// Name forms: ncclDevKernel_AllReduce_Sum_bf16_RING_LL(...),
/// ncclKernel_AllReduce_RING_LL_Sum_float(...)
std::string nccl(std::string_view name) {
  name = name.substr(0, name.find('('));
  std::vector<std::string_view> parts = split_nonempty(name, "_");
  if (parts.size() < 2)
    return "";
  parts.erase(parts.begin()); // ncclDevKernel
  if (parts.front() == "Generic" || parts.front() == "main")
    return "nccl " + std::string(name.substr(name.find('_') + 1));
  const bool reduces = parts.front().find("educe") != std::string_view::npos;
  std::string type;
  std::string operation;
  std::string rest;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (one_of(parts[i], {"Sum", "Prod", "Min", "Max", "MinMax", "PreMulSum", "SumPostDiv"}))
      operation = lowercase(parts[i]);
    else if (const std::string brief = short_type(parts[i]); !brief.empty())
      type = brief;
    else if (i + 1 < parts.size() && parts[i + 1] == "t" &&
             !short_type(std::string(parts[i]) + "_t").empty())
      type = short_type(std::string(parts[i++]) + "_t");
    else if (!first_type(parts[i]).empty() || one_of(parts[i], {"u8", "i32", "u32", "i64", "u64"}))
      type = std::string(parts[i]);
    else
      rest = joined({rest, parts[i]});
  }
  // other kernels only move bytes: operation and type in their names have no meaning
  return joined({parts.front(), reduces ? type : "", reduces ? operation : "", rest});
}

/// Name form: triton_KIND_fused_OPERATORS_NUMBER. In the result the number is first, because it
/// identifies the kernel.
std::string triton(std::string_view name) {
  const std::size_t fused = name.find("_fused_");
  if (!name.starts_with("triton_") || fused == std::string_view::npos)
    return "";
  std::string_view operators = name.substr(fused + 7);
  std::string_view number;
  const std::size_t last = operators.rfind('_');
  const std::string_view tail =
      last == std::string_view::npos ? operators : operators.substr(last + 1);
  if (!tail.empty() && std::all_of(tail.begin(), tail.end(), decimal)) {
    number = tail;
    operators = last == std::string_view::npos ? std::string_view() : operators.substr(0, last);
  }
  // ATen operators whose names have several words
  static constexpr std::array<std::string_view, 26> kWords = {
      "unsafe_view",        "to_copy",       "constant_pad_nd", "moe_forward",
      "index_put",          "index_select",  "index_add",       "masked_fill",
      "layer_norm",         "group_norm",    "rms_norm",        "batch_norm",
      "log_softmax",        "max_pool2d",    "zeros_like",      "ones_like",
      "full_like",          "new_zeros",     "new_full",        "slice_scatter",
      "threshold_backward", "gelu_backward", "silu_backward",   "embedding_dense_backward",
      "select_scatter",     "scatter_add"};
  std::string words;
  while (!operators.empty()) {
    if (operators.front() == '_') {
      operators.remove_prefix(1);
      continue;
    }
    std::size_t length = std::min(operators.find('_'), operators.size());
    for (const std::string_view word : kWords)
      if (operators.starts_with(word) && word.size() > length &&
          (operators.size() == word.size() || operators[word.size()] == '_'))
        length = word.size();
    words = joined({words, operators.substr(0, length)});
    operators.remove_prefix(length);
  }
  std::string out = joined({name.substr(0, fused), number});
  if (!words.empty())
    out += ": " + words;
  return out;
}

/// Name form: igemm_DIRECTION_ARCH_LAYOUT_TYPE_..._btMxNxK_... (MIOpen's convolutions)
std::string igemm(std::string_view name) {
  const std::vector<std::string_view> parts = split_nonempty(name, "_");
  std::string size;
  std::string head;
  for (std::size_t i = 1; i < parts.size(); ++i)
    if (parts[i].starts_with("bt") && is_tile(parts[i].substr(2)))
      size = std::string(parts[i].substr(2));
    else if (i < 5)
      head = joined({head, parts[i]});
  return size.empty() ? "" : joined({"igemm", head, size});
}

/// Returns the name of the operation: "direct_copy_kernel_cuda" gives "copy", "MulFunctor" gives
/// "Mul".
std::string operation_name(std::string_view word) {
  static constexpr std::array<std::string_view, 6> kFront = {
      "CUDAFunctor_", "CUDAFunctorOnSelf_", "CUDAFunctorOnOther_", "launch_", "direct_", "_"};
  static constexpr std::array<std::string_view, 13> kBack = {
      "Functor",      "_functor", "_kernel_cuda", "_cuda_kernel", "CUDAKernelImpl",
      "_kernel_impl", "_kernel",  "_cuda_out",    "_cuda",        "_internal",
      "_gpu",         "Kernel",   "Ops"};
  for (bool again = true; again;) {
    again = false;
    for (const std::string_view affix : kFront)
      if (word.starts_with(affix) && word.size() > affix.size()) {
        word.remove_prefix(affix.size());
        again = true;
      }
    for (const std::string_view affix : kBack)
      if (word.ends_with(affix) && word.size() > affix.size()) {
        word.remove_suffix(affix.size());
        again = true;
      }
  }
  return std::string(word);
}

struct Operation {
  std::string name;
  std::string type;
  bool scalar = false;
};

std::string first_type_in(std::string_view list) {
  const std::vector<std::string> types = types_in(list);
  return types.empty() ? std::string() : types.front();
}

/// Returns the operation that the template arguments of a PyTorch kernel name.
Operation operation_of(std::string_view arguments) {
  Operation out;
  for (std::size_t at = 0; at < arguments.size();) {
    if (!word_char(arguments[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < arguments.size() && word_char(arguments[end]))
      ++end;
    const std::string_view word = arguments.substr(at, end - at);
    const char next = end < arguments.size() ? arguments[end] : ' ';
    at = end;
    if (one_of(word, {"AUnaryFunctor", "BUnaryFunctor", "CUDAFunctorOnSelf_add"}))
      out.scalar = true;
    if ((next != '<' && next != '(') || decimal(word.front()) || word.ends_with("Metadata") ||
        one_of(word, {"AUnaryFunctor", "BUnaryFunctor", "BinaryFunctor", "UnaryFunctor",
                      "func_wrapper_t", "ReduceOp", "gpu_kernel_impl", "gpu_kernel_impl_nocast",
                      "gpu_index_kernel", "array", "Array", "operator", "lambda", "OpaqueType",
                      "complex", "opmath_gpu_kernel_with_scalars", "opmath_symmetric_gpu_kernel"}))
      continue;
    out.name = operation_name(word);
    if (next == '<')
      out.type = first_type_in(bracketed(arguments, end));
    for (std::size_t from = arguments.find("lambda(", end);
         out.type.empty() && from != std::string_view::npos;
         from = arguments.find("lambda(", from + 7))
      out.type = first_type_in(bracketed(arguments, from + 6));
    break;
  }
  return out;
}

std::string base_name(std::string_view base) {
  if (base.starts_with("kernel_") && base.size() > 7)
    base.remove_prefix(7);
  for (const std::string_view affix : {"_kernel_cuda", "CUDAKernel", "_kernel", "Kernel"})
    if (base.ends_with(affix) && base.size() > affix.size()) {
      base.remove_suffix(affix.size());
      break;
    }
  return std::string(base);
}

/// Returns the name space of the library; "" for the name spaces of PyTorch.
std::string library_scope(const KernelSymbol& symbol) {
  for (const std::string& scope : symbol.scopes) {
    const bool version = scope.size() > 1 && scope.front() == 'v' &&
                         std::all_of(scope.begin() + 1, scope.end(), decimal);
    if (!version && !one_of(scope, {"at", "native", "detail", "impl", "internal", "at_cuda_detail",
                                    "cuda", "templates", "std"}))
      return scope + "::";
  }
  return "";
}

std::string library_kernel(std::string_view name);

std::string symbol_name(const KernelSymbol& symbol) {
  const std::string& base = symbol.base;
  if (base.find("elementwise") != std::string::npos && !symbol.arguments.empty()) {
    const Operation operation = operation_of(symbol.arguments);
    if (!operation.name.empty()) {
      const std::string_view how = base.find("unroll") != std::string::npos ? "(unrolled)"
                                   : base == "elementwise_kernel"           ? "(legacy)"
                                                                            : "";
      return joined(
          {"elementwise", operation.name, operation.scalar ? "scalar" : "", operation.type, how});
    }
  }
  if (one_of(base, {"reduce_kernel", "multi_tensor_apply_kernel"})) {
    const Operation operation = operation_of(symbol.arguments);
    if (!operation.name.empty())
      return joined(
          {base == "reduce_kernel" ? "reduce" : "multi_tensor", operation.name, operation.type});
  }
  std::string what = base_name(base);
  const bool wrapper = one_of(base, {"Kernel", "Kernel2", "kernel", "kentry", "device_kernel"});
  if (wrapper && symbol.types.empty() && !symbol.first_class.empty()) {
    if (std::string inner = library_kernel(symbol.first_class); !inner.empty())
      return inner;
    const std::optional<KernelSymbol> argument = parse_kernel_symbol(symbol.first_class);
    what = base_name(argument ? argument->base : symbol.first_class);
  } else if (wrapper && !symbol.scopes.empty()) {
    what = symbol.scopes.back();
  }
  std::string out = library_scope(symbol);
  if (out != what + "::")
    out += what;
  else
    out.resize(what.size());
  const auto add = [&out](const KernelSymbol& source) {
    for (const std::vector<std::string>* words : {&source.types, &source.sizes})
      for (std::size_t i = 0; i < std::min<std::size_t>(words->size(), 2); ++i)
        out = joined({out, (*words)[i]});
  };
  add(symbol);
  if (symbol.types.empty() && symbol.sizes.empty() && !symbol.first_class.empty())
    if (const std::optional<KernelSymbol> traits = parse_kernel_symbol(symbol.first_class); traits)
      add(*traits);
  return out;
}

/// Returns the display name if a library with a known name form made the name; otherwise empty.
std::string library_kernel(std::string_view name) {
  if (name.starts_with("nccl"))
    return nccl(name);
  if (name.starts_with("triton_"))
    return triton(name);
  if (name.starts_with("igemm_"))
    return igemm(name);
  if (name.find("_xmma_") != std::string_view::npos)
    return xmma(name);
  if (name.starts_with("cutlass_") && !name.ends_with(">"))
    return underscored("cutlass", name.substr(0, name.find(':')));
  if (name.starts_with("cudnn_"))
    return underscored("cudnn", name);
  if (name.find_first_of("<(:") != std::string_view::npos)
    return "";
  const std::optional<GemmKernel> gemm = parse_gemm_kernel(name);
  if (!gemm)
    return "";
  switch (gemm->library) {
  case GemmLibrary::kTensile:
    return tensile(name, *gemm);
  case GemmLibrary::kNvjet:
    return nvjet(name, *gemm);
  case GemmLibrary::kCublas:
    return underscored("cublas", name);
  default:
    return "";
  }
}

/// Returns the words in which full names can differ.
std::vector<std::string_view> words_of(std::string_view full) {
  std::vector<std::string_view> out;
  full = full.substr(0, kReadBytes);
  for (std::size_t at = 0; at < full.size();) {
    std::size_t end = at;
    while (end < full.size() && word_char(full[end]) && full[end] != '_')
      ++end;
    if (end > at)
      out.push_back(full.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// For several names with the same display name: returns at most two words of each name that not
/// all of the names contain, or an empty text if there is no such word.
std::vector<std::string> differences(const std::vector<std::string_view>& names) {
  std::vector<std::vector<std::string_view>> words;
  std::unordered_map<std::string_view, std::size_t> having; // number of names with the word
  for (const std::string_view name : names) {
    words.push_back(words_of(name));
    const std::set<std::string_view> distinct(words.back().begin(), words.back().end());
    for (const std::string_view word : distinct)
      ++having[word];
  }
  std::vector<std::string> out;
  for (const std::vector<std::string_view>& name_words : words) {
    std::string added;
    std::size_t parts = 0;
    std::set<std::string_view> seen;
    for (const std::string_view word : name_words) {
      if (parts == kAddedParts || having[word] == names.size() || !seen.insert(word).second)
        continue;
      const std::string_view brief = word.substr(0, kAddedWidth);
      if (added.size() + 1 + brief.size() > kAddedWidth + 1)
        continue;
      added = joined({added, brief});
      ++parts;
    }
    out.push_back(std::move(added));
  }
  return out;
}

} // namespace

std::string display_name(std::string_view full) {
  std::string_view name = full.substr(0, kReadBytes);
  if (name.starts_with("Memcpy ") || name.starts_with("Memset "))
    return shortened_middle(name, kDisplayNameWidth, false);
  if (name.ends_with(".kd") && name.size() > 3)
    name.remove_suffix(3);
  std::string out = library_kernel(name);
  if (out.empty())
    if (const std::optional<KernelSymbol> symbol = parse_kernel_symbol(name); symbol)
      out = symbol_name(*symbol);
  if (out.empty()) {
    while (name.size() > 1 && name.front() == '_')
      name.remove_prefix(1);
    out = base_name(name);
  }
  return shortened_middle(out, kDisplayNameWidth, false);
}

std::vector<std::string> distinct_names(const std::vector<std::string>& shown,
                                        const std::vector<std::string_view>& full) {
  std::map<std::string, std::set<std::string_view>> by_display;
  for (std::size_t i = 0; i < full.size(); ++i)
    by_display[shown[i]].insert(full[i]);
  std::unordered_set<std::string> used_names;
  std::unordered_map<std::string_view, std::string> chosen;
  for (const auto& [display, names] : by_display)
    used_names.insert(display);
  for (const auto& [display, names] : by_display) {
    if (names.size() == 1) {
      chosen.emplace(*names.begin(), display);
      continue;
    }
    const std::vector<std::string_view> same(names.begin(), names.end());
    const std::vector<std::string> added = differences(same);
    std::unordered_map<std::string_view, std::size_t> times;
    for (const std::string& text : added)
      ++times[text];
    for (std::size_t i = 0; i < same.size(); ++i) {
      std::string made = joined({display, added[i]});
      if (times[added[i]] > 1 || (!added[i].empty() && !used_names.insert(made).second)) {
        const std::string hash = fnv64_hex(same[i]);
        std::size_t digits = 4;
        do
          made = display + " ~" + hash.substr(0, digits);
        while (!used_names.insert(made).second && (digits += 4) <= hash.size());
        if (digits > hash.size()) // two names have the same hash
          made += "#" + std::to_string(i);
      }
      chosen.emplace(same[i], std::move(made));
    }
  }
  std::vector<std::string> out;
  out.reserve(full.size());
  for (const std::string_view name : full)
    out.push_back(chosen.at(name));
  return out;
}

std::vector<std::string> distinct_names(const std::vector<std::string_view>& full) {
  std::vector<std::string> shown;
  for (const std::string_view name : full)
    shown.push_back(display_name(name));
  return distinct_names(shown, full);
}

std::vector<std::string> distinct_cells(const std::vector<std::string>& rows,
                                        const std::vector<std::string>& shown,
                                        const std::vector<std::string>& full) {
  std::vector<std::string> out;
  for (std::size_t r = 0; r < rows.size(); ++r)
    out.push_back(rows[r] + shown[r]);
  out = distinct_names(out, {full.begin(), full.end()});
  for (std::size_t r = 0; r < rows.size(); ++r)
    out[r].erase(0, rows[r].size());
  return out;
}

namespace {
constexpr std::string_view kArrow = "->";
constexpr std::string_view kKernelRowEnd = " (Synthetic Op)";
} // namespace

std::string kernel_row_name(const KernelRowName& row) {
  return std::string(row.launch).append(kArrow).append(row.kernel).append(kKernelRowEnd);
}

std::optional<KernelRowName> kernel_row_of(std::string_view name) {
  const std::size_t arrow = name.find(kArrow);
  if (arrow == std::string_view::npos || !name.ends_with(kKernelRowEnd))
    return std::nullopt;
  const std::string_view behind = name.substr(arrow + kArrow.size());
  return KernelRowName{name.substr(0, arrow),
                       behind.substr(0, behind.size() - kKernelRowEnd.size())};
}

} // namespace rankscope
