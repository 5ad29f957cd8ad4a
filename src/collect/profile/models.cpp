#include "collect/profile/models.h"

#include "base/ascii.h"
#include "base/nearest.h"
#include "base/to_number.h"
#include "collect/python_script.h"
#include "os/process.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;
using Kind = Json::Kind;

Error wrong_models(const std::string& where, const std::string& what) {
  return {ErrorCode::kUsage, where, what, ""};
}

Result<std::string> member_text(const Json& model, const char* key, const std::string& place) {
  const Json* value = model.find(key);
  if (value == nullptr || value->is(Kind::kNull))
    return std::string();
  const auto text = value->scalar();
  if (!text)
    return wrong_models(place,
                        fmt::format("/{}: expected a text, found {}", key, kind_name(value->kind)));
  return *text;
}

/// Returns the path of the script; a folder means its file run.sh.
std::string script_of(const std::string& text, const fs::path& folder) {
  std::error_code ec;
  fs::path path = folder / text;
  if (fs::is_directory(path, ec))
    path /= "run.sh";
  return fs::absolute(path, ec).lexically_normal().string();
}

Result<std::vector<std::string>> tags_of(const Json& json, const std::string& place) {
  const Json* tags = json.find("tags");
  std::vector<std::string> out;
  if (tags == nullptr)
    return out;
  if (tags->is(Kind::kText))
    for (const std::string_view tag : split_nonempty(tags->text, ","))
      out.emplace_back(tag);
  else if (tags->is(Kind::kList))
    for (const Json& tag : tags->items)
      out.push_back(tag.scalar().value_or(""));
  else
    return wrong_models(
        place, fmt::format("/tags: expected a list or a text, found {}", kind_name(tags->kind)));
  for (std::string& tag : out) {
    tag = std::string(trimmed(tag, " "));
  }
  return out;
}

Result<Model> model_of(const Json& json, const fs::path& folder, const std::string& scope,
                       const std::string& place) {
  if (!json.is(Kind::kObject))
    return wrong_models(place, fmt::format("expected an object, found {}", kind_name(json.kind)));
  Model m;
  m.scope = scope;
  RS_TRY(m.name, member_text(json, "name", place));
  if (m.name.empty())
    return wrong_models(place, "/name is missing");
  if (!scope.empty())
    m.name = scope + "/" + m.name;
  RS_TRY(m.dockerfile, member_text(json, "dockerfile", place));
  RS_TRY(const std::string script, member_text(json, "scripts", place));
  if (script.empty())
    return wrong_models(place, "/scripts is missing");
  m.script = script_of(script, folder);
  RS_TRY(const std::string args, member_text(json, "args", place));
  RS_TRY(m.arguments, split_words(args, place + "/args"));
  RS_TRY(m.tags, tags_of(json, place));
  RS_TRY(const std::string gpus, member_text(json, "n_gpus", place));
  if (!gpus.empty()) {
    const auto n = to_number<decltype(m.n_gpus)>(gpus);
    if (!n)
      return wrong_models(place, fmt::format("/n_gpus: '{}' is not a number", gpus));
    m.n_gpus = *n;
  }
  RS_TRY(m.results_csv, member_text(json, "multiple_results", place));
  RS_TRY(m.precision, member_text(json, "training_precision", place));
  if (const Json* timeout = json.find("timeout"))
    m.timeout_s = timeout->number();
  if (const Json* env = json.find("env_vars"))
    for (const JsonMember& e : env->members)
      if (const auto value = e.value.scalar())
        m.env_vars.emplace_back(e.key, *value);
  return m;
}

Result<void> add_models(const Json& root, const std::string& file, const fs::path& folder,
                        const std::string& scope, std::vector<Model>& out) {
  if (!root.is(Kind::kList))
    return wrong_models(file,
                        fmt::format("expected a list of models, found {}", kind_name(root.kind)));
  for (std::size_t i = 0; i < root.items.size(); ++i) {
    RS_TRY(Model model, model_of(root.items[i], folder, scope, fmt::format("{}: /{}", file, i)));
    out.push_back(std::move(model));
  }
  return {};
}

/// Prints the models of list_models() as JSON. The models are dictionaries, or objects with the
/// same members.
constexpr const char* kListModels = R"(import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("get_models_json", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(json.dumps([m if isinstance(m, dict) else vars(m) for m in module.list_models()]))
)";

