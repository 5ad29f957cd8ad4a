#include "synth/synth_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankscope::synth {
namespace {

// The model: a decoder with bf16 weights, sharded data parallel (all-gather of the next layer's
// weights in the forward pass, reduce-scatter of each layer's gradients in the backward pass).
constexpr std::int64_t kHidden = 4096;
constexpr std::int64_t kFfn = 14336;
constexpr std::int64_t kTokens = 4096;
constexpr std::int64_t kHeads = 32;
constexpr std::int64_t kHeadDim = kHidden / kHeads;
constexpr std::int64_t kVocab = 32000;
constexpr double kFlopPerNs = 5.2e5; // 520 TFLOP/s sustained bf16
constexpr double kBytePerNs = 3.2e3; // 3.2 TB/s
constexpr std::int64_t kTensorGroup = 2;

using Dims = std::vector<std::int64_t>;

struct Tensor {
  Dims dims;
  Dims strides; ///< empty: contiguous
  const char* type = "c10::BFloat16";
};

Dims contiguous(const Dims& dims) {
  Dims out(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;)
    out[i - 1] = out[i] * dims[i];
  return out;
}

/// The argument members that record_shapes adds, in the order of the profiler. Each scalar is given
/// by its text.
std::string shapes(const std::vector<Tensor>& tensors, const std::vector<std::string>& scalars) {
  std::string dims;
  std::string strides;
  std::string types;
  std::string concrete;
  const auto sep = [](std::string& s) { s += s.empty() ? "" : ", "; };
  for (const Tensor& t : tensors) {
    sep(dims), sep(strides), sep(types), sep(concrete);
    dims += fmt::format("[{}]", fmt::join(t.dims, ", "));
    strides +=
        fmt::format("[{}]", fmt::join(t.strides.empty() ? contiguous(t.dims) : t.strides, ", "));
    types += fmt::format("\"{}\"", t.type);
    concrete += "\"\"";
  }
  for (const std::string& s : scalars) {
    sep(dims), sep(strides), sep(types), sep(concrete);
    dims += "[]";
    strides += "[]";
    types += !s.empty() && s.front() == '[' ? "\"ScalarList\"" : s.empty() ? "\"\"" : "\"Scalar\"";
    concrete += fmt::format("\"{}\"", s);
  }
  return fmt::format("\"Concrete Inputs\": [{}], \"Input type\": [{}], \"Input Strides\": [{}], "
                     "\"Input Dims\": [{}]",
                     concrete, types, strides, dims);
}

std::string dims_of(const std::string& args) {
  const std::size_t at = args.find("\"Input Dims\": ");
  return at == std::string::npos ? std::string() : args.substr(at + 14);
}

struct OpOptions {
  std::int64_t seq = -1;
  bool backward = false;
  OpFlow flow = OpFlow::kNone;
};

class Builder {
public:
  Builder(const Options& options, const Groups& groups) : o_(options), groups_(groups) {}

  Program build() {
    begin("ProfilerStep", "", {}, true);
    input_copy();
    all_gather(0);
    embedding();
    for (std::int64_t l = 0; l < o_.layers; ++l)
      forward_layer(l);
    head();
    thread(1);
    head_backward();
    for (std::int64_t l = o_.layers; l-- > 0;)
      backward_layer();
    thread(0);
    grad_norm();
    optimizer();
    loss_item();
    end();
    for (const Op& op : p_.ops)
      p_.python_ops += op.depth == 1 && op.thread == 0 ? 1 : 0;
    for (const Kernel& k : p_.kernels)
      if (k.kind == KernelKind::kGemm || k.kind == KernelKind::kCompute)
        p_.compute_base_ns += k.base_ns;
    p_.seqs_per_step = seq_;
    return std::move(p_);
  }

private:
  void add(ActionKind kind, std::int32_t index, std::int32_t cost_ns) {
    p_.actions.push_back({kind, index, cost_ns});
  }
  std::int32_t here() const { return static_cast<std::int32_t>(p_.actions.size()); }

