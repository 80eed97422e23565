// libFuzzer target for all input of a start over ssh: see ssh_fuzz_case.h.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/ssh_fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  muster::RunSshFuzzCase(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
