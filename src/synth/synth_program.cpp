#include "synth/synth_causes.h"
#include "synth/synth_recorder.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <initializer_list>
#include <utility>

namespace rankscope::synth {
namespace {

// The model: a decoder with bf16 weights and sharded data parallelism. The forward pass all-gathers
// the weights of the next layer; the backward pass reduce-scatters the gradients of each layer.
constexpr std::int64_t kSynthProgramHidden = 4096;
constexpr std::int64_t kFfn = 14336;
constexpr std::int64_t kTokens = 4096; ///< tokens per step, unless a cause changes them
constexpr std::int64_t kHeads = 32;
constexpr std::int64_t kHeadDim = kSynthProgramHidden / kHeads;
constexpr std::int64_t kVocab = 32000;
constexpr std::int64_t kTensorGroup = 2;

class Builder {
public:
  Builder(const Options& options, const Groups& groups, bool last_configuration,
          double token_factor)
      : o_(options), groups_(groups), r_(options), last_(last_configuration),
        tokens_(std::llround((last_ && o_.inject.batch ? 2 : 1) * token_factor *
                             static_cast<double>(kTokens))) {}

  Program build() {
    r_.begin("ProfilerStep", {}, {}, true);
    add_work({AddedWork::kLoader, AddedWork::kPinning});
    input_copy();
    add_work({AddedWork::kPageable, AddedWork::kInput, AddedWork::kPython, AddedWork::kPieces,
              AddedWork::kCompilation});
    if (sharded())
      all_gather();
    convolutions();
    for (std::int64_t pass = 0; pass < std::max<std::int64_t>(1, o_.inject.passes); ++pass) {
      reduces_ = o_.inject.reduce_all || pass + 1 >= o_.inject.passes;
      forward_pass(pass == 0);
      backward_pass();
      if (o_.inject.update_all && pass + 1 < o_.inject.passes)
        optimizer();
    }
    grad_norm();
    add_work({AddedWork::kAllocator});
    optimizer();
    loss_item();
    add_work({AddedWork::kCheckpoint, AddedWork::kCollection});
    r_.end();
    Program out = r_.take();
    out.seqs_per_step = seq_;
    return out;
  }

private:
  [[nodiscard]] bool sharded() const { return o_.inject.passes == 0; }
  void forward_pass(bool first) {
    embedding();
    if (last_ && o_.inject.tile)
      r_.other_tile();
    for (std::int64_t l = 0; l < o_.layers; ++l) {
      layer_factor_ = l == 0 && last_ ? o_.inject.first_layer : 1;
      r_.gemm_factor(layer_factor_);
      forward_layer(l);
      if (l == 0 && first)
        add_work({AddedWork::kItem, AddedWork::kConcat, AddedWork::kSideStream});
    }
    r_.gemm_factor(1);
    if (o_.inject.more_rank >= 0 && first)
      extra_gemm();
    head();
  }
  void backward_pass() {
    r_.thread(1);
    head_backward();
    for (std::int64_t l = o_.layers; l-- > 0;)
      backward_layer();
    r_.thread(0);
    if (!sharded() && reduces_)
      r_.wait_for_comm(1);
  }
  /// Returns a tensor of hidden states.
  [[nodiscard]] Tensor states(std::int64_t width = kSynthProgramHidden) const {
    return {{1, tokens_, width}, {}};
  }
  void extra_gemm() {
    r_.begin_cause(o_.inject.more_rank);
    const Args args = {Tensor{{tokens_, kSynthProgramHidden}, {}},
                       Tensor{{kSynthProgramHidden, kFfn}, {1, kSynthProgramHidden}}};
    r_.begin("aten::mm", args);
    r_.gemm(tokens_, kFfn, kSynthProgramHidden, input_dims(args), false, "TNN");
    r_.end();
    r_.end_cause();
  }
  /// Adds a kernel that overlaps the all-reduce of the gradient norm, which is otherwise exposed.
  void overlapping_kernel() {
    r_.begin_cause(o_.inject.overlap_rank);
    r_.begin("aten::add", {states(), states(), Arg::scalar("1")});
    elementwise(tokens_ * kSynthProgramHidden * 64);
    r_.end();
    r_.end_cause();
  }
  /// Records the usual work, or other work of a cause in its place.
  template <class Usual, class Other>
  void replace_if(bool replaced, const Usual& usual, const Other& other) {
    if (!replaced)
      return usual();
    const Recorder::Scope scope = r_.scope();
    r_.begin_replaced();
    usual();
    r_.set_scope(scope);
    r_.begin_cause(-1);
    other();
    r_.set_scope(scope);
  }
  void add_work(std::initializer_list<AddedWork> causes) {
    for (const InjectedWork& cause : o_.inject.work)
      if (std::ranges::find(causes, cause.cause) != causes.end())
        add_work_of(cause);
  }
  void add_work_of(const InjectedWork& work) {
    r_.begin_cause(work.rank);
    const auto call_of = [&](const char* amd, const char* nvidia, int cbid) {
      for (std::int64_t k = 0; k < work.count; ++k)
        r_.runtime(o_.nvidia ? nvidia : amd, cbid, -1, static_cast<std::int32_t>(work.ms * 1e6));
    };
    switch (work.cause) {
    case AddedWork::kLoader:
      r_.begin("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", {}, {}, true);
      r_.pause(work.ms);
      r_.end();
      break;
    case AddedWork::kPython:
      r_.pause(work.ms);
      break;
    case AddedWork::kAllocator:
      call_of("hipMalloc", "cudaMalloc", 20);
      break;
    case AddedWork::kPinning:
      call_of("hipHostMalloc", "cudaHostAlloc", 112);
      break;
    case AddedWork::kItem:
      for (std::int64_t k = 0; k < work.count; ++k)
        loss_item(work.ms);
      break;
    case AddedWork::kPageable: {
      constexpr double kPageableBytesPerNs = 3.5;
      r_.block_next();
      copy_from_host("Memcpy HtoD (Pageable -> Device)", work, kPageableBytesPerNs);
      break;
    }
    case AddedWork::kInput: {
      constexpr double kPinnedBytesPerNs = 24;
      copy_from_host("Memcpy HtoD (Pinned -> Device)", work, kPinnedBytesPerNs);
      break;
    }
    case AddedWork::kPieces:
      for (std::int64_t k = 0; k < work.count; ++k)
        compiled_piece(k, work.ms);
      break;
    case AddedWork::kConcat:
      for (std::int64_t k = 0; k < work.count; ++k)
        concat(bytes_of(work));
      break;
    case AddedWork::kZeroGrad:
      zero_grad(bytes_of(work));
      break;
    case AddedWork::kCheckpoint:
      record_checkpoint(r_, work.count, work.ms);
      break;
    case AddedWork::kCollection:
      record_collection(r_, work.ms);
      break;
    case AddedWork::kCompilation:
      record_compilation(r_, work.ms, tokens_ * kSynthProgramHidden);
      break;
    case AddedWork::kSideStream:
      record_side_stream(r_, work.count, work.ms);
      break;
    }
    r_.end_cause();
  }
  static std::int64_t bytes_of(const InjectedWork& work) {
    return static_cast<std::int64_t>(work.ms * 1e6);
  }
  void copy_from_host(const char* nvidia, const InjectedWork& work, double bytes_per_ns) {
    const std::int64_t bytes = bytes_of(work);
    const Tensor data{{bytes / 4}, {}, "float"};
    r_.begin("aten::copy_", {data, data, Arg::scalar("False")});
    r_.copy("Memcpy HtoD (Host -> Device)", nvidia, bytes,
            std::llround(static_cast<double>(bytes) / bytes_per_ns));
    r_.end();
  }
  /// Adds one piece of compiled code, and the host time until the next piece.
  void compiled_piece(std::int64_t number, double ms) {
    r_.begin(fmt::format("Torch-Compiled Region: {}/0", number), {}, {}, true);
    r_.compute("triton_poi_fused_add_0", tokens_ * kSynthProgramHidden * 6);
    r_.end();
    r_.pause(ms);
    r_.leaf("TorchDynamo Cache Lookup", {});
  }
  void concat(std::int64_t bytes) {
    const Tensor half{{bytes / 4 / kSynthProgramHidden, kSynthProgramHidden}, {}};
    r_.op("aten::cat", {Arg::tensors({half, half}), Arg::scalar("0")},
          "void at::native::(anonymous namespace)::CatArrayBatchedCopy_aligned16_contig<"
          "at::native::(anonymous namespace)::OpaqueType<2u>, unsigned int, 2, 128, 1>(...)",
          bytes);
  }
  void elementwise(std::int64_t bytes) {
    r_.compute("void at::native::vectorized_elementwise_kernel<8, "
               "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
               "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
               "void at::native::vectorized_elementwise_kernel<4, "
               "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, "
               "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)",
               bytes);
  }