  std::int32_t begin(std::string name, std::string args, OpOptions options = {},
                     bool annotation = false) {
    Op op;
    op.name = std::move(name);
    op.annotation = annotation;
    op.args = std::move(args);
    op.seq = options.seq;
    op.backward = options.backward;
    op.flow = options.flow;
    op.depth = static_cast<std::int32_t>(stack_.size());
    op.thread = thread_;
    op.begin = here();
    const auto index = static_cast<std::int32_t>(p_.ops.size());
    p_.ops.push_back(std::move(op));
    stack_.push_back(index);
    add(ActionKind::kBegin, index, stack_.size() <= 2 ? 3200 : 1400);
    return index;
  }
  void end() {
    const std::int32_t index = stack_.back();
    stack_.pop_back();
    p_.ops[static_cast<std::size_t>(index)].end = here();
    add(ActionKind::kEnd, index, 900);
  }
  void leaf(const char* name, std::string args = "", OpOptions options = {}) {
    begin(name, std::move(args), options);
    end();
  }
  void thread(std::int32_t t) {
    thread_ = t;
    add(ActionKind::kThread, t, 6000);
  }

  /// Innermost cpu_op: annotations do not give kernels their External id.
  std::int32_t innermost_op() const {
    for (std::size_t i = stack_.size(); i-- > 0;)
      if (!p_.ops[static_cast<std::size_t>(stack_[i])].annotation)
        return stack_[i];
    return -1;
  }

  void runtime(const char* name, int cbid, std::int32_t kernel, std::int32_t cost_ns) {
    Call call;
    call.name = name;
    call.cbid = cbid;
    call.kernel = kernel;
    call.op = innermost_op();
    call.thread = thread_;
    call.begin = here();
    const auto index = static_cast<std::int32_t>(p_.calls.size());
    add(ActionKind::kRuntime, index, 900);
    call.end = here();
    add(ActionKind::kReturn, index, cost_ns);
    p_.calls.push_back(std::move(call));
  }

  void launch(Kernel kernel) {
    kernel.op = innermost_op();
    const auto index = static_cast<std::int32_t>(p_.kernels.size());
    const bool gemm = kernel.kind == KernelKind::kGemm;
    const bool comm = kernel.kind == KernelKind::kComm;
    const KernelKind kind = kernel.kind;
    p_.kernels.push_back(std::move(kernel));
    if (kind == KernelKind::kMemcpy)
      o_.nvidia ? runtime("cudaMemcpyAsync", 41, index, 5600)
                : runtime("hipMemcpyAsync", 134, index, 6600);
    else if (kind == KernelKind::kMemset)
      o_.nvidia ? runtime("cudaMemsetAsync", 51, index, 4100)
                : runtime("hipMemsetAsync", 160, index, 4600);
    else if (o_.nvidia)
      gemm || comm ? runtime("cudaLaunchKernelExC", 430, index, 4300)
                   : runtime("cudaLaunchKernel", 211, index, 4600);
    else
      gemm   ? runtime("hipExtModuleLaunchKernel", 65, index, 6200)
      : comm ? runtime("hipExtLaunchKernel", 62, index, 5900)
             : runtime("hipLaunchKernel", 107, index, 5200);
  }

  void compute(const char* amd, const char* nvidia, std::int64_t bytes, std::int64_t extra_ns = 0) {
    Kernel k;
    k.name = o_.nvidia ? nvidia : amd;
    k.kind = KernelKind::kCompute;
    k.base_ns =
        2200 + extra_ns + static_cast<std::int64_t>(static_cast<double>(bytes) / kBytePerNs);
    k.grid = fmt::format("[{}, 1, 1]", std::max<std::int64_t>(1, bytes / 8192));
    k.block = o_.nvidia ? "[128, 1, 1]" : "[256, 1, 1]";
    launch(std::move(k));
  }
  void elementwise(std::int64_t bytes) {
    compute("void at::native::vectorized_elementwise_kernel<8, "
            "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
            "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
            "void at::native::vectorized_elementwise_kernel<4, "
            "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
            "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
            bytes);
  }

