#include "pages/top_page.h"

#include "analyses/top/top_words.h"
#include "base/display_text.h"
#include "base/sort.h"
#include "base/statistics.h"
#include "base/units.h"
#include "findings/compose.h"
#include "model/kernel_names.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

constexpr std::size_t kMostRanks = 16;
constexpr std::size_t kMostProblems = 8;
constexpr std::size_t kWidest = 200;

/// Formats a value in a few characters; "" for NaN.
std::string number(double value, int decimals) {
  return std::isnan(value) ? "" : with_decimals(value, decimals);
}

std::string percent(double value) {
  return std::isnan(value) ? "" : number(value, 1) + " %";
}

/// Returns "sum over 4 ranks" if there are several ranks, else "".
std::string over_ranks(const TopFacts& facts, const char* what) {
  return facts.overview.ranks > 1 ? fmt::format("{} over {} ranks", what, facts.overview.ranks)
                                  : std::string();
}

std::string note(std::initializer_list<std::string> parts) {
  std::string out;
  for (const std::string& part : parts)
    if (!part.empty())
      out += (out.empty() ? "" : "; ") + part;
  return out;
}

/// Returns "8 of 120"; "" if all are shown.
std::string cut_note(std::size_t shown, std::int64_t all) {
  return static_cast<std::int64_t>(shown) < all ? fmt::format("{} of {}", shown, all)
                                                : std::string();
}

void overview(const TopFacts& facts, ConsolePage& page) {
  const TopOverview& o = facts.overview;
  std::string what = counted(static_cast<std::size_t>(o.ranks), "rank", "ranks");
  if (!o.device.empty())
    what += " on " + o.device;
  if (const std::string steps = steps_of_ranks(o); !steps.empty())
    what += ", " + steps;
  what += fmt::format(", {} ms{}", number(o.total_ms, 3), o.ranks > 1 ? " (mean)" : "");
  if (!o.gpu.empty())
    what += ", rooflines of " + o.gpu;
  page.heading(o.title);
  page.sentence(what);
}

void problems(const TopFacts& facts, ConsolePage& page) {
  if (facts.problems.empty())
    return;
  page.heading("WARNINGS");
  std::size_t shown = 0;
  for (const Problem& p : facts.problems) {
    if (shown++ == kMostProblems)
      break;
    const bool lost = p.severity == Severity::kDataLoss;
    page.sentence(problem_text(p), p.severity == Severity::kInfo ? "  - " : "  ! ",
                  lost                               ? Ink::kBad
                  : p.severity == Severity::kWarning ? Ink::kWarn
                                                     : Ink::kFaint);
  }
  if (facts.problems.size() > kMostProblems)
    page.sentence(fmt::format("... {} more", facts.problems.size() - kMostProblems));
}

void timeline(const TopFacts& facts, ConsolePage& page) {
  page.heading("GPU TIME", over_ranks(facts, "mean"));
  const std::size_t wide = 2 * page.bar_width();
  std::vector<std::vector<PageCell>> rows;
  const auto add = [&](const char* name, TimeKind kind, Ink ink, bool bar) {
    rows.push_back({{name, Ink::kPlain},
                    {bar ? page.bar(facts.percent(kind), wide) : std::string(wide, ' '), ink},
                    {percent(facts.percent(kind)), Ink::kPlain},
                    {number(facts.ms(kind), 3), Ink::kPlain}});
  };
  add("computation", TimeKind::kComputation, Ink::kGood, true);
  add("exposed communication", TimeKind::kExposedComm, Ink::kWarn, true);
  add("exposed copies", TimeKind::kExposedMemcpy, Ink::kWarn, true);
  add("idle", TimeKind::kIdle, Ink::kBad, true);
  add("total", TimeKind::kTotal, Ink::kPlain, false);
  add("all communication", TimeKind::kTotalComm, Ink::kFaint, true);
  add("all copies", TimeKind::kTotalMemcpy, Ink::kFaint, true);
  page.table({{"", false, 0, 0}, {"", false, 0, 1}, {"share", true, 0, 0}, {"ms", true, 0, 0}},
             rows);
}