  /// Records aten::linear with its transpose and addmm or mm. Stores the data that the backward
  /// pass needs.
  void linear(std::int64_t n, std::int64_t k, bool bias) {
    const Tensor b{{n}, {}};
    r_.begin("aten::linear", {states(k), Tensor{{n, k}, {}}, bias ? Arg(b) : Arg::none()},
             {seq_, false, OpFlow::kNone});
    transpose(n, k, seq_++, false);
    const std::int64_t seq = seq_++;
    Args args = {Tensor{{tokens_, k}, {}}, Tensor{{k, n}, {1, k}}};
    if (bias) {
      args.insert(args.begin(), b);
      args.insert(args.end(), {Arg::scalar("1"), Arg::scalar("1")});
    }
    std::string dims = input_dims(args);
    r_.begin(bias ? "aten::addmm" : "aten::mm", std::move(args), {seq, false, OpFlow::kForward});
    r_.gemm(tokens_, n, k, std::move(dims), bias, "TNN");
    r_.end();
    r_.end();
    saved_.linears.push_back({n, k, seq, bias});
  }

  void transpose(std::int64_t n, std::int64_t k, std::int64_t seq, bool backward) {
    const Tensor w{{n, k}, {}};
    r_.begin("aten::t", {w}, {seq, backward, backward ? OpFlow::kNone : OpFlow::kForward});
    r_.begin("aten::transpose", {w, Arg::scalar("0"), Arg::scalar("1")},
             {seq, backward, OpFlow::kNone});
    r_.leaf("aten::as_strided",
            {w, Arg::list(fmt::format("[{}, {}]", k, n)), Arg::list(fmt::format("[1, {}]", k)),
             Arg::none()},
            {seq, backward, OpFlow::kNone});
    r_.end();
    r_.end();
  }

