// cuBLASLt's trace lines and the records of several lines of cuBLAS and cuDNN.
#include "collect/library_trace/log_matchers.h"
#include "collect/library_trace/log_text.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

/// Returns the value of `key=value` among the words of a description.
std::string_view field_match_cuda(std::string_view description, std::string_view key) {
  while (!description.empty()) {
    const std::string_view word = next_word(description);
    if (word.starts_with(key) && word.size() > key.size() && word[key.size()] == '=')
      return word.substr(key.size() + 1);
  }
  return {};
}

struct Matrix {
  std::string_view type;
  double rows = 0, cols = 0, batch = 1;
};

std::optional<Matrix> matrix(std::string_view text, std::string_view name) {
  const auto inside = between(text, fmt::format(" {}desc=[", name), "]");
  if (!inside)
    return std::nullopt;
  const auto rows = to_number(field_match_cuda(*inside, "rows")),
             cols = to_number(field_match_cuda(*inside, "cols"));
  const std::string_view type = field_match_cuda(*inside, "type");
  if (!rows || !cols || *rows < 0 || *cols < 0 || type.empty())
    return std::nullopt;
  const auto batch = to_number(field_match_cuda(*inside, "batchCount")).value_or(1);
  return Matrix{type, static_cast<double>(*rows), static_cast<double>(*cols),
                static_cast<double>(batch)};
}

/// Returns CUDA_R_16F(2) without the number in parentheses.
std::string_view bare(std::string_view value) {
  return value.substr(0, value.find('('));
}

/// Returns NAME of `function cublasStatus_t NAME(` or `function NAME(`.
std::string_view function_of(std::string_view text) {
  const std::size_t paren = text.find('(', text.find("function "));
  if (paren == std::string_view::npos)
    return {};
  const std::size_t blank = text.rfind(' ', paren);
  return text.substr(blank + 1, paren - blank - 1);
}

/// Returns whether the function starts work; functions that create, set or query do not.
bool starts_work(std::string_view function) {
  if (function.ends_with("Internal")) // called by a public function, which has a record too
    return false;
  for (const std::string_view part : {"Create", "Destroy", "Set", "Get", "Query", "Finalize",
                                      "Init", "Logger", "BackendExecute_v", "Restore", "Build"})
    if (function.find(part) != std::string_view::npos)
      return false;
  return true;
}

} // namespace

std::optional<ParsedCall> parse_cublaslt(std::string_view text) {
  const auto function = between(text, "][Trace][", "]");
  const auto a = matrix(text, "A"), b = matrix(text, "B"), c = matrix(text, "C"),
             d = matrix(text, "D");
  const auto compute = between(text, " computeDesc=[", "]");
  if (!function || !a || !b || !c || !d || !compute ||
      text.find("[cublasLt]", 10) != std::string_view::npos)
    return std::nullopt;
  const bool trans_a = field_match_cuda(*compute, "transa") == "OP_T" ||
                       field_match_cuda(*compute, "transa") == "OP_C";
  const bool trans_b = field_match_cuda(*compute, "transb") == "OP_T" ||
                       field_match_cuda(*compute, "transb") == "OP_C";
  const GemmSize size{d->rows, d->cols, trans_a ? a->rows : a->cols, d->batch};
  ParsedCall out;
  LibraryCall& call = out.call;
  call.kind = LogKind::kCublaslt;
  call.operation = "cublasLtMatmul";
  call.dtype = a->type;
  call.problem = size.text();
  call.layout = fmt::format("{}{}", trans_a ? 'T' : 'N', trans_b ? 'T' : 'N');
  const std::string_view algorithm = between(text, " algo=[", "]").value_or("");
  call.solution = field_match_cuda(algorithm, "algoId");
  if (const std::string_view tile = field_match_cuda(algorithm, "tile"); !tile.empty())
    call.kernel = fmt::format("{} {}", tile, field_match_cuda(algorithm, "stages"));
  call.flops = size.flops(a->type);
  const auto bytes = [](const Matrix& x) {
    return x.rows * x.cols * x.batch * element_bytes(x.type);
  };
  const bool reads_c = field_match_cuda(text, "beta") != "0";
  call.bytes = bytes(*a) + bytes(*b) + bytes(*d) + (reads_c ? bytes(*c) : 0);
  call.config = fmt::format("cublasLtMatmul {} transa={} transb={} atype={} btype={} ctype={} "
                            "dtype={} compute={} scale={} epilogue={} algo={}",
                            call.problem, trans_a ? 'T' : 'N', trans_b ? 'T' : 'N', a->type,
                            b->type, c->type, d->type, field_match_cuda(*compute, "computeType"),
                            field_match_cuda(*compute, "scaleType"),
                            field_match_cuda(*compute, "epilogue"), call.solution);
  return out;
}