void idle(const TopFacts& facts, ConsolePage& page) {
  if (facts.idle.empty())
    return;
  page.heading("IDLE BY CAUSE", over_ranks(facts, "mean"));
  std::vector<std::vector<PageCell>> rows;
  for (const TopIdle& i : facts.idle)
    rows.push_back(
        {{percent(i.percent_of_idle), Ink::kPlain},
         {page.bar(i.percent_of_idle, page.bar_width() / 2), Ink::kBad},
         {number(i.ms, 3), Ink::kPlain},
         {number(i.gaps, facts.overview.ranks > 1 ? 1 : 0), Ink::kPlain},
         {std::string(idle_cause_name(i.cause)) + ": " + std::string(idle_cause_help(i.cause)),
          Ink::kPlain}});
  page.table({{"share", true, 0, 0},
              {"", false, 0, 1},
              {"ms", true, 0, 0},
              {"gaps", true, 0, 2},
              {"cause", false, 30, 0}},
             rows);
}

void kernels(const TopFacts& facts, ConsolePage& page) {
  if (facts.kernels.empty())
    return;
  const TopOverview& o = facts.overview;
  page.heading(
      "KERNELS",
      note({fmt::format("{} ms in {}", number(o.kernel_ms, 3),
                        counted(static_cast<std::size_t>(o.kernel_launches), "kernel", "kernels")),
            over_ranks(facts, "sums"), cut_note(facts.kernels.size(), o.kernels)}));
  std::vector<std::vector<PageCell>> rows;
  for (const TopKernel& k : facts.kernels)
    rows.push_back(
        {{percent(k.percent), Ink::kPlain},
         {page.bar(k.percent, page.bar_width() / 2), Ink::kGood},
         {number(ns_to_ms(k.sum.sum_ns), 3), Ink::kPlain},
         {std::to_string(k.sum.count), Ink::kPlain},
         {number(ns_to_us(k.sum.sum_ns) / static_cast<double>(k.sum.count), 1), Ink::kPlain},
         {number(ns_to_us(k.sum.max_ns), 1), Ink::kPlain},
         {page.shown(k.short_name), Ink::kPlain}});
  page.table({{"share", true, 0, 0},
              {"", false, 0, 1},
              {"ms", true, 0, 0},
              {"count", true, 0, 4},
              {"mean \u00b5s", true, 0, 3},
              {"max \u00b5s", true, 0, 2},
              {"kernel", false, 36, 0}},
             rows);
}

/// Returns the time by category: "GEMM 71.2 %, SDPA_bwd 12.0 %, ...".
std::string categories(const TopFacts& facts) {
  std::string out;
  std::size_t shown = 0;
  for (const TopCategory& c : facts.categories) {
    if (shown++ == 8 || (c.percent < 0.05 && shown > 1))
      break;
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", c.sum.category, percent(c.percent));
  }
  const TopOverview& o = facts.overview;
  if (const double unlinked = percent_of(o.work_ms - o.operator_ms, o.work_ms); unlinked >= 0.05)
    out += fmt::format("{}no launch in the trace {}", out.empty() ? "" : ", ", percent(unlinked));
  return out;
}

constexpr std::size_t kLeastShapes = 22; ///< width of the first shapes on a narrow page

/// Returns the first shapes that fit. Each shape is complete: no digit is cut.
std::string leading_shapes(const std::string& dims, std::size_t width) {
  const std::string all = short_shapes(dims);
  if (all.size() <= width)
    return all;
  const std::size_t end = all.rfind(' ', width - 2);
  return end == std::string::npos ? ".." : all.substr(0, end + 1) + "..";
}

/// Returns types as one word, which distinct_names() can add: "('c10::BFloat16', 'float')" is
/// "BFloat16xfloat".
std::string short_types(const std::string& types) {
  std::string out, word;
  for (const char c : types + '\'')
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += c;
    } else if (!word.empty()) {
      if (word != "c10")
        out += (out.empty() ? "" : "x") + word;
      word.clear();
    }
  return out;
}

struct OperatorText {
  std::string name, shapes;
};

