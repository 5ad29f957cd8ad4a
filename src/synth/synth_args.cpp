#include "synth/synth_args.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace rankscope::synth {
namespace {

Dims contiguous(const Dims& dims) {
  Dims out(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;)
    out[i - 1] = out[i] * dims[i];
  return out;
}

std::string list_of(const Dims& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

/// Returns the items as a JSON list. `entry` makes the text of each item.
template <class T, class F> std::string list_of(const std::vector<T>& items, const F& entry) {
  std::string out = "[";
  for (const T& item : items) {
    out += out.size() > 1 ? ", " : "";
    out += entry(item);
  }
  return out + "]";
}

} // namespace

Arg Arg::scalar(std::string text) {
  return {Kind::kScalar, {}, std::move(text)};
}
Arg Arg::list(std::string text) {
  return {Kind::kList, {}, std::move(text)};
}
Arg Arg::tensors(std::vector<Tensor> tensors) {
  return {Kind::kTensors, std::move(tensors), ""};
}
Arg Arg::none() {
  return {Kind::kNone, {}, ""};
}

void Arg::make_float() {
  for (Tensor& tensor : tensors_)
    if (std::string_view(tensor.type) == "c10::BFloat16")
      tensor.type = "float";
}

std::string Arg::dims() const {
  if (kind_ == Kind::kTensor)
    return list_of(tensors_[0].dims);
  return list_of(tensors_, [](const Tensor& t) { return list_of(t.dims); });
}

std::string Arg::strides() const {
  const auto tensor_strides = [](const Tensor& t) {
    return list_of(t.strides.empty() ? contiguous(t.dims) : t.strides);
  };
  return kind_ == Kind::kTensor ? tensor_strides(tensors_[0]) : list_of(tensors_, tensor_strides);
}

const char* Arg::type() const {
  switch (kind_) {
  case Kind::kTensor:
    return tensors_[0].type;
  case Kind::kTensors:
    return "TensorList";
  case Kind::kScalar:
    return "Scalar";
  case Kind::kList:
    return "ScalarList";
  case Kind::kNone:
    return "";
  }
  return "";
}

std::string input_dims(const Args& args) {
  return list_of(args, [](const Arg& a) { return a.dims(); });
}

std::string argument_members(const Args& args) {
  if (args.empty())
    return {};
  return fmt::format(
      "\"Concrete Inputs\": {}, \"Input type\": {}, \"Input Strides\": {}, \"Input Dims\": {}",
      list_of(args, [](const Arg& a) { return '"' + a.text() + '"'; }),
      list_of(args, [](const Arg& a) { return fmt::format("\"{}\"", a.type()); }),
      list_of(args, [](const Arg& a) { return a.strides(); }), input_dims(args));
}

} // namespace rankscope::synth