  void accumulate(const Tensor& grad) {
    r_.begin("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", {},
             {-1, true, OpFlow::kNone});
    r_.begin("torch::autograd::AccumulateGrad", {grad}, {-1, true, OpFlow::kNone});
    r_.leaf("aten::detach", {grad});
    r_.end();
    r_.end();
  }

  /// Records the forward pass of a layer again, up to the last tensor that its backward pass needs,
  /// as torch.utils.checkpoint does with use_reentrant=False (tests/data/causes/recompute).
  void recompute_layer() {
    const Pending saved = saved_;
    const Recorder::Scope scope = r_.scope();
    r_.begin_cause(-1);
    layer_norm();
    linear(3 * kSynthProgramHidden, kSynthProgramHidden, true);
    attention();
    linear(kSynthProgramHidden, kSynthProgramHidden, true);
    residual();
    layer_norm();
    linear(kFfn, kSynthProgramHidden, true);
    gelu();
    r_.set_scope(scope);
    saved_ = saved;
  }

  /// Records convolutions of images before the forward pass.
  void convolutions() {
    r_.begin_cause(-1);
    for (std::int64_t k = 0; k < o_.inject.convolutions; ++k)
      record_convolution(r_, o_.inject.nchw);
    r_.end_cause();
  }

  void linear_backward() {
    const Saved s = saved_.linears.back();
    saved_.linears.pop_back();
    r_.begin_node(s.bias ? "AddmmBackward0" : "MmBackward0", s.seq, {{tokens_, s.n}, {}});
    if (std::exchange(again_, false))
      recompute_layer();
    transpose(s.k, s.n, -1, true);
    const Args grad_in = {Tensor{{tokens_, s.n}, {}}, Tensor{{s.n, s.k}, {}}};
    r_.begin("aten::mm", grad_in);
    r_.gemm(tokens_, s.k, s.n, input_dims(grad_in), false, "NNN");
    r_.end();
    transpose(tokens_, s.n, -1, true);
    const Args grad_weight = {Tensor{{s.n, tokens_}, {1, s.n}}, Tensor{{tokens_, s.k}, {}}};
    r_.begin("aten::mm", grad_weight);
    r_.gemm(s.n, s.k, tokens_, input_dims(grad_weight), false, "NTN");
    r_.end();
    r_.end(); // ends AddmmBackward0
    if (s.bias) {
      r_.op("aten::sum",
            {Tensor{{tokens_, s.n}, {}}, Arg::list("[0]"), Arg::scalar("True"), Arg::none()},
            kReduce, tokens_ * s.n * 2);
    }
    r_.end(); // ends evaluate_function
    r_.begin_node("TBackward0", s.seq - 1, {{s.k, s.n}, {1, s.k}});
    transpose(s.k, s.n, -1, true);
    r_.end_node();
    accumulate({{s.n, s.k}, {}});
  }

