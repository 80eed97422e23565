#include "models/kernels/attention.h"

#include "models/kernels/best_kernels.h"

namespace muster::models {

template <typename T>
void AttentionForward(const AttentionShape& shape, const T* qkv, T* scratch,
                      T* probabilities, T* output) {
  BestKernels<T>().attention_forward(shape, qkv, scratch, probabilities,
                                     output);
}

template <typename T>
void AttentionBackward(const AttentionShape& shape, const T* qkv,
                       const T* probabilities, const T* output_gradient,
                       T* scratch, T* qkv_gradient) {
  BestKernels<T>().attention_backward(shape, qkv, probabilities,
                                      output_gradient, scratch, qkv_gradient);
}

#define MUSTER_ATTENTION(T)                                                  \
  template void AttentionForward<T>(const AttentionShape&, const T*, T*, T*, \
                                    T*);                                     \
  template void AttentionBackward<T>(const AttentionShape&, const T*,        \
                                     const T*, const T*, T*, T*)
MUSTER_ATTENTION(float);
MUSTER_ATTENTION(double);
#undef MUSTER_ATTENTION

}  // namespace muster::models
