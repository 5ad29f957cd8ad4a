// AnyPart: the data of one rank for an analysis, of any type, while it is in memory.
#pragma once

#include <memory>
#include <typeinfo>
#include <utility>

namespace rankscope {

/// Owns one value of any movable type. Move-only.
class AnyPart {
public:
  AnyPart() = default;
  template <class T> [[nodiscard]] static AnyPart of(T value) {
    AnyPart part;
    part.value_ = std::make_unique<TypedValue<T>>(std::move(value));
    return part;
  }
  [[nodiscard]] bool empty() const { return value_ == nullptr; }
  /// Returns the value, or nullptr if the value has another type.
  template <class T> [[nodiscard]] const T* get() const {
    return value_ != nullptr && value_->type() == typeid(T)
               ? &static_cast<const TypedValue<T>*>(value_.get())->value
               : nullptr;
  }
  template <class T> [[nodiscard]] T* get() {
    return const_cast<T*>(static_cast<const AnyPart*>(this)->get<T>());
  }

private:
  struct Base {
    Base() = default;
    Base(const Base&) = delete;
    Base& operator=(const Base&) = delete;
    virtual ~Base() = default;
    [[nodiscard]] virtual const std::type_info& type() const = 0;
  };
  template <class T> struct TypedValue final : Base {
    explicit TypedValue(T v) : value(std::move(v)) {}
    [[nodiscard]] const std::type_info& type() const override { return typeid(T); }
    T value;
  };
  std::unique_ptr<Base> value_;
};

} // namespace rankscope
