#include "trainer_sdk/ddp/low_rank.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// Orthogonalize subtracts from each column its projections on the earlier
// columns. If less than this fraction of the column's norm remains, the column
// counts as linearly dependent on the earlier columns. The value is the
// rounding error of float32, with a margin.
constexpr double kRest = 1e-5;

// The norm of column k of p[rows, rank].
double NormOf(const float* p, int64_t rows, int64_t rank, int64_t k) {
  double square = 0;
  for (int64_t i = 0; i < rows; ++i) {
    square += double{p[i * rank + k]} * p[i * rank + k];
  }
  return std::sqrt(square);
}

void Multiply(float* p, int64_t rows, int64_t rank, int64_t k, double by) {
  for (int64_t i = 0; i < rows; ++i) {
    p[i * rank + k] = static_cast<float>(p[i * rank + k] * by);
  }
}

// Subtracts from column k its projections on columns 0 to k - 1.
void SubtractProjections(float* p, int64_t rows, int64_t rank, int64_t k) {
  // The projections on the columns before k are subtracted twice: the second
  // iteration removes the rounding error of the first.
  for (int time = 0; time < 2; ++time) {
    for (int64_t before = 0; before < k; ++before) {
      double product = 0;
      for (int64_t i = 0; i < rows; ++i) {
        product += double{p[i * rank + before]} * p[i * rank + k];
      }
      for (int64_t i = 0; i < rows; ++i) {
        p[i * rank + k] -= static_cast<float>(product) * p[i * rank + before];
      }
    }
  }
}

// Replaces column k by a vector of norm 1 that is orthogonal to the columns
// before it. Tries coordinate vectors (one element is 1, the others are 0):
// subtracts the vector's projections on the columns before k, and takes the
// first vector whose remainder is large enough. If no remainder is large
// enough, column k becomes zero.
void Replace(float* p, int64_t rows, int64_t rank, int64_t k) {
  // The norm above which the remainder of a coordinate vector is accepted. The
  // k earlier columns span at most k dimensions. So at least one of the first k
  // + 1 coordinate vectors keeps a squared norm of 1/(k+1) or more. The
  // accepted squared norm is half of this, which allows for rounding.
  const double least = std::sqrt(0.5 / static_cast<double>(k + 1));
  for (int64_t unit = 0; unit <= k && unit < rows; ++unit) {
    for (int64_t i = 0; i < rows; ++i) p[i * rank + k] = i == unit ? 1 : 0;
    SubtractProjections(p, rows, rank, k);
    const double norm = NormOf(p, rows, rank, k);
    if (norm > least) return Multiply(p, rows, rank, k, 1 / norm);
  }
  Multiply(p, rows, rank, k, 0);
}

}  // namespace

void TimesThin(const float* m, const float* q, int64_t rows, int64_t columns,
               int64_t rank, float* p) {
  for (int64_t i = 0; i < rows; ++i) {
    float* const row = p + i * rank;
    std::fill_n(row, rank, 0.0f);
    for (int64_t j = 0; j < columns; ++j) {
      const float value = m[i * columns + j];
      for (int64_t k = 0; k < rank; ++k) row[k] += value * q[j * rank + k];
    }
  }
}

void TransposedTimesThin(const float* m, const float* p, int64_t rows,
                         int64_t columns, int64_t rank, float* q) {
  std::fill_n(q, columns * rank, 0.0f);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const float value = m[i * columns + j];
      for (int64_t k = 0; k < rank; ++k) {
        q[j * rank + k] += value * p[i * rank + k];
      }
    }
  }
}

void TimesTransposed(const float* p, const float* q, int64_t rows,
                     int64_t columns, int64_t rank, float* m) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = 0;
      for (int64_t k = 0; k < rank; ++k) {
        sum += p[i * rank + k] * q[j * rank + k];
      }
      m[i * columns + j] = sum;
    }
  }
}

void Orthogonalize(float* p, int64_t rows, int64_t rank) {
  for (int64_t k = 0; k < rank; ++k) {
    const double whole = NormOf(p, rows, rank, k);
    SubtractProjections(p, rows, rank, k);
    const double rest = NormOf(p, rows, rank, k);
    if (rest > kRest * whole) {
      Multiply(p, rows, rank, k, 1 / rest);
    } else {
      Replace(p, rows, rank, k);
    }
  }
}

}  // namespace muster
