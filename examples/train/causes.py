#!/usr/bin/env python3
"""A small training loop with one known cause of lost time, and the same loop without it.

    python3 examples/train/causes.py --out recorded                 # every cause, before and after
    python3 examples/train/causes.py --out recorded --only readback

Each variant is first timed without the profiler (steps.json: seconds per step) and then recorded with it,
so that the gain that a diagnosis predicts can be compared with the measured gain.
Needs PyTorch 2.1 or newer and one GPU.
"""
import argparse
import functools
import gc
import json
import os
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.checkpoint import checkpoint

# Causes that need a separate process, because their environment variables are read only once.
ENVIRONMENT = {"launch_blocking": {"CUDA_LAUNCH_BLOCKING": "1"}}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.attend = functools.partial(F.scaled_dot_product_attention, is_causal=True)
        self.activate = F.gelu

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = self.attend(q, k, v)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.activate(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, vocabulary, width, layers, heads=16):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Texts(torch.utils.data.Dataset):
    """Texts that take one millisecond of Python code each to tokenize."""

    def __init__(self, count, length, vocabulary):
        self.count, self.length, self.vocabulary = count, length, vocabulary

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        until = time.perf_counter() + 1e-3
        value = index
        while time.perf_counter() < until:
            value = (value * 1103515245 + 12345) % 2147483648
        return torch.full((self.length,), value % self.vocabulary)


class Loop:
    """The loop without a cause; a cause overrides one of its parts."""

    vocabulary, width, layers, batch, length = 4096, 1024, 4, 32, 512
    dtype = torch.bfloat16
    precision = "high"
    stacks = False
    set_to_none = True
    steps = 6

    def __init__(self):
        torch.manual_seed(1)
        torch.set_float32_matmul_precision(self.precision)
        self.model = self.make_model().to("cuda", self.dtype)
        self.optimizer = self.make_optimizer()
        self.tokens = torch.randint(self.vocabulary, (self.batch, self.length), device="cuda")
        self.setup()

    def setup(self):
        pass

    def make_model(self):
        return Model(self.vocabulary, self.width, self.layers)

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)

    def next_batch(self):
        return self.tokens

    def forward_backward(self, tokens):
        loss = F.cross_entropy(self.model(tokens).flatten(0, 1).float(), tokens.flatten())
        loss.backward()
        return loss

    def after_backward(self, loss):
        pass

    def step(self, number):
        tokens = self.next_batch()
        self.optimizer.zero_grad(set_to_none=self.set_to_none)
        loss = self.forward_backward(tokens)
        self.after_backward(loss)
        self.optimizer.step()
        self.end_of_step(number)

    def end_of_step(self, number):
        pass


def post_process(milliseconds):
    """Host work that is not needed for the step, but that delays the next step."""
    until = time.perf_counter() + milliseconds * 1e-3
    total = 0
    while time.perf_counter() < until:
        total += 1
    return total


class HostStall(Loop):
    def end_of_step(self, number):
        post_process(30)


class HostStallStacks(HostStall):
    stacks, steps = True, 4


class ReadBack(Loop):
    """Reads the norm of each gradient as a Python number: the host waits for the GPU each time."""

    def after_backward(self, loss):
        total = 0.0
        for p in self.model.parameters():
            total += p.grad.norm().item() ** 2
        self.norm = total


class NormOnGpu(Loop):
    """The same norm without a read."""

    def after_backward(self, loss):
        self.norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in self.model.parameters()]))


class Pageable(Loop):
    """Features of 128 MiB are copied from pageable memory in each step."""

    def setup(self):
        self.features = torch.randn(32, 1024, 1024)

    def next_batch(self):
        self.on_gpu = self.features.to("cuda")
        return self.tokens


class Pinned(Pageable):
    def setup(self):
        super().setup()
        self.features = self.features.pin_memory()

    def next_batch(self):
        self.on_gpu = self.features.to("cuda", non_blocking=True)
        return self.tokens


class PinnedBeside(Pinned):
    """The copy for the next step runs on a separate stream."""

    def setup(self):
        super().setup()
        self.side = torch.cuda.Stream()
        self.on_gpu = None
        self.fetch()

    def fetch(self):
        with torch.cuda.stream(self.side):
            self.next = self.features.to("cuda", non_blocking=True)

    def next_batch(self):
        torch.cuda.current_stream().wait_stream(self.side)
        self.next.record_stream(torch.cuda.current_stream())
        self.on_gpu = self.next
        self.fetch()
        return self.tokens


