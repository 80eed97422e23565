#include "agent/gpus/nvml_library.h"

namespace muster {

NvmlLibrary::NvmlLibrary(const std::string& name)
    : handle_(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {}

NvmlLibrary::~NvmlLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

std::string NvmlLibrary::Explain(Result result) const {
  if (result == kMissing) return "the driver is too old";
  using Function = const char* (*)(Result);
  const auto function =
      reinterpret_cast<Function>(dlsym(handle_, "nvmlErrorString"));
  const char* text = function == nullptr ? nullptr : function(result);
  return text == nullptr ? "error " + std::to_string(result) : text;
}

std::string NvmlLibrary::IdOf(Device device, Result* result) const {
  char id[kTextBytes] = {};
  *result = Call("nvmlDeviceGetUUID", device, +id, kTextBytes);
  id[kTextBytes - 1] = '\0';
  return id;
}

}  // namespace muster
