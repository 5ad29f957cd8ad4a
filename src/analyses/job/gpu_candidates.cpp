// Causes on the GPU: products in a slow format or with awkward extents, unfused attention, and
// copies from and to the host.
#include "analyses/job/cause_candidates.h"
#include "analyses/job/host_code.h"
#include "base/ascii.h"
#include "model/kernels.h"
#include "model/ops/op_model.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace rankscope {
namespace {

constexpr std::int64_t kAlignBytes = 16;
constexpr double kSlower = 0.95;  ///< fraction of the rate of an aligned product
constexpr double kLikeSize = 2;   ///< products within this factor are similar
constexpr double kSomeSize = 256; ///< products within this factor are comparable
constexpr std::int64_t kLeastExtent = 1024;

/// A product according to its operator's arguments.
struct Product {
  double flops = 0;
  bool aligned = true;               ///< every extent is a multiple of 16 bytes
  std::int64_t smallest = INT64_MAX; ///< smallest extent
  double extents_inverse = 0;        ///< sum of 1 / extent
  std::string spec;                  ///< type of the inputs, for example "matrix_bf16"
  std::string extents;               ///< for example "8192x1024x50257"
  bool matrix_units = true;          ///< false: fp32 products without matrix units

  /// Returns whether computing, not memory, bounds the product on every GPU: it does as many
  /// operations for each element as a product of three extents of kLeastExtent.
  [[nodiscard]] bool compute_bound() const { return extents_inverse * kLeastExtent <= 3; }
};

std::int64_t whole_number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Returns whether a kernel of an NVIDIA GPU computes fp32 products without matrix units, by its
/// name. False for all kernels of AMD GPUs: their matrix units compute fp32 (_MI32x32x1_ in a
/// name), and PyTorch does not use TF32 there by default.
bool without_matrix_units(std::string_view name) {
  for (const std::string_view part : {"simt", "sgemm", "ffma", "f32f32_f32f32_f32"})
    if (contains(name, part))
      return !contains(name, "tf32") && !contains(name, "s1688");
  return false;
}

/// Returns the product; nullopt if it is not a product with known extents.
std::optional<Product> product_of(const RankGraph& rank, const Activity& a) {
  if (a.kind != ActivityKind::kKernel || !is_gemm_kernel(rank.text(a.name)))
    return std::nullopt;
  const OpInfo* op = find_op(rank.text(a.op));
  if (op == nullptr || op->family != "GEMM")
    return std::nullopt;
  const ParsedArgs args(rank.text(a.shapes), rank.text(a.types), "", "");
  if (args.absurd())
    return std::nullopt;
  const std::optional<PerfResult> cost = evaluate(*op, args, {}, false);
  if (!cost || !(cost->flops > 0))
    return std::nullopt;
  Product out;
  out.flops = cost->flops;
  out.spec = cost->compute_spec;
  out.matrix_units = !without_matrix_units(rank.text(a.name));
  double bytes = kUnknown;
  for (std::size_t i = 0; i < args.count() && !(bytes > 0); ++i)
    bytes = type_bytes(args.type(i));
  for (const auto& [name, value] : cost->params)
    if (name == "M" || name == "N" || name == "K") {
      const std::int64_t extent = whole_number(value);
      out.smallest = std::min(out.smallest, extent);
      out.extents_inverse += 1 / static_cast<double>(extent);
      out.extents += (out.extents.empty() ? "" : "x") + value;
      if (bytes > 0 && std::fmod(static_cast<double>(extent) * bytes, kAlignBytes) != 0)
        out.aligned = false;
    }
  return out;
}

/// The scores of an attention: a tensor with an element for each head, query and key.
struct Scores {
  std::int64_t queries = 0, keys = 0;
  double elements = 0;
  auto operator<=>(const Scores&) const = default;
};
constexpr std::int64_t kFewestTokens = 512; ///< least number of queries and of keys

std::optional<Scores> scores_of(const Shape& shape) {
  if (shape.size() < 3)
    return std::nullopt;
  return Scores{shape[shape.size() - 2], shape.back(), elements(shape)};
}

class GpuCandidates {
public:
  GpuCandidates(const CauseInput& in, std::uint32_t rank, std::span<const NodeId> nodes)
      : in_(in), run_(in.run), rank_(in.run.ranks[rank]), nodes_(nodes) {}

