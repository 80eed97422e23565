#ifndef MUSTER_MODELS_CUDA_KERNELS_CUDA_STREAM_H_
#define MUSTER_MODELS_CUDA_KERNELS_CUDA_STREAM_H_

// As CUDA's headers declare it, which a machine without them need not have.
struct CUstream_st;
struct CUevent_st;

namespace muster::cuda {

// cudaStream_t, in names for the linker too; null is the default stream.
using CudaStream = ::CUstream_st*;
// cudaEvent_t.
using CudaEvent = ::CUevent_st*;

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_CUDA_STREAM_H_
