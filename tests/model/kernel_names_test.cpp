// Tests short names of kernels: the table of docs/reference/kernel-names.md, and that all names in
// a table are different.
#include "model/kernel_names.h"

#include "base/display_text.h"
#include "model/kernel_symbol.h"
#include "test_paths.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <set>

namespace rankscope {
namespace {

/// Returns the rows "| `full`
/// `short` |" of the page.
std::vector<std::pair<std::string, std::string>> documented() {
  std::ifstream page(test::source_dir() / "docs/reference/kernel-names.md");
  std::vector<std::pair<std::string, std::string>> out;
  for (std::string line; std::getline(page, line);) {
    std::vector<std::size_t> ticks;
    for (std::size_t at = line.find('`'); at != std::string::npos; at = line.find('`', at + 1))
      ticks.push_back(at);
    if (line.starts_with("| `") && ticks.size() == 4)
      out.emplace_back(line.substr(ticks[0] + 1, ticks[1] - ticks[0] - 1),
                       line.substr(ticks[2] + 1, ticks[3] - ticks[2] - 1));
  }
  return out;
}

TEST(KernelNames, TheDocumentedTable) {
  const auto rows = documented();
  EXPECT_GE(rows.size(), 60U);
  for (const auto& [full, brief] : rows)
    EXPECT_EQ(display_name(full), brief) << full;
}

TEST(KernelNames, AreAtMost56CharactersAndCutInTheMiddle) {
  const std::string name = display_name("first_" + std::string(200, 'x') + "_last");
  EXPECT_EQ(display_width(name), kDisplayNameWidth);
  EXPECT_TRUE(name.starts_with("first_"));
  EXPECT_TRUE(name.ends_with("_last"));
  EXPECT_EQ(display_name(""), "");
  EXPECT_EQ(display_name("Memcpy HtoD (Pageable -> Device)"), "Memcpy HtoD (Pageable -> Device)");
}

TEST(KernelNames, EqualNamesGetWhatDiffers) {
  const std::string head = "Cijk_Alik_Bljk_BBS_BH_MT256x192x64_MI16x16x1_SN_LDSB1_";
  const std::vector<std::string> full = {head + "GSUAMB_LBSPPA1024", head + "GSUAMBSK_LBSPPA256",
                                         head + "GSUAMB_LBSPPA1024", "attn_fwd"};
  const std::vector<std::string_view> views(full.begin(), full.end());
  const std::vector<std::string> brief = distinct_names(views);
  EXPECT_EQ(brief[0], "Tensile TN bf16 256x192x64 GSUAMB LBSPPA1024");
  EXPECT_EQ(brief[1], "Tensile TN bf16 256x192x64 GSUAMBSK LBSPPA256");
  EXPECT_EQ(brief[2], brief[0]); // the same kernel
  EXPECT_EQ(brief[3], "attn_fwd");
}

TEST(KernelNames, AHashWhereNoPartDiffers) {
  // the same words in another order
  const std::vector<std::string_view> full = {"void f<true, false>(int)",
                                              "void f<false, true>(int)"};
  const std::vector<std::string> brief = distinct_names(full);
  EXPECT_NE(brief[0], brief[1]);
  for (const std::string& name : brief) {
    ASSERT_EQ(name.size(), 7U) << name;
    EXPECT_TRUE(name.starts_with("f ~")) << name;
  }
  // the names do not depend on the other names in the table or on the order
  EXPECT_EQ(distinct_names({full[1], full[0]})[0], brief[1]);
}

TEST(KernelNames, ANameThatLooksLikeAnotherWithItsPartStaysDistinct) {
  const std::vector<std::string_view> full = {"void f<1>(int)", "void f<1>(long)", "f 1 int",
                                              "f 1 long"};
  const std::vector<std::string> brief = distinct_names(full);
  EXPECT_EQ(std::set<std::string>(brief.begin(), brief.end()).size(), full.size());
}

TEST(KernelNames, ManyNamesTakeTimeInProportion) {
  std::vector<std::string> full;
  full.reserve(20'000);
  // all have the same display name; with quadratic time, this would take minutes
  for (int i = 0; i < 20'000; ++i)
    full.push_back("void f_kernel<g<" + std::to_string(i) + "> >(int)");
  const std::vector<std::string> brief = distinct_names({full.begin(), full.end()});
  EXPECT_EQ(std::set<std::string>(brief.begin(), brief.end()).size(), full.size());
}

TEST(KernelRows, AreNamedAndReadBack) {
  const std::string name = kernel_row_name({"hipLaunchKernel", "void f->g(int)"});
  EXPECT_EQ(name, "hipLaunchKernel->void f->g(int) (Synthetic Op)");
  const auto row = kernel_row_of(name);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->launch, "hipLaunchKernel");
  EXPECT_EQ(row->kernel, "void f->g(int)");
  for (const char* operator_name : {"aten::mm", "a->b", "(Synthetic Op)", ""})
    EXPECT_FALSE(kernel_row_of(operator_name)) << operator_name;
}

TEST(KernelSymbols, MangledNames) {
  const auto norm = parse_kernel_symbol(
      "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb1ELi1EEEvPT0_PT_PfS4_i");
  ASSERT_TRUE(norm);
  EXPECT_EQ(norm->scopes, std::vector<std::string>{"aiter"});
  EXPECT_EQ(norm->base, "add_rmsnorm_quant_kernel");
  EXPECT_EQ(norm->types, std::vector<std::string>{"bf16"});
  EXPECT_EQ(norm->sizes, (std::vector<std::string>{"256", "16", "1"}));
  // the enumerator value "7" is not the length of a name
  const auto conv = parse_kernel_symbol("_ZN2ck4convINS_4GemmItEE"
                                        "LNS_18GemmSpecializationE7ELi128ENS_3RowEEEvi");
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->first_class, "Gemm");
  EXPECT_EQ(conv->sizes, std::vector<std::string>{"128"});
  EXPECT_FALSE(parse_kernel_symbol("attn_fwd"));
  EXPECT_FALSE(parse_kernel_symbol("_Z"));
}

TEST(KernelSymbols, OperatorsBetweenRoundBracketsAreNoBrackets) {
  const auto norm = parse_kernel_symbol("std::enable_if<(((8)>(0)))&&true, void>::type "
                                        "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(int)");
  ASSERT_TRUE(norm);
  EXPECT_EQ(norm->base, "fused_add_rms_norm_kernel");
  EXPECT_EQ(norm->scopes, std::vector<std::string>{"vllm"});
  EXPECT_EQ(norm->types, std::vector<std::string>{"bf16"});
  EXPECT_EQ(norm->sizes, std::vector<std::string>{"8"});
}

} // namespace
} // namespace rankscope
