// rocBLAS (layers 1, 2 and 4), hipBLASLt (masks 32, 64, 128) and Tensile's choice of a kernel.
#include "base/ascii.h"
#include "collect/library_trace/log_matchers.h"
#include "collect/library_trace/log_text.h"
#include "model/kernels.h"

#include <algorithm>
#include <fmt/format.h>

namespace rankscope {
namespace {

using Options = std::vector<CommandOption>;

struct Gemm : GemmSize {
  std::string_view trans_a, trans_b;
  std::string_view a, b, c, d; ///< types
  bool beta = true;
};

/// Adds the cost. Each matrix is read once, D is written once, and C is read if beta is not 0.
void add_gemm_cost(const Gemm& g, LibraryCall& call) {
  call.flops += g.flops(g.a);
  const double c = g.beta ? g.m * g.n * element_bytes(g.c) : 0;
  call.bytes += g.batch * (g.m * g.k * element_bytes(g.a) + g.k * g.n * element_bytes(g.b) + c +
                           g.m * g.n * element_bytes(g.d));
}

std::optional<double> number_of(const Options& options, std::string_view name) {
  return to_number<double>(option_value(options, name));
}

/// Returns an integer size as a double, because products of sizes are doubles.
std::optional<double> size_of(std::string_view text) {
  const auto v = to_number(text);
  return v && *v >= 0 ? std::optional(static_cast<double>(*v)) : std::nullopt;
}
std::optional<double> size_of(const Options& options, std::string_view name) {
  return size_of(option_value(options, name));
}

std::string_view first_of(const Options& options, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names)
    if (const std::string_view v = option_value(options, name); !v.empty())
      return v;
  return {};
}

/// Returns the documented form: ./rocblas-bench and its options, separated by single blanks.
std::string joined(std::string_view front, const Options& options,
                   std::initializer_list<std::string_view> without) {
  std::string out(front);
  for (const CommandOption& o : options) {
    if (std::find(without.begin(), without.end(), o.name) != without.end())
      continue;
    out += fmt::format(" {}", o.name);
    for (const std::string_view v : o.values)
      out += fmt::format(" {}", v);
  }
  return out;
}

bool holds_marker_again(std::string_view text) {
  return text.find("-bench ", 20) != std::string_view::npos;
}

/// Describes a GEMM. Returns false if a required option is missing.
bool describe_gemm(const Options& options, LibraryCall& call) {
  Gemm g;
  const auto m = size_of(options, "-m"), n = size_of(options, "-n"), k = size_of(options, "-k");
  g.trans_a = first_of(options, {"--transposeA", "--transA"});
  g.trans_b = first_of(options, {"--transposeB", "--transB"});
  const std::string_view precision = option_value(options, "-r");
  const auto type = [&](std::string_view name) {
    const std::string_view t = option_value(options, name);
    return t.empty() ? precision : t;
  };
  if (!m || !n || !k || g.trans_a.size() != 1 || g.trans_b.size() != 1 ||
      option_value(options, "--ldc").empty() || type("--a_type").empty())
    return false;
  g.m = *m;
  g.n = *n;
  g.k = *k;
  g.batch = size_of(options, "--batch_count").value_or(1);
  g.a = type("--a_type");
  g.b = type("--b_type");
  g.c = type("--c_type");
  g.d = type("--d_type");
  g.beta = number_of(options, "--beta").value_or(1) != 0;
  call.problem = g.text();
  call.layout = fmt::format("{}{}", g.trans_a, g.trans_b);
  call.dtype = g.a;
  add_gemm_cost(g, call);
  return true;
}

/// Describes level 1 and 2 functions; computes the work of the frequent functions only.
void describe_vector(const Options& options, LibraryCall& call) {
  const double n = size_of(options, "-n").value_or(0), m = size_of(options, "-m").value_or(0);
  const double batch = size_of(options, "--batch_count").value_or(1);
  call.dtype = first_of(options, {"-r", "--a_type"});
  const double bytes = batch * element_bytes(call.dtype);
  const double multiply_adds = batch * (is_complex(call.dtype) ? 8 : 2); // in flops
  call.problem = m > 0 ? fmt::format("m={} n={}", m, n) : fmt::format("n={}", n);
  if (batch != 1)
    call.problem += fmt::format(" batch={}", batch);
  call.layout = first_of(options, {"--transposeA", "--transA"});
  if (contains(call.operation, "gemv")) {
    call.flops = multiply_adds * m * n;
    call.bytes = bytes * (m * n + m + n);
  } else if (contains(call.operation, "axpy")) {
    call.flops = multiply_adds * n;
    call.bytes = bytes * 3 * n;
  } else if (contains(call.operation, "dot")) {
    call.flops = multiply_adds * n;
    call.bytes = bytes * 2 * n;
  } else if (contains(call.operation, "scal")) {
    const bool a = is_complex(call.dtype);
    const bool b = is_complex(first_of(options, {"--b_type", "-r", "--a_type"}));
    call.flops = batch * n *
                 (a && b   ? 6
                  : a || b ? 2
                           : 1); // csscal: a complex vector, a real factor
    call.bytes = bytes * 2 * n;
  }
}

/// A record `- { rocblas_function: "rocblas_gemm_ex", M: 12288, ..., call_count: 136 }`, whose
/// values are found by their keys.
class Record {
public:
  explicit Record(std::string_view text) : text_(text) {}
  /// Returns the value of a key without its quotes; "" when the key is missing.
  [[nodiscard]] std::string_view value(std::string_view key) const {
    std::size_t at = 0;
    while ((at = text_.find(key, at)) != std::string_view::npos) {
      const bool begins = at == 0 || text_[at - 1] == ' ' || text_[at - 1] == ',';
      const std::size_t colon = at + key.size();
      if (begins && text_.substr(colon, 2) == ": ") {
        std::string_view v = text_.substr(colon + 2);
        v = trimmed(v.substr(0, v.find_first_of(",}")));
        if (v.size() >= 2 && (v.front() == '"' || v.front() == '\''))
          v = v.substr(1, v.size() - 2);
        return v;
      }
      at = colon;
    }
    return {};
  }
  [[nodiscard]] std::optional<double> number(std::string_view key) const {
    return to_number<double>(value(key));
  }

private:
  std::string_view text_;
};

std::optional<ParsedCall> parse_record(std::string_view text, std::string_view key, LogKind kind) {
  // a complete record: from the key to a closing brace, nothing after it
  const Record record(text);
  const auto count = to_number<std::uint64_t>(record.value("call_count"));
  const std::string_view function = record.value(key);
  if (!count || function.empty() || text.back() != '}' ||
      text.find('{', 1) != std::string_view::npos || text.find('}') != text.size() - 1)
    return std::nullopt;
  ParsedCall out;
  out.calls = *count;
  LibraryCall& c = out.call;
  c.kind = kind;
  const std::size_t at = text.rfind("call_count");
  std::string_view front = trimmed(text.substr(0, at));
  if (front.ends_with(','))
    front.remove_suffix(1);
  c.config = fmt::format("- {{ {} }}", trimmed(front));
  c.operation = function;
  const std::string precision = gemm_type_letter(function);
  const auto type = [&](std::string_view name) {
    const std::string_view t = record.value(name);
    return t.empty() ? std::string_view(precision) : t;
  };
  c.dtype = type("a_type");
  c.solution = record.value("solution_index");
  Gemm g;
  const auto either = [&](std::string_view a, std::string_view b) {
    const auto v = size_of(record.value(a));
    return v ? v : size_of(record.value(b));
  };
  const auto m = either("M", "m"), n = either("N", "n"), k = either("K", "k");
  if (m && n && k) {
    g.m = *m;
    g.n = *n;
    g.k = *k;
    g.batch = size_of(record.value("batch_count")).value_or(1);
    g.a = c.dtype;
    g.b = type("b_type");
    g.c = type("c_type");
    g.d = type("d_type");
    g.beta = record.number("beta").value_or(1) != 0;
    c.problem = g.text();
    c.layout = fmt::format("{}{}", record.value("transA"), record.value("transB"));
    add_gemm_cost(g, c);
  }
  return out;
}

/// Returns a part such as MT128x96x64 of a kernel's name, found by its first letters ("_MT") and a
/// digit.
std::string_view part_beginning(std::string_view name, std::string_view front) {
  std::size_t at = 0;
  while ((at = name.find(front, at)) != std::string_view::npos) {
    const std::string_view part = name.substr(at + 1, name.find('_', at + 1) - at - 1);
    if (part.size() > front.size() - 1 && part[front.size() - 1] >= '0' &&
        part[front.size() - 1] <= '9')
      return part;
    at += front.size();
  }
  return {};
}

/// Describes a GEMM of a trace line. Its function names the type (sgemm), or the type follows each
/// pointer (gemm_ex). The leading dimension, the stride and the batch count follow the last
/// pointer. Example:
/// rocblas_sgemm_strided_batched,N,N,m,n,k,alpha,ptr,lda,stride_a,ptr,ldb,stride_b,beta,
/// ptr,ldc,stride_c,batch_count. Without a known type or batch count, the flops are unknown.
void describe_traced_gemm(GemmSize size, const std::vector<std::string>& fields,
                          LibraryCall& call) {
  call.dtype = gemm_type_letter(call.operation);
  const bool typed = call.dtype.empty();
  if (const auto a = std::ranges::find(fields, "ptr"); typed && fields.end() - a > 1)
    call.dtype = a[1];
  bool known = element_bytes(call.dtype) > 0;
  if (contains(call.operation, "batched")) {
    const auto last = std::find(fields.rbegin(), fields.rend(), "ptr").base(); // after the pointer
    const int before = 1 + (typed ? 1 : 0) + (contains(call.operation, "strided") ? 1 : 0);
    const auto batch = fields.end() - last > before ? size_of(last[before]) : std::nullopt;
    known = known && batch;
    size.batch = batch.value_or(1);
  }
  call.problem = size.text();
  if (known)
    call.flops = size.flops(call.dtype);
}

} // namespace

