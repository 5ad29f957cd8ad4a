#include "collect/library_trace/config_table.h"

#include "base/saturated.h"
#include "collect/library_trace/log_text.h"

#include <algorithm>

namespace rankscope {
namespace {

void insert_once(std::vector<std::uint32_t>& set, std::optional<std::uint32_t> id) {
  if (!id || (!set.empty() && set.back() == *id))
    return;
  const auto it = std::lower_bound(set.begin(), set.end(), *id);
  if (it == set.end() || *it != *id)
    set.insert(it, *id);
}

std::string_view digits(std::string_view text) {
  return text.substr(0, text.find_first_not_of("0123456789"));
}

/// Returns the digits after the first `front`; "" if there is no `front`.
std::string_view number_behind(std::string_view text, std::string_view front) {
  const std::size_t at = text.find(front);
  return at == std::string_view::npos ? std::string_view() : digits(text.substr(at + front.size()));
}

/// Reads the rank of Open MPI's --tag-output: [job,rank]<stderr>
std::string_view mpi_rank(std::string_view before) {
  const std::size_t end = before.find("]<std");
  if (end == std::string_view::npos)
    return {};
  const std::size_t comma = before.rfind(',', end);
  return comma == std::string_view::npos ? std::string_view() : digits(before.substr(comma + 1));
}

/// Reads the rank of srun --label: "12: "
std::string_view label_rank(std::string_view before) {
  while (!before.empty() && before.front() == ' ')
    before.remove_prefix(1);
  const std::string_view n = digits(before);
  return !n.empty() && n.size() < 8 && before.substr(n.size()).starts_with(": ")
             ? n
             : std::string_view();
}

/// Reads the process of MIOpen's multi-process mark: "594_594 " before its name.
std::string_view miopen_process(std::string_view before) {
  const std::size_t end = before.find(" MIOpen");
  if (end == std::string_view::npos)
    return {};
  const std::size_t blank = before.rfind(' ', end - 1);
  const std::string_view word =
      before.substr(blank == std::string_view::npos ? 0 : blank + 1,
                    end - (blank == std::string_view::npos ? 0 : blank + 1));
  const std::string_view pid = digits(word);
  return !pid.empty() && word.substr(pid.size()).starts_with("_") ? pid : std::string_view();
}

} // namespace

std::uint32_t TextIds::id(std::string_view text) {
  if (const auto it = ids_.find(text); it != ids_.end())
    return it->second;
  const auto next = static_cast<std::uint32_t>(ids_.size());
  ids_.emplace(std::string(text), next);
  return next;
}

std::uint32_t ConfigTable::entry(const LibraryCall& call) {
  const auto kind = static_cast<std::size_t>(call.kind);
  if (const auto it = by_config_[kind].find(std::string_view(call.config));
      it != by_config_[kind].end())
    return it->second;
  if (by_config_[kind].size() >= max_configs_)
    spill();
  const auto next = static_cast<std::uint32_t>(entries_.size());
  entries_.emplace_back();
  entries_.back().call = call;
  by_config_[kind].emplace(call.config, next);
  return next;
}

void ConfigTable::spill() {
  if (!error_)
    if (const auto done = spilled_.add_run(entries_, config_text_before, folder_); !done)
      error_ = done.error(); // finish() returns it
  entries_.clear();
  for (TextIndex& index : by_config_)
    index.clear();
  ++generation_;
}

Result<void> ConfigTable::finish() {
  if (!spilled_.empty() && !entries_.empty())
    spill();
  if (error_)
    return *error_;
  if (!spilled_.empty())
    return sum_up();
  std::sort(entries_.begin(), entries_.end(), config_row_before);
  for (const ConfigCount& c : entries_)
    ++configs_[static_cast<std::size_t>(c.call.kind)];
  return {};
}

Result<void> ConfigTable::sum_up() {
  ConfigSpill rows;
  std::vector<ConfigCount> chunk;
  const auto each = [&](ConfigCount&& c) -> Result<void> {
    const bool same = !chunk.empty() && !config_text_before(chunk.back(), c);
    if (same) {
      add_config(chunk.back(), std::move(c));
      return {};
    }
    ++configs_[static_cast<std::size_t>(c.call.kind)];
    if (chunk.size() >= max_configs_)
      RS_CHECK(rows.add_run(chunk, config_row_before, folder_));
    chunk.push_back(std::move(c));
    return {};
  };
  RS_CHECK(spilled_.merge(config_text_before, folder_, each));
  if (!chunk.empty())
    RS_CHECK(rows.add_run(chunk, config_row_before, folder_));
  spilled_ = std::move(rows);
  return {};
}

Result<void> ConfigTable::for_each(const std::function<Result<void>(const ConfigCount&)>& each) {
  if (!spilled_.empty())
    return spilled_.merge(config_row_before, folder_,
                          [&](ConfigCount&& c) -> Result<void> { return each(c); });
  for (const ConfigCount& c : entries_)
    RS_CHECK(each(c));
  return {};
}

void ConfigTable::add_kernel_us(std::uint32_t entry, double us) {
  ConfigCount& c = entries_[entry];
  c.kernel_us = c.kernel_us.value_or(0) + us;
}

void ConfigTable::count(std::uint32_t entry, std::uint64_t calls, std::optional<double> t_s,
                        std::optional<std::uint32_t> process, std::optional<std::uint32_t> rank) {
  ConfigCount& c = entries_[entry];
  add_saturated(c.calls, calls);
  if (t_s) {
    if (!c.first_s)
      c.first_s = t_s;
    c.last_s = t_s;
  }
  insert_once(c.processes, process);
  insert_once(c.ranks, rank);
}

LinePrefix parse_prefix(std::string_view before) {
  LinePrefix out;
  for (const std::string_view front : {"[rank", "[default", "rank=", "Rank "})
    if (out.rank.empty())
      out.rank = number_behind(before, front);
  if (out.rank.empty())
    out.rank = mpi_rank(before);
  if (out.rank.empty())
    out.rank = label_rank(before);
  out.process = number_behind(before, "pid=");
  if (out.process.empty())
    out.process = miopen_process(before);
  return out;
}

} // namespace rankscope