  void layer_norm() {
    const Tensor w{{kSynthProgramHidden}, {}};
    const Arg size = Arg::list(fmt::format("[{}]", kSynthProgramHidden));
    const Arg epsilon = Arg::scalar("1.0000000000000001e-05");
    r_.begin("aten::layer_norm", {states(), size, w, w, epsilon, Arg::scalar("True")},
             {seq_, false, OpFlow::kNone});
    const std::int64_t seq = seq_++;
    r_.begin("aten::native_layer_norm", {states(), size, w, w, epsilon},
             {seq, false, OpFlow::kForward});
    r_.leaf("aten::empty", {Arg::list(fmt::format("[1, {}, {}]", tokens_, kSynthProgramHidden)),
                            Arg::scalar("15"), Arg::none(), Arg::none(), Arg::none(), Arg::none()});
    r_.compute(kLayerNorm, tokens_ * kSynthProgramHidden * 4);
    r_.end();
    r_.end();
    saved_.norms.push_back(seq);
  }
  void layer_norm_backward() {
    const std::int64_t seq = saved_.norms.back();
    saved_.norms.pop_back();
    r_.begin_node("NativeLayerNormBackward0", seq, states());
    const Tensor w{{kSynthProgramHidden}, {}};
    const Tensor moment{{1, tokens_, 1}, {}, "float"}; // mean, reciprocal of the deviation
    r_.begin("aten::native_layer_norm_backward",
             {states(), states(), Arg::list(fmt::format("[{}]", kSynthProgramHidden)), moment,
              moment, w, w, Arg::list("[True, True, True]")});
    r_.compute(kLayerNormInput, tokens_ * kSynthProgramHidden * 6);
    r_.compute(kLayerNormWeights, tokens_ * kSynthProgramHidden * 4);
    r_.end();
    r_.end_node();
    accumulate(w);
  }

  void add(const char* name, OpOptions options) {
    r_.begin(name, {states(), states(), Arg::scalar("1")}, options);
    elementwise(tokens_ * kSynthProgramHidden * 6);
    r_.end();
  }
  void residual() {
    const std::int64_t seq = seq_++;
    add("aten::add", {seq, false, OpFlow::kForward});
    saved_.adds.push_back(seq);
  }
  void residual_backward() {
    r_.begin_node("AddBackward0", saved_.adds.back(), states());
    saved_.adds.pop_back();
    r_.end_node();
    add("aten::add_", {-1, true, OpFlow::kNone});
  }

