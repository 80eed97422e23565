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
  // Alignment of all matrices of the batch, in bytes; at most 256.
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

// Describes a row-major product for a column-major library, which computes the
// transposed result. In the returned plan, `a` describes product.b, and `b`
// describes product.a. A bias per column becomes a bias per row. Pure.
ColumnMajorPlan InColumnMajor(const Product& product);

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_COLUMN_MAJOR_H_
