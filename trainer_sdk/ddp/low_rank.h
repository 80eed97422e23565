#ifndef MUSTER_TRAINER_SDK_DDP_LOW_RANK_H_
#define MUSTER_TRAINER_SDK_DDP_LOW_RANK_H_

#include <cstdint>

// Matrix arithmetic for PowerSGD. All matrices are row-major float32 and must
// not overlap. Pure; equal inputs give equal results on every rank.

namespace muster {

// Computes p[rows, rank] = m[rows, columns] q[columns, rank].
void TimesThin(const float* m, const float* q, int64_t rows, int64_t columns,
               int64_t rank, float* p);

// Computes q[columns, rank] = m^T p, with m[rows, columns] and p[rows, rank].
void TransposedTimesThin(const float* m, const float* p, int64_t rows,
                         int64_t columns, int64_t rank, float* q);

// Computes m[rows, columns] = p q^T, with p[rows, rank] and q[columns, rank].
void TimesTransposed(const float* p, const float* q, int64_t rows,
                     int64_t columns, int64_t rank, float* m);

// Makes the columns of p[rows, rank] orthonormal by Gram-Schmidt. A column that
// is zero, or a linear combination of earlier columns, is replaced by a new
// vector that is orthogonal to the earlier columns. PyTorch keeps such a
// column, and therefore approximates low-rank gradients less well. If rank >
// rows, the surplus columns become zero.
void Orthogonalize(float* p, int64_t rows, int64_t rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_LOW_RANK_H_
