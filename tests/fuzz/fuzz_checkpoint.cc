// libFuzzer target for safetensors headers, checkpoint manifests and lists of
// slices: see checkpoint_fuzz_case.h.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/checkpoint_fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  muster::RunCheckpointFuzzCase(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
