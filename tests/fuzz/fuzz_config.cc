// libFuzzer target for configuration files: see config_fuzz_case.h.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/config_fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  muster::RunConfigFuzzCase(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
