// Tests how operators are assigned to a sequence of kernels from another sequence, with
// hand-calculated values.
#include "analyses/graph/sequence_attribution.h"

#include <gtest/gtest.h>
#include <numeric>

namespace rankscope {
namespace {

/// Returns one kernel per letter. The upper and lower case of a letter are kernels of the same
/// kind; "+" finishes the kernel before it; F, S and T are attention.
std::vector<KernelToken> letters(std::string_view text, std::uint32_t shape = 0) {
  std::vector<KernelToken> out;
  for (const char c : text) {
    const auto name = static_cast<std::uint32_t>(c);
    out.push_back({name, name, name | 32U, shape, c == '+', c == 'F' || c == 'S' || c == 'T'});
  }
  return out;
}

/// Operator k is that of the donor's kernel k. Operators of equal letters have the same name.
SequenceGuess guess(std::string_view kernels, std::string_view donor, std::uint32_t shape = 0,
                    std::uint32_t donor_shape = 0) {
  std::vector<std::uint32_t> ops(donor.size());
  std::iota(ops.begin(), ops.end(), 0U);
  std::vector<std::uint32_t> names;
  for (const char c : donor)
    names.push_back(static_cast<std::uint32_t>(c) | 32U);
  return guess_operators(letters(kernels, shape), letters(donor, donor_shape), ops, names);
}

TEST(SequenceAttribution, FindsTheLayer) {
  const KernelPeriod p = find_period(letters("xabcabcabcabcy"));
  EXPECT_EQ(p.length, 3U);
  // 11 kernels have a kernel 3 places later; all are equal to it except x and the last a
  EXPECT_DOUBLE_EQ(p.agreement, 9.0 / 11);
  EXPECT_EQ(find_period(letters("abcdefgh")).length, 0U);
  // layers of two kinds alternate: the period contains one layer of each kind
  EXPECT_EQ(find_period(letters("abcabdabcabdabcabd")).length, 6U);
}

TEST(SequenceAttribution, AnIdenticalSequenceIsSure) {
  const SequenceGuess same = guess("abcab", "abcab", 4, 4);
  EXPECT_TRUE(same.identical);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(same.nodes[i].op, i);
    EXPECT_EQ(same.nodes[i].confidence, 1.0);
    EXPECT_TRUE(same.nodes[i].same_shape);
  }
  const SequenceGuess other = guess("abcab", "abcab", 4, 5);
  EXPECT_EQ(other.nodes[0].confidence, 0.95);
  EXPECT_FALSE(other.nodes[0].same_shape);
}

TEST(SequenceAttribution, ConfidenceIsTheProductOfNameNeighboursAndLayers) {
  // B is of the kind of b: 0.8; all neighbours have partners; no layer repeats
  const SequenceGuess g = guess("axByc", "axbyc");
  EXPECT_FALSE(g.identical);
  EXPECT_EQ(g.nodes[2].op, 2U);
  EXPECT_DOUBLE_EQ(g.nodes[2].confidence, 0.8);
  EXPECT_DOUBLE_EQ(g.nodes[0].confidence, 0.95);
  // one of five kernels has no partner: the confidence is 0.8 x 4 / 5, ...
  EXPECT_DOUBLE_EQ(guess("axByq", "axbyc").nodes[2].confidence, 0.8 * 4 / 5);
  // ... with two of five it is below 0.6: no operator is assigned
  EXPECT_EQ(guess("axBrq", "axbyc").nodes[2].op, kNoRow);
  EXPECT_EQ(guess("axBrq", "axbyc").nodes[3].op, kNoRow);
}

TEST(SequenceAttribution, MostLayersSayWhatTheOthersAre) {
  // four layers; the donor lacks kernel b of the third layer: the other layers show its operator
  const SequenceGuess g = guess("abcabcabcabc", "abcabcacabc");
  EXPECT_EQ(g.period.length, 3U);
  ASSERT_NE(g.nodes[7].op, kNoRow);
  EXPECT_EQ(std::string("abcabcacabc")[g.nodes[7].op], 'b');
  // 0.95 x three of four layers; all neighbours, and the kernel itself, are known
  EXPECT_DOUBLE_EQ(g.nodes[7].confidence, 0.95 * 0.75);
}

// F, S and T are attention. Layers of two kinds alternate, and the donor did not run S. All
// operators of F have the same name.
TEST(SequenceAttribution, AttentionIsOneOperatorWhichEverKernelsItRuns) {
  const std::string donor = "xFyzxyzxFyzxyz";
  const SequenceGuess g = guess("xFyzxSyzxFyzxSyz", donor);
  ASSERT_NE(g.nodes[5].op, kNoRow);
  EXPECT_EQ(donor[g.nodes[5].op], 'F');
  EXPECT_EQ(donor[g.nodes[13].op], 'F');
  EXPECT_GE(g.nodes[5].confidence, kLeastConfidence);
  EXPECT_LE(g.nodes[5].confidence, 0.8);
  // no attention kernel has a partner: the donor's attention may be another operator
  EXPECT_EQ(guess("xSyzxSyz", "xyzxyz").nodes[1].op, kNoRow);
  // the donor has two attention operators: the one of S is unknown
  EXPECT_EQ(guess("xFyzxSyzxTyz", "xFyzxyzxTyz").nodes[5].op, kNoRow);
}

TEST(SequenceAttribution, WhatFinishesAKernelBelongsToItsOperator) {
  const SequenceGuess g = guess("ab+c", "abc");
  EXPECT_EQ(g.nodes[2].op, 1U);
  EXPECT_DOUBLE_EQ(g.nodes[2].confidence, 0.8);
}

TEST(SequenceAttribution, KernelsOfTwoStreamsMayChangePlaces) {
  const SequenceGuess g = guess("abxcd", "axbcd");
  EXPECT_EQ(g.nodes[1].op, 2U);
  EXPECT_EQ(g.nodes[2].op, 1U);
}

TEST(SequenceAttribution, NothingFitsAnotherModel) {
  for (const NodeGuess& node : guess("abcdefgh", "ijklmnop").nodes)
    EXPECT_EQ(node.op, kNoRow);
  EXPECT_TRUE(guess("", "abc").nodes.empty());
  EXPECT_EQ(guess("abc", "").nodes[0].op, kNoRow);
}

} // namespace
} // namespace rankscope
