#include "collect/profile/tool_table.h"

#include "base/nearest.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {

extern const char kBuiltinTools[]; // in builtin_tools.cpp, which the build makes from tools.json

namespace {

namespace fs = std::filesystem;
using Kind = Json::Kind;

constexpr std::array kToolTableKeys = {
    "name",     "about",       "vendors",   "family",    "cmd",       "fallbacks",   "shell",
    "env_vars", "env_prepend", "env_or",    "env_list",  "env_unset", "pre_scripts", "post_scripts",
    "produces", "check",       "libraries", "conflicts", "requires",  "needs",       "native",
    "timeout",  "passes",      "inherits",  "options"};

Error wrong_tool_table(const std::string& where, const std::string& pointer,
                       const std::string& what) {
  return {ErrorCode::kUsage, where, fmt::format("{}: {}", pointer, what), ""};
}

Error wrong_kind(const std::string& where, const std::string& pointer, const char* wanted,
                 const Json& got) {
  return wrong_tool_table(where, pointer,
                          fmt::format("expected {}, found {}", wanted, kind_name(got.kind)));
}

/// Reads the members of an entry and stores the first error.
class EntryReader {
public:
  EntryReader(const Json& entry, std::string where, std::string pointer)
      : entry_(entry), where_(std::move(where)), pointer_(std::move(pointer)) {}

  void text(const char* key, std::string& out) {
    if (const Json* v = find(key)) {
      if (v->is(Kind::kText))
        out = v->text;
      else
        fail(key, "a text", *v);
    }
  }
  void number(const char* key, double& out) {
    if (const Json* v = find(key)) {
      if (const auto n = v->number(); n && *n >= 0)
        out = *n;
      else
        fail(key, "a number, 0 or more", *v);
    }
  }
  void flag(const char* key, bool& out) {
    if (const Json* v = find(key)) {
      if (v->is(Kind::kBool))
        out = v->flag;
      else
        fail(key, "true or false", *v);
    }
  }
  void texts(const char* key, std::vector<std::string>& out) {
    const Json* v = find(key);
    if (v == nullptr)
      return;
    out.clear();
    if (v->is(Kind::kText)) {
      out.push_back(v->text);
      return;
    }
    if (!v->is(Kind::kList))
      return fail(key, "a list of texts", *v);
    for (const Json& item : v->items) {
      if (!item.is(Kind::kText))
        return fail(key, "a list of texts", item);
      out.push_back(item.text);
    }
  }
  void pairs(const char* key, EnvPairs& out) {
    const Json* v = find(key);
    if (v == nullptr)
      return;
    if (!v->is(Kind::kObject))
      return fail(key, "an object", *v);
    for (const JsonMember& m : v->members) {
      const auto value = m.value.scalar();
      const bool name_ok = !m.key.empty() && m.key.find('=') == std::string::npos &&
                           m.key.find('\0') == std::string::npos;
      if (!value || !name_ok || value->find('\0') != std::string::npos)
        return fail(fmt::format("{}/{}", key, m.key), "a variable and its text", m.value);
      const auto it = std::ranges::find_if(out, [&](const auto& p) { return p.first == m.key; });
      if (it == out.end())
        out.emplace_back(m.key, *value);
      else
        it->second = *value;
    }
  }
  void scripts(const char* key, std::vector<ToolScript>& out) {
    const Json* v = find(key);
    if (v == nullptr)
      return;
    if (!v->is(Kind::kList))
      return fail(key, "a list of scripts", *v);
    for (std::size_t i = 0; i < v->items.size(); ++i) {
      const Json& item = v->items[i];
      const Json* path = item.is(Kind::kText) ? &item : item.find("path");
      const Json* args = item.find("args");
      const std::string place = fmt::format("{}/{}", key, i);
      if (path == nullptr || !path->is(Kind::kText))
        return fail(place, "an object with \"path\"", item);
      ToolScript script{path->text, {}};
      if (args != nullptr && args->is(Kind::kList)) {
        for (const Json& a : args->items)
          script.arguments.push_back(a.scalar().value_or(""));
      } else if (args != nullptr) {
        auto words =
            split_words(args->scalar().value_or(""), where_ + ": " + pointer_ + "/" + place);
        if (!words)
          return keep(std::move(words.error()));
        script.arguments = std::move(*words);
      }
      out.push_back(std::move(script));
    }
  }
  void outputs(const char* key, std::vector<ToolOutput>& out) {
    const Json* v = find(key);
    if (v == nullptr)
      return;
    out.clear();
    if (!v->is(Kind::kList))
      return fail(key, "a list of outputs", *v);
    for (std::size_t i = 0; i < v->items.size(); ++i) {
      const Json& item = v->items[i];
      const std::string place = fmt::format("{}/{}/", pointer_ + "/" + key, i);
      ToolOutput o;
      o.check = "bytes";
      if (item.is(Kind::kText)) {
        o.path = item.text;
      } else {
        EntryReader inner(item, where_, place);
        inner.text("path", o.path);
        inner.text("check", o.check);
        inner.text("legacy", o.legacy);
        inner.flag("required", o.required);
        inner.texts("without", o.without);
        if (inner.error_)
          return keep(std::move(*inner.error_));
      }
      if (o.path.empty())
        return fail(fmt::format("{}/{}", key, i), "an object with \"path\"", item);
      out.push_back(std::move(o));
    }
  }
  void fail(const std::string& key, const char* wanted, const Json& got) {
    keep(wrong_kind(where_, pointer_ + "/" + key, wanted, got));
  }
  [[nodiscard]] const Json* find(const char* key) const { return entry_.find(key); }
  [[nodiscard]] std::optional<Error>& error() { return error_; }

private:
  void keep(Error e) {
    if (!error_)
      error_ = std::move(e);
  }
  const Json& entry_;
  std::string where_, pointer_;
  std::optional<Error> error_;
};

/// Notes unknown keys of an entry, each with the nearest known key.
void note_unknown(const Json& entry, const std::string& place, std::vector<std::string>& notes) {
  const std::vector<std::string> known(kToolTableKeys.begin(), kToolTableKeys.end());
  for (const JsonMember& m : entry.members) {
    std::string key = m.key;
    if (key.size() > 1 && key.back() == '+')
      key.pop_back();
    if (std::find(known.begin(), known.end(), key) != known.end())
      continue;
    const std::string meant = nearest(key, known);
    notes.push_back(fmt::format("{}: unknown key \"{}\"{}", place, m.key,
                                meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant)));
  }
}

