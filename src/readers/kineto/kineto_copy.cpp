#include "readers/kineto/kineto_copy.h"

#include "base/utf8.h"
#include "core/trace.h"
#include "os/byte_source.h"
#include "os/text_sink.h"
#include "readers/kineto/json_scan.h"
#include "readers/kineto/kineto_header.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <simdjson.h>
#include <span>

namespace rankscope {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kWindow = std::size_t{1} << 20;
constexpr std::size_t kPartsAtOnce = 64; ///< maximum number of files that are open at the same time

struct OpenPart {
  const KinetoPart* part;
  TextSink sink;
  std::size_t next = 0; ///< index of the next entry
  std::uint64_t written = 0;
};

void put(OpenPart& to, std::string_view entry) {
  to.sink.text(to.written++ > 0 ? ",\n" : "\n");
  to.sink.text(entry);
}

/// What is needed about an entry that is not a complete event (ph X).
struct Other {
  enum class Kind { kNothing, kMetadata, kFlow, kInstant } kind = Kind::kNothing;
  bool has_time = false;
  bool forward = false; ///< a flow from forward to backward
  std::int64_t id = kNoId;
  std::int64_t ts_ns = 0;
};

Other parse_other(const dom::object& event) {
  Other out;
  std::string_view ph;
  if (event["ph"].get(ph) != simdjson::SUCCESS)
    return out;
  double ts = 0;
  out.has_time = event["ts"].get(ts) == simdjson::SUCCESS;
  constexpr double kMostUs = 2e15; // limit of valid times, as in kMaxTimeNs
  if (ph == "M") {
    out.kind = Other::Kind::kMetadata;
  } else if (ph == "s" || ph == "t" || ph == "f") {
    std::string_view category;
    std::int64_t id = 0;
    out.forward = event["cat"].get(category) == simdjson::SUCCESS && category == "fwdbwd";
    if (event["id"].get(id) == simdjson::SUCCESS) {
      out.kind = Other::Kind::kFlow;
      out.id = id;
    }
  } else if (ph != "X" && out.has_time && std::fabs(ts) < kMostUs) {
    out.kind = Other::Kind::kInstant;
    out.ts_ns = std::llround(ts * 1e3);
  }
  return out;
}

bool in_windows(const KinetoPart& part, std::int64_t ts_ns) {
  auto at = std::partition_point(part.windows_ns.begin(), part.windows_ns.end(),
                                 [ts_ns](const auto& window) { return window.first <= ts_ns; });
  while (at != part.windows_ns.begin())
    if ((--at)->second >= ts_ns)
      return true;
  return false;
}

/// One pass over the file. It writes some of the parts.
class Copy {
public:
  Copy(const std::string& path, const KinetoCopyRules& rules) : path_(path), rules_(rules) {}

  Result<void> run(std::span<const KinetoPart> parts) {
    RS_TRY(source_, ByteSource::open(path_));
    for (const KinetoPart& part : parts) {
      RS_TRY(TextSink sink, TextSink::create(part.path, part.path.ends_with(".gz")));
      parts_.push_back({&part, std::move(sink)});
    }
    RS_CHECK(head());
    RS_CHECK(entries());
    RS_CHECK(tail());
    if (!source_->problem().empty())
      return damaged(source_->problem());
    for (OpenPart& part : parts_)
      RS_CHECK(part.sink.commit());
    return {};
  }
  [[nodiscard]] const std::vector<OpenPart>& parts() const { return parts_; }

private:
  [[nodiscard]] Error damaged(const std::string& why) const {
    return {ErrorCode::kUnreadable, path_,
            fmt::format("{}: {}; no piece was written", source_->place(offset_ + at_), why),
            "only complete files can be split"};
  }

  /// Discards the text that was used and the blanks after it, and reads the next window. Errors:
  /// kUnreadable if a value is larger than the limit.
  Result<void> more() {
    const char* const begin = buffer_.data();
    at_ = static_cast<std::size_t>(json::skip_space(begin + at_, begin + buffer_.size()) - begin);
    buffer_.erase(0, at_);
    offset_ += at_;
    at_ = 0;
    const std::size_t had = buffer_.size();
    if (had >= kMostKinetoValue)
      return damaged(fmt::format("a value has more than {} MiB", kMostKinetoValue >> 20U));
    const std::size_t want = std::max(kWindow, had);
    buffer_.resize(had + want);
    const std::size_t got = source_->read(buffer_.data() + had, want);
    buffer_.resize(had + got);
    ended_ = got < want;
    return {};
  }

  void put_all(std::string_view text) {
    for (OpenPart& part : parts_)
      part.sink.text(text);
  }

