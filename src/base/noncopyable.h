// Base classes for objects that cannot be copied or moved.
#pragma once

namespace rankscope {

class NonCopyable {
public:
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;

protected:
  NonCopyable() = default;
  ~NonCopyable() = default;
};

/// A base class with virtual functions that derived classes implement; objects cannot be copied or
/// moved.
class Interface {
public:
  Interface() = default;
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  virtual ~Interface() = default;
};

} // namespace rankscope