  std::vector<CauseCandidate> run() {
    product_of_.resize(rank_.activities.size());
    std::vector<bool> known(product_of_.size());
    for (const NodeId n : nodes_) {
      const Activity& a = run_.activity(n);
      if (a.kind == ActivityKind::kCopy &&
          host_code_around(rank_.text(a.context)) != HostCode::kCheckpoint)
        copies_.push_back(n);
      const std::uint32_t row = run_.node(n).activity;
      if (!known[row])
        product_of_[row] = product_of(rank_, a);
      known[row] = true;
      if (product_of_[row] && run_.graph.dur_ns(n) > 0)
        products_.push_back({n, &*product_of_[row]});
    }
    add_slow_format();
    add_misaligned();
    add_slow_shapes();
    add_attention();
    add_pageable();
    add_exposed_copies();
    return std::move(out_);
  }

private:
  struct Timed {
    NodeId node = kNoNode;
    const Product* product = nullptr;
  };
  [[nodiscard]] double tflops(const Timed& t) const {
    return t.product->flops / alone_ns(t.node) / 1e3;
  }
  /// Returns the duration without contention. Collectives slow the products that they overlap, and
  /// some products are always overlapped.
  [[nodiscard]] double alone_ns(NodeId n) const {
    return static_cast<double>(
        std::max<std::int64_t>(1, run_.graph.dur_ns(n) - in_.contention_ns(n)));
  }
  /// Adds a product that takes `ns` without the cause and without contention.
  void add_product(CauseCandidate& c, NodeId n, double ns) const {
    c.add(n, static_cast<std::int64_t>(ns) + in_.contention_ns(n));
  }

  /// Returns the peak in TFLOPS; 0: unknown.
  [[nodiscard]] double peak(std::string_view spec) const {
    const auto found = in_.arch->tflops.find(spec);
    return found == in_.arch->tflops.end() ? 0.0 : found->second;
  }

  void add_slow_format() {
    if (!in_.arch)
      return;
    const double fp32 = peak("vector_fp32");
    const double tf32 = peak("matrix_bf16") / 2; // half the rate of bf16
    if (fp32 <= 0 || tf32 <= fp32)
      return;
    CauseCandidate c;
    c.cause.rule = CauseRule::kSlowFormat;
    c.cause.kind = GainKind::kAtMost;
    std::map<std::string, double> by_operator;
    double flops = 0, ns = 0;
    for (const Timed& t : products_) {
      if (t.product->matrix_units)
        continue;
      const double dur = alone_ns(t.node);
      add_product(c, t.node, dur * fp32 / tf32);
      by_operator[std::string(run_.text(t.node, run_.activity(t.node).op))] += dur;
      flops += t.product->flops;
      ns += dur;
    }
    if (c.nodes.empty())
      return;
    c.cause.what = std::max_element(by_operator.begin(), by_operator.end(), [](auto& a, auto& b) {
                     return a.second < b.second;
                   })->first;
    c.cause.rate = flops / ns / 1e3;
    c.cause.rate_to = c.cause.rate * tf32 / fp32;
    out_.push_back(std::move(c));
  }

