// libFuzzer target for the CSV of pipeline schedules: see
// schedule_csv_fuzz_case.h.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/fuzz/schedule_csv_fuzz_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  muster::RunScheduleCsvFuzzCase(
      std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
