// The facts of `top` as tables. A column named like a column of another sheet has the same values.
#include "analyses/top/top_facts.h"
#include "base/units.h"

namespace rankscope {
namespace {

using enum CellKind;

Schema<TopOverview> overview_schema() {
  using R = TopOverview;
  return {"top_overview",
          "overview of the summarised trace or run; one row",
          {{"title", &R::title, "path of the trace, or folder of the run"},
           {"ranks", Unit::kCount, &R::ranks, "number of ranks that could be read"},
           {"steps", Unit::kCount, &R::steps,
            "number of profiler steps with GPU work on a rank, minimum over the ranks"},
           {"device", or_blank(&R::device), "name of the GPU, from the driver"},
           {"gpu", or_blank(&R::gpu), "GPU whose peaks the rooflines use"},
           {"total_ms", "total (ms)", Unit::kMs, &R::total_ms,
            "total_time in gpu_timeline, mean over the ranks"},
           {"kernel_launches", "kernel launches", Unit::kCount, &R::kernel_launches,
            "number of kernel executions on all ranks; a graph launch runs many"},
           {"kernel_ms", "kernel time (ms)", Unit::kMs, &R::kernel_ms,
            "sum of the kernel durations over all ranks, as in kernel_summary"},
           {"operator_ms", "operator time (ms)", Unit::kMs, &R::operator_ms,
            "sum of the kernel times in unified_perf_summary over all ranks"},
           {"work_ms", "GPU time without communication (ms)", Unit::kMs, &R::work_ms,
            "operator time, and the durations of kernels and copies whose launch is not in the "
            "trace, except communication, over all ranks"},
           {"no_operator_ms", "time without operator (ms)", Unit::kMs, &R::no_operator_ms,
            "part of the GPU time without communication that no operator launched"},
           {"kernels", Unit::kCount, &R::kernels,
            "number of different kernel names; top_kernels lists the kernels with the most time"},
           {"operators", Unit::kCount, &R::operators,
            "number of different operators (by name, shapes and types); top_operators lists the "
            "operators with the most time"},
           {"collectives", Unit::kCount, &R::collectives,
            "number of different collectives (by name, type, size and group); top_collectives "
            "lists the collectives with the most time"}}};
}

Schema<Problem> problem_schema_of_top() {
  using R = Problem;
  return {
      "top_missing",
      "data that are missing, were left out or are unusual, the worst problem first",
      {{"severity", "severity", Unit::kNone, kText,
        [](const R& r) { return Value(severity_name(r.severity)); },
        "severity of the problem: loss (the values are incomplete; exit code 4), warning or note"},
       {"where", or_blank(&R::where), "first file, or place in a file, with this problem"},
       {"text", &R::sentence, "description of the problem"},
       {"count", Unit::kCount, &R::count, "number of times that the problem occurred"}}};
}

Schema<TopTime> time_schema() {
  using R = TopTime;
  return {"top_timeline",
          "GPU time by kind, mean over the ranks",
          {{"type", [](const R& r) { return time_kind_name(r.kind); },
            "kind of GPU time, for example computation_time or idle_time"},
           {"time_ms", "time ms", Unit::kMs, &R::ms,
            "GPU time of this kind (time ms in gpu_timeline), mean over the ranks"},
           {"percent", Unit::kPercent, &R::percent, "share of total_time"}}};
}

Schema<TopIdle> idle_schema() {
  using R = TopIdle;
  return {
      "top_idle",
      "causes of idle GPU time; the times of the causes add up to idle_time",
      {{"cause", [](const R& r) { return idle_cause_name(r.cause); },
        "cause of the idle GPU time: host, synchronisation, launch, queued or unknown"},
       {"meaning", [](const R& r) { return idle_cause_help(r.cause); }, "meaning of the cause"},
       {"time_ms", "time ms", Unit::kMs, &R::ms, "idle time with this cause, mean over the ranks"},
       {"percent_of_idle", "percent of idle", Unit::kPercent, &R::percent_of_idle,
        "share of idle_time"},
       {"percent", Unit::kPercent, &R::percent, "share of total_time"},
       {"gaps", Unit::kCount, &R::gaps,
        "number of gaps on a rank, mean over the ranks; a gap counts for the cause that takes the "
        "most time in it"}}};
}

Schema<TopKernel> kernel_schema_top_tables() {
  using R = TopKernel;
  return {
      "top_kernels",
      "kernels by name over all ranks, most time first",
      {{"kernel", [](const R& r) { return std::string_view(r.sum.name); }, "name of the kernel"},
       {"short_name", "short name", Unit::kNone, &R::short_name,
        "name of the kernel without return type and arguments, distinct in this table"},
       {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.sum.sum_ns); },
        "sum of the durations of all launches of the kernel, over all operators, streams and "
        "ranks"},
       {"percent", Unit::kPercent, &R::percent, "share of the time of all kernels"},
       {"count", Unit::kCount, [](const R& r) { return r.sum.count; },
        "number of launches in the row"},
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
            "name of the operator; for kernels without an operator: names of the launching call "
            "and the kernel"},
           {"op_category", "op category", Unit::kNone,
            [](const R& r) { return std::string_view(r.sum.category); },
            "kind of work of the operator"},
           {"input_dims", "Input Dims", Unit::kNone,
            [](const R& r) { return text_or_blank(r.sum.dims); }, "recorded shapes of the inputs",
            ColumnStyle{.nested = true}},
           {"input_type", "Input type", Unit::kNone,
            [](const R& r) { return text_or_blank(r.sum.types); }, "recorded types of the inputs",
            ColumnStyle{.nested = true}},
           {"count", Unit::kCount, [](const R& r) { return r.sum.count; },
            "number of calls in the row"},
           {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.sum.kernel_ns); },
            "kernel time of the calls, as in unified_perf_summary"},
           {"percent", Unit::kPercent, &R::percent, "share of the GPU time without communication"},
           {"tflops_per_s", "TFLOPS/s", Unit::kTflops, &R::tflops,
            "floating-point operations of all calls, divided by their kernel time; blank if the "
            "operator has no cost model"},
           {"tb_per_s", "TB/s", Unit::kTBps, &R::tbps,
            "bytes of all calls, divided by their kernel time, in 10^12 bytes per second"},
           {"percent_of_roofline", "percent of roofline", Unit::kPercent, &R::percent_of_roofline,
            "minimum time that the GPU's peaks allow, in percent of the kernel time"},
           {"roofline_bound", "roofline bound", Unit::kNone, or_blank(&R::bound),
            "compute or memory: the peak of the GPU that limits the time of the operator"}}};
}

