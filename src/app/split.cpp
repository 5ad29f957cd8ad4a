#include "app/split.h"

#include "analyses/inference/step_repeats.h"
#include "base/number_text.h"
#include "engine/loader.h"
#include "os/output_file.h"
#include "readers/kineto/kineto_copy.h"
#include "readers/reader.h"
#include "writers/writer.h"

#include <filesystem>
#include <fmt/format.h>

namespace rankscope {
namespace {

namespace fs = std::filesystem;

/// A trace with its steps.
struct Source {
  LoadedTrace trace;
  std::vector<AnnotatedStep> steps;
};

Result<Source> open_source(Session& session, const std::string& path, bool compat) {
  if (path == "-")
    return Error{ErrorCode::kUsage, "split", "a trace from standard input cannot be read twice",
                 "save it to a file first"};
  LoadOptions load;
  load.threads = session.threads;
  load.pool = &session.pool();
  load.keep_python = true;
  Source out;
  RS_TRY(out.trace, load_trace(path, load));
  if (const Trace& t = out.trace.trace; t.sources.front().reader != kineto_json_reader.name)
    return Error{ErrorCode::kUsage, path, "only Kineto JSON traces can be split",
                 fmt::format("this one was read as {}", t.sources.front().reader)};
  out.steps = steps_to_choose(out.trace, compat);
  if (out.steps.empty())
    return Error{ErrorCode::kUsage, path,
                 "the trace has no annotated serving steps, and no repeated CPU work from which "
                 "steps could be found",
                 "vLLM, SGLang, ATOM and xDiT can write these annotations"};
  if (out.steps.front().counts.kind == StepKind::kRepeated)
    session.note(fmt::format(
        "{}: no annotated steps; {} found from repeated CPU work, {} \u00b5s to {} \u00b5s", path,
        counted(out.steps.size(), "step", "steps"), out.steps.front().start_ns / 1000,
        out.steps.back().end_ns / 1000));
  return out;
}

/// Copies the pieces from the file into new files, and appends their facts.
Result<void> write_pieces(const Source& source, const std::vector<TracePiece>& pieces,
                          const std::string& folder, bool compat, std::vector<PieceFact>& facts) {
  const Trace& trace = source.trace.trace;
  const StepEvents events(source.trace, source.steps, compat);
  KinetoCopyRules rules;
  rules.events = trace.events.uid; // in file order
  rules.all_entries = trace.events_in_file;
  rules.metadata = !compat;
  rules.forward_flows = compat;
  std::vector<KinetoPart> parts;
  const std::size_t before = facts.size();
  for (const TracePiece& piece : pieces) {
    PieceFact fact;
    fact.number = facts.size();
    fact.path = piece.path;
    fact.content = events.piece_events(piece);
    fact.phases = phases_of(source.steps, piece.steps);
    for (const std::size_t i : piece.steps)
      fact.steps.push_back(source.steps[i]);
    const fs::path path = fs::path(folder) / piece.path;
    RS_CHECK(make_folder(path.parent_path().string()));
    parts.push_back({path.string(), std::move(fact.content.entries),
                     std::move(fact.content.flow_ids),
                     compat ? decltype(KinetoPart::windows_ns){} : fact.content.windows_ns});
    facts.push_back(std::move(fact));
  }
  RS_TRY(const std::vector<std::uint64_t> counts, copy_kineto_parts(trace.path, parts, rules));
  for (std::size_t i = 0; i < counts.size(); ++i)
    facts[before + i].events = counts[i];
  return {};
}

/// Returns pieces with the paired steps of one of two traces, one piece per phase. `second` selects
/// the second trace.
std::vector<TracePiece> paired_pieces(const std::vector<PairedSteps>& pairs, bool second,
                                      const std::string& base) {
  std::vector<TracePiece> out;
  for (const PairedSteps& pair : pairs) {
    const StepRange& range = second ? pair.second : pair.first;
    TracePiece& piece = out.emplace_back();
    piece.path = fmt::format("paired/{}_{}_steps_{}_{}_{}.json.gz", phase_name(pair.phase),
                             second ? "other" : "first", range.begin, range.end, base);
    for (std::size_t i = range.begin; i < range.end; ++i)
      piece.steps.push_back(i);
  }
  return out;
}

Result<void> write_text(const std::string& path, const std::string& text, SplitResult& out) {
  RS_CHECK(write_file(path, text));
  out.written.push_back(path);
  return {};
}

} // namespace

Result<SplitResult> split_trace(Session& session, const SplitRequest& request) {
  const bool compat = request.choice.window.compat;
  RS_TRY(const Source source, open_source(session, request.trace, compat));
  SplitResult out;
  out.steps = source.steps.size();
  const std::string base = piece_base(request.trace);
  RS_TRY(std::vector<TracePiece> pieces,
         plan_pieces(source.trace.trace, source.steps, request.choice, base));
  RS_CHECK(make_folder(request.output));
  if (!request.pair.empty()) {
    RS_TRY(const Source other, open_source(session, request.pair, compat));
    out.pairs = pair_steps(source.steps, other.steps);
    for (TracePiece& piece : paired_pieces(out.pairs, false, base))
      pieces.push_back(std::move(piece));
    RS_CHECK(write_pieces(source, pieces, request.output, compat, out.pieces));
    RS_CHECK(write_pieces(other, paired_pieces(out.pairs, true, piece_base(request.pair)),
                          request.output, compat, out.pieces));
    session.diagnostics.merge(other.trace.trace.diagnostics);
    RS_CHECK(write_text(request.output + "/paired_steps.csv",
                        csv_text(paired_steps_schema().table(out.pairs)), out));
  } else if (!pieces.empty()) {
    RS_CHECK(write_pieces(source, pieces, request.output, compat, out.pieces));
  }
  session.diagnostics.merge(source.trace.trace.diagnostics);
  if (out.pieces.empty())
    return out;
  RS_CHECK(write_text(request.output + "/execution_details.json", pieces_json(out.pieces), out));
  RS_CHECK(write_text(request.output + "/execution_details.csv",
                      csv_text(piece_schema().table(out.pieces)), out));
  return out;
}

} // namespace rankscope