/// Returns the names and shapes of operators. A row with a single kernel gets the kernel's short
/// name. If other rows have the same text, the shapes end with what differs in all shapes or types.
std::vector<OperatorText> operator_texts(const std::vector<TopOperator>& operators,
                                         std::size_t shapes_width) {
  std::vector<OperatorText> out;
  std::vector<std::string_view> kernels;
  std::vector<std::size_t> rows;
  std::vector<std::string> shown, full;
  for (const TopOperator& op : operators) {
    const OperatorTotal& sum = op.sum;
    out.push_back({sum.name, leading_shapes(sum.dims, shapes_width)});
    full.push_back(fmt::format("{} {} {} {} {}", sum.name, short_shapes(sum.dims),
                               short_types(sum.types), sum.category, sum.dims));
    if (const auto row = kernel_row_of(sum.name)) {
      rows.push_back(out.size() - 1);
      kernels.push_back(row->kernel);
      out.back().name = std::string(row->launch) + "->";
    }
  }
  const std::vector<std::string> short_names = distinct_names(kernels);
  for (std::size_t k = 0; k < rows.size(); ++k)
    out[rows[k]].name += short_names[k];
  for (const OperatorText& text : out)
    shown.push_back(text.name + (text.shapes.empty() ? "" : " " + text.shapes));
  shown = distinct_names(shown, {full.begin(), full.end()});
  for (std::size_t r = 0; r < out.size(); ++r)
    out[r].shapes = shown[r].substr(std::min(shown[r].size(), out[r].name.size() + 1));
  return out;
}

/// Returns whether an operator is faster than the GPU allows: above 100 % after rounding.
bool above_roofline(const TopOperator& op) {
  return op.percent_of_roofline >= 100.5;
}

void operators(const TopFacts& facts, ConsolePage& page) {
  if (facts.operators.empty())
    return;
  const TopOverview& o = facts.overview;
  page.heading("OPERATORS",
               note({fmt::format("{} ms without communication", number(o.work_ms, 3)),
                     over_ranks(facts, "sums"), cut_note(facts.operators.size(), o.operators)}));
  if (const std::string kinds = categories(facts); !kinds.empty())
    page.sentence(kinds, "  ", Ink::kFaint);
  const std::vector<OperatorText> texts =
      operator_texts(facts.operators, std::max(kLeastShapes, page.style().width / 4));
  std::vector<std::vector<PageCell>> rows;
  for (const TopOperator& op : facts.operators) {
    rows.push_back({{percent(op.percent), Ink::kPlain},
                    {number(ns_to_ms(op.sum.kernel_ns), 3), Ink::kPlain},
                    {std::to_string(op.sum.count), Ink::kPlain},
                    {number(op.tflops, 1), Ink::kPlain},
                    {number(op.tbps * 1e3, 0), Ink::kPlain},
                    {std::isnan(op.percent_of_roofline)
                         ? ""
                         : number(op.percent_of_roofline, 0) + (above_roofline(op) ? " % !" : " %"),
                     above_roofline(op) ? Ink::kWarn : Ink::kPlain},
                    {std::string(op.bound), Ink::kFaint},
                    {page.shown(texts[rows.size()].name), Ink::kPlain},
                    {page.shown(texts[rows.size()].shapes), Ink::kPlain}});
  }
  const bool rated = !o.gpu.empty();
  std::vector<PageColumn> columns{
      {"share", true, 0, 0},   {"ms", true, 0, 0},         {"count", true, 0, 2},
      {"TFLOP/s", true, 0, 4}, {"GB/s", true, 0, 3},       {"roofline", true, 0, 5},
      {"bound", false, 0, 1},  {"operator", false, 16, 0}, {"shapes", false, 0, 0}};
  if (!rated) {
    columns.erase(columns.begin() + 5, columns.begin() + 7);
    for (std::vector<PageCell>& row : rows)
      row.erase(row.begin() + 5, row.begin() + 7);
  }
  page.table(columns, rows);
  if (rated && std::any_of(facts.operators.begin(), facts.operators.end(), above_roofline))
    page.sentence("above 100 % of the roofline: the peaks of the GPU or the modelled work do not "
                  "fit this operator",
                  "  ! ", Ink::kWarn);
}

struct CollectiveText {
  std::string size, name;
};

/// Returns sizes and names. If other rows have the same size and name, the name ends with what
/// differs in the types, exact sizes or groups.
std::vector<CollectiveText> collective_texts(const std::vector<TopCollective>& collectives) {
  std::vector<CollectiveText> out;
  std::vector<std::string> rows, shown, full;
  for (const TopCollective& c : collectives) {
    const double bytes = c.mib / bytes_to_mib(1);
    out.push_back({std::isnan(bytes) ? "" : size_text(bytes), {}});
    rows.push_back(out.back().size + " ");
    shown.push_back(c.name);
    full.push_back(fmt::format("{}{} {} {:.0f}B {} {}", rows.back(), c.name, c.dtype, bytes,
                               c.group, c.group_size));
  }
  std::vector<std::string> names = distinct_cells(rows, shown, full);
  for (std::size_t r = 0; r < out.size(); ++r)
    out[r].name = std::move(names[r]);
  return out;
}

