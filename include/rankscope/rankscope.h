// The public interface for embedding: load a trace, analyse it, read the tables. It needs only
// this header and the library target `rankscope::rankscope`. The implementation may change; this
// header does not within a major version (CONTRIBUTING.md, Versions).
//
// Nothing here throws, prints or ends the process. Objects may be moved between threads. Only one
// thread at a time may use a Trace; several threads may read the same table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rankscope::v1 {

/// "0.1.0"
[[nodiscard]] std::string_view version();

/// Why an operation failed.
struct Error {
  enum class Kind { kUsage, kInput, kOutput, kMissingTool, kInternal };
  Kind kind = Kind::kInternal;
  std::string message; ///< where, what and a hint, one line
};

/// A value or an Error. Access to the one that it does not contain is the caller's bug: the value
/// of a failed outcome is empty.
template <class T> class Outcome {
public:
  Outcome(T value) : state_(std::move(value)) {}
  Outcome(Error error) : state_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() { return *std::get_if<0>(&state_); }
  [[nodiscard]] const T& value() const { return *std::get_if<0>(&state_); }
  [[nodiscard]] T& operator*() { return value(); }
  [[nodiscard]] const T& operator*() const { return value(); }
  [[nodiscard]] T* operator->() { return &value(); }
  [[nodiscard]] const T* operator->() const { return &value(); }
  [[nodiscard]] const Error& error() const { return *std::get_if<1>(&state_); }

private:
  std::variant<T, Error> state_;
};

enum class CellType { kBlank, kInteger, kNumber, kBool, kText };

struct Column {
  std::string id;    ///< stable snake_case, for programs; empty if the sheet has no ids
  std::string label; ///< the documented header, for people
  std::string unit;  ///< "ms", "GB/s", ...; empty: no unit
  std::string help;  ///< the meaning; empty: the label is enough
};

/// One sheet. Cheap to copy: copies share their cells, which never change.
class Table {
public:
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] std::size_t rows() const;
  [[nodiscard]] const std::vector<Column>& columns() const;
  /// Returns the position of the column with this id, else with this label.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view id_or_label) const;

  // A row or column beyond the table gives a blank cell.
  [[nodiscard]] CellType type(std::size_t row, std::size_t column) const;
  /// Integers, numbers and bools; nothing for other cells.
  [[nodiscard]] std::optional<double> number(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t row, std::size_t column) const;
  /// The text of a text cell, which lives as long as any copy of the table; empty for other cells.
  [[nodiscard]] std::string_view text(std::size_t row, std::size_t column) const;
  /// The cell as CSV shows it: numbers shortest round-trip, True and False, blank as "".
  [[nodiscard]] std::string shown(std::size_t row, std::size_t column) const;

private:
  friend class Trace;
  struct Impl;
  explicit Table(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

struct LoadOptions {
  unsigned threads = 0;            ///< 0: all processors
  bool keep_python_frames = false; ///< for recompute and call stacks; they cost memory
};

struct ReportOptions {
  std::vector<std::string> sheets;       ///< names as in docs/report.md; empty: all
  std::string gpu_arch;                  ///< built-in GPU or JSON file; empty: no rooflines
  double short_kernel_threshold_us = 10; ///< upper end of the short-kernel study
  bool include_unlinked_kernels = true;  ///< in gpu_timeline; never with compat
  bool compat_tracelens = false;         ///< the reference's values also for known quirks
};

/// One problem in the data that did not stop the work.
struct Problem {
  bool data_lost = false;  ///< events were dropped; else a note
  std::uint64_t count = 0; ///< how often
  std::string message;
};

/// A trace in memory, linked from GPU work to operators.
class Trace {
public:
  /// Reads a file once (JSON, gzip, zstd; "-" is standard input).
  /// Errors: kInput when it cannot be read or is not a trace.
  [[nodiscard]] static Outcome<Trace> load(const std::string& path,
                                           const LoadOptions& options = {});

  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  [[nodiscard]] std::optional<std::int64_t> rank() const; ///< from the file
  [[nodiscard]] std::uint64_t events() const;             ///< entries in the file
  [[nodiscard]] std::uint64_t gpu_events() const;
  [[nodiscard]] std::uint64_t linked_gpu_events() const; ///< with a launch on the host
  [[nodiscard]] std::vector<Problem> problems() const;

  /// Returns the sheets of `rankscope report`, in its order, without empty ones.
  /// Errors: kUsage for an unknown GPU, kInput for a GPU's file.
  [[nodiscard]] Outcome<std::vector<Table>> report(const ReportOptions& options = {}) const;

private:
  struct Impl;
  explicit Trace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace rankscope::v1
