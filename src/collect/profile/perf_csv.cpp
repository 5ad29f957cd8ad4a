#include "collect/profile/perf_csv.h"

#include "base/ascii.h"
#include "base/csv.h"
#include "base/noncopyable.h"
#include "collect/leading_number.h"
#include "collect/secrets.h"
#include "os/output_file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 29> kColumns = {"model",
                                                  "n_gpus",
                                                  "nnodes",
                                                  "gpus_per_node",
                                                  "training_precision",
                                                  "pipeline",
                                                  "args",
                                                  "tags",
                                                  "docker_file",
                                                  "base_docker",
                                                  "docker_sha",
                                                  "docker_image",
                                                  "git_commit",
                                                  "machine_name",
                                                  "deployment_type",
                                                  "launcher",
                                                  "gpu_architecture",
                                                  "performance",
                                                  "metric",
                                                  "relative_change",
                                                  "status",
                                                  "build_duration",
                                                  "test_duration",
                                                  "dataname",
                                                  "data_provider_type",
                                                  "data_size",
                                                  "data_download_duration",
                                                  "build_number",
                                                  "additional_docker_run_options"};

/// Removes the number at the beginning of `text` and returns it without ',' and '+'.
std::optional<std::string> take_number(std::string_view& text) {
  const auto number = leading_number(text);
  if (!number)
    return std::nullopt;
  std::string out(text.substr(0, number->length));
  std::erase_if(out, [](char c) { return c == ',' || c == '+'; });
  text.remove_prefix(number->length);
  return out;
}

/// Returns the line without the time and stream that run.log puts in front.
std::string_view without_stamp(std::string_view line) {
  if (line.empty() || line.front() != '[')
    return line;
  for (const std::string_view stream : {"] out ", "] err "})
    if (const std::size_t at = line.find(stream); at < 24)
      return line.substr(at + stream.size());
  return line;
}

/// Returns the cells of a CSV line; a quoted cell must end within the line.
std::vector<std::string> cells_of_perf_csv(std::string_view line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"')
      out.back() += line[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  for (std::string& cell : out)
    cell = std::string(trimmed(cell));
  return out;
}

/// Returns the program that started the ranks; "" = unknown.
std::string launcher_of(const std::vector<std::string>& command, const EnvPairs& environment) {
  constexpr std::array<const char*, 6> known = {"torchrun", "mpirun",     "mpiexec",
                                                "srun",     "accelerate", "deepspeed"};
  const std::string program = command.empty() ? "" : fs::path(command[0]).filename().string();
  if (std::find(known.begin(), known.end(), program) != known.end())
    return program;
  if (!variable(environment, "SLURM_PROCID").empty())
    return "srun";
  if (!variable(environment, "OMPI_COMM_WORLD_RANK").empty() ||
      !variable(environment, "PMI_RANK").empty())
    return "mpirun";
  return variable(environment, "TORCHELASTIC_RUN_ID").empty() ? "" : "torchrun";
}

std::string architecture(const RunResult& result, const EnvPairs& environment) {
  if (std::string known = variable(environment, "MAD_SYSTEM_GPU_ARCHITECTURE"); !known.empty())
    return known;
  const Json* samplers = result.metrics.find("samplers");
  const Json* gpus = samplers == nullptr ? nullptr : samplers->find("gpus");
  if (gpus == nullptr || gpus->items.empty())
    return "";
  const Json* name = gpus->items.front().find("name");
  return name == nullptr ? "" : name->text;
}

std::string host_name() {
  std::array<char, 256> name = {};
  (void)::gethostname(name.data(), name.size() - 1);
  return name.data();
}

class Row {
public:
  void set(const char* column, const std::string& value) {
    for (std::size_t i = 0; i < kColumns.size(); ++i)
      if (std::strcmp(kColumns[i], column) == 0)
        cells_[i] = value;
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (std::size_t i = 0; i < cells_.size(); ++i)
      out += (i > 0 ? "," : "") + csv_cell(cells_[i]);
    return out + "\n";
  }

private:
  std::array<std::string, kColumns.size()> cells_;
};

void set_gpus(const Model* model, const EnvPairs& environment, Row& row) {
  const std::string nodes = variable(environment, "SLURM_NNODES");
  row.set("nnodes", nodes.empty() ? "1" : nodes);
  std::string gpus = variable(environment, "MAD_RUNTIME_NGPUS");
  if (model != nullptr && model->n_gpus > 0)
    gpus = fmt::format("{}", model->n_gpus);
  row.set("n_gpus", gpus);
  if (nodes.empty() || nodes == "1")
    row.set("gpus_per_node", gpus);
}

std::string tags_of(const Model* model, bool profiled) {
  std::string out;
  if (model != nullptr)
    out = fmt::format("{}", fmt::join(model->tags, ","));
  if (profiled)
    out += out.empty() ? "profiled=true" : ",profiled=true";
  return out;
}

Error failed(const std::string& path) {
  return {ErrorCode::kOutput, path, fmt::format("cannot be written: {}", std::strerror(errno)), ""};
}

/// A file descriptor that the destructor closes.
struct File : NonCopyable {
  explicit File(int open) : fd(open) {}
  ~File() {
    if (fd >= 0)
      ::close(fd);
  }
  int fd;
};

} // namespace

