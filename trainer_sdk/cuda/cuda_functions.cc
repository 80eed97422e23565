#include <cuda_runtime.h>

#include "trainer_sdk/cuda/cuda_plugin.h"

namespace muster {
namespace {

static_assert(CudaPlugin::kOutOfMemory == cudaErrorMemoryAllocation);
static_assert(CudaPlugin::kInsufficientDriver == cudaErrorInsufficientDriver);

int32_t UseDevice(int ordinal, int* reads_in_place) {
  const cudaError_t used = cudaSetDevice(ordinal);
  return used != cudaSuccess
             ? used
             : cudaDeviceGetAttribute(
                   reads_in_place,
                   cudaDevAttrPageableMemoryAccessUsesHostPageTables, ordinal);
}

int32_t Allocate(void** memory, int64_t bytes) {
  const cudaError_t result = cudaMalloc(memory, static_cast<size_t>(bytes));
  // CUDA keeps the error of a failed cudaMalloc as the thread's last error.
  // Clear the last error, so that a later check for errors of kernel launches
  // does not report this one.
  if (result != cudaSuccess) cudaGetLastError();
  return result;
}

int32_t Copy(void* to, const void* from, int64_t bytes,
             CudaPlugin::CopyKind kind, CudaStream stream) {
  const cudaMemcpyKind direction =
      kind == CudaPlugin::CopyKind::kToDevice ? cudaMemcpyHostToDevice
      : kind == CudaPlugin::CopyKind::kToHost ? cudaMemcpyDeviceToHost
                                              : cudaMemcpyDeviceToDevice;
  return cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), direction,
                         stream);
}

bool IsPinned(const void* from) {
  cudaPointerAttributes attributes = {};
  if (cudaPointerGetAttributes(&attributes, from) != cudaSuccess) {
    cudaGetLastError();  // resets CUDA's stored error
    return false;
  }
  return attributes.type != cudaMemoryTypeUnregistered;
}

int32_t Milliseconds(float* milliseconds, CudaEvent from, CudaEvent to) {
  for (CudaEvent event : {from, to}) {
    const cudaError_t reached = cudaEventSynchronize(event);
    if (reached != cudaSuccess) return reached;
  }
  return cudaEventElapsedTime(milliseconds, from, to);
}

}  // namespace

const CudaPlugin& LinkedCudaPlugin() {
  static constexpr CudaPlugin kPlugin = {
      .version = CudaPlugin::Version(),
      .error_text =
          [](int32_t error) {
            return cudaGetErrorString(static_cast<cudaError_t>(error));
          },
      .last_error = [] { return int32_t{cudaGetLastError()}; },
      .count_devices =
          [](int* count) { return int32_t{cudaGetDeviceCount(count)}; },
      .use_device = UseDevice,
      .allocate = Allocate,
      .free = [](void* memory) { cudaFree(memory); },
      .copy = Copy,
      .is_pinned = IsPinned,
      .zero =
          [](void* at, int64_t bytes, CudaStream stream) {
            return int32_t{
                cudaMemsetAsync(at, 0, static_cast<size_t>(bytes), stream)};
          },
      .new_stream =
          [](CudaStream* stream) {
            // cudaStreamNonBlocking: without this flag the GPU's two streams
            // would both synchronise with the default stream, and thus wait for
            // each other.
            return int32_t{
                cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking)};
          },
      .delete_stream =
          [](CudaStream stream) {
            cudaStreamSynchronize(stream);
            cudaStreamDestroy(stream);
          },
      .wait_for_stream =
          [](CudaStream stream) {
            return int32_t{cudaStreamSynchronize(stream)};
          },
      .new_event =
          [](CudaEvent* event, CudaPlugin::EventKind kind) {
            return int32_t{cudaEventCreateWithFlags(
                event, kind == CudaPlugin::EventKind::kWithTime
                           ? cudaEventDefault
                           : cudaEventDisableTiming)};
          },
      .delete_event = [](CudaEvent event) { cudaEventDestroy(event); },
      .record =
          [](CudaEvent event, CudaStream stream) {
            return int32_t{cudaEventRecord(event, stream)};
          },
      .stream_waits =
          [](CudaStream stream, CudaEvent event) {
            return int32_t{cudaStreamWaitEvent(stream, event)};
          },
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
