// libFuzzer's target of everything that a client's bytes reach: the parser and
// the core. The first byte of the input tells how the rest is dealt out; see
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