  // scaled_dot_product_attention takes heads before tokens, its kernels take tokens before heads
  [[nodiscard]] Tensor head_states() const {
    return {{1, kHeads, tokens_, kHeadDim},
            {tokens_ * kSynthProgramHidden * 3, kHeadDim, kSynthProgramHidden * 3, 1}};
  }
  [[nodiscard]] Tensor token_states() const {
    return {{1, tokens_, kHeads, kHeadDim},
            {tokens_ * kSynthProgramHidden * 3, kSynthProgramHidden * 3, kHeadDim, 1}};
  }
  static Arg scale() {
    return Arg::scalar("0.088388347648318447"); // 1 / sqrt(kHeadDim)
  }
  [[nodiscard]] Heads heads() const { return {kHeads, tokens_, kHeadDim}; }
  void attention() {
    replace_if(
        o_.inject.scores, [this] { flash_attention(); },
        [this] {
          saved_.written_attentions.push_back(seq_);
          seq_ += record_attention(r_, heads(), seq_);
        });
  }
  void attention_backward() {
    replace_if(
        o_.inject.scores, [this] { flash_attention_backward(); },
        [this] {
          record_attention_backward(r_, heads(), saved_.written_attentions.back());
          saved_.written_attentions.pop_back();
        });
  }
  void flash_attention() {
    const std::int64_t seq = seq_++;
    const Tensor h = head_states();
    const Tensor t = token_states();
    const Arg none = Arg::none();
    const Arg zero = Arg::scalar("0.");
    const Arg yes = Arg::scalar("True");
    const Arg no = Arg::scalar("False");
    r_.begin("aten::scaled_dot_product_attention", {h, h, h, none, zero, yes, none, no},
             {seq, false, OpFlow::kNone});
    r_.begin("aten::_scaled_dot_product_flash_attention", {h, h, h, zero, yes, no, scale()},
             {seq, false, OpFlow::kForward});
    const Arg length = Arg::scalar(std::to_string(tokens_));
    r_.begin("aten::_flash_attention_forward",
             {t, t, t, none, none, length, length, zero, yes, no, scale(), none, none, none, none});
    const std::int64_t flop = 4 * tokens_ * tokens_ * kSynthProgramHidden / 2;
    r_.compute("attn_fwd",
               "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<128, "
               "128, 64, 4, false, false, cutlass::bfloat16_t, pytorch_flash::Flash_kernel_traits<"
               "128, 128, 64, 4, cutlass::bfloat16_t> >, false, true, false, false, true, true, "
               "false>(pytorch_flash::Flash_fwd_params)",
               0, static_cast<std::int64_t>(static_cast<double>(flop) / (kFlopPerNs * 0.5)));
    r_.end();
    r_.end();
    r_.end();
    saved_.attentions.push_back(seq);
  }
  void flash_attention_backward() {
    const Tensor grad{{1, kHeads, tokens_, kHeadDim},
                      {tokens_ * kSynthProgramHidden, kHeadDim, kSynthProgramHidden, 1}};
    r_.begin_node("ScaledDotProductFlashAttentionBackward0", saved_.attentions.back(), grad);
    saved_.attentions.pop_back();
    const Tensor h = head_states();
    const Tensor t = token_states();
    const Tensor out{{1, tokens_, kHeads, kHeadDim}, {}};
    const Tensor log_sum{{1, kHeads, tokens_}, {}, "float"};
    const Tensor random{{}, {}, "long int"}; // seed or offset
    const Arg none = Arg::none();
    const Arg zero = Arg::scalar("0.");
    const Arg yes = Arg::scalar("True");
    const Arg length = Arg::scalar(std::to_string(tokens_));
    r_.begin("aten::_scaled_dot_product_flash_attention_backward",
             {grad, h, h, h, grad, log_sum, none, none, length, length, zero, yes, random, random,
              scale()});
    r_.begin("aten::_flash_attention_backward",
             {out, t, t, t, out, log_sum, none, none, length, length, zero, yes, random, random,
              scale(), none, none});
    const std::int64_t flop = 10 * tokens_ * tokens_ * kSynthProgramHidden / 2;
    r_.compute("bwd_kernel_dk_dv",
               "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<"
               "pytorch_flash::Flash_bwd_kernel_traits<128, 64, 128, 8, 2, 4, 2, false, false, "
               "cutlass::bfloat16_t> >(pytorch_flash::Flash_bwd_params)",
               0, static_cast<std::int64_t>(static_cast<double>(flop) / (kFlopPerNs * 0.42)));
    r_.end();
    r_.end();
    r_.end_node();
  }

  void gelu() {
    replace_if(
        o_.inject.pointwise, [this] { fused_gelu(); },
        [this] {
          saved_.chains.push_back(seq_);
          seq_ += record_gelu_chain(r_, states(kFfn), seq_);
        });
  }
  void gelu_backward() {
    replace_if(
        o_.inject.pointwise, [this] { fused_gelu_backward(); },
        [this] {
          record_gelu_chain_backward(r_, states(kFfn), saved_.chains.back());
          saved_.chains.pop_back();
        });
  }
  void fused_gelu() {
    const std::int64_t seq = seq_++;
    r_.op("aten::gelu", {states(kFfn), Arg::none()}, kGelu, tokens_ * kFfn * 4,
          {seq, false, OpFlow::kForward});
    saved_.gelus.push_back(seq);
  }
  void fused_gelu_backward() {
    r_.begin_node("GeluBackward0", saved_.gelus.back(), states(kFfn));
    saved_.gelus.pop_back();
    r_.op("aten::gelu_backward", {states(kFfn), states(kFfn), Arg::none()}, kGeluBackward,
          tokens_ * kFfn * 6);
    r_.end_node();
  }

