// The work of injected causes that need several operators: what PyTorch records for an optimizer
// without fused kernels, a checkpoint, a compilation, and so on.
#pragma once

#include "synth/synth_recorder.h"

#include <cstdint>

namespace rankscope::synth {

/// Records AdamW with foreach=False: eight kernels per tensor. `elements`: of all tensors.
void record_optimizer_loop(Recorder& recorder, std::int64_t tensors, std::int64_t elements);

/// Records torch.save of `count` tensors on the GPU. Each is copied to pageable memory and then
/// written for `ms`.
void record_checkpoint(Recorder& recorder, std::int64_t count, double ms);

/// Records gc.collect().
void record_collection(Recorder& recorder, double ms);

/// Records `count` kernels of `ms` on another stream; the host waits for each.
void record_side_stream(Recorder& recorder, std::int64_t count, double ms);

/// Records that Dynamo compiles a function again for `ms`, and its first call.
void record_compilation(Recorder& recorder, double ms, std::int64_t elements);

/// Records GELU in its tanh form as nine pointwise operators with the sequence numbers from `seq`
/// on. Returns the number of operators.
std::int64_t record_gelu_chain(Recorder& recorder, const Tensor& tensor, std::int64_t seq);
/// Records its backward pass.
void record_gelu_chain_backward(Recorder& recorder, const Tensor& tensor, std::int64_t seq);

struct Heads {
  std::int64_t count = 0, tokens = 0, dim = 0;
};
/// Records causal attention as a product, a mask, a softmax and a product. Returns the number of
/// sequence numbers, from `seq` on.
std::int64_t record_attention(Recorder& recorder, const Heads& heads, std::int64_t seq);
/// Records its backward pass.
void record_attention_backward(Recorder& recorder, const Heads& heads, std::int64_t seq);

/// Records a convolution of 64 images. `nchw`: the library converts its tensors to NHWC and back.
void record_convolution(Recorder& recorder, bool nchw);

} // namespace rankscope::synth
