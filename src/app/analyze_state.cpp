#include "app/analyze_state.h"

#include "app/analyze_parts.h"
#include "base/counters.h"
#include "base/fnv.h"
#include "findings/sweep_findings.h"
#include "os/input_file.h"
#include "os/whole_file.h"

#include <filesystem>
#include <fmt/format.h>
#include <iterator>

namespace rankscope {

/// The content of a state file: a configuration and the fingerprint of its inputs and options.
struct SavedConfiguration {
  std::string fingerprint;
  std::vector<std::int64_t> output_bytes; ///< one per output
  ConfigResult config;
};

template <class Archive, PartOf<SavedConfiguration> Row>
void part_fields(Archive& archive, Row& r) {
  archive(r.fingerprint, r.output_bytes, r.config);
  if constexpr (Archive::kReads)
    if (r.output_bytes.size() != r.config.outputs.size())
      archive.fail("an output without its size");
}

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigurationKind = "analyzed configuration";
constexpr std::string_view kSweepKind = "analyzed sweep";
constexpr const char* kHint = "run rankscope analyze on the sweep first";

/// Reads and decodes a part file written by rankscope.
template <class T> Result<T> read_part(const std::string& path, std::string_view kind) {
  RS_TRY(const std::string bytes, read_unregistered(path, kHint));
  Result<T> part = decode_part<T>(kind, kStateVersion, bytes);
  if (!part)
    return Error{ErrorCode::kUnreadable, path, part.error().what, kHint};
  return part;
}

/// Returns the rows with their bandwidths by step. A saved state has these only in the samples.
std::vector<SyncSummary>
with_step_bandwidths(std::vector<SyncSummary> rows,
                     const std::map<CollectiveKey, CollectiveSamples>& samples) {
  for (SyncSummary& row : rows) {
    const auto found = samples.find(key_of(row));
    if (!row.step_bus_gbps.empty() || found == samples.end() || !found->second.belong_to(row))
      continue;
    for (const auto& [step, sum] : found->second.bus_gbps.steps())
      if (step >= 0)
        row.step_bus_gbps.push_back({step, sum.mean()});
  }
  return rows;
}

} // namespace

void add_lost_rank(ConfigResult& config, std::int64_t rank, const Error& error) {
  RankRecord& record = config.records.emplace_back();
  record.key = {config.configuration, rank};
  record.error = error.message();
}

void set_collectives(ConfigResult& config, const CollectiveFacts& facts,
                     std::span<const RankIdentity> identities) {
  config.collectives = facts.summary;
  config.collective_samples = collective_samples(facts.synchronising);
  config.exposed = exposed_waits(facts, job_ranks(identities));
  config.per_node = facts.per_node;
}

TraceIdentity fingerprint_of(const RunPlan& plan, const std::string& options) {
  TraceIdentity out{fmt::format("rankscope {}\n{}\n", RANKSCOPE_VERSION, options),
                    plan.parts == nullptr};
  if (plan.parts == nullptr)
    for (const RankFile& file : plan.ranks) {
      const TraceIdentity trace = trace_identity(file);
      out.text += fmt::format("{} {} {}\n", file.rank, file.path, trace.text);
      out.unique = out.unique && trace.unique;
    }
  return out;
}

std::string content_mark(const std::string& path) {
  const Result<std::string> bytes = read_unregistered(path, kHint);
  return bytes ? fnv64_hex(*bytes) : "";
}

Result<void> save_state(const ConfigResult& config, const std::string& fingerprint,
                        const std::string& path) {
  SavedConfiguration saved{fingerprint, {}, config};
  for (const std::string& file : config.outputs) {
    std::error_code ec;
    const auto bytes = fs::file_size(file, ec);
    saved.output_bytes.push_back(ec ? -1 : static_cast<std::int64_t>(bytes));
  }
  return write_with_folder(path, encode_part(kConfigurationKind, kStateVersion, saved));
}

std::optional<ConfigResult> load_state(const std::string& path, const std::string& fingerprint,
                                       Diagnostics& diag) {
  std::error_code ec;
  if (!fs::exists(path, ec))
    return std::nullopt;
  Result<SavedConfiguration> saved = read_part<SavedConfiguration>(path, kConfigurationKind);
  if (!saved) {
    diag.add(counters::state_unreadable(saved.error().what), path);
    return std::nullopt;
  }
  if (saved->fingerprint != fingerprint || !saved->config.complete)
    return std::nullopt;
  for (std::size_t i = 0; i < saved->output_bytes.size(); ++i) {
    const auto bytes = fs::file_size(saved->config.outputs[i], ec);
    if (ec || static_cast<std::int64_t>(bytes) != saved->output_bytes[i])
      return std::nullopt;
  }
  saved->config.reused = true;
  return std::move(saved->config);
}

Result<void> save_sweep(const SweepState& sweep, const OutputLayout& layout) {
  return write_with_folder(layout.sweep_state(), encode_part(kSweepKind, kStateVersion, sweep));
}

SweepFacts facts_of(const std::vector<ConfigResult>& configs, std::size_t top_k,
                    GemmRanking ranking) {
  SweepFacts out;
  out.top_k = top_k;
  std::vector<const GemmFacts*> parts;
  for (const ConfigResult& config : configs) {
    out.records.insert(out.records.end(), config.records.begin(), config.records.end());
    parts.push_back(&config.gemms);
    if (config.collectives)
      out.collectives.push_back(
          {config.configuration, fs::path(config.collective_file).filename().string(),
           with_step_bandwidths(*config.collectives, config.collective_samples),
           config.collective_samples, config.exposed, config.per_node});
  }
  out.gemms = join_gemm_facts(parts, ranking);
  out.findings = sweep_findings(out);
  return out;
}

Result<SweepFacts> load_analysed(const std::string& folder) {
  std::error_code ec;
  OutputLayout layout(folder);
  if (!fs::exists(layout.sweep_state(), ec))
    layout = OutputLayout(fmt::format("{}/{}", folder, kAnalysisFolder));
  if (!fs::exists(layout.sweep_state(), ec))
    return Error{ErrorCode::kUnreadable, folder, "this folder contains no analysed sweep", kHint};
  remember_input(layout.sweep_state()); // not in read_part(): analyze rewrites the files
  RS_TRY(const SweepState sweep, read_part<SweepState>(layout.sweep_state(), kSweepKind));
  std::vector<ConfigResult> configs;
  for (const std::string& label : sweep.labels) {
    remember_input(layout.state({label, {}}));
    RS_TRY(SavedConfiguration saved,
           read_part<SavedConfiguration>(layout.state({label, {}}), kConfigurationKind));
    configs.push_back(std::move(saved.config));
  }
  return facts_of(configs, sweep.top_k, sweep.ranking);
}

} // namespace rankscope
