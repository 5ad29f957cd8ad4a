#!/usr/bin/env python3
"""A small training loop with one known cause of lost time, and the same loop without it.

    python3 examples/train/causes.py --out recorded                 # every cause, before and after
    python3 examples/train/causes.py --out recorded --only readback

Each variant is timed without the profiler first (steps.json: seconds of each step) and then recorded
with it, so that the gain that a diagnosis promises can be compared with the gain that was measured.
Needs PyTorch 2.1 or newer and one GPU.
"""
import argparse
import gc
import json
import os
import subprocess
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

# Causes that need a process of their own: variables that are read once.
ENVIRONMENT = {"launch_blocking": {"CUDA_LAUNCH_BLOCKING": "1"}}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


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
    """Texts whose tokens take a millisecond of Python each to make."""

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
    steps = 6

    def __init__(self):
        torch.manual_seed(1)
        torch.set_float32_matmul_precision(self.precision)
        self.model = Model(self.vocabulary, self.width, self.layers).to("cuda", self.dtype)
        self.optimizer = self.make_optimizer()
        self.tokens = torch.randint(self.vocabulary, (self.batch, self.length), device="cuda")
        self.setup()

    def setup(self):
        pass

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
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.forward_backward(tokens)
        self.after_backward(loss)
        self.optimizer.step()
        self.end_of_step(number)

    def end_of_step(self, number):
        pass


def post_process(milliseconds):
    """Work of the host that nobody waits for, and that the next step waits for."""
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
    """Reads the norm of each gradient as a number of Python: the host waits for the GPU each time."""

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
    """The copy for the next step runs on a stream of its own."""

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
    """The allocator's memory is given back to the driver in each step."""

    def end_of_step(self, number):
        torch.cuda.empty_cache()


class Synchronize(Loop):
    """Waits for the GPU after the forward pass and after each step, as leftover timers do."""

    def after_backward(self, loss):
        torch.cuda.synchronize()

    def end_of_step(self, number):
        torch.cuda.synchronize()


class GarbageCollection(Loop):
    """A full collection over many objects in each step."""

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
    """So small a batch that launches take longer than the kernels."""

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
    """AdamW with a kernel for each parameter and operation."""

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=1e-4, foreach=False)


class OddVocabulary(Loop):
    """Rows of the last product are not a multiple of 16 bytes."""

    vocabulary, batch = 50257, 16


class PaddedVocabulary(OddVocabulary):
    vocabulary = 50304


class Checkpoint(Loop):
    """The model is written to a file in every fourth step."""

    steps = 8

    def end_of_step(self, number):
        if number % 4 == 3:
            torch.save(self.model.state_dict(), "/tmp/rankscope_causes.pt")


# slow variant -> the variants in which its cause is removed
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
}


def timed(loop, count):
    """Seconds of `count` steps after warm-up, the GPU's work included, as one mean; three times."""
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