  /// Returns the rate of aligned products of the same format: the rate nearest in size within
  /// kLikeSize, else the median of the rates within kSomeSize. 0: there are no such products. The
  /// bool is true for the nearest rate.
  [[nodiscard]] std::pair<double, bool> aligned_rate(const Product& p) const {
    std::vector<double> rates;
    double nearest = 0, distance = std::log(kLikeSize);
    for (const Timed& t : products_) {
      if (!t.product->aligned || !t.product->compute_bound() || t.product->spec != p.spec)
        continue;
      const double away = std::abs(std::log(t.product->flops / p.flops));
      if (away <= distance) {
        distance = away;
        nearest = tflops(t);
      }
      if (away <= std::log(kSomeSize))
        rates.push_back(tflops(t));
    }
    if (nearest > 0)
      return {nearest, true};
    return {rates.empty() ? 0 : quantile_of(std::move(rates), 0.5), false};
  }

  /// Adds products with awkward extents that are slower than aligned ones. Extents do not change
  /// the time of a product that memory bounds.
  void add_misaligned() {
    struct Awkward {
      CauseCandidate c;
      double flops = 0, ns = 0, aligned_ns = 0;
    };
    std::array<Awkward, 2> found; // without and with an aligned product of similar size
    std::map<const Product*, std::pair<double, bool>> rates;
    for (const Timed& t : products_) {
      if (t.product->aligned || !t.product->compute_bound())
        continue;
      auto rate = rates.find(t.product);
      if (rate == rates.end())
        rate = rates.emplace(t.product, aligned_rate(*t.product)).first;
      const auto [to, alike] = rate->second;
      if (to <= 0 || tflops(t) > kSlower * to)
        continue;
      Awkward& awkward = found[alike ? 1 : 0];
      const double aligned_ns = t.product->flops / to / 1e3;
      add_product(awkward.c, t.node, aligned_ns);
      if (awkward.c.cause.what.empty())
        awkward.c.cause.what = t.product->extents;
      awkward.flops += t.product->flops;
      awkward.ns += alone_ns(t.node);
      awkward.aligned_ns += aligned_ns;
    }
    found[0].c.cause.kind = GainKind::kAtMost;
    found[0].c.cause.confidence = Confidence::kHint;
    for (Awkward& awkward : found) {
      if (awkward.c.nodes.empty())
        continue;
      awkward.c.cause.rule = CauseRule::kMisaligned;
      awkward.c.cause.rate = awkward.flops / awkward.ns / 1e3;
      awkward.c.cause.rate_to = awkward.flops / awkward.aligned_ns / 1e3;
      out_.push_back(std::move(awkward.c));
    }
  }

  /// Adds products that are far slower than products of other extents and similar size. Only
  /// extents for which every GPU is bound by computing, not by memory, are compared. Each shape is
  /// compared at its upper quartile, because collectives slow some calls, and their contention is
  /// not always known.
  void add_slow_shapes() {
    constexpr double kSameClass = 4, kDeviations = 3, kLeastBelow = 0.2, kUpper = 0.75;
    constexpr std::size_t kFewestOthers = 3;
    struct ShapeRates {
      const Product* product = nullptr;
      std::vector<Timed> timed;
      double usual = 0;
    };
    std::map<std::string, ShapeRates> shapes; // by operator and extents
    for (const Timed& t : products_) {
      const Activity& a = run_.activity(t.node);
      if (t.product->smallest < kLeastExtent || !t.product->aligned || !t.product->matrix_units)
        continue;
      ShapeRates& shape = shapes[fmt::format("{} {}", run_.text(t.node, a.op), t.product->extents)];
      shape.product = t.product;
      shape.timed.push_back(t);
    }
    for (auto& [name, shape] : shapes) {
      std::vector<double> rates;
      for (const Timed& t : shape.timed)
        rates.push_back(tflops(t));
      shape.usual = quantile_of(std::move(rates), kUpper);
    }
    for (auto& [name, shape] : shapes) {
      std::vector<double> others;
      for (const auto& [other_name, other] : shapes)
        if (&other != &shape && other.product->spec == shape.product->spec &&
            std::abs(std::log(other.product->flops / shape.product->flops)) <= std::log(kSameClass))
          others.push_back(other.usual);
      if (others.size() < kFewestOthers)
        continue;
      const RobustSpread spread = robust_spread(others);
      if (shape.usual > (1 - kLeastBelow) * spread.median ||
          shape.usual > spread.median - kDeviations * spread.deviation)
        continue;
      CauseCandidate& c = out_.emplace_back();
      c.cause.rule = CauseRule::kSlowGemm;
      c.cause.kind = GainKind::kAtMost;
      c.cause.confidence = Confidence::kLikely;
      c.cause.what = name;
      c.cause.rate = shape.usual;
      c.cause.rate_to = spread.median;
      c.cause.others = others.size();
      for (const Timed& t : shape.timed)
        add_product(c, t.node, alone_ns(t.node) * shape.usual / spread.median);
    }
  }

