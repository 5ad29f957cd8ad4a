#include "cli/synth_inject.h"

#include "base/to_number.h"
#include "synth/synth_noise.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

namespace rankscope {
namespace {

/// The keys of one cause; each key can be read once.
class InjectKeys {
public:
  static Result<InjectKeys> read(const std::string& text) {
    InjectKeys out(text);
    const std::size_t colon = text.find(':');
    out.cause_ = text.substr(0, colon);
    std::string_view rest =
        colon == std::string::npos ? std::string_view() : std::string_view(text).substr(colon + 1);
    while (!rest.empty()) {
      const std::string_view pair = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos || equals == 0)
        return out.bad(fmt::format("'{}' is not KEY=VALUE", pair));
      out.values_.emplace(pair.substr(0, equals), pair.substr(equals + 1));
    }
    return out;
  }

  [[nodiscard]] const std::string& cause() const { return cause_; }
  [[nodiscard]] Error bad(const std::string& what) const {
    return {ErrorCode::kUsage, "--inject", fmt::format("{}: {}", text_, what), injected_causes()};
  }

  Result<double> number(const char* key, std::optional<double> usual = std::nullopt) {
    const auto at = values_.find(key);
    if (at == values_.end())
      return usual ? Result<double>(*usual) : Result<double>(bad(fmt::format("needs {}=", key)));
    const std::string text = at->second;
    values_.erase(at);
    const auto value = to_number<double>(text);
    if (!value || !(*value >= 0))
      return bad(fmt::format("'{}' is not a number", text));
    return *value;
  }
  Result<std::int64_t> whole_number(const char* key, std::optional<double> usual = std::nullopt) {
    RS_TRY(const double value, number(key, usual));
    if (value > 1e6 || value != static_cast<double>(static_cast<std::int64_t>(value)))
      return bad(fmt::format("{}= is not a whole number up to 1000000", key));
    return static_cast<std::int64_t>(value);
  }
  /// Parses "A-B".
  Result<std::pair<std::int64_t, std::int64_t>> pair(const char* key) {
    const auto at = values_.find(key);
    const std::string text = at == values_.end() ? "" : at->second;
    const std::size_t dash = text.find('-');
    if (dash == std::string::npos)
      return bad(fmt::format("needs {}=A-B", key));
    values_[key] = text.substr(0, dash);
    RS_TRY(const std::int64_t a, whole_number(key));
    values_[key] = text.substr(dash + 1);
    RS_TRY(const std::int64_t b, whole_number(key));
    return std::pair(a, b);
  }
  /// Returns an Error if there is a key that this cause does not have.
  [[nodiscard]] Result<void> done() const {
    if (values_.empty())
      return {};
    return bad(fmt::format("'{}' is not a key of this cause", values_.begin()->first));
  }

private:
  explicit InjectKeys(std::string text) : text_(std::move(text)) {}

  std::string text_, cause_;
  std::map<std::string, std::string, std::less<>> values_;
};

Result<void> inject_straggler(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.straggler, keys.whole_number("rank"));
  RS_TRY(o.straggler_us, keys.number("us", o.straggler_us));
  return {};
}

Result<void> inject_link(InjectKeys& keys, synth::Options& o) {
  RS_TRY(const auto ranks, keys.pair("ranks"));
  RS_TRY(const double factor, keys.number("factor"));
  o.slow_links.push_back({ranks.first, ranks.second, factor});
  return {};
}

Result<void> inject_overlap(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.overlap_rank, keys.whole_number("rank", o.ranks > 2 ? 2 : 0));
  return {};
}

Result<void> inject_more(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.more_rank, keys.whole_number("rank", o.ranks - 1));
  return {};
}

Result<void> read_added_work(InjectKeys& keys, synth::Options& o, synth::AddedWork added) {
  synth::InjectedWork cause;
  cause.cause = added;
  const bool counted = added == synth::AddedWork::kItem;
  RS_TRY(cause.ms, keys.number(synth::is_in_mb(added) ? "mb" : "ms",
                               counted ? std::optional(0.0) : std::nullopt));
  RS_TRY(const double count, keys.number("count", counted ? std::nullopt : std::optional(1.0)));
  cause.count = static_cast<std::int64_t>(std::min(count, 1e6));
  RS_TRY(cause.rank, keys.whole_number("rank", -1));
  o.inject.work.push_back(cause);
  return {};
}
template <synth::AddedWork Added> Result<void> inject_work(InjectKeys& keys, synth::Options& o) {
  return read_added_work(keys, o, Added);
}

