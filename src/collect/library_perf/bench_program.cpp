#include "collect/library_perf/bench_program.h"

#include "base/ascii.h"
#include "collect/library_trace/log_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <span>
#include <utility>

namespace rankscope {
namespace {

using Words = std::vector<std::string>;

Words words_of(std::string_view text) {
  Words out;
  for (std::string_view word = next_word(text); !word.empty(); word = next_word(text))
    out.emplace_back(word);
  return out;
}

/// Returns the words without these options and their values.
Words without(const Words& words, std::initializer_list<std::string_view> options) {
  Words out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (std::find(options.begin(), options.end(), words[i]) == options.end())
      out.push_back(words[i]);
    else
      ++i;
  }
  return out;
}

/// Returns the first word that makes a bench program read or write a file; "" if there is no such
/// word. The table may be from an untrusted source.
std::string file_option(std::string_view library, const Words& words) {
  using namespace std::string_view_literals;
  static constexpr std::array kBlas = {"--data"sv, "--yaml"sv, "-o"sv, "--output"sv,
                                       "--log_file"sv};
  static constexpr std::array kMiopen = {"-o"sv, "--dump_output"sv};
  // only for conv: in other operations, these letters are options with a number
  static constexpr std::array kConv = {"-a"sv, "--in_bias"sv,   "-d"sv, "--in_data"sv,
                                       "-D"sv, "--dout_data"sv, "-e"sv, "--weights"sv};
  const auto is_one_of = [](std::string_view name, std::span<const std::string_view> options) {
    return std::ranges::find(options, name) != options.end();
  };
  const bool conv = words.size() > 1 && words[1].starts_with("conv");
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string_view name = std::string_view(word).substr(0, word.find('='));
    if (word.find('/') != std::string::npos ||
        (library == "miopen" ? is_one_of(name, kMiopen) || (conv && is_one_of(name, kConv))
                             : is_one_of(name, kBlas)))
      return word;
  }
  return "";
}

void append(Words& words, std::initializer_list<std::string> more) {
  words.insert(words.end(), more.begin(), more.end());
}

BenchCommand not_measured(const char* status, const char* why) {
  return {{}, status, why};
}

BenchCommand rccl_command(std::string_view config, const BenchOptions& options) {
  static constexpr std::array<std::pair<std::string_view, const char*>, 12> kPrograms = {
      {{"AllReduce", "all_reduce_perf"},
       {"AllGather", "all_gather_perf"},
       {"ReduceScatter", "reduce_scatter_perf"},
       {"Broadcast", "broadcast_perf"},
       {"Reduce", "reduce_perf"},
       {"AllToAll", "alltoall_perf"},
       {"AlltoAll", "alltoall_perf"},
       {"Gather", "gather_perf"},
       {"Scatter", "scatter_perf"},
       {"Send", "sendrecv_perf"},
       {"AllToAllv", "alltoallv_perf"},
       {"AlltoAllv", "alltoallv_perf"}}};
  static constexpr std::array<std::pair<std::string_view, const char*>, 12> kTypes = {
      {{"i8", "int8"},
       {"u8", "uint8"},
       {"i32", "int32"},
       {"u32", "uint32"},
       {"i64", "int64"},
       {"u64", "uint64"},
       {"f16", "half"},
       {"f32", "float"},
       {"f64", "double"},
       {"bf16", "bfloat16"},
       {"f8e4m3", "fp8_e4m3"},
       {"f8e5m2", "fp8_e5m2"}}};
  std::string_view rest = config;
  const std::string_view name = next_word(rest);
  const std::string padded = std::string(rest) + " ";
  const auto field = [&](std::string_view key) { return between(padded, key, " ").value_or(""); };
  const auto count = to_number(field(" count=")), ranks = to_number(field(" nranks="));
  const std::string_view type = field(" datatype=");
  std::string program, type_name;
  for (const auto& [known, text] : kPrograms)
    if (known == name)
      program = text;
  for (const auto& [known, text] : kTypes)
    if (known == type)
      type_name = text;
  if (name == "Recv")
    return not_measured("skipped", "measured together with the matching Send");
  if (program.empty() || type_name.empty() || !count || !ranks)
    return not_measured("unsupported", "rccl-tests do not have this collective or data type");
  // rccl-tests take the message size of all ranks; these calls count the part of one rank
  const bool per_rank = name == "AllGather" || name == "ReduceScatter" || name == "AllToAll" ||
                        name == "AlltoAll" || name == "Gather" || name == "Scatter";
  const double bytes = static_cast<double>(*count) * element_bytes(type) *
                       (per_rank ? static_cast<double>(*ranks) : 1.0);
  const std::string size = fmt::format("{:.0f}", bytes);
  Words argv = {program,
                "-b",
                size,
                "-e",
                size,
                "-d",
                type_name,
                "-g",
                fmt::format("{}", *ranks),
                "-n",
                fmt::format("{}", options.iters),
                "-w",
                fmt::format("{}", options.warm_up),
                "-c",
                "0"};
  if (const std::string_view op = field(" op="); !op.empty() && op != "premulsum")
    append(argv, {"-o", std::string(op)});
  return {argv, "", ""};
}

std::vector<std::string_view> trimmed_parts(std::string_view text, char separator) {
  std::vector<std::string_view> out = split(text, separator);
  for (std::string_view& part : out)
    part = trimmed(part);
  return out;
}

