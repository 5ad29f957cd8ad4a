#include "cli/synth_inject.h"

#include "base/to_number.h"
#include "synth/synth_noise.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <string_view>

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
  Result<std::int64_t> whole_number(const char* key,
                                    std::optional<std::int64_t> usual = std::nullopt) {
    RS_TRY(const double value,
           number(key, usual ? std::optional(static_cast<double>(*usual)) : std::nullopt));
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

Result<void> inject_clocks(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.throttled, keys.whole_number("rank"));
  RS_TRY(o.throttle_factor, keys.number("factor"));
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

Result<void> inject_data(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.data_rank, keys.whole_number("rank"));
  RS_TRY(o.inject.data_factor, keys.number("factor", 1.25));
  return {};
}

Result<void> inject_place(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.first_layer, keys.number("factor", 0.95));
  return {};
}

Result<void> read_added_work(InjectKeys& keys, synth::Options& o, synth::AddedWork added) {
  synth::InjectedWork cause;
  cause.cause = added;
  const bool counted = added == synth::AddedWork::kItem;
  if (!counted) {
    RS_TRY(cause.ms, keys.number(synth::is_in_mb(added) ? "mb" : "ms"));
  }
  RS_TRY(const double count, keys.number("count", counted ? std::nullopt : std::optional(1.0)));
  cause.count = static_cast<std::int64_t>(std::min(count, 1e6));
  RS_TRY(cause.rank, keys.whole_number("rank", -1));
  o.inject.work.push_back(cause);
  return {};
}
template <synth::AddedWork Added> Result<void> inject_work(InjectKeys& keys, synth::Options& o) {
  return read_added_work(keys, o, Added);
}

Result<void> inject_slow_host(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.host_rank, keys.whole_number("rank", -1));
  RS_TRY(o.inject.host_factor, keys.number("factor"));
  return {};
}

Result<void> inject_op(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.op_rank, keys.whole_number("rank"));
  RS_TRY(o.inject.op_factor, keys.number("factor"));
  return {};
}

Result<void> inject_copies(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.copy_rank, keys.whole_number("rank"));
  RS_TRY(o.inject.copy_factor, keys.number("factor"));
  return {};
}

Result<void> inject_optimizer_loop(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.optimizer_tensors, keys.whole_number("tensors"));
  return {};
}

Result<void> inject_shape(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.shape_factor, keys.number("factor"));
  return {};
}

Result<void> inject_pause(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.pause_ms, keys.number("ms"));
  RS_TRY(o.inject.pause_period, keys.whole_number("period", 4));
  return {};
}

Result<void> inject_accumulate(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.passes, keys.whole_number("passes"));
  RS_TRY(const double all, keys.number("all", 1));
  RS_TRY(const double update, keys.number("update", 0));
  o.inject.reduce_all = all != 0;
  o.inject.update_all = update != 0;
  return {};
}

Result<void> inject_exchange(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.exchange_rank, keys.whole_number("rank"));
  RS_TRY(o.inject.exchange_factor, keys.number("factor"));
  return {};
}

Result<void> inject_profiler_start(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.profiler_start_ms, keys.number("ms"));
  return {};
}

Result<void> inject_contention(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.contention, keys.number("factor"));
  return {};
}

Result<void> inject_jitter(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.step_sd, keys.number("sd"));
  RS_TRY(const double balanced, keys.number("balanced", 0));
  o.step_balanced = balanced != 0;
  o.step_noise = synth::StepNoise::kIid;
  return {};
}

Result<void> inject_glitch(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.glitch_ms, keys.number("ms"));
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

Result<void> inject_vocabulary(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.vocabulary_factor, keys.number("factor"));
  return {};
}

Result<void> inject_convolution(InjectKeys& keys, synth::Options& o) {
  RS_TRY(o.inject.convolutions, keys.whole_number("count"));
  RS_TRY(const double nchw, keys.number("nchw", 0));
  o.inject.nchw = nchw != 0;
  return {};
}

struct InjectCause {
  const char* name;
  const char* keys;
  Result<void> (*read)(InjectKeys&, synth::Options&);
};

