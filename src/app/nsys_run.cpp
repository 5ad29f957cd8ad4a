#include "app/nsys_run.h"

#include "os/process.h"
#include "os/scratch_folder.h"
#include "readers/nsys/nsys_csv.h"
#include "readers/nsys/nsys_sqlite.h"

#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// Runs `nsys` with its output on our stderr, so that stdout contains only the summary.
Result<void> spawn_nsys(std::vector<std::string> arguments, const std::string& report) {
  ProcessSpec spec;
  spec.argv = std::move(arguments);
  spec.out = spec.err = Stream::kOurError;
  const Result<ProcessEnd> end = run_process(std::move(spec));
  if (end ? end->exit_code == 127 : end.error().code == ErrorCode::kMissingTool)
    return Error{
        ErrorCode::kMissingTool, report,
        "reading an .nsys-rep file needs the program nsys, which is not installed here",
        "install Nsight Systems, or run this where it is installed: nsys export --type sqlite " +
            report};
  if (!end)
    return Error{ErrorCode::kMissingTool, report, "cannot start nsys: " + end.error().what, ""};
  if (!end->ok())
    return Error{ErrorCode::kUnreadable, report, "nsys export failed; see its message above", ""};
  return {};
}

Result<NsysData> read_report(const NsysInput& in) {
  const fs::path existing = fs::path(in.path).replace_extension(".sqlite");
  std::error_code ec;
  if (fs::is_regular_file(existing, ec))
    return read_nsys_sqlite(existing.string(), in.with_nvtx, in.with_memory);
  if (!fs::is_regular_file(in.path, ec))
    return Error{ErrorCode::kUnreadable, in.path, "no such file", ""};
  RS_TRY(const ScratchFolder scratch, ScratchFolder::create());
  const std::string database = scratch.path() + "/report.sqlite";
  RS_CHECK(
      spawn_nsys({"nsys", "export", "--type", "sqlite", "--output", database, in.path}, in.path));
  return read_nsys_sqlite(database, in.with_nvtx, in.with_memory);
}

Result<NsysData> read_input(const NsysInput& in) {
  if (in.format == "csv")
    return read_nsys_csv(in.kernel_sum, in.nvtx_proj_trace, in.mem_time_sum);
  if (in.format == "sqlite")
    return read_nsys_sqlite(in.path, in.with_nvtx, in.with_memory);
  return read_report(in);
}

/// Returns the input that a path names: FILE.sqlite, FILE.nsys-rep, or the prefix of CSV tables.
Result<NsysInput> describe_file(const NsysRequest& f) {
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
                 "give a .sqlite file, an .nsys-rep file, or the common prefix of the tables that "
                 "nsys stats wrote"};
  if (in.with_nvtx)
    in.nvtx_proj_trace = f.file + "_nvtx_gpu_proj_trace.csv";
  if (const std::string memory = f.file + "_cuda_gpu_mem_time_sum.csv"; fs::exists(memory, ec))
    in.mem_time_sum = memory;
  return in;
}

/// Checks the flags for FILE so that errors name the flags. For a configuration file, the summary
/// names the keys.
Result<void> check_flags(const NsysInput& input) {
  if (input.iterations == 0)
    return Error{ErrorCode::kUsage, "",
                 "--iters is needed: the number of iterations recorded in FILE", ""};
  for (const auto& [flag, value] :
       {std::pair("--iters", input.iterations), std::pair("--gpus", input.gpus)})
    if (value < 1 || value > kMaxNsysDivisor)
      return Error{ErrorCode::kUsage, "",
                   fmt::format("{} is {}, expected 1 to {}", flag, value, kMaxNsysDivisor), ""};
  return {};
}

/// Returns an error in the classes file, which --classes names.
Error in_classes(const std::string& file, Error error) {
  error.where = "--classes " + file;
  return error;
}

/// Returns the inputs and classes of the request, checked before any input is read.
Result<NsysConfig> plan(const NsysRequest& request) {
  if (request.config.empty() == request.file.empty())
    return Error{ErrorCode::kUsage, "", "expected either --config or one FILE", ""};
  NsysConfig config;
  if (!request.config.empty()) {
    RS_TRY(config, read_nsys_config(request.config));
  } else {
    RS_CHECK(check_flags(request.single));
    RS_TRY(NsysInput input, describe_file(request));
    config.inputs.push_back(std::move(input));
  }
  if (!request.classes.empty()) {
    Result<KernelClasses> read = read_kernel_classes(request.classes);
    if (!read)
      return in_classes(request.classes, std::move(read.error()));
    config.classes = std::move(*read);
  }
  Result<KernelClasses> checked_classes = check_kernel_classes(config.classes);
  if (!checked_classes)
    return request.classes.empty()
               ? std::move(checked_classes.error())
               : in_classes(request.classes, std::move(checked_classes.error()));
  config.classes = std::move(*checked_classes);
  for (const NsysInput& in : config.inputs) {
    Result<NsysSummary> checked =
        summarise_nsys({}, {in.title, in.iterations, in.gpus, ""}, config.classes);
    if (!checked)
      return std::move(checked.error());
  }
  return config;
}

} // namespace

Result<NsysRun> run_nsys(Session& session, const NsysRequest& request) {
  RS_CHECK(check_outputs(request.outputs));
  RS_TRY(const NsysConfig config, plan(request));
  NsysRun out;
  std::optional<Error> last;
  const auto failed = [&](Error error) { // the caller reports the last error
    if (last)
      session.warn(last->message());
    last = std::move(error);
  };
  for (const NsysInput& in : config.inputs) {
    Result<NsysData> data = read_input(in);
    if (!data) {
      failed(std::move(data.error()));
      continue;
    }
    RS_TRY(NsysSummary summary,
           summarise_nsys(*data, {in.title, in.iterations, in.gpus, in.nvtx_tag}, config.classes));
    session.partial = session.partial || data->rows_without_times > 0 || data->graph_launches > 0;
    for (const std::string& warning : summary.warnings)
      session.warn(warning);
    if (!summary.tag_problem.empty())
      failed(Error{ErrorCode::kUnreadable, in.title, summary.tag_problem, ""});
    out.summaries.push_back(std::move(summary));
  }
  out.report = nsys_report(out.summaries);
  if (!out.summaries.empty())
    RS_CHECK(write_outputs(out.report, request.outputs));
  if (!last)
    return out;
  if (config.inputs.size() == 1) {
    out.failure = std::move(*last);
    return out;
  }
  session.warn(last->message());
  if (out.summaries.empty())
    return Error{ErrorCode::kUnreadable, request.config, "no input could be read", ""};
  session.partial = true;
  return out;
}

} // namespace rankscope