/// Returns the absolute path of a word that names a file below the table's folder. The documented
/// tables write such words relative to the run's folder ("../scripts/common/...") or to the work
/// folder.
std::string located(const std::string& path, const std::string& folder) {
  std::error_code ec;
  if (folder.empty() || path.empty() || path[0] == '/' || path[0] == '-' ||
      path.find('/') == std::string::npos)
    return path;
  std::string below = path;
  for (int i = 0; i < 2; ++i) {
    const fs::path here = fs::path(folder) / below;
    if (fs::exists(here, ec))
      return fs::absolute(here, ec).lexically_normal().string();
    if (below.rfind("../", 0) == 0)
      below.erase(0, 3);
  }
  // files of a table in scripts/common may be written as scripts/common/...
  const std::string common = "scripts/common/";
  if (below.rfind(common, 0) == 0) {
    const fs::path here = fs::path(folder) / below.substr(common.size());
    if (fs::exists(here, ec))
      return fs::absolute(here, ec).lexically_normal().string();
  }
  return path;
}

/// Returns the path of a script like located(). A name without a folder may be a file in the
/// table's folder.
std::string located_script(const std::string& path, const std::string& folder) {
  std::error_code ec;
  const fs::path here = fs::path(folder) / path;
  const bool in_folder = !folder.empty() && !path.empty() && path.find('/') == std::string::npos &&
                         fs::is_regular_file(here, ec);
  return in_folder ? fs::absolute(here, ec).lexically_normal().string() : located(path, folder);
}

void locate_scripts(Json& entry, const std::string& folder) {
  for (const char* key : {"pre_scripts", "post_scripts"}) {
    if (entry.find(key) == nullptr)
      continue;
    for (Json& item : entry.at(key).items) {
      if (item.is(Kind::kText))
        item.text = located_script(item.text, folder);
      else if (item.find("path") != nullptr && item.find("path")->is(Kind::kText))
        item.at("path").text = located_script(item.find("path")->text, folder);
    }
  }
  if (const Json* cmd = entry.find("cmd"); cmd != nullptr && cmd->is(Kind::kText)) {
    // only words without quotes are changed
    std::string out;
    std::string word;
    for (const char c : cmd->text + " ") {
      if (c != ' ' && c != '\t') {
        word += c;
        continue;
      }
      out += located(word, folder) + c;
      word.clear();
    }
    out.pop_back();
    entry.at("cmd").text = out;
  }
}

/// Removes requirements of the old command from `base` if `over` has another command.
void drop_command_keys(Json& base, const Json& over) {
  if (over.find("cmd") == nullptr)
    return;
  for (const char* key : {"fallbacks", "requires", "shell", "passes"})
    std::erase_if(base.members,
                  [&](const JsonMember& m) { return m.key == key && over.find(key) == nullptr; });
}

bool forces_scripts(const Json& entry) {
  const Json* native = entry.find("native");
  return native != nullptr && native->is(Kind::kBool) && !native->flag;
}

} // namespace

std::string variable(const EnvPairs& environment, std::string_view name) {
  const auto at = std::ranges::find(environment, name, &EnvPairs::value_type::first);
  return at == environment.end() ? "" : at->second;
}

Result<ToolTable> ToolTable::builtin() {
  ToolTable out;
  RS_TRY(const Json root, parse_json(kBuiltinTools, "built-in tools", nullptr));
  if (const Json* tools = root.find("tools"))
    out.tools_ = *tools;
  return out;
}