/// Shows the kinds of collectives with at least 1 % of the communication time.
void communication(const TopFacts& facts, ConsolePage& page) {
  std::vector<std::vector<PageCell>> rows;
  bool waits = false;
  for (const TopCommunication& c : facts.communication) {
    if (c.percent < 1)
      continue;
    waits = waits || !std::isnan(c.wait_ms);
    rows.push_back({{percent(c.percent), Ink::kPlain},
                    {number(c.ms, 3), Ink::kPlain},
                    {number(c.exposed_ms, 3), Ink::kPlain},
                    {percent(c.exposed_percent), Ink::kPlain},
                    {page.shown(c.name), Ink::kPlain},
                    {number(c.wait_ms, 3), Ink::kPlain}});
  }
  if (rows.empty())
    return;
  page.heading("COMMUNICATION", note({"kernel durations", over_ranks(facts, "sums")}));
  std::vector<PageColumn> columns{{"share", true, 0, 0},        {"ms", true, 0, 0},
                                  {"exposed ms", true, 0, 2},   {"exposed", true, 0, 0},
                                  {"collective", false, 18, 0}, {"waiting ms", true, 0, 1}};
  if (!waits) { // the last column
    columns.pop_back();
    for (std::vector<PageCell>& row : rows)
      row.pop_back();
  }
  page.table(columns, rows);
}

void collectives(const TopFacts& facts, ConsolePage& page) {
  if (facts.collectives.empty())
    return;
  const bool alone = facts.overview.ranks < 2;
  page.heading("COLLECTIVES",
               note({alone ? "durations on this rank, including waits for other ranks"
                           : "durations on the member that waited least",
                     cut_note(facts.collectives.size(), facts.overview.collectives)}));
  const std::vector<CollectiveText> texts = collective_texts(facts.collectives);
  std::vector<std::vector<PageCell>> rows;
  for (const TopCollective& c : facts.collectives)
    rows.push_back({{percent(c.percent), Ink::kPlain},
                    {number(c.total_ms, 3), Ink::kPlain},
                    {std::to_string(c.count), Ink::kPlain},
                    {number(c.mean_us, 1), Ink::kPlain},
                    {c.group_size > 0 ? std::to_string(c.group_size) : "", Ink::kPlain},
                    {texts[rows.size()].size, Ink::kPlain},
                    {page.shown(c.dtype), Ink::kPlain},
                    {page.shown(texts[rows.size()].name), Ink::kPlain},
                    {number(c.skew_us, 1), Ink::kPlain},
                    {number(c.bus_gbps, 1), Ink::kPlain}});
  std::vector<PageColumn> columns{{"share", true, 0, 0},        {"ms", true, 0, 0},
                                  {"count", true, 0, 4},        {"mean \u00b5s", true, 0, 5},
                                  {"ranks", true, 0, 2},        {"size", true, 0, 0},
                                  {"type", false, 0, 1},        {"collective", false, 18, 0},
                                  {"skew \u00b5s", true, 0, 3}, {"bus GB/s", true, 0, 7}};
  if (alone) { // not measurable with one rank
    columns.resize(columns.size() - 2);
    for (std::vector<PageCell>& row : rows)
      row.resize(row.size() - 2);
  }
  page.table(columns, rows);
  communication(facts, page);
}

/// Returns all ranks. If there are many, returns the marked ones, those with the highest and the
/// lowest times, and the first of the others.
std::vector<const TopRankRow*> shown_ranks(const TopFacts& facts) {
  std::vector<const TopRankRow*> out;
  for (const TopRankRow& row : facts.ranks)
    if (facts.ranks.size() <= kMostRanks || row.slow || row.late)
      out.push_back(&row);
  const auto add = [&out](const TopRankRow& row) {
    if (out.size() < kMostRanks && std::find(out.begin(), out.end(), &row) == out.end())
      out.push_back(&row);
  };
  if (facts.ranks.size() > kMostRanks) // some ranks with the highest and lowest values of each time
    for (const auto time : {&TopRankRow::late_us, &TopRankRow::compute_ms, &TopRankRow::total_ms}) {
      std::vector<const TopRankRow*> order;
      for (const TopRankRow& row : facts.ranks)
        if (std::isfinite(row.*time))
          order.push_back(&row);
      sort_stably(order, [time](const auto* a, const auto* b) { return a->*time > b->*time; });
      for (std::size_t i = 0; i < std::min(kMostRanks / 5, order.size()); ++i)
        add(*order[i]);
      if (!order.empty())
        add(*order.back());
    }
  for (const TopRankRow& row : facts.ranks)
    add(row);
  std::ranges::sort(out, {}, &TopRankRow::rank);
  return out;
}

