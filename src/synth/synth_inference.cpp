#include "synth/synth_inference.h"

#include "base/json_text.h"
#include "base/json_writer.h"
#include "os/output_file.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

namespace rankscope::synth {
namespace {

constexpr std::int64_t kHidden = 4096;
constexpr std::int64_t kIntermediate = 11008;

/// A random number generator: splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014).
class Dice {
public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }
  double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

private:
  std::uint64_t state_;
};

struct KernelCall {
  std::string op, dims; ///< operator, and its Input Dims
  std::string name;
  std::int64_t dur_ns = 0;
  std::int64_t blocks = 1;
  int stream = 0;
  bool fork = false; ///< the second stream begins at the start of this kernel
  bool join = false; ///< the kernel waits for the second stream
};

/// Makes the kernels of one pass through the model, in launch order.
class Model {
public:
  Model(const InferenceOptions& o, const InferenceStep& step, Dice& dice)
      : o_(o), tokens_(step.context_tokens + step.generation_requests),
        prefill_(step.context_tokens > 0), dice_(dice) {}

  std::vector<KernelCall> pass() {
    add("aten::embedding", "void at::native::vectorized_gather_kernel<16, long>", 3000);
    for (std::int64_t layer = 0; layer < o_.layers; ++layer) {
      norm();
      attention(layer);
      norm();
      if (o_.two_streams)
        fork_feed_forward();
      if (o_.moe)
        experts();
      else
        dense();
      if (o_.two_streams)
        sum_up();
    }
    norm();
    product("aten::mm", 32000);
    add("aten::argmax", "void at::native::reduce_kernel<512, 1, at::native::ArgMaxOps>", 5000);
    return std::move(out_);
  }

private:
  void add(const char* op, std::string name, std::int64_t base_ns, std::int64_t blocks = 0) {
    KernelCall k;
    k.op = op;
    k.dims = fmt::format("[[{}, {}]]", tokens_, kHidden);
    k.name = std::move(name);
    k.dur_ns = base_ns + tokens_ * 2 + std::int64_t(double(base_ns) * 0.05 * dice_.uniform());
    k.blocks = blocks > 0 ? blocks : tokens_;
    k.stream = stream_;
    k.fork = fork_;
    fork_ = false;
    out_.push_back(std::move(k));
  }

  void norm() {
    add("_C::fused_add_rms_norm", "void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>", 4000);
  }

  /// Adds a matrix product. The tile depends on the number of tokens. For few tokens, products with
  /// few columns use split-K, as in real libraries.
  void product(const char* op, std::int64_t n) {
    const std::int64_t tile = tokens_ <= 16 ? 16 : tokens_ <= 64 ? 32 : tokens_ <= 512 ? 128 : 256;
    const bool split = tokens_ <= 16 && n <= kHidden;
    const std::int64_t base = 6000 + n * kHidden / 16000 * std::max<std::int64_t>(1, tokens_ / 256);
    add(op,
        o_.nvidia
            ? fmt::format("nvjet_tst_{}x{}_64x{}_2x1_v_bz_coopA_NTT", tile, tile * 2, 4)
            : fmt::format("Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_MT{}x{}x64_MI16x16x1", tile, tile),
        base, std::max<std::int64_t>(1, tokens_ / tile) * (n / tile));
    out_.back().dims = fmt::format("[[{}, {}], [{}, {}]]", tokens_, kHidden, kHidden, n);
    if (split)
      add(op, "void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16>", 2500);
  }

  void attention(std::int64_t layer) {
    product("aten::mm", 6144);
    add("_C::rotary_embedding", "void vllm::rotary_embedding_kernel<c10::BFloat16, true>", 3000);
    add("_C_cache_ops::reshape_and_cache_flash",
        "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>", 3000);
    const char* op = "vllm::unified_attention_with_output";
    if (prefill_ || layer % 2 == 0) { // every second layer has a sliding window
      add(op, "kernel_unified_attention_2d", prefill_ ? 90000 : 14000);
    } else {
      add(op, "kernel_unified_attention_3d", 12000);
      add(op, "reduce_segments", 3000);
    }
    product("aten::mm", kHidden);
  }

  void feed_forward() {
    product("aten::mm", 2 * kIntermediate);
    add("_C::silu_and_mul", "void vllm::act_and_mul_kernel<c10::BFloat16, vllm::silu_kernel>",
        3500);
    product("aten::mm", kHidden);
  }
  void dense() { feed_forward(); }

