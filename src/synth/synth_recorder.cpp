#include "synth/synth_recorder.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace rankscope::synth {
namespace {

std::string gemm_name(std::int64_t tile_m, std::int64_t tile_n, bool bias, const char* layout,
                      bool nvidia) {
  if (nvidia)
    return fmt::format("nvjet_tst_{}x{}_64x{}_2x1_v_bz_{}{}", tile_m == 256 ? 256 : 128, tile_n,
                       tile_n == 256 ? 3 : 4, bias ? "bias_" : "", layout);
  return fmt::format(
      "Cijk_{}_BBS_BH{}_MT{}x{}x64_MI16x16x1_SN_LDSB1_AFC1_AFEM1_AFEM1_ASEM1_CLR1_CADS0_DTVA0_"
      "DTVB0_EPS0_FDSI0_GRPM1_GRVWA8_GRVWB8_GSUAMB_GLS0_ISA942_IU1_K1_LBSPPA1024_LBSPPB512_"
      "LRVW8_LWPMn1_MIAV0_MIWT{}_{}_MO40_NTn1_PGR2_PLR1_PKA1_SIA3_SS1_SRVW0_SVW8_SK0_TLDS1_"
      "USFGROn1_VSn1_VWA8_VWB4_WS64_WG32_8_1",
      layout[0] == 'T'   ? "Alik_Bljk"
      : layout[1] == 'N' ? "Ailk_Bljk"
                         : "Ailk_Bjlk",
      bias ? "_Bias_HA_S_SAV_UserArgs" : "_HA_S_SAV_UserArgs", tile_m, tile_n, tile_m / 32,
      tile_n / 32);
}

/// Returns the time of a GEMM relative to bf16. TF32 has half the peak of bf16. On an H100, fp32
/// without matrix units has 67/495 of the peak of TF32, and reaches more of its peak: 50 TFLOP/s
/// (tests/data/causes/fp32) against 260.
double time_factor(ProductFormat format) {
  return format == ProductFormat::kFp32 ? 2 * 260.0 / 50 : format == ProductFormat::kTf32 ? 2 : 1;
}

/// Returns the kernel's name with float in place of bf16.
std::string in_float(std::string name) {
  constexpr std::string_view kHalf = "c10::BFloat16";
  for (std::size_t at = name.find(kHalf); at != std::string::npos; at = name.find(kHalf, at))
    name.replace(at, kHalf.size(), "float");
  return name;
}

} // namespace

void Recorder::action(ActionKind kind, std::int32_t index, std::int32_t cost_ns) {
  p_.actions.push_back({kind, index, cost_ns, only_rank_, injected_});
}

std::int32_t Recorder::begin(std::string name, Args args, OpOptions options, bool annotation) {
  Op op;
  op.name = std::move(name);
  op.annotation = annotation;
  op.args = std::move(args);
  // attention and collectives stay in bf16
  if (o_.inject.products != ProductFormat::kBf16 &&
      op.name.find("attention") == std::string::npos && op.name.starts_with("aten::"))
    for (Arg& arg : op.args)
      arg.make_float();
  op.seq = options.seq;
  op.backward = options.backward;
  // a forward pass inside the backward pass has no backward pass
  op.flow = thread_ == 1 && options.flow == OpFlow::kForward ? OpFlow::kNone : options.flow;
  op.depth = static_cast<std::int32_t>(stack_.size());
  op.thread = thread_;
  op.begin = here();
  op.only_rank = only_rank_;
  const auto index = static_cast<std::int32_t>(p_.ops.size());
  p_.ops.push_back(std::move(op));
  stack_.push_back(index);
  action(ActionKind::kBegin, index, stack_.size() <= 2 ? 3200 : 1400);
  return index;
}

void Recorder::begin_frame(std::string name) {
  constexpr std::int32_t kFrameNs = 600;
  const std::int32_t index = begin(std::move(name), {});
  p_.ops[static_cast<std::size_t>(index)].frame = true;
  p_.actions.back().cost_ns = kFrameNs;
}

void Recorder::end() {
  const std::int32_t index = stack_.back();
  stack_.pop_back();
  p_.ops[static_cast<std::size_t>(index)].end = here();
  action(ActionKind::kEnd, index, 900);
}

void Recorder::leaf(const char* name, Args args, OpOptions options) {
  begin(name, std::move(args), options);
  end();
}

void Recorder::thread(std::int32_t t) {
  thread_ = t;
  action(ActionKind::kThread, t, 6000);
}

