#include "cli/parts_flags.h"

#include "app/baseline.h"
#include "app/part_runs.h"
#include "app/rank_commands.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace rankscope {

namespace {

template <class Value> void copy_if(const Value* from, Value& to) {
  if (from != nullptr)
    to = *from;
}

template <class Value> void set_if(Value* to, const Value& from) {
  if (to != nullptr)
    *to = from;
}

} // namespace

PartialRequest run_of_ranks(const char* command, std::vector<std::string>& inputs,
                            const DiscoverOptions& discover, const RankFlags& flags) {
  PartialRequest out;
  out.inputs = inputs;
  out.discover = discover;
  out.options.wanted = {command};
  copy_if(flags.gpu_arch, out.options.gpu_arch);
  copy_if(flags.top_k, out.options.top_k);
  copy_if(flags.rank_by, out.options.rank_by);
  copy_if(flags.legacy_gemm_layout, out.options.legacy_gemm_layout);
  copy_if(flags.memory_bytes, out.memory_bytes);
  copy_if(flags.batch_names, out.options.batch_names);
  copy_if(flags.batch, out.options.batch);
  out.opened = [&inputs, flags](const ShardFile& facts) {
    inputs = facts.inputs;
    set_if(flags.gpu_arch, facts.options.gpu_arch);
    set_if(flags.top_k, facts.options.top_k);
    set_if(flags.rank_by, facts.options.rank_by);
    set_if(flags.legacy_gemm_layout, facts.options.legacy_gemm_layout);
    set_if(flags.batch_names, facts.options.batch_names);
    set_if(flags.batch, facts.options.batch);
  };
  return out;
}

PartialRequest run_of_ranks(const char* command, std::string& input,
                            const DiscoverOptions& discover, const RankFlags& flags) {
  auto inputs = std::make_shared<std::vector<std::string>>(1, input);
  PartialRequest out = run_of_ranks(command, *inputs, discover, flags);
  out.opened = [inputs, &input, rename = out.opened](const ShardFile& facts) {
    rename(facts);
    input = inputs->front();
  };
  return out;
}

Result<void> check_output(const char* command, const std::vector<std::string>& inputs,
                          const std::string& output) {
  if (inputs.empty() || !output.empty()) // open_parts() names missing inputs
    return {};
  return Error{ErrorCode::kUsage, command, "needs --output",
               "the default output is next to the traces, which may be on another machine"};
}

const Command* command_of_parts(std::vector<std::string>& arguments) {
  std::vector<std::string> words = arguments;
  std::string as = "collectives";
  for (auto word = words.begin(); word != words.end();) {
    if (*word == "--as" && std::next(word) != words.end()) {
      as = *std::next(word);
      word = words.erase(word, std::next(word, 2));
    } else if (word->starts_with("--as=")) {
      as = word->substr(5);
      word = words.erase(word);
    } else {
      ++word;
    }
  }
  const auto all = commands();
  const auto command = std::ranges::find_if(all, [&](const Command* c) { return c->name == as; });
  const bool help = std::ranges::find(words, "--help") != words.end() ||
                    std::ranges::find(words, "-h") != words.end();
  if (find_rank_command(as) == nullptr || command == all.end() ||
      (help && words.size() == arguments.size()))
    return nullptr;
  const auto at = std::ranges::find(words, "reduce");
  *at = as;
  if (as == "baseline" && std::ranges::find(words, "save") == words.end())
    words.insert(std::next(at), "save");
  arguments = std::move(words);
  return *command;
}

Result<void> open_parts(Context& ctx, const Action& action) {
  RS_TRY(const std::vector<PartialRequest> asked, action.runs(ctx));
  auto runs = std::make_shared<PartRuns>();
  for (const PartialRequest& run : asked) {
    if (run.inputs.empty())
      return Error{ErrorCode::kUsage, "reduce", "needs folders of parts",
                   "rankscope reduce --help"};
    if (!is_one_baseline(run.inputs))
      RS_CHECK(runs->add(ctx, run, run.inputs, {}));
  }
  ctx.source = std::move(runs);
  return {};
}

} // namespace rankscope