  void gemm(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& dims, bool bias,
            const char* layout) {
    Kernel out;
    out.kind = KernelKind::kGemm;
    const std::int64_t tile_m = m >= 4096 ? 256 : 128;
    const std::int64_t tile_n = n >= 12288 ? 256 : n >= 4096 ? 192 : 128;
    if (o_.nvidia)
      out.name = fmt::format("nvjet_tst_{}x{}_64x{}_2x1_v_bz_{}{}", tile_m == 256 ? 256 : 128,
                             tile_n, tile_n == 256 ? 3 : 4, bias ? "bias_" : "", layout);
    else
      out.name = fmt::format(
          "Cijk_{}_BBS_BH{}_MT{}x{}x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_"
          "DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSUAMB_GLS0_ISA942_IU1_K1_LBSPPA1024_LBSPPB512_"
          "LRVW8_LWPMn1_MIAV0_MIWT{}_{}_MO40_NTn1_PGR2_PLR1_PKA1_SIA3_SS1_SRVW0_SVW8_SK0_TLDS1_"
          "USFGROn1_VSn1_VWA8_VWB4_WS64_WG32_8_1",
          layout[0] == 'T'   ? "Alik_Bljk"
          : layout[1] == 'N' ? "Ailk_Bljk"
                             : "Ailk_Bjlk",
          bias ? "_Bias_HA_S_SAV_UserArgs" : "_HA_S_SAV_UserArgs", tile_m, tile_n, tile_m / 32,
          tile_n / 32);
    const double flop =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    // narrow outputs fill the device less well
    const double efficiency = n >= 12288 ? 1.0 : n >= 4096 ? 0.92 : 0.8;
    out.base_ns =
        static_cast<std::int64_t>((5000.0 + flop / (kFlopPerNs * efficiency)) * o_.gemm_scale);
    out.grid = fmt::format("[{}, 1, 1]", (m + tile_m - 1) / tile_m * ((n + tile_n - 1) / tile_n) *
                                             (o_.nvidia ? 1 : 256));
    out.block = o_.nvidia ? "[384, 1, 1]" : "[256, 1, 1]";
    out.gemm_dims = dims;
    launch(std::move(out));
  }

  /// aten::linear with its transpose and addmm or mm; pushes what backward needs.
  void linear(std::int64_t n, std::int64_t k, bool bias) {
    const Tensor x{{1, kTokens, k}, {}};
    const Tensor w{{n, k}, {}};
    std::vector<Tensor> in = {x, w};
    if (bias)
      in.push_back({{n}, {}});
    begin("aten::linear",
          shapes(in, bias ? std::vector<std::string>{} : std::vector<std::string>{""}),
          {seq_, false, OpFlow::kNone});
    transpose(n, k, seq_++, false);
    const std::int64_t seq = seq_++;
    const Tensor a{{kTokens, k}, {}};
    const Tensor b{{k, n}, {1, k}};
    const std::string args = bias ? shapes({{{n}, {}}, a, b}, {"1", "1"}) : shapes({a, b}, {});
    begin(bias ? "aten::addmm" : "aten::mm", args, {seq, false, OpFlow::kForward});
    gemm(kTokens, n, k, dims_of(args), bias, "TNN");
    end();
    end();
    saved_.push_back({n, k, seq, bias});
  }

  void transpose(std::int64_t n, std::int64_t k, std::int64_t seq, bool backward) {
    begin("aten::t", shapes({{{n, k}, {}}}, {}),
          {seq, backward, backward ? OpFlow::kNone : OpFlow::kForward});
    begin("aten::transpose", shapes({{{n, k}, {}}}, {"0", "1"}), {seq, backward, OpFlow::kNone});
    leaf("aten::as_strided",
         shapes({{{n, k}, {}}}, {fmt::format("[{}, {}]", k, n), fmt::format("[1, {}]", k), ""}),
         {seq, backward, OpFlow::kNone});
    end();
    end();
  }