Result<void> ToolTable::merge_file(const std::string& path, std::vector<std::string>& notes) {
  RS_TRY(const Json root, parse_json_file(path, &notes));
  return merge(root, path,
               fs::path(path).parent_path().empty() ? "." : fs::path(path).parent_path().string(),
               notes);
}

Result<void> ToolTable::merge(const Json& root, const std::string& where, const std::string& folder,
                              std::vector<std::string>& notes) {
  // the guide shows the table without the outer "tools"
  const Json* tools = root.find("tools") != nullptr ? root.find("tools") : &root;
  if (!tools->is(Kind::kObject))
    return wrong_kind(where, "/tools", "an object of tools", *tools);
  for (const JsonMember& member : tools->members) {
    const std::string place = "/tools/" + member.key;
    if (!member.value.is(Kind::kObject))
      return wrong_kind(where, place, "an object", member.value);
    note_unknown(member.value, where + ": " + place, notes);
    Json entry = member.value;
    locate_scripts(entry, folder);
    if (const Json* parent = entry.find("inherits")) {
      const Json* base = parent->is(Kind::kText) ? tools_.find(parent->text) : nullptr;
      if (base == nullptr)
        return wrong_tool_table(where, place + "/inherits", "no tool of this name");
      Json merged = *base;
      drop_command_keys(merged, entry);
      merge_json(merged, entry);
      entry = std::move(merged);
    }
    Json& base = tools_.at(member.key);
    const Json* native = base.find("native");
    if (native != nullptr && native->is(Kind::kText) && !forces_scripts(entry)) {
      // the tool is built in, so its command and scripts are not needed
      for (const char* key : {"cmd", "pre_scripts", "post_scripts"})
        std::erase_if(entry.members, [&](const JsonMember& m) { return m.key == key; });
    } else if (forces_scripts(entry)) {
      base = Json::object();
      std::erase_if(entry.members, [](const JsonMember& m) { return m.key == "native"; });
    }
    drop_command_keys(base, entry);
    merge_json(base, entry);
    // an entry with an error is refused now, not when it is used
    Json use = Json::object();
    use.at("name") = member.key;
    std::vector<std::string> ignored;
    if (auto checked = this->entry(use, where, ignored); !checked)
      return std::move(checked.error());
  }
  return {};
}

std::vector<std::string> ToolTable::names() const {
  std::vector<std::string> out;
  for (const JsonMember& m : tools_.members)
    out.push_back(m.key);
  return out;
}

Result<ToolEntry> ToolTable::entry(const Json& use, const std::string& where,
                                   std::vector<std::string>& notes) const {
  const Json* name = use.find("name");
  if (name == nullptr || !name->is(Kind::kText))
    return wrong_tool_table(where, "/tools", "a tool needs a \"name\"");
  const Json* found = tools_.find(name->text);
  Json base;
  if (found != nullptr) {
    base = *found;
  } else if (use.find("cmd") != nullptr) {
    base = Json::object(); // a user-defined tool
  } else {
    const auto all = names();
    return Error{ErrorCode::kUsage, "unknown-tool",
                 fmt::format("no tool is named '{}'{}", name->text, did_you_mean(name->text, all)),
                 "rankscope profile tools lists them"};
  }
  note_unknown(use, fmt::format("{}: tool {}", where, name->text), notes);
  drop_command_keys(base, use);
  if (const Json* options = base.find("options"); options != nullptr)
    for (const JsonMember& option : options->members)
      if (const Json* asked = use.find("options");
          asked != nullptr && asked->find(option.key) != nullptr)
        merge_json(base, option.value);
  Json over = use;
  std::erase_if(over.members, [](const JsonMember& m) { return m.key == "options"; });
  merge_json(base, over);
  ToolEntry e;
  EntryReader read(base, where, "/tools/" + name->text);
  read.text("name", e.name);
  read.text("about", e.about);
  read.texts("vendors", e.vendors);
  read.text("family", e.family);
  read.text("cmd", e.cmd);
  read.texts("fallbacks", e.fallbacks);
  read.flag("shell", e.shell);
  read.pairs("env_vars", e.env_vars);
  read.pairs("env_prepend", e.env_prepend);
  read.pairs("env_or", e.env_or);
  read.pairs("env_list", e.env_list);
  read.texts("env_unset", e.env_unset);
  read.scripts("pre_scripts", e.pre);
  read.scripts("post_scripts", e.post);
  read.outputs("produces", e.produces);
  read.texts("libraries", e.libraries);
  read.texts("conflicts", e.conflicts);
  read.texts("requires", e.required);
  read.texts("needs", e.needs);
  read.number("timeout", e.timeout_s);
  double passes = 1;
  read.number("passes", passes);
  e.passes = static_cast<int>(std::min(passes, 1e6));
  if (const Json* native = base.find("native"); native != nullptr && native->is(Kind::kText))
    e.native = native->text;
  if (const Json* check = base.find("check"); check != nullptr && check->is(Kind::kText))
    for (ToolOutput& o : e.produces)
      o.check = check->text;
  if (read.error())
    return std::move(*read.error());
  return e;
}

} // namespace rankscope
