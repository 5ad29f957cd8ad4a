#include "app/analyze_state.h"

#include "os/output_file.h"
#include "readers/reports/report_tables.h"
#include "writers/writer.h"

#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

std::string file_mark(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0)
    return "absent";
  return fmt::format("{} {}.{:09}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

} // namespace

std::string fingerprint_of(const RunPlan& plan, const std::string& options) {
  std::string out = fmt::format("rankscope {}\n{}\n", RANKSCOPE_VERSION, options);
  for (const RankFile& file : plan.ranks)
    out += fmt::format("{} {} {}\n", file.rank, file.path, file_mark(file.path));
  return out;
}

Result<void> save_state(const ConfigResult& config, const std::string& fingerprint,
                        const std::string& path) {
  Report state;
  state.title = fingerprint;
  Table about("about", {{"label"}, {"collective_file"}});
  about.add_row({config.configuration.label, config.collective_file});
  state.tables.push_back(std::move(about));
  Table parameters("parameters", {{"name"}, {"value"}});
  for (const Parameter& p : config.configuration.parameters)
    parameters.add_row({p.name, p.value});
  state.tables.push_back(std::move(parameters));
  Table outputs("outputs", {{"path"}, {"bytes"}});
  for (const std::string& file : config.outputs) {
    std::error_code ec;
    outputs.add_row({file, static_cast<std::int64_t>(fs::file_size(file, ec))});
  }
  state.tables.push_back(std::move(outputs));
  Table ranks("ranks", {{"rank"}});
  Table timeline("timeline", {{"rank"}, {"type"}, {"ms"}});
  Table kernels("kernels", {{"rank"}, {"kernel"}, {"sum_us"}, {"min_us"}, {"max_us"}, {"count"}});
  for (const RankRecord& r : config.records) {
    ranks.add_row({r.key.rank});
    for (const auto& [type, ms] : r.timeline_ms)
      timeline.add_row({r.key.rank, type, ms});
    for (const auto& [name, k] : r.gemm_kernels)
      kernels.add_row({r.key.rank, name, k.sum_us, k.min_us, k.max_us, k.count});
  }
  state.tables.push_back(std::move(ranks));
  state.tables.push_back(std::move(timeline));
  state.tables.push_back(std::move(kernels));
  Table gemms = config.gemms;
  gemms.set_name("gemms");
  state.tables.push_back(std::move(gemms));
  if (config.collectives) {
    state.tables.push_back(*config.collectives);
    state.tables.back().set_name("collectives");
  }
  for (const auto& [rank, report] : config.compared)
    for (const Table& t : report.tables) {
      state.tables.push_back(t);
      state.tables.back().set_name(fmt::format("compared {} {}", rank, t.name()));
    }
  RS_CHECK(make_folder(fs::path(path).parent_path().string()));
  return find_writer("json")->write(state, path);
}

std::optional<ConfigResult> load_state(const std::string& path, const std::string& fingerprint,
                                       Diagnostics& diag) {
  std::error_code ec;
  if (!fs::exists(path, ec))
    return std::nullopt;
  const Result<Report> state = read_report_json(path);
  const auto spoiled = [&](const std::string& why) {
    diag.add(Severity::kWarning, "state_unreadable", path,
             "this record of an earlier run is not used: " + why);
    return std::nullopt;
  };
  if (!state)
    return spoiled(state.error().what);
  if (state->title != fingerprint)
    return std::nullopt;
  const Table* const about = state->find("about");
  const Table* const parameters = state->find("parameters");
  const Table* const outputs = state->find("outputs");
  const Table* const ranks = state->find("ranks");
  const Table* const timeline = state->find("timeline");
  const Table* const kernels = state->find("kernels");
  const Table* const gemms = state->find("gemms");
  if (about == nullptr || about->rows() != 1 || parameters == nullptr || outputs == nullptr ||
      ranks == nullptr || timeline == nullptr || kernels == nullptr || gemms == nullptr)
    return spoiled("a table is missing");
  for (std::size_t r = 0; r < outputs->rows(); ++r) {
    const std::string file(outputs->at(r, "path").text);
    if (static_cast<std::int64_t>(fs::file_size(file, ec)) != outputs->at(r, "bytes").i || ec)
      return std::nullopt;
  }
  ConfigResult out;
  out.reused = true;
  out.configuration.label = about->at(0, "label").text;
  for (std::size_t r = 0; r < parameters->rows(); ++r)
    out.configuration.set(parameters->at(r, "name").text,
                          std::string(parameters->at(r, "value").text));
  out.collective_file = about->at(0, "collective_file").text;
  for (std::size_t r = 0; r < outputs->rows(); ++r)
    out.outputs.emplace_back(outputs->at(r, "path").text);
  std::map<std::int64_t, std::size_t> place;
  for (std::size_t r = 0; r < ranks->rows(); ++r) {
    RankRecord record;
    record.key = {out.configuration, ranks->at(r, "rank").i};
    if (!place.emplace(record.key.rank, out.records.size()).second)
      return spoiled("a rank is there twice");
    out.records.push_back(std::move(record));
  }
  for (std::size_t r = 0; r < timeline->rows(); ++r) {
    const auto at = place.find(timeline->at(r, "rank").i);
    if (at == place.end())
      return spoiled("a rank is missing");
    out.records[at->second].timeline_ms[std::string(timeline->at(r, "type").text)] =
        timeline->at(r, "ms").number();
  }
  for (std::size_t r = 0; r < kernels->rows(); ++r) {
    const auto at = place.find(kernels->at(r, "rank").i);
    if (at == place.end())
      return spoiled("a rank is missing");
    RankRecord::Kernel& k =
        out.records[at->second].gemm_kernels[std::string(kernels->at(r, "kernel").text)];
    k.sum_us = kernels->at(r, "sum_us").number();
    k.min_us = kernels->at(r, "min_us").number();
    k.max_us = kernels->at(r, "max_us").number();
    k.count = kernels->at(r, "count").i;
  }
  out.gemms = *gemms;
  if (const Table* t = state->find("collectives"))
    out.collectives = *t;
  for (const Table& t : state->tables) {
    if (t.name().rfind("compared ", 0) != 0)
      continue;
    char* end = nullptr;
    const std::int64_t rank = std::strtoll(t.name().c_str() + 9, &end, 10);
    if (end == nullptr || *end != ' ')
      return spoiled("a table has an odd name");
    Table copy = t;
    copy.set_name(end + 1);
    out.compared[rank].tables.push_back(std::move(copy));
  }
  return out;
}

} // namespace rankscope
