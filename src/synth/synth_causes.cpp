#include "synth/synth_causes.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <string>
#include <utility>

namespace rankscope::synth {
namespace {

/// The name of a pointwise kernel of PyTorch whose functor is `functor`.
std::string pointwise_kernel(std::string_view functor, int tensors) {
  return fmt::format("void at::native::vectorized_elementwise_kernel<4, {0}, std::array<char*, "
                     "{1}ul> >(int, {0}, std::array<char*, {1}ul>)",
                     functor, tensors);
}

/// An operator with one pointwise kernel.
struct PointwiseOp {
  const char* name;
  const char* functor; ///< in the name of its kernel
  int read = 1;        ///< tensors that it reads; it writes one
  Args scalars = {};   ///< arguments after the tensors
};

void record_pointwise(Recorder& r, const PointwiseOp& op, const Tensor& tensor, std::int64_t bytes,
                      OpOptions options = {}) {
  Args args(static_cast<std::size_t>(op.read), Arg(tensor));
  args.insert(args.end(), op.scalars.begin(), op.scalars.end());
  r.op(op.name, std::move(args), pointwise_kernel(op.functor, op.read + 1).c_str(),
       bytes * (op.read + 1), options);
}

/// A number of Python that takes part in the operation: the profiler records a tensor without
/// dimensions.
Arg number() {
  return Tensor{{}, {}, "double"};
}

std::int64_t elements_of(const Tensor& tensor) {
  std::int64_t out = 1;
  for (const std::int64_t extent : tensor.dims)
    out *= extent;
  return out;
}

// -- pointwise operators in bf16, with the kernels of tests/data/causes/pointwise
const PointwiseOp& mul_number() {
  static const PointwiseOp op = {
      "aten::mul",
      "at::native::AUnaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
      "at::native::binary_internal::MulFunctor<float> >",
      1,
      {number()}};
  return op;
}
const PointwiseOp& mul_tensors() {
  static const PointwiseOp op = {
      "aten::mul",
      "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
      "at::native::binary_internal::MulFunctor<float> >",
      2};
  return op;
}
PointwiseOp add_tensors(const char* name) {
  return {name, "at::native::CUDAFunctor_add<c10::BFloat16>", 2, {Arg::scalar("1")}};
}

/// Records a node of the backward pass with these operators, each on the tensor.
void record_node(Recorder& r, const char* node, std::int64_t seq, const Tensor& tensor,
                 std::initializer_list<PointwiseOp> ops) {
  r.begin_node(node, seq, tensor);
  for (const PointwiseOp& op : ops)
    record_pointwise(r, op, tensor, elements_of(tensor) * 2);
  r.end_node();
}

/// What Dynamo records while it compiles, as a tree of ranges (tests/data/causes/recompile).
struct CompilerRange {
  const char* name;
  double share; ///< of the time of its parent
  std::initializer_list<CompilerRange> inner;
};

void record_compiler(Recorder& r, const CompilerRange& range, double ms) {
  r.begin(range.name, {});
  double rest = 1;
  for (const CompilerRange& inner : range.inner) {
    record_compiler(r, inner, ms * inner.share);
    rest -= inner.share;
  }
  r.pause(ms * rest);
  r.end();
}

} // namespace

// torch/optim/adam.py: _single_tensor_adam. Names of kernels as in the recordings of other
// optimizers (hta/sampled_rank-0, tests/data/causes/pointwise).
void record_optimizer_loop(Recorder& r, std::int64_t tensors, std::int64_t elements) {
  constexpr const char* kMul =
      "at::native::AUnaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<"
      "float> >";
  const std::array ops = {
      PointwiseOp{"aten::mul_", kMul, 1, {number()}},
      PointwiseOp{"aten::lerp_",
                  "at::native::lerp_scalar_kernel(at::TensorIteratorBase&, c10::Scalar "
                  "const&)::{lambda()#2}::operator()() const::{lambda(float, float)#1}",
                  2,
                  {Arg::scalar("0.099999999999999978")}},
      PointwiseOp{"aten::mul_", kMul, 1, {number()}},
      PointwiseOp{"aten::addcmul_",
                  "at::native::addcmul_cuda_kernel(at::TensorIteratorBase&, c10::Scalar "
                  "const&)::{lambda()#2}::operator()() const::{lambda(float, float, float)#1}",
                  3,
                  {Arg::scalar("0.050000000000000044")}},
      PointwiseOp{"aten::sqrt",
                  "at::native::sqrt_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()"
                  "() const::{lambda(float)#1}"},
      PointwiseOp{"aten::div",
                  "at::native::BUnaryFunctor<float, float, float, at::native::binary_internal::"
                  "MulFunctor<float> >",
                  1,
                  {number()}},
      PointwiseOp{"aten::add_",
                  "at::native::CUDAFunctorOnSelf_add<float>",
                  1,
                  {number(), Arg::scalar("1")}},
      PointwiseOp{"aten::addcdiv_",
                  "at::native::addcdiv_cuda_kernel(at::TensorIteratorBase&, c10::Scalar "
                  "const&)::{lambda()#2}::operator()() const::{lambda(float, float, float)#1}",
                  3,
                  {Arg::scalar("-0.0001")}}};
  const Tensor tensor{{elements / tensors}, {}, "float"};
  const Tensor step{{}, {}, "float"}; // the number of the step is on the host
  r.begin("Optimizer.step#AdamW.step", {}, {}, true);
  for (std::int64_t t = 0; t < tensors; ++t) {
    r.leaf("aten::add_", {step, Tensor{{}, {}, "long int"}, Arg::scalar("1")});
    r.begin("aten::item", {step});
    r.leaf("aten::_local_scalar_dense", {step});
    r.end();
    for (const PointwiseOp& op : ops)
      record_pointwise(r, op, tensor, tensor.dims[0] * 4);
  }
  r.end();
}

// torch/serialization.py: _save copies each storage to the host (torch/storage.py: cpu) and calls
// write_record. Names of built-in methods as in tests/data/causes/collection.
void record_checkpoint(Recorder& r, std::int64_t count, double ms) {
  constexpr double kWrittenBytesPerNs = 1.2, kCopiedBytesPerNs = 3.5;
  const auto bytes = static_cast<std::int64_t>(ms * 1e6 * kWrittenBytesPerNs);
  const Tensor storage{{bytes}, {}, "unsigned char"};
  r.begin_frame("train.py(214): save_checkpoint");
  r.begin_frame("torch/serialization.py(884): save");
  r.begin_frame("torch/serialization.py(1110): _save");
  for (std::int64_t k = 0; k < count; ++k) {
    r.begin_frame("torch/storage.py(264): cpu");
    r.begin_frame("<built-in method copy_ of UntypedStorage object at 0x7fc5bedd70c0>");
    r.begin("aten::copy_", {storage, storage, Arg::scalar("False")});
    r.copy("Memcpy DtoH (Device -> Host)", "Memcpy DtoH (Device -> Pageable)", bytes,
           std::llround(static_cast<double>(bytes) / kCopiedBytesPerNs));
    r.synchronize();
    r.end();
    r.end();
    r.end();
    r.begin_frame("<built-in method write_record of pybind11_builtins.pybind11_detail_function_"
                  "record_v1_system_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1 object at "
                  "0x7fc5bf3b1d20>");
    r.pause(ms);
    r.end();
  }
  r.end();
  r.end();
  r.end();
}

// tests/data/causes/collection
void record_collection(Recorder& r, double ms) {
  r.begin_frame("train.py(255): end_of_step");
  r.begin_frame("<built-in function collect>");
  r.pause(ms);
  r.end();
  r.end();
}

void record_compilation(Recorder& r, double ms, std::int64_t elements) {
  const CompilerRange dynamo = {
      "dynamo",
      1,
      {{"entire_frame_compile",
        0.99,
        {{"_compile.compile_inner (dynamo_timed)",
          0.99,
          {{"compile_attempt_0",
            0.93,
            {{"compile_attempt_0 (dynamo_timed)",
              0.99,
              {{"bytecode_tracing", 0.2, {}},
               {"OutputGraph.call_user_compiler (dynamo_timed)",
                0.7,
                {{"create_aot_dispatcher_function (dynamo_timed)", 0.3, {}},
                 {"compile_fx_inner (dynamo_timed)",
                  0.6,
                  {{"GraphLowering.run (dynamo_timed)", 0.3, {}},
                   {"GraphLowering.compile_to_fn (dynamo_timed)", 0.6, {}}}}}}}}}},
           {"build_guards", 0.05, {}}}}}}}};
  record_compiler(r, dynamo, ms);
  const Tensor tensor{{elements}, {}};
  r.begin("Torch-Compiled Region: 0/2", {});
  r.op("triton_poi_fused_add_mul_tanh_0", {tensor, tensor}, "triton_poi_fused_add_mul_tanh_0",
       elements * 4);
  r.end();
}

void record_side_stream(Recorder& r, std::int64_t count, double ms) {
  for (std::int64_t k = 0; k < count; ++k) {
    r.begin("aten::bincount", {Tensor{{1 << 20}, {}, "long int"}, Arg::none(), Arg::scalar("0")});
    r.on_other_stream("void at::native::kernelHistogram1D<long, long, long, 1, 2, -1>(...)",
                      std::llround(ms * 1e6));
    r.end();
    r.synchronize();
  }
}

std::int64_t record_gelu_chain(Recorder& r, const Tensor& tensor, std::int64_t seq) {
  const PointwiseOp tanh = {
      "aten::tanh",
      "at::native::tanh_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()"
      "() const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"};
  const PointwiseOp add_number = {"aten::add",
                                  "at::native::CUDAFunctorOnSelf_add<c10::BFloat16>",
                                  1,
                                  {Tensor{{}, {}, "long int"}, Arg::scalar("1")}};
  const std::array ops = {
      mul_number(), mul_number(), mul_tensors(), mul_tensors(), add_tensors("aten::add"),
      mul_number(), tanh,         add_number,    mul_tensors()};
  for (std::size_t k = 0; k < ops.size(); ++k)
    record_pointwise(r, ops[k], tensor, elements_of(tensor) * 2,
                     {seq + static_cast<std::int64_t>(k), false, OpFlow::kForward});
  return ops.size();
}

void record_gelu_chain_backward(Recorder& r, const Tensor& tensor, std::int64_t seq) {
  const PointwiseOp tanh = {
      "aten::tanh_backward",
      "at::native::tanh_backward_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() "
      "const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16, c10::BFloat16)#1}",
      2};
  const PointwiseOp add = add_tensors("aten::add_");
  record_node(r, "MulBackward0", seq + 8, tensor, {mul_tensors(), mul_tensors()});
  record_node(r, "AddBackward0", seq + 7, tensor, {});
  record_node(r, "TanhBackward0", seq + 6, tensor, {tanh});
  record_node(r, "MulBackward0", seq + 5, tensor, {mul_number()});
  record_node(r, "AddBackward0", seq + 4, tensor, {});
  record_node(r, "MulBackward0", seq + 3, tensor, {mul_tensors(), mul_tensors(), add});
  record_node(r, "MulBackward0", seq + 2, tensor, {mul_tensors(), mul_tensors(), add});
  record_node(r, "MulBackward0", seq + 1, tensor, {mul_number(), add});
  record_node(r, "MulBackward0", seq, tensor, {mul_number(), add});
}

// -- attention that writes its scores (tests/data/causes/attention)
namespace {

void record_bmm(Recorder& r, const Tensor& left, const Tensor& right, const char* layout,
                OpOptions options = {}) {
  const Args args = {left, right};
  r.begin("aten::bmm", args, options);
  r.batched_gemm(left.dims[0], left.dims[1], right.dims[2], left.dims[2], input_dims(args), layout);
  r.end();
}

/// Fills the future of each token; this copies the scores first.
void record_mask(Recorder& r, const Tensor& scores, const char* value, OpOptions options) {
  const Tensor mask{{scores.dims[2], scores.dims[3]}, {}, "bool"};
  const std::int64_t bytes = elements_of(scores) * 2;
  r.begin("aten::masked_fill", {scores, mask, Arg::scalar(value)}, options);
  r.begin("aten::clone", {scores, Arg::none()});
  r.begin("aten::copy_", {scores, scores, Arg::scalar("False")});
  r.copy("Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)", bytes,
         std::llround(2 * static_cast<double>(bytes) / kBytePerNs));
  r.end();
  r.end();
  r.op("aten::masked_fill_", {scores, mask, Arg::scalar(value)},
       "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
       "at::native::(anonymous namespace)::masked_fill_kernel(at::TensorIterator&, c10::Scalar "
       "const&)::{lambda()#1}::operator()() const::{lambda()#12}::operator()() const::{lambda("
       "c10::BFloat16, bool)#1}>(...)",
       2 * bytes);
  r.end();
}

} // namespace

std::int64_t record_attention(Recorder& r, const Heads& h, std::int64_t seq) {
  const Tensor query{{h.count, h.tokens, h.dim}, {}};
  const Tensor key{{h.count, h.dim, h.tokens}, {}};
  const Tensor flat{{h.count, h.tokens, h.tokens}, {}};
  const Tensor scores{{1, h.count, h.tokens, h.tokens}, {}};
  const auto numbered = [seq](std::int64_t k) {
    return OpOptions{seq + k, false, OpFlow::kForward};
  };
  r.begin("aten::matmul",
          {Tensor{{1, h.count, h.tokens, h.dim}, {}}, Tensor{{1, h.count, h.dim, h.tokens}, {}}});
  record_bmm(r, query, key, "NNN", numbered(0));
  r.end();
  record_pointwise(r, mul_number(), scores, elements_of(scores) * 2, numbered(1));
  record_mask(r, scores, "-inf", numbered(2));
  r.begin("aten::softmax", {scores, Arg::scalar("-1"), Arg::none()});
  r.op("aten::_softmax", {scores, Arg::scalar("-1"), Arg::scalar("False")},
       "void at::native::(anonymous namespace)::cunn_SoftMaxForwardReg<c10::BFloat16, float, "
       "c10::BFloat16, at::native::(anonymous namespace)::SoftMaxForwardEpilogue, long, 4>("
       "c10::BFloat16*, c10::BFloat16 const*, long)",
       elements_of(scores) * 4, numbered(3));
  r.end();
  r.begin("aten::matmul", {scores, Tensor{{1, h.count, h.tokens, h.dim}, {}}});
  record_bmm(r, flat, query, "NNN", numbered(4));
  r.end();
  return 5;
}

void record_attention_backward(Recorder& r, const Heads& h, std::int64_t seq) {
  const Tensor query{{h.count, h.tokens, h.dim}, {}};
  const Tensor key{{h.count, h.dim, h.tokens}, {}};
  const Tensor flat{{h.count, h.tokens, h.tokens}, {}};
  const Tensor scores{{1, h.count, h.tokens, h.tokens}, {}};
  const std::int64_t bytes = elements_of(scores) * 2;
  r.begin_node("BmmBackward0", seq + 4, query);
  record_bmm(r, flat, query, "NTN");
  record_bmm(r, query, key, "TNN");
  r.end_node();
  r.begin_node("SoftmaxBackward0", seq + 3, scores);
  record_pointwise(r, mul_tensors(), scores, bytes);
  r.op("aten::_softmax_backward_data", {scores, scores, Arg::scalar("-1"), Arg::scalar("15")},
       "void at::native::(anonymous namespace)::cunn_SoftMaxBackwardSmem<8, c10::BFloat16, "
       "float, c10::BFloat16, at::native::(anonymous namespace)::SoftMaxBackwardEpilogue>("
       "c10::BFloat16*, c10::BFloat16 const*, c10::BFloat16 const*, long)",
       bytes * 3);
  r.end_node();
  r.begin_node("MaskedFillBackward0", seq + 2, scores);
  record_mask(r, scores, "0", {});
  r.end_node();
  r.begin_node("MulBackward0", seq + 1, scores);
  record_pointwise(r, mul_number(), scores, bytes);
  r.end_node();
  r.begin_node("BmmBackward0", seq, flat);
  record_bmm(r, key, flat, "NTN");
  record_bmm(r, flat, query, "NNN");
  r.end_node();
}

// Operators, shapes and kernels of tests/data/causes/layout.
void record_convolution(Recorder& r, bool nchw) {
  constexpr std::int64_t kImages = 64, kChannels = 256, kSide = 56, kFilter = 3;
  const Tensor images{{kImages, kChannels, kSide, kSide}, {}};
  const Tensor filters{{kChannels, kChannels, kFilter, kFilter}, {}};
  const std::int64_t bytes = elements_of(images) * 2;
  const double flop = 2.0 * static_cast<double>(kImages * kSide * kSide) *
                      static_cast<double>(elements_of(filters));
  const Arg none = Arg::none(), one = Arg::scalar("1"), no = Arg::scalar("False"),
            yes = Arg::scalar("True"), ones = Arg::list("[1, 1]"), zeros = Arg::list("[0, 0]");
  const auto convert = [&](const char* name, std::int64_t moved) { r.compute(name, moved * 2); };
  constexpr const char* kToNhwc =
      "void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, "
      "false, "
      "true, (cudnnKernelDataType_t)0>(cudnn::engines_precompiled::nchw2nhwc_params_t<float>, "
      "__nv_bfloat16 const*, __nv_bfloat16*)";
  constexpr const char* kToNchw =
      "void cudnn::engines_precompiled::nhwcToNchwKernel<__nv_bfloat16, __nv_bfloat16, float, "
      "true, "
      "false, (cudnnKernelDataType_t)0>(cudnn::engines_precompiled::nhwc2nchw_params_t<float>, "
      "__nv_bfloat16 const*, __nv_bfloat16*)";
  r.begin("aten::conv2d", {images, filters, none, ones, ones, ones, one});
  r.begin("aten::convolution", {images, filters, none, ones, ones, ones, no, zeros, one});
  r.begin("aten::_convolution",
          {images, filters, none, ones, ones, ones, no, zeros, one, no, no, yes, yes});
  r.begin("aten::cudnn_convolution", {images, filters, ones, ones, ones, one, no, no, yes});
  if (nchw) {
    convert(kToNhwc, bytes);
    convert(kToNhwc, elements_of(filters) * 2);
  }
  const char* const product =
      "sm90_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_"
      "warpgroupsize1x1x1_g1_execute_segment_k_off_kernel__5x_cudnn";
  r.compute(product, product, 0, std::llround(flop / kFlopPerNs));
  if (nchw)
    convert(kToNchw, bytes);
  for (int k = 0; k < 4; ++k)
    r.end();
}

} // namespace rankscope::synth
