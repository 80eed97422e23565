#ifndef MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_
#define MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_

#include <cstdint>

#include "base/processor_kind.h"

namespace muster::models {

// The size of causal self-attention.
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

// Number of elements of the probabilities.
constexpr int64_t ProbabilitiesCount(const AttentionShape& shape) {
  return shape.batch * shape.heads * shape.time * shape.time;
}

// The number of elements per row in the matrices that are made for attention's
// products is a multiple of this number.
inline constexpr int64_t kAttentionPanel = 16;

// Static, because kernels_avx2.cc includes it: the linker could otherwise use a
// copy compiled for AVX2 in files that run on any processor.
static constexpr int64_t InPanels(int64_t columns) {
  return (columns + kAttentionPanel - 1) / kAttentionPanel * kAttentionPanel;
}

// Number of elements of working memory for the forward or the backward pass.
constexpr int64_t AttentionScratchCount(const AttentionShape& shape) {
  return HeadWidth(shape) * InPanels(shape.time) +
         3 * shape.time * InPanels(HeadWidth(shape)) + shape.time * shape.time;
}

// The arithmetic that is compiled once per kind of processor; the functions of
// the same names in layers.h say what each kernel does. The sources are .inc
// files with static functions only: the linker would keep a single copy of an
// inline function with external linkage, which some processors could not run. A
// file that includes them defines kVectorBytes, the size of a register in
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

// The kernels for any processor. T: float, double.
template <typename T>
const KernelTable<T>& BaselineKernels();

// The kernels for ProcessorKind::kAvx2; null if the target is not x86. T:
// float, double.
template <typename T>
const KernelTable<T>* Avx2Kernels();

// The kernels for ProcessorKind::kAvx512; null if the target is not x86. T:
// float, double.
template <typename T>
const KernelTable<T>* Avx512Kernels();

// The kernels for processors of kind `kind`, which this processor must support.
// T: float, double.
template <typename T>
const KernelTable<T>& KernelsOf(ProcessorKind kind);

// The kernels for ChosenProcessorKind().
template <typename T>
const KernelTable<T>& BestKernels();

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_KERNEL_TABLE_H_
