// The facts of `top` as tables. A column named like a column of another sheet has the same values.
#include "analyses/top/top_facts.h"
#include "base/units.h"

namespace rankscope {
namespace {

using enum CellKind;

Schema<TopOverview> overview_schema() {
  using R = TopOverview;
  return {
      "top_overview",
      "the input of the summary; one row",
      {{"title", &R::title, "the trace, or the run by its folder"},
       {"ranks", Unit::kCount, &R::ranks, "that could be read"},
       {"steps", Unit::kCount, &R::steps, "profiler steps with GPU work, least of all ranks"},
       {"device", or_blank(&R::device), "the driver's name of the GPU"},
       {"gpu", or_blank(&R::gpu), "GPU of the rooflines"},
       {"total_ms", "total (ms)", Unit::kMs, &R::total_ms,
        "gpu_timeline's total_time, mean over the ranks"},
       {"kernel_launches", "kernel launches", Unit::kCount, &R::kernel_launches, "over all ranks"},
       {"kernel_ms", "kernel time (ms)", Unit::kMs, &R::kernel_ms,
        "sum of the kernels' durations over all ranks, as in kernel_summary"},
       {"operator_ms", "operator time (ms)", Unit::kMs, &R::operator_ms,
        "kernel time of unified_perf_summary's rows over all ranks"},
       {"kernels", Unit::kCount, &R::kernels, "names of kernels; the longest are listed"},
       {"operators", Unit::kCount, &R::operators,
        "operators by name, shapes and types; the longest are listed"},
       {"collectives", Unit::kCount, &R::collectives,
        "collectives by name, type, size and group; the longest are listed"}}};
}

Schema<Problem> problem_schema_of_top() {
  using R = Problem;
  return {"top_missing",
          "what is missing, was left out or is unusual, worst first",
          {{"severity", "severity", Unit::kNone, kText,
            [](const R& r) { return Value(severity_name(r.severity)); },
            "loss: the values are incomplete (exit code 4); warning; note"},
           {"where", or_blank(&R::where), "the first place"},
           {"text", &R::sentence, "description"},
           {"count", Unit::kCount, &R::count, "how often"}}};
}

Schema<TopTime> time_schema() {
  using R = TopTime;
  return {"top_timeline",
          "how the GPU's time divides, mean over the ranks",
          {{"type", [](const R& r) { return time_kind_name(r.kind); }, "as in gpu_timeline"},
           {"time_ms", "time ms", Unit::kMs, &R::ms, "mean over the ranks of gpu_timeline's row"},
           {"percent", Unit::kPercent, &R::percent, "of total_time"}}};
}

Schema<TopIdle> idle_schema() {
  using R = TopIdle;
  return {
      "top_idle",
      "why the GPU had nothing to do; the causes add up to idle_time",
      {{"cause", [](const R& r) { return idle_cause_name(r.cause); },
        "what came before the work that ends the gap"},
       {"meaning", [](const R& r) { return idle_cause_help(r.cause); }, "of the cause"},
       {"time_ms", "time ms", Unit::kMs, &R::ms, "mean over the ranks"},
       {"percent_of_idle", "percent of idle", Unit::kPercent, &R::percent_of_idle, "of idle_time"},
       {"percent", Unit::kPercent, &R::percent, "of total_time"},
       {"gaps", Unit::kCount, &R::gaps,
        "mean over the ranks; each gap counts for the cause of most of it"}}};
}

Schema<TopKernel> kernel_schema_top_tables() {
  using R = TopKernel;
  return {
      "top_kernels",
      "kernels by name over all ranks, longest sum first",
      {{"kernel", [](const R& r) { return std::string_view(r.sum.name); }, "name of the kernel"},
       {"short_name", "short name", Unit::kNone, &R::short_name,
        "name without return type and arguments, distinct in this table"},
       {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.sum.sum_ns); },
        "sum over its launches, operators, streams and ranks"},
       {"percent", Unit::kPercent, &R::percent, "of the time of all kernels"},
       {"count", Unit::kCount, [](const R& r) { return r.sum.count; }, "launches"},
       {"mean_us", "mean (us)", Unit::kUs,
        [](const R& r) { return ns_to_us(r.sum.sum_ns) / static_cast<double>(r.sum.count); },
        "of a launch"},
       {"max_us", "max (us)", Unit::kUs, [](const R& r) { return ns_to_us(r.sum.max_ns); },
        "longest launch"}}};
}

