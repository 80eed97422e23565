// libFuzzer target for texts, vocabulary files and token files: see
// bpe_fuzz_case.h.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/bpe_fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  muster::RunBpeFuzzCase(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
