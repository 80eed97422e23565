#include "trainer_sdk/cuda/emulation/emulated_cuda.h"

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

// An emulated event stores the time of the host's clock at which it was
// recorded.
Instant& TimeOf(CudaEvent event) { return *reinterpret_cast<Instant*>(event); }

int32_t Allocate(void** memory, int64_t bytes) {
  // The memory comes from malloc, so that AddressSanitizer detects accesses
  // beyond its end.
  *memory = std::malloc(static_cast<size_t>(bytes));
  std::memset(*memory, 0xff, static_cast<size_t>(bytes));
  return 0;
}

int32_t Copy(void* to, const void* from, int64_t bytes, CudaPlugin::CopyKind,
             CudaStream) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  return 0;
}

int32_t Zero(void* at, int64_t bytes, CudaStream) {
  if (bytes > 0) std::memset(at, 0, static_cast<size_t>(bytes));
  return 0;
}

int32_t Milliseconds(float* milliseconds, CudaEvent from, CudaEvent to) {
  *milliseconds =
      std::chrono::duration<float, std::milli>(TimeOf(to) - TimeOf(from))
          .count();
  return 0;
}

}  // namespace

const CudaPlugin& EmulatedCuda() {
  static constexpr CudaPlugin kPlugin = {
      .version = CudaPlugin::Version(),
      .error_text = [](int32_t) { return "no error"; },
      .last_error = [] { return 0; },
      .count_devices = [](int* count) { return *count = 1, 0; },
      .use_device = [](int, int*) { return 0; },
      .allocate = Allocate,
      .free = std::free,
      .copy = Copy,
      .is_pinned = [](const void*) { return false; },
      .zero = Zero,
      .new_stream = [](CudaStream*) { return 0; },
      .delete_stream = [](CudaStream) {},
      .wait_for_stream = [](CudaStream) { return 0; },
      .new_event =
          [](CudaEvent* event, CudaPlugin::EventKind) {
            *event = reinterpret_cast<CudaEvent>(new Instant);
            return 0;
          },
      .delete_event = [](CudaEvent event) { delete &TimeOf(event); },
      .record =
          [](CudaEvent event, CudaStream) {
            TimeOf(event) = MonotonicNow();
            return 0;
          },
      .stream_waits = [](CudaStream, CudaEvent) { return 0; },
      .milliseconds = Milliseconds,
      .convert = cuda::Convert,
      .add_squares = cuda::AddSquares,
      .adamw_update =
          [](const AdamWOptions* options, const OptimizerStep* step,
             const cuda::UpdateArrays* arrays, CudaStream stream) {
            cuda::AdamWUpdate(*options, *step, *arrays, stream);
          },
      .sgd_update =
          [](const SgdOptions* options, const OptimizerStep* step,
             const cuda::UpdateArrays* arrays, CudaStream stream) {
            cuda::SgdUpdate(*options, *step, *arrays, stream);
          }};
  return kPlugin;
}

}  // namespace muster
