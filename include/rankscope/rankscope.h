// The public interface for embedding: load a trace, analyse it, read the tables. It needs only this
// header and the library target `rankscope::rankscope`. The implementation may change; this header
// does not change within a major version (CONTRIBUTING.md, Versions).
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

/// Returns the version, for example "0.1.0".
[[nodiscard]] std::string_view version();

/// The reason why an operation failed.
struct Error {
  enum class Kind { kUsage, kInput, kOutput, kMissingTool, kInternal };
  Kind kind = Kind::kInternal;
  std::string message; ///< one line: the place, the problem and a hint
};

/// A value or an Error. Check ok() first: reading the alternative that is not set is undefined
/// behaviour.
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
  std::string unit;  ///< "ms", "GB/s", ...; empty if the values have no unit
  std::string help;  ///< the meaning; empty if the label is enough
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
  /// Returns the value of an integer, number or bool cell; nullopt for other cells.
  [[nodiscard]] std::optional<double> number(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t row, std::size_t column) const;
  /// Returns the text of a text cell; empty for other cells. The text lives as long as any copy of
  /// the table.
  [[nodiscard]] std::string_view text(std::size_t row, std::size_t column) const;
  /// Returns the cell as CSV text: numbers in shortest round-trip form, True and False, "" for
  /// blank.
  [[nodiscard]] std::string shown(std::size_t row, std::size_t column) const;

private:
  friend class Trace;
  struct Impl;
  explicit Table(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

struct LoadOptions {
  unsigned threads = 0;            ///< 0: all processors
  bool keep_python_frames = false; ///< for recompute and call stacks; costs memory
};

struct ReportOptions {
  std::vector<std::string> sheets;       ///< names as in docs/report.md; empty: all
  std::string gpu_arch;                  ///< built-in GPU or JSON file; empty: no rooflines
  double short_kernel_threshold_us = 10; ///< upper end of the short-kernel study
  /// Count them in gpu_timeline; ignored with compat_tracelens.
  bool include_unlinked_kernels = true;
  /// Return the same values as TraceLens, including its known quirks.
  bool compat_tracelens = false;
};

/// One problem in the data that did not stop the work.
struct Problem {
  bool data_lost = false;  ///< true: events were dropped; false: only a note
  std::uint64_t count = 0; ///< number of occurrences
  std::string message;
};

/// A trace in memory, linked from GPU work to operators.
class Trace {
public:
  /// Reads a file once (JSON, gzip, zstd; "-" is standard input).
  /// Errors: kInput if the file cannot be read or is not a trace.
  [[nodiscard]] static Outcome<Trace> load(const std::string& path,
                                           const LoadOptions& options = {});

  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  [[nodiscard]] std::optional<std::int64_t> rank() const; ///< rank in the file
  [[nodiscard]] std::uint64_t events() const;             ///< number of entries in the file
  [[nodiscard]] std::uint64_t gpu_events() const;
  [[nodiscard]] std::uint64_t linked_gpu_events() const; ///< events with a launch on the host
  [[nodiscard]] std::vector<Problem> problems() const;

  /// Returns the sheets of `rankscope report`, in its order, without empty ones.
  /// Errors: kUsage for an unknown GPU, kInput for an invalid GPU file.
  [[nodiscard]] Outcome<std::vector<Table>> report(const ReportOptions& options = {}) const;

private:
  struct Impl;
  explicit Trace(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

} // namespace rankscope::v1
