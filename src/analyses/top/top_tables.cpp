// The facts of `top` as tables. A column named like a column of another sheet has the same values.
#include "analyses/top/top_facts.h"
#include "base/units.h"

namespace rankscope {
namespace {

using enum CellKind;

Schema<TopOverview> overview_schema() {
  using R = TopOverview;
  return {"top_overview",
          "the input of the summary; one row",
          {{"title", &R::title, "path of the trace, or folder of the run"},
           {"ranks", Unit::kCount, &R::ranks, "ranks that could be read"},
           {"steps", Unit::kCount, &R::steps,
            "profiler steps with GPU work, smallest number over the ranks"},
           {"device", or_blank(&R::device), "name of the GPU, from the driver"},
           {"gpu", or_blank(&R::gpu), "GPU whose peaks the rooflines use"},
           {"total_ms", "total (ms)", Unit::kMs, &R::total_ms,
            "gpu_timeline's total_time, mean over the ranks"},
           {"kernel_launches", "kernel launches", Unit::kCount, &R::kernel_launches,
            "kernel launches of all ranks"},
           {"kernel_ms", "kernel time (ms)", Unit::kMs, &R::kernel_ms,
            "sum of the kernel durations over all ranks, as in kernel_summary"},
           {"operator_ms", "operator time (ms)", Unit::kMs, &R::operator_ms,
            "kernel time of unified_perf_summary's rows over all ranks"},
           {"kernels", Unit::kCount, &R::kernels,
            "number of kernel names; top_kernels lists the longest"},
           {"operators", Unit::kCount, &R::operators,
            "number of operators (by name, shapes and types); top_operators lists the longest"},
           {"collectives", Unit::kCount, &R::collectives,
            "number of kinds of collectives (by name, type, size and group); top_collectives lists "
            "the longest"}}};
}

Schema<Problem> problem_schema_of_top() {
  using R = Problem;
  return {"top_missing",
          "what is missing, was left out or is unusual, worst first",
          {{"severity", "severity", Unit::kNone, kText,
            [](const R& r) { return Value(severity_name(r.severity)); },
            "loss: the values are incomplete (exit code 4); warning; note"},
           {"where", or_blank(&R::where), "first file or place with this problem"},
           {"text", &R::sentence, "description"},
           {"count", Unit::kCount, &R::count, "number of occurrences"}}};
}

Schema<TopTime> time_schema() {
  using R = TopTime;
  return {"top_timeline",
          "GPU time by kind, mean over the ranks",
          {{"type", [](const R& r) { return time_kind_name(r.kind); },
            "kind of time, as in gpu_timeline"},
           {"time_ms", "time ms", Unit::kMs, &R::ms,
            "time_ms of this row in gpu_timeline, mean over the ranks"},
           {"percent", Unit::kPercent, &R::percent, "share of total_time"}}};
}

Schema<TopIdle> idle_schema() {
  using R = TopIdle;
  return {
      "top_idle",
      "why the GPU had nothing to do; the causes add up to idle_time",
      {{"cause", [](const R& r) { return idle_cause_name(r.cause); },
        "host, synchronisation, launch, queued or unknown"},
       {"meaning", [](const R& r) { return idle_cause_help(r.cause); }, "meaning of the cause"},
       {"time_ms", "time ms", Unit::kMs, &R::ms, "idle time with this cause, mean over the ranks"},
       {"percent_of_idle", "percent of idle", Unit::kPercent, &R::percent_of_idle,
        "share of idle_time"},
       {"percent", Unit::kPercent, &R::percent, "share of total_time"},
       {"gaps", Unit::kCount, &R::gaps,
        "gaps per rank, mean over the ranks; a gap counts for the cause with its largest part"}}};
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
        "sum of the durations of all launches, over all operators, streams and ranks"},
       {"percent", Unit::kPercent, &R::percent, "share of the time of all kernels"},
       {"count", Unit::kCount, [](const R& r) { return r.sum.count; }, "launches"},
       {"mean_us", "mean (us)", Unit::kUs,
        [](const R& r) { return ns_to_us(r.sum.sum_ns) / static_cast<double>(r.sum.count); },
        "mean duration of a launch"},
       {"max_us", "max (us)", Unit::kUs, [](const R& r) { return ns_to_us(r.sum.max_ns); },
        "duration of the longest launch"}}};
}

Schema<TopOperator> operator_schema() {
  using R = TopOperator;
  return {"top_operators",
          "operators by name, shapes and types over all ranks, most kernel time first",
          {{"name", [](const R& r) { return std::string_view(r.sum.name); },
            "name of the operator; for kernels without an operator: launching call and kernel"},
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
           {"percent", Unit::kPercent, &R::percent, "share of the kernel time of all operators"},
           {"tflops_per_s", "TFLOPS/s", Unit::kTflops, &R::tflops,
            "mean rate over the calls; blank if the operator has no performance model"},
           {"tb_per_s", "TB/s", Unit::kTBps, &R::tbps,
            "mean rate over the calls, 10^12 bytes per second"},
           {"percent_of_roofline", "percent of roofline", Unit::kPercent, &R::percent_of_roofline,
            "minimum time that the GPU's peaks allow, divided by the kernel time"},
           {"roofline_bound", "roofline bound", Unit::kNone, or_blank(&R::bound),
            "compute or memory: the peak that requires the longer time"}}};
}