std::optional<double> positive(std::string_view text) {
  const auto value = to_number<double>(text);
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

/// Returns the last row with as many cells as the header above it, which has the column `time`.
std::optional<BenchResult> from_table(std::string_view output, std::string_view time, double to_us,
                                      std::string_view front) {
  std::optional<BenchResult> found;
  std::vector<std::string_view> names;
  for (std::string_view line : trimmed_parts(output, '\n')) {
    if (!front.empty() && !line.starts_with(front))
      continue;
    line.remove_prefix(front.size());
    const std::vector<std::string_view> cells = trimmed_parts(line, ',');
    if (std::find(cells.begin(), cells.end(), time) != cells.end()) {
      names = cells;
      continue;
    }
    if (names.empty() || cells.size() != names.size())
      continue;
    BenchResult r;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == time)
        r.time_us = positive(cells[i]).value_or(0) * to_us;
      else if (names[i].ends_with("Gflops") || names[i] == "GFLOPs")
        r.gflops = positive(cells[i]);
      else if (names[i].ends_with("GB/s"))
        r.gbps = positive(cells[i]);
    }
    if (r.time_us > 0)
      found = r;
  }
  return found;
}

std::optional<BenchResult> from_miopen(std::string_view output) {
  if (auto found = from_table(output, "timeMs", 1e3, "stats:"))
    return found;
  std::optional<BenchResult> found;
  bool has_gpu_time = false; // wall-clock time counts only until a GPU time is found
  for (const std::string_view line : trimmed_parts(output, '\n')) {
    const auto ms = between(line, "Elapsed: ", " ms");
    const auto value = ms ? positive(*ms) : std::nullopt;
    const bool wall = line.starts_with("Wall-clock");
    if (!value || (wall && has_gpu_time))
      continue;
    has_gpu_time = has_gpu_time || !wall;
    found.emplace();
    found->time_us = *value * 1e3;
  }
  return found;
}

/// Parses rows `size count type redop root | time algbw busbw #wrong (out of place) | the same in
/// place`.
std::optional<BenchResult> from_rccl_tests(std::string_view output) {
  std::optional<BenchResult> found;
  for (std::string_view line : trimmed_parts(output, '\n')) {
    const Words words = words_of(line);
    if (words.size() < 8 || !to_number(words[0]) || !to_number(words[1]))
      continue;
    BenchResult r;
    r.time_us = positive(words[5]).value_or(0);
    r.gbps = positive(words[6]);
    if (r.time_us > 0)
      found = r;
  }
  return found;
}

std::string architecture_in(std::string_view output) {
  const std::size_t at = output.find("gfx");
  if (at == std::string_view::npos)
    return {};
  std::size_t end = at + 3;
  while (end < output.size() &&
         ((output[end] >= '0' && output[end] <= '9') || (output[end] >= 'a' && output[end] <= 'f')))
    ++end;
  return end - at >= 6 ? std::string(output.substr(at, end - at)) : std::string();
}

} // namespace

BenchCommand bench_command(std::string_view library, std::string_view config,
                           const BenchOptions& options) {
  const std::string iters = fmt::format("{}", options.iters);
  const std::string warm_up = fmt::format("{}", options.warm_up);
  Words words = words_of(config);
  if (words.empty() || config.starts_with("(further"))
    return not_measured("unsupported", "no configuration");
  if (library == "rocblas" || library == "hipblaslt" || library == "miopen")
    if (const std::string option = file_option(library, words); !option.empty())
      return {{}, "unsupported", fmt::format("'{}' reads or writes files", option)};
  if (library == "rocblas") {
    words[0] = "rocblas-bench";
    words = without(words, {"-i", "--iters", "-j", "--cold_iters"});
    append(words, {"-i", iters, "-j", warm_up});
    return {words, "", ""};
  }
  if (library == "hipblaslt") {
    words[0] = "hipblaslt-bench";
    if (options.as_written)
      return {words, "", ""};
    if (!options.pin) {
      words = without(words, {"--algo_method", "--solution_index"});
      append(words, {"--algo_method", "heuristic"});
    }
    append(words, {"--iters", iters, "--cold_iters", warm_up});
    return {words, "", ""};
  }
  if (library == "miopen") {
    words[0] = "MIOpenDriver";
    if (options.as_written)
      return {words, "", ""};
    words = without(words, {"-t", "-V", "-i", "--time", "--verify", "--iter"});
    append(words, {"-t", "1", "-V", "0", "-i", iters});
    return {words, "", ""};
  }
  if (library == "rccl")
    return rccl_command(config, options);
  if (library == "miopen_find")
    return not_measured("skipped", "a search for a solution, not an execution");
  if (library == "rocblas_function" || library == "hipblaslt_function" ||
      library == "rocblas_trace")
    return not_measured("unsupported",
                        "the line has no bench command; turn on bench logging when you trace");
  if (library == "tensile" || library == "rccl_kernel")
    return not_measured("unsupported", "the line has only a kernel name, without sizes");
  return not_measured("unsupported", "no bench program for this library");
}

std::optional<BenchResult> parse_bench_output(std::string_view library, std::string_view output) {
  std::optional<BenchResult> result = library == "miopen" ? from_miopen(output)
                                      : library == "rccl" ? from_rccl_tests(output)
                                                          : from_table(output, "us", 1, "");
  if (result)
    result->architecture = architecture_in(output);
  return result;
}

} // namespace rankscope