std::optional<ParsedCall> parse_rocblas_bench(std::string_view text) {
  if (holds_marker_again(text))
    return std::nullopt;
  std::string_view rest = text;
  (void)next_word(rest);
  const auto options = parse_options(rest, false);
  if (!options)
    return std::nullopt;
  ParsedCall out;
  LibraryCall& c = out.call;
  c.kind = LogKind::kRocblas;
  c.operation = first_of(*options, {"-f", "--function"});
  if (c.operation.empty())
    return std::nullopt;
  c.solution = option_value(*options, "--solution_index");
  if (is_gemm(c.operation)) {
    if (!describe_gemm(*options, c))
      return std::nullopt;
  } else {
    describe_vector(*options, c);
  }
  c.config = joined("./rocblas-bench", *options, {});
  return out;
}

std::optional<ParsedCall> parse_rocblas_function(std::string_view text) {
  return parse_record(text, "rocblas_function", LogKind::kRocblasFunction);
}

std::optional<ParsedCall> parse_hipblaslt_function(std::string_view text) {
  return parse_record(text.substr(2), "function", LogKind::kHipblasltFunction); // after "{ "
}

std::optional<ParsedCall> parse_rocblas_trace(std::string_view text) {
  std::vector<std::string> fields;
  for (std::string_view field : split(text, ',')) {
    field = trimmed(field);
    if (field.empty() || field.find(' ') != std::string_view::npos)
      return std::nullopt;
    if (field.starts_with("0x") || field == "(nil)" || field == "nullptr")
      field = "ptr"; // addresses would make every call a different configuration
    fields.emplace_back(field);
  }
  if (fields.size() < 3)
    return std::nullopt;
  ParsedCall out;
  LibraryCall& c = out.call;
  c.kind = LogKind::kRocblasTrace;
  c.operation = fields[0].substr(std::string_view("rocblas_").size());
  for (const std::string& f : fields)
    c.config += (c.config.empty() ? "" : ",") + f;
  if (is_gemm(c.operation)) {
    const auto m = fields.size() > 5 ? size_of(fields[3]) : std::nullopt;
    const auto n = fields.size() > 5 ? size_of(fields[4]) : std::nullopt;
    const auto k = fields.size() > 5 ? size_of(fields[5]) : std::nullopt;
    if (!m || !n || !k)
      return std::nullopt;
    c.layout = fields[1] + fields[2];
    describe_traced_gemm({*m, *n, *k}, fields, c);
  }
  return out;
}