  std::int32_t wrapper(const std::string& node, std::int64_t seq) {
    begin("autograd::engine::evaluate_function: " + node, "", {seq, true, OpFlow::kNone});
    return begin(node, "", {seq, true, OpFlow::kBackward});
  }
  void wrapper_end() {
    end();
    end();
  }
  void accumulate() {
    begin("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", "",
          {-1, true, OpFlow::kNone});
    begin("torch::autograd::AccumulateGrad", "", {-1, true, OpFlow::kNone});
    leaf("aten::detach");
    end();
    end();
  }

  void linear_backward() {
    const Saved s = saved_.back();
    saved_.pop_back();
    wrapper(s.bias ? "AddmmBackward0" : "MmBackward0", s.seq);
    transpose(s.k, s.n, -1, true);
    const std::string grad_in = shapes({{{kTokens, s.n}, {}}, {{s.n, s.k}, {}}}, {});
    begin("aten::mm", grad_in, {});
    gemm(kTokens, s.k, s.n, dims_of(grad_in), false, "NNN");
    end();
    transpose(kTokens, s.n, -1, true);
    const std::string grad_weight = shapes({{{s.n, kTokens}, {1, s.n}}, {{kTokens, s.k}, {}}}, {});
    begin("aten::mm", grad_weight, {});
    gemm(s.n, s.k, kTokens, dims_of(grad_weight), false, "NTN");
    end();
    end(); // AddmmBackward0
    if (s.bias) {
      begin("aten::sum", shapes({{{kTokens, s.n}, {}}}, {"[0]", "True", ""}), {});
      compute("void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
              "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, "
              "float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
              "unsigned int, c10::BFloat16, 4> >(...)",
              "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
              "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, "
              "float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
              "unsigned int, c10::BFloat16, 4> >(...)",
              kTokens * s.n * 2);
      end();
    }
    end(); // evaluate_function
    wrapper("TBackward0", s.seq - 1);
    transpose(s.k, s.n, -1, true);
    wrapper_end();
    accumulate();
  }

  void layer_norm() {
    const Tensor x{{1, kTokens, kHidden}, {}};
    const Tensor w{{kHidden}, {}};
    const std::string size = fmt::format("[{}]", kHidden);
    begin("aten::layer_norm", shapes({x}, {size}), {seq_, false, OpFlow::kNone});
    const std::int64_t seq = seq_++;
    begin("aten::native_layer_norm", norm_shapes(x, w, size), {seq, false, OpFlow::kForward});
    leaf("aten::empty",
         shapes({}, {fmt::format("[1, {}, {}]", kTokens, kHidden), "15", "", "", "", ""}));
    compute("void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
            "float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, "
            "float*, float*, c10::BFloat16*)",
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
            "float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, "
            "float*, float*, c10::BFloat16*)",
            kTokens * kHidden * 4);
    end();
    end();
    norms_.push_back(seq);
  }
  static std::string norm_shapes(const Tensor& x, const Tensor& w, const std::string& size) {
    // input, normalized_shape, weight, bias, eps: the list stands between the tensors
    return fmt::format(
        "\"Concrete Inputs\": [\"\", \"{}\", \"\", \"\", \"1.0000000000000001e-05\"], \"Input "
        "type\": [\"c10::BFloat16\", \"ScalarList\", \"c10::BFloat16\", \"c10::BFloat16\", "
        "\"Scalar\"], \"Input Strides\": [[{}], [], [1], [1], []], \"Input Dims\": [[{}], [], "
        "[{}], [{}], []]",
        size, fmt::join(contiguous(x.dims), ", "), fmt::join(x.dims, ", "), w.dims[0], w.dims[0]);
  }
  void layer_norm_backward() {
    const std::int64_t seq = norms_.back();
    norms_.pop_back();
    wrapper("NativeLayerNormBackward0", seq);
    begin("aten::native_layer_norm_backward",
          shapes({{{1, kTokens, kHidden}, {}}, {{1, kTokens, kHidden}, {}}},
                 {fmt::format("[{}]", kHidden)}),
          {});
    compute("void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<"
            "c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float "
            "const*, c10::BFloat16 const*, c10::BFloat16*, int)",
            "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<"
            "c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float "
            "const*, c10::BFloat16 const*, c10::BFloat16*, int)",
            kTokens * kHidden * 6);
    compute("void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel_32x32<"
            "c10::BFloat16, float>(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float "
            "const*, float const*, c10::BFloat16*, c10::BFloat16*)",
            "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel_32x32<"
            "c10::BFloat16, float>(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float "
            "const*, float const*, c10::BFloat16*, c10::BFloat16*)",
            kTokens * kHidden * 4);
    end();
    wrapper_end();
    accumulate();
  }

