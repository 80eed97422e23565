#ifndef MUSTER_TRAINER_SDK_NCCL_CUDA_DRIVER_H_
#define MUSTER_TRAINER_SDK_NCCL_CUDA_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nccl/nccl_abi.h"

// Declarations copied from NVIDIA's cuda.h, whose binary interface is stable.
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUmod_st;

namespace muster {

using CudaContext = ::CUctx_st*;
using CudaEvent = ::CUevent_st*;
using CudaFunction = ::CUfunc_st*;

// The CUDA functions that programs of Muster need beside NCCL. They are loaded
// from the driver's library, which every machine with a working GPU has,
// whichever CUDA runtime the program uses. Streams, events and memory of the
// driver and of the runtime are interchangeable. Thread-safe.
class CudaDriver {
 public:
  // Loads the driver's library. NotFound: there is no driver.
  // FailedPrecondition: the driver finds no GPU, or the driver does not work;
  // the error then has the driver's message.
  static absl::StatusOr<std::shared_ptr<const CudaDriver>> Load(
      const std::string& name = "libcuda.so.1");

  int device_count() const { return device_count_; }

  // Returns the model of `device`, such as "NVIDIA H100 80GB HBM3".
  absl::StatusOr<std::string> Model(int device) const;

  // The index of the device that the calling thread uses (the device of its
  // current context); -1 if the thread has no context.
  int CurrentDevice() const;

  // Returns the primary context of `device`, which the CUDA runtime also uses.
  // The context is kept until the process ends. InvalidArgument: there is no
  // such device.
  absl::StatusOr<CudaContext> PrimaryContext(int device) const;
  // Makes `context` the calling thread's context until the thread calls Pop.
  absl::Status Push(CudaContext context) const;
  void Pop() const;

  absl::StatusOr<CudaEvent> NewEvent() const;
  void DestroyEvent(CudaEvent event) const;
  // Records `event` on `stream`. The event happens when all work that is now on
  // the stream is done.
  absl::Status Record(CudaEvent event, nccl::CudaStream stream) const;
  // Whether `event` has happened. Errors are errors of the device.
  absl::StatusOr<bool> HasHappened(CudaEvent event) const;

  // Allocates device memory. Returns null if `bytes` is 0.
  absl::StatusOr<void*> Allocate(size_t bytes) const;
  void Free(void* memory) const;

  // Compiles the PTX code `ptx` for the device of the current context, and
  // returns its kernel `name`. The code is kept until the process ends.
  absl::StatusOr<CudaFunction> Compile(const char* ptx, const char* name) const;
  // Starts `blocks` blocks of `threads` threads of `kernel` on `stream`.
  // `arguments`: pointers to the kernel's arguments, in order.
  absl::Status Launch(CudaFunction kernel, unsigned blocks, unsigned threads,
                      void** arguments, nccl::CudaStream stream) const;

 private:
  using Result = int;
  // an address in device memory; the same type as CUdeviceptr in cuda.h
  using DevicePointer = uint64_t;

  CudaDriver() = default;
  absl::Status Failed(const char* what, Result result) const;

  int device_count_ = 0;
  Result (*init_)(unsigned) = nullptr;
  Result (*device_count_of_)(int*) = nullptr;
  Result (*device_of_)(int*, int ordinal) = nullptr;
  Result (*name_of_)(char*, int size, int device) = nullptr;
  Result (*get_error_string_)(Result, const char**) = nullptr;
  Result (*context_device_)(int*) = nullptr;
  Result (*retain_primary_)(CudaContext*, int) = nullptr;
  Result (*push_context_)(CudaContext) = nullptr;
  Result (*pop_context_)(CudaContext*) = nullptr;
  Result (*create_event_)(CudaEvent*, unsigned) = nullptr;
  Result (*destroy_event_)(CudaEvent) = nullptr;
  Result (*record_event_)(CudaEvent, nccl::CudaStream) = nullptr;
  Result (*query_event_)(CudaEvent) = nullptr;
  Result (*allocate_)(DevicePointer*, size_t) = nullptr;
  Result (*free_)(DevicePointer) = nullptr;
  Result (*load_module_)(::CUmod_st**, const void*) = nullptr;
  Result (*function_of_)(CudaFunction*, ::CUmod_st*, const char*) = nullptr;
  Result (*launch_)(CudaFunction, unsigned blocks_x, unsigned blocks_y,
                    unsigned blocks_z, unsigned threads_x, unsigned threads_y,
                    unsigned threads_z, unsigned shared_bytes, nccl::CudaStream,
                    void** arguments, void** extra) = nullptr;
};

// Makes `context` the calling thread's context while this object lives.
class ScopedCudaContext {
 public:
  ScopedCudaContext(const CudaDriver& cuda, CudaContext context)
      : cuda_(cuda), status_(cuda.Push(context)) {}
  ~ScopedCudaContext() {
    if (status_.ok()) cuda_.Pop();
  }
  ScopedCudaContext(const ScopedCudaContext&) = delete;
  ScopedCudaContext& operator=(const ScopedCudaContext&) = delete;

  const absl::Status& status() const { return status_; }

 private:
  const CudaDriver& cuda_;
  const absl::Status status_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_CUDA_DRIVER_H_
