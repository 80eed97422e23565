// libFuzzer target for the code that handles bytes of the store's clients: the
// parser and the core. The input determines which client sends which bytes; see
// store_fuzz_case.h.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/store_fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  muster::RunStoreFuzzCase(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