  /// Adds the half of the layer's feed-forward that runs on the second stream.
  void fork_feed_forward() {
    fork_ = true;
    stream_ = 1;
    feed_forward();
    stream_ = 0;
  }
  void sum_up() {
    add("aten::add",
        "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add>", 3000);
    out_.back().join = true;
  }

  void experts() {
    product("aten::mm", 128);
    add("_moe_C::topk_softmax", "void vllm::moe::topkGating<4, 128, 4, 16, 64, int>", 4000);
    const std::string align = "void vllm::moe::moe_align_block_size_kernel<int>";
    add("_moe_C::moe_align_block_size", align, 4000);
    add("_moe_C::moe_align_block_size", "void vllm::moe::count_and_sort_expert_tokens_kernel<int>",
        3000);
    // number of experts with tokens: random in each eager step, constant in a graph, which is
    // captured once
    const auto products = std::int64_t(2 + dice_.next() % 3);
    for (std::int64_t p = 0; p < products; ++p)
      add("vllm::fused_experts", fmt::format("fused_moe_kernel_{}", tokens_ <= 64 ? 16 : 64),
          20000);
    add("vllm::fused_experts", "void vllm::act_and_mul_kernel<c10::BFloat16, vllm::silu_kernel>",
        3000);
    for (std::int64_t p = 0; p < products; ++p)
      add("vllm::fused_experts", fmt::format("fused_moe_kernel_{}", tokens_ <= 64 ? 16 : 64),
          15000);
    add("vllm::fused_experts", "void vllm::moe::moe_sum_kernel<c10::BFloat16, 4>", 3000);
  }

  const InferenceOptions& o_;
  std::int64_t tokens_;
  bool prefill_;
  Dice& dice_;
  int stream_ = 0;
  bool fork_ = false;
  std::vector<KernelCall> out_;
};

std::string us(std::int64_t ns) {
  return fmt::format("{}.{:03}", ns / 1000, ns % 1000);
}

class Server {
public:
  explicit Server(const InferenceOptions& o) : o_(o), dice_(o.seed * 7919 + 17) {}

  InferenceTrace run() {
    for (const InferenceStep& step : o_.steps)
      run_step(step);
    const std::int64_t warp = o_.nvidia ? 32 : 64;
    out_.json = fmt::format(
        "{{\n\"schemaVersion\": 1,\n\"deviceProperties\": [{{\"id\": 0, \"name\": \"synthetic\", "
        "\"warpSize\": {}, \"warp_size\": {}}}],\n\"baseTimeNanoseconds\": 1767189312000000000,\n"
        "\"traceEvents\": [\n{}\n]}}\n",
        warp, warp, fmt::join(events_, ",\n"));
    return std::move(out_);
  }

private:
  void event(const char* cat, const std::string& name, std::int64_t pid, std::int64_t tid,
             std::int64_t ts, std::int64_t dur, const std::string& args) {
    events_.push_back(
        fmt::format("{{\"ph\": \"X\", \"cat\": \"{}\", \"name\": \"{}\", \"pid\": {}, "
                    "\"tid\": {}, \"ts\": {}, \"dur\": {}, \"args\": {{{}}}}}",
                    cat, json_escaped(name), pid, tid, us(ts), us(dur), args));
  }

  void run_step(const InferenceStep& step) {
    const std::int64_t start = now_;
    const std::int64_t requests = step.context_tokens > 0 ? (step.context_tokens + 1023) / 1024 : 0;
    const std::int64_t c = step.context_tokens;
    const std::int64_t g = step.generation_requests;
    now_ += 40000; // time to prepare the inputs
    if (step.graph)
      replay(step);
    else
      eager(Model(o_, step, dice_).pass());
    const std::int64_t wait = std::max(now_, std::max(free_[0], free_[1]) + 2000);
    event("cuda_runtime", o_.nvidia ? "cudaStreamSynchronize" : "hipStreamSynchronize", 100, 100,
          now_, wait - now_, fmt::format("\"correlation\": {}", ++correlation_));
    now_ = wait + 20000; // time to process the outputs
    event("user_annotation",
          fmt::format("execute_{}_context_{}(sq{}sk{}sqsq{}sqsk{})_generation_{}(sq{}sk{}sqsq{}sqsk"
                      "{})",
                      c + g, requests, c, c, c * 1024, c * 1024, g, g, g * 1000, g, g * 1000),
          100, 100, start, now_ - start, "");
    now_ += 60000; // time to choose the next batch
  }