class Fp32(Loop):
    dtype, precision = torch.float32, "highest"


class Tf32(Loop):
    dtype, precision = torch.float32, "high"


class LoaderInline(Loop):
    """The data loader has no workers: each batch is made between two steps."""

    workers = 0

    def setup(self):
        data = Texts(self.batch * 200, self.length, self.vocabulary)
        options = {"prefetch_factor": 4, "persistent_workers": True} if self.workers else {}
        self.loader = iter(torch.utils.data.DataLoader(
            data, batch_size=self.batch, num_workers=self.workers, pin_memory=True, **options))

    def next_batch(self):
        return next(self.loader).to("cuda", non_blocking=True)


class LoaderWorkers(LoaderInline):
    workers = 8


class LaunchBlocking(Loop):
    pass


class EmptyCache(Loop):
    """The allocator returns its memory to the driver in each step."""

    def end_of_step(self, number):
        torch.cuda.empty_cache()


class Synchronize(Loop):
    """Waits for the GPU after the forward pass and after each step, as leftover timers do."""

    def after_backward(self, loss):
        torch.cuda.synchronize()

    def end_of_step(self, number):
        torch.cuda.synchronize()


class GarbageCollection(Loop):
    """A full garbage collection over many objects in each step."""

    stacks, steps = True, 4

    def setup(self):
        self.kept = [[i] for i in range(400000)]

    def end_of_step(self, number):
        gc.collect()


class CollectionFrozen(GarbageCollection):
    def setup(self):
        super().setup()
        gc.freeze()


class LaunchBound(Loop):
    """The batch is so small that launches take longer than the kernels."""

    batch, length, layers, width = 2, 64, 6, 512
    steps = 8


class Graphed(LaunchBound):
    """The same step as one CUDA graph."""

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True, capturable=True)

    def setup(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.optimizer.zero_grad(set_to_none=True)
                self.forward_backward(self.tokens)
                self.optimizer.step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(self.graph):
            self.forward_backward(self.tokens)
            self.optimizer.step()

    def step(self, number):
        self.graph.replay()


class OptimizerLoop(LaunchBound):
    """AdamW with one kernel per parameter and operation."""

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=1e-4, foreach=False)


class OddVocabulary(Loop):
    """The row size of the last product is not a multiple of 16 bytes."""

    vocabulary, batch = 50257, 16


class PaddedVocabulary(OddVocabulary):
    vocabulary = 50304


class Checkpoint(Loop):
    """The model is written to a file in every fourth step."""

    steps = 8

    def end_of_step(self, number):
        if number % 4 == 3:
            torch.save(self.model.state_dict(), "/tmp/rankscope_causes.pt")


class Deep(Loop):
    layers = 8


class Recompute(Deep):
    """Does not store the activations of a block: its forward pass runs again in the backward pass."""

    reentrant = False

    def setup(self):
        for block in self.model.blocks:
            block.forward = functools.partial(checkpoint, block.forward, use_reentrant=self.reentrant)


class RecomputeReentrant(Recompute):
    reentrant = True


class LongTexts(Loop):
    batch, length = 4, 4096