  void input_copy() {
    const Tensor tokens{{1, tokens_}, {}, "long int"};
    r_.begin("aten::to", {tokens, Arg::scalar("4"), Arg::scalar("0"), Arg::none(), Arg::none(),
                          Arg::scalar("True"), Arg::scalar("False"), Arg::none()});
    r_.begin("aten::copy_", {tokens, tokens, Arg::scalar("True")});
    r_.copy("Memcpy HtoD (Host -> Device)", "Memcpy HtoD (Pinned -> Device)", tokens_ * 8, 4200);
    r_.end();
    r_.end();
  }

  void embedding() {
    r_.op("aten::embedding",
          {Tensor{{vocabulary(), kSynthProgramHidden}, {}}, Tensor{{1, tokens_}, {}, "long int"},
           Arg::scalar("-1"), Arg::scalar("False"), Arg::scalar("False")},
          kEmbedding, tokens_ * kSynthProgramHidden * 4);
  }

  void head() {
    layer_norm();
    unaligned_products(true);
    linear(vocabulary(), kSynthProgramHidden, false);
    unaligned_products(false);
    const std::int64_t seq = seq_++;
    const Tensor logits{{tokens_, vocabulary()}, {}};
    r_.begin("aten::cross_entropy_loss",
             {logits, Tensor{{tokens_}, {}, "long int"}, Arg::none(), Arg::scalar("1"),
              Arg::scalar("-100"), Arg::scalar("0.")},
             {seq, false, OpFlow::kNone});
    r_.op("aten::_log_softmax", {logits, Arg::scalar("1"), Arg::scalar("False")}, kSoftmax,
          tokens_ * kVocab * 4, {seq, false, OpFlow::kForward});
    r_.end();
    loss_ = seq;
  }
  void head_backward() {
    const Tensor logits{{tokens_, vocabulary()}, {}};
    r_.begin_node("LogSoftmaxBackward0", loss_, logits);
    r_.op("aten::_log_softmax_backward_data", {logits, logits, Arg::scalar("1"), Arg::scalar("15")},
          kSoftmaxBackward, tokens_ * kVocab * 6);
    r_.end_node();
    unaligned_products(true);
    linear_backward();
    unaligned_products(false);
    layer_norm_backward();
  }
  [[nodiscard]] std::int64_t vocabulary() const {
    return o_.inject.vocabulary_factor > 0 ? kVocab + 1 : kVocab;
  }
  /// Begins or ends the products of the injected vocabulary.
  void unaligned_products(bool begin) {
    if (o_.inject.vocabulary_factor <= 0)
      return;
    r_.unaligned(begin);
    r_.gemm_factor(begin ? o_.inject.vocabulary_factor : 1);
  }

  void forward_layer(std::int64_t layer) {
    if (sharded())
      r_.wait_for_comm(1); // wait for the weights of this layer
    if (sharded() && layer + 1 < o_.layers)
      all_gather();
    layer_norm();
    linear(3 * kSynthProgramHidden, kSynthProgramHidden, true);
    attention();
    linear(kSynthProgramHidden, kSynthProgramHidden, true);
    tensor_all_reduce();
    exchange_tokens();
    residual();
    layer_norm();
    r_.gemm_factor(layer_factor_ * o_.inject.shape_factor);
    linear(kFfn, kSynthProgramHidden, true);
    r_.gemm_factor(layer_factor_);
    gelu();
    linear(kSynthProgramHidden, kFfn, true);
    tensor_all_reduce();
    residual();
  }

  void backward_layer() {
    again_ = o_.inject.recompute;
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
    if (sharded())
      reduce_scatter();
    else if (reduces_)
      gradient_all_reduce();
  }

