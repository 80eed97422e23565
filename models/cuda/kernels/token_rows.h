#ifndef MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_
#define MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_

#include <cstdint>
#include <vector>

namespace muster::cuda {

// Where each token of a micro-batch occurs, so that its gradient can be summed
// by one block, in order, without atomic additions.
struct TokenRows {
  // Those that occur, ascending.
  std::vector<int32_t> tokens;
  // tokens[i] is at rows[begins[i]], … rows[begins[i + 1] - 1], ascending; one
  // more element than tokens.
  std::vector<int32_t> begins;
  std::vector<int32_t> rows;
};

// Pure. Of at most 2^31 - 1 tokens.
TokenRows RowsOfTokens(const std::vector<int32_t>& tokens);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_KERNELS_TOKEN_ROWS_H_
