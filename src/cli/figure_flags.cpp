#include "cli/figure_flags.h"

namespace rankscope {

void add_gemm_metric_flags(FlagSet& app, std::string& gpu_arch, std::size_t& top_k,
                           GemmRanking& rank_by, bool& legacy_layout) {
  app.add(options::top_k, top_k).capture_default_str();
  app.add(options::rank_by, rank_by);
  app.add(options::gpu_arch, gpu_arch);
  app.add(options::gemm_layout, legacy_layout);
}

void add_batch_names(FlagSet& app, BatchNames& names) {
  app.add_option("-p,--rank-pattern", names.pattern,
                 "regular expression for the text before the rank number in file names")
      .capture_default_str();
  app.add_option("-e,--extension", names.extension,
                 "file type of the traces: json or gz (.json.gz)")
      .capture_default_str();
  app.add_option("-f,--filter", names.filters,
                 "read only traces whose full path contains all of these texts")
      .capture_default_str();
}

CollectiveOptions CollectiveMetricFlags::chosen() const {
  CollectiveOptions out = options;
  out.align = align.value_or(out.compat_tracelens ? AlignMode::kNone : AlignMode::kCollectives);
  return out;
}

void add_collective_metric_flags(FlagSet& app, CollectiveMetricFlags& f) {
  app.add(options::align, f.align,
          "align clocks by: none, base (time base of each trace), collectives (end times of "
          "collectives) (default without --compat)");
  app.add(options::gpus_per_node, f.options.gpus_per_node).capture_default_str();
  app.add_option("--agg-metrics", f.options.agg_metrics,
                 "statistics to show: mean, median, min, max, std")
      .delimiter(',')
      .one_of({"mean", "median", "min", "max", "std"})
      .capture_default_str();
  app.add(options::compat_tracelens, f.options.compat_tracelens,
          "use the units and columns of another tool");
  app.add_flag("--all2allv-heatmap", f.options.all_to_all_v_heatmap,
               "add a table of the bytes that ranks send to each other in all-to-all-v");
}

} // namespace rankscope
