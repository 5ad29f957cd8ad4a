// rankscope nsys: the summary of Nsight Systems reports, from CSV tables, SQLite exports or
// reports.
#include "analyses/nsys/nsys_summary.h"
#include "cli/command.h"
#include "readers/nsys/nsys_config.h"
#include "readers/nsys/nsys_csv.h"
#include "readers/nsys/nsys_sqlite.h"
#include "writers/writer.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace rankscope {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string file;
  std::string config;
  std::string classes;
  std::string output;
  std::string csv_dir;
  NsysInput single;
};

/// A folder under the system's temporary one that goes away with its content.
struct ScratchFolder {
  std::string path;
  ScratchFolder() {
    std::error_code ec;
    std::string name = (fs::temp_directory_path(ec) / "rankscope_nsys_XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr)
      path = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ec;
    if (!path.empty())
      fs::remove_all(path, ec);
  }
};

/// Runs `nsys` with its output on our stderr, so that stdout keeps the summary alone.
Result<void> run_nsys(std::vector<std::string> arguments, const std::string& report) {
  std::vector<char*> argv;
  for (std::string& a : arguments)
    argv.push_back(a.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, "nsys", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed == 0)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  if (failed == ENOENT || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    return Error{
        ErrorCode::kMissingTool, report, "reading a .nsys-rep needs nsys, not installed here",
        "install Nsight Systems, or export where it is: nsys export --type sqlite " + report};
  if (failed != 0)
    return Error{ErrorCode::kMissingTool, report,
                 fmt::format("cannot start nsys: {}", std::strerror(failed)), ""};
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{ErrorCode::kUnreadable, report, "nsys export failed, its message is above", ""};
  return {};
}

Result<NsysData> read_report(const NsysInput& in) {
  const fs::path beside = fs::path(in.path).replace_extension(".sqlite");
  std::error_code ec;
  if (fs::is_regular_file(beside, ec))
    return read_nsys_sqlite(beside.string(), in.with_nvtx, in.with_memory);
  if (!fs::is_regular_file(in.path, ec))
    return Error{ErrorCode::kUnreadable, in.path, "no such file", ""};
  const ScratchFolder scratch;
  if (scratch.path.empty())
    return Error{ErrorCode::kOutput, "", "cannot make a temporary folder", "set TMPDIR"};
  const std::string database = scratch.path + "/report.sqlite";
  RS_CHECK(
      run_nsys({"nsys", "export", "--type", "sqlite", "--output", database, in.path}, in.path));
  return read_nsys_sqlite(database, in.with_nvtx, in.with_memory);
}

Result<NsysData> read_input(const NsysInput& in) {
  if (in.format == "csv")
    return read_nsys_csv(in.kernel_sum, in.nvtx_proj_trace, in.mem_time_sum);
  if (in.format == "sqlite")
    return read_nsys_sqlite(in.path, in.with_nvtx, in.with_memory);
  return read_report(in);
}

/// FILE.sqlite, FILE.nsys-rep, or the prefix of the CSV tables.
Result<NsysInput> describe_file(const Flags& f) {
  NsysInput in = f.single;
  const fs::path path(f.file);
  if (in.title.empty())
    in.title = path.stem().string();
  in.with_nvtx = !in.nvtx_tag.empty();
  in.path = f.file;
  const std::string extension = path.extension().string();
  if (extension == ".sqlite" || extension == ".nsys-rep") {
    in.format = extension.substr(1);
    return in;
  }
  in.format = "csv";
  in.title = f.single.title.empty() ? path.filename().string() : in.title;
  in.kernel_sum = f.file + "_cuda_gpu_kern_sum.csv";
  std::error_code ec;
  if (!fs::exists(in.kernel_sum, ec))
    return Error{ErrorCode::kUnreadable, in.kernel_sum, "no such table",
                 "give a .sqlite, a .nsys-rep or the prefix of the tables of nsys stats"};
  if (in.with_nvtx)
    in.nvtx_proj_trace = f.file + "_nvtx_gpu_proj_trace.csv";
  if (const std::string memory = f.file + "_cuda_gpu_mem_time_sum.csv"; fs::exists(memory, ec))
    in.mem_time_sum = memory;
  return in;
}

Result<void> run(Context& ctx, const Flags& f) {
  if (f.config.empty() == f.file.empty())
    return Error{ErrorCode::kUsage, "", "expected either --config or one FILE", ""};
  NsysConfig config;
  if (!f.config.empty()) {
    RS_TRY(config, read_nsys_config(f.config));
  } else {
    RS_TRY(NsysInput input, describe_file(f));
    config.inputs.push_back(std::move(input));
  }
  if (!f.classes.empty()) {
    RS_TRY(config.classes, read_kernel_classes(f.classes));
  }
  RS_TRY(const KernelClasses classes, check_kernel_classes(config.classes));
  for (const NsysInput& in : config.inputs) { // before the long part
    Result<NsysSummary> checked =
        summarise_nsys({}, {in.title, in.iterations, in.gpus, ""}, classes);
    if (!checked)
      return std::move(checked.error());
  }
  std::vector<NsysSummary> summaries;
  std::optional<Error> last;
  for (const NsysInput& in : config.inputs) {
    Result<NsysData> data = read_input(in);
    if (!data) {
      if (last)
        ctx.warn(last->message());
      last = std::move(data.error());
      continue;
    }
    RS_TRY(NsysSummary summary,
           summarise_nsys(*data, {in.title, in.iterations, in.gpus, in.nvtx_tag}, classes));
    ctx.partial = ctx.partial || data->rows_without_times > 0;
    if (!ctx.json)
      ctx.out(nsys_text(summary));
    for (const std::string& warning : summary.warnings)
      ctx.warn(warning);
    if (!summary.tag_problem.empty()) {
      if (last)
        ctx.warn(last->message());
      last = Error{ErrorCode::kUnreadable, in.title, summary.tag_problem, ""};
    }
    summaries.push_back(std::move(summary));
  }
  const Report report = nsys_report(summaries);
  if (!summaries.empty()) {
    if (ctx.json)
      ctx.out(json_text(report));
    if (!f.output.empty())
      RS_CHECK(find_writer("xlsx")->write(report, f.output));
    if (!f.csv_dir.empty())
      RS_CHECK(find_writer("csv")->write(report, f.csv_dir));
  }
  if (last && config.inputs.size() == 1)
    return std::move(*last);
  if (last) {
    ctx.warn(last->message());
    if (summaries.empty())
      return Error{ErrorCode::kUnreadable, f.config, "no input could be read", ""};
    ctx.partial = true;
  }
  return {};
}

Action setup(CLI::App& app) {
  auto f = std::make_shared<Flags>();
  app.add_option("FILE", f->file, "SQLite export, .nsys-rep, or prefix of the CSV tables");
  app.add_option("--config", f->config, "JSON with inputs and kernel_to_class_map");
  app.add_option("--iters", f->single.iterations, "iterations recorded in FILE")
      ->capture_default_str();
  app.add_option("--gpus", f->single.gpus, "GPUs recorded in FILE")->capture_default_str();
  app.add_option("--nvtx", f->single.nvtx_tag, "name of the NVTX range of an iteration");
  app.add_option("--title", f->single.title, "title (default: the file's name)");
  app.add_option("--classes", f->classes, "JSON map from part of a kernel's name to its class");
  app.add_option("-o,--output", f->output, "workbook");
  app.add_option("--csv-dir", f->csv_dir, "folder for one CSV per table");
  return [f](Context& ctx) { return run(ctx, *f); };
}

} // namespace

const Command nsys_command{"nsys", "summary of Nsight Systems reports",
                           "  rankscope nsys --config config.json\n"
                           "  rankscope nsys run.sqlite --iters 5 --nvtx :step -o run.xlsx",
                           setup};

} // namespace rankscope