/// Returns the spread of a time: "total ms of 512 ranks: 68.1 to 68.3, quartiles 68.1 68.2 68.2".
std::string spread_of(const TopFacts& facts, const char* what, double TopRankRow::*time,
                      int decimals) {
  std::vector<double> values;
  for (const TopRankRow& row : facts.ranks)
    if (std::isfinite(row.*time))
      values.push_back(row.*time);
  if (values.empty())
    return "";
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) { return number(quantile(values, q), decimals); };
  return fmt::format("{} of {} ranks: {} to {}, quartiles {} {} {}", what, values.size(), at(0),
                     at(1), at(0.25), at(0.5), at(0.75));
}

void ranks(const TopFacts& facts, ConsolePage& page) {
  if (facts.ranks.size() < 2)
    return;
  const std::vector<const TopRankRow*> list = shown_ranks(facts);
  page.heading("RANKS", cut_note(list.size(), static_cast<std::int64_t>(facts.ranks.size())));
  std::vector<std::vector<PageCell>> rows;
  for (const TopRankRow* r : list) {
    const Ink ink = r->slow || r->late ? Ink::kBad : Ink::kPlain;
    const char* const mark = r->slow && r->late ? "slow, late"
                             : r->slow          ? "slow"
                             : r->late          ? "late"
                                                : "";
    rows.push_back({{std::to_string(r->rank), ink},
                    {number(r->total_ms, 3), Ink::kPlain},
                    {number(r->compute_ms, 3), r->slow ? Ink::kBad : Ink::kPlain},
                    {page.bar(r->compute_percent, page.bar_width() / 2), Ink::kGood},
                    {percent(r->compute_percent), Ink::kPlain},
                    {percent(r->exposed_percent), Ink::kPlain},
                    {percent(r->memcpy_percent), Ink::kPlain},
                    {percent(r->idle_percent), Ink::kPlain},
                    {number(r->late_us, 1), r->late ? Ink::kBad : Ink::kPlain},
                    {mark, Ink::kBad}});
  }
  page.table({{"rank", true, 0, 0},
              {"total ms", true, 0, 5},
              {"compute ms", true, 0, 6},
              {"", false, 0, 1},
              {"compute", true, 0, 3},
              {"exposed", true, 0, 7},
              {"copies", true, 0, 2},
              {"idle", true, 0, 8},
              {"late \u00b5s", true, 0, 9},
              {"", false, 10, 0}},
             rows);
  if (list.size() < facts.ranks.size()) {
    page.sentence(spread_of(facts, "total ms", &TopRankRow::total_ms, 3));
    page.sentence(spread_of(facts, "compute ms", &TopRankRow::compute_ms, 3));
  }
}

void words(const TopFacts& facts, ConsolePage& page) {
  if (!facts.findings.empty()) {
    page.heading("FINDINGS");
    for (const Finding& f : facts.findings) {
      page.sentence(f.headline, "  - ");
      for (const std::string* text : {&f.evidence, &f.action})
        if (!text->empty())
          page.sentence(*text, "    ", Ink::kFaint);
    }
  }
  next_commands(facts.next, page);
}

} // namespace

void next_commands(const std::vector<TopNext>& next, ConsolePage& page) {
  if (next.empty())
    return;
  page.heading("NEXT");
  for (const TopNext& step : next) {
    std::vector<std::vector<std::string>> pieces;
    for (const std::string& word : step.command)
      pieces.push_back(shell_pieces(word));
    page.command(pieces);
    page.sentence(step.why, "      ", Ink::kFaint);
  }
}

std::string top_page(const TopFacts& facts, const PageStyle& style) {
  PageStyle used = style;
  used.width = std::min(style.width, kWidest);
  ConsolePage page(used);
  overview(facts, page);
  problems(facts, page);
  if (facts.ranks.empty())
    return page.text();
  timeline(facts, page);
  idle(facts, page);
  kernels(facts, page);
  operators(facts, page);
  collectives(facts, page);
  ranks(facts, page);
  words(facts, page);
  return page.text();
}

} // namespace rankscope
