#include "collect/gemm/gemm_problem.h"

#include "base/ascii.h"
#include "collect/library_trace/log_text.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace rankscope {
namespace {

constexpr std::array<const char*, kGemmTypes> kTypeNames = {"f64",    "f32",    "f16", "bf16",
                                                            "f8e4m3", "f8e5m2", "i8",  "i32"};
constexpr std::array<std::uint64_t, kGemmTypes> kTypeBytes = {8, 4, 2, 2, 1, 1, 1, 4};
constexpr std::array<const char*, 5> kComputeNames = {"f32", "tf32", "f64", "f16", "i32"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return out;
}

/// Returns the number of elements that a matrix spans in all batches.
double elements(std::int64_t ld, std::int64_t cols, std::int64_t stride, std::int64_t batch) {
  return static_cast<double>(ld) * static_cast<double>(cols) +
         static_cast<double>(stride) * static_cast<double>(batch - 1);
}

/// The size fields of `key=value` words, by name.
struct NumberField {
  const char* name;
  std::int64_t GemmProblem::*value;
};
constexpr std::array<NumberField, 12> kNumbers = {{{"m", &GemmProblem::m},
                                                   {"n", &GemmProblem::n},
                                                   {"k", &GemmProblem::k},
                                                   {"batch", &GemmProblem::batch},
                                                   {"lda", &GemmProblem::lda},
                                                   {"ldb", &GemmProblem::ldb},
                                                   {"ldc", &GemmProblem::ldc},
                                                   {"ldd", &GemmProblem::ldd},
                                                   {"stride_a", &GemmProblem::stride_a},
                                                   {"stride_b", &GemmProblem::stride_b},
                                                   {"stride_c", &GemmProblem::stride_c},
                                                   {"stride_d", &GemmProblem::stride_d}}};

std::string_view field(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view word = next_word(text);
    if (word.starts_with(key) && word.size() > key.size() && word[key.size()] == '=')
      return word.substr(key.size() + 1);
    if (word.empty())
      break;
  }
  return {};
}

/// Stores the values of named fields and the reason of the first failure. An empty text for a
/// number does not change the field.
class Reader {
public:
  void number(std::string_view text, std::int64_t& to) {
    if (text.empty())
      return;
    if (const auto value = to_number(text))
      to = *value;
    else
      fail(fmt::format("\"{}\" is not a number", text));
  }
  void type(std::string_view text, GemmType& to) {
    if (const auto value = gemm_type(text))
      to = *value;
    else
      fail(fmt::format("no runner for the type \"{}\"", text));
  }
  void compute(std::string_view text, GemmCompute& to) {
    if (const auto value = gemm_compute(text))
      to = *value;
    else
      fail(fmt::format("no runner for the computation \"{}\"", text));
  }
  void transpose(std::string_view text, bool& to) {
    if (text == "N" || text == "T" || text == "C") // for real numbers, C equals T
      to = text != "N";
    else
      fail(fmt::format("no operation \"{}\"", text));
  }
  void fail(std::string why) {
    if (why_.empty())
      why_ = std::move(why);
  }
  TracedGemm result(GemmProblem p, std::string note) {
    p.fill_gaps();
    if (why_.empty())
      why_ = p.problem();
    if (!why_.empty())
      return {std::nullopt, why_, ""};
    return {p, "", std::move(note)};
  }

private:
  std::string why_;
};

/// Returns the usual compute type, for logs that do not contain it.
GemmCompute usual_compute(GemmType a) {
  return a == GemmType::kF64                         ? GemmCompute::kF64
         : a == GemmType::kI8 || a == GemmType::kI32 ? GemmCompute::kI32
                                                     : GemmCompute::kF32;
}