std::int32_t Recorder::innermost_op() const {
  for (std::size_t i = stack_.size(); i-- > 0;)
    if (const Op& op = p_.ops[static_cast<std::size_t>(stack_[i])]; !op.annotation && !op.frame)
      return stack_[i];
  return -1;
}

void Recorder::runtime(const char* name, int cbid, std::int32_t kernel, std::int32_t cost_ns) {
  Call call;
  call.name = name;
  call.cbid = cbid;
  call.kernel = kernel;
  call.op = innermost_op();
  call.thread = thread_;
  call.begin = here();
  call.only_rank = only_rank_;
  call.blocks = std::exchange(blocks_, false) || o_.inject.launch_blocking;
  const auto index = static_cast<std::int32_t>(p_.calls.size());
  action(ActionKind::kRuntime, index, 900);
  call.end = here();
  action(ActionKind::kReturn, index, cost_ns);
  p_.calls.push_back(std::move(call));
}

void Recorder::launch(Kernel kernel) {
  kernel.op = innermost_op();
  kernel.only_rank = only_rank_;
  kernel.injected = injected_;
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

void Recorder::compute(const char* amd, const char* nvidia, std::int64_t bytes,
                       std::int64_t extra_ns) {
  Kernel k;
  k.name = o_.nvidia ? nvidia : amd;
  k.kind = KernelKind::kCompute;
  if (o_.inject.products != ProductFormat::kBf16) {
    k.name = in_float(std::move(k.name));
    bytes *= 2;
  }
  k.base_ns = 2200 + extra_ns + static_cast<std::int64_t>(static_cast<double>(bytes) / kBytePerNs);
  k.grid = fmt::format("[{}, 1, 1]", std::max<std::int64_t>(1, bytes / 8192));
  k.block = o_.nvidia ? "[128, 1, 1]" : "[256, 1, 1]";
  launch(std::move(k));
}

void Recorder::copy(const char* amd, const char* nvidia, std::int64_t bytes, std::int64_t base_ns) {
  Kernel k;
  k.name = o_.nvidia ? nvidia : amd;
  k.kind = KernelKind::kMemcpy;
  k.bytes = bytes;
  k.base_ns = base_ns;
  launch(std::move(k));
}

void Recorder::on_other_stream(const char* name, std::int64_t base_ns) {
  Kernel k;
  k.name = name;
  k.kind = KernelKind::kCompute;
  k.stream = 2;
  k.base_ns = base_ns;
  k.grid = "[64, 1, 1]";
  k.block = o_.nvidia ? "[128, 1, 1]" : "[256, 1, 1]";
  launch(std::move(k));
}

/// Names as in tests/data/causes: fp32, vocabulary.
std::string Recorder::name_of_gemm(std::int64_t tile_m, std::int64_t tile_n, bool bias,
                                   const char* layout) const {
  const char* const transposes = layout[0] == 'T' ? "tn" : layout[1] == 'N' ? "nn" : "nt";
  if (o_.nvidia && unaligned_)
    return fmt::format(
        "void cutlass::Kernel2<{0}>({0}::Params)",
        fmt::format("cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_{}_align1", transposes));
  if (o_.inject.products != ProductFormat::kBf16)
    return fmt::format("sm80_xmma_gemm_f32f32_{}_f32_{}_n_tilesize128x128x8_stage3_warpsize2x2x1_"
                       "{}_aligna4_alignc4_execute_kernel__5x_cublas",
                       o_.inject.products == ProductFormat::kTf32 ? "tf32f32" : "f32f32",
                       transposes,
                       o_.inject.products == ProductFormat::kTf32 ? "tensor16x8x8" : "ffma");
  return gemm_name(tile_m, tile_n, bias, layout, o_.nvidia);
}

void Recorder::batched_gemm(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                            std::string dims, const char* layout) {
  Kernel out;
  out.kind = KernelKind::kGemm;
  out.name = gemm_name(256, 128, false, layout, o_.nvidia);
  const auto elements = static_cast<double>(batch * (m * n + m * k + k * n));
  const double flop = 2.0 * static_cast<double>(batch * m) * static_cast<double>(n * k);
  out.base_ns = static_cast<std::int64_t>(
      5000.0 + std::max(flop / (kFlopPerNs * 0.8), 2 * elements / kBytePerNs));
  out.grid = fmt::format("[{}, 1, 1]", batch * (m / 256) * std::max<std::int64_t>(1, n / 128));
  out.block = o_.nvidia ? "[384, 1, 1]" : "[256, 1, 1]";
  out.gemm_dims = std::move(dims);
  launch(std::move(out));
}

void Recorder::gemm(std::int64_t m, std::int64_t n, std::int64_t k, std::string dims, bool bias,
                    const char* layout) {
  Kernel out;
  out.kind = KernelKind::kGemm;
  const std::int64_t tile_m = m >= 4096 ? 256 : 128;
  const bool other_tile = std::exchange(other_tile_, false);
  const std::int64_t tile_n = other_tile ? 64 : n >= 12288 ? 256 : n >= 4096 ? 192 : 128;
  out.name = name_of_gemm(tile_m, tile_n, bias, layout);
  const double flop =
      2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  // GEMMs with narrow outputs use the device less efficiently
  const double efficiency = n >= 12288 ? 1.0 : n >= 4096 ? 0.92 : 0.8;
  out.base_ns =
      static_cast<std::int64_t>((5000.0 + flop / (kFlopPerNs * efficiency)) * o_.gemm_scale *
                                gemm_factor_ * time_factor(o_.inject.products));
  out.grid = fmt::format("[{}, 1, 1]", (m + tile_m - 1) / tile_m * ((n + tile_n - 1) / tile_n) *
                                           (o_.nvidia ? 1 : 256));
  out.block = o_.nvidia ? "[384, 1, 1]" : "[256, 1, 1]";
  out.gemm_dims = std::move(dims);
  launch(std::move(out));
}

void Recorder::collective(const CollectiveCall& call) {
  const int kind = o_.process_groups < 2 ? 0 : call.kind; // one group: one sequence of numbers
  const bool wide = std::string_view(call.dtype) == "Float";
  const char* type = wide ? "float" : "c10::BFloat16";
  Collective c;
  c.name = call.name;
  c.dtype = call.dtype;
  c.input = {{call.in}, {}, type};
  c.list_input = call.in_place;
  c.in_nelems = call.in;
  c.out_nelems = call.out;
  c.full_bytes = std::max(call.in, call.out) * (wide ? 4 : 2);
  c.heavy_rank = call.heavy_rank;
  c.heavy_factor = call.heavy_factor;
  c.group_kind = kind;
  c.seq = p_.collectives_per_kind[kind]++;
  const auto index = static_cast<std::int32_t>(p_.collectives.size());
  Args args;
  if (call.in_place)
    args = {Arg::tensors({c.input})};
  else
    args = {Tensor{{call.out}, {}, type}, c.input};
  args.insert(args.end(), call.after.begin(), call.after.end());
  const OpOptions options{-1, thread_ == 1, OpFlow::kNone};
  begin(call.op, std::move(args), options);
  const std::int32_t comms = begin("record_param_comms", {}, options);
  p_.ops[static_cast<std::size_t>(comms)].collective = index;
  begin(call.note, {c.input}, {}, true);
  Kernel k;
  k.name = o_.nvidia ? call.kernel : "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)";
  k.kind = KernelKind::kComm;
  k.stream = kind == 2 ? 2 : 1;
  k.collective = index;
  launch(std::move(k));
  end();
  end();
  end();
  p_.collectives.push_back(std::move(c));
}

void Recorder::wait_for_comm(std::int32_t stream) {
  action(ActionKind::kWaitComm, stream, 800);
  runtime(o_.nvidia ? "cudaStreamWaitEvent" : "hipStreamWaitEvent", o_.nvidia ? 147 : 200, -1,
          1100);
}

void Recorder::synchronize(std::int32_t wake_up_ns) {
  Call call;
  call.name = o_.nvidia ? "cudaStreamSynchronize" : "hipStreamSynchronize";
  call.cbid = o_.nvidia ? 131 : 199;
  call.op = innermost_op();
  call.begin = here();
  call.only_rank = only_rank_;
  const auto index = static_cast<std::int32_t>(p_.calls.size());
  action(ActionKind::kRuntime, index, 700);
  action(ActionKind::kSync, 0, 0);
  call.end = here();
  action(ActionKind::kReturn, index, 2100 + wake_up_ns);
  p_.calls.push_back(std::move(call));
}

Program Recorder::take() {
  for (const Op& op : p_.ops)
    p_.python_ops += op.depth == 1 && op.thread == 0 && !op.frame ? 1 : 0;
  for (const Kernel& k : p_.kernels)
    if (!k.injected && (k.kind == KernelKind::kGemm || k.kind == KernelKind::kCompute))
      p_.compute_base_ns += k.base_ns;
  return std::move(p_);
}

} // namespace rankscope::synth