std::optional<PerfMetric> performance_of_line(std::string_view line) {
  constexpr std::string_view key = "performance:";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::string_view rest = trimmed(line.substr(at + key.size()));
  PerfMetric out;
  const auto number = take_number(rest);
  if (!number || rest.empty() || std::string_view(" \t,/").find(rest.front()) == rest.npos)
    return std::nullopt;
  out.performance = *number;
  if (rest.front() == '/')
    rest.remove_prefix(std::min(rest.size(), rest.find_first_of(" \t,")));
  const std::size_t comma = rest.find(',');
  const std::string_view unit = trimmed(rest.substr(0, comma));
  const std::string_view behind =
      comma == std::string_view::npos ? std::string_view() : trimmed(rest.substr(comma + 1));
  out.metric = behind.empty() ? unit : behind;
  if (out.metric.empty())
    return std::nullopt;
  return out;
}

std::optional<PerfMetric> trainer_metric_of_line(std::string_view line) {
  constexpr std::string_view key = "train_samples_per_second";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos)
    return std::nullopt;
  std::string_view rest = line.substr(at + key.size());
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of("'\": =\t")));
  const auto number = take_number(rest);
  if (!number)
    return std::nullopt;
  return PerfMetric{"", *number, std::string(key)};
}

std::optional<PerfMetric> metric_of_run_log(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::optional<PerfMetric> trainer;
  for (std::string line; std::getline(in, line);) {
    const std::string_view text = without_stamp(line);
    if (auto found = performance_of_line(text))
      return found;
    if (!trainer)
      trainer = trainer_metric_of_line(text);
  }
  return trainer;
}

Result<std::vector<PerfMetric>> read_results_csv(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error{ErrorCode::kUnreadable, path, "cannot be opened",
                 "the path is from multiple_results"};
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> header = cells_of_perf_csv(line);
  std::array<std::size_t, 3> at = {};
  constexpr std::array<const char*, 3> names = {"model", "performance", "metric"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = std::find(header.begin(), header.end(), names[i]);
    if (found == header.end())
      return Error{ErrorCode::kUnreadable, path, fmt::format("has no column \"{}\"", names[i]), ""};
    at[i] = static_cast<std::size_t>(found - header.begin());
  }
  std::vector<PerfMetric> out;
  while (std::getline(in, line)) {
    std::vector<std::string> cells = cells_of_perf_csv(line);
    if (trimmed(line).empty())
      continue;
    cells.resize(std::max(cells.size(), header.size()));
    out.push_back({cells[at[0]], cells[at[1]], cells[at[2]]});
  }
  if (out.empty())
    return Error{ErrorCode::kUnreadable, path, "has no row", ""};
  return out;
}

