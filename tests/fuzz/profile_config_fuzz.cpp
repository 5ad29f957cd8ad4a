// Input: configuration of a profiling run: a table of tools, an additional context, a models.json,
// a --tool, separated by NUL. Accepted JSON must be written as JSON with the same value.
#include "collect/profile/context.h"
#include "collect/profile/models.h"
#include "fuzz/fuzz_target.h"
#include "temp_folder.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace rankscope;

void round_trip(const std::string& text) {
  std::vector<std::string> notes;
  const auto value = parse_json(text, "text", &notes);
  if (!value.has_value())
    return;
  const std::string written = value->dump();
  const auto again = parse_json(written, "written", nullptr);
  if (!again.has_value() || again->dump() != written)
    std::abort();
}

void tools(const std::string& text, const std::string& use) {
  auto table = ToolTable::builtin();
  if (!table.has_value())
    std::abort();
  std::vector<std::string> notes;
  if (const auto json = parse_json(text, "tools", &notes); json.has_value())
    (void)table->merge(*json, "tools", "/nowhere", notes);
  if (const auto asked = tool_use(use); asked.has_value())
    (void)table->entry(*asked, "--tool", notes);
  for (const std::string& name : table->names()) {
    Json tool = Json::object();
    tool.at("name") = name;
    (void)table->entry(tool, name, notes);
  }
}

} // namespace

RS_FUZZ_TARGET(profile_config) {
  static const test::TempFolder folder;
  std::string parts[4]; // tools, context, models, --tool
  test::split_parts(bytes, parts);
  for (const std::string& part : parts)
    round_trip(part);
  tools(parts[0], parts[3]);
  (void)read_context({}, {parts[1]});
  std::vector<std::string> notes;
  ModelSearch search;
  search.file = folder.write("models.json", parts[2]);
  search.tags = {"all", "a/b", "x:n=1"};
  (void)find_models(search, notes);
  search.tags = {"all"};
  if (const auto models = find_models(search, notes); models.has_value())
    for (const Model& model : *models)
      if (model.name.empty() || model.n_gpus < -1)
        std::abort();
}
