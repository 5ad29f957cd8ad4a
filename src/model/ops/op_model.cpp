#include "model/ops/op_model.h"

#include "model/ops/op_model_impl.h"

#include "base/ascii.h"
#include "base/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <unordered_map>

namespace rankscope {
namespace {

const std::unordered_map<std::string_view, const op_model::Entry*>& models() {
  static const auto kModels = [] {
    std::unordered_map<std::string_view, const op_model::Entry*> out;
    for (const auto& group :
         {op_model::gemm_models(), op_model::conv_models(), op_model::attention_models(),
          op_model::inference_attention_models(), op_model::pointwise_models(),
          op_model::norm_models(), op_model::moe_models(), op_model::fused_models(),
          op_model::memory_models(), op_model::other_models()})
      for (const op_model::Entry& e : group)
        out.emplace(e.key, &e);
    return out;
  }();
  return kModels;
}
constexpr std::int64_t kMaxExtent = std::int64_t{1} << 40;

bool absurd_shape(const ArgValue& v) {
  if (v.kind == ArgValue::Kind::kInt)
    return v.i < 0 || v.i > kMaxExtent;
  return std::any_of(v.list.begin(), v.list.end(), absurd_shape);
}

/// Returns whether the trace contains the arguments that the model needs.
bool recorded(const ParsedArgs& args, const op_model::Entry& model, bool compat) {
  using op_model::ReferenceNeeds;
  if (compat && model.reference_needs == ReferenceNeeds::kNothing)
    return true;
  return args.any() && (!compat || model.reference_needs != ReferenceNeeds::kShapesAndStrides ||
                        args.any_strides());
}

ParsedArgs::Value value_of(std::string_view json) {
  return std::make_shared<const ArgValue>(parse_arg_text(json));
}

} // namespace

ParsedArgs::ParsedArgs(Value dims, Value types, Value strides, Value concrete)
    : dims_(std::move(dims)), types_(std::move(types)), strides_(std::move(strides)),
      concrete_(std::move(concrete)) {}

ParsedArgs::ParsedArgs(std::string_view dims, std::string_view types, std::string_view strides,
                       std::string_view concrete)
    : ParsedArgs(value_of(dims), value_of(types), value_of(strides), value_of(concrete)) {}

Shape ParsedArgs::dims(std::size_t i) const {
  if (i >= dims_->list.size() || !dims_->list[i].is_int_list())
    return {};
  return dims_->list[i].ints();
}

std::vector<Shape> ParsedArgs::shape_list(std::size_t i) const {
  std::vector<Shape> out;
  if (i >= dims_->list.size() || dims_->list[i].kind != ArgValue::Kind::kList)
    return out;
  for (const ArgValue& shape : dims_->list[i].list)
    if (shape.is_int_list())
      out.push_back(shape.ints());
  return out;
}

bool ParsedArgs::absurd() const {
  return absurd_shape(*dims_);
}

std::string ParsedArgs::type(std::size_t i) const {
  return i < types_->list.size() ? types_->list[i].text : std::string();
}

std::string ParsedArgs::strides(std::size_t i) const {
  return i < strides_->list.size() ? python_repr(strides_->list[i], true) : "None";
}

std::optional<Shape> ParsedArgs::stride_list(std::size_t i) const {
  if (i >= strides_->list.size() || !strides_->list[i].is_int_list())
    return std::nullopt;
  return strides_->list[i].ints();
}

std::string ParsedArgs::concrete(std::size_t i) const {
  if (i >= concrete_->list.size())
    return "";
  const ArgValue& v = concrete_->list[i];
  return v.kind == ArgValue::Kind::kText ? v.text : python_repr(v, false);
}

std::vector<bool> ParsedArgs::flags(std::size_t i) const {
  const std::string text = concrete(i);
  std::vector<bool> out;
  for (std::size_t at = 0;;) {
    const std::size_t yes = text.find("True", at), no = text.find("False", at);
    if (yes == no) // neither
      return out;
    out.push_back(yes < no);
    at = std::min(yes, no) + 1;
  }
}

std::optional<Shape> ParsedArgs::int_list(std::size_t i) const {
  const std::string text = concrete(i);
  if (text.empty())
    return std::nullopt;
  const ArgValue v = parse_arg_text(text);
  Shape list;
  if (v.kind == ArgValue::Kind::kInt)
    list = {v.i};
  else if (v.is_int_list())
    list = v.ints();
  else
    return std::nullopt;
  constexpr std::int64_t kMax = std::int64_t{1} << 31;
  if (std::any_of(list.begin(), list.end(), [](std::int64_t x) { return x > kMax || x < -kMax; }))
    return std::nullopt;
  return list;
}

std::optional<std::int64_t> ParsedArgs::integer(std::size_t i) const {
  const auto list = int_list(i);
  return list && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
}

std::optional<double> ParsedArgs::number(std::size_t i) const {
  const std::string text = concrete(i);
  char* end = nullptr;
  const double v = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    return std::nullopt;
  return v;
}

double elements(const Shape& shape) {
  double n = 1;
  for (const std::int64_t extent : shape)
    n *= static_cast<double>(extent);
  return n;
}

double type_bytes(std::string_view type) {
  static const std::unordered_map<std::string_view, double> kBytes = {{"double", 8},
                                                                      {"long int", 8},
                                                                      {"float", 4},
                                                                      {"scalar", 4},
                                                                      {"int", 4},
                                                                      {"c10::half", 2},
                                                                      {"c10::bfloat16", 2},
                                                                      {"c10::float8_e4m3fnuz", 1},
                                                                      {"c10::float8_e4m3fn", 1},
                                                                      {"c10::float8_e5m2", 1},
                                                                      {"c10::float8_e5m2fnuz", 1},
                                                                      {"c10::float8_e8m0fnu", 1},
                                                                      {"unsigned char", 1},
                                                                      {"signed char", 1},
                                                                      {"fp8", 1},
                                                                      {"c10::float4_e2m1fn_x2", 1},
                                                                      {"fp4", 1}};
  const auto it = kBytes.find(lowercase(type));
  return it == kBytes.end() ? kUnknown : it->second;
}

std::string_view type_precision(std::string_view type) {
  static const std::unordered_map<std::string_view, std::string_view> kNames = {
      {"float", "fp32"},
      {"double", "fp64"},
      {"c10::half", "fp16"},
      {"c10::bfloat16", "bf16"},
      {"c10::float8_e4m3fnuz", "fp8"},
      {"c10::float8_e4m3fn", "fp8"},
      {"c10::float8_e5m2", "fp8"},
      {"c10::float8_e5m2fnuz", "fp8"},
      {"unsigned char", "fp8"},
      {"fp8", "fp8"},
      {"fp4", "fp4"},
      {"mxfp4", "fp4"},
      {"c10::float4_e2m1fn_x2", "fp4"}};
  const auto it = kNames.find(lowercase(type));
  return it == kNames.end() ? std::string_view() : it->second;
}

bool has_formula(const OpInfo& op) {
  return models().count(op.model) > 0;
}

unsigned model_needs(const OpInfo& op) {
  const auto it = models().find(op.model);
  return it == models().end() ? 0 : it->second->needs;
}

std::optional<PerfResult> evaluate(const OpInfo& op, const ParsedArgs& args,
                                   const ModelHints& hints, bool compat) {
  const auto it = models().find(op.model);
  if (it == models().end())
    return PerfResult{}; // in the registry without a known formula: blank cells, no estimates
  if (args.absurd() || !recorded(args, *it->second, compat))
    return std::nullopt;
  std::optional<PerfResult> result = it->second->model({op, args, hints, compat});
  if (!result)
    return result;
  if (compat && contains(lowercase(args.type(0)), "e5m2"))
    result->compute_spec.clear(); // a type that the reference does not know
  // the arguments do not have the meaning that the model assumes
  for (const double v : {result->flops, result->bytes, result->flops_bwd, result->bytes_bwd})
    if (v < 0 || std::isinf(v))
      return std::nullopt;
  return result;
}

namespace op_model {

double type_bytes_or(std::string_view type, double fallback) {
  const double v = type_bytes(type);
  return std::isnan(v) ? fallback : v;
}

Params io_params(const Shape& shape, const std::string& in, const std::string& out,
                 std::string stride_in, std::string stride_out) {
  return {{"op_shape", repr(shape)},
          {"dtype_in_out", repr_types({in, out})},
          {"stride_input", std::move(stride_in)},
          {"stride_output", std::move(stride_out)}};
}

Params norm_params(const Shape& shape, const std::string& type, std::string stride,
                   std::string channels, bool has_bias, bool affine, bool training) {
  Params out = io_params(shape, type, "", std::move(stride));
  out.insert(out.end(), {{"num_channels", std::move(channels)},
                         {"has_bias", repr(has_bias)},
                         {"is_affine", repr(affine)},
                         {"is_training", repr(training)}});
  return out;
}

std::string repr(const Shape& shape) {
  std::string out = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    out += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return out + (shape.size() == 1 ? ",)" : ")");
}

std::string repr_count(double v) {
  constexpr double kExact = 9007199254740992.0; // 2^53
  return std::abs(v) <= kExact ? std::to_string(static_cast<std::int64_t>(v)) : python_float(v);
}

std::string repr_types(std::initializer_list<std::string> types) {
  std::string out = "(";
  for (const std::string& type : types)
    out += (out.size() > 1 ? ", " : "") + (type.empty() ? "None" : python_quote(type));
  return out + ")";
}

std::string compute_spec(std::string_view kind, std::string_view type) {
  const std::string_view precision = type_precision(type);
  return precision.empty() ? std::string() : std::string(kind) + "_" + std::string(precision);
}

} // namespace op_model
} // namespace rankscope
