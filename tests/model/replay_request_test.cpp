// Tests replay requests with hand-calculated values for the shapes, strides and types of a trace.
#include "model/ops/op_model.h"
#include "model/replay/replay_request.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace rankscope {
namespace {

constexpr const char* kTwoBf16 = R"(["c10::BFloat16", "c10::BFloat16"])";
const std::string kEnd = " --algo_method heuristic --requested_solution 1 --activation_type none "
                         "--rotating 512 --cold_iters 100 --iters 100 --flush --initialization "
                         "trig_float --use_gpu_timer --print_kernel_info";
const std::string kBf16 = " --a_type bf16_r --b_type bf16_r --c_type bf16_r --d_type bf16_r "
                          "--scale_type f32_r --compute_type f32_r" +
                          kEnd;

struct Op {
  std::string name, dims, types, strides, concrete, kernel;
};
ReplayRequest request(const Op& op) {
  return replay_request(op.name, ParsedArgs(op.dims, op.types, op.strides, op.concrete), op.kernel);
}
/// Returns the commands, one per line, or the reason why there are none.
std::string command(const Op& op) {
  const ReplayRequest r = request(op);
  const std::vector<std::string> commands = replay_commands(r);
  EXPECT_EQ(commands.empty(), !r.why.empty());
  EXPECT_EQ(replay_library(r).empty(), commands.empty());
  std::string out;
  for (const std::string& c : commands)
    out += (out.empty() ? "" : "\n") + c;
  return out.empty() ? r.why : out;
}
Op mm(const std::string& dims, const std::string& strides) {
  return {"aten::mm", dims, kTwoBf16, strides, R"(["", ""])", ""};
}

// C (M x N, row-major) = A B equals C' (N x M, column-major) = B' A': m = N, n = M, and the first
// matrix is B. A row-major B (K x N) has the memory layout of B', with its row stride as the
// leading dimension.
TEST(ReplayGemm, BothRowMajor) {
  EXPECT_EQ(
      command(mm("[[8944, 1024], [1024, 2816]]", "[[1024, 1], [2816, 1]]")),
      "hipblaslt-bench --api_method c -m 2816 -n 8944 -k 1024 --lda 2816 --ldb 1024 --ldc "
      "2816 --ldd 2816 --stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0 --alpha 1 --beta 0 "
      "--transA N --transB N --batch_count 1" +
          kBf16);
}

// A weight (N x K, row-major) that is passed transposed: B is K x N with strides (1, K).
TEST(ReplayGemm, TransposesAndLeadingDimensionsFromStrides) {
  EXPECT_EQ(command(mm("[[64, 16], [16, 32]]", "[[16, 1], [1, 16]]")),
            "hipblaslt-bench --api_method c -m 32 -n 64 -k 16 --lda 16 --ldb 16 --ldc 32 --ldd 32 "
            "--stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0 --alpha 1 --beta 0 --transA T "
            "--transB N --batch_count 1" +
                kBf16);
  // the gradient of a weight: A (M x K) is the transpose of a row-major K x M
  EXPECT_NE(command(mm("[[64, 16], [16, 32]]", "[[1, 64], [32, 1]]"))
                .find("-m 32 -n 64 -k 16 --lda 32 --ldb 64 --ldc 32 --ldd 32"),
            std::string::npos);
  EXPECT_NE(command(mm("[[64, 16], [16, 32]]", "[[1, 64], [32, 1]]")).find("--transA N --transB T"),
            std::string::npos);
  // rows of a larger matrix
  EXPECT_NE(command(mm("[[64, 16], [16, 32]]", "[[48, 1], [1, 20]]"))
                .find("--lda 20 --ldb 48 --ldc 32 --ldd 32"),
            std::string::npos);
}

TEST(ReplayGemm, OneRowOrColumnHasAnyStride) {
  // A has one row, with the strides of a column of another matrix; B has one column
  EXPECT_NE(command(mm("[[1, 16], [16, 32]]", "[[7, 1], [32, 1]]"))
                .find("-m 32 -n 1 -k 16 --lda 32 --ldb 16 --ldc 32 --ldd 32"),
            std::string::npos);
  EXPECT_NE(command(mm("[[8, 16], [16, 1]]", "[[16, 1], [1, 99]]"))
                .find("-m 1 -n 8 -k 16 --lda 1 --ldb 16 --ldc 1 --ldd 1"),
            std::string::npos);
}

TEST(ReplayGemm, WhatIsNotDenseIsCopied) {
  const ReplayRequest r = request(mm("[[64, 16], [16, 32]]", "[[32, 2], [32, 1]]"));
  const auto& g = std::get<GemmReplay>(r.call);
  EXPECT_EQ(g.ldb, 16);
  EXPECT_FALSE(g.trans_b);
  EXPECT_EQ(r.note, "A is copied to a dense matrix first, which the replay leaves out");
}

// A bias over the columns of C is a bias over the rows of C', which is cuBLASLt's epilogue.
TEST(ReplayGemm, BiasIsAnEpilogue) {
  const Op addmm = {"aten::addmm",
                    "[[32], [64, 16], [16, 32], [], []]",
                    R"(["c10::Half", "c10::Half", "c10::Half", "Scalar", "Scalar"])",
                    "[[1], [16, 1], [1, 16], [], []]",
                    R"(["", "", "", "1", "1"])",
                    ""};
  EXPECT_EQ(
      command(addmm),
      "hipblaslt-bench --api_method c -m 32 -n 64 -k 16 --lda 16 --ldb 16 --ldc 32 --ldd 32 "
      "--stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0 --alpha 1 --beta 0 --transA T "
      "--transB N --batch_count 1 --bias_vector --bias_source d --a_type f16_r --b_type f16_r "
      "--c_type f16_r --d_type f16_r --scale_type f32_r --bias_type f16_r --compute_type f32_r" +
          kEnd);
  Op scaled = addmm; // with a factor, the bias is passed as C
  scaled.concrete = R"(["", "", "", "0.5", "2"])";
  EXPECT_NE(command(scaled).find("--alpha 2 --beta 0.5"), std::string::npos);
  EXPECT_EQ(command(scaled).find("--bias_vector"), std::string::npos);
  Op full = addmm; // a complete matrix is added
  full.dims = "[[64, 32], [64, 16], [16, 32], [], []]";
  full.strides = "[[32, 1], [16, 1], [1, 16], [], []]";
  EXPECT_NE(command(full).find("--alpha 1 --beta 1"), std::string::npos);
  EXPECT_NE(request(full).note, "");
  Op wrong = addmm;
  wrong.concrete = R"(["", "", "", "x; rm -rf /", "1"])";
  EXPECT_EQ(command(wrong), "alpha or beta is not a number");
}

// 12 products of 128 x 64 and 64 x 256; B from (12, 256, 64) transposed.
TEST(ReplayGemm, Batched) {
  EXPECT_EQ(command({"aten::bmm", "[[12, 128, 64], [12, 64, 256]]", R"(["float", "float"])",
                     "[[8192, 64, 1], [16384, 1, 64]]", R"(["", ""])", ""}),
            "hipblaslt-bench --api_method c -m 256 -n 128 -k 64 --lda 64 --ldb 64 --ldc 256 --ldd "
            "256 --stride_a 16384 --stride_b 8192 --stride_c 32768 --stride_d 32768 --alpha 1 "
            "--beta 0 --transA T --transB N --batch_count 12 --a_type f32_r --b_type f32_r "
            "--c_type f32_r --d_type f32_r --scale_type f32_r --compute_type f32_r" +
                kEnd);
  // heads next to each other: (S, B * H, D) as batches of S x D
  EXPECT_NE(command({"aten::bmm", "[[12, 128, 64], [12, 64, 256]]", R"(["float", "float"])",
                     "[[64, 768, 1], [64, 1, 768]]", R"(["", ""])", ""})
                .find("--lda 768 --ldb 768 --ldc 256 --ldd 256 --stride_a 64 --stride_b 64"),
            std::string::npos);
  const ReplayRequest shared =
      request({"aten::bmm", "[[12, 128, 64], [12, 64, 256]]", R"(["float", "float"])",
               "[[8192, 64, 1], [0, 256, 1]]", R"(["", ""])", ""});
  EXPECT_NE(shared.note.find("shares a matrix"), std::string::npos);
}

// One column: PyTorch's result is already column-major, so A stays first and is read transposed.
TEST(ReplayGemm, BatchedWithOneColumnIsNotSwapped) {
  EXPECT_NE(command({"aten::bmm", "[[4, 128, 64], [4, 64, 1]]", R"(["float", "float"])",
                     "[[8192, 64, 1], [64, 1, 1]]", R"(["", ""])", ""})
                .find("-m 128 -n 1 -k 64 --lda 64 --ldb 1 --ldc 128 --ldd 128 --stride_a 8192 "
                      "--stride_b 64 --stride_c 128 --stride_d 128 --alpha 1 --beta 0 --transA T "
                      "--transB T --batch_count 4"),
            std::string::npos);
}

TEST(ReplayGemm, BaddbmmReadsC) {
  const std::string text = command(
      {"aten::baddbmm", "[[4, 8, 32], [4, 8, 16], [4, 16, 32], [], []]",
       R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "Scalar", "Scalar"])",
       "[[256, 32, 1], [128, 16, 1], [512, 32, 1], [], []]", R"(["", "", "", "1", "0.125"])", ""});
  EXPECT_NE(text.find("--alpha 0.125 --beta 1 --transA N --transB N --batch_count 4"),
            std::string::npos)
      << text;
}

