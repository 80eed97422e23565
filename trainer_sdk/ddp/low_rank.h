#ifndef MUSTER_TRAINER_SDK_DDP_LOW_RANK_H_
#define MUSTER_TRAINER_SDK_DDP_LOW_RANK_H_

#include <cstdint>

namespace muster {

// The matrix arithmetic of PowerSGD. All matrices are row-major float32;
// nothing overlaps. Pure, and the same on every rank for the same input.

// p[rows, rank] = m[rows, columns] q[columns, rank]
void TimesThin(const float* m, const float* q, int64_t rows, int64_t columns,
               int64_t rank, float* p);

// q[columns, rank] = m^T p
void TransposedTimesThin(const float* m, const float* p, int64_t rows,
                         int64_t columns, int64_t rank, float* q);

// m[rows, columns] = p q^T
void TimesTransposed(const float* p, const float* q, int64_t rows,
                     int64_t columns, int64_t rank, float* m);

// Makes the columns of p[rows, rank] orthonormal, by Gram-Schmidt. A column
// that is zero, or a combination of those before it, becomes another that is
// none: what rounding leaves of it is no direction (PyTorch takes it for one,
// and then approximates gradients of less than full rank badly), and a column
// of zeros would stay so for ever. Of more columns than rows the last are zero.
void Orthogonalize(float* p, int64_t rows, int64_t rank);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DDP_LOW_RANK_H_
