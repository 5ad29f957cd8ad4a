// The flags that several commands have. Each is declared here once, with its names, its help and
// its accepted words. A command supplies the variable (FlagSet::add) and, where the flag means
// something else there, another help. tests/tree finds a flag that is declared twice.
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>

namespace rankscope {

enum class AlignMode;
enum class GemmRanking;

/// A value, a list or a switch, depending on the type of its variable.
struct Option {
  const char* name;
  const char* help = "";
  const char* more = ""; ///< further names, before ("-k,") or after (",--cus") the name

  [[nodiscard]] constexpr Option also(const char* names) const { return {name, help, names}; }
  [[nodiscard]] std::string names() const {
    return *more == ',' ? std::string(name) + more : std::string(more) + name;
  }
};

/// A number given in MiB; its variable is in bytes.
struct MebibyteOption {
  const char* name;
  const char* help;
};

/// A choice between several words, each with a value.
template <class Value> struct Choice {
  const char* name;
  const char* help;
  std::span<const std::pair<const char*, Value>> values;

  /// Returns a choice of `count` of the words, beginning with word `first`.
  [[nodiscard]] constexpr Choice only(std::size_t first, std::size_t count) const {
    return {name, help, values.subspan(first, count)};
  }
};

/// The tools whose quirks are reproduced.
enum class Compat { kNone, kTracelens, kTracelensInference };

namespace options {

// inputs
inline constexpr Option baseline{
    "--baseline", "the baseline: a folder of rank traces, reports or parts, or NAME.rsb"};
inline constexpr Option test{"--test", "folder of a run to compare (repeatable)"};
inline constexpr Option sweep2{"--sweep2", "analyze this sweep too and compare it"};
inline constexpr Option step{"--step"};
inline constexpr Option iterations{"--iterations"};
inline constexpr Option steady_state{"--find-steady-state"};
inline constexpr Option ranks{"--ranks", "use only these ranks"};
inline constexpr Option threads{"--threads"};
inline constexpr Option channels{"--channels"};
inline constexpr Option world_size{"--world-size",
                                   "number of ranks of the run, if the traces do not contain it"};
inline constexpr Option require_all_ranks{"--require-all-ranks", "fail if a rank is missing"};
inline constexpr Option skip_tracelens{"--skip-tracelens",
                                       "use existing reports only; do not read traces"};
inline constexpr Option local{"--local"};
inline constexpr MebibyteOption memory{
    "--memory-mib", "memory limit for traces being read (0: half of the free memory)"};

// how metrics are counted
inline constexpr Option gpu_arch{
    "--gpu-arch",
    "GPU for rooflines: built-in name, JSON file, or 'none' (default: the GPU in the trace)"};
inline constexpr Option gpus_per_node{"--gpus-per-node",
                                      "GPUs per node (0: number of devices in the trace)"};
inline constexpr Option all_kernels{"--all-kernels", "add a sheet of all kernels for each rank",
                                    "-a,"};
inline constexpr Option only_steps{"--only-steps", "use only step N, or the steps A to B (A:B)"};
inline constexpr Option top_k{"--top-k", "number of GEMMs listed per rank"};
extern const Choice<GemmRanking> rank_by;
extern const Choice<AlignMode> align;
inline constexpr std::array kCompats{std::pair("tracelens", Compat::kTracelens),
                                     std::pair("tracelens-inference", Compat::kTracelensInference)};
inline constexpr std::array kTracelens{std::pair("tracelens", true)};
inline constexpr std::array kInference{std::pair("tracelens-inference", true)};
inline constexpr Choice<Compat> compat{
    "--compat", "reproduce the values of this tool, with its known errors", kCompats};
inline constexpr Choice<bool> compat_tracelens{compat.name, compat.help, kTracelens};
inline constexpr Choice<bool> compat_inference{compat.name, compat.help, kInference};

// outputs
inline constexpr Option output{"--output", "", "-o,"};
inline constexpr Option output_dir{"--output-dir"}; ///< gemm plot and the older sweep script
inline constexpr Option csv_dir{"--csv-dir", "folder for one CSV per sheet"};
inline constexpr Option old_xlsx{"--output-xlsx-path"}; ///< flag of the scripts, like the next one
inline constexpr Option old_csvs{"--output-csvs-dir"};
inline constexpr Option html{"--html", "path of the HTML page"};
inline constexpr Option no_plots{"--no-plots", "write no plots and no HTML page"};
inline constexpr Option svg{"--svg", "also write plots as SVG"};
inline constexpr Option layout{"--layout"};
inline constexpr std::array kGemmLayouts{std::pair("2025-11", true)};
inline constexpr Choice<bool> gemm_layout{layout.name, "column order of the GEMM sheets",
                                          kGemmLayouts};
inline constexpr Option format{"--format"};
inline constexpr Option sheets{"--sheets"};
inline constexpr Option tables{"--tables"};
inline constexpr Option all{"--all"};
inline constexpr Option gz{"--gz", "compress the output with gzip"};
inline constexpr Option label{"--label"};
inline constexpr Option labels{"--labels",
                               "names of the runs, baseline first (default: folder names)"};
inline constexpr Option label1{"--label1", "name of the sweep (default: folder name)"};
inline constexpr Option label2{"--label2", "name of --sweep2"};
inline constexpr Option force{"--force"};
inline constexpr Option dry_run{"--dry-run", "print what would be done, then exit"};

// programs to run, and samplers
inline constexpr Option config{"--config"};
inline constexpr Option runner{"--runner"};
inline constexpr Option libraries{"--libraries"};
inline constexpr Option repeats{"--repeats"};
inline constexpr Option iters{"--iters"};
inline constexpr Option steps{"--steps"};
inline constexpr Option seed{"--seed"};
inline constexpr Option timeout{"--timeout", "time limit per run, seconds"};
inline constexpr Option grace{"--grace", "seconds between SIGTERM and SIGKILL"};
inline constexpr Option keep_going{"--keep-going"};
inline constexpr Option container_tool{"--container-tool",
                                       "docker or podman (default: the installed one)"};
inline constexpr Option container_arg{
    "--container-arg", "extra argument of docker run (repeatable; --container-arg=-x)"};
inline constexpr Option duration{"--duration"};
inline constexpr Option devices{"--devices"};
inline constexpr Option dual_gcd{"--dual-gcd", "add a column for each GPU package of two dies"};
inline constexpr Option sysfs_root{"--sysfs-root", "read this folder in place of /sys"};
inline constexpr Option nvml{"--nvml", "libnvidia-ml.so.1 to load"};

} // namespace options
} // namespace rankscope
