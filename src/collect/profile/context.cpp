#include "collect/profile/context.h"

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/to_number.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

using Kind = Json::Kind;
constexpr const char* kWhere = "additional context";

Error wrong(const std::string& pointer, const char* wanted, const Json& got) {
  return {ErrorCode::kUsage, kWhere,
          fmt::format("{}: expected {}, found {}", pointer, wanted, kind_name(got.kind)), ""};
}

struct Key {
  const char* name;
  Kind kind;
  bool used; ///< false: a key for schedulers, ignored with a note
};

constexpr Key kKeys[] = {
    {"tools", Kind::kList, true},
    {"pre_scripts", Kind::kList, true},
    {"post_scripts", Kind::kList, true},
    {"docker_env_vars", Kind::kObject, true},
    {"docker_mounts", Kind::kObject, true},
    {"env_vars", Kind::kObject, true},
    {"docker_gpus", Kind::kText, true},
    {"gpu_vendor", Kind::kText, true},
    {"guest_os", Kind::kText, true},
    {"timeout", Kind::kNumber, true},
    {"debug", Kind::kBool, false},
    {"k8s", Kind::kObject, false},
    {"slurm", Kind::kObject, false},
    {"distributed", Kind::kObject, false},
    {"docker_build_arg", Kind::kObject, false},
    {"encapsulate_script", Kind::kText, false},
};

Result<void> check_types(const Json& root, std::vector<std::string>& notes) {
  std::vector<std::string> known;
  for (const Key& key : kKeys)
    known.emplace_back(key.name);
  for (const JsonMember& m : root.members) {
    const auto* const key = std::find_if(std::begin(kKeys), std::end(kKeys),
                                         [&](const Key& k) { return m.key == k.name; });
    if (key == std::end(kKeys)) {
      const std::string meant = nearest(m.key, known);
      notes.push_back(
          fmt::format("{}: unknown key \"{}\"{}", kWhere, m.key,
                      meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant)));
      continue;
    }
    if (!m.value.is(key->kind))
      return wrong("/" + m.key,
                   key->kind == Kind::kList     ? "a list"
                   : key->kind == Kind::kObject ? "an object"
                                                : kind_name(key->kind),
                   m.value);
    if (!key->used)
      notes.push_back(fmt::format("{}: \"{}\" has no effect here", kWhere, m.key));
  }
  return {};
}

Result<EnvPairs> pairs_of(const Json& root, const char* key) {
  EnvPairs out;
  const Json* object = root.find(key);
  if (object == nullptr)
    return out;
  for (const JsonMember& m : object->members) {
    const auto value = m.value.scalar();
    if (!value || m.key.empty() || m.key.find('=') != std::string::npos)
      return wrong(fmt::format("/{}/{}", key, m.key), "a variable and its text", m.value);
    out.emplace_back(m.key, *value);
  }
  return out;
}

Result<std::vector<ToolScript>> scripts_of(const Json& root, const char* key) {
  std::vector<ToolScript> out;
  const Json* list = root.find(key);
  if (list == nullptr)
    return out;
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const Json& item = list->items[i];
    const std::string place = fmt::format("/{}/{}", key, i);
    const Json* path = item.is(Kind::kText) ? &item : item.find("path");
    if (path == nullptr || !path->is(Kind::kText))
      return wrong(place, "an object with \"path\"", item);
    ToolScript script{path->text, {}};
    if (const Json* args = item.find("args")) {
      RS_TRY(script.arguments, split_words(args->scalar().value_or(""),
                                           std::string(kWhere) + ": " + place + "/args"));
    }
    out.push_back(std::move(script));
  }
  return out;
}

Result<std::string> checked_choice(const Json& root, const char* key,
                                   const std::vector<std::string>& allowed) {
  const Json* value = root.find(key);
  if (value == nullptr)
    return std::string();
  std::string text = value->text;
  for (char& c : text)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
    return Error{
        ErrorCode::kUsage, kWhere,
        fmt::format("/{}: '{}' is neither {} nor {}", key, value->text, allowed[0], allowed[1]),
        ""};
  return text;
}

} // namespace

Result<std::vector<int>> gpu_indices(const std::string& text, const std::string& where) {
  std::vector<int> out;
  constexpr int kMost = 4095;
  for (const std::string_view listed : split(text, ',')) {
    std::string part(listed);
    std::erase(part, ' ');
    const std::size_t dash = part.find('-');
    const auto from = to_number<int>(part.substr(0, dash));
    const auto to = dash == std::string::npos ? from : to_number<int>(part.substr(dash + 1));
    if (!from || !to || *from < 0 || *to > kMost || *to < *from)
      return Error{ErrorCode::kUsage, where, fmt::format("'{}' is not a list of GPUs", text),
                   "0,2 or 0-3"};
    for (int i = *from; i <= *to; ++i)
      if (std::find(out.begin(), out.end(), i) == out.end())
        out.push_back(i);
  }
  return out;
}

Result<ProfileContext> read_context(const std::vector<std::string>& files,
                                    const std::vector<std::string>& texts) {
  ProfileContext out;
  Json root = Json::object();
  const auto merge = [&](const Json& part, const std::string& where) -> Result<void> {
    if (!part.is(Kind::kObject))
      return Error{ErrorCode::kUsage, where,
                   fmt::format("expected an object, found {}", kind_name(part.kind)), ""};
    merge_json(root, part);
    return {};
  };
  for (const std::string& file : files) {
    RS_TRY(const Json part, parse_json_file(file, &out.notes));
    RS_CHECK(merge(part, file));
  }
  for (const std::string& text : texts) {
    RS_TRY(const Json part, parse_json(text, "--additional-context", &out.notes));
    RS_CHECK(merge(part, "--additional-context"));
  }
  RS_CHECK(check_types(root, out.notes));
  if (const Json* tools = root.find("tools")) {
    for (std::size_t i = 0; i < tools->items.size(); ++i) {
      const Json& tool = tools->items[i];
      if (!tool.is(Kind::kObject))
        return wrong(fmt::format("/tools/{}", i), "an object with \"name\"", tool);
      out.tools.push_back(tool);
    }
  }
  RS_TRY(out.env_vars, pairs_of(root, "env_vars"));
  RS_TRY(out.docker_env_vars, pairs_of(root, "docker_env_vars"));
  RS_TRY(out.pre, scripts_of(root, "pre_scripts"));
  RS_TRY(out.post, scripts_of(root, "post_scripts"));
  RS_TRY(const EnvPairs mounts, pairs_of(root, "docker_mounts"));
  for (const auto& [container, host] : mounts)
    out.docker_mounts.push_back(host + ":" + container);
  if (const Json* gpus = root.find("docker_gpus")) {
    out.docker_gpus = gpus->text;
    if (gpus->text != "all") {
      RS_TRY(const auto indices, gpu_indices(gpus->text, "additional context: /docker_gpus"));
      out.docker_gpus = fmt::format("{}", fmt::join(indices, ","));
    }
  }
  if (const Json* timeout = root.find("timeout"))
    out.timeout_s = timeout->number();
  RS_TRY(out.gpu_vendor, checked_choice(root, "gpu_vendor", {"AMD", "NVIDIA"}));
  RS_TRY(out.guest_os, checked_choice(root, "guest_os", {"UBUNTU", "CENTOS"}));
  return out;
}

} // namespace rankscope