Schema<TopCategory> category_schema() {
  using R = TopCategory;
  return {
      "top_categories",
      "operators by category over all ranks, as in ops_summary_by_category",
      {{"op_category", "op category", Unit::kNone,
        [](const R& r) { return std::string_view(r.sum.category); }, "category of the operators"},
       {"count", Unit::kCount, [](const R& r) { return r.sum.count; },
        "number of operator calls that launched kernels"},
       {"time_ms", "time ms", Unit::kMs, [](const R& r) { return ns_to_ms(r.sum.direct_ns); },
        "time of the kernels that the operators launched themselves"},
       {"percent", Unit::kPercent, &R::percent,
        "share of the time of all rows and of the work whose launch is not in the trace"}}};
}

Schema<TopCollective> collective_schema() {
  using R = TopCollective;
  return {
      "top_collectives",
      "collectives by name, type, size and group; for several ranks: collectives that synchronise, "
      "as in nccl_summary_implicit_sync; for a single rank: all communication kernels",
      {{"collective", "Collective name", Unit::kNone, &R::name, "name of the collective"},
       {"dtype", or_blank(&R::dtype), "data type of the elements in the message"},
       {"group", "Process Group Name", Unit::kNone, or_blank(&R::group),
        "name of the process group"},
       {"full_mib", "Full msg size (MB)", Unit::kMiB, &R::mib,
        "message size, in units of 2^20 bytes: output of an all-gather, input of any other "
        "collective; for a single rank: the larger of input and output"},
       {"group_size", "Group size", Unit::kCount, kInt,
        [](const R& r) { return r.group_size > 0 ? Value(r.group_size) : Value(); },
        "number of ranks in the process group"},
       {"count", Unit::kCount, &R::count,
        "number of collectives; for a single rank: number of kernels"},
       {"mean_us", "mean (us)", Unit::kUs, &R::mean_us,
        "shortest kernel duration among the members, mean over the collectives; for a single rank: "
        "mean kernel duration, including waits"},
       {"time_ms", "time ms", Unit::kMs, &R::total_ms,
        "sum of the durations whose mean is in mean (us)"},
       {"percent", Unit::kPercent, &R::percent, "share of the time_ms of all rows"},
       {"skew_us", "skew (us)", Unit::kUs, &R::skew_us,
        "time from the first to the last start of a member, mean over the collectives"},
       {"bus_bw_gb_per_s", "bus bw (GB/s)", Unit::kGBps, &R::bus_gbps,
        "mean bus bandwidth; blank if members are missing"}}};
}

