#include "analyses/operators/parent_modules.h"

#include "core/arg_text.h"

#include <map>

namespace rankscope {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns the module frames above the event, innermost first.
std::vector<EventId> above(const LoadedTrace& t, EventId e) {
  std::vector<EventId> out;
  for (EventId at = t.tree.parent(e); at != kNoEvent; at = t.tree.parent(at))
    if (t.trace.name(at).find("nn.Module") != std::string_view::npos)
      out.push_back(at);
  return out;
}

std::vector<EventId> modules_of(const LoadedTrace& t, EventId launcher, bool compat) {
  std::vector<EventId> out = above(t, launcher);
  if (compat)
    return out;
  for (EventId at = launcher; out.empty() && at != kNoEvent; at = t.tree.parent(at))
    if (const EventId forward = t.tree.forward_of(at); forward != kNoEvent)
      out = above(t, forward);
  return out;
}

std::string cut(std::string_view name) {
  constexpr std::size_t kMost = 256;
  return name.size() > kMost ? std::string(name.substr(0, kMost)) + ".." : std::string(name);
}

std::string name_of(const LoadedTrace& t, const std::vector<EventId>& frames, bool path) {
  constexpr std::string_view kPrefix = "nn.Module: ";
  if (frames.empty())
    return "NA";
  if (!path)
    return without_numbers(cut(t.trace.name(frames.front())));
  std::string out;
  for (auto it = frames.rbegin(); it != frames.rend(); ++it) {
    const std::string name = without_numbers(cut(t.trace.name(*it)));
    if (out.empty())
      out = name;
    else
      out += " / " + (name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name);
  }
  return out;
}

} // namespace

ParentModules compute(const LoadedTrace& t, const ParentModulesKey& key) {
  ParentModules out;
  out.names = {"NA"};
  std::map<std::string, std::uint32_t> places{{"NA", 0}};
  for (const Launcher& l : t.shared(key.launchers).launchers) {
    const auto frames = modules_of(t, l.event, key.launchers.compat);
    const auto [at, fresh] = places.try_emplace(name_of(t, frames, key.path), out.names.size());
    if (fresh)
      out.names.push_back(at->first);
    out.name_index.push_back(at->second);
  }
  return out;
}

std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (text[i] == '_' && end < text.size() && is_digit(text[end]))
      ++end;
    if (end == i + 1)
      out += text[i];
    i = end;
  }
  return out;
}

std::string module_stack(const LoadedTrace& t, EventId launcher, bool compat) {
  std::string out = "[" + python_quote(cut(t.trace.name(launcher)));
  for (const EventId frame : modules_of(t, launcher, compat))
    out += ", " + python_quote(cut(t.trace.name(frame)));
  return out + "]";
}

} // namespace rankscope