  /// Adds attention that runs as a product, a softmax and a product. The cost is all work on the
  /// scores; without the cause, the products run at the peak.
  void add_attention() {
    if (!in_.arch)
      return;
    std::set<Scores> scores;
    for (const Activity& a : rank_.activities)
      if (const std::string_view op = rank_.text(a.op);
          op == "aten::_softmax" || op == "aten::_safe_softmax")
        for (const std::optional<Scores>& s : scores_in(a))
          if (s && s->queries >= kFewestTokens && s->keys >= kFewestTokens)
            scores.insert(*s);
    if (scores.empty())
      return;
    enum class Part : std::uint8_t { kNone, kOther, kMakes, kReads };
    std::vector<Part> parts;
    for (const Activity& a : rank_.activities) {
      parts.push_back(Part::kNone);
      if (!on_gpu(a.kind) || a.op == kEmptyStr)
        continue;
      const bool reads = std::ranges::any_of(scores_in(a), [&](const std::optional<Scores>& s) {
        return s && (scores.contains(*s) || scores.contains({s->keys, s->queries, s->elements}));
      });
      const std::optional<Scores> made = product_of_batch(a);
      if (made && scores.contains(*made))
        parts.back() = Part::kMakes;
      else if (reads)
        parts.back() = made ? Part::kReads : Part::kOther;
    }
    CauseCandidate c;
    c.cause.rule = CauseRule::kUnfusedAttention;
    c.cause.kind = GainKind::kAtMost;
    bool makes = false, reads = false;
    for (const NodeId n : nodes_) {
      const std::uint32_t row = run_.node(n).activity;
      const Part part = parts[row];
      if (part == Part::kNone)
        continue;
      double ns = 0;
      if (const std::optional<Product>& product = product_of_[row]) {
        const double most = peak(product->spec);
        if (most <= 0)
          return;
        ns = product->flops / most / 1e3;
      }
      makes = makes || part == Part::kMakes;
      reads = reads || part == Part::kReads;
      c.add(n, static_cast<std::int64_t>(ns));
    }
    if (!makes || !reads)
      return;
    const Scores& largest = *std::ranges::max_element(scores, {}, &Scores::elements);
    c.cause.what = fmt::format("{:.0f}x{}x{}",
                               largest.elements / static_cast<double>(largest.queries) /
                                   static_cast<double>(largest.keys),
                               largest.queries, largest.keys);
    out_.push_back(std::move(c));
  }
  [[nodiscard]] std::vector<std::optional<Scores>> scores_in(const Activity& a) const {
    std::vector<std::optional<Scores>> out;
    const ParsedArgs args(rank_.text(a.shapes), rank_.text(a.types), "", "");
    if (!args.absurd())
      for (std::size_t i = 0; i < args.count(); ++i)
        out.push_back(scores_of(args.dims(i)));
    return out;
  }
  /// Returns the result of a batched product; nullopt if the activity is not one.
  [[nodiscard]] std::optional<Scores> product_of_batch(const Activity& a) const {
    const std::string_view op = rank_.text(a.op);
    if (op != "aten::bmm" && op != "aten::baddbmm")
      return std::nullopt;
    const std::size_t first = op == "aten::bmm" ? 0 : 1;
    const ParsedArgs args(rank_.text(a.shapes), rank_.text(a.types), "", "");
    const Shape left = args.dims(first), right = args.dims(first + 1);
    if (args.absurd() || left.size() != 3 || right.size() != 3)
      return std::nullopt;
    return Scores{left[1], right[2], elements({left[0], left[1], right[2]})};
  }

