#ifndef MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_
#define MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_

#include <cstdint>
#include <vector>

namespace muster::models::cuda {

// The positions of each token in a micro-batch. With this list, one thread
// block can sum a token's gradient in order, without atomic additions.
struct TokenRows {
  // The distinct tokens of the micro-batch, ascending.
  std::vector<int32_t> tokens;
  // The positions of tokens[i] are rows[begins[i]], …, rows[begins[i + 1] - 1],
  // ascending. `begins` has one element more than `tokens`.
  std::vector<int32_t> begins;
  std::vector<int32_t> rows;
};

// Computes the positions of each distinct token in `tokens`, which has at most
// 2^31 - 1 elements. Pure.
TokenRows RowsOfTokens(const std::vector<int32_t>& tokens);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_
