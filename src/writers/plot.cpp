#include "writers/plot.h"

#include "base/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <numeric>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace rankscope {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - static_cast<double>(low));
}

/// A gnuplot text: double quotes, with what would be markup or an escape taken out.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '`')
      out += '\'';
    else
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + "\"";
}

const char* colour(std::size_t i) {
  static const char* const kColours[] = {"#4477AA", "#EE6677", "#228833", "#CCBB44",
                                         "#66CCEE", "#AA3377", "#777777", "#000000"};
  return kColours[i % 8];
}

std::string data_block(const std::string& name, const std::string& rows) {
  return "$" + name + " << EOD\n" + rows + "EOD\n";
}

void boxes(const PlotPanel& panel, std::size_t id, std::string& data, std::string& plot) {
  std::string rows;
  std::string outliers;
  std::string tics;
  std::size_t x = 0;
  for (const PlotGroup& g : panel.groups) {
    if (g.values.empty())
      continue;
    ++x;
    const BoxStats b = box_stats(g.values);
    rows += fmt::format("{} {} {} {} {} {} {} {}\n", x, b.low, b.q1, b.median, b.q3, b.high, b.mean,
                        x - 1);
    for (const double v : b.outliers)
      outliers += fmt::format("{} {}\n", x, v);
    tics += fmt::format("{}{} {}", tics.empty() ? "" : ", ",
                        quoted(fmt::format("{} (n={})", g.label, g.values.size())), x);
  }
  data += data_block(fmt::format("box{}", id), rows);
  plot += fmt::format("set xrange [0.4:{}.6]\nset xtics ({}){}\nset boxwidth 0.5\n", x, tics,
                      x > 10 ? " rotate by -45" : "");
  std::string terms;
  for (std::size_t i = 0; i < x; ++i)
    terms += fmt::format("{}$box{} every ::{}::{} using 1:3:2:6:5 with candlesticks whiskerbars "
                         "0.5 lw 2 lc rgb '{}' "
                         "fs solid 0.45 border lc rgb '#333333' notitle",
                         i > 0 ? ", " : "", id, i, i, colour(i));
  terms += fmt::format(", $box{0} using 1:4:4:4:4 with candlesticks lc rgb '#000000' lw 4 title "
                       "'median', $box{0} using 1:7 with points pt 9 ps 4 lc rgb '#D00000' title "
                       "'mean'",
                       id);
  if (!outliers.empty()) {
    data += data_block(fmt::format("out{}", id), outliers);
    terms += fmt::format(", $out{} using 1:2 with points pt 6 ps 2.5 lc rgb '#555555' title "
                         "'outliers'",
                         id);
  }
  plot += "plot " + terms + "\n";
}

void violins(const PlotPanel& panel, std::size_t id, std::string& data, std::string& plot) {
  std::string tics;
  std::string terms;
  std::string marks;
  std::size_t x = 0;
  for (const PlotGroup& g : panel.groups) {
    if (g.values.empty())
      continue;
    ++x;
    const auto density = kernel_density(g.values);
    double peak = 0;
    for (const auto& [v, d] : density)
      peak = std::max(peak, d);
    std::string rows;
    for (const auto& [v, d] : density)
      rows += fmt::format("{} {} {}\n", v, static_cast<double>(x) - 0.4 * d / peak,
                          static_cast<double>(x) + 0.4 * d / peak);
    const BoxStats b = box_stats(g.values);
    const auto [lo, hi] = std::minmax_element(g.values.begin(), g.values.end());
    marks += fmt::format("{} {} {} {} {}\n", x, b.median, b.mean, *lo, *hi);
    if (!density.empty()) {
      // the outline as one closed curve: up the left side, down the right one
      std::string outline;
      for (const auto& [v, d] : density)
        outline += fmt::format("{} {}\n", static_cast<double>(x) - 0.4 * d / peak, v);
      for (auto it = density.rbegin(); it != density.rend(); ++it)
        outline +=
            fmt::format("{} {}\n", static_cast<double>(x) + 0.4 * it->second / peak, it->first);
      data += data_block(fmt::format("vio{}_{}", id, x), outline);
      terms += fmt::format("$vio{}_{} using 1:2 with filledcurves closed lc rgb '{}' fs solid 0.6 "
                           "border lc rgb '{}' notitle, ",
                           id, x, colour(id), colour(id));
    }
    tics += fmt::format("{}{} {}", tics.empty() ? "" : ", ",
                        quoted(fmt::format("{} (n={})", g.label, g.values.size())), x);
  }
  data += data_block(fmt::format("marks{}", id), marks);
  plot += fmt::format("set xrange [0.4:{}.6]\nset xtics ({}) rotate by -45\n", x, tics);
  plot += fmt::format("plot {0}$marks{1} using 1:4:(0):($5-$4) with vectors nohead lw 2 lc rgb "
                      "'#333333' notitle, $marks{1} using 1:2 with points pt 7 ps 4 lc rgb "
                      "'#000000' title 'median', $marks{1} using 1:3 with points pt 9 ps 4 lc rgb "
                      "'#D00000' title 'mean'\n",
                      terms, id);
}