Schema<TopCategory> category_schema() {
  using R = TopCategory;
  return {
      "top_categories",
      "operators by category over all ranks, as in ops_summary_by_category",
      {{"op_category", "op category", Unit::kNone,
        [](const R& r) { return std::string_view(r.sum.category); }, "category of the operators"},
       {"count", Unit::kCount, [](const R& r) { return r.sum.count; },
        "operator calls that launched kernels"},
       {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.sum.direct_ns); },
        "time of the kernels that the operators launched themselves"},
       {"percent", Unit::kPercent, &R::percent, "share of the time of all rows"}}};
}

Schema<TopCollective> collective_schema() {
  using R = TopCollective;
  return {
      "top_collectives",
      "collectives by name, type, size and group; for several ranks: collectives that synchronise, "
      "as in nccl_summary_implicit_sync; for a single rank: all communication kernels",
      {{"collective", "Collective name", Unit::kNone, &R::name, "kind of collective"},
       {"dtype", or_blank(&R::dtype), "type of the elements"},
       {"group", "Process Group Name", Unit::kNone, or_blank(&R::group),
        "name of the process group"},
       {"full_mib", "Full msg size (MB)", Unit::kMiB, &R::mib, "the larger buffer, 2^20 bytes"},
       {"group_size", "Group size", Unit::kCount, kInt,
        [](const R& r) { return r.group_size > 0 ? Value(r.group_size) : Value(); },
        "members of the group"},
       {"count", Unit::kCount, &R::count,
        "number of collectives; for a single rank: number of kernels"},
       {"mean_us", "mean (us)", Unit::kUs, &R::mean_us,
        "mean over the collectives of the shortest duration of the members; for a single rank: "
        "mean kernel duration, including waits"},
       {"time_ms", "time ms", Unit::kMs, &R::total_ms, "sum of these durations"},
       {"percent", Unit::kPercent, &R::percent, "share of the time_ms of all rows"},
       {"skew_us", "skew (us)", Unit::kUs, &R::skew_us,
        "mean time from the first to the last start of the members"},
       {"bus_bw_gb_per_s", "bus bw (GB/s)", Unit::kGBps, &R::bus_gbps,
        "mean bus bandwidth; blank if members are missing"}}};
}

Schema<TopCommunication> communication_schema() {
  using R = TopCommunication;
  return {
      "top_communication",
      "communication by collective over all ranks, as in exposed_by_type; most exposed time first",
      {{"collective", "Collective name", Unit::kNone, &R::name, "kind of collective"},
       {"kernels", Unit::kCount, &R::kernels, "communication kernels of all ranks"},
       {"time_ms", "time ms", Unit::kMs, &R::ms,
        "sum of the durations over all ranks, including waits"},
       {"percent", Unit::kPercent, &R::percent, "share of the durations of all rows"},
       {"exposed_ms", "exposed (ms)", Unit::kMs, &R::exposed_ms,
        "communication that neither compute nor copies overlap"},
       {"exposed_percent", "exposed (%)", Unit::kPercent, &R::exposed_percent,
        "exposed share of the durations"},
       {"wait_ms", "waiting (ms)", Unit::kMs, &R::wait_ms,
        "time of waiting for members that started later, if known"}}};
}

Schema<TopRankRow> rank_schema_top_tables() {
  using R = TopRankRow;
  Schema<R> schema(
      "top_ranks", "one row per rank",
      {{"rank", &R::rank, "number of the rank"},
       {"trace", &R::path, "path of the trace of the rank"},
       {"total_ms", "total (ms)", Unit::kMs, &R::total_ms, "total_time in gpu_timeline"}});
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
                [ms = k.ms](const R& r) { return r.*ms; }, "time of this kind in gpu_timeline"});
    schema.add({std::string(k.id) + "_percent", std::string(k.label) + " (%)", Unit::kPercent,
                [percent = k.percent](const R& r) { return r.*percent; },
                "share of the total_time of the rank"});
  }
  schema.add(
      {"late_us", "late (us)", Unit::kUs, &R::late_us,
       "how much later than the others the rank starts its collectives, mean over the steps"});
  schema.add(
      {"slow", &R::slow,
       "whether the rank computes longer than the others by more than the noise of the steps"});
  schema.add({"is_late", "is late", Unit::kNone, &R::late,
              "whether the rank starts collectives later than the others by more than the noise of "
              "the steps"});
  return schema;
}

struct ShownNext {
  std::string command, why;
};

Schema<ShownNext> next_schema() {
  using R = ShownNext;
  return {"top_next",
          "commands for more detail",
          {{"command", &R::command, "command line, quoted for a shell"},
           {"why", &R::why, "purpose of the command"}}};
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