  std::string add_shapes() const {
    const Tensor x{{1, kTokens, kHidden}, {}};
    return shapes({x, x}, {"1"});
  }
  void residual() {
    const std::int64_t seq = seq_++;
    begin("aten::add", add_shapes(), {seq, false, OpFlow::kForward});
    elementwise(kTokens * kHidden * 6);
    end();
    adds_.push_back(seq);
  }
  void residual_backward() {
    wrapper("AddBackward0", adds_.back());
    adds_.pop_back();
    wrapper_end();
    begin("aten::add_", add_shapes(), {-1, true, OpFlow::kNone});
    elementwise(kTokens * kHidden * 6);
    end();
  }

  std::vector<Tensor> qkv() const {
    const Tensor t{{1, kHeads, kTokens, kHeadDim},
                   {kTokens * kHidden * 3, kHeadDim, kHidden * 3, 1}};
    return {t, t, t};
  }
  void attention() {
    const std::int64_t seq = seq_++;
    begin("aten::scaled_dot_product_attention", shapes(qkv(), {"", "0.", "True", "", "False"}),
          {seq, false, OpFlow::kNone});
    begin("aten::_scaled_dot_product_flash_attention", shapes(qkv(), {"0.", "True", "False", ""}),
          {seq, false, OpFlow::kForward});
    const Tensor t{{1, kTokens, kHeads, kHeadDim},
                   {kTokens * kHidden * 3, kHidden * 3, kHeadDim, 1}};
    begin("aten::_flash_attention_forward",
          shapes({t, t, t}, {"", "", std::to_string(kTokens), std::to_string(kTokens), "0.", "True",
                             "False", "", "", "", "", ""}),
          {});
    const std::int64_t flop = 4 * kTokens * kTokens * kHidden / 2;
    compute("attn_fwd",
            "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, 128, "
            "64, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<128, "
            "128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, "
            "false>(pytorch_flash::Flash_fwd_params)",
            0, static_cast<std::int64_t>(static_cast<double>(flop) / (kFlopPerNs * 0.5)));
    end();
    end();
    end();
    attentions_.push_back(seq);
  }
  void attention_backward() {
    wrapper("ScaledDotProductFlashAttentionBackward0", attentions_.back());
    attentions_.pop_back();
    begin("aten::_scaled_dot_product_flash_attention_backward", shapes(qkv(), {}), {});
    begin("aten::_flash_attention_backward", shapes(qkv(), {}), {});
    const std::int64_t flop = 10 * kTokens * kTokens * kHidden / 2;
    compute("bwd_kernel_dk_dv",
            "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
            "pytorch_flash::Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, "
            "cutlass::bfloat16_t> >(pytorch_flash::Flash_bwd_params)",
            0, static_cast<std::int64_t>(static_cast<double>(flop) / (kFlopPerNs * 0.42)));
    end();
    end();
    wrapper_end();
  }

