#include "collect/profile/torch_tool.h"

#include "os/output_file.h"

#include <algorithm>
#include <filesystem>

namespace rankscope {
namespace {

/// The sitecustomize module. It reports errors on standard error and does not disturb the program.
/// It hides any other sitecustomize module, so it runs that module too. PyTorch has one profiler
/// per thread: if the program starts one itself, this one stops first and leaves no trace.
/// RANKSCOPE_TORCH_STEPS=A:B records the steps A to B of the first optimizer, counted from 0.
constexpr const char* kSite =
    R"py(import atexit, importlib, importlib.machinery, importlib.util, os, sys

_here = os.path.dirname(os.path.abspath(__file__))
_out = os.environ.get("RANKSCOPE_TORCH_OUT", "")
_steps = os.environ.get("RANKSCOPE_TORCH_STEPS", "")


def _say(what):
    sys.stderr.write("rankscope: torch_profiler: %s\n" % what)


def _start():
    try:
        import torch.profiler as profiler
        run = profiler.profile(record_shapes=True)
    except Exception as error:
        _say("does not start: %s" % error)
        return
    owner = os.getpid()
    running = [False]
    ended = [False]
    starting = [False]

    def _begin():
        if not running[0] and not ended[0]:
            starting[0] = True  # its own start is not the program's
            try:
                run.start()
                running[0] = True
            finally:
                starting[0] = False

    def _step_aside():
        if starting[0] or ended[0] or os.getpid() != owner:
            return
        was_running = running[0]
        ended[0] = True
        running[0] = False
        _say("the program starts PyTorch's profiler itself, so this tool stops and writes no trace")
        try:
            with open(os.path.join(_here, "stepped_aside"), "a") as file:
                file.write("%d\n" % owner)
            if was_running:
                run.stop()
        except Exception as error:
            _say("does not stop: %s" % error)

    def _before(method):
        def start(self, *args, **options):
            _step_aside()
            return method(self, *args, **options)
        return start

    for module, kinds in (("torch.profiler", ("profile", "_KinetoProfile")),
                          ("torch.autograd.profiler", ("profile", "emit_nvtx", "emit_itt")),
                          ("torch.autograd.profiler_legacy", ("profile",))):
        try:
            found = vars(importlib.import_module(module))
            for kind in [found[k] for k in kinds if k in found]:
                for name in ("__enter__", "start", "prepare_trace", "_prepare_trace"):
                    if name in vars(kind):
                        setattr(kind, name, _before(vars(kind)[name]))
        except Exception:
            pass  # another release

    def _stop():
        if not running[0] or os.getpid() != owner:
            return
        ended[0] = True
        running[0] = False
        try:
            run.stop()
            rank = os.environ.get("RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") \
                or os.environ.get("SLURM_PROCID") or "0"
            folder = os.path.join(_out, "rank%s" % rank)
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, "trace_%d.json" % owner)
            run.export_chrome_trace(path)
        except Exception as error:
            _say("no trace: %s" % error)

    def _record_steps(first, last):
        from torch.optim.optimizer import register_optimizer_step_post_hook as at_step_end
        counted = []  # the first optimizer that makes a step, and its steps

        def _after_step(optimizer, *rest):
            if ended[0] or os.getpid() != owner:
                return
            if not counted:
                counted.extend((optimizer, 0))
            if counted[0] is not optimizer:
                return
            counted[1] += 1
            if counted[1] > last:
                _stop()
            elif counted[1] >= first:
                _begin()

        def _not_reached():
            if not running[0] and not ended[0] and os.getpid() == owner:
                _say("step %d was not reached: the program made %d optimizer steps"
                     % (first, counted[1] if counted else 0))

        at_step_end(_after_step)
        if first == 0:
            _begin()
        atexit.register(_not_reached)

    try:
        if _steps:
            _record_steps(*(int(n) for n in _steps.split(":")))
        else:
            _begin()
    except Exception as error:
        _say("does not start: %s" % error)
        return
    atexit.register(_stop)


class _Finder:
    """Finds torch where it is, and starts the profiler behind its import."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            _start()

        spec.loader.exec_module = exec_module
        return spec


if _out:
    sys.meta_path.insert(0, _Finder())

_rest = [p for p in sys.path if os.path.abspath(p or ".") != _here]
_next = importlib.machinery.PathFinder.find_spec("sitecustomize", _rest)
if _next is not None and _next.loader is not None:
    _module = importlib.util.module_from_spec(_next)
    _next.loader.exec_module(_module)
)py";

class TorchTool final : public NativeTool {
public:
  TorchTool(std::string name, std::string folder)
      : name_(std::move(name)), folder_(std::move(folder)) {}

  [[nodiscard]] std::vector<std::string> names() const override { return {name_}; }

  Result<void> begin() override {
    RS_CHECK(make_folder(folder_));
    std::error_code ec;
    std::filesystem::remove(folder_ + "/stepped_aside", ec); // left by an earlier run
    return write_file(folder_ + "/sitecustomize.py", kSite);
  }

  Result<void> end(std::vector<ProfileFact>& facts, Json&) override {
    std::error_code ec;
    if (std::filesystem::exists(folder_ + "/stepped_aside", ec))
      facts.push_back({name_, profile::SteppedAside{}});
    return {};
  }

private:
  std::string name_, folder_;
};

} // namespace

std::unique_ptr<NativeTool> make_torch_tool(const Plan& plan, const std::string& out) {
  for (std::size_t i = 0; i < plan.tools.size(); ++i)
    if (plan.tools[i].native == "torch_profiler")
      return std::make_unique<TorchTool>(plan.tools[i].name, out + "/" + plan.folders[i] + "/site");
  return nullptr;
}

} // namespace rankscope