/// Parses a line of rocblas-bench or hipblaslt-bench.
TracedGemm gemm_of_bench_line(std::string_view library, std::string_view config) {
  (void)next_word(config);
  const auto options = parse_options(config, true);
  if (!options)
    return {std::nullopt, "no configuration", ""};
  const auto value = [&](std::string_view name) { return option_value(*options, name); };
  const auto either = [&](std::string_view a, std::string_view b) {
    return value(a).empty() ? value(b) : value(a);
  };
  const std::string function(either("-f", "--function"));
  const bool rocblas = library == "rocblas";
  if (rocblas && !contains(function, "gemm"))
    return {std::nullopt, fmt::format("no runner for {} without rocblas-bench", function), ""};
  if (rocblas && contains(function, "batched") && !contains(function, "strided"))
    return {std::nullopt, "no runner for lists of matrices without rocblas-bench", ""};
  for (const CommandOption& o : *options)
    if (o.name == "-m" && o.values.size() > 1)
      return {std::nullopt, "no runner for grouped products without hipblaslt-bench", ""};
  Reader read;
  GemmProblem p;
  p.family = rocblas ? GemmFamily::kBlas : GemmFamily::kLight;
  p.m = p.n = p.k = 0;
  read.number(value("-m"), p.m);
  read.number(value("-n"), p.n);
  read.number(value("-k"), p.k);
  read.number(value("--batch_count"), p.batch);
  read.transpose(either("--transposeA", "--transA"), p.trans_a);
  read.transpose(either("--transposeB", "--transB"), p.trans_b);
  const std::string_view precision = either("-r", "--precision");
  const auto type_of = [&](std::string_view name) {
    return value(name).empty() ? precision : value(name);
  };
  read.type(type_of("--a_type"), p.a);
  read.type(type_of("--b_type"), p.b);
  read.type(type_of("--c_type"), p.c);
  read.type(type_of("--d_type"), p.d);
  if (const std::string_view c = value("--compute_type"); !c.empty())
    read.compute(c, p.compute);
  else // rocblas_hgemm accumulates in f16
    p.compute = p.a == GemmType::kF16 ? GemmCompute::kF16 : usual_compute(p.a);
  read.number(value("--lda"), p.lda);
  read.number(value("--ldb"), p.ldb);
  read.number(value("--ldc"), p.ldc);
  read.number(value("--ldd"), p.ldd);
  read.number(value("--stride_a"), p.stride_a);
  read.number(value("--stride_b"), p.stride_b);
  read.number(value("--stride_c"), p.stride_c);
  read.number(value("--stride_d"), p.stride_d);
  p.beta = to_number<double>(value("--beta")).value_or(0) != 0;
  const std::string_view activation = value("--activation_type");
  const bool epilogue = (!activation.empty() && activation != "none") ||
                        std::any_of(options->begin(), options->end(), [](const CommandOption& o) {
                          return o.name == "--bias_vector" || o.name == "--use_e";
                        });
  const auto scaled = [&](std::string_view name) {
    return !value(name).empty() && value(name) != "0";
  };
  const bool scales = scaled("--scaleA") || scaled("--scaleB");
  return read.result(p, epilogue && scales ? "without its epilogue and scales"
                        : epilogue         ? "without its epilogue"
                        : scales           ? "without its scales"
                                           : "");
}

/// Parses a configuration of cuBLASLt, as parse_cublaslt() writes it.
TracedGemm gemm_of_cublaslt(std::string_view config) {
  Reader read;
  GemmProblem p;
  p.family = GemmFamily::kLight;
  read.number(field(config, "m"), p.m);
  read.number(field(config, "n"), p.n);
  read.number(field(config, "k"), p.k);
  read.number(field(config, "batch"), p.batch);
  read.transpose(field(config, "transa"), p.trans_a);
  read.transpose(field(config, "transb"), p.trans_b);
  read.type(field(config, "atype"), p.a);
  read.type(field(config, "btype"), p.b);
  read.type(field(config, "ctype"), p.c);
  read.type(field(config, "dtype"), p.d);
  read.compute(field(config, "compute"), p.compute);
  const std::string_view epilogue = field(config, "epilogue");
  const bool has = !epilogue.empty() && !contains(epilogue, "DEFAULT");
  return read.result(p, has ? fmt::format("without its epilogue {}", epilogue) : "");
}

/// Returns the type in the name of a cuBLAS function: cublasSgemm_v2; empty for cublasGemmEx.
std::optional<GemmType> type_of_function(std::string_view function) {
  for (const auto& [name, type] : std::initializer_list<std::pair<std::string_view, GemmType>>{
           {"cublasSgemm", GemmType::kF32},
           {"cublasDgemm", GemmType::kF64},
           {"cublasHgemm", GemmType::kF16}})
    if (function.starts_with(name))
      return type;
  return std::nullopt;
}

