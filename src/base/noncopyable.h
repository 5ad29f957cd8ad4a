// Bases of classes whose objects stay where they are.
#pragma once

namespace rankscope {

/// Neither copied nor moved.
class NonCopyable {
public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

/// The same for a base that others implement.
class Interface {
public:
  Interface() = default;
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  virtual ~Interface() = default;
};

} // namespace rankscope
