#ifndef MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_
#define MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_

#include <cstdint>
#include <vector>

namespace muster::models::cuda {

// The positions of each token in a micro-batch, so that one block can sum its
// gradient in order, without atomic additions.
struct TokenRows {
  // The distinct tokens of the micro-batch, ascending.
  std::vector<int32_t> tokens;
  // tokens[i] is at rows[begins[i]], …, rows[begins[i + 1] - 1], ascending.
  // `begins` has one element more than `tokens`.
  std::vector<int32_t> begins;
  std::vector<int32_t> rows;
};

// Makes the positions from `tokens`, at most 2^31 - 1 elements. Pure.
TokenRows RowsOfTokens(const std::vector<int32_t>& tokens);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_
