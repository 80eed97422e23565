#ifndef MUSTER_TRAINER_SDK_CUDA_CUDA_PLUGIN_H_
#define MUSTER_TRAINER_SDK_CUDA_CUDA_PLUGIN_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "base/dynamic_library.h"
#include "trainer_sdk/cuda/cuda_types.h"
#include "trainer_sdk/cuda/kernels.h"

namespace muster {

// The functions of libmuster_cuda.so, the only file of the SDK that contains
// CUDA's runtime. The program and this plugin pass only C types and plain
// structs to each other, because the plugin and the program may have different
// copies of Abseil and of the C++ library.
//
// A function that returns int32_t returns a cudaError_t; 0 is success. The
// functions act on the calling thread's current GPU.
struct CudaPlugin {
  static constexpr uint64_t Version() {
    return PluginVersion<CudaPlugin, AdamWOptions, SgdOptions, OptimizerStep,
                         cuda::UpdateArrays>(1);
  }
  // Error codes of CUDA (values of cudaError_t) that CudaDevice treats in a
  // special way.
  static constexpr int32_t kOutOfMemory = 2;
  static constexpr int32_t kInsufficientDriver = 35;

  enum class CopyKind : int32_t { kToDevice, kToHost, kOnDevice };
  enum class EventKind : int32_t { kWithTime, kWithoutTime };

  // The value of Version() when libmuster_cuda.so was compiled. A program
  // rejects a plugin that has another version than the program itself.
  uint64_t version;

  // Returns CUDA's description of an error; never null.
  const char* (*error_text)(int32_t error);
  // Returns and resets the last error of this thread, such as the error of a
  // kernel launch.
  int32_t (*last_error)();

  int32_t (*count_devices)(int* count);
  // Makes GPU `ordinal` the calling thread's current GPU. Sets
  // `*reads_in_place` to 1 if the GPU reads host memory through the host's page
  // tables, as Grace Hopper does, else to 0.
  int32_t (*use_device)(int ordinal, int* reads_in_place);

  int32_t (*allocate)(void** memory, int64_t bytes);
  void (*free)(void* memory);
  int32_t (*copy)(void* to, const void* from, int64_t bytes, CopyKind kind,
                  CudaStream stream);
  // Whether the host memory at `from` is pinned, registered or managed. The
  // function `copy` may return before it has read such memory.
  bool (*is_pinned)(const void* from);
  int32_t (*zero)(void* at, int64_t bytes, CudaStream stream);

  // Creates a stream that does not synchronise with the default stream.
  int32_t (*new_stream)(CudaStream* stream);
  // Waits until the stream's work is done, and destroys the stream.
  void (*delete_stream)(CudaStream stream);
  int32_t (*wait_for_stream)(CudaStream stream);

  // Creates an event. `kind` says whether the event stores the time at which it
  // is reached. An event without this time is cheaper.
  int32_t (*new_event)(CudaEvent* event, EventKind kind);
  void (*delete_event)(CudaEvent event);
  int32_t (*record)(CudaEvent event, CudaStream stream);
  // Makes future work on the stream wait for the event.
  int32_t (*stream_waits)(CudaStream stream, CudaEvent event);
  // Blocks until both events are reached, and writes the time between them in
  // milliseconds.
  int32_t (*milliseconds)(float* milliseconds, CudaEvent from, CudaEvent to);

  // The GPU kernels, as declared in kernels.h.
  decltype(&cuda::Convert) convert;
  decltype(&cuda::AddSquares) add_squares;
  void (*adamw_update)(const AdamWOptions* options, const OptimizerStep* step,
                       const cuda::UpdateArrays* arrays, CudaStream stream);
  void (*sgd_update)(const SgdOptions* options, const OptimizerStep* step,
                     const cuda::UpdateArrays* arrays, CudaStream stream);
};

// The table of CUDA functions that is linked into libmuster_cuda.so, and into
// programs that have CUDA kernels of their own.
const CudaPlugin& LinkedCudaPlugin();

// Loads libmuster_cuda.so, once in the process, from the places that
// LoadPluginFile (base/dynamic_library.h) searches. NotFound: the plugin is not
// installed; the message says what to do. FailedPrecondition: the plugin has
// another version than this program.
inline absl::StatusOr<const CudaPlugin*> LoadCudaPlugin() {
  static const auto* const plugin =
      new absl::StatusOr<const CudaPlugin*>(LoadPlugin<CudaPlugin>(
          {.file = "libmuster_cuda.so",
           .folder = "trainer_sdk/cuda",
           .user = "an NVIDIA GPU as a device",
           .if_not_loaded = "install it anew on this system (tools/install)",
           .if_missing =
               "Muster's tools/install puts it into PREFIX/lib if it finds the "
               "CUDA toolkit (CUDA_HOME or /usr/local/cuda)"},
          "MusterCudaPlugin"));
  return *plugin;
}

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CUDA_CUDA_PLUGIN_H_
