#include "pages/data/rank_details.h"

#include "model/kernel_names.h"

#include <cmath>
#include <numeric>

namespace rankscope {
namespace {

void add_gpu(PageBlob& page, const GpuArch& gpu) {
  JsonWriter& json = page.json;
  json.begin_object("board");
  json.text("name", gpu.name);
  json.number("gbps", gpu.mem_bw_gbps);
  json.begin_list("peaks");
  for (const auto& [spec, tflops] : gpu.tflops) {
    json.begin_object();
    json.text("spec", spec);
    json.number("tflops", tflops);
    json.end_object();
  }
  json.end_list();
  json.end_object();
}

/// NaN for operators without a roofline or without time.
double percent_of_roofline(const PageOperator& o) {
  return o.mean_us > 0 ? 100 * o.roofline_us / o.mean_us : std::nan("");
}

Schema<PageOperator> page_operator_schema() {
  using R = PageOperator;
  using enum CellKind;
  return {"operators",
          "operators that account for GPU work, as in unified_perf_summary",
          {{"name", "operator", Unit::kNone, &R::name,
            "operator; for kernels that none covers, what launched them and the kernel"},
           {"shapes", or_blank(&R::shapes), "recorded shapes of the inputs"},
           {"category", &R::category, "kind of work that the operator does"},
           {"calls", Unit::kCount, &R::count, "calls with these shapes and types"},
           {"kernel_ms", "kernel time (ms)", Unit::kMs,
            [](const R& r) { return r.kernel_ns / 1e6; }, "sum over the calls"},
           {"percent", "share (%)", Unit::kPercent, &R::percent, "of the kernel time of all rows"},
           {"min_us", "min (us)", Unit::kUs, &R::min_us, "kernel time of the shortest call"},
           {"median_us", "median (us)", Unit::kUs, &R::median_us, "kernel time of a call"},
           {"mean_us", "mean (us)", Unit::kUs, &R::mean_us, "kernel time of a call"},
           {"max_us", "max (us)", Unit::kUs, &R::max_us, "kernel time of the longest call"},
           {"tflops", "TFLOPS/s", Unit::kTflops, &R::tflops, "mean over the calls"},
           {"tbps", "TB/s", Unit::kTBps, &R::tbps, "mean over the calls"},
           {"roofline_percent", "of roofline (%)", Unit::kPercent,
            [](const R& r) { return percent_of_roofline(r); },
            "minimum time the GPU allows, over the mean time of a call"},
           {"bound", "bound", Unit::kNone, kText,
            [](const R& r) {
              return std::isnan(r.roofline_us) ? Value()
                                               : Value(r.compute_bound ? "compute" : "memory");
            },
            "its limit in the roofline model"},
           {"flops", "FLOP of a call", Unit::kNone, &R::flops, "by the operator's model"},
           {"bytes", "bytes of a call", Unit::kBytes, &R::bytes, "by the operator's model"},
           {"spec", "peak", Unit::kNone, or_blank(&R::spec),
            "the GPU's peak that its work is compared with"},
           {"types", or_blank(&R::types), "recorded types of the inputs"},
           {"one_kernel", "one kernel", Unit::kNone, &R::one_kernel, "a call is one kernel"}}};
}

void add_queue(PageBlob& page, const LaunchQueue& queue) {
  page.json.begin_object("queue");
  page.json.integer("width", queue.width_ns);
  page.reals("depth", queue.depth);
  page.integers("most", queue.most);
  page.json.begin_list("causes");
  std::vector<double> share(queue.idle_ns.size());
  for (std::size_t cause = 0; cause < kIdleCauses; ++cause) {
    for (std::size_t i = 0; i < share.size(); ++i)
      share[i] =
          100 * static_cast<double>(queue.idle_ns[i][cause]) / static_cast<double>(queue.width_ns);
    page.json.begin_object();
    page.json.text("cause", idle_cause_name(static_cast<IdleCause>(cause)));
    page.json.text("help", idle_cause_help(static_cast<IdleCause>(cause)));
    page.reals("percent", share);
    page.json.end_object();
  }
  page.json.end_list();
  page.json.end_object();
}

} // namespace

void add_details(PageBlob& page, const RankPage& rank) {
  if (rank.gpu)
    add_gpu(page, *rank.gpu);
  page.table("operators", page_operator_schema().table(rank.operators));
  const double total = std::accumulate(
      rank.kernels.begin(), rank.kernels.end(), 0.0,
      [](double sum, const KernelSpread& k) { return sum + static_cast<double>(k.sum_ns); });
  std::vector<std::string_view> full;
  for (const KernelSpread& kernel : rank.kernels)
    full.push_back(rank.texts.view(kernel.name));
  const std::vector<std::string> names = distinct_names(full);
  Schema<KernelSpread> kernels = kernel_spread_schema(rank.texts, total);
  kernels.add({"short_name", "short name", Unit::kNone, CellKind::kText,
               [&](const KernelSpread& k) {
                 return Value(names[static_cast<std::size_t>(&k - rank.kernels.data())]);
               },
               "name without return type and arguments, distinct in this table"});
  page.table("kernels", kernels.table(rank.kernels));
  add_queue(page, rank.queue);
}

Schema<KernelSpread> kernel_spread_schema(const StringPool& texts, double total_ns) {
  using R = KernelSpread;
  using enum CellKind;
  Schema<R> out{"kernels",
                "kernels, copies and fills by name, with the spread of their durations",
                {{"name", "kernel", Unit::kNone, kText,
                  [&texts](const R& r) { return Value(texts.view(r.name)); }, "its complete name"},
                 {"kind", "kind", Unit::kNone, kText,
                  [](const R& r) {
                    return Value(r.kind == LaneKind::kCompute ? "computation"
                                 : r.kind == LaneKind::kCopy  ? "copy"
                                                              : "communication");
                  },
                  "as gpu_timeline counts it"},
                 {"count", Unit::kCount, &R::count, "how often it ran"},
                 {"sum_ms", "sum (ms)", Unit::kMs, in_ms(&R::sum_ns), "sum of the durations"},
                 {"percent", "share of GPU events (%)", Unit::kPercent,
                  [total_ns](const R& r) { return percent_of(r.sum_ns, total_ns); },
                  "of the durations of all rows"}}};
  out.add({"min_us", "min (us)", Unit::kUs, in_us(&R::min_ns), "shortest"});
  out.add({"p25_us", "p25 (us)", Unit::kUs, in_us(&R::p25_ns), "a quarter of them are not longer"});
  out.add(
      {"median_us", "median (us)", Unit::kUs, in_us(&R::median_ns), "half of them are not longer"});
  out.add({"p75_us", "p75 (us)", Unit::kUs, in_us(&R::p75_ns),
           "three quarters of them are not longer"});
  out.add({"p95_us", "p95 (us)", Unit::kUs, in_us(&R::p95_ns), "95 of 100 are not longer"});
  out.add({"max_us", "max (us)", Unit::kUs, in_us(&R::max_ns), "longest"});
  return out;
}

} // namespace rankscope