TEST(ReplayGemm, ScaledEightBits) {
  Op op = {
      "aten::_scaled_mm",
      "[[64, 32], [32, 48], [], [], [], [], [], []]",
      R"(["c10::Float8_e4m3fnuz", "c10::Float8_e5m2fnuz", "float", "float", "", "", "Scalar", "Scalar"])",
      "[[32, 1], [1, 32], [], [], [], [], [], []]",
      R"(["", "", "", "", "", "", "15", "True"])",
      ""};
  EXPECT_EQ(command(op),
            "hipblaslt-bench --api_method c -m 48 -n 64 -k 32 --lda 32 --ldb 32 --ldc 48 --ldd 48 "
            "--stride_a 0 --stride_b 0 --stride_c 0 --stride_d 0 --alpha 1 --beta 0 --transA T "
            "--transB N --batch_count 1 --scaleA 1 --scaleB 1 --a_type bf8_fnuz_r --b_type "
            "f8_fnuz_r --c_type bf16_r --d_type bf16_r --scale_type f32_r --compute_type f32_r" +
                kEnd);
  op.dims = "[[64, 32], [32, 48], [64, 1], [1, 48], [48], [], [], []]"; // one scale per row
  op.types =
      R"(["c10::Float8_e4m3fn", "c10::Float8_e4m3fn", "float", "float", "c10::BFloat16", "", "Scalar", "Scalar"])";
  EXPECT_NE(command(op).find("--scaleA 2 --scaleB 2 --bias_vector --bias_source d --a_type f8_r"),
            std::string::npos)
      << command(op);
  op.dims = "[[64, 32], [32, 48], [64, 2], [2, 48], [], [], [], []]";
  EXPECT_EQ(command(op), "scales of blocks: no command is known for them");
}