  std::int64_t layer_params() const {
    return 4 * kSynthProgramHidden * kSynthProgramHidden + 2 * kSynthProgramHidden * kFfn +
           9 * kSynthProgramHidden;
  }
  std::int64_t group_size(int kind) const {
    return static_cast<std::int64_t>(
        groups_.groups[static_cast<std::size_t>(groups_.group_of[kind][0])].ranks.size());
  }

  void all_gather() {
    const std::int64_t n = group_size(1);
    const std::int64_t shard = layer_params() / n;
    r_.collective({"c10d::_allgather_base_",
                   "_allgather_base",
                   "nccl:_all_gather_base",
                   "BFloat16",
                   "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                   shard,
                   shard * n,
                   1,
                   {Arg::none()},
                   false});
  }
  void reduce_scatter() {
    const std::int64_t n = group_size(1);
    const std::int64_t shard = layer_params() / n;
    r_.collective({"c10d::_reduce_scatter_base_",
                   "_reduce_scatter_base",
                   "nccl:_reduce_scatter_base",
                   "BFloat16",
                   "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
                   shard * n,
                   shard,
                   1,
                   {Arg::none(), Arg::none(), Arg::scalar("-1")},
                   false});
  }
  void all_reduce(const char* dtype, const char* kernel, std::int64_t elements, int kind) {
    // arguments: process group, operation, sparse indices, timeout
    r_.collective({"c10d::allreduce_",
                   "allreduce",
                   "nccl:all_reduce",
                   dtype,
                   kernel,
                   elements,
                   elements,
                   kind,
                   {Arg::none(), Arg::none(), Arg::none(), Arg::scalar("-1")},
                   true});
  }
  /// Adds the all-to-all that gives the tokens to the experts.
  void exchange_tokens() {
    if (o_.inject.exchange_rank < 0)
      return;
    r_.begin_cause(-1);
    constexpr std::int64_t kExpertsPerToken = 8;
    const std::int64_t elements = kExpertsPerToken * tokens_ * kSynthProgramHidden;
    r_.collective({"c10d::alltoall_base_",
                   "all_to_allv",
                   "nccl:all_to_all",
                   "BFloat16",
                   "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)",
                   elements,
                   elements,
                   0,
                   {Arg::none(), Arg::none(), Arg::none(), Arg::scalar("-1")},
                   false,
                   o_.inject.exchange_rank,
                   o_.inject.exchange_factor});
    r_.wait_for_comm(1);
    r_.end_cause();
  }
  void tensor_all_reduce() {
    if (o_.process_groups < 2)
      return;
    all_reduce("BFloat16",
               "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
               tokens_ * kSynthProgramHidden, 2);
    r_.wait_for_comm(2);
  }
  /// Adds the all-reduce of a bucket, which begins when its last gradient is ready.
  void gradient_all_reduce() {
    r_.begin("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", {},
             {-1, true, OpFlow::kNone});
    all_reduce("BFloat16",
               "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
               layer_params(), 1);
    r_.end();
  }
  void small_all_reduces() {
    if (o_.inject.small_count == 0)
      return;
    r_.begin_cause(-1);
    for (std::int64_t k = 0; k < o_.inject.small_count; ++k)
      all_reduce("Float", kAllReduceF32, o_.inject.small_bytes / 4, 0);
    r_.wait_for_comm(1);
    r_.end_cause();
  }
  // the profiler omits the shapes of a list of more than 30 tensors; a model has more parameters
  static Arg all_params() { return Arg::tensors({}); }
  void grad_norm() {
    r_.op("aten::_foreach_norm", {all_params(), Arg::scalar("2"), Arg::none()}, kNorm,
          layer_params() * o_.layers * 2 / group_size(1));
    r_.wait_for_comm(1);
    small_all_reduces();
    all_reduce("Float", kAllReduceF32, 1, 0);
    if (o_.inject.overlap_rank >= 0)
      overlapping_kernel();
    r_.wait_for_comm(1);
  }
  void optimizer() {
    replace_if(
        o_.inject.optimizer_tensors > 0, [this] { fused_optimizer(); },
        [this] {
          record_optimizer_loop(r_, o_.inject.optimizer_tensors,
                                layer_params() * o_.layers / group_size(1));
        });
    zero_grad(layer_params() / group_size(1) * 4);
    add_work({AddedWork::kZeroGrad});
  }
  void fused_optimizer() {
    r_.begin("Optimizer.step#AdamW.step", {}, {}, true);
    for (int i = 0; i < 2; ++i) {
      // lists: parameters, gradients, two averages, largest averages, steps; then rate, betas,
      // decay, epsilon, amsgrad, maximize, gradient scale, found infinity
      Args args(6, all_params());
      for (const char* value : {"0.0001", "0.90000000000000002", "0.94999999999999996",
                                "0.10000000000000001", "1e-08", "False", "False"})
        args.push_back(Arg::scalar(value));
      args.insert(args.end(), {Arg::none(), Arg::none()});
      r_.op("aten::_fused_adamw_", std::move(args), kAdam,
            layer_params() * o_.layers * 8 / group_size(1));
    }
    r_.end();
  }
  void zero_grad(std::int64_t bytes) {
    r_.begin("Optimizer.zero_grad#AdamW.zero_grad", {}, {}, true);
    r_.begin("aten::zero_", {Tensor{{bytes / 4}, {}, "float"}});
    Kernel k;
    k.name = "Memset (Device)";
    k.kind = KernelKind::kMemset;
    k.bytes = bytes;
    k.base_ns = 1500 + static_cast<std::int64_t>(static_cast<double>(k.bytes) / kBytePerNs);
    r_.launch(std::move(k));
    r_.end();
    r_.end();
  }
  void loss_item(double wake_up_ms = 0) {
    const Tensor loss{{}, {}, "float"};
    r_.begin("aten::item", {loss});
    r_.begin("aten::_local_scalar_dense", {loss});
    r_.copy("Memcpy DtoH (Device -> Host)", "Memcpy DtoH (Device -> Pinned)", 4, 2400);
    r_.synchronize(static_cast<std::int32_t>(wake_up_ms * 1e6));
    r_.end();
    r_.end();
  }

