// Matrix products: converts row-major operands into a column-major call of cuBLASLt or hipBLASLt,
// as PyTorch does.
#include "model/replay/replay_request.h"

#include "base/ascii.h"
#include "model/ops/op_model.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>

namespace rankscope {
namespace {

constexpr std::int64_t kMaxGemmExtent = std::int64_t{1} << 31;
constexpr std::int64_t kMaxStride = std::int64_t{1} << 50;

/// Returns the name of a recorded type in hipblaslt-bench; "" = hipblaslt-bench does not support
/// the type.
std::string_view bench_type(std::string_view recorded) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {"float", "f32_r"},
      {"double", "f64_r"},
      {"c10::half", "f16_r"},
      {"c10::bfloat16", "bf16_r"},
      {"c10::float8_e4m3fn", "f8_r"},
      {"c10::float8_e5m2", "bf8_r"},
      {"c10::float8_e4m3fnuz", "f8_fnuz_r"},
      {"c10::float8_e5m2fnuz", "bf8_fnuz_r"}};
  const std::string name = lowercase(recorded);
  for (const auto& [known, type] : kTypes)
    if (known == name)
      return type;
  return {};
}

bool eight_bits(std::string_view type) {
  return contains(type, "f8");
}

/// Returns the type for a type number of PyTorch (c10/core/ScalarType.h), which _scaled_mm records
/// for its output.
std::string_view type_of_number(std::int64_t number) {
  switch (number) {
  case 5:
    return "f16_r";
  case 6:
    return "f32_r";
  case 15:
    return "bf16_r";
  case 23:
    return "bf8_r";
  case 24:
    return "f8_r";
  case 25:
    return "bf8_fnuz_r";
  case 26:
    return "f8_fnuz_r";
  default:
    return {};
  }
}

/// The last two dimensions of an operand in PyTorch; row-major if col_stride is 1.
struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_stride = 0, col_stride = 0; ///< distances in elements between rows and between
                                               ///< columns
  std::int64_t batch = 1, batch_stride = 0;
};

/// Returns argument i as a matrix with `rank` dimensions. If it is not recorded like this, returns
/// nullopt and sets `why`.
std::optional<Matrix> matrix(const ParsedArgs& args, std::size_t i, std::size_t rank,
                             std::string& why) {
  const Shape shape = args.dims(i);
  const auto strides = args.stride_list(i);
  if (shape.size() != rank) {
    why = fmt::format("argument {} has {} dimensions, expected {}", i, shape.size(), rank);
    return std::nullopt;
  }
  if (!strides || strides->size() != rank) {
    why = "the trace has no strides of a matrix, so transposed and other matrices cannot be "
          "distinguished";
    return std::nullopt;
  }
  for (std::size_t d = 0; d < rank; ++d)
    if (shape[d] <= 0 || shape[d] >= kMaxGemmExtent || (*strides)[d] < 0 ||
        (*strides)[d] > kMaxStride) {
      why = shape[d] == 0 ? "an empty product" : "an extent or stride that no library accepts";
      return std::nullopt;
    }
  Matrix m{shape[rank - 2], shape[rank - 1], (*strides)[rank - 2], (*strides)[rank - 1]};
  if (rank == 3) {
    m.batch = shape[0];
    m.batch_stride = (*strides)[0];
  }
  // the stride of a dimension with one element has no effect, so it can be set to any value
  if (m.cols == 1)
    m.col_stride = 1;
  if (m.rows == 1)
    m.row_stride = std::max(m.row_stride, m.cols);
  return m;
}

/// An operand in the column-major call.
struct Placed {
  bool transposed = false;
  std::int64_t ld = 0, batch_stride = 0;
  bool copied = false; ///< PyTorch first copies the operand to a dense matrix
};

