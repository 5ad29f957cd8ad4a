#include "os/shard.h"

#include "base/to_number.h"

#include <cstdlib>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// The maximum number of tasks; no launcher starts more. Without a limit, the product of two counts
/// could overflow.
constexpr std::size_t kMost = 1'000'000'000;

constexpr const char* kHint = "use --shard I/N, with I from 0 to N - 1";

Error refuse(std::string_view where, std::string what) {
  return Error{ErrorCode::kUsage, std::string(where), std::move(what), kHint};
}

/// Parses the complete text as a number without a sign.
std::optional<std::size_t> number(std::string_view text) {
  const auto value = to_number<std::size_t>(text);
  return value && *value <= kMost ? value : std::nullopt;
}

/// Reads numbers from the environment; an empty variable counts as not set.
class Variables {
public:
  explicit Variables(const EnvironmentLookup& lookup) : lookup_(lookup) {}

  [[nodiscard]] bool has(std::string_view name) const { return text(name).has_value(); }

  [[nodiscard]] Result<std::size_t> get(std::string_view name) const {
    const std::optional<std::string> value = text(name);
    if (!value)
      return refuse(name, "not set, expected a number");
    const std::optional<std::size_t> parsed = number(*value);
    if (!parsed)
      return refuse(name, fmt::format("'{}', expected a number between 0 and {}", *value, kMost));
    return *parsed;
  }

private:
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const {
    std::optional<std::string> value = lookup_(name);
    if (value && value->empty())
      value.reset();
    return value;
  }

  const EnvironmentLookup& lookup_;
};

Result<Shard> checked(Shard shard, std::string_view count_name) {
  if (shard.count == 0)
    return refuse(count_name, "0, expected at least 1");
  if (shard.index >= shard.count)
    return refuse(shard.source, fmt::format("{}, expected less than {} = {}", shard.index,
                                            count_name, shard.count));
  return shard;
}

/// Reads a shard from two variables; empty if neither is set. It is an error if only one is set.
Result<std::optional<Shard>> pair_of(const Variables& env, std::string_view index_name,
                                     std::string_view count_name) {
  if (!env.has(index_name) && !env.has(count_name))
    return std::optional<Shard>();
  for (const auto& [name, other] :
       {std::pair(index_name, count_name), std::pair(count_name, index_name)})
    if (!env.has(name))
      return refuse(name, fmt::format("not set, but {} is", other));
  Shard shard;
  shard.source = index_name;
  RS_TRY(shard.index, env.get(index_name));
  RS_TRY(shard.count, env.get(count_name));
  RS_TRY(shard, checked(std::move(shard), count_name));
  return std::optional(std::move(shard));
}

/// Reads a shard from the variables of PMI. PMIx sets a variable for the rank of a task; the size
/// is available only through the PMIx library.
Result<std::optional<Shard>> process_manager(const Variables& env) {
  if (env.has("PMI_RANK") || !env.has("PMIX_RANK"))
    return pair_of(env, "PMI_RANK", "PMI_SIZE");
  if (env.has("PMI_SIZE"))
    return pair_of(env, "PMIX_RANK", "PMI_SIZE");
  if (env.has("SLURM_PROCID") && env.has("SLURM_NTASKS")) // srun --mpi=pmix sets both; slurm_task()
                                                          // reads them
    return std::optional<Shard>();
  return refuse("PMI_SIZE", "not set, but PMIX_RANK is");
}

/// Reads a shard from Slurm's variables. In a batch script, Slurm sets SLURM_PROCID to 0, and
/// SLURM_NTASKS only if the script requested a number of tasks. srun starts the tasks and sets
/// SLURM_STEP_ID in them.
Result<std::optional<Shard>> slurm_task(const Variables& env) {
  if (env.has("SLURM_JOB_ID") && env.has("SLURM_PROCID") && !env.has("SLURM_STEP_ID")) {
    if (!env.has("SLURM_NTASKS"))
      return std::optional<Shard>();
    RS_TRY(const std::size_t count, env.get("SLURM_NTASKS"));
    if (count != 1)
      return Error{ErrorCode::kUsage, "SLURM_STEP_ID",
                   fmt::format("not set: this is the batch script, not one of its {} tasks", count),
                   "srun rankscope ..., or --shard I/N"};
  }
  return pair_of(env, "SLURM_PROCID", "SLURM_NTASKS");
}

/// Returns the shard that the innermost launcher gave this task.
Result<std::optional<Shard>> task_of(const Variables& env) {
  RS_TRY(auto shard, pair_of(env, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"));
  if (shard)
    return shard;
  RS_TRY(shard, process_manager(env));
  if (shard)
    return shard;
  if (env.has("TORCHELASTIC_RUN_ID")) {
    RS_TRY(shard, pair_of(env, "RANK", "WORLD_SIZE"));
    if (shard)
      return shard;
  }
  RS_TRY(shard, slurm_task(env));
  if (shard)
    return shard;
  RS_TRY(shard, pair_of(env, "RANK", "WORLD_SIZE"));
  if (shard)
    return shard;
  return pair_of(env, "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS");
}

/// Returns the shard of this element of a job array. Element ids start at MIN and increase by STEP.
Result<std::optional<Shard>> array_element(const Variables& env) {
  constexpr std::string_view kId = "SLURM_ARRAY_TASK_ID", kCount = "SLURM_ARRAY_TASK_COUNT";
  if (!env.has(kId) && !env.has(kCount))
    return std::optional<Shard>();
  RS_TRY(const std::size_t id, env.get(kId));
  RS_TRY(const std::size_t count, env.get(kCount));
  RS_TRY(const std::size_t least, env.get("SLURM_ARRAY_TASK_MIN"));
  std::size_t step = 1;
  if (env.has("SLURM_ARRAY_TASK_STEP")) {
    RS_TRY(step, env.get("SLURM_ARRAY_TASK_STEP"));
  }
  if (id < least || step == 0 || (id - least) % step != 0)
    return refuse(kId, fmt::format("{}, not one of {}, {}, ... (from {} in steps of {})", id, least,
                                   least + step, least, step));
  RS_TRY(Shard shard, checked({(id - least) / step, count, std::string(kId)}, kCount));
  return std::optional(std::move(shard));
}

Result<Shard> shard_of_flag(std::string_view flag) {
  const std::size_t slash = flag.find('/');
  const auto index = number(flag.substr(0, slash));
  const auto count =
      slash == std::string_view::npos ? std::nullopt : number(flag.substr(slash + 1));
  if (!index || !count || *index >= *count)
    return Error{ErrorCode::kUsage, "--shard",
                 fmt::format("'{}', expected I/N with 0 <= I < N", flag), "--shard 0/4"};
  return Shard{*index, *count, "--shard"};
}

} // namespace

EnvironmentLookup process_environment() {
  return [](std::string_view name) -> std::optional<std::string> {
    const char* const value = std::getenv(std::string(name).c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<std::optional<Shard>> shard_from(std::string_view flag, const EnvironmentLookup& lookup) {
  if (!flag.empty()) {
    RS_TRY(Shard shard, shard_of_flag(flag));
    return std::optional(std::move(shard));
  }
  const Variables env(lookup);
  RS_TRY(const auto element, array_element(env));
  RS_TRY(const auto task, task_of(env));
  if (!element || !task)
    return element ? element : task;
  return std::optional(
      Shard{element->index * task->count + task->index, element->count * task->count,
            task->count == 1 ? element->source : element->source + " and " + task->source});
}

} // namespace rankscope