def written_out_attention(q, k, v):
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
    length = scores.shape[-1]
    later = torch.ones(length, length, dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(later, float("-inf")).softmax(-1) @ v


class WrittenOutAttention(LongTexts):
    """Attention as a product, a softmax and a product; the scores are written to memory."""

    def setup(self):
        for block in self.model.blocks:
            block.attend = written_out_attention


class MathAttention(LongTexts):
    """scaled_dot_product_attention, restricted to the implementation without a fused kernel."""

    def forward_backward(self, tokens):
        with sdpa_kernel(SDPBackend.MATH):
            return super().forward_backward(tokens)


class MicroBatches(Loop):
    """fp32 weights under autocast: every micro-batch casts all weights again."""

    dtype, batch, width, length = torch.float32, 8, 2048, 256
    parts = 4

    def loss_of(self, tokens):
        return F.cross_entropy(self.model(tokens).flatten(0, 1).float(), tokens.flatten())

    def forward_backward(self, tokens):
        for part in tokens.chunk(self.parts):
            with torch.autocast("cuda", torch.bfloat16):
                loss = self.loss_of(part)
            loss.backward()
        return loss


class CastOnce(MicroBatches):
    """One autocast context for all micro-batches, which keeps the cast weights."""

    def forward_backward(self, tokens):
        with torch.autocast("cuda", torch.bfloat16):
            loss = sum(self.loss_of(part) for part in tokens.chunk(self.parts))
        loss.backward()
        return loss


class Wide(Loop):
    """Many weights and few tokens."""

    width, layers, batch = 2048, 8, 4


class ZeroGrad(Wide):
    """Gradients are filled with zeros, and then added to."""

    set_to_none = False


class Concatenate(Loop):
    """The last 64 outputs are kept by concatenation, which copies all of them in each step."""

    def setup(self):
        self.kept = torch.zeros(64, 8, self.length, 2048, device="cuda", dtype=torch.bfloat16)
        self.new = torch.ones(1, 8, self.length, 2048, device="cuda", dtype=torch.bfloat16)

    def after_backward(self, loss):
        self.kept = torch.cat([self.kept[1:], self.new])


class Ring(Concatenate):
    """The same outputs, each in a separate slot of a buffer."""

    def after_backward(self, loss):
        self.at = (getattr(self, "at", 0) + 1) % len(self.kept)
        self.kept[self.at].copy_(self.new[0])


class Images(Loop):
    layout = torch.contiguous_format

    def make_model(self):
        layers = []
        for _ in range(6):
            layers += [nn.Conv2d(256, 256, 3, padding=1, bias=False), nn.BatchNorm2d(256), nn.ReLU()]
        return nn.Sequential(*layers)

    def setup(self):
        self.model.to(memory_format=self.layout)
        self.images = torch.randn(64, 256, 56, 56, device="cuda", dtype=self.dtype)
        self.images = self.images.contiguous(memory_format=self.layout)

    def forward_backward(self, tokens):
        loss = self.model(self.images).float().pow(2).mean()
        loss.backward()
        return loss


class ImagesChannelsLast(Images):
    layout = torch.channels_last


class PinInStep(Pageable):
    """Pins its input in the training thread: the host copies it first."""

    def next_batch(self):
        self.on_gpu = self.features.pin_memory().to("cuda", non_blocking=True)
        return self.tokens


class Offload(Loop):
    """Copies 256 MiB to the host on a separate stream, and waits for it in each step."""

    wait = True

    def setup(self):
        self.source = torch.randn(64, 1024, 1024, device="cuda")
        self.target = torch.empty(64, 1024, 1024, pin_memory=True)
        self.side = torch.cuda.Stream()

    def after_backward(self, loss):
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            self.target.copy_(self.source, non_blocking=True)
        if self.wait:
            torch.cuda.current_stream().wait_stream(self.side)


class OffloadBeside(Offload):
    wait = False


def gelu_by_parts(x):
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


class GeluByParts(Loop):
    """An activation as nine pointwise operators."""

    activate = staticmethod(gelu_by_parts)

    def setup(self):
        for block in self.model.blocks:
            block.activate = self.activate


class GeluFused(GeluByParts):
    activate = staticmethod(functools.partial(F.gelu, approximate="tanh"))


class Recompile(Loop):
    """A compiled function gets an input of a new length in one step."""

    steps = 6
    rows = 512

    def setup(self):
        self.compiled = torch.compile(gelu_by_parts, dynamic=False)

    def after_backward(self, loss):
        self.compiled(torch.ones(self.rows, 256, device="cuda"))

    def end_of_step(self, number):
        if number == 5:
            self.rows -= 8


class SameLength(Recompile):
    def end_of_step(self, number):
        pass


class CompiledInPieces(LaunchBound):
    """A compiled model with a graph break after each block."""

    whole = False

    def setup(self):
        for block in self.model.blocks:
            block.activate = functools.partial(F.gelu, approximate="tanh")
        if self.whole:
            self.model.compile(fullgraph=True)
            return
        for block in self.model.blocks:
            block.compile(fullgraph=True)


class CompiledWhole(CompiledInPieces):
    whole = True


class SampleOnHost(Loop):
    """Generates tokens: the next ones are chosen on the host, from logits that it reads."""

    batch, length, steps = 8, 256, 16

    @torch.no_grad()
    def step(self, number):
        logits = self.model(self.tokens)[:, -1].float()
        self.tokens = torch.cat([self.tokens[:, 1:], self.chosen(logits)], 1)

    def chosen(self, logits):
        return torch.multinomial(logits.cpu().softmax(-1), 1).to("cuda")


class SampleOnGpu(SampleOnHost):
    def chosen(self, logits):
        return torch.multinomial(logits.softmax(-1), 1)


# slow variant -> variants without its cause, or with another form of the cause
PAIRS = {
    "base": (Loop, {"again": Loop}),
    "host_stall": (HostStall, {"removed": Loop}),
    "host_stall_stacks": (HostStallStacks, {}),
    "readback": (ReadBack, {"on_gpu": NormOnGpu}),
    "pageable": (Pageable, {"pinned": Pinned, "beside": PinnedBeside}),
    "fp32": (Fp32, {"tf32": Tf32}),
    "loader": (LoaderInline, {"workers": LoaderWorkers}),
    "launch_blocking": (LaunchBlocking, {}),
    "empty_cache": (EmptyCache, {}),
    "synchronize": (Synchronize, {}),
    "collection": (GarbageCollection, {"frozen": CollectionFrozen}),
    "launch_bound": (LaunchBound, {"graph": Graphed}),
    "optimizer_loop": (OptimizerLoop, {}),
    "vocabulary": (OddVocabulary, {"padded": PaddedVocabulary}),
    "checkpoint": (Checkpoint, {}),
    "recompute": (Recompute, {"kept": Deep, "reentrant": RecomputeReentrant}),
    "attention": (WrittenOutAttention, {"fused": LongTexts, "math": MathAttention}),
    "casts": (MicroBatches, {"once": CastOnce}),
    "zero_grad": (ZeroGrad, {"none": Wide}),
    "concatenate": (Concatenate, {"ring": Ring}),
    "layout": (Images, {"channels_last": ImagesChannelsLast}),
    "pin": (PinInStep, {"before": Pinned}),
    "offload": (Offload, {"beside": OffloadBeside}),
    "pointwise": (GeluByParts, {"fused": GeluFused}),
    "recompile": (Recompile, {"same": SameLength}),
    "sampler": (SampleOnHost, {"on_gpu": SampleOnGpu}),
    "pieces": (CompiledInPieces, {"whole": CompiledWhole}),
}


def timed(loop, count):
    """Returns three times the mean seconds per step of `count` steps after warm-up, including the GPU work."""
    number = 0
    for _ in range(5):
        loop.step(number)
        number += 1
    means = []
    for _ in range(3):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(count):
            loop.step(number)
            number += 1
        torch.cuda.synchronize()
        means.append((time.perf_counter() - began) / count)
    return means


def recorded(loop, path):
    number = 0
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True,
                 with_stack=loop.stacks,
                 schedule=schedule(wait=1, warmup=2, active=loop.steps, repeat=1),
                 on_trace_ready=lambda p: p.export_chrome_trace(path)) as profiler:
        for _ in range(loop.steps + 3):
            loop.step(number)
            number += 1
            profiler.step()
        torch.cuda.synchronize()


def run(name, out):
    slow, others = PAIRS[name]
    for variant, kind in [("slow", slow), *others.items()]:
        loop = kind()
        means = timed(loop, 16)
        recorded(loop, os.path.join(out, f"{name}.{variant}.json.gz"))
        with open(os.path.join(out, f"{name}.{variant}.steps.json"), "w") as file:
            json.dump({"seconds_per_step": means, "recorded_steps": loop.steps}, file)
        print(f"{name}.{variant}: {1e3 * min(means):.3f} to {1e3 * max(means):.3f} ms per step", flush=True)
        del loop
        gc.unfreeze()
        gc.collect()
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description="training steps with one known cause of lost time")
    parser.add_argument("--out", default="recorded")
    parser.add_argument("--only", nargs="*", default=list(PAIRS), choices=list(PAIRS))
    parser.add_argument("--here", action="store_true", help="in this process, not one for each cause")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    failed = []
    for name in args.only:
        if args.here:
            run(name, args.out)
            continue
        child = subprocess.run([sys.executable, os.path.abspath(__file__), "--here", "--out", args.out,
                                "--only", name], env={**os.environ, **ENVIRONMENT.get(name, {})},
                               timeout=120)
        if child.returncode != 0:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
