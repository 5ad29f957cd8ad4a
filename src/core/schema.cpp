#include "core/schema.h"

#include "core/column_help.h"

namespace rankscope {

AnyField::AnyField(std::string_view stable_id, std::string_view header, Unit u, CellKind kind,
                   std::function<Value(const void*)> value, std::string_view meaning,
                   ColumnStyle how)
    : id(stable_id), label(header), unit(u), type(kind), get(std::move(value)), help(meaning),
      style(how) {}

Column AnyField::column() const {
  return Column(id, label, unit, type, help.empty() ? std::string(shared_column_help(label)) : help,
                style);
}

void AnySchema::add_field(AnyField field) {
  fields_.push_back(std::move(field));
}

std::vector<Column> AnySchema::columns() const {
  std::vector<Column> out;
  out.reserve(fields_.size());
  for (const AnyField& f : fields_)
    out.push_back(f.column());
  return out;
}

Table AnySchema::table_of(const void* rows, std::size_t count, std::size_t bytes) const {
  Table out(name_, columns());
  std::vector<Value> values(fields_.size());
  for (std::size_t r = 0; r < count; ++r) {
    const void* row = static_cast<const std::byte*>(rows) + r * bytes;
    for (std::size_t c = 0; c < fields_.size(); ++c)
      values[c] = fields_[c].get(row);
    out.add_row(values);
  }
  return out;
}

} // namespace rankscope
