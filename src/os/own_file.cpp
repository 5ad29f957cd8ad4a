#include "os/own_file.h"

#include <dlfcn.h>
#include <link.h>

namespace rankscope {

std::string this_binary() {
  Dl_info info = {};
  void* extra = nullptr;
  if (::dladdr1(reinterpret_cast<const void*>(&this_binary), &info, &extra, RTLD_DL_LINKMAP) != 0 &&
      extra != nullptr)
    if (const char* const name = static_cast<const link_map*>(extra)->l_name;
        name != nullptr && *name != '\0') // for the program itself, the name is empty
      return name;
  return "/proc/self/exe";
}

} // namespace rankscope
