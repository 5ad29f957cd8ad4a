#include "collect/profile/plan.h"

#include "base/ascii.h"
#include "collect/profile/library_tool.h"
#include "collect/profile/outputs.h"
#include "collect/secrets.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <sstream>
#include <unistd.h>

extern char** environ;

namespace rankscope {
namespace {

namespace fs = std::filesystem;

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at))
    text.replace(at, what.size(), with), at += with.size();
}

/// The folders that replace {out} and {run}.
struct Places {
  std::string run, out;
  void put(std::string& text) const {
    replace_all(text, "{out}", out);
    replace_all(text, "{run}", run);
  }
};

/// Replaces placeholders everywhere except in the command. wrap() splits the command into words
/// before it inserts paths.
void place_outputs(ToolEntry& tool, const Places& places) {
  const auto put = [&](std::string& text) { places.put(text); };
  for (EnvPairs* pairs : {&tool.env_vars, &tool.env_prepend, &tool.env_list})
    for (auto& pair : *pairs)
      put(pair.second);
  std::istringstream cmd(tool.cmd);
  const std::vector<std::string> words{std::istream_iterator<std::string>(cmd), {}};
  std::erase_if(tool.produces, [&](const ToolOutput& output) {
    return std::find_first_of(words.begin(), words.end(), output.without.begin(),
                              output.without.end()) != words.end();
  });
  const Places escaped{escaped_pattern(places.run), escaped_pattern(places.out)};
  for (ToolOutput& output : tool.produces)
    escaped.put(output.path);
  for (std::vector<ToolScript>* scripts : {&tool.pre, &tool.post})
    for (ToolScript& script : *scripts)
      for (std::string& argument : script.arguments)
        put(argument);
}

/// Merges the changes to the command's environment.
class EnvMerge {
public:
  EnvMerge(const EnvPairs& start, Plan& plan) : start_(start), plan_(plan) {}

  void tool(const ToolEntry& tool, const std::string& log_folder) {
    EnvPairs all = start_;
    for (const EnvChange& e : plan_.env) {
      std::erase_if(all, [&](const auto& p) { return p.first == e.name; });
      if (!e.unset)
        all.emplace_back(e.name, e.value);
    }
    for (EnvChange& e : library_environment(tool, log_folder, all, plan_.conflicts))
      change(e.name) = std::move(e);
    for (const auto& [name, value] : tool.env_vars) {
      if (is_path_variable(name))
        front(name, value, tool.name);
      else
        set(name, value, tool.name);
    }
    for (const auto& [name, value] : tool.env_prepend)
      front(name, value, tool.name);
    for (const auto& [name, value] : tool.env_or)
      set(name, bits(name, value), "");
    for (const auto& [name, value] : tool.env_list)
      set(name, joined(name, value), "");
    for (const auto& pairs : {&tool.env_or, &tool.env_list})
      for (const auto& [name, value] : *pairs)
        change(name).from = tool.name;
    for (const std::string& name : tool.env_unset)
      if (now(name) != nullptr) {
        EnvChange& c = change(name);
        c.unset = true;
        c.from = tool.name;
      }
  }

  /// Sets variables that override those of the tools.
  void context(const EnvPairs& pairs, const char* from) {
    for (const auto& [name, value] : pairs)
      set(name, value, from);
  }

private:
  EnvChange& change(const std::string& name) {
    const auto it = std::ranges::find(plan_.env, name, &EnvChange::name);
    if (it != plan_.env.end())
      return *it;
    plan_.env.push_back({name, "", "", false});
    return plan_.env.back();
  }
  [[nodiscard]] const EnvChange* changed(const std::string& name) const {
    const auto it = std::ranges::find(plan_.env, name, &EnvChange::name);
    return it == plan_.env.end() ? nullptr : &*it;
  }
  [[nodiscard]] const std::string* now(const std::string& name) const {
    if (const EnvChange* c = changed(name))
      return c->unset ? nullptr : &c->value;
    const auto it = std::ranges::find_if(start_, [&](const auto& p) { return p.first == name; });
    return it == start_.end() ? nullptr : &it->second;
  }