Result<void> inject_jitter(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.step_sd, keys.number("sd"));
  RS_TRY(const double balanced, keys.number("balanced", 0));
  o.step_balanced = balanced != 0;
  o.step_noise = synth::StepNoise::kIid;
  return {};
}

Result<void> inject_small_collectives(InjectKeys& keys, synth::Options& o) {
  RS_TRY(const double count, keys.number("count"));
  RS_TRY(const double kb, keys.number("kb", 40));
  o.inject.small_count = static_cast<std::int64_t>(std::min(count, 1e6));
  o.inject.small_bytes = static_cast<std::int64_t>(std::min(kb, 1e6) * 1e3) / 4 * 4;
  return {};
}

template <bool synth::Injected::*Flag> Result<void> inject_flag(InjectKeys&, synth::Options& o) {
  o.inject.*Flag = true;
  return {};
}

template <synth::ProductFormat Format>
Result<void> inject_products(InjectKeys&, synth::Options& o) {
  o.inject.products = Format;
  return {};
}

/// A key of a cause, and where its value goes.
struct InjectKey {
  const char* name;
  std::variant<std::int64_t synth::Options::*, double synth::Options::*,
               std::int64_t synth::Injected::*, double synth::Injected::*, bool synth::Injected::*>
      place;
  std::optional<double> usual = std::nullopt; ///< not set: the key is necessary
};

Result<void> inject_key(InjectKeys& keys, const InjectKey& key, synth::Options& o) {
  const auto read = [&]<class Value>(Value& to) -> Result<void> {
    if constexpr (std::is_same_v<Value, std::int64_t>) {
      RS_TRY(to, keys.whole_number(key.name, key.usual));
    } else {
      RS_TRY(const double value, keys.number(key.name, key.usual));
      to = static_cast<Value>(value);
    }
    return {};
  };
  return std::visit(
      [&](auto member) {
        if constexpr (std::is_invocable_v<decltype(member), synth::Options&>)
          return read(o.*member);
        else
          return read(o.inject.*member);
      },
      key.place);
}

struct InjectCause {
  const char* name;
  const char* text; ///< the keys in help
  std::vector<InjectKey> keys;
  Result<void> (*read)(InjectKeys&, synth::Options&) = nullptr; ///< reads the other keys
};

