#ifndef MUSTER_MODELS_CUDA_COLUMN_MAJOR_H_
#define MUSTER_MODELS_CUDA_COLUMN_MAJOR_H_

#include <compare>
#include <cstdint>

#include "models/cuda/device.h"

namespace muster::models::cuda {

// A column-major matrix, as BLAS libraries expect it.
struct ColumnMajorMatrix {
  ElementType type = ElementType::kFloat32;
  int64_t rows = 0;
  int64_t columns = 0;
  // Distance between the starts of adjacent columns, in elements.
  int64_t stride = 0;
  int64_t batch_stride = 0;
  // Alignment in bytes of the addresses of all matrices of the batch; a power
  // of two, at most 256.
  int64_t alignment = 0;

  auto operator<=>(const ColumnMajorMatrix&) const = default;
};

// The properties of a Product that decide which algorithm is fastest. These
// properties are the key under which a chosen algorithm is cached.
struct ColumnMajorPlan {
  MatrixForm a_form = MatrixForm::kPlain;
  MatrixForm b_form = MatrixForm::kPlain;
  ColumnMajorMatrix a;
  ColumnMajorMatrix b;
  ColumnMajorMatrix result;
  enum class Addend { kNone, kSame, kElsewhere } addend = Addend::kNone;
  // Alignment of the bias in bytes; 0: no bias. The bias has one element per
  // row.
  int64_t bias_alignment = 0;
  int64_t batch = 1;

  auto operator<=>(const ColumnMajorPlan&) const = default;
};

// Describes a row-major product for a column-major library, such as cuBLASLt.
// Such a library reads a row-major matrix as the transpose of this matrix. So
// the plan computes the transposed result: plan.a describes product.b, plan.b
// describes product.a, and the bias has one element per row of plan.result
// instead of one per column of product.result. Pure.
ColumnMajorPlan InColumnMajor(const Product& product);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_COLUMN_MAJOR_H_
