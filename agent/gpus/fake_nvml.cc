// A stand-in for NVIDIA's management library, for tests: the environment says
// what it tells. FAKE_NVML_GPUS: how many; FAKE_NVML_MIG: how many instances
// the first has; FAKE_NVML_INIT: what nvmlInit returns.

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

int Setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

// A device is a number: 1 + index, or 101 + index of an instance.
void* DeviceOf(int number) {
  return reinterpret_cast<void*>(static_cast<intptr_t>(number));
}
int NumberOf(void* device) {
  return static_cast<int>(reinterpret_cast<intptr_t>(device));
}

constexpr int kNotFound = 6;
constexpr int kInvalidArgument = 2;
constexpr unsigned kMostInstances = 7;

}  // namespace

extern "C" {

int nvmlInit_v2() { return Setting("FAKE_NVML_INIT"); }
int nvmlShutdown() { return 0; }

const char* nvmlErrorString(int result) {
  return result == 18 ? "Driver/library version mismatch" : "Unknown Error";
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(Setting("FAKE_NVML_GPUS"));
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = DeviceOf(1 + static_cast<int>(index));
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* id, unsigned size) {
  const int number = NumberOf(device);
  if (size < 64) return kInvalidArgument;
  if (number > 100) {
    std::snprintf(id, size, "MIG-%d", number - 101);
  } else {
    std::snprintf(id, size, "GPU-%d", number - 1);
  }
  return 0;
}

int nvmlDeviceGetMigMode(void* device, unsigned* mode, unsigned* pending) {
  *mode = NumberOf(device) == 1 && Setting("FAKE_NVML_MIG") > 0 ? 1 : 0;
  *pending = *mode;
  return 0;
}

int nvmlDeviceGetMaxMigDeviceCount(void* /*device*/, unsigned* count) {
  *count = kMostInstances;
  return 0;
}

// Every second number is a hole.
int nvmlDeviceGetMigDeviceHandleByIndex(void* /*device*/, unsigned index,
                                        void** instance) {
  const int most = Setting("FAKE_NVML_MIG");
  const int number = static_cast<int>(index);
  if (number % 2 == 1 || number / 2 >= most) return kNotFound;
  *instance = DeviceOf(101 + number / 2);
  return 0;
}

}  // extern "C"