const std::vector<InjectCause>& inject_causes() {
  using O = synth::Options;
  using I = synth::Injected;
  static const std::vector<InjectCause> causes = {
      {"straggler", "rank=R,us=X", {}, inject_straggler},
      {"clocks", "rank=R,factor=F", {{"rank", &O::throttled}, {"factor", &O::throttle_factor}}},
      {"link", "ranks=A-B,factor=F", {}, inject_link},
      {"beside", "rank=R", {}, inject_overlap},
      {"more", "rank=R", {}, inject_more},
      {"data", "rank=R,factor=F", {{"rank", &I::data_rank}, {"factor", &I::data_factor, 1.25}}},
      {"loader", "ms=X,rank=R", {}, inject_work<synth::AddedWork::kLoader>},
      {"python", "ms=X,rank=R", {}, inject_work<synth::AddedWork::kPython>},
      {"alloc", "ms=X,count=N,rank=R", {}, inject_work<synth::AddedWork::kAllocator>},
      {"pin", "ms=X,count=N,rank=R", {}, inject_work<synth::AddedWork::kPinning>},
      {"item", "count=N,ms=X,rank=R", {}, inject_work<synth::AddedWork::kItem>},
      {"pageable", "mb=X,rank=R", {}, inject_work<synth::AddedWork::kPageable>},
      {"input", "mb=X,rank=R", {}, inject_work<synth::AddedWork::kInput>},
      {"pieces", "ms=X,count=N,rank=R", {}, inject_work<synth::AddedWork::kPieces>},
      {"cat", "mb=X,count=N,rank=R", {}, inject_work<synth::AddedWork::kConcat>},
      {"zero-grad", "mb=X,rank=R", {}, inject_work<synth::AddedWork::kZeroGrad>},
      {"checkpoint", "ms=X,count=N,rank=R", {}, inject_work<synth::AddedWork::kCheckpoint>},
      {"collect", "ms=X,rank=R", {}, inject_work<synth::AddedWork::kCollection>},
      {"compile", "ms=X,rank=R", {}, inject_work<synth::AddedWork::kCompilation>},
      {"side", "ms=X,count=N,rank=R", {}, inject_work<synth::AddedWork::kSideStream>},
      {"optimizer-loop", "tensors=N", {{"tensors", &I::optimizer_tensors}}},
      {"pointwise", "", {}, inject_flag<&I::pointwise>},
      {"scores", "", {}, inject_flag<&I::scores>},
      {"recompute", "", {}, inject_flag<&I::recompute>},
      {"vocabulary", "factor=F", {{"factor", &I::vocabulary_factor}}},
      {"tf32", "", {}, inject_products<synth::ProductFormat::kTf32>},
      {"fp32", "", {}, inject_products<synth::ProductFormat::kFp32>},
      {"convolution", "count=N,nchw=1", {{"count", &I::convolutions}, {"nchw", &I::nchw, 0}}},
      {"copies", "rank=R,factor=F", {{"rank", &I::copy_rank}, {"factor", &I::copy_factor}}},
      {"shape", "factor=F", {{"factor", &I::shape_factor}}},
      {"pause", "ms=X,period=N", {{"ms", &I::pause_ms}, {"period", &I::pause_period, 4}}},
      {"accumulate",
       "passes=N,all=0,update=1",
       {{"passes", &I::passes}, {"all", &I::reduce_all, 1}, {"update", &I::update_all, 0}}},
      {"exchange",
       "rank=R,factor=F",
       {{"rank", &I::exchange_rank}, {"factor", &I::exchange_factor}}},
      {"launch-blocking", "", {}, inject_flag<&I::launch_blocking>},
      {"profiler-start", "ms=X", {{"ms", &I::profiler_start_ms}}},
      {"contention", "factor=F", {{"factor", &O::contention}}},
      {"jitter", "sd=F,balanced=1", {}, inject_jitter},
      {"glitch", "ms=X", {{"ms", &I::glitch_ms}}},
      {"small-collectives", "count=N,kb=X", {}, inject_small_collectives},
      {"host", "rank=R,factor=F", {{"rank", &I::host_rank, -1}, {"factor", &I::host_factor}}},
      {"op", "rank=R,factor=F", {{"rank", &I::op_rank}, {"factor", &I::op_factor}}},
      {"place", "factor=F", {{"factor", &I::first_layer, 0.95}}},
      {"batch", "", {}, inject_flag<&I::batch>},
      {"tile", "", {}, inject_flag<&I::tile>}};
  return causes;
}

} // namespace

std::string injected_causes() {
  std::vector<std::string> out;
  for (const InjectCause& cause : inject_causes())
    out.push_back(*cause.text == '\0' ? std::string(cause.name)
                                      : fmt::format("{}:{}", cause.name, cause.text));
  return fmt::format("causes: {}", fmt::join(out, "; "));
}

Result<void> read_injected(const std::vector<std::string>& causes, synth::Options& options) {
  for (const std::string& text : causes) {
    RS_TRY(InjectKeys keys, InjectKeys::read(text));
    const InjectCause* found = nullptr;
    for (const InjectCause& cause : inject_causes())
      found = keys.cause() == cause.name ? &cause : found;
    if (found == nullptr)
      return keys.bad("unknown cause");
    for (const InjectKey& key : found->keys)
      RS_CHECK(inject_key(keys, key, options));
    if (found->read != nullptr)
      RS_CHECK(found->read(keys, options));
    RS_CHECK(keys.done());
  }
  return {};
}

Result<void> read_step_noise(const std::string& text, synth::Options& options) {
  const std::size_t colon = text.find(':');
  const auto kind = synth::step_noise_kind(std::string_view(text).substr(0, colon));
  if (!kind)
    return Error{ErrorCode::kUsage, "--step-noise",
                 fmt::format("'{}' is not a kind of noise", text),
                 "none, iid, common, ar1, ar1c, heavy, heavyc, outlier, bimodal, hetero, throttle "
                 "or runs; KIND:SD with a share of a step, as in iid:0.02"};
  options.step_noise = *kind;
  if (colon == std::string::npos)
    return {};
  const std::string sd = text.substr(colon + 1);
  const auto value = to_number<double>(sd);
  if (!value)
    return Error{ErrorCode::kUsage, "--step-noise", fmt::format("'{}' is not a number", sd),
                 "as in iid:0.02"};
  options.step_sd = *value;
  return {};
}

} // namespace rankscope