/// Computes how a matrix is passed. `swapped`: the call computes the transposed result, so a
/// row-major matrix needs no transpose.
Placed place(const Matrix& m, bool swapped) {
  const bool row_major = m.col_stride == 1 && m.row_stride >= m.cols;
  const bool col_major = m.row_stride == 1 && m.col_stride >= m.rows;
  // PyTorch treats a matrix that is both (with one column or one row) as row-major
  if (row_major)
    return {!swapped, m.row_stride, m.batch_stride, false};
  if (col_major)
    return {swapped, m.col_stride, m.batch_stride, false};
  return {!swapped, m.cols, m.rows * m.cols, true};
}

void add_note_replay_gemm(std::string& note, std::string_view more) {
  note += note.empty() ? "" : "; ";
  note += more;
}

/// Sets the operands of the call from the recorded A (M x K) and B (K x N), `batch` of each.
/// `swapped`: see place().
void place_operands(const Matrix& a, const Matrix& b, bool swapped, GemmReplay& g,
                    std::string& note) {
  const Placed pa = place(a, swapped);
  const Placed pb = place(b, swapped);
  const Placed& first = swapped ? pb : pa;
  const Placed& second = swapped ? pa : pb;
  g.m = swapped ? b.cols : a.rows;
  g.n = swapped ? a.rows : b.cols;
  g.k = a.cols;
  g.batch = a.batch;
  g.trans_a = first.transposed;
  g.trans_b = second.transposed;
  g.lda = first.ld;
  g.ldb = second.ld;
  g.ldd = g.m;
  if (g.batch > 1) {
    g.stride_a = first.batch_stride;
    g.stride_b = second.batch_stride;
    g.stride_d = g.m * g.n;
    if (g.stride_a == 0 || g.stride_b == 0)
      add_note_replay_gemm(note,
                           "the batch shares a matrix, the replay reads one for each product");
  }
  if (pa.copied || pb.copied)
    add_note_replay_gemm(
        note, fmt::format("{} is copied to a dense matrix first, which the replay leaves out",
                          pa.copied && pb.copied ? "each operand"
                          : pa.copied            ? "A"
                                                 : "B"));
}

/// The positions of the operands of an operator.
struct ReplayGemmOperands {
  std::string_view name;
  std::size_t a = 0, b = 1, rank = 2;
  bool added = false; ///< argument 0 is added, multiplied by beta (argument 3); argument 4 is alpha
};
constexpr ReplayGemmOperands kOperators[] = {{"aten::mm", 0, 1, 2, false},
                                             {"aten::addmm", 1, 2, 2, true},
                                             {"aten::bmm", 0, 1, 3, false},
                                             {"aten::baddbmm", 1, 2, 3, true},
                                             {"aten::_scaled_mm", 0, 1, 2, false}};

/// Sets alpha, beta and the added operand. If PyTorch uses the epilogue of cuBLASLt, a vector over
/// the columns is passed as the bias of the epilogue. In all other cases, the added operand is C.
std::string add_bias(const ParsedArgs& args, const ReplayGemmOperands& op, GemmReplay& g,
                     std::string& note) {
  g.beta = args.concrete(3).empty() ? 1 : args.number(3).value_or(kUnknown);
  g.alpha = args.concrete(4).empty() ? 1 : args.number(4).value_or(kUnknown);
  if (!std::isfinite(g.alpha) || !std::isfinite(g.beta))
    return "alpha or beta is not a number";
  const Shape shape = args.dims(0);
  const auto strides = args.stride_list(0);
  const bool light = g.type_a == "f32_r" || g.type_a == "f16_r" || g.type_a == "bf16_r";
  if (op.rank == 2 && light && g.beta == 1 && shape.size() == 1 && shape[0] == g.m && strides &&
      strides->size() == 1 && ((*strides)[0] == 1 || g.m == 1) && g.m > 1 && g.k > 1) {
    g.beta = 0;
    g.bias_type = g.type_d;
  } else if (g.beta != 0) {
    add_note_replay_gemm(
        note, "what is added is copied into the result first, which the replay leaves out");
  }
  return "";
}