TracedGemm gemm_of_cublas(std::string_view config) {
  std::string_view rest = config;
  const std::string_view function = next_word(rest);
  const auto named_type = type_of_function(function);
  if (!named_type && !function.starts_with("cublasGemm"))
    return {std::nullopt, fmt::format("no runner for {}", function), ""};
  if (contains(function, "Batched") && !contains(function, "Strided"))
    return {std::nullopt, "no runner for lists of matrices", ""};
  Reader read;
  GemmProblem p;
  read.number(field(rest, "m"), p.m);
  read.number(field(rest, "n"), p.n);
  read.number(field(rest, "k"), p.k);
  read.number(field(rest, "batchCount"), p.batch);
  const auto operation = [&](const char* key) { // CUBLAS_OP_T
    const std::string_view v = field(rest, key);
    return v.empty() ? v : v.substr(v.size() - 1);
  };
  read.transpose(operation("transa"), p.trans_a);
  read.transpose(operation("transb"), p.trans_b);
  const auto type = [&](const char* key, GemmType& to) {
    if (named_type)
      to = *named_type;
    else
      read.type(field(rest, key), to);
  };
  type("Atype", p.a);
  type("Btype", p.b);
  type("Ctype", p.c);
  p.d = p.c;
  if (const std::string_view c = field(rest, "computeType"); !c.empty())
    read.compute(c, p.compute);
  else
    p.compute = named_type == GemmType::kF16 ? GemmCompute::kF16 : usual_compute(p.a);
  read.number(field(rest, "lda"), p.lda);
  read.number(field(rest, "ldb"), p.ldb);
  read.number(field(rest, "ldc"), p.ldc);
  p.ldd = p.ldc;
  read.number(field(rest, "strideA"), p.stride_a);
  read.number(field(rest, "strideB"), p.stride_b);
  read.number(field(rest, "strideC"), p.stride_c);
  p.stride_d = p.stride_c;
  return read.result(p, "");
}

} // namespace

