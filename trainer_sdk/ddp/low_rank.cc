#include "trainer_sdk/ddp/low_rank.h"

#include <algorithm>
#include <cmath>

namespace muster {
namespace {

// Keeps a zero column from being divided by zero (Vogels et al., 2019).
constexpr double kEpsilon = 1e-8;

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
    for (int64_t before = 0; before < k; ++before) {
      double product = 0;
      for (int64_t i = 0; i < rows; ++i) {
        product += double{p[i * rank + before]} * p[i * rank + k];
      }
      for (int64_t i = 0; i < rows; ++i) {
        p[i * rank + k] -= static_cast<float>(product) * p[i * rank + before];
      }
    }
    double square = 0;
    for (int64_t i = 0; i < rows; ++i) {
      square += double{p[i * rank + k]} * p[i * rank + k];
    }
    const auto scale = static_cast<float>(1 / (std::sqrt(square) + kEpsilon));
    for (int64_t i = 0; i < rows; ++i) p[i * rank + k] *= scale;
  }
}

}  // namespace muster
