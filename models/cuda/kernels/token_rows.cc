#include "models/cuda/kernels/token_rows.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace muster::models::cuda {

TokenRows RowsOfTokens(const std::vector<int32_t>& tokens) {
  TokenRows all;
  all.rows.resize(tokens.size());
  std::iota(all.rows.begin(), all.rows.end(), 0);
  const auto token = [&](int32_t row) {
    return tokens[static_cast<size_t>(row)];
  };
  std::stable_sort(all.rows.begin(), all.rows.end(),
                   [&](int32_t a, int32_t b) { return token(a) < token(b); });
  for (size_t i = 0; i < all.rows.size(); ++i) {
    if (i > 0 && token(all.rows[i]) == token(all.rows[i - 1])) continue;
    all.tokens.push_back(token(all.rows[i]));
    all.begins.push_back(static_cast<int32_t>(i));
  }
  all.begins.push_back(static_cast<int32_t>(tokens.size()));
  return all;
}

}  // namespace muster::models::cuda
