#ifndef MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_
#define MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_

#include <cstdint>

#include "models/kernels/attention_shape.h"

namespace muster::models {

// The arithmetic that is compiled once per kind of processor; the headers of
// the same names say what it does. Its sources are .inc files with static
// functions only: of an inline function with external linkage, the linker would
// keep one copy for all kinds of processors, which some of them could not run.
// A file that includes them defines kVectorBytes, the size of a register in
// bytes. T: float, double.
template <typename T>
struct KernelTable {
  void (*gelu_forward)(const T* input, int64_t count, T* output, T* slope);
  void (*layer_norm_forward)(const T* input, const T* gain, const T* bias,
                             int64_t rows, int64_t width, T* output, T* mean,
                             T* scale);
  void (*layer_norm_backward)(const T* output_gradient, const T* input,
                              const T* gain, const T* mean, const T* scale,
                              int64_t rows, int64_t width, T* input_gradient,
                              T* gain_gradient, T* bias_gradient);
  double (*cross_entropy)(const T* logits, const int32_t* targets, int64_t rows,
                          int64_t classes);
  double (*cross_entropy_with_gradient)(T* logits, const int32_t* targets,
                                        int64_t rows, int64_t classes,
                                        T factor);
  void (*attention_forward)(const AttentionShape& shape, const T* qkv,
                            T* scratch, T* probabilities, T* output);
  void (*attention_backward)(const AttentionShape& shape, const T* qkv,
                             const T* probabilities, const T* output_gradient,
                             T* scratch, T* qkv_gradient);
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_
