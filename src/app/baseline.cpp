#include "app/baseline.h"

#include "app/baseline_part.h"
#include "app/compare.h"
#include "app/compare_load.h"
#include "app/write_outputs.h"
#include "os/byte_source.h"
#include "os/output_file.h"

#include <filesystem>

namespace rankscope {
namespace {

constexpr std::string_view kHead = "RSKPART1"; // the first bytes of every part (core/part.h)
/// The baseline of a thousand ranks is a few megabytes: a larger file is not a baseline.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

} // namespace

std::string baseline_bytes(const SavedBaseline& baseline) {
  return encode_part(kBaselineKind, kBaselineVersion, baseline);
}

Result<SavedBaseline> baseline_of(std::string_view bytes) {
  Result<SavedBaseline> out = decode_part<SavedBaseline>(kBaselineKind, kBaselineVersion, bytes);
  if (out && out->run.ranks.empty() && out->run.collectives.summary.empty())
    return Error{ErrorCode::kUnreadable, "", "not a valid part: a baseline without ranks", ""};
  return out;
}

bool is_baseline(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec))
    return false;
  const auto source = ByteSource::open(path);
  return source && (*source)->peek(kHead.size()).substr(0, kHead.size()) == kHead;
}

Result<SavedBaseline> load_baseline(const std::string& path) {
  RS_TRY(const std::unique_ptr<ByteSource> source, ByteSource::open(path));
  std::string bytes;
  std::string block(std::size_t{1} << 16, '\0');
  const bool is_part = source->peek(kHead.size()) == kHead;
  while (const std::size_t got = is_part ? source->read(block.data(), block.size()) : 0) {
    bytes.append(block, 0, got);
    if (bytes.size() > kMostBytes)
      return Error{ErrorCode::kUnreadable, path, "too large for a saved baseline", ""};
  }
  Result<SavedBaseline> out = baseline_of(bytes);
  if (!out) {
    Error error = out.error();
    error.where = path + (error.where.empty() ? "" : ": " + error.where);
    error.hint = "to make it again: rankscope baseline save RUN -o " + path;
    return error;
  }
  return out;
}

Result<BaselineSaved> save_baseline(Session& session, const BaselineSaveRequest& request) {
  RS_CHECK(check_ending(request.output, {".rsb"})); // a history finds baselines by this ending
  RS_TRY(OutputFile file, OutputFile::create(request.output)); // before any trace is read
  CompareInput input;
  input.folder = request.folder;
  input.label = request.label;
  if (input.label.empty())
    input.label = distinct_labels(folder_names({request.folder})).front();
  input.discover = request.discover;
  input.reports_only = request.reports_only;
  input.align = request.align;
  input.write_reports = false;
  BaselineSaved out;
  out.baseline.made_by = "rankscope " RANKSCOPE_VERSION;
  out.baseline.source = request.folder;
  RS_TRY(out.baseline.run, load_compared_run(session, input));
  out.baseline.complete = !session.partial && !session.diagnostics.data_lost();
  const std::string bytes = baseline_bytes(out.baseline);
  out.bytes = bytes.size();
  file.write(bytes);
  RS_CHECK(file.commit());
  return out;
}

} // namespace rankscope