void lines(const PlotPanel& panel, std::size_t id, std::string& data, std::string& plot) {
  std::string terms;
  double low = 1e300;
  double high = -1e300;
  for (std::size_t i = 0; i < panel.lines.size(); ++i) {
    std::string rows;
    for (const auto& [x, y] : panel.lines[i].points) {
      rows += fmt::format("{} {}\n", x, y);
      low = std::min(low, x);
      high = std::max(high, x);
    }
    data += data_block(fmt::format("line{}_{}", id, i), rows);
    terms += fmt::format("{}$line{}_{} using 1:2:xtic(1) with linespoints lw 4 pt {} ps 5 lc rgb "
                         "'{}' title {}",
                         i > 0 ? ", " : "", id, i, 5 + 2 * (i % 4), colour(i),
                         quoted(panel.lines[i].label));
  }
  const double margin = high > low ? (high - low) * 0.08 : 1;
  plot += fmt::format("set xrange [{}:{}]\nplot {}\n", low - margin, high + margin, terms);
}

Result<void> run_gnuplot(const std::string& script, const std::string& path) {
  int in[2];
  if (::pipe(in) != 0)
    return Error{ErrorCode::kOutput, path, std::strerror(errno), ""};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in[0], 0);
  posix_spawn_file_actions_addclose(&actions, in[1]);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1 /* O_WRONLY */, 0);
  char program[] = "gnuplot";
  char* const argv[] = {program, nullptr};
  pid_t pid = 0;
  const int spawned = ::posix_spawnp(&pid, program, &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  if (spawned != 0) {
    ::close(in[1]);
    return Error{ErrorCode::kMissingTool, path, "gnuplot is not installed",
                 "install gnuplot-nox to get plots"};
  }
  std::size_t at = 0;
  while (at < script.size()) {
    const ssize_t n = ::write(in[1], script.data() + at, script.size() - at);
    if (n <= 0 && errno != EINTR)
      break;
    at += n > 0 ? static_cast<std::size_t>(n) : 0;
  }
  ::close(in[1]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return Error{WIFEXITED(status) && WEXITSTATUS(status) == 127 ? ErrorCode::kMissingTool
                                                                 : ErrorCode::kOutput,
                 path, "gnuplot failed to draw the plot", ""};
  return {};
}

} // namespace

BoxStats box_stats(std::vector<double> values) {
  BoxStats b;
  if (values.empty())
    return b;
  std::sort(values.begin(), values.end());
  b.q1 = quantile(values, 0.25);
  b.median = quantile(values, 0.5);
  b.q3 = quantile(values, 0.75);
  b.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  const double reach = 1.5 * (b.q3 - b.q1);
  b.low = b.q1;
  b.high = b.q3;
  for (const double v : values) {
    if (v < b.q1 - reach || v > b.q3 + reach) {
      b.outliers.push_back(v);
      continue;
    }
    b.low = std::min(b.low, v);
    b.high = std::max(b.high, v);
  }
  return b;
}

std::vector<std::pair<double, double>> kernel_density(const std::vector<double>& values,
                                                      int count) {
  std::vector<std::pair<double, double>> out;
  if (values.size() < 2 || count < 2)
    return out;
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double v : values)
    squares += (v - mean) * (v - mean);
  const double bandwidth = std::sqrt(squares / (n - 1)) * std::pow(n, -0.2); // Scott
  if (!(bandwidth > 0))
    return out;
  const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
  for (int i = 0; i < count; ++i) {
    const double x = *lo + (*hi - *lo) * i / (count - 1);
    double sum = 0;
    for (const double v : values)
      sum += std::exp(-0.5 * (x - v) * (x - v) / bandwidth / bandwidth);
    out.emplace_back(x, sum / n / bandwidth / std::sqrt(2 * M_PI));
  }
  return out;
}

Result<void> write_plot(const PlotSpec& spec, const std::string& path) {
  const bool svg = path.size() > 4 && path.compare(path.size() - 4, 4, ".svg") == 0;
  RS_TRY(auto temp, TempName::reserve(path));
  std::string script =
      svg ? fmt::format("set terminal svg size {},{} font 'DejaVu Sans,14' background rgb 'white' "
                        "noenhanced\n",
                        spec.width_in * 90, spec.height_in * 90)
          : fmt::format("set terminal pngcairo size {},{} font 'DejaVu Sans,12' fontscale 3.2 "
                        "noenhanced\n",
                        spec.width_in * 300, spec.height_in * 300);
  script += "set output " + quoted(temp.temp_path()) + "\n";
  std::string data;
  std::string body;
  if (spec.panels.size() > 1)
    body +=
        fmt::format("set multiplot layout 1,{} title {}\n", spec.panels.size(), quoted(spec.title));
  for (std::size_t i = 0; i < spec.panels.size(); ++i) {
    const PlotPanel& p = spec.panels[i];
    body += "reset\nset grid ytics lc rgb '#DDDDDD'\nset border 3\nset tics nomirror\n"
            "set key outside top right horizontal\nset offsets 0,0,graph 0.05,graph 0.05\n";
    body += fmt::format("set title {}\nset xlabel {}\nset ylabel {}\n",
                        quoted(spec.panels.size() > 1 ? p.title : spec.title), quoted(p.x_label),
                        quoted(p.y_label));
    if (i + 1 < spec.panels.size()) // one key for all panels, beside the last
      body += "unset key\n";
    if (p.kind == PlotPanel::Kind::kBox)
      boxes(p, i, data, body);
    else if (p.kind == PlotPanel::Kind::kViolin)
      violins(p, i, data, body);
    else
      lines(p, i, data, body);
  }
  if (spec.panels.size() > 1)
    body += "unset multiplot\n";
  RS_CHECK(run_gnuplot(script + data + body + "unset output\n", path));
  return temp.commit();
}

} // namespace rankscope
