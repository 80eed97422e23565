#include "base/dynamic_library.h"

#include <dlfcn.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace muster {

absl::StatusOr<DynamicLibrary> DynamicLibrary::Load(const std::string& name) {
  // If the process has already loaded a library of this name, such as PyTorch's
  // NCCL, dlopen returns that copy. A second copy in the process would conflict
  // with the first.
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return absl::NotFoundError(absl::StrCat(
        name, " cannot be loaded: ", why == nullptr ? "no reason given" : why));
  }
  return DynamicLibrary(name, handle);
}

void* DynamicLibrary::Address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

}  // namespace muster