  /// Sets a variable. `from` is empty if the new value includes the old value, which is not a
  /// conflict.
  void set(const std::string& name, const std::string& value, const std::string& from) {
    const EnvChange* before = changed(name);
    if (before != nullptr && !from.empty() && !before->unset && before->value != value)
      plan_.conflicts.push_back(fmt::format("{} sets {}={}, {} sets {}={}: {} wins", before->from,
                                            name, before->value, from, name, value, from));
    else if (const std::string* old = now(name);
             before == nullptr && old != nullptr && !from.empty() && *old != value)
      plan_.conflicts.push_back(fmt::format("the environment has {}={}, {} sets {}={}: {} wins",
                                            name, *old, from, name, value, from));
    EnvChange& c = change(name);
    c.value = value;
    c.unset = false;
    if (!from.empty())
      c.from = from;
  }
  void front(const std::string& name, const std::string& value, const std::string& from) {
    const std::string* old = now(name);
    const std::string joined = old == nullptr || old->empty() ? value : value + ":" + *old;
    EnvChange& c = change(name);
    c.value = joined;
    c.unset = false;
    c.from = from;
  }
  [[nodiscard]] std::string bits(const std::string& name, const std::string& more) const {
    const auto number = [](std::string text, unsigned long long& out) {
      const bool hex = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
      const char* const begin = text.data() + (hex ? 2 : 0);
      const char* const end = text.data() + text.size();
      const auto [at, ec] = std::from_chars(begin, end, out, hex ? 16 : 10);
      return ec == std::errc() && at == end && begin != end;
    };
    unsigned long long a = 0;
    unsigned long long b = 0;
    const std::string* old = now(name);
    if (old == nullptr || !number(*old, a) || !number(more, b))
      return more;
    return more.rfind("0x", 0) == 0 ? fmt::format("{:#x}", a | b) : fmt::format("{}", a | b);
  }
  [[nodiscard]] std::string joined(const std::string& name, const std::string& more) const {
    const std::string* old = now(name);
    std::string out = old == nullptr ? "" : *old;
    for (const std::string_view part : split(more, ',')) {
      const std::string item(part);
      if (("," + out + ",").find("," + item + ",") == std::string::npos)
        out += (out.empty() ? "" : ",") + item;
    }
    return out;
  }

  const EnvPairs& start_;
  Plan& plan_;
};

/// Returns the script itself if it is executable, else bash with the script, as the documented
/// tables expect.
std::vector<std::string> script_argv(const ToolScript& script) {
  std::vector<std::string> out;
  if (::access(script.path.c_str(), X_OK) != 0)
    out.emplace_back("bash");
  // a name without a folder would be searched for in PATH
  out.push_back(out.empty() && script.path.find('/') == std::string::npos ? "./" + script.path
                                                                          : script.path);
  out.insert(out.end(), script.arguments.begin(), script.arguments.end());
  return out;
}

void add_steps(const std::string& tool, const std::vector<ToolScript>& scripts, double timeout_s,
               std::size_t layer, std::vector<PlanStep>& out) {
  for (const ToolScript& script : scripts)
    out.push_back({tool, script_argv(script), timeout_s, layer});
}

Result<void> wrap(const ToolEntry& tool, const Places& places, std::vector<std::string>& argv) {
  std::vector<std::string> words;
  if (tool.shell) {
    std::string text = tool.cmd;
    Places{quoted_command({places.run}), quoted_command({places.out})}.put(text);
    // the command follows the text, as in "cd x && "
    words = {"sh", "-c", text + " \"$@\"", "sh"};
  } else {
    RS_TRY(words, split_words(tool.cmd, fmt::format("tool {}: cmd", tool.name)));
    for (std::string& word : words)
      places.put(word);
  }
  argv.insert(argv.begin(), words.begin(), words.end());
  return {};
}

/// Reports tools that cannot run together: an error, or a fact of the plan with `force`.
Result<void> find_conflicts(Plan& plan, bool force) {
  for (std::size_t i = 0; i < plan.tools.size(); ++i)
    for (std::size_t k = i + 1; k < plan.tools.size(); ++k) {
      const ToolEntry& a = plan.tools[i];
      const ToolEntry& b = plan.tools[k];
      const bool same_command = !a.cmd.empty() && a.cmd == b.cmd;
      const bool family = !a.family.empty() && a.family == b.family && !same_command;
      const auto names = [](const ToolEntry& x, const ToolEntry& y) {
        return std::find(x.conflicts.begin(), x.conflicts.end(), y.name) != x.conflicts.end();
      };
      if (!family && !names(a, b) && !names(b, a))
        continue;
      if (!force)
        return Error{ErrorCode::kUsage, "conflicting-tools",
                     fmt::format("{} and {} cannot run together; both hook the same calls of the "
                                 "runtime",
                                 a.name, b.name),
                     "run them one after the other, or use --force"};
      plan.facts.push_back({b.name, profile::ConflictingTool{a.name, family ? a.family : ""}});
    }
  return {};
}

} // namespace

