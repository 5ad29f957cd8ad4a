#!/usr/bin/env python3
"""A small distributed training with profiler traces, for trying `rankscope sweep` for real.

    rankscope sweep -c 2,4 -t 64,128 -- torchrun --nproc-per-node 2 examples/train/train.py

Runs on CPUs (gloo) and on NVIDIA or AMD GPUs (nccl, which is RCCL on AMD). Each rank writes
OUT/torch_profiler/rank<r>/trace_step<N>.json; OUT is --out, else $RANKSCOPE_RUN_DIR, else "run".
Needs PyTorch 1.13 or newer. A build without Kineto (Debian's) writes the older format of the CPU
profiler, which has no GPU work and no collectives of its own.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.autograd import profiler as autograd_profiler
from torch.nn.parallel import DistributedDataParallel


def arguments():
    parser = argparse.ArgumentParser(description="a small distributed training with traces")
    parser.add_argument("--out", default=os.environ.get("RANKSCOPE_RUN_DIR", "run"))
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--wait", type=int, default=2, help="steps before the trace")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--trace-name", default="trace")
    parser.add_argument("--cpu", action="store_true", help="CPUs even where there are GPUs")
    return parser.parse_args()


def make_model(width, layers):
    parts = []
    for _ in range(layers):
        parts += [nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width),
                  nn.LayerNorm(width)]
    return nn.Sequential(*parts)


class Tracer:
    """Traces the steps after the first `wait` steps; has the same methods for both profilers."""

    def __init__(self, args, rank, use_gpu):
        self.args = args
        self.step_number = 0
        folder = os.path.join(args.out, "torch_profiler", f"rank{rank}")
        os.makedirs(folder, exist_ok=True)
        self.path = os.path.join(folder, f"{args.trace_name}_step{args.steps}.json")
        kineto = getattr(autograd_profiler, "kineto_available", lambda: True)()
        self.profiler = self.make_kineto(use_gpu) if kineto else self.make_legacy(use_gpu)
        self.kineto = kineto

    def make_kineto(self, use_gpu):
        from torch import profiler
        kinds = [profiler.ProfilerActivity.CPU]
        if use_gpu:
            kinds.append(profiler.ProfilerActivity.CUDA)
        return profiler.profile(activities=kinds, record_shapes=True, with_flops=True)

    @staticmethod
    def make_legacy(use_gpu):
        return autograd_profiler.profile(use_cuda=use_gpu, record_shapes=True, use_kineto=False)

    def begin_step(self):
        if self.step_number == self.args.wait:
            self.profiler.__enter__()
        self.step_number += 1
        # trace readers recognize steps by this name
        self.mark = autograd_profiler.record_function(f"ProfilerStep#{self.step_number}")
        self.mark.__enter__()

    def end_step(self):
        self.mark.__exit__(None, None, None)
        if self.step_number != self.args.steps:
            return
        self.profiler.__exit__(None, None, None)
        partial = self.path + ".tmp"  # so that a trace with the final name is complete
        self.profiler.export_chrome_trace(partial)
        os.replace(partial, self.path)


def main():
    args = arguments()
    if args.steps <= args.wait:
        raise SystemExit("--steps must be more than --wait")
    use_gpu = torch.cuda.is_available() and not args.cpu
    if use_gpu:
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    else:
        torch.set_num_threads(1)
    dist.init_process_group("nccl" if use_gpu else "gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    device = torch.device("cuda" if use_gpu else "cpu")
    model = DistributedDataParallel(make_model(args.width, args.layers).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    tracer = Tracer(args, rank, use_gpu)
    for step in range(args.steps):
        begin = time.perf_counter()
        tracer.begin_step()
        data = torch.randn(args.batch, args.width, device=device)
        loss = model(data).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if use_gpu:
            torch.cuda.synchronize()
        tracer.end_step()
        if rank == 0:
            print(f"step {step + 1} loss {loss.item():.4f} "
                  f"{1000 * (time.perf_counter() - begin):.1f} ms", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