Schema<TopCommunication> communication_schema() {
  using R = TopCommunication;
  return {
      "top_communication",
      "communication time by kind of collective over all ranks (the kinds of exposed_by_type), "
      "most "
      "exposed time first",
      {{"collective", "Collective name", Unit::kNone, &R::name, "name of the collective"},
       {"kernels", Unit::kCount, &R::kernels, "number of communication kernels on all ranks"},
       {"time_ms", "time ms", Unit::kMs, &R::ms,
        "sum of the kernel durations over all ranks, including waits"},
       {"percent", Unit::kPercent, &R::percent, "share of the durations of all rows"},
       {"exposed_ms", "exposed (ms)", Unit::kMs, &R::exposed_ms,
        "communication time during which neither compute kernels nor copies ran on the same rank"},
       {"exposed_percent", "exposed (%)", Unit::kPercent, &R::exposed_percent,
        "exposed time in percent of the kernel durations"},
       {"wait_ms", "waiting (ms)", Unit::kMs, &R::wait_ms,
        "time that ranks waited for members that started later, if it is known"}}};
}

Schema<TopRankRow> rank_schema_top_tables() {
  using R = TopRankRow;
  Schema<R> schema("top_ranks", "one row per rank",
                   {{"rank", &R::rank, "number of the rank"},
                    {"trace", &R::path, "path of the trace of the rank"},
                    {"total_ms", "total (ms)", Unit::kMs, &R::total_ms,
                     "total_time of the rank in gpu_timeline"}});
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
                [ms = k.ms](const R& r) { return r.*ms; },
                std::string(k.id) + "_time of the rank in gpu_timeline"});
    schema.add({std::string(k.id) + "_percent", std::string(k.label) + " (%)", Unit::kPercent,
                [percent = k.percent](const R& r) { return r.*percent; },
                "share of the total_time of the rank"});
  }
  schema.add({"late_us", "late (us)", Unit::kUs, &R::late_us,
              "time by which the rank starts its collectives later than the median of the other "
              "ranks, trimmed mean over the steps"});
  schema.add({"slow", &R::slow,
              "whether the rank computes longer than the other ranks, by more than the variation "
              "between steps"});
  schema.add({"is_late", "is late", Unit::kNone, &R::late,
              "whether the rank starts collectives later than the other ranks, by more than the "
              "variation between steps"});
  return schema;
}

struct ShownNext {
  std::string command, why;
};

Schema<ShownNext> next_schema() {
  using R = ShownNext;
  return {"top_next",
          "suggested commands that show more detail",
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