std::optional<CudaRecord> begin_cuda_record(LogKind kind, std::string_view text) {
  const std::string_view function = function_of(text);
  if (function.empty() || !starts_work(function))
    return std::nullopt;
  return CudaRecord{kind, std::string(function), {}};
}

bool add_cuda_field(CudaRecord& record, std::string_view text) {
  constexpr std::size_t kMostFields = 4096; ///< bytes; descriptors of cuDNN are nested
  text = trimmed(text.substr(std::min<std::size_t>(text.size(), 2))); // "i!"
  if (text.starts_with("Process=") || text.starts_with("COMPILED"))
    return false;
  const std::size_t colon = text.find(": type=");
  const auto value = between(text, "val=", ";");
  const std::size_t at = text.find("val=");
  if (colon == std::string_view::npos || at == std::string_view::npos)
    return true;
  const std::string_view name = text.substr(0, colon);
  if (text.substr(colon).starts_with(": type=cudnnStatus_t;")) {
    record.returned = true; // cuDNN 9 logs a call when it begins and when it returns
    return true;
  }
  const std::string_view v = bare(trimmed(value ? *value : text.substr(at + 4)));
  // addresses, streams and scalars would make every call a different configuration
  if (v.starts_with("POINTER") || v.find("0x") != std::string_view::npos || v.empty() ||
      name.find("alpha") != std::string_view::npos || name == "handle" || name == "streamId" ||
      record.fields.size() > kMostFields)
    return true;
  record.fields += fmt::format("{}={} ", name, trimmed(v));
  return true;
}

namespace {

/// Adds the tensors of an execution plan of cuDNN's backend in the order of the log ("8x64x56x56
/// 64x64x3x3"), their type and the engine.
void add_backend_tensors(std::string_view fields, LibraryCall& c) {
  if (const std::string_view engine = field_match_cuda(fields, "engine_id"); !engine.empty())
    c.solution = fmt::format("engine {}", engine);
  constexpr std::string_view kType = "CUDNN_DATA_";
  while (!fields.empty()) {
    const std::string_view word = next_word(fields);
    if (c.dtype.empty() && word.starts_with("type=") && word.substr(5).starts_with(kType))
      c.dtype = word.substr(5 + kType.size());
    if (!word.starts_with("dimA=[") || !word.ends_with(']'))
      continue;
    std::string extents(word.substr(6, word.size() - 7));
    std::ranges::replace(extents, ',', 'x');
    c.problem += (c.problem.empty() ? "" : " ") + extents;
  }
}

} // namespace

std::optional<ParsedCall> finish_cuda_record(const CudaRecord& record) {
  ParsedCall out;
  LibraryCall& c = out.call;
  c.kind = record.kind;
  c.operation = record.function;
  c.config = fmt::format("{} {}", record.function, record.fields);
  c.config.resize(trimmed(c.config).size());
  if (record.kind == LogKind::kCudnn) {
    c.solution = field_match_cuda(record.fields, "algo");
    add_backend_tensors(record.fields, c);
    return out;
  }
  const auto field = [&](std::string_view key) {
    const auto value = to_number(field_match_cuda(record.fields, key));
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  const auto m = field("m"), n = field("n"), k = field("k");
  if (!m || !n || !k)
    return is_gemm(c.operation) ? std::nullopt : std::optional(out);
  const GemmSize size{*m, *n, *k, field("batchCount").value_or(1)};
  c.problem = size.text();
  const auto letter = [&](std::string_view key) {
    const std::string_view v = field_match_cuda(record.fields, key);
    return v.empty() ? ' ' : v.back(); // CUBLAS_OP_T
  };
  c.layout = fmt::format("{}{}", letter("transa"), letter("transb"));
  c.dtype = field_match_cuda(record.fields, "Atype");
  if (c.dtype.starts_with("CUDA_"))
    c.dtype.erase(0, 5);
  if (c.dtype.empty())
    c.dtype = gemm_type_letter(c.operation);
  c.flops = size.flops(c.dtype);
  return out;
}

} // namespace rankscope