  void gelu() {
    const std::int64_t seq = seq_++;
    const Tensor x{{1, kTokens, kFfn}, {}};
    begin("aten::gelu", shapes({x}, {"none"}), {seq, false, OpFlow::kForward});
    compute(kGelu, kGelu, kTokens * kFfn * 4);
    end();
    gelus_.push_back(seq);
  }
  void gelu_backward() {
    const Tensor x{{1, kTokens, kFfn}, {}};
    wrapper("GeluBackward0", gelus_.back());
    gelus_.pop_back();
    begin("aten::gelu_backward", shapes({x, x}, {"none"}), {});
    compute(kGeluBackward, kGeluBackward, kTokens * kFfn * 6);
    end();
    wrapper_end();
  }

  void input_copy() {
    begin("aten::to",
          shapes({{{1, kTokens}, {}, "long int"}}, {"", "0", "", "False", "False", ""}));
    begin("aten::copy_",
          shapes({{{1, kTokens}, {}, "long int"}, {{1, kTokens}, {}, "long int"}}, {"True"}));
    Kernel k;
    k.name = o_.nvidia ? "Memcpy HtoD (Pinned -> Device)" : "Memcpy HtoD (Host -> Device)";
    k.kind = KernelKind::kMemcpy;
    k.bytes = kTokens * 8;
    k.base_ns = 4200;
    launch(std::move(k));
    end();
    end();
  }

  void embedding() {
    begin("aten::embedding", shapes({{{kVocab, kHidden}, {}}, {{1, kTokens}, {}, "long int"}},
                                    {"-1", "False", "False"}));
    compute("void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
            "unsigned int, 2, 2, -2, true>(...)",
            "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
            "unsigned int, 2, 2, -2, true>(...)",
            kTokens * kHidden * 4);
    end();
  }

  void head() {
    layer_norm();
    linear(kVocab, kHidden, false);
    const std::int64_t seq = seq_++;
    begin("aten::cross_entropy_loss", "", {seq, false, OpFlow::kNone});
    begin("aten::_log_softmax", shapes({{{kTokens, kVocab}, {}}}, {"1", "False"}),
          {seq, false, OpFlow::kForward});
    compute("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, "
            "float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(...)",
            "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, "
            "float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(...)",
            kTokens * kVocab * 4);
    end();
    end();
    loss_ = seq;
  }
  void head_backward() {
    wrapper("LogSoftmaxBackward0", loss_);
    begin("aten::_log_softmax_backward_data",
          shapes({{{kTokens, kVocab}, {}}, {{kTokens, kVocab}, {}}}, {"1", "15"}));
    compute("void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, c10::BFloat16, float, "
            "c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(...)",
            "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, c10::BFloat16, float, "
            "c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(...)",
            kTokens * kVocab * 6);
    end();
    wrapper_end();
    linear_backward();
    layer_norm_backward();
  }

  void forward_layer(std::int64_t layer) {
    add(ActionKind::kWaitComm, 1, 800); // weights of this layer
    wait_event();
    if (layer + 1 < o_.layers)
      all_gather(layer + 1);
    layer_norm();
    linear(3 * kHidden, kHidden, true);
    attention();
    linear(kHidden, kHidden, true);
    tensor_all_reduce();
    residual();
    layer_norm();
    linear(kFfn, kHidden, true);
    gelu();
    linear(kHidden, kFfn, true);
    tensor_all_reduce();
    residual();
  }

  void backward_layer() {
    residual_backward();
    linear_backward();
    gelu_backward();
    linear_backward();
    layer_norm_backward();
    residual_backward();
    linear_backward();
    attention_backward();
    linear_backward();
    layer_norm_backward();
    reduce_scatter();
  }

  std::int64_t layer_params() const {
    return 4 * kHidden * kHidden + 2 * kHidden * kFfn + 9 * kHidden;
  }
  std::int64_t group_size(int kind) const {
    return static_cast<std::int64_t>(
        groups_.groups[static_cast<std::size_t>(groups_.group_of[kind][0])].ranks.size());
  }