constexpr std::array kInjectCauses = {
    InjectCause{"straggler", "rank=R,us=X", inject_straggler},
    InjectCause{"clocks", "rank=R,factor=F", inject_clocks},
    InjectCause{"link", "ranks=A-B,factor=F", inject_link},
    InjectCause{"beside", "rank=R", inject_overlap},
    InjectCause{"more", "rank=R", inject_more},
    InjectCause{"data", "rank=R,factor=F", inject_data},
    InjectCause{"loader", "ms=X,rank=R", inject_work<synth::AddedWork::kLoader>},
    InjectCause{"python", "ms=X,rank=R", inject_work<synth::AddedWork::kPython>},
    InjectCause{"alloc", "ms=X,count=N,rank=R", inject_work<synth::AddedWork::kAllocator>},
    InjectCause{"pin", "ms=X,count=N,rank=R", inject_work<synth::AddedWork::kPinning>},
    InjectCause{"item", "count=N,rank=R", inject_work<synth::AddedWork::kItem>},
    InjectCause{"pageable", "mb=X,rank=R", inject_work<synth::AddedWork::kPageable>},
    InjectCause{"input", "mb=X,rank=R", inject_work<synth::AddedWork::kInput>},
    InjectCause{"pieces", "ms=X,count=N,rank=R", inject_work<synth::AddedWork::kPieces>},
    InjectCause{"cat", "mb=X,count=N,rank=R", inject_work<synth::AddedWork::kConcat>},
    InjectCause{"zero-grad", "mb=X,rank=R", inject_work<synth::AddedWork::kZeroGrad>},
    InjectCause{"checkpoint", "ms=X,count=N,rank=R", inject_work<synth::AddedWork::kCheckpoint>},
    InjectCause{"collect", "ms=X,rank=R", inject_work<synth::AddedWork::kCollection>},
    InjectCause{"compile", "ms=X,rank=R", inject_work<synth::AddedWork::kCompilation>},
    InjectCause{"optimizer-loop", "tensors=N", inject_optimizer_loop},
    InjectCause{"pointwise", "", inject_flag<&synth::Injected::pointwise>},
    InjectCause{"scores", "", inject_flag<&synth::Injected::scores>},
    InjectCause{"recompute", "", inject_flag<&synth::Injected::recompute>},
    InjectCause{"vocabulary", "factor=F", inject_vocabulary},
    InjectCause{"tf32", "", inject_products<synth::ProductFormat::kTf32>},
    InjectCause{"fp32", "", inject_products<synth::ProductFormat::kFp32>},
    InjectCause{"convolution", "count=N,nchw=1", inject_convolution},
    InjectCause{"copies", "rank=R,factor=F", inject_copies},
    InjectCause{"shape", "factor=F", inject_shape},
    InjectCause{"pause", "ms=X,period=N", inject_pause},
    InjectCause{"accumulate", "passes=N,all=0,update=1", inject_accumulate},
    InjectCause{"exchange", "rank=R,factor=F", inject_exchange},
    InjectCause{"launch-blocking", "", inject_flag<&synth::Injected::launch_blocking>},
    InjectCause{"profiler-start", "ms=X", inject_profiler_start},
    InjectCause{"contention", "factor=F", inject_contention},
    InjectCause{"jitter", "sd=F,balanced=1", inject_jitter},
    InjectCause{"glitch", "ms=X", inject_glitch},
    InjectCause{"small-collectives", "count=N,kb=X", inject_small_collectives},
    InjectCause{"host", "rank=R,factor=F", inject_slow_host},
    InjectCause{"op", "rank=R,factor=F", inject_op},
    InjectCause{"place", "factor=F", inject_place},
    InjectCause{"batch", "", inject_flag<&synth::Injected::batch>},
    InjectCause{"tile", "", inject_flag<&synth::Injected::tile>}};

} // namespace

std::string injected_causes() {
  std::vector<std::string> out;
  for (const InjectCause& cause : kInjectCauses)
    out.push_back(*cause.keys == '\0' ? std::string(cause.name)
                                      : fmt::format("{}:{}", cause.name, cause.keys));
  return fmt::format("causes: {}", fmt::join(out, "; "));
}

Result<void> read_injected(const std::vector<std::string>& causes, synth::Options& options) {
  for (const std::string& text : causes) {
    RS_TRY(InjectKeys keys, InjectKeys::read(text));
    const InjectCause* found = nullptr;
    for (const InjectCause& cause : kInjectCauses)
      found = keys.cause() == cause.name ? &cause : found;
    if (found == nullptr)
      return keys.bad("unknown cause");
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
