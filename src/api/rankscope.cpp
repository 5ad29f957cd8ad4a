// The public interface, on top of loader and report; include/rankscope/rankscope.h is its
// reference.
#include "analyses/analysis.h"
#include "core/steps.h"
#include "engine/loader.h"
#include "os/tasks.h"
#include "writers/writer.h"

#include <rankscope/rankscope.h>

namespace rankscope::v1 {
namespace {

Error public_error(const rankscope::Error& error) {
  const auto kind = [&] {
    switch (error.code) {
    case ErrorCode::kUsage:
      return Error::Kind::kUsage;
    case ErrorCode::kUnreadable:
      return Error::Kind::kInput;
    case ErrorCode::kOutput:
      return Error::Kind::kOutput;
    case ErrorCode::kMissingTool:
      return Error::Kind::kMissingTool;
    case ErrorCode::kInterrupted:
    case ErrorCode::kRegression:
    case ErrorCode::kInternal:
      return Error::Kind::kInternal;
    }
    return Error::Kind::kInternal;
  };
  return {kind(), error.message()};
}

/// Converts an exception of a library (mostly out of memory) into an Error, so that no exception
/// leaves the public interface.
template <class T, class F> Outcome<T> guarded(const F& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error{Error::Kind::kInternal, "out of memory"};
  } catch (const std::exception& e) {
    return Error{Error::Kind::kInternal, e.what()};
  }
}

} // namespace

struct Table::Impl {
  rankscope::Table table;
  std::vector<Column> columns;

  explicit Impl(rankscope::Table t) : table(std::move(t)) {
    for (const rankscope::Column& c : table.columns())
      columns.push_back({c.id, c.name, unit_name(c.unit), c.help});
  }
  /// Returns a blank value beyond the table.
  [[nodiscard]] Value at(std::size_t row, std::size_t column) const {
    return row < table.rows() && column < table.cols() ? table.at(row, column) : Value();
  }
};

const std::string& Table::name() const {
  return impl_->table.name();
}
std::size_t Table::rows() const {
  return impl_->table.rows();
}
const std::vector<Column>& Table::columns() const {
  return impl_->columns;
}

std::optional<std::size_t> Table::column(std::string_view id_or_label) const {
  const auto find = [&](std::string Column::*text) -> std::optional<std::size_t> {
    for (std::size_t c = 0; c < impl_->columns.size(); ++c)
      if (impl_->columns[c].*text == id_or_label)
        return c;
    return std::nullopt;
  };
  if (id_or_label.empty())
    return std::nullopt; // sheets without ids have empty ids
  const auto by_id = find(&Column::id);
  return by_id ? by_id : find(&Column::label);
}

CellType Table::type(std::size_t row, std::size_t column) const {
  const Value value = impl_->at(row, column);
  if (value.is_null())
    return CellType::kBlank;
  switch (value.kind) {
  case CellKind::kInt:
    return CellType::kInteger;
  case CellKind::kDouble:
    return CellType::kNumber;
  case CellKind::kBool:
    return CellType::kBool;
  case CellKind::kText:
    return CellType::kText;
  case CellKind::kNull:
    return CellType::kBlank;
  }
  return CellType::kBlank;
}

std::optional<double> Table::number(std::size_t row, std::size_t column) const {
  const Value value = impl_->at(row, column);
  if (value.is_null() || value.kind == CellKind::kText)
    return std::nullopt;
  return value.number();
}

std::optional<std::int64_t> Table::integer(std::size_t row, std::size_t column) const {
  const Value value = impl_->at(row, column);
  if (value.kind == CellKind::kInt || value.kind == CellKind::kBool)
    return value.i;
  return std::nullopt;
}

std::string_view Table::text(std::size_t row, std::size_t column) const {
  return impl_->at(row, column).text;
}

std::string Table::shown(std::size_t row, std::size_t column) const {
  const Value value = impl_->at(row, column);
  switch (type(row, column)) {
  case CellType::kBlank:
    return {};
  case CellType::kInteger:
    return std::to_string(value.i);
  case CellType::kNumber:
    return shortest_double(value.d);
  case CellType::kBool:
    return value.i != 0 ? "True" : "False";
  case CellType::kText:
    return std::string(value.text);
  }
  return {};
}

struct Trace::Impl {
  LoadedTrace loaded;

  explicit Impl(LoadedTrace t) : loaded(std::move(t)) {}
};

Trace::Trace(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Trace::Trace(Trace&&) noexcept = default;
Trace& Trace::operator=(Trace&&) noexcept = default;
Trace::~Trace() = default;

Outcome<Trace> Trace::load(const std::string& path, const LoadOptions& options) {
  return guarded<Trace>([&]() -> Outcome<Trace> {
    rankscope::LoadOptions inner;
    inner.threads = options.threads == 0 ? default_threads() : options.threads;
    inner.keep_python = options.keep_python_frames;
    auto loaded = load_trace(path, inner);
    if (!loaded)
      return public_error(loaded.error());
    return Trace(std::make_unique<Impl>(std::move(*loaded)));
  });
}

std::optional<std::int64_t> Trace::rank() const {
  return impl_->loaded.trace.header.rank;
}
std::uint64_t Trace::events() const {
  return impl_->loaded.trace.events_in_file;
}
std::uint64_t Trace::gpu_events() const {
  return impl_->loaded.tree.gpu_event_count();
}
std::uint64_t Trace::linked_gpu_events() const {
  return impl_->loaded.tree.linked_count();
}

std::vector<Problem> Trace::problems() const {
  std::vector<Problem> out;
  for (const rankscope::Problem& p : impl_->loaded.trace.diagnostics.problems())
    out.push_back({p.severity == Severity::kDataLoss, p.count,
                   p.where.empty() ? p.sentence : p.where + ": " + p.sentence});
  return out;
}

Outcome<std::vector<Table>> Trace::report(const ReportOptions& options) const {
  return guarded<std::vector<Table>>([&]() -> Outcome<std::vector<Table>> {
    rankscope::ReportOptions inner;
    inner.sheets = {options.sheets.begin(), options.sheets.end()};
    inner.gpu_arch = options.gpu_arch;
    inner.short_kernel_threshold_us = options.short_kernel_threshold_us;
    inner.include_unlinked_kernels = options.include_unlinked_kernels && !options.compat_tracelens;
    inner.compat_tracelens = options.compat_tracelens;
    auto report = options.compat_tracelens
                      ? build_report(linked_again(impl_->loaded, TreeRules::kReference), inner)
                      : build_report(impl_->loaded, inner);
    if (!report)
      return public_error(report.error());
    std::vector<Table> out;
    for (rankscope::Table& table : report->tables)
      out.push_back(Table(std::make_shared<const Table::Impl>(std::move(table))));
    return out;
  });
}

std::string_view version() {
  return RANKSCOPE_VERSION;
}

} // namespace rankscope::v1