  void all_gather(std::int64_t) {
    const std::int64_t n = group_size(1);
    const std::int64_t shard = layer_params() / n;
    collective("c10d::_allgather_base_", "_allgather_base", "nccl:_all_gather_base", "BFloat16", 2,
               shard, shard * n, 1,
               o_.nvidia ? "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                         : "");
  }
  void reduce_scatter() {
    const std::int64_t n = group_size(1);
    const std::int64_t shard = layer_params() / n;
    collective(
        "c10d::_reduce_scatter_base_", "_reduce_scatter_base", "nccl:_reduce_scatter_base",
        "BFloat16", 2, shard * n, shard, 1,
        o_.nvidia ? "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                  : "");
  }
  void tensor_all_reduce() {
    if (o_.process_groups < 2)
      return;
    collective("c10d::allreduce_", "allreduce", "nccl:all_reduce", "BFloat16", 2, kTokens * kHidden,
               kTokens * kHidden, 2,
               o_.nvidia
                   ? "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                   : "");
    add(ActionKind::kWaitComm, 2, 800);
    wait_event();
  }
  void grad_norm() {
    begin("aten::_foreach_norm", "", {});
    compute("void at::native::(anonymous namespace)::multi_tensor_apply_kernel<...>(...)",
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<...>(...)",
            layer_params() * o_.layers * 2 / group_size(1));
    end();
    add(ActionKind::kWaitComm, 1, 800);
    wait_event();
    collective("c10d::allreduce_", "allreduce", "nccl:all_reduce", "Float", 4, 1, 1, 0,
               o_.nvidia
                   ? "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
                   : "");
    add(ActionKind::kWaitComm, 1, 800);
    wait_event();
  }
  void optimizer() {
    begin("Optimizer.step#AdamW.step", "", {}, true);
    for (int i = 0; i < 2; ++i) {
      begin("aten::_fused_adamw_", "", {});
      compute(kAdam, kAdam, layer_params() * o_.layers * 8 / group_size(1));
      end();
    }
    end();
    begin("Optimizer.zero_grad#AdamW.zero_grad", "", {}, true);
    begin("aten::zero_", shapes({{{layer_params() / group_size(1)}, {}, "float"}}, {}), {});
    Kernel k;
    k.name = "Memset (Device)";
    k.kind = KernelKind::kMemset;
    k.bytes = layer_params() / group_size(1) * 4;
    k.base_ns = 1500 + static_cast<std::int64_t>(static_cast<double>(k.bytes) / kBytePerNs);
    launch(std::move(k));
    end();
    end();
  }
  void loss_item() {
    begin("aten::item", shapes({{{}, {}, "float"}}, {}));
    begin("aten::_local_scalar_dense", shapes({{{}, {}, "float"}}, {}));
    Kernel k;
    k.name = o_.nvidia ? "Memcpy DtoH (Device -> Pinned)" : "Memcpy DtoH (Device -> Host)";
    k.kind = KernelKind::kMemcpy;
    k.bytes = 4;
    k.base_ns = 2400;
    launch(std::move(k));
    Call call;
    call.name = o_.nvidia ? "cudaStreamSynchronize" : "hipStreamSynchronize";
    call.cbid = o_.nvidia ? 131 : 199;
    call.op = innermost_op();
    call.begin = here();
    const auto index = static_cast<std::int32_t>(p_.calls.size());
    add(ActionKind::kRuntime, index, 700);
    add(ActionKind::kSync, 0, 0);
    call.end = here();
    add(ActionKind::kReturn, index, 2100);
    p_.calls.push_back(std::move(call));
    end();
    end();
  }
  void wait_event() {
    runtime(o_.nvidia ? "cudaStreamWaitEvent" : "hipStreamWaitEvent", o_.nvidia ? 147 : 200, -1,
            1100);
  }

  void collective(const char* op, const char* name, const char* note, const char* dtype, int size,
                  std::int64_t in, std::int64_t out, int kind, const char* kernel_name) {
    if (o_.process_groups < 2)
      kind = 0; // one group, so one sequence of numbers
    Collective c;
    c.name = name;
    c.dtype = dtype;
    c.in_nelems = in;
    c.out_nelems = out;
    c.full_bytes = std::max(in, out) * size;
    c.group_kind = kind;
    c.seq = p_.collectives_per_kind[kind]++;
    const auto index = static_cast<std::int32_t>(p_.collectives.size());
    const char* type = size == 2 ? "c10::BFloat16" : "float";
    const std::string args = shapes({{{out}, {}, type}, {{in}, {}, type}}, {});
    begin(op, args, {-1, thread_ == 1, OpFlow::kNone});
    const std::int32_t comms = begin("record_param_comms", args, {-1, thread_ == 1, OpFlow::kNone});
    p_.ops[static_cast<std::size_t>(comms)].collective = index;
    begin(note, "", {}, true);
    Kernel k;
    k.name = o_.nvidia ? kernel_name : "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)";
    k.kind = KernelKind::kComm;
    k.stream = kind == 2 ? 2 : 1;
    k.collective = index;
    launch(std::move(k));
    end();
    end();
    end();
    p_.collectives.push_back(std::move(c));
  }

  struct Saved {
    std::int64_t n, k, seq;
    bool bias;
  };
  static constexpr const char* kGelu =
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
      "at::native::GeluType)::{lambda()#2}::operator()() "
      "const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> "
      ">(...)";
  static constexpr const char* kGeluBackward =
      "void at::native::vectorized_elementwise_kernel<4, "
      "at::native::GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, "
      "at::native::GeluType)::{lambda()#2}::operator()() "
      "const::{lambda()#4}::operator()() const::{lambda(c10::BFloat16, c10::BFloat16)#1}, "
      "std::array<char*, 3ul> >(...)";
  static constexpr const char* kAdam =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
      "namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous "
      "namespace)::FusedAdamMathFunctor<float, 4, (at::native::(anonymous "
      "namespace)::ADAM_MODE)1, false> >(...)";

  const Options& o_;
  const Groups& groups_;
  Program p_;
  std::vector<std::int32_t> stack_;
  std::vector<Saved> saved_;
  std::vector<std::int64_t> norms_;
  std::vector<std::int64_t> adds_;
  std::vector<std::int64_t> attentions_;
  std::vector<std::int64_t> gelus_;
  std::int64_t loss_ = 0;
  std::int64_t seq_ = 0;
  std::int32_t thread_ = 0;
};

} // namespace

Groups make_groups(const Options& options) {
  Groups out;
  const auto n = static_cast<std::size_t>(options.ranks);
  const auto add = [&](int kind, std::vector<std::int64_t> ranks, const char* description) {
    const auto index = static_cast<std::int32_t>(out.groups.size());
    for (const std::int64_t r : ranks)
      out.group_of[kind][static_cast<std::size_t>(r)] = index;
    out.groups.push_back({std::to_string(out.groups.size()), description, std::move(ranks)});
  };
  for (auto& kind : out.group_of)
    kind.assign(n, 0);
  std::vector<std::int64_t> all;
  for (std::int64_t r = 0; r < options.ranks; ++r)
    all.push_back(r);
  add(0, all, "default_pg");
  if (options.process_groups < 2)
    return out;
  for (std::int64_t t = 0; t < kTensorGroup; ++t) {
    std::vector<std::int64_t> ranks;
    for (std::int64_t r = t; r < options.ranks; r += kTensorGroup)
      ranks.push_back(r);
    add(1, std::move(ranks), "data_parallel_group");
  }
  for (std::int64_t r = 0; r < options.ranks; r += kTensorGroup)
    add(2, {r, r + 1}, "tensor_model_parallel_group");
  return out;
}

Program make_program(const Options& options, const Groups& groups) {
  return Builder(options, groups).build();
}

} // namespace rankscope::synth