Schema<TopOperator> operator_schema() {
  using R = TopOperator;
  return {
      "top_operators",
      "operators by name, shapes and types over all ranks, most kernel time first",
      {{"name", [](const R& r) { return std::string_view(r.sum.name); },
        "operator; for kernels that none covers, what launched them and the kernel"},
       {"op_category", "op category", Unit::kNone,
        [](const R& r) { return std::string_view(r.sum.category); },
        "what kind of work the operator does"},
       {"input_dims", "Input Dims", Unit::kNone,
        [](const R& r) { return text_or_blank(r.sum.dims); }, "recorded shapes of the inputs",
        ColumnStyle{.nested = true}},
       {"input_type", "Input type", Unit::kNone,
        [](const R& r) { return text_or_blank(r.sum.types); }, "recorded types of the inputs",
        ColumnStyle{.nested = true}},
       {"count", Unit::kCount, [](const R& r) { return r.sum.count; }, "calls"},
       {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.sum.kernel_ns); },
        "kernel time of the calls, as in unified_perf_summary"},
       {"percent", Unit::kPercent, &R::percent, "of the kernel time of all operators"},
       {"tflops_per_s", "TFLOPS/s", Unit::kTflops, &R::tflops,
        "mean over the calls; blank without a model"},
       {"tb_per_s", "TB/s", Unit::kTBps, &R::tbps, "mean over the calls, 10^12 bytes per second"},
       {"percent_of_roofline", "percent of roofline", Unit::kPercent, &R::percent_of_roofline,
        "minimum time that the GPU's peaks allow, over the kernel time"},
       {"roofline_bound", "roofline bound", Unit::kNone, or_blank(&R::bound),
        "the peak that takes longer: compute or memory"}}};
}

Schema<TopCategory> category_schema() {
  using R = TopCategory;
  return {"top_categories",
          "kinds of operators over all ranks, as in ops_summary_by_category",
          {{"op_category", "op category", Unit::kNone,
            [](const R& r) { return std::string_view(r.sum.category); }, "what kind of work"},
           {"count", Unit::kCount, [](const R& r) { return r.sum.count; }, "launching calls"},
           {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.sum.direct_ns); },
            "direct kernel time"},
           {"percent", Unit::kPercent, &R::percent, "of the direct kernel time of all"}}};
}

Schema<TopCollective> collective_schema() {
  using R = TopCollective;
  return {"top_collectives",
          "collectives by name, type, size and group; of several ranks those that synchronise, as "
          "in nccl_summary_implicit_sync, of one rank alone all its communication kernels",
          {{"collective", "Collective name", Unit::kNone, &R::name, "kind of collective"},
           {"dtype", or_blank(&R::dtype), "type of the elements"},
           {"group", "Process Group Name", Unit::kNone, or_blank(&R::group),
            "name of the process group"},
           {"full_mib", "Full msg size (MB)", Unit::kMiB, &R::mib, "the larger buffer, 2^20 bytes"},
           {"group_size", "Group size", Unit::kCount, kInt,
            [](const R& r) { return r.group_size > 0 ? Value(r.group_size) : Value(); },
            "members of the group"},
           {"count", Unit::kCount, &R::count, "collectives; of one rank alone its kernels"},
           {"mean_us", "mean (us)", Unit::kUs, &R::mean_us,
            "shortest duration of the members; of one rank alone as it ran, with waits"},
           {"time_ms", "time ms", Unit::kMs, &R::total_ms, "sum of these"},
           {"percent", Unit::kPercent, &R::percent, "of the sums of all rows"},
           {"skew_us", "skew (us)", Unit::kUs, &R::skew_us, "mean spread of the starts"},
           {"bus_bw_gb_per_s", "bus bw (GB/s)", Unit::kGBps, &R::bus_gbps,
            "mean; blank where members are missing"}}};
}

