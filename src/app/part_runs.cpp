#include "app/part_runs.h"

#include "app/rank_commands.h"

#include <fmt/format.h>

namespace rankscope {
namespace {

/// Checks --require-all-ranks before any output is made. Errors: kUnreadable if shards or ranks are
/// missing.
Result<void> check_all_there(const PartSet& parts, const std::vector<RunPlan>& plans) {
  if (!parts.absent_shards().empty())
    return Error{ErrorCode::kUnreadable, "reduce", parts.absent_shards(), ""};
  for (const RunPlan& plan : plans)
    if (!plan.missing_ranks.empty())
      return Error{ErrorCode::kUnreadable, plan.folder, missing_ranks_text(plan.missing_ranks), ""};
  return {};
}

/// Checks that an option for extracting facts is equal on the command line and in the parts. A
/// default value on the command line matches any value.
template <class Value>
Result<void> check_option(const char* flag, const Value& given, const Value& in_parts,
                          const Value& unsaid) {
  if (given == unsaid || given == in_parts)
    return {};
  return Error{ErrorCode::kUsage, "reduce",
               fmt::format("the parts were made with another value of {}", flag),
               fmt::format("give {} to rankscope partial", flag)};
}

Result<void> check_options(const PartOptions& given, const PartOptions& in_parts) {
  const PartOptions unsaid;
  RS_CHECK(check_option("--gpu-arch", given.gpu_arch, in_parts.gpu_arch, unsaid.gpu_arch));
  RS_CHECK(check_option("--top-k", given.top_k, in_parts.top_k, unsaid.top_k));
  RS_CHECK(check_option("--rank-by", given.rank_by, in_parts.rank_by, unsaid.rank_by));
  RS_CHECK(check_option("--layout", given.legacy_gemm_layout, in_parts.legacy_gemm_layout,
                        unsaid.legacy_gemm_layout));
  RS_CHECK(check_option("--filter, --rank-pattern or --extension", given.batch_names,
                        in_parts.batch_names, unsaid.batch_names));
  RS_CHECK(check_option("--compat", given.batch.compat, in_parts.batch.compat, false));
  return check_option("--all-kernels", given.batch.all_kernels, in_parts.batch.all_kernels, false);
}

} // namespace

Result<void> PartRuns::add(Session& session, const PartialRequest& request,
                           const std::vector<std::string>& folders,
                           const std::vector<PartFile>& files) {
  RS_TRY(const std::shared_ptr<const PartSet> parts, PartSet::open(session, folders, files));
  const std::string& command = request.options.wanted.front();
  if (!serves(parts->facts(), *find_rank_command(command), request.options.workbooks))
    return Error{ErrorCode::kUsage, "reduce",
                 fmt::format("these parts lack the data that {} needs", command),
                 fmt::format("rankscope partial --for {}", command)};
  RS_CHECK(check_options(request.options, parts->facts().options));
  runs_.push_back({parts});
  if (request.opened)
    request.opened(parts->facts());
  return {};
}

PartRuns::Run* PartRuns::find(const std::vector<std::string>& inputs) {
  Run* out = nullptr; // among runs with equal inputs, the run requested least often
  for (Run& run : runs_) {
    const std::vector<std::string>& run_inputs = run.parts->facts().inputs;
    if ((run_inputs == inputs || (inputs.size() == 1 && run_inputs.front() == inputs.front())) &&
        (out == nullptr || run.asked < out->asked))
      out = &run;
  }
  return out;
}

Result<std::shared_ptr<const PartSet>> PartRuns::next(const std::vector<std::string>& inputs) {
  Run* const run = find(inputs);
  if (run == nullptr)
    return Error{ErrorCode::kUnreadable, inputs.front(), "there are no parts of this run", ""};
  ++run->asked;
  return run->parts;
}

Result<RunPlan> PartRuns::run(const std::vector<std::string>& inputs, bool require_all_ranks,
                              Diagnostics& diag) {
  RS_TRY(const std::shared_ptr<const PartSet> parts, next(inputs));
  RS_TRY(RunPlan plan, parts->run_plan(diag));
  if (require_all_ranks)
    RS_CHECK(check_all_there(*parts, {plan}));
  return plan;
}

Result<std::vector<RunPlan>> PartRuns::sweep(const std::vector<std::string>& inputs,
                                             bool require_all_ranks, Diagnostics& diag) {
  RS_TRY(const std::shared_ptr<const PartSet> parts, next(inputs));
  RS_TRY(std::vector<RunPlan> plans, parts->sweep_plans(diag));
  if (require_all_ranks)
    RS_CHECK(check_all_there(*parts, plans));
  return plans;
}

bool PartRuns::one_file(const std::vector<std::string>& inputs) {
  const Run* const run = find(inputs);
  return run != nullptr && run->parts->facts().one_file;
}

} // namespace rankscope