TEST(ReplayGemm, Tf32IsToldByTheKernel) {
  Op op = {"aten::mm",
           "[[64, 16], [16, 32]]",
           R"(["float", "float"])",
           "[[16, 1], [32, 1]]",
           "",
           "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize32x32x8"};
  EXPECT_NE(command(op).find("--compute_type xf32_r"), std::string::npos);
  op.kernel = "ampere_sgemm_32x32_sliced1x4_nn";
  EXPECT_NE(command(op).find("--compute_type f32_r"), std::string::npos);
  op.types = R"(["double", "double"])";
  EXPECT_NE(command(op).find("--scale_type f64_r --compute_type f64_r"), std::string::npos);
}

TEST(ReplayGemm, WhatHasNoCommandSaysWhy) {
  const std::string ok_dims = "[[64, 16], [16, 32]]";
  const std::string ok_strides = "[[16, 1], [32, 1]]";
  Op op = mm(ok_dims, "");
  EXPECT_EQ(command(op), "the trace has no strides of a matrix, so transposed and other matrices "
                         "cannot be distinguished");
  EXPECT_EQ(command(mm("", "")), "its arguments were not recorded (record_shapes)");
  op = mm(ok_dims, ok_strides);
  op.types = R"(["c10::complex<float>", "c10::complex<float>"])";
  EXPECT_EQ(command(op), "no command for the type c10::complex<float>");
  op.types = "";
  EXPECT_EQ(command(op), "no command for the type that was not recorded");
  op.types = R"(["float", "c10::Half"])";
  EXPECT_EQ(command(op), "no command for the types float and c10::Half in aten::mm");
  EXPECT_EQ(command(mm("[[64, 16], [17, 32]]", ok_strides)),
            "the shapes of A and B do not fit each other");
  EXPECT_EQ(command(mm("[[64, 0], [0, 32]]", ok_strides)), "an empty product");
  EXPECT_EQ(command(mm("[[4000000000, 16], [16, 32]]", ok_strides)),
            "an extent or stride that no library accepts");
  EXPECT_EQ(command(mm(ok_dims, "[[-16, 1], [32, 1]]")),
            "an extent or stride that no library accepts");
  EXPECT_EQ(command(mm("[[64, 16, 2], [16, 32]]", ok_strides)),
            "argument 0 has 3 dimensions, expected 2");
  op = mm(ok_dims, ok_strides);
  op.name = "vllm::rocm_unquantized_gemm";
  EXPECT_EQ(command(op), "the arguments of this operator do not say how its library is called");
  op.name = "aten::add";
  EXPECT_EQ(command(op), "neither a matrix product nor a convolution");
}