  struct Saved {
    std::int64_t n, k, seq;
    bool bias;
  };
  /// What the backward pass needs: linear layers, and sequence numbers of other operators.
  struct Pending {
    std::vector<Saved> linears;
    std::vector<std::int64_t> norms, adds, attentions, gelus;
    std::vector<std::int64_t> chains, written_attentions; ///< first sequence numbers
  };
  static constexpr const char* kAllReduceF32 =
      "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
  static constexpr const char* kReduce =
      "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
      "at::native::func_wrapper_t<c10::BFloat16, at::native::sum_functor<c10::BFloat16, "
      "float, c10::BFloat16>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, "
      "unsigned int, c10::BFloat16, 4> >(...)";
  static constexpr const char* kLayerNorm =
      "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, "
      "float>(int, float, c10::BFloat16 const*, c10::BFloat16 const*, c10::BFloat16 const*, "
      "float*, float*, c10::BFloat16*)";
  static constexpr const char* kLayerNormInput =
      "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<"
      "c10::BFloat16, float>(c10::BFloat16 const*, c10::BFloat16 const*, float const*, float "
      "const*, c10::BFloat16 const*, c10::BFloat16*, int)";
  static constexpr const char* kLayerNormWeights =
      "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel_32x32<"
      "c10::BFloat16, float>(long, long, c10::BFloat16 const*, c10::BFloat16 const*, float "
      "const*, float const*, c10::BFloat16*, c10::BFloat16*)";
  static constexpr const char* kEmbedding =
      "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
      "unsigned int, 2, 2, -2, true>(...)";
  static constexpr const char* kSoftmax =
      "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float, "
      "float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(...)";
  static constexpr const char* kSoftmaxBackward =
      "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, c10::BFloat16, float, "
      "c10::BFloat16, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(...)";
  static constexpr const char* kNorm =
      "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<...>(...)";
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
  Recorder r_;
  const bool last_;
  const std::int64_t tokens_;
  Pending saved_;
  double layer_factor_ = 1; ///< factor on the GEMMs of the current layer
  bool again_ = false;      ///< the next layer of the backward pass is computed again first
  bool reduces_ = true;     ///< the current backward pass reduces its gradients
  std::int64_t loss_ = 0;
  std::int64_t seq_ = 0;
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

Program make_program(const Options& options, const Groups& groups, bool last_configuration,
                     double token_factor) {
  return Builder(options, groups, last_configuration, token_factor).build();
}

} // namespace rankscope::synth
