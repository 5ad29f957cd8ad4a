// Prints the kernels with the most GPU time: top_kernels TRACE [COUNT]
#include <rankscope/rankscope.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: top_kernels TRACE [COUNT]\n", stderr);
    return 2;
  }
  const auto trace = rankscope::v1::Trace::load(argv[1]);
  if (!trace) {
    std::fprintf(stderr, "%s\n", trace.error().message.c_str());
    return 3;
  }
  for (const auto& problem : trace->problems())
    std::fprintf(stderr, "note: %s\n", problem.message.c_str());

  rankscope::v1::ReportOptions options;
  options.sheets = {"kernel_summary"};
  const auto report = trace->report(options);
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().message.c_str());
    return 3;
  }
  if (report->empty()) {
    std::puts("no kernels");
    return 0;
  }
  const rankscope::v1::Table& kernels = report->front();
  const auto name = kernels.column("Kernel name");
  const auto sum = kernels.column("Kernel duration (\u00b5s)_sum");
  const auto count = kernels.column("Kernel duration (\u00b5s)_count");
  if (!name || !sum || !count)
    return 70;
  const std::size_t wanted = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 10;
  for (std::size_t row = 0; row < std::min(kernels.rows(), wanted); ++row)
    std::printf("%12.3f ms %8lld x  %.*s\n", kernels.number(row, *sum).value_or(0) / 1e3,
                static_cast<long long>(kernels.integer(row, *count).value_or(0)), 80,
                std::string(kernels.text(row, *name)).c_str());
  return 0;
}
