#ifndef MUSTER_MODELS_KERNELS_ATTENTION_SHAPE_H_
#define MUSTER_MODELS_KERNELS_ATTENTION_SHAPE_H_

#include <cstdint>

namespace muster::models {

// The size of causal self-attention.
struct AttentionShape {
  int64_t batch = 1;
  // Positions per sequence.
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

// Rows of the matrices that are made for attention's products have a multiple
// of this number of elements.
inline constexpr int64_t kAttentionPanel = 16;

// Static, because kernels_avx2.cc must not give the linker a copy of this
// function that other files would then run on any processor.
static constexpr int64_t InPanels(int64_t columns) {
  return (columns + kAttentionPanel - 1) / kAttentionPanel * kAttentionPanel;
}

// Number of elements of working memory for either pass.
constexpr int64_t AttentionScratchCount(const AttentionShape& shape) {
  return HeadWidth(shape) * InPanels(shape.time) +
         3 * shape.time * InPanels(HeadWidth(shape)) + shape.time * shape.time;
}

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_ATTENTION_SHAPE_H_