  [[nodiscard]] bool pageable(NodeId n) const {
    return contains(run_.text(n, run_.activity(n).name), "Pageable");
  }
  [[nodiscard]] double gbps(NodeId n) const {
    return static_cast<double>(run_.activity(n).bytes) / static_cast<double>(run_.graph.dur_ns(n));
  }

  void add_pageable() {
    CauseCandidate c;
    c.cause.rule = CauseRule::kPageableCopy;
    std::vector<double> pinned, rates;
    for (const NodeId n : copies_) {
      if (run_.activity(n).bytes < kSmallCopyBytes || run_.graph.dur_ns(n) <= 0)
        continue;
      const std::string_view name = run_.text(n, run_.activity(n).name);
      if (pageable(n)) {
        c.nodes.push_back(n);
        rates.push_back(gbps(n));
        c.cause.what = name;
      } else if (contains(name, "Pinned")) {
        pinned.push_back(gbps(n));
      }
    }
    if (c.nodes.empty())
      return;
    c.cause.rate = quantile_of(std::move(rates), 0.5);
    // without a pinned copy to compare with: assume that other work hides them
    c.cause.kind = pinned.empty() ? GainKind::kAtMost : GainKind::kEstimate;
    c.cause.rate_to = pinned.empty() ? 0 : quantile_of(std::move(pinned), 0.5);
    for (const NodeId n : c.nodes) {
      const auto bytes = static_cast<double>(run_.activity(n).bytes);
      c.durations.emplace_back(
          n, c.cause.rate_to > 0 ? static_cast<std::int64_t>(bytes / c.cause.rate_to) : 0);
    }
    add_blocked_calls(c);
    out_.push_back(std::move(c));
  }

  /// Adds copies from and to the host, except of pageable memory, as if kernels overlapped them.
  /// There is one candidate for each direction. Traces of AMD GPUs do not record whether the memory
  /// is pinned.
  void add_exposed_copies() {
    std::map<std::string_view, CauseCandidate> by_name;
    for (const NodeId n : copies_) {
      const std::string_view name = run_.text(n, run_.activity(n).name);
      if (run_.activity(n).bytes < kSmallCopyBytes || pageable(n) || !copies_host_memory(name))
        continue;
      CauseCandidate& c = by_name[name];
      c.add(n, 0);
    }
    for (auto& [name, c] : by_name) {
      c.cause.rule = CauseRule::kExposedCopy;
      c.cause.kind = GainKind::kAtMost;
      c.cause.what = name;
      add_blocked_calls(c);
      out_.push_back(std::move(c));
    }
  }

  /// Adds the calls that return when such a copy has ended.
  void add_blocked_calls(CauseCandidate& c) const {
    const std::vector<NodeId> copies = c.nodes; // ascending
    for (const NodeId n : nodes_)
      for (const Wait& wait : run_.graph.waits(n))
        if (wait.kind() == WaitKind::kBlocking &&
            std::binary_search(copies.begin(), copies.end(), wait.from)) {
          c.unblocked.push_back(n);
          c.nodes.push_back(n);
        }
  }

  const CauseInput& in_;
  const JobRun& run_;
  const RankGraph& rank_;
  std::span<const NodeId> nodes_;
  std::vector<NodeId> copies_;
  std::vector<std::optional<Product>> product_of_; ///< by activity
  std::vector<Timed> products_;
  std::vector<CauseCandidate> out_;
};

} // namespace

std::vector<CauseCandidate> gpu_candidates(const CauseInput& in, std::uint32_t rank,
                                           std::span<const NodeId> nodes) {
  return GpuCandidates(in, rank, nodes).run();
}

} // namespace rankscope
