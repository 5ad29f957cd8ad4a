#include "collect/run_manifest.h"

#include "collect/secrets.h"
#include "os/process.h"
#include "os/whole_file.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <simdjson.h>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;

/// Returns the output of git without the line end; "" when git fails.
std::string git(const std::vector<std::string>& arguments) {
  ProcessSpec spec;
  spec.argv = {"git"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.set_env = {{"GIT_OPTIONAL_LOCKS", "0"}};
  spec.out = Stream::kCapture;
  spec.deadline = std::chrono::seconds(5);
  const Result<ProcessEnd> end = run_process(std::move(spec));
  if (!end || !end->ok())
    return "";
  std::string out = end->out;
  while (!out.empty() && out.back() == '\n')
    out.pop_back();
  return out;
}

void optional_text(JsonWriter& json, std::string_view key, const std::string& value) {
  if (value.empty())
    json.null(key);
  else
    json.text(key, value);
}

std::vector<std::string> texts_of(const dom::element& root, const char* key) {
  std::vector<std::string> out;
  std::string_view word;
  if (dom::array list; root[key].get(list) == simdjson::SUCCESS)
    for (const dom::element item : list)
      if (item.get(word) == simdjson::SUCCESS)
        out.emplace_back(word);
  return out;
}

std::optional<std::map<std::string, std::string>> members_of(const dom::element& root,
                                                             const char* key) {
  dom::object object;
  if (root[key].get(object) != simdjson::SUCCESS)
    return std::nullopt;
  std::map<std::string, std::string> out;
  std::string_view word;
  for (const auto member : object)
    if (member.value.get(word) == simdjson::SUCCESS)
      out[std::string(member.key)] = word;
  return out;
}

} // namespace

HostFacts read_host_facts() {
  HostFacts out;
  static_cast<MachineFacts&>(out) = read_machine_facts();
  std::error_code ec;
  out.folder = std::filesystem::current_path(ec).string();
  out.git_commit = git({"rev-parse", "HEAD"});
  if (!out.git_commit.empty()) {
    out.git_branch = git({"rev-parse", "--abbrev-ref", "HEAD"});
    const std::string changed = git({"status", "--porcelain"});
    out.git_changed = changed.empty() ? 0 : std::count(changed.begin(), changed.end(), '\n') + 1;
  }
  return out;
}

void write_host(JsonWriter& json, const HostFacts& host) {
  json.begin_object("host");
  json.text("name", host.host);
  json.text("kernel", host.kernel);
  json.text("machine", host.machine);
  json.text("cpu", host.cpu);
  json.integer("processors", host.processors);
  json.integer("memory_bytes", host.memory_bytes);
  optional_text(json, "nvidia_driver", host.nvidia_driver);
  optional_text(json, "amdgpu_driver", host.amdgpu_driver);
  optional_text(json, "rocm", host.rocm);
  json.end_object();
  json.text("working_folder", host.folder);
  if (host.git_commit.empty()) {
    json.null("git");
    return;
  }
  json.begin_object("git");
  json.text("commit", host.git_commit);
  json.text("branch", host.git_branch);
  json.integer("changed_files", host.git_changed);
  json.end_object();
}

void write_environment(JsonWriter& json, std::string_view key,
                       const std::vector<std::string>& environment) {
  std::vector<std::string> sorted = environment;
  std::sort(sorted.begin(), sorted.end());
  json.begin_object(key);
  for (const std::string& entry : sorted) {
    const std::size_t at = entry.find('=');
    if (at == std::string::npos || at == 0)
      continue;
    const std::string_view name = std::string_view(entry).substr(0, at);
    const std::string_view value = std::string_view(entry).substr(at + 1);
    json.text(name, masked_value(name, value));
  }
  json.end_object();
}

void write_clocks(JsonWriter& json, std::string_view key, const ClockAnchor& clocks) {
  json.begin_object(key);
  for (const auto& [name, value] : clock_members(clocks))
    json.integer(name, value);
  json.end_object();
}

SavedRun read_run_manifest(const std::string& path) {
  SavedRun out;
  const Result<std::string> text = read_unregistered(path);
  dom::parser parser;
  dom::element root;
  if (!text || parser.parse(simdjson::padded_string(*text)).get(root) != simdjson::SUCCESS)
    return out;
  std::string_view word;
  if (root["rankscope_run"].get(word) != simdjson::SUCCESS)
    return out; // not a manifest of this program
  out.mark = word;
  if (root["status"].get(word) == simdjson::SUCCESS)
    out.status = word;
  if (root["seconds"].get(out.seconds) != simdjson::SUCCESS)
    out.seconds = 0;
  if (root["exit_code"].get(out.exit_code) != simdjson::SUCCESS)
    out.exit_code = 0;
  if (root["took_effect"].get(out.took_effect) != simdjson::SUCCESS)
    out.took_effect = true;
  if (root["lost_output"].get(word) == simdjson::SUCCESS)
    out.lost_output = word;
  if (double value = 0; root["joules"].get(value) == simdjson::SUCCESS)
    out.energy.joules = value;
  if (double value = 0; root["host_joules"].get(value) == simdjson::SUCCESS)
    out.energy.host_joules = value;
  out.findings = texts_of(root, "findings");
  out.argv = texts_of(root, "argv");
  out.traces = texts_of(root, "traces");
  out.parameters = members_of(root, "parameters").value_or(out.parameters);
  out.set = members_of(root, "set").value_or(out.set);
  out.inputs = members_of(root, "inputs");
  return out;
}

} // namespace rankscope