/// Reads the 8-bit product: arguments 2 and 3 are the scales of A and B, 4 is the bias, 6 is the
/// type of the result.
std::string scale(const ParsedArgs& args, const Matrix& a, const Matrix& b, GemmReplay& g,
                  std::string& note) {
  if (lowercase(args.type(2)) != "float" || lowercase(args.type(3)) != "float")
    return "its scales are not where they are expected (arguments 2 and 3)";
  const auto kind = [&](std::size_t i, std::int64_t rows) -> int {
    const Shape shape = args.dims(i);
    const double count = elements(shape);
    return count == 1 ? 1 : count == static_cast<double>(rows) ? 2 : 0;
  };
  // A and B are swapped in the call
  g.scale_a = kind(3, b.cols);
  g.scale_b = kind(2, a.rows);
  if (g.scale_a == 0 || g.scale_b == 0)
    return "scales of blocks: no command is known for them";
  if (const auto number = args.integer(6)) {
    g.type_d = type_of_number(*number);
    if (g.type_d.empty())
      return fmt::format("no command for a result of type {}", *number);
  }
  if (!args.dims(4).empty()) {
    g.bias_type = bench_type(args.type(4));
    if (g.bias_type.empty())
      return fmt::format("no command for a bias of type {}", args.type(4));
  }
  if (!args.dims(5).empty())
    add_note_replay_gemm(note, "without the scale of its result");
  return "";
}

/// Sets the types of A, B, D and the compute type. Returns the reason if there is no command for
/// these types.
std::string set_types(const ParsedArgs& args, const ReplayGemmOperands& op, std::string_view kernel,
                      GemmReplay& g) {
  const std::string a = args.type(op.a);
  const std::string b = args.type(op.b);
  g.type_a = bench_type(b); // A and B are swapped in the call
  g.type_b = bench_type(a);
  if (g.type_a.empty() || g.type_b.empty())
    return fmt::format("no command for the type {}",
                       g.type_b.empty() ? (a.empty() ? "that was not recorded" : a) : b);
  const bool scaled = op.name == "aten::_scaled_mm";
  if (scaled != (eight_bits(g.type_a) && eight_bits(g.type_b)) || (!scaled && g.type_a != g.type_b))
    return fmt::format("no command for the types {} and {} in {}", a, b, op.name);
  g.type_d = g.type_b;
  g.compute = g.scale = g.type_a == "f64_r" ? "f64_r" : "f32_r";
  const std::string name = lowercase(kernel.substr(0, 1000));
  if (g.type_a == "f32_r" && (contains(name, "tf32") || contains(name, "xf32")))
    g.compute = "xf32_r";
  return "";
}

} // namespace

ReplayRequest replay::gemm(std::string_view name, const ParsedArgs& args, std::string_view kernel) {
  const auto* const op = std::find_if(std::begin(kOperators), std::end(kOperators),
                                      [&](const ReplayGemmOperands& o) { return o.name == name; });
  if (op == std::end(kOperators))
    return no_call("the arguments of this operator do not say how its library is called");
  std::string why;
  std::string note;
  GemmReplay g;
  if (why = set_types(args, *op, kernel, g); !why.empty())
    return no_call(why);
  const auto a = matrix(args, op->a, op->rank, why);
  const auto b = a ? matrix(args, op->b, op->rank, why) : std::nullopt;
  if (!a || !b)
    return no_call(why);
  if (a->cols != b->rows || a->batch != b->batch)
    return no_call("the shapes of A and B do not fit each other");
  // in PyTorch, a batched result with one column is already column-major (bmm_out_cuda_impl)
  const bool swapped = op->rank == 2 || b->cols > 1;
  place_operands(*a, *b, swapped, g, note);
  if (op->added)
    why = add_bias(args, *op, g, note);
  else if (op->name == "aten::_scaled_mm")
    why = scale(args, *a, *b, g, note);
  if (!why.empty())
    return no_call(why);
  return {g, note, ""};
}

} // namespace rankscope