Op conv2d() {
  return {"aten::convolution",
          "[[4, 3, 224, 224], [64, 3, 7, 7], [64], [], [], [], [], [], []]",
          R"(["c10::BFloat16", "c10::BFloat16", "c10::BFloat16", "", "", "", "", "", ""])",
          "[[150528, 50176, 224, 1], [147, 49, 7, 1], [1], [], [], [], [], [], []]",
          R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"])",
          ""};
}

TEST(ReplayConv, Forward) {
  EXPECT_EQ(command(conv2d()),
            "MIOpenDriver convbfp16 -n 4 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 "
            "-q 3 -u 2 -v 2 -l 1 -j 1 -m conv -g 1 -F 1 -t 1 -V 0 -i 100");
  EXPECT_EQ(request(conv2d()).note, "without its bias");
}

TEST(ReplayConv, ChannelsLastFromStrides) {
  Op op = conv2d();
  op.strides = "[[150528, 1, 672, 3], [147, 1, 21, 3], [1], [], [], [], [], [], []]";
  op.types = R"(["c10::Half", "c10::Half", "c10::Half", "", "", "", "", "", ""])";
  EXPECT_EQ(command(op), "MIOpenDriver convfp16 -n 4 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 "
                         "-u 2 -v 2 -l 1 -j 1 --in_layout NHWC --fil_layout NHWC --out_layout NHWC "
                         "-m conv -g 1 -F 1 -t 1 -V 0 -i 100");
  op.strides = "[[150528, 50176, 1, 224], [147, 49, 7, 1], [1], [], [], [], [], [], []]";
  EXPECT_NE(request(op).note.find("is copied"), std::string::npos);
}

// 3-D, groups, and different strides per dimension.
TEST(ReplayConv, ThreeDimensions) {
  EXPECT_EQ(
      command({"aten::convolution", "[[1, 16, 5, 104, 60], [32, 8, 1, 3, 3], []]",
               R"(["float", "float", ""])", "[[499200, 31200, 6240, 60, 1], [72, 9, 9, 3, 1], []]",
               R"(["", "", "", "[1, 2, 2]", "[0, 1, 1]", "[1, 1, 1]", "False", "[0, 0, 0]", "2"])",
               ""}),
      "MIOpenDriver conv -n 1 -c 16 --in_d 5 -H 104 -W 60 -k 32 --fil_d 1 -y 3 -x 3 --pad_d 0 -p 1 "
      "-q 1 --conv_stride_d 1 -u 2 -v 2 --dilation_d 1 -l 1 -j 1 --spatial_dim 3 -m conv -g 2 -F 1 "
      "-t 1 -V 0 -i 100");
}

TEST(ReplayConv, OneDimensionIsTheWidth) {
  EXPECT_EQ(
      command({"aten::convolution", "[[8, 80, 3000], [384, 80, 3], []]",
               R"(["c10::Half", "c10::Half", ""])", "[[240000, 3000, 1], [240, 3, 1], []]",
               R"(["", "", "", "[2]", "[1]", "[1]", "False", "[0]", "1"])", ""}),
      "MIOpenDriver convfp16 -n 8 -c 80 -H 1 -W 3000 -k 384 -y 1 -x 3 -p 0 -q 1 -u 1 -v 2 -l 1 "
      "-j 1 -m conv -g 1 -F 1 -t 1 -V 0 -i 100");
}

// 16 -> 8 channels, 10 -> (10 - 1) 2 - 2 + 3 + 0 = 19, and with output_padding 1: 20. PyTorch calls
// the gradient of the convolution whose input is 20 x 20.
TEST(ReplayConv, TransposedIsAGradient) {
  const Op op = {"aten::convolution",
                 "[[2, 16, 10, 10], [16, 8, 3, 3], []]",
                 R"(["float", "float", ""])",
                 "[[1600, 100, 10, 1], [72, 9, 3, 1], []]",
                 R"(["", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "1"])",
                 ""};
  EXPECT_EQ(command(op),
            "MIOpenDriver conv -n 2 -c 8 -H 20 -W 20 -k 16 -y 3 -x 3 -p 1 -q 1 -u 2 -v "
            "2 -l 1 -j 1 -m conv -g 1 -F 2 -t 1 -V 0 -i 100");
}