  void eager(const std::vector<KernelCall>& kernels) {
    for (std::size_t k = 0; k < kernels.size();) {
      std::size_t end = k + 1; // the kernels of an operator are contiguous
      while (end < kernels.size() && kernels[end].op == kernels[k].op &&
             kernels[end].dims == kernels[k].dims && kernels[end].op != "aten::mm" &&
             kernels[end].op != "_C::fused_add_rms_norm")
        ++end;
      while (end < kernels.size() && kernels[end].name.find("splitKreduce") != std::string::npos)
        ++end;
      const std::int64_t start = now_;
      now_ += 2000;
      for (; k < end; ++k) {
        now_ += 1500;
        event("cuda_runtime", o_.nvidia ? "cudaLaunchKernel" : "hipLaunchKernel", 100, 100, now_,
              1500, fmt::format("\"correlation\": {}", ++correlation_));
        now_ += 1500;
        on_gpu(kernels[k], now_ + 3000, true);
      }
      now_ += 1000;
      event("cpu_op", kernels[end - 1].op, 100, 100, start, now_ - start,
            fmt::format("\"Input Dims\": {}", kernels[end - 1].dims));
    }
  }

  void replay(const InferenceStep& step) {
    const auto [at, fresh] = graphs_.try_emplace(step.generation_requests);
    if (fresh) {
      Dice capture(o_.seed + std::uint64_t(step.generation_requests)); // random shapes per graph
      at->second = Model(o_, step, capture).pass();
    }
    const std::int64_t launched = now_;
    now_ += 30000;
    event("cuda_runtime", o_.nvidia ? "cudaGraphLaunch" : "hipGraphLaunch", 100, 100, launched,
          30000, fmt::format("\"correlation\": {}", ++correlation_));
    const std::int64_t graph = step.generation_requests;
    for (std::size_t k = 0; k < at->second.size(); ++k) {
      KernelCall kernel = at->second[k];
      kernel.dur_ns += std::int64_t(double(kernel.dur_ns) * 0.03 * dice_.uniform());
      const bool lost = !fresh && dice_.uniform() < o_.lost;
      node_ = o_.node_ids ? fmt::format(", \"graph id\": {}, \"graph node id\": {}", graph,
                                        (graph << 32U) + std::int64_t(k) + 1)
                          : "";
      if (on_gpu(kernel, launched + 8000, !lost))
        out_.truth.push_back(
            {static_cast<std::int64_t>(events_.size()) - 1, kernel.op, kernel.dur_ns});
    }
    node_.clear();
  }

  bool on_gpu(const KernelCall& k, std::int64_t ready, bool recorded) {
    auto& free = free_[k.stream];
    if (k.fork)
      free = std::max(free, free_[0]);
    if (k.join)
      free = std::max(free, free_[1]);
    const std::int64_t start = std::max(free + 300 + std::int64_t(dice_.next() % 700), ready);
    free = start + k.dur_ns;
    if (!recorded)
      return false;
    const std::string shape =
        o_.nvidia ? fmt::format(", \"grid\": [{}, 1, 1], \"block\": [256, 1, 1]", k.blocks) : "";
    event("kernel", k.name, 0, 7 + k.stream, start, k.dur_ns,
          fmt::format("\"device\": 0, \"stream\": {}, \"correlation\": {}{}{}", 7 + k.stream,
                      correlation_, shape, node_));
    return true;
  }

  const InferenceOptions& o_;
  Dice dice_;
  std::vector<std::string> events_;
  std::map<std::int64_t, std::vector<KernelCall>> graphs_; ///< by batch size
  std::string node_;
  std::int64_t now_ = 1000000;
  std::int64_t free_[2] = {0, 0};
  std::int64_t correlation_ = 1000;
  InferenceTrace out_;
};

} // namespace

InferenceTrace inference_trace(const InferenceOptions& options) {
  return Server(options).run();
}

Result<void> write_inference(const InferenceOptions& options, const std::string& folder) {
  RS_CHECK(make_folder(folder));
  const InferenceTrace trace = inference_trace(options);
  JsonWriter truth;
  truth.begin_object();
  truth.begin_list("graph_kernels");
  for (const GraphKernelTruth& k : trace.truth) {
    truth.begin_object();
    truth.integer("uid", k.uid);
    truth.text("op", k.op);
    truth.integer("dur_ns", k.dur_ns);
    truth.end_object();
  }
  truth.end_list();
  truth.end_object();
  for (const auto& [name, text] : {std::pair<std::string, std::string>{"trace.json", trace.json},
                                   {"ground_truth.json", truth.take()}}) {
    RS_CHECK(write_file(folder + "/" + name, text));
  }
  return {};
}

} // namespace rankscope::synth
