// The entry point LLVMFuzzerTestOneInput, which all libFuzzer programs share.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  muster::RunFuzzCase(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
