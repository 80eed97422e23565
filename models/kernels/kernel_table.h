#ifndef MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_
#define MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_

#include <cstdint>

#include "base/processor_kind.h"

namespace muster::models {

// The shape of the arrays of causal self-attention.
struct AttentionShape {
  int64_t batch = 1;
  // Number of positions per sequence.
  int64_t time = 1;
  int64_t heads = 1;
  // Width of all heads together; a multiple of `heads`.
  int64_t width = 1;
};

// The width of one head.
constexpr int64_t HeadWidth(const AttentionShape& shape) {
  return shape.width / shape.heads;
}

// Number of elements of the array of attention probabilities.
constexpr int64_t ProbabilitiesCount(const AttentionShape& shape) {
  return shape.batch * shape.heads * shape.time * shape.time;
}

// The row length of attention's intermediate matrices is rounded up to a
// multiple of this number of elements.
inline constexpr int64_t kAttentionPanel = 16;

// Rounds a number of columns up to a multiple of kAttentionPanel. Static: each
// source file that includes this header gets a copy of its own. The linker
// would otherwise keep one copy for all files, possibly that of
// kernels_avx2.cc, which processors without AVX2 cannot run.
static constexpr int64_t InPanels(int64_t columns) {
  return (columns + kAttentionPanel - 1) / kAttentionPanel * kAttentionPanel;
}

// Number of elements of attention's working memory, in the forward or the
// backward pass.
constexpr int64_t AttentionScratchCount(const AttentionShape& shape) {
  return HeadWidth(shape) * InPanels(shape.time) +
         3 * shape.time * InPanels(HeadWidth(shape)) + shape.time * shape.time;
}

// Pointers to the kernels for one kind of processor (ProcessorKind). layers.h
// documents the kernels: `gelu_forward` at GeluForward, and so on. Their
// sources are .inc files, which are compiled once for each kind. These files
// have only static functions, so that the linker keeps the copy for each kind.
// A file that includes them defines kVectorBytes, the size of a vector register
// in bytes. T: float, double.
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

// Returns the kernels that run on any processor. T: float, double.
template <typename T>
const KernelTable<T>& BaselineKernels();

// Returns the kernels for ProcessorKind::kAvx2; null if the target is not x86.
// T: float, double.
template <typename T>
const KernelTable<T>* Avx2Kernels();

// Returns the kernels for ProcessorKind::kAvx512; null if the target is not
// x86. T: float, double.
template <typename T>
const KernelTable<T>* Avx512Kernels();

// Returns the kernels for processors of kind `kind`, which this processor must
// support. T: float, double.
template <typename T>
const KernelTable<T>& KernelsOf(ProcessorKind kind);

// Returns the kernels for ChosenProcessorKind(). T: float, double.
template <typename T>
const KernelTable<T>& BestKernels();

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_