std::optional<ParsedCall> parse_hipblaslt_bench(std::string_view text) {
  if (holds_marker_again(text))
    return std::nullopt;
  std::string_view rest = text;
  (void)next_word(rest);
  const auto options = parse_options(rest, true);
  if (!options)
    return std::nullopt;
  ParsedCall out;
  LibraryCall& c = out.call;
  c.kind = LogKind::kHipblaslt;
  c.operation = "matmul";
  if (!describe_gemm(*options, c) || option_value(*options, "--compute_type").empty())
    return std::nullopt;
  c.solution = option_value(*options, "--solution_index");
  // grouped products (-m 64 128 -n ...): the first is described above, the others follow
  const auto values = [&](std::string_view name) {
    for (const CommandOption& o : *options)
      if (o.name == name)
        return o.values;
    return std::vector<std::string_view>();
  };
  const auto m = values("-m"), n = values("-n"), k = values("-k");
  if (m.size() != n.size() || m.size() != k.size())
    return std::nullopt;
  for (std::size_t i = 1; i < m.size(); ++i) {
    const auto mi = size_of(m[i]), ni = size_of(n[i]), ki = size_of(k[i]);
    if (!mi || !ni || !ki)
      return std::nullopt;
    Gemm g;
    g.m = *mi;
    g.n = *ni;
    g.k = *ki;
    g.a = option_value(*options, "--a_type");
    g.b = option_value(*options, "--b_type");
    g.c = option_value(*options, "--c_type");
    g.d = option_value(*options, "--d_type");
    g.beta = number_of(*options, "--beta").value_or(1) != 0;
    add_gemm_cost(g, c);
    c.problem += "; " + g.text();
    c.operation = "grouped matmul";
  }
  c.config = joined("hipblaslt-bench", *options,
                    // options of the measurement
                    {"--rotating", "--cold_iters", "--iters", "--flush"});
  return out;
}

std::optional<ParsedCall> parse_tensile(std::string_view text) {
  const std::string_view name = trimmed(behind(text, std::string_view("Running kernel: ").size()));
  if (name.size() < 12 || !std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_';
      }))
    return std::nullopt;
  ParsedCall out;
  LibraryCall& c = out.call;
  c.kind = LogKind::kTensile;
  c.config = name;
  c.kernel = name;
  c.operation = "gemm";
  if (const auto gemm = parse_gemm_kernel(name)) {
    const auto letter = [](std::optional<bool> transposed) {
      return transposed ? (*transposed ? "T" : "N") : "";
    };
    c.layout = fmt::format("{}{}", letter(gemm->transpose_a), letter(gemm->transpose_b));
    c.dtype = gemm->types;
  }
  for (const char* front : {"_MT", "_MI", "_GSU", "_SK", "_ISA"})
    if (const std::string_view part = part_beginning(name, front); !part.empty())
      c.problem += fmt::format("{}{}", c.problem.empty() ? "" : " ", part);
  return out;
}

} // namespace rankscope
