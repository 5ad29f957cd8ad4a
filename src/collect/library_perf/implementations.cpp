#include "collect/library_perf/implementations.h"

#include "base/csv.h"
#include "base/statistics.h"
#include "collect/gemm/gemm_problem.h"
#include "os/output_file.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Measures one product with any implementation.
class ProductMeasurement {
public:
  ProductMeasurement(const PerfRow& row, const GemmProblem& problem,
                     const LibraryPerfOptions& options)
      : row_(row), problem_(problem), options_(options) {}

  /// Returns a measurement; empty if the list of algorithms ends before `algorithm`.
  std::optional<ImplementationRow> measure(GemmFamily family, std::int64_t algorithm) const {
    GemmProblem problem = problem_;
    problem.family = family;
    problem.solution = algorithm;
    const GemmOutcome outcome = measure_gemm(problem, native_options(options_));
    if (algorithm > 0 && outcome.status == "unsupported")
      return std::nullopt;
    ImplementationRow out;
    out.library = row_.library;
    out.config = row_.config;
    out.calls = row_.calls;
    out.called = family == problem_.family && algorithm == problem_.solution;
    out.implementation = !outcome.backend.empty()      ? outcome.backend
                         : family == GemmFamily::kBlas ? "BLAS library"
                                                       : "light library";
    if (algorithm > 0)
      out.implementation += fmt::format(" algorithm {}", algorithm + 1);
    out.status = outcome.status;
    out.detail = outcome.detail;
    if (outcome.status != "ok")
      return out;
    const SampleStats stats = sample_stats(outcome.times_us);
    out.time_us = stats.mean;
    if (outcome.times_us.size() > 1)
      out.time_us_stddev = std::sqrt(stats.variance);
    out.gflops = problem.flops() / (stats.mean * 1e3);
    return out;
  }

private:
  const PerfRow& row_;
  const GemmProblem& problem_;
  const LibraryPerfOptions& options_;
};

} // namespace

bool ImplementationRow::is_faster_than(const ImplementationRow& other, unsigned repeats) const {
  if (!time_us || !other.time_us)
    return false;
  const double difference = *other.time_us - *time_us;
  const double a = time_us_stddev.value_or(0);
  const double b = other.time_us_stddev.value_or(0);
  const double error = std::sqrt((a * a + b * b) / std::max(repeats, 1U));
  return difference > kSameTime * (*time_us + *other.time_us) / 2 && difference > 2 * error;
}

std::vector<ImplementationRow>
measure_implementations(const std::vector<PerfRow>& rows, const LibraryPerfOptions& options,
                        unsigned algorithms,
                        const std::function<void(const ImplementationRow&)>& progress) {
  std::vector<ImplementationRow> out;
  for (const PerfRow& row : rows) {
    const TracedGemm gemm = gemm_of_trace(row.library, row.config);
    if (!gemm.problem)
      continue;
    const ProductMeasurement product(row, *gemm.problem, options);
    const auto add = [&](GemmFamily family, std::int64_t algorithm) {
      if (options.cancel.cancelled())
        return false;
      const std::optional<ImplementationRow> measured = product.measure(family, algorithm);
      if (measured) {
        out.push_back(*measured);
        progress(*measured);
      }
      return measured.has_value();
    };
    const GemmFamily called = gemm.problem->family;
    const GemmFamily other = called == GemmFamily::kBlas ? GemmFamily::kLight : GemmFamily::kBlas;
    bool light_works = false;
    for (const GemmFamily family : {called, other})
      if (add(family, 0) && family == GemmFamily::kLight)
        light_works = out.back().time_us.has_value();
    for (std::int64_t algorithm = 1; light_works && algorithm < algorithms; ++algorithm)
      light_works = add(GemmFamily::kLight, algorithm);
  }
  return out;
}

Result<ImplementationSummary> write_implementations(const std::string& path,
                                                    const std::vector<ImplementationRow>& rows,
                                                    unsigned repeats) {
  RS_TRY(OutputFile file, OutputFile::create(path));
  file.write("library,config,calls,implementation,called,time_us,time_us_stddev,gflops,ratio,"
             "faster,status,detail\n");
  ImplementationSummary sum;
  for (std::size_t begin = 0; begin < rows.size();) {
    const ImplementationRow& called = rows[begin]; // the first row of its product
    std::size_t end = begin + 1;
    while (end < rows.size() && !rows[end].called)
      ++end;
    const ImplementationRow* best = &called;
    for (std::size_t i = begin; i < end; ++i) {
      const ImplementationRow& r = rows[i];
      const bool faster = r.is_faster_than(called, repeats);
      if (faster && *r.time_us < *best->time_us)
        best = &r;
      const auto ratio =
          r.time_us && called.time_us ? std::optional(*r.time_us / *called.time_us) : std::nullopt;
      file.write(csv_line(r.library, r.config, r.calls, r.implementation, r.called ? "yes" : "",
                          r.time_us, r.time_us_stddev, r.gflops, ratio, faster ? "yes" : "",
                          r.status, r.detail));
    }
    if (called.time_us) {
      const auto calls = static_cast<double>(called.calls);
      ++sum.products;
      sum.faster += best == &called ? 0 : 1;
      sum.called_us += *called.time_us * calls;
      sum.best_us += *best->time_us * calls;
    }
    begin = end;
  }
  RS_CHECK(file.commit());
  return sum;
}

} // namespace rankscope