Result<Json> python_models(const std::string& file) {
  ProcessSpec spec;
  spec.argv = python_script_argv("python3", kListModels);
  spec.argv.push_back(file);
  spec.out = Stream::kCapture;
  spec.err = Stream::kCapture;
  spec.deadline = std::chrono::seconds(60);
  RS_TRY(const ProcessEnd end, run_process(std::move(spec)));
  if (!end.ok())
    return Error{
        ErrorCode::kUnreadable, file,
        fmt::format("list_models() failed: {}: {}", end.describe(),
                    end.err.substr(end.err.size() - std::min<std::size_t>(end.err.size(), 200))),
        ""};
  return parse_json(end.out, file, nullptr);
}

Result<void> add_nested(const ModelSearch& search, const fs::path& top, std::vector<Model>& out) {
  std::error_code ec;
  std::vector<fs::path> folders;
  for (fs::directory_iterator it(top / "scripts", ec), end; !ec && it != end; it.increment(ec))
    if (it->is_directory(ec))
      folders.push_back(it->path());
  std::sort(folders.begin(), folders.end());
  for (const fs::path& folder : folders) {
    const fs::path list = folder / "models.json";
    const fs::path python = folder / "get_models_json.py";
    const std::string scope = folder.filename().string();
    const bool has_list = fs::is_regular_file(list, ec);
    const bool has_python = fs::is_regular_file(python, ec);
    if (has_list && has_python)
      return wrong_models(folder.string(), "has both models.json and get_models_json.py");
    if (has_list) {
      RS_TRY(const Json root, parse_json_file(list.string(), nullptr));
      RS_CHECK(add_models(root, list.string(), folder, scope, out));
    } else if (has_python && search.allow_python) {
      RS_TRY(const Json root, python_models(python.string()));
      RS_CHECK(add_models(root, python.string(), folder, scope, out));
    }
  }
  return {};
}

struct Tag {
  std::string scope, name;
  std::vector<std::string> extra; ///< words after the model's arguments
};

/// Parses scope/tag:key=value:flag.
Tag tag_of(std::string_view text) {
  Tag out;
  const std::vector<std::string_view> parts = split_nonempty(text, ":");
  out.name = parts.empty() ? text : parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::size_t equals = parts[i].find('=');
    out.extra.push_back("--" + std::string(parts[i].substr(0, equals)));
    if (equals != std::string::npos)
      out.extra.emplace_back(parts[i].substr(equals + 1));
  }
  if (const std::size_t slash = out.name.find('/'); slash != std::string::npos) {
    out.scope = out.name.substr(0, slash);
    out.name = out.name.substr(slash + 1);
  }
  return out;
}

bool means(const Tag& tag, const Model& model) {
  if (!tag.scope.empty() && tag.scope != model.scope)
    return false;
  const std::string full = tag.scope.empty() ? tag.name : tag.scope + "/" + tag.name;
  return tag.name == "all" || model.name == full ||
         std::find(model.tags.begin(), model.tags.end(), tag.name) != model.tags.end();
}

} // namespace

Result<std::vector<Model>> find_models(const ModelSearch& search, std::vector<std::string>& notes) {
  std::error_code ec;
  fs::path file = search.file;
  if (fs::is_directory(file, ec))
    file /= "models.json";
  const fs::path top = file.parent_path().empty() ? fs::path(".") : file.parent_path();
  RS_TRY(const Json root, parse_json_file(file.string(), &notes));
  std::vector<Model> all;
  RS_CHECK(add_models(root, file.string(), top, "", all));
  RS_CHECK(add_nested(search, top, all));
  std::vector<Model> out;
  for (const std::string& list : search.tags) {
    for (const std::string_view text : split_nonempty(list, ",")) {
      const Tag tag = tag_of(text);
      const std::size_t before = out.size();
      for (const Model& model : all) {
        if (!means(tag, model))
          continue;
        out.push_back(model);
        out.back().arguments.insert(out.back().arguments.end(), tag.extra.begin(), tag.extra.end());
      }
      if (out.size() > before)
        continue;
      std::vector<std::string> known;
      for (const Model& model : all) {
        known.push_back(model.name);
        known.insert(known.end(), model.tags.begin(), model.tags.end());
      }
      const std::string full = tag.scope.empty() ? tag.name : tag.scope + "/" + tag.name;
      return wrong_models("--tags", fmt::format("no model has the name or tag '{}'{}", full,
                                                did_you_mean(full, known)));
    }
  }
  return out;
}

} // namespace rankscope
