#include "analyses/operators/call_stacks.h"

#include "analyses/operators/parent_modules.h"
#include "base/ascii.h"
#include "core/arg_text.h"

#include <algorithm>

namespace rankscope {
namespace {

const char* const kNotFound = "Not found";

bool kept(const Trace& trace, EventId e) {
  const std::string_view name = trace.name(e);
  return trace.events.category[e] == Category::kCpuOp || contains(name, "nn.Module") ||
         contains(name, "::") || contains(name, "/");
}

/// Returns the names from the event `from` upwards, outermost first. Excludes `stop` and all events
/// above it.
std::vector<std::string> names_above(const LoadedTrace& t, EventId from, EventId stop) {
  std::vector<std::string> out;
  for (EventId at = from; at != kNoEvent && at != stop; at = t.tree.parent(at))
    if (kept(t.trace, at))
      out.push_back(without_numbers(t.trace.name(at)));
  std::reverse(out.begin(), out.end());
  return out;
}

/// Returns the function: "file.py(12): function" -> "function"; other frames are returned
/// unchanged.
std::string_view function_of(std::string_view frame) {
  const std::size_t at = frame.rfind("): ");
  return at == std::string_view::npos ? frame : frame.substr(at + 3);
}

bool wrapper(std::string_view frame) {
  for (const char* start : {"<built-in", "pybind11_builtins", "nn.Module:"})
    if (frame.starts_with(start))
      return true;
  for (const char* part :
       {"torch/_ops.py", "torch/nn/modules/module.py", "torch/utils/_contextlib.py",
        "torch/utils/_device.py", "torch/_tensor.py", "torch/functional.py", "torch/overrides.py",
        "torch/_inductor/", "torch/_functorch/", "torch/distributed/c10d_logger.py",
        "triton/backends/"})
    if (contains(frame, part))
      return true;
  const std::string_view function = function_of(frame);
  for (const char* name : {"__torch_function__", "_call_impl", "_wrapped_call_impl",
                           "decorate_context", "dispatch_wrapper", "handle_torch_function",
                           "wrapper", "custom_wrapper", "wrapper_custom", "outer_wrapper"})
    if (function == name)
      return true;
  return false;
}

/// Returns the name without the last "_<digits>" at its end.
std::string_view without_last_number(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last == std::string_view::npos || last + 1 == name.size() || name[last] != '_'
             ? name
             : name.substr(0, last);
}

bool library_frame(std::string_view frame) {
  for (const char* part : {"torch/", "<built-in", "<string>", "<frozen", "<eval_with_key>",
                           "nn.Module: ", "triton/runtime/", "triton/backends/"})
    if (contains(frame, part))
      return true;
  return wrapper(frame);
}

bool is_frame(const Trace& trace, EventId e) {
  return trace.events.category[e] == Category::kPythonFunction;
}

/// Returns the Python frames above the operator, innermost first.
std::vector<std::string_view> frames_above_call_stacks(const LoadedTrace& t, EventId op) {
  std::vector<std::string_view> frames;
  for (EventId at = t.tree.parent(op); at != kNoEvent; at = t.tree.parent(at))
    if (is_frame(t.trace, at))
      frames.push_back(t.trace.name(at));
  return frames;
}

/// Returns the name in lower case without namespaces: "ns::Name" -> "name".
std::string local_name(std::string_view op) {
  const std::size_t colons = op.rfind("::");
  return lowercase(colons == std::string_view::npos ? op : op.substr(colons + 2));
}

bool called_like(std::string_view frame, const std::string& local) {
  return contains(frame, ".py") && contains(lowercase(function_of(frame)), local);
}

/// Returns the outermost frame between the operator and a kernel whose function contains the
/// operator's name, or "".
std::string_view frame_below(const LoadedTrace& t, EventId op, std::span<const EventId> kernels) {
  const std::string local = local_name(t.trace.name(op));
  for (const EventId k : kernels) {
    std::string_view found;
    EventId at = t.tree.parent(k);
    for (; at != kNoEvent && at != op; at = t.tree.parent(at))
      if (is_frame(t.trace, at) && called_like(t.trace.name(at), local))
        found = t.trace.name(at);
    if (at == op && !found.empty())
      return found;
  }
  return {};
}

void append(std::string& to, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    to += (i > 0 ? ", " : "") + python_quote(names[i]);
}

} // namespace

std::string CallChain::text() const {
  if (common.empty() && rests.empty())
    return kNotFound;
  std::string out = "[";
  append(out, common);
  for (const std::vector<std::string>& rest : rests) {
    out += out.size() > 1 ? ", [" : "[";
    append(out, rest);
    out += "]";
  }
  return out + "]";
}

std::vector<std::string_view> CallChain::flat() const {
  std::vector<std::string_view> out(common.begin(), common.end());
  for (const std::vector<std::string>& rest : rests)
    out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

CallChain call_chain(const LoadedTrace& t, EventId op, std::span<const EventId> kernels) {
  std::vector<std::vector<std::string>> chains;
  const std::vector<std::string> down_to = names_above(t, op, kNoEvent);
  for (const EventId k : kernels) {
    std::vector<std::string> chain = down_to;
    for (std::string& name : names_above(t, t.tree.parent(k), op))
      chain.push_back(std::move(name));
    chain.emplace_back(t.trace.name(k));
    chains.push_back(std::move(chain));
  }
  CallChain out;
  if (chains.empty())
    return out;
  if (chains.size() == 1) {
    out.common = std::move(chains.front());
    return out;
  }
  std::size_t common = chains.front().size();
  for (const auto& chain : chains) {
    const auto differ =
        std::mismatch(chain.begin(), chain.end(), chains.front().begin(), chains.front().end());
    common = std::min(common, static_cast<std::size_t>(differ.first - chain.begin()));
  }
  const auto prefix = static_cast<std::ptrdiff_t>(common);
  out.common.assign(chains.front().begin(), chains.front().begin() + prefix);
  for (const auto& chain : chains) {
    std::vector<std::string> rest(chain.begin() + prefix, chain.end());
    if (std::find(out.rests.begin(), out.rests.end(), rest) == out.rests.end())
      out.rests.push_back(std::move(rest));
  }
  return out;
}

std::string entry_point(const CallChain& chain, std::string_view op) {
  const std::vector<std::string_view> flat = chain.flat();
  const auto last = [&flat](std::string_view name) {
    return std::find(flat.rbegin(), flat.rend(), name);
  };
  auto at = last(op);
  if (at == flat.rend())
    at = last(without_last_number(op));
  if (at == flat.rend())
    return kNotFound;
  const std::string local = local_name(op);
  for (auto inward = at.base(); inward != flat.end(); ++inward)
    if (called_like(*inward, local))
      return std::string(*inward);
  for (auto outward = std::next(at); outward != flat.rend(); ++outward)
    if (contains(*outward, ".py") && !wrapper(*outward))
      return std::string(*outward);
  return kNotFound;
}

PythonStack python_stack(const LoadedTrace& t, EventId op, std::span<const EventId> kernels) {
  std::vector<std::string_view> frames = frames_above_call_stacks(t, op);
  for (EventId at = op; frames.empty() && at != kNoEvent; at = t.tree.parent(at))
    if (const EventId forward = t.tree.forward_of(at); forward != kNoEvent)
      frames = frames_above_call_stacks(t, forward);
  PythonStack out;
  if (frames.empty())
    return out;
  const auto user_frame = std::find_if_not(frames.begin(), frames.end(), library_frame);
  out.entry_point = frame_below(t, op, kernels);
  if (out.entry_point.empty())
    out.entry_point = user_frame == frames.end() ? frames.front() : *user_frame;
  out.text = "[";
  for (auto it = frames.rbegin(); it != frames.rend(); ++it)
    out.text += (out.text.size() > 1 ? ", " : "") + python_quote(*it);
  out.text += "]";
  return out;
}

} // namespace rankscope