const char* gemm_type_name(GemmType type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

std::uint64_t gemm_type_bytes(GemmType type) {
  return kTypeBytes[static_cast<std::size_t>(type)];
}

std::optional<GemmType> gemm_type(std::string_view text) {
  std::string t = lower(text);
  if (t.starts_with("cuda_"))
    t.erase(0, 5);
  if (t.starts_with("r_"))
    t.erase(0, 2);
  else if (t.ends_with("_r"))
    t.resize(t.size() - 2);
  using Type = GemmType;
  static constexpr std::array<std::pair<std::string_view, GemmType>, 25> kNames = {
      {{"f64", Type::kF64},        {"f32", Type::kF32},       {"f16", Type::kF16},
       {"bf16", Type::kBf16},      {"f8e4m3", Type::kF8E4M3}, {"f8e5m2", Type::kF8E5M2},
       {"i8", Type::kI8},          {"i32", Type::kI32},       {"64f", Type::kF64},
       {"32f", Type::kF32},        {"16f", Type::kF16},       {"16bf", Type::kBf16},
       {"8f_e4m3", Type::kF8E4M3}, {"8i", Type::kI8},         {"32i", Type::kI32},
       {"8f_e5m2", Type::kF8E5M2}, {"d", Type::kF64},         {"s", Type::kF32},
       {"h", Type::kF16},          {"f8", Type::kF8E4M3},     {"bf8", Type::kF8E5M2},
       {"half", Type::kF16},       {"float", Type::kF32},     {"double", Type::kF64},
       {"b", Type::kBf16}}};
  for (const auto& [name, type] : kNames)
    if (t == name)
      return type;
  return std::nullopt;
}

const char* gemm_compute_name(GemmCompute compute) {
  return kComputeNames[static_cast<std::size_t>(compute)];
}

std::optional<GemmCompute> gemm_compute(std::string_view text) {
  std::string t = lower(text);
  if (const std::size_t at = t.find("compute_"); at != std::string::npos)
    t.erase(0, at + 8);
  if (t.ends_with("_r"))
    t.resize(t.size() - 2);
  if (t.ends_with("_pedantic"))
    t.resize(t.size() - 9);
  static constexpr std::array<std::pair<std::string_view, GemmCompute>, 14> kNames = {
      {{"f32", GemmCompute::kF32},
       {"tf32", GemmCompute::kTf32},
       {"f64", GemmCompute::kF64},
       {"f16", GemmCompute::kF16},
       {"i32", GemmCompute::kI32},
       {"xf32", GemmCompute::kTf32},
       {"32f", GemmCompute::kF32},
       {"64f", GemmCompute::kF64},
       {"16f", GemmCompute::kF16},
       {"32i", GemmCompute::kI32},
       {"32f_fast_tf32", GemmCompute::kTf32},
       {"s", GemmCompute::kF32},
       {"d", GemmCompute::kF64},
       {"c_f32", GemmCompute::kF32}}};
  for (const auto& [name, compute] : kNames)
    if (t == name)
      return compute;
  return std::nullopt;
}

void GemmProblem::fill_gaps() {
  const auto fill = [](std::int64_t& value, std::int64_t least) {
    if (value == 0)
      value = least;
  };
  fill(lda, rows_a());
  fill(ldb, rows_b());
  fill(ldc, m);
  fill(ldd, m);
  // a valid problem: the multiplications below cannot overflow
  if (batch <= 1 || !problem().empty())
    return;
  fill(stride_a, lda * cols_a());
  fill(stride_b, ldb * cols_b());
  fill(stride_c, ldc * n);
  fill(stride_d, ldd * n);
}

std::string GemmProblem::problem() const {
  if (m < 0 || n < 0 || k < 0 || batch < 0)
    return "a size is negative";
  if (m == 0 || n == 0 || k == 0 || batch == 0)
    return "an empty product";
  if (lda < rows_a() || ldb < rows_b() || ldc < m || ldd < m)
    return "a leading dimension is smaller than its matrix";
  if (stride_a < 0 || stride_b < 0 || stride_c < 0 || stride_d < 0)
    return "a stride is negative";
  constexpr double kMost = 4611686018427387904.0; // 2^62
  for (const double e :
       {elements(lda, cols_a(), stride_a, batch), elements(ldb, cols_b(), stride_b, batch),
        elements(ldc, n, stride_c, batch), elements(ldd, n, stride_d, batch)})
    if (e * 8 > kMost)
      return "its matrices are larger than any memory";
  return "";
}

double GemmProblem::flops() const {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
         static_cast<double>(batch);
}

double GemmProblem::bytes() const {
  const auto size = [](std::int64_t rows, std::int64_t cols, GemmType type) {
    return static_cast<double>(rows) * static_cast<double>(cols) *
           static_cast<double>(gemm_type_bytes(type));
  };
  return static_cast<double>(batch) *
         (size(m, k, a) + size(k, n, b) + size(m, n, d) + (beta ? size(m, n, c) : 0));
}

std::string to_text(const GemmProblem& p) {
  std::string out = fmt::format("family={}", p.family == GemmFamily::kBlas ? "blas" : "light");
  for (const NumberField& f : kNumbers)
    out += fmt::format(" {}={}", f.name, p.*f.value);
  if (p.solution != 0)
    out += fmt::format(" solution={}", p.solution);
  return out + fmt::format(" transa={} transb={} beta={} atype={} btype={} ctype={} dtype={} "
                           "compute={}",
                           p.trans_a ? 'T' : 'N', p.trans_b ? 'T' : 'N', p.beta ? 1 : 0,
                           gemm_type_name(p.a), gemm_type_name(p.b), gemm_type_name(p.c),
                           gemm_type_name(p.d), gemm_compute_name(p.compute));
}

std::optional<GemmProblem> gemm_from_text(std::string_view text) {
  Reader read;
  GemmProblem p;
  const std::string_view family = field(text, "family");
  if (family != "blas" && family != "light")
    return std::nullopt;
  p.family = family == "blas" ? GemmFamily::kBlas : GemmFamily::kLight;
  for (const NumberField& f : kNumbers)
    read.number(field(text, f.name), p.*f.value);
  if (const std::string_view solution = field(text, "solution"); !solution.empty())
    read.number(solution, p.solution);
  read.transpose(field(text, "transa"), p.trans_a);
  read.transpose(field(text, "transb"), p.trans_b);
  p.beta = field(text, "beta") == "1";
  read.type(field(text, "atype"), p.a);
  read.type(field(text, "btype"), p.b);
  read.type(field(text, "ctype"), p.c);
  read.type(field(text, "dtype"), p.d);
  read.compute(field(text, "compute"), p.compute);
  return read.result(p, "").problem;
}

TracedGemm gemm_of_trace(std::string_view library, std::string_view config) {
  if (library == "rocblas" || library == "hipblaslt")
    return gemm_of_bench_line(library, config);
  if (library == "cublaslt")
    return gemm_of_cublaslt(config);
  if (library == "cublas")
    return gemm_of_cublas(config);
  return {std::nullopt, "no runner for this library", ""};
}

} // namespace rankscope
