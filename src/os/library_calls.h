// The functions of a library that is opened when it is first needed. A list of names declares them:
//
//   #define CALLS(RS_CALL) RS_CALL(zip_open) RS_CALL(zip_fclose)
//   struct ZipLibrary { CALLS(RS_LIBRARY_MEMBER) };
//   open_calls<ZipLibrary>(soname, hint, [](ZipLibrary& calls, const auto& find) {
//     CALLS(RS_LIBRARY_FIND)
//   });
#pragma once

#include "os/shared_library.h"

#include <string>

#define RS_LIBRARY_MEMBER(name) decltype(&::name) name = nullptr;
#define RS_LIBRARY_FIND(name) find(#name, calls.name);
#define RS_LIBRARY_LINKED(name) calls.name = &::name;

namespace rankscope {

/// Opens a library; it stays open until the program ends. `find_all` sets each function by calling
/// `find(name, function)`. Errors: kMissingTool with `hint` if the library cannot be opened or
/// lacks a function.
template <class Calls, class FindAll>
Result<Calls> open_calls(const char* soname, const char* hint, const FindAll& find_all) {
  Result<SharedLibrary> library = SharedLibrary::open("", {soname});
  if (!library)
    return Error{ErrorCode::kMissingTool, library.error().where, library.error().what, hint};
  Calls calls;
  const char* lacks = nullptr;
  find_all(calls, [&](const char* name, auto*& function) {
    if (!library->find(name, function))
      lacks = name;
  });
  if (lacks != nullptr)
    return Error{ErrorCode::kMissingTool, library->name(), std::string("has no ") + lacks, hint};
  library->keep();
  return calls;
}

/// Returns a pointer to the opened library, or the error of opening it.
template <class Library> Result<const Library*> shared(const Result<Library>& library) {
  if (!library)
    return library.error();
  return &*library;
}

} // namespace rankscope