std::vector<PerfMetric> perf_metrics(const RunRequest& request, const Model* model,
                                     std::vector<std::string>& notes) {
  if (model != nullptr && !model->results_csv.empty()) {
    const fs::path path = fs::path(request.folder) / model->results_csv;
    Result<std::vector<PerfMetric>> table = read_results_csv(path.string());
    if (table)
      return std::move(*table);
    notes.push_back(table.error().message());
  }
  if (auto metric = metric_of_run_log(request.out + "/run.log"))
    return {std::move(*metric)};
  return {};
}

std::string perf_csv_header() {
  return fmt::format("{}", fmt::join(kColumns, ","));
}

std::string perf_csv_rows(const RunIdentity& identity, const RunRequest& request,
                          const RunResult& result, const Model* model,
                          const std::vector<PerfMetric>& metrics, const EnvPairs& environment) {
  const std::vector<std::string>& command = request.plan.command;
  std::string name = identity.model;
  if (name.empty() && !command.empty())
    name = fs::path(command[0]).filename().string();
  Row row;
  set_gpus(model, environment, row);
  const std::vector<std::string> arguments(command.begin() + (command.empty() ? 0 : 1),
                                           command.end());
  row.set("args",
          quoted_command(masked_arguments(model == nullptr ? arguments : model->arguments)));
  row.set("tags", tags_of(model, !request.plan.tools.empty()));
  if (model != nullptr) {
    row.set("training_precision", model->precision);
    row.set("docker_file", model->dockerfile);
  }
  row.set("docker_image", identity.image);
  row.set("machine_name", host_name());
  row.set("deployment_type", identity.image.empty() ? "local" : "docker");
  row.set("launcher", launcher_of(command, environment));
  row.set("gpu_architecture", architecture(result, environment));
  row.set("status", result.launched && result.exit_status == 0 ? "SUCCESS" : "FAILURE");
  row.set("test_duration", fmt::format("{:.3f}", result.seconds));
  row.set("pipeline", variable(environment, "pipeline"));
  const std::string build = variable(environment, "JENKINS_BUILD_NUMBER");
  row.set("build_number", build.empty() ? "0" : build);
  std::string out;
  const std::vector<PerfMetric> none(1);
  for (const PerfMetric& value : metrics.empty() ? none : metrics) {
    row.set("model", value.part.empty() ? name : name + "_" + value.part);
    row.set("performance", value.performance);
    row.set("metric", value.metric);
    out += row.text();
  }
  return out;
}

Result<void> check_perf_csv(const std::string& path) {
  RS_CHECK(refuse_input(path));
  {
    const File file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (file.fd < 0)
      return failed(path);
  }
  std::ifstream in(path, std::ios::binary);
  std::string header;
  if (std::getline(in, header) && trimmed(header) != perf_csv_header())
    return Error{ErrorCode::kUsage, path, "does not have the 29 documented columns",
                 "choose another file for --perf-csv"};
  return {};
}

Result<void> append_perf_csv(const std::string& path, const std::string& rows) {
  const File file(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  struct stat about = {};
  if (file.fd < 0 || ::fstat(file.fd, &about) != 0)
    return failed(path);
  std::string text = about.st_size == 0 ? perf_csv_header() + "\n" : "";
  char last = '\n';
  if (about.st_size > 0 && ::pread(file.fd, &last, 1, about.st_size - 1) == 1 && last != '\n')
    text = "\n"; // the last line has no line end
  text += rows;
  // a single write, so that rows of runs that end at the same time do not mix
  const ssize_t written = ::write(file.fd, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()))
    return {};
  if (written <= 0)
    return failed(path);
  // a partly written row is removed, unless another run has appended since
  struct stat now = {};
  if (::fstat(file.fd, &now) == 0 && now.st_size == about.st_size + written &&
      ::ftruncate(file.fd, about.st_size) == 0)
    return Error{ErrorCode::kOutput, path, "cannot be written", "is the disk full?"};
  return Error{ErrorCode::kOutput, path, "has an incomplete last row", "is the disk full?"};
}

} // namespace rankscope
