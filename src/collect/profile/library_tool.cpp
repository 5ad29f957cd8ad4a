#include "collect/profile/library_tool.h"

#include "collect/library_trace/library_trace.h"
#include "os/output_file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

/// Returns the library in a tool's name: rocblas_trace -> rocblas. Its log kinds begin with this
/// name.
std::string library_of(const std::string& tool) {
  const std::size_t end = tool.rfind("_trace");
  return tool.substr(0, end);
}

bool belongs(const LibraryCount& count, const std::string& tool) {
  std::string library = library_of(tool);
  if (library == "nccl")
    library = "rccl"; // lines of NCCL count as lines of RCCL
  const std::string kind = log_kind_name(count.kind);
  return kind == library || kind.rfind(library + "_", 0) == 0;
}

class LibraryTool final : public NativeTool {
public:
  LibraryTool(std::vector<std::string> names, const LibraryTraceOptions& options, bool hide)
      : names_(std::move(names)), folder_(options.log_folder), hide_(hide), trace_(options) {}

  [[nodiscard]] std::vector<std::string> names() const override { return names_; }
  Result<void> begin() override { return make_folder(folder_); }

  void on_output(std::size_t stream, std::string_view bytes, double t_s) override {
    trace_.feed(stream - 1, bytes, t_s, hide_ ? &others_.at(stream - 1) : nullptr);
  }

  [[nodiscard]] bool hides() const override { return hide_; }
  [[nodiscard]] std::string shown(std::size_t stream, bool last) override {
    if (last)
      trace_.end(stream - 1, &others_.at(stream - 1));
    return std::exchange(others_.at(stream - 1), {});
  }

  Result<void> end(std::vector<ProfileFact>& facts, Json& metrics) override {
    RS_TRY(summary_, trace_.finish());
    Json& out = metrics.at("library_trace");
    out.at("bytes") = summary_.bytes;
    out.at("lines") = summary_.lines;
    Json counts = Json::object();
    for (const LibraryCount& c : summary_.counts) {
      Json& count = counts.at(log_kind_name(c.kind));
      count.at("lines") = c.lines;
      count.at("calls") = c.calls;
      count.at("configs") = c.configs;
      count.at("damaged") = c.damaged;
      if (c.damaged > 0)
        facts.push_back({"", profile::DamagedLines{log_kind_name(c.kind), c.damaged, c.lines,
                                                   c.first_damaged}});
    }
    out.at("counts") = std::move(counts);
    out.at("silent") = summary_.silent;
    return {};
  }

  [[nodiscard]] std::optional<std::uint64_t> records(const std::string& tool) const override {
    std::uint64_t out = 0;
    for (const LibraryCount& c : summary_.counts)
      if (belongs(c, tool))
        out += c.configs;
    return out;
  }

private:
  std::vector<std::string> names_;
  std::string folder_;
  bool hide_;
  std::array<std::string, 2> others_; ///< lines of no library that are not shown yet
  LibraryTrace trace_;
  LibraryTraceSummary summary_;
};

} // namespace

std::unique_ptr<NativeTool> make_library_tool(const Plan& plan, const std::string& out,
                                              const std::string& model, bool hide) {
  std::vector<std::string> names;
  for (const ToolEntry& tool : plan.tools)
    if (tool.native == "library_trace")
      names.push_back(tool.name);
  if (names.empty())
    return nullptr;
  LibraryTraceOptions options;
  options.log_folder = out + "/library_trace";
  options.csv = options.log_folder + "/library_trace.csv";
  options.detail_csv = options.log_folder + "/library_trace_detail.csv";
  options.model = model;
  if (const char* job = std::getenv("JENKINS_BUILD_NUMBER"); job != nullptr && *job != '\0')
    options.job_id = job;
  return std::make_unique<LibraryTool>(std::move(names), options, hide);
}

std::vector<EnvChange> library_environment(const ToolEntry& tool, const std::string& log_folder,
                                           const EnvPairs& environment,
                                           std::vector<std::string>& notes) {
  std::vector<EnvChange> out;
  const auto library = traced_library(library_of(tool.name));
  if (tool.native != "library_trace" || !library)
    return out;
  LibraryTraceOptions options;
  options.libraries = {*library};
  options.log_folder = log_folder;
  const LibraryTrace trace(options);
  const EnvironmentChange change =
      trace.environment(std::map<std::string, std::string>(environment.begin(), environment.end()));
  for (const auto& [name, value] : change.set)
    out.push_back({name, value, tool.name, false});
  for (const std::string& name : change.unset)
    out.push_back({name, "", tool.name, true});
  for (const std::string& note : change.notes)
    notes.push_back(tool.name + ": " + note);
  return out;
}

} // namespace rankscope