Op backward(const std::string& mask) {
  return {"aten::convolution_backward",
          "[[4, 64, 112, 112], [4, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], [], [], [], []]",
          R"(["float", "float", "float", "", "", "", "", "", "", "", ""])",
          "[[802816, 12544, 112, 1], [150528, 50176, 224, 1], [147, 49, 7, 1], [], [], [], [], [], "
          "[], [], []]",
          R"(["", "", "", "[64]", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1", ")" + mask +
              "\"]",
          ""};
}

TEST(ReplayConv, GradientsAskedFor) {
  const std::string front =
      "MIOpenDriver conv -n 4 -c 3 -H 224 -W 224 -k 64 -y 7 -x 7 -p 3 -q 3 -u "
      "2 -v 2 -l 1 -j 1 -m conv -g 1 -F ";
  const std::string end = " -t 1 -V 0 -i 100";
  EXPECT_EQ(command(backward("[True, True, False]")), front + "2" + end + "\n" + front + "4" + end);
  EXPECT_EQ(command(backward("[False, True, True]")), front + "4" + end);
  EXPECT_EQ(request(backward("[False, True, True]")).note, "without the gradient of its bias");
  EXPECT_EQ(command(backward("[False, False, True]")),
            "the gradient of the bias alone: a sum, no convolution");
  EXPECT_EQ(command(backward("")), "which gradients it makes was not recorded (output_mask)");
  Op transposed = backward("[True, True, False]");
  transposed.dims =
      "[[2, 8, 20, 20], [2, 16, 10, 10], [16, 8, 3, 3], [], [], [], [], [], [], [], []]";
  transposed.strides =
      "[[3200, 400, 20, 1], [1600, 100, 10, 1], [72, 9, 3, 1], [], [], [], [], [], "
      "[], [], []]";
  transposed.concrete =
      R"(["", "", "", "[0]", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[1, 1]", "1", )"
      R"("[True, True, False]"])";
  const std::string text = command(transposed);
  EXPECT_NE(text.find("-n 2 -c 8 -H 20 -W 20 -k 16 -y 3 -x 3"), std::string::npos) << text;
  EXPECT_NE(text.find("-F 1 -t"), std::string::npos) << text;
  EXPECT_NE(text.find("-F 4 -t"), std::string::npos) << text;
}

TEST(ReplayConv, WhatHasNoCommandSaysWhy) {
  Op op = conv2d();
  op.strides = "";
  EXPECT_EQ(command(op), "the trace has no strides of a tensor, so channels first and channels "
                         "last cannot be distinguished");
  op = conv2d();
  op.types = R"(["double", "double", ""])";
  EXPECT_EQ(command(op), "no command for the types double and double");
  op = conv2d();
  op.dims = "[[4, 3, 224, 224], [64, 5, 7, 7], [], [], [], [], [], [], []]";
  EXPECT_EQ(command(op), "the channels of its input and weights do not fit each other");
  op = conv2d();
  op.concrete = R"(["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "False", "[0, 0]", "0"])";
  EXPECT_EQ(command(op), "the channels of its input and weights do not fit each other");
  op.concrete = R"(["", "", "", "", "[3, 3]", "[1, 1]", "False", "[0, 0]", "1"])";
  EXPECT_EQ(command(op), "its stride, padding, dilation or groups were not recorded");
  op.concrete = R"(["", "", "", "[2, 2]", "[3, 3]", "[90, 1]", "False", "[0, 0]", "1"])";
  EXPECT_EQ(command(op), "its output is empty, or larger than a library takes");
  op = conv2d();
  op.name = "ConvBias_";
  EXPECT_EQ(command(op), "the arguments of this operator do not say how its library is called");
}

// For extreme values in a file there must be a result, never an overflow (checked by the
// sanitizers).
TEST(ReplayRequest, ExtremesAreRefused) {
  for (const char* extent : {"2147483647", "1099511627776", "-1", "9223372036854775807"})
    for (const char* stride : {"0", "9223372036854775807", "1125899906842624"}) {
      const std::string e = extent;
      const std::string s = stride;
      (void)command(mm("[[" + e + ", " + e + "], [" + e + ", " + e + "]]",
                       "[[" + s + ", 1], [1, " + s + "]]"));
      (void)command(
          {"aten::convolution", "[[" + e + ", 1, " + e + ", " + e + "], [1, 1, " + e + ", 1], []]",
           R"(["float", "float", ""])", "[[" + s + ", " + s + ", 1, 1], [1, 1, " + s + ", 1], []]",
           R"(["", "", "", "[2147483648, 1]", "[2147483648, 2147483648]", )"
           R"("[2147483648, 1]", "True", "[2147483648, 0]", "1"])",
           ""});
    }
}

} // namespace
} // namespace rankscope
