#include "model/kernel_name.h"

#include <charconv>

namespace rankscope {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool triple(std::string_view text, std::size_t at, char head) {
  if (at + 4 > text.size() || text[at] != head)
    return false;
  for (std::size_t i = at + 1; i < at + 4; ++i)
    if (text[i] < 'a' || text[i] > 'z')
      return false;
  return true;
}

/// Position of "C???_A???_B???" (lower-case index triples) or npos.
std::size_t tensile_head(std::string_view name) {
  for (std::size_t at = name.find('C'); at != std::string_view::npos; at = name.find('C', at + 1))
    if (triple(name, at, 'C') && at + 14 <= name.size() && name[at + 4] == '_' &&
        triple(name, at + 5, 'A') && name[at + 9] == '_' && triple(name, at + 10, 'B'))
      return at;
  return std::string_view::npos;
}

/// Reads "<m>x<n>[x<k>]" at `at`; false when it is not there. "128x64_64x6" gives k = 64 too.
bool read_tile(std::string_view text, std::size_t at, GemmKernel& out) {
  const char* p = text.data() + at;
  const char* const end = text.data() + text.size();
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  auto r = std::from_chars(p, end, m);
  if (r.ec != std::errc() || r.ptr == end || *r.ptr != 'x')
    return false;
  r = std::from_chars(r.ptr + 1, end, n);
  if (r.ec != std::errc())
    return false;
  if (r.ptr != end && (*r.ptr == 'x' || *r.ptr == '_')) {
    const auto third = std::from_chars(r.ptr + 1, end, k);
    if (third.ec != std::errc())
      k = 0;
  }
  out.tile_m = m;
  out.tile_n = n;
  out.tile_k = k;
  return true;
}

void tile_after(std::string_view name, std::string_view key, GemmKernel& out) {
  for (std::size_t at = name.find(key); at != std::string_view::npos; at = name.find(key, at + 1))
    if (read_tile(name, at + key.size(), out))
      return;
}

/// Layout letters "_tn_", "_nn_" of xmma, cutlass and cublas names: first letter A, second B.
void layout_letters(std::string_view name, GemmKernel& out) {
  for (std::size_t at = 0; at + 4 <= name.size(); ++at) {
    const auto letter = [](char c) { return c == 't' || c == 'n'; };
    const bool closed = name[at + 3] == '_' || name[at + 3] == '>' || name[at + 3] == ':';
    if (name[at] == '_' && letter(name[at + 1]) && letter(name[at + 2]) && closed) {
      out.transpose_a = name[at + 1] == 't';
      out.transpose_b = name[at + 2] == 't';
      return;
    }
  }
}

} // namespace

std::string_view gemm_library_name(GemmLibrary library) {
  switch (library) {
  case GemmLibrary::kTensile:
    return "Tensile";
  case GemmLibrary::kNvjet:
    return "nvjet";
  case GemmLibrary::kXmma:
    return "xmma";
  case GemmLibrary::kCutlass:
    return "CUTLASS";
  case GemmLibrary::kCublas:
    return "cuBLAS";
  case GemmLibrary::kComposableKernel:
    return "CK";
  case GemmLibrary::kTriton:
    return "Triton";
  }
  return "";
}

std::optional<GemmKernel> parse_gemm_kernel(std::string_view name) {
  GemmKernel out;
  if (const std::size_t at = tensile_head(name); at != std::string_view::npos) {
    out.library = GemmLibrary::kTensile;
    if (contains(name, "_Alik_"))
      out.transpose_a = true;
    else if (contains(name, "_Ailk_"))
      out.transpose_a = false;
    if (contains(name, "_Bljk_"))
      out.transpose_b = false;
    else if (contains(name, "_Bjlk_"))
      out.transpose_b = true;
    if (at + 15 < name.size() && name[at + 14] == '_') {
      const std::string_view rest = name.substr(at + 15);
      out.types = std::string(rest.substr(0, rest.find('_')));
    }
    tile_after(name, "_MT", out);
    return out;
  }
  if (name.substr(0, 5) == "nvjet") {
    out.library = GemmLibrary::kNvjet;
    const std::string_view last = name.substr(name.rfind('_') + 1);
    if (last.size() >= 2) {
      out.transpose_a = last[0] == 'T';
      out.transpose_b = last[1] == 'T';
    }
    if (name.size() > 6) { // nvjet_tst_128x64_64x8_...: token 1 = types, token 2 = tile
      const std::size_t second = name.find('_', 6);
      out.types =
          std::string(name.substr(6, second == std::string_view::npos ? second : second - 6));
      if (second != std::string_view::npos)
        read_tile(name, second + 1, out);
    }
    return out;
  }
  const bool gemm = contains(name, "gemm") || contains(name, "Gemm") || contains(name, "GEMM");
  if (contains(name, "xmma_gemm")) {
    out.library = GemmLibrary::kXmma;
    const std::size_t at = name.find("xmma_gemm_") + 10;
    layout_letters(name, out);
    if (at < name.size()) {
      std::string_view rest = name.substr(at);
      for (const std::string_view stop : {"_tn_", "_nn_", "_nt_", "_tt_"})
        rest = rest.substr(0, rest.find(stop));
      out.types = std::string(rest);
    }
    tile_after(name, "tilesize", out);
    return out;
  }
  if (gemm && contains(name, "cutlass")) {
    out.library = GemmLibrary::kCutlass;
    layout_letters(name, out);
    for (std::size_t at = name.find('_'); at != std::string_view::npos && out.tile_m == 0;
         at = name.find('_', at + 1))
      read_tile(name, at + 1, out);
    return out;
  }
  if (gemm && (contains(name, "ck::") || contains(name, "ck_tile"))) {
    out.library = GemmLibrary::kComposableKernel;
    return out;
  }
  if (name.substr(0, 6) == "triton" && (contains(name, "_mm") || contains(name, "_bmm"))) {
    const std::size_t at = name.find("_mm");
    const std::size_t after = at == std::string_view::npos ? 0 : at + 3;
    if (at == std::string_view::npos || after == name.size() || name[after] == '_') {
      out.library = GemmLibrary::kTriton;
      return out;
    }
  }
  if (gemm && (contains(name, "sgemm") || contains(name, "hgemm") || contains(name, "cublas") ||
               contains(name, "16816gemm") || contains(name, "ampere_") || contains(name, "gemv") ||
               contains(name, "s884gemm"))) {
    out.library = GemmLibrary::kCublas;
    layout_letters(name, out);
    if (!out.transpose_a && name.size() > 3 && name[name.size() - 3] == '_' &&
        (name.back() == 'n' || name.back() == 't')) {
      out.transpose_a = name[name.size() - 2] == 't';
      out.transpose_b = name.back() == 't';
    }
    for (std::size_t at = name.find('_'); at != std::string_view::npos && out.tile_m == 0;
         at = name.find('_', at + 1))
      read_tile(name, at + 1, out);
    return out;
  }
  return std::nullopt;
}

std::string gemm_transpose_repr(std::string_view name) {
  const bool nvjet = name.substr(0, 5) == "nvjet";
  if (!nvjet && tensile_head(name) == std::string_view::npos)
    return "";
  const auto kernel = parse_gemm_kernel(name);
  if (!kernel)
    return "";
  const auto text = [](const std::optional<bool>& flag) {
    return flag ? (*flag ? "True" : "False") : "None";
  };
  return std::string("(") + text(kernel->transpose_a) + ", " + text(kernel->transpose_b) + ")";
}

} // namespace rankscope
