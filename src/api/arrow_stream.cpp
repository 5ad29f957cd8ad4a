#include "api/arrow_stream.h"

#include "base/noncopyable.h"
#include "os/tasks.h"
#include "sql/column_cell.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <rankscope/rankscope_c.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankscope {
namespace {

constexpr std::size_t kBatchRows = std::size_t{64} << 10;
/// A batch ends at the row where the bytes of a text column exceed this limit: the long name of an
/// operator may be repeated in every kernel below it.
constexpr std::size_t kBatchBytes = std::size_t{64} << 20;

const char* arrow_format(CellKind type) {
  switch (type) {
  case CellKind::kInt:
    return "l";
  case CellKind::kDouble:
    return "g";
  case CellKind::kBool:
    return "b";
  case CellKind::kText:
  case CellKind::kNull:
    break;
  }
  return "U";
}

void append_number(std::string& out, std::size_t number) {
  const auto value = static_cast<std::int32_t>(number);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Encodes label, unit and help as the specification requires; "" if the column has no label, unit
/// or help.
std::string arrow_metadata(const Column& column) {
  std::string pairs;
  std::size_t count = 0;
  const auto add = [&](std::string_view key, std::string_view value) {
    if (value.empty())
      return;
    ++count;
    for (const std::string_view text : {key, value}) {
      append_number(pairs, text.size());
      pairs += text;
    }
  };
  add("label", column.name == column.id ? "" : column.name);
  add("unit", unit_name(column.unit));
  add("help", column.help);
  std::string out;
  if (count > 0)
    append_number(out, count);
  return out + pairs;
}

/// The children of a schema or a batch. A consumer may move a child away and release it later than
/// its parent, so each child has separate memory.
template <class Struct> class ArrowChildren : NonCopyable {
public:
  explicit ArrowChildren(std::size_t most) {
    children_.reserve(most);
    pointers_.reserve(most);
  }
  ~ArrowChildren() {
    for (Struct& child : children_)
      if (child.release != nullptr)
        child.release(&child);
  }
  void add(const Struct& child) {
    children_.push_back(child);
    pointers_.push_back(&children_.back());
  }
  void show_in(Struct& parent) {
    parent.n_children = static_cast<std::int64_t>(pointers_.size());
    parent.children = pointers_.data();
  }

private:
  std::vector<Struct> children_;
  std::vector<Struct*> pointers_;
};

template <class Memory, class Struct> void release_memory(Struct* object) {
  delete static_cast<Memory*>(object->private_data);
  object->release = nullptr;
}

struct FieldMemory {
  std::string name, metadata;
};

ArrowSchema field_of(const Column& column) {
  auto memory = std::make_unique<FieldMemory>(FieldMemory{column.id, arrow_metadata(column)});
  ArrowSchema out = {};
  out.format = arrow_format(column.type);
  out.name = memory->name.c_str();
  out.metadata = memory->metadata.empty() ? nullptr : memory->metadata.c_str();
  out.flags = ARROW_FLAG_NULLABLE;
  out.release = &release_memory<FieldMemory, ArrowSchema>;
  out.private_data = memory.release();
  return out;
}

ArrowSchema schema_of(const SqlTable& table) {
  using Memory = ArrowChildren<ArrowSchema>;
  auto memory = std::make_unique<Memory>(table.columns.size());
  for (const Column& column : table.columns)
    memory->add(field_of(column));
  ArrowSchema out = {};
  out.format = "+s";
  out.name = "";
  memory->show_in(out);
  out.release = &release_memory<Memory, ArrowSchema>;
  out.private_data = memory.release();
  return out;
}

/// The buffers of one column of a batch.
class ColumnMemory {
public:
  ColumnMemory(CellKind type, std::size_t rows) : type_(type), rows_(rows) {
    if (type == CellKind::kInt || type == CellKind::kDouble)
      numbers_.resize(rows);
    else if (type == CellKind::kBool)
      bytes_.resize((rows + 7) / 8);
    else
      offsets_.reserve(rows + 1);
    if (is_text())
      offsets_.push_back(0);
  }

  /// Sets the value of a row; rows ascend. Returns false if the batch has to end before this row.
  bool set(std::size_t row, const Value& value) {
    switch (type_) {
    case CellKind::kInt:
      put_number(row, integer_cell(value));
      return true;
    case CellKind::kDouble:
      put_number(row, number_cell(value));
      return true;
    case CellKind::kBool:
      if (const std::optional<bool> cell = bool_cell(value); !cell)
        set_null(row);
      else if (*cell)
        bytes_[row / 8] = static_cast<char>(bytes_[row / 8] | (1 << (row % 8)));
      return true;
    case CellKind::kText:
    case CellKind::kNull:
      break;
    }
    const std::optional<std::string_view> cell = text_cell(value, storage_);
    if (cell && row > 0 && bytes_.size() + cell->size() > kBatchBytes)
      return false;
    if (cell)
      bytes_ += *cell;
    else
      set_null(row);
    offsets_.push_back(static_cast<std::int64_t>(bytes_.size()));
    return true;
  }

  static ArrowArray finish(std::unique_ptr<ColumnMemory> memory, std::size_t rows) {
    ArrowArray out = {};
    out.length = static_cast<std::int64_t>(rows);
    out.null_count = memory->validity_.empty() ? 0 : -1; // -1: the consumer counts them
    const void* const validity = memory->validity_.empty() ? nullptr : memory->validity_.data();
    const void* const bytes = memory->bytes_.data();
    if (memory->is_text())
      memory->buffers_ = {validity, memory->offsets_.data(), bytes};
    else
      memory->buffers_ = {
          validity, memory->type_ == CellKind::kBool ? bytes : memory->numbers_.data(), nullptr};
    out.n_buffers = memory->is_text() ? 3 : 2;
    out.buffers = memory->buffers_.data();
    out.release = &release_memory<ColumnMemory, ArrowArray>;
    out.private_data = memory.release();
    return out;
  }

private:
  [[nodiscard]] bool is_text() const {
    return type_ == CellKind::kText || type_ == CellKind::kNull;
  }
  template <class T> void put_number(std::size_t row, const std::optional<T>& cell) {
    static_assert(sizeof(T) == sizeof(std::int64_t));
    if (cell)
      std::memcpy(&numbers_[row], &*cell, sizeof(T));
    else
      set_null(row);
  }
  void set_null(std::size_t row) {
    if (validity_.empty())
      validity_.assign((rows_ + 7) / 8, std::uint8_t{0xff});
    validity_[row / 8] = static_cast<std::uint8_t>(validity_[row / 8] & ~(1U << (row % 8)));
  }

  CellKind type_;
  std::size_t rows_;
  std::vector<std::uint8_t> validity_; ///< empty: no row is NULL
  std::vector<std::int64_t> numbers_;  ///< integers, or the bits of doubles
  std::vector<std::int64_t> offsets_;
  std::string bytes_;   ///< bytes of texts or flags
  std::string storage_; ///< for texts that are converted
  std::array<const void*, 3> buffers_{};
};

struct BatchMemory {
  ArrowChildren<ArrowArray> columns;
  const void* no_validity = nullptr;
};

/// One pass over a table.
class ArrowReading {
public:
  explicit ArrowReading(ArrowRows rows) : rows_(std::move(rows)) {}

  int schema(ArrowSchema* out) {
    return guarded([&] { *out = schema_of(*rows_.table); });
  }

  int next(ArrowArray* out) {
    return guarded([&] {
      *out = {}; // a released array means the end
      const std::vector<SqlPart>& parts = rows_.table->parts;
      while (part_ < parts.size() && row_ >= parts[part_].rows) {
        ++part_;
        row_ = 0;
      }
      if (part_ < parts.size())
        *out = batch(parts[part_]);
    });
  }

  [[nodiscard]] const char* error() const { return failed_ ? error_.c_str() : nullptr; }

private:
  template <class Work> int guarded(const Work& work) {
    try {
      const std::unique_lock lock =
          rows_.mutex == nullptr ? std::unique_lock<std::mutex>() : std::unique_lock(*rows_.mutex);
      failed_ = false;
      work();
      return 0;
    } catch (const std::bad_alloc&) {
      failed_ = true;
      error_ = "out of memory"; // short enough not to allocate
      return ENOMEM;
    } catch (...) {
      failed_ = true;
      error_ = error_of_current_exception().message();
      return EIO;
    }
  }

  ArrowArray batch(const SqlPart& part) {
    std::size_t rows = std::min(most_rows_, part.rows - row_);
    const std::size_t wanted = rows;
    std::vector<std::unique_ptr<ColumnMemory>> columns;
    for (std::size_t c = 0; c < rows_.table->columns.size(); ++c) {
      columns.push_back(std::make_unique<ColumnMemory>(rows_.table->columns[c].type, rows));
      ColumnMemory& column = *columns.back();
      part.read(c, row_, rows, [&](std::size_t i, const Value& value) {
        if (i < rows && !column.set(i, value))
          rows = i;
      });
    }
    // if texts are long, limit the rows that are read but do not fit into the batch
    most_rows_ = rows < wanted ? std::max<std::size_t>(rows, 1)
                               : std::min(kBatchRows, 2 * std::max<std::size_t>(most_rows_, 1));
    std::unique_ptr<BatchMemory> memory(new BatchMemory{ArrowChildren<ArrowArray>(columns.size())});
    for (std::unique_ptr<ColumnMemory>& column : columns)
      memory->columns.add(ColumnMemory::finish(std::move(column), rows));
    ArrowArray out = {};
    out.length = static_cast<std::int64_t>(rows);
    out.n_buffers = 1;
    out.buffers = &memory->no_validity;
    memory->columns.show_in(out);
    out.release = &release_memory<BatchMemory, ArrowArray>;
    out.private_data = memory.release();
    row_ += rows;
    return out;
  }

  ArrowRows rows_;
  std::size_t part_ = 0, row_ = 0; ///< position of the next batch
  std::size_t most_rows_ = kBatchRows;
  bool failed_ = false;
  std::string error_;
};

ArrowReading& reading_of(const ArrowArrayStream* stream) {
  return *static_cast<ArrowReading*>(stream->private_data);
}

} // namespace

void make_arrow_stream(ArrowRows rows, ArrowArrayStream& out) {
  out = {};
  out.private_data = new ArrowReading(std::move(rows));
  out.get_schema = [](ArrowArrayStream* stream, ArrowSchema* schema) {
    return reading_of(stream).schema(schema);
  };
  out.get_next = [](ArrowArrayStream* stream, ArrowArray* array) {
    return reading_of(stream).next(array);
  };
  out.get_last_error = [](ArrowArrayStream* stream) { return reading_of(stream).error(); };
  out.release = [](ArrowArrayStream* stream) {
    delete &reading_of(stream);
    stream->release = nullptr;
  };
}

} // namespace rankscope
