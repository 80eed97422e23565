#include "agent/gpus/nvml_library.h"

#include <algorithm>

namespace muster::agent {
namespace {

// The structure nvmlPciInfo_t of nvml.h.
struct PciInfo {
  char short_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};

}  // namespace

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

std::string NvmlLibrary::PciAddressOf(Device device) const {
  PciInfo info = {};
  if (Call("nvmlDeviceGetPciInfo_v3", device, &info) != kSuccess) return "";
  info.address[sizeof(info.address) - 1] = '\0';
  std::string address = info.address;  // the format is "00000000:3B:00.0"
  if (address.size() > 12) address.erase(0, address.size() - 12);
  std::transform(address.begin(), address.end(), address.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return address;
}

}  // namespace muster::agent