Schema<TopCommunication> communication_schema() {
  using R = TopCommunication;
  return {
      "top_communication",
      "communication by collective over all ranks, most exposed first, as in exposed_by_type",
      {{"collective", "Collective name", Unit::kNone, &R::name, "kind of collective"},
       {"kernels", Unit::kCount, &R::kernels, "over all ranks"},
       {"time_ms", "time ms", Unit::kMs, &R::ms, "durations over all ranks, waits included"},
       {"percent", Unit::kPercent, &R::percent, "of the durations of all of them"},
       {"exposed_ms", "exposed (ms)", Unit::kMs, &R::exposed_ms,
        "not overlapped by compute or copies"},
       {"exposed_percent", "exposed (%)", Unit::kPercent, &R::exposed_percent, "of the durations"},
       {"wait_ms", "waiting (ms)", Unit::kMs, &R::wait_ms,
        "for members that started later, where that is known"}}};
}

Schema<TopRankRow> rank_schema_top_tables() {
  using R = TopRankRow;
  Schema<R> schema(
      "top_ranks", "the ranks side by side",
      {{"rank", &R::rank, "number of the rank"},
       {"trace", &R::path, "its file"},
       {"total_ms", "total (ms)", Unit::kMs, &R::total_ms, "gpu_timeline's total_time"}});
  struct Kind {
    const char* id;
    const char* label;
    double R::*ms;
    double R::*percent;
  };
  static constexpr Kind kKinds[] = {
      {"computation", "computation", &R::compute_ms, &R::compute_percent},
      {"exposed_comm", "exposed comm", &R::exposed_ms, &R::exposed_percent},
      {"exposed_memcpy", "exposed memcpy", &R::memcpy_ms, &R::memcpy_percent},
      {"idle", "idle", &R::idle_ms, &R::idle_percent}};
  for (const Kind& k : kKinds) {
    schema.add({std::string(k.id) + "_ms", std::string(k.label) + " (ms)", Unit::kMs,
                [ms = k.ms](const R& r) { return r.*ms; }, "of gpu_timeline"});
    schema.add({std::string(k.id) + "_percent", std::string(k.label) + " (%)", Unit::kPercent,
                [percent = k.percent](const R& r) { return r.*percent; },
                "of the rank's total_time"});
  }
  schema.add({"late_us", "late (us)", Unit::kUs, &R::late_us,
              "how much later it starts its collectives than the others, mean over the steps"});
  schema.add(
      {"slow", &R::slow, "it computes longer than the others, beyond the noise of the steps"});
  schema.add({"is_late", "is late", Unit::kNone, &R::late,
              "it starts later than the others, beyond the noise of the steps"});
  return schema;
}

struct ShownNext {
  std::string command, why;
};

Schema<ShownNext> next_schema() {
  using R = ShownNext;
  return {
      "top_next",
      "what to do next",
      {{"command", &R::command, "quoted for a shell"}, {"why", &R::why, "purpose of the command"}}};
}

} // namespace

Report top_report(const TopFacts& facts) {
  Report out;
  out.title = facts.overview.title;
  out.tables.push_back(overview_schema().table({&facts.overview, 1}));
  out.tables.push_back(problem_schema_of_top().table(facts.problems));
  out.tables.push_back(time_schema().table(facts.times));
  out.tables.push_back(idle_schema().table(facts.idle));
  out.tables.push_back(kernel_schema_top_tables().table(facts.kernels));
  out.tables.push_back(operator_schema().table(facts.operators));
  out.tables.push_back(category_schema().table(facts.categories));
  out.tables.push_back(collective_schema().table(facts.collectives));
  out.tables.push_back(communication_schema().table(facts.communication));
  out.tables.push_back(rank_schema_top_tables().table(facts.ranks));
  out.tables.push_back(finding_schema().table(facts.findings));
  std::vector<ShownNext> next;
  for (const TopNext& step : facts.next)
    next.push_back({shell_text(step.command), step.why});
  out.tables.push_back(next_schema().table(next));
  return out;
}

std::vector<SheetInfo> top_sheets() {
  return {overview_schema().info(),
          problem_schema_of_top().info(),
          time_schema().info(),
          idle_schema().info(),
          kernel_schema_top_tables().info(),
          operator_schema().info(),
          category_schema().info(),
          collective_schema().info(),
          communication_schema().info(),
          rank_schema_top_tables().info(),
          finding_schema().info(),
          next_schema().info()};
}

} // namespace rankscope