Result<Plan> make_plan(const PlanRequest& request) {
  Plan plan;
  plan.command = request.command;
  plan.argv = request.command;
  plan.tools = request.tools;
  std::set<std::string> names;
  std::set<std::string> commands;
  EnvMerge env(request.environment, plan);
  const double script_s = 600;
  for (std::size_t i = 0; i < plan.tools.size(); ++i) {
    ToolEntry& tool = plan.tools[i];
    std::string folder = tool.name;
    std::replace(folder.begin(), folder.end(), '/', '_');
    if (folder.empty() || folder[0] == '.')
      return Error{ErrorCode::kUsage, "tools",
                   fmt::format("'{}' is not the name of a tool", tool.name), ""};
    if (!names.insert(folder).second)
      return Error{ErrorCode::kUsage, "tools", fmt::format("{} is requested twice", tool.name), ""};
    plan.folders.push_back(folder);
    const Places places{request.out_folder, request.out_folder + "/" + folder};
    place_outputs(tool, places);
    if (!tool.cmd.empty() && commands.insert(tool.cmd).second) {
      RS_CHECK(wrap(tool, places, plan.argv));
    }
    if (tool.native != "sampler") // the variables are for the sampler, not for the command
      env.tool(tool, request.out_folder + "/library_trace");
    add_steps(tool.name, tool.post, tool.timeout_s, i, plan.post);
  }
  RS_CHECK(find_conflicts(plan, request.force));
  for (std::size_t i = plan.tools.size(); i-- > 0;)
    add_steps(plan.tools[i].name, plan.tools[i].pre, plan.tools[i].timeout_s, i, plan.pre);
  add_steps("", request.context.pre, script_s, plan.tools.size(), plan.pre);
  std::vector<PlanStep> post;
  add_steps("", request.context.post, script_s, plan.tools.size(), post);
  plan.post.insert(plan.post.begin(), post.begin(), post.end());
  env.context(request.more_env, "model");
  env.context(request.context.env_vars, "env_vars");
  env.context(request.context.docker_env_vars, "docker_env_vars");
  return plan;
}

std::string quoted_command(const std::vector<std::string>& argv) {
  std::string out;
  for (const std::string& word : argv) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("_-+=./:,@%{}").find(c) != std::string::npos;
    });
    std::string text = word;
    replace_all(text, "'", "'\\''");
    out += (out.empty() ? "" : " ") + (plain ? word : "'" + text + "'");
  }
  return out;
}

std::string plan_text(const Plan& plan, bool explain) {
  std::string out;
  const auto step = [&](const char* kind, const PlanStep& s) {
    out += fmt::format("{:<6}{:<28}{}\n", kind, s.tool.empty() ? "(context)" : s.tool,
                       quoted_command(s.argv));
  };
  for (const PlanStep& s : plan.pre)
    step("pre", s);
  for (const EnvChange& e : plan.env)
    out += fmt::format("env   {:<28}{}{}\n", e.from, e.unset ? "unset " + e.name : e.name,
                       e.unset ? "" : "=" + quoted_command({e.value}));
  out += fmt::format("run   {:<28}{}\n", "", quoted_command(plan.argv));
  for (const ToolEntry& tool : plan.tools)
    if (tool.passes > 1)
      out += fmt::format("note  {}: the command runs {} times\n", tool.name, tool.passes);
  for (const PlanStep& s : plan.post)
    step("post", s);
  for (const std::string& line : plan.conflicts)
    out += "note  " + line + "\n";
  if (!explain)
    return out;
  for (std::size_t i = 0; i < plan.tools.size(); ++i) {
    const ToolEntry& tool = plan.tools[i];
    out += fmt::format("tool  {:<28}{}\n", tool.name, tool.about);
    if (!tool.native.empty())
      out += fmt::format("        made by rankscope itself ({})\n", tool.native);
    for (const ToolOutput& o : tool.produces)
      out += fmt::format("        writes {}\n", o.path);
  }
  out += "order: set-up from the last tool listed to the first, tear-down from the first to the "
         "last;\n       the first tool listed is the innermost around the command\n";
  return out;
}

Json plan_json(const Plan& plan) {
  Json out = Json::object();
  const auto steps = [](const std::vector<PlanStep>& list) {
    Json all = Json::list();
    for (const PlanStep& s : list) {
      all.items.push_back(Json::object(
          {{"tool", s.tool}, {"argv", masked_arguments(s.argv)}, {"timeout_s", s.timeout_s}}));
    }
    return all;
  };
  Json tools = Json::list();
  for (const ToolEntry& t : plan.tools)
    tools.items.push_back(t.name);
  out.at("tools") = std::move(tools);
  out.at("command") = masked_arguments(plan.command);
  out.at("argv") = masked_arguments(plan.argv);
  out.at("pre") = steps(plan.pre);
  out.at("post") = steps(plan.post);
  Json env = Json::object();
  for (const EnvChange& e : plan.env)
    env.at(e.name) = e.unset ? Json() : Json(std::string(masked_value(e.name, e.value)));
  out.at("env") = std::move(env);
  out.at("env_conflicts") = plan.conflicts;
  return out;
}

EnvPairs current_environment() {
  EnvPairs out;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view text = *at;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals > 0)
      out.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return out;
}

} // namespace rankscope
