// RCCL and NCCL at NCCL_DEBUG=INFO: calls of collectives (subsystem COLL) and RCCL's kernel trace.
#include "collect/library_trace/log_matchers.h"
#include "collect/library_trace/log_text.h"

#include <array>
#include <fmt/format.h>
#include <iterator>

namespace rankscope {
namespace {

struct DataType {
  const char* name;
  int bytes;
};
constexpr std::array<DataType, 12> kTypes = {{{"i8", 1},
                                              {"u8", 1},
                                              {"i32", 4},
                                              {"u32", 4},
                                              {"i64", 8},
                                              {"u64", 8},
                                              {"f16", 2},
                                              {"f32", 4},
                                              {"f64", 8},
                                              {"bf16", 2},
                                              {"f8e4m3", 1},
                                              {"f8e5m2", 1}}};
constexpr std::array<const char*, 5> kOperations = {"sum", "prod", "max", "min", "avg"};

struct Collective {
  std::string_view name;
  bool reduces;  ///< op= is part of the configuration
  bool has_root; ///< root= is a root, not a peer
  bool per_rank; ///< count is per rank: the message is nranks times as long
};
constexpr std::array<Collective, 14> kCollectives = {{{"AllReduce", true, false, false},
                                                      {"AllGather", false, false, true},
                                                      {"ReduceScatter", true, false, true},
                                                      {"Broadcast", false, true, false},
                                                      {"Reduce", true, true, false},
                                                      {"AllToAll", false, false, true},
                                                      {"AlltoAll", false, false, true},
                                                      {"AllToAllv", false, false, true},
                                                      {"AlltoAllv", false, false, true},
                                                      {"Gather", false, true, true},
                                                      {"Scatter", false, true, true},
                                                      {"Send", false, false, false},
                                                      {"Recv", false, false, false},
                                                      {"AllReduceWithBias", true, false, false}}};
constexpr std::int64_t kMostRanks = 1 << 20;

const Collective* collective_named(std::string_view name) {
  if (name.starts_with("mscclFunc"))
    name.remove_prefix(9);
  for (const Collective& c : kCollectives)
    if (c.name == name)
      return &c;
  return nullptr;
}

/// Reads `key value` pairs in order: every release writes the words of a call in the same order.
class Fields {
public:
  explicit Fields(std::string_view text) : text_(text) {}
  /// Returns the value after the next word, which must be `key`.
  std::optional<std::string_view> value(std::string_view key) {
    std::string_view rest = text_;
    if (next_word(rest) != key)
      return std::nullopt;
    const std::string_view v = next_word(rest);
    if (v.empty())
      return std::nullopt;
    text_ = rest;
    return v;
  }
  std::optional<std::int64_t> number(std::string_view key) {
    const auto v = value(key);
    return v ? to_number(*v) : std::nullopt;
  }
  bool address(std::string_view key) {
    const auto v = value(key);
    return v && (v->starts_with("0x") || *v == "(nil)" || *v == "0");
  }
  [[nodiscard]] std::string_view rest() const { return trimmed(text_); }
  void skip_word() { (void)next_word(text_); }

private:
  std::string_view text_;
};

struct Call {
  std::int64_t count = 0, type = 0, op = 0, root = 0, ranks = 0;
  std::optional<std::int64_t> global_rank;
};

/// Reads `opCount <hex> sendbuff P recvbuff P count N datatype D op O root R comm P [nranks=K]
/// stream P` and in newer releases `task T globalrank G`.
bool read_call(std::string_view text, Call& c) {
  Fields f(text);
  const auto op_count = f.value("opCount");
  if (!op_count || op_count->find_first_not_of("0123456789abcdef") != std::string_view::npos ||
      !f.address("sendbuff") || !f.address("recvbuff"))
    return false;
  const auto count = f.number("count"), type = f.number("datatype"), op = f.number("op"),
             root = f.number("root");
  if (!count || !type || !op || !root || !f.address("comm"))
    return false;
  std::string_view rest = f.rest();
  const auto ranks = to_number(between(rest, "[nranks=", "]").value_or(""));
  if (!ranks || !rest.starts_with("[nranks="))
    return false;
  f.skip_word();
  if (!f.address("stream"))
    return false;
  c = {*count, *type, *op, *root, *ranks, std::nullopt};
  if (!f.rest().empty()) {
    const auto task = f.number("task");
    c.global_rank = f.number("globalrank");
    if (!task || !c.global_rank || !f.rest().empty())
      return false;
  }
  return c.count >= 0 && c.type >= 0 && c.type < static_cast<std::int64_t>(kTypes.size()) &&
         c.op >= 0 && c.ranks >= 1 && c.ranks <= kMostRanks && c.root >= 0 && c.root < c.ranks &&
         (!c.global_rank || (*c.global_rank >= 0 && *c.global_rank < c.ranks));
}

void describe(const Collective& kind, std::string_view name, const Call& c, LibraryCall& out) {
  const DataType& type = kTypes[static_cast<std::size_t>(c.type)];
  if (out.kind != LogKind::kRccl || !out.kernel.empty())
    out = {};
  out.kind = LogKind::kRccl;
  out.operation = name;
  out.dtype = type.name;
  out.problem.clear();
  fmt::format_to(std::back_inserter(out.problem), "count={} nranks={}", c.count, c.ranks);
  out.config.clear();
  const auto to = std::back_inserter(out.config);
  fmt::format_to(to, "{} count={} datatype={}", name, c.count, type.name);
  if (kind.reduces)
    fmt::format_to(to, " op={}",
                   c.op < 5 ? kOperations[static_cast<std::size_t>(c.op)] : "premulsum");
  if (kind.has_root)
    fmt::format_to(to, " root={}", c.root);
  fmt::format_to(to, " nranks={}", c.ranks);
  out.bytes = static_cast<double>(c.count) * type.bytes *
              (kind.per_rank ? static_cast<double>(c.ranks) : 1.0);
}

/// Parses `## [SECONDS] [RANK:BLOCK] OPCOUNT KL HWID h ncclDevFunc_NAME nw 4 bi 0 nc 1 ... nRanks
/// 8`. The brackets changed with every release, so only words are searched for. KE, CL and CE are
/// ends and collectives inside a launched kernel, not launches.
NcclLine parse_kernel(std::string_view text, ParsedCall& out) {
  if (text.find(" KL ") == std::string_view::npos)
    return NcclLine::kOther;
  out.call.kind = LogKind::kRcclKernel;
  const std::size_t at = text.find("ncclDevFunc_");
  if (at == std::string_view::npos)
    return NcclLine::kDamaged;
  std::string_view rest = text.substr(at);
  const std::string_view kernel = next_word(rest);
  std::string_view number = rest;
  const std::size_t ranks_at = number.find("nRanks ");
  if (ranks_at == std::string_view::npos)
    return NcclLine::kDamaged;
  number.remove_prefix(ranks_at + 7);
  const auto ranks = to_number(next_word(number));
  if (!ranks || *ranks < 1 || *ranks > kMostRanks)
    return NcclLine::kDamaged;
  LibraryCall& c = out.call;
  c = {};
  c.kind = LogKind::kRcclKernel;
  c.kernel = kernel;
  const std::string_view name = kernel.substr(12);
  c.operation = name.substr(0, name.find('_'));
  c.problem = fmt::format("nranks={}", *ranks);
  c.config = fmt::format("{} nranks={}", kernel, *ranks);
  // NAME_ALGORITHM_PROTOCOL_OPERATION_TYPE
  std::size_t begin = name.find('_');
  if (begin != std::string_view::npos) {
    const std::size_t second = name.find('_', begin + 1);
    const std::size_t third =
        second == std::string_view::npos ? second : name.find('_', second + 1);
    c.solution =
        name.substr(begin + 1, third == std::string_view::npos ? third : third - begin - 1);
    const std::size_t type = third == std::string_view::npos ? third : name.find('_', third + 1);
    if (type != std::string_view::npos)
      c.dtype = name.substr(type + 1, name.find('_', type + 1) - type - 1);
  }
  return NcclLine::kCall;
}

} // namespace

NcclLine parse_nccl(std::string_view before, std::string_view text, ParsedCall& out) {
  text = trimmed(behind(text, std::string_view("NCCL INFO ").size()));
  const bool twice = text.find("NCCL INFO ") != std::string_view::npos;
  NcclLine found = NcclLine::kOther;
  out.calls = 1;
  if (text.starts_with("## ")) {
    found = parse_kernel(text, out);
  } else {
    const std::size_t at = text.find(": opCount ");
    if (at == std::string_view::npos || text.substr(0, at).find(' ') != std::string_view::npos)
      return NcclLine::kOther;
    const std::string_view name = text.substr(0, at);
    const Collective* const kind = collective_named(name);
    Call call;
    out.call.kind = LogKind::kRccl; // set for a damaged call too
    if (kind == nullptr || !read_call(text.substr(at + 2), call))
      return NcclLine::kDamaged;
    describe(*kind, name, call, out.call);
    found = NcclLine::kCall;
  }
  if (found == NcclLine::kOther)
    return found;
  out.process = nccl_process(before);
  return twice ? NcclLine::kDamaged : found;
}

std::optional<KernelEvent> parse_kernel_event(std::string_view before, std::string_view text) {
  text = trimmed(behind(text, std::string_view("NCCL INFO ").size()));
  if (!text.starts_with("## [") || text.find("NCCL INFO ") != std::string_view::npos)
    return std::nullopt;
  const std::size_t time_end = text.find(']'), where = text.find('[', time_end + 1);
  const std::size_t where_end = text.find(']', where == std::string_view::npos ? where : where + 1);
  if (time_end == std::string_view::npos || where == std::string_view::npos ||
      where_end == std::string_view::npos)
    return std::nullopt;
  const auto t = to_number<double>(trimmed(text.substr(4, time_end - 4)));
  // [RANK:BLOCK], in newer releases [RANK:BLOCK-..:..]; the part after '-' differs between launch
  // and end
  std::string_view place = text.substr(where + 1, where_end - where - 1);
  place = place.substr(0, place.find('-'));
  std::string_view rest = text.substr(where_end + 1);
  const std::string_view operation = next_word(rest), what = next_word(rest);
  if (!t || (what != "KL" && what != "KE"))
    return std::nullopt;
  const std::string padded = fmt::format("{} ", rest);
  KernelEvent out;
  out.end = what == "KE";
  out.t_s = *t;
  out.key = fmt::format("{}|{}|{}|{}|{}", nccl_process(before), place, operation,
                        between(padded, "busId ", " ").value_or(""),
                        between(padded, " comm ", " ").value_or(""));
  return out;
}

} // namespace rankscope
