// The arguments of an operator as the profiler records them. They are four lists of equal length,
// with one entry per argument of the operator's schema, whether it was given or not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankscope::synth {

using Dims = std::vector<std::int64_t>;

struct Tensor {
  Dims dims;
  Dims strides; ///< empty: contiguous tensor
  const char* type = "c10::BFloat16";
};

class Arg {
public:
  Arg(Tensor tensor) : kind_(Kind::kTensor), tensors_{std::move(tensor)} {} // NOLINT: by intent

  /// Makes a number or a bool from its text: "0.", "True".
  [[nodiscard]] static Arg scalar(std::string text);
  /// Makes a list of numbers or bools from its text: "[0, 1]".
  [[nodiscard]] static Arg list(std::string text);
  [[nodiscard]] static Arg tensors(std::vector<Tensor> tensors);
  /// Makes an argument that was not given, or whose type the profiler does not print (texts,
  /// generators, groups).
  [[nodiscard]] static Arg none();

  /// Makes bf16 tensors float.
  void make_float();

  [[nodiscard]] std::string dims() const;
  [[nodiscard]] std::string strides() const;
  [[nodiscard]] const char* type() const;
  [[nodiscard]] const std::string& text() const { return text_; }

private:
  enum class Kind : std::uint8_t { kTensor, kTensors, kScalar, kList, kNone };
  Arg(Kind kind, std::vector<Tensor> tensors, std::string text)
      : kind_(kind), tensors_(std::move(tensors)), text_(std::move(text)) {}

  Kind kind_;
  std::vector<Tensor> tensors_;
  std::string text_;
};

using Args = std::vector<Arg>;

/// Returns the value of "Input Dims": "[[4096, 4096], [], ...]".
[[nodiscard]] std::string input_dims(const Args& args);

/// Returns the members that record_shapes adds to "args", in the order of the profiler, without
/// commas at the ends. Returns "" without arguments, for operators that record no arguments.
[[nodiscard]] std::string argument_members(const Args& args);

} // namespace rankscope::synth