  Result<void> head() {
    RS_CHECK(more());
    if (buffer_.compare(0, kByteOrderMark.size(), kByteOrderMark) == 0)
      buffer_.replace(0, kByteOrderMark.size(), kByteOrderMark.size(), ' ');
    while (json::skip_space(buffer_.data(), buffer_.data() + buffer_.size()) ==
               buffer_.data() + buffer_.size() &&
           !ended_)
      RS_CHECK(more());
    const std::size_t first = buffer_.find_first_not_of(" \t\r\n");
    if (first == std::string::npos)
      return damaged("the file is empty");
    if (buffer_[first] == '[') {
      put_all(std::string_view(buffer_).substr(0, first + 1));
      at_ = first + 1;
      return {};
    }
    for (bool inside = false;;) {
      KinetoHeader header;
      Diagnostics unused;
      const std::size_t begin = at_;
      const HeadState state = scan_members(buffer_, at_, inside, ended_, header, unused);
      put_all(std::string_view(buffer_).substr(begin, at_ - begin));
      if (state == HeadState::kEvents)
        return {};
      if (state != HeadState::kNeedMore || ended_)
        return damaged("no traceEvents");
      inside = inside || at_ > begin;
      RS_CHECK(more());
    }
  }

  Result<void> entries() {
    std::uint64_t index = 0;
    for (;;) {
      const char* const end = buffer_.data() + buffer_.size();
      const char* p = json::skip_space(buffer_.data() + at_, end);
      while (p < end && *p == ',')
        p = json::skip_space(p + 1, end);
      if (p < end && *p == ']')
        break;
      const char* const after = p < end ? json::skip_value(p, end) : nullptr;
      if (after == nullptr) {
        if (ended_)
          return damaged("the list of events does not end");
        at_ = static_cast<std::size_t>(p - buffer_.data());
        RS_CHECK(more());
        continue;
      }
      entry(index++, {p, static_cast<std::size_t>(after - p)});
      at_ = static_cast<std::size_t>(after - buffer_.data());
    }
    if (index != rules_.all_entries)
      return damaged(fmt::format("traceEvents has {} entries, but the first reading found {}",
                                 index, rules_.all_entries));
    return {};
  }

  void entry(std::uint64_t index, std::string_view text) {
    while (known_ < rules_.events.size() && rules_.events[known_] < index)
      ++known_;
    if (known_ == rules_.events.size() || rules_.events[known_] != index) {
      other(text);
      return;
    }
    for (OpenPart& part : parts_) {
      const std::vector<std::uint32_t>& wanted = part.part->entries;
      while (part.next < wanted.size() && wanted[part.next] < index)
        ++part.next;
      if (part.next < wanted.size() && wanted[part.next] == index)
        put(part, text);
    }
  }

  void other(std::string_view text) {
    dom::object event;
    if (parser_.parse(text.data(), text.size(), true).get(event) != simdjson::SUCCESS)
      return;
    const Other what = parse_other(event);
    using Kind = Other::Kind;
    for (OpenPart& part : parts_) {
      const std::vector<std::int64_t>& flows = part.part->flow_ids;
      bool wanted = !what.has_time;
      if (what.kind == Kind::kMetadata)
        wanted = wanted || rules_.metadata;
      else if (what.kind == Kind::kFlow)
        wanted = wanted || ((rules_.forward_flows || !what.forward) &&
                            std::binary_search(flows.begin(), flows.end(), what.id));
      else if (what.kind == Kind::kInstant)
        wanted = wanted || in_windows(*part.part, what.ts_ns);
      if (wanted)
        put(part, text);
    }
  }

  /// Copies the end of the list of events and the text after it.
  Result<void> tail() {
    put_all("\n");
    for (;;) {
      put_all(std::string_view(buffer_).substr(at_));
      at_ = buffer_.size();
      if (ended_)
        return {};
      RS_CHECK(more());
    }
  }

  const std::string& path_;
  const KinetoCopyRules& rules_;
  std::unique_ptr<ByteSource> source_;
  std::vector<OpenPart> parts_;
  dom::parser parser_;
  std::string buffer_;
  std::size_t at_ = 0;       ///< position of the first unused byte of the buffer
  std::uint64_t offset_ = 0; ///< position of the buffer in the decompressed file
  std::size_t known_ = 0;    ///< index into rules_.events
  bool ended_ = false;
};

} // namespace

Result<std::vector<std::uint64_t>> copy_kineto_parts(const std::string& path,
                                                     const std::vector<KinetoPart>& parts,
                                                     const KinetoCopyRules& rules) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < parts.size(); i += kPartsAtOnce) {
    Copy copy(path, rules);
    RS_CHECK(copy.run(std::span(parts).subspan(i, std::min(kPartsAtOnce, parts.size() - i))));
    for (const OpenPart& part : copy.parts())
      out.push_back(part.written);
  }
  return out;
}

} // namespace rankscope
