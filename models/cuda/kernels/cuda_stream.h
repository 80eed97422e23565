#ifndef MUSTER_MODELS_CUDA_KERNELS_CUDA_STREAM_H_
#define MUSTER_MODELS_CUDA_KERNELS_CUDA_STREAM_H_

// Declared as in CUDA's headers, so that a machine without them can compile
// this.
struct CUstream_st;
struct CUevent_st;

namespace muster::models::cuda {

// cudaStream_t, with the same name for the linker; null is the default stream.
using CudaStream = ::CUstream_st*;
// cudaEvent_t, with the same name for the linker.
using CudaEvent = ::CUevent_st*;

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CUDA_STREAM_H_
