// A library that is opened at run time: a vendor library, which is not needed to build or start
// rankscope, or a library that few commands use.
#pragma once

#include "base/result.h"

#include <dlfcn.h>
#include <initializer_list>
#include <string>
#include <utility>

namespace rankscope {

class SharedLibrary {
public:
  static constexpr const char* kNotInstalled = "not installed";
  /// Opens `path` or, if `path` is empty, the first of `names` that can be opened. Errors:
  /// kMissingTool with kNotInstalled, or with the loader's message for the last name that was
  /// tried.
  static Result<SharedLibrary> open(const std::string& path,
                                    std::initializer_list<const char*> names) {
    std::string last, why;
    for (const char* name : names) {
      last = path.empty() ? name : path;
      if (void* handle = ::dlopen(last.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr)
        return SharedLibrary(handle, last);
      const char* text = ::dlerror();
      why = text == nullptr ? "cannot be opened" : text;
      if (path.empty() && why.starts_with(last + ": cannot open") &&
          why.ends_with("No such file or directory"))
        why = kNotInstalled;
      if (!path.empty())
        break;
    }
    return Error{ErrorCode::kMissingTool, last, why, ""};
  }
  SharedLibrary(SharedLibrary&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)) {}
  SharedLibrary& operator=(SharedLibrary&&) = delete;
  ~SharedLibrary() {
    if (handle_ != nullptr)
      ::dlclose(handle_);
  }
  /// Sets `function` to the symbol. Returns false and sets null if the library does not have it.
  template <class Function> bool find(const char* symbol, Function*& function) const {
    function = reinterpret_cast<Function*>(::dlsym(handle_, symbol));
    return function != nullptr;
  }
  /// Keeps the library open until the end of the program, for functions that are called after this
  /// object is destroyed.
  void keep() { handle_ = nullptr; }
  [[nodiscard]] const std::string& name() const { return name_; }

private:
  SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  void* handle_;
  std::string name_;
};

} // namespace rankscope
