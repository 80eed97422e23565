#ifndef MUSTER_MODELS_CUDA_COLUMN_MAJOR_H_
#define MUSTER_MODELS_CUDA_COLUMN_MAJOR_H_

#include <compare>
#include <cstdint>

#include "models/cuda/product.h"

namespace muster::cuda {

// A matrix as BLAS libraries take it, column after column.
struct ColumnMajorMatrix {
  ElementType type = ElementType::kFloat32;
  int64_t rows = 0;
  int64_t columns = 0;
  // From one column to the next.
  int64_t stride = 0;
  int64_t batch_stride = 0;
  // Bytes that all of a batch's matrices are aligned to; at most 256.
  int64_t alignment = 0;

  auto operator<=>(const ColumnMajorMatrix&) const = default;
};

// All of a Product that decides how it is best computed: what a search for the
// best way is worth remembering by.
struct ColumnMajorPlan {
  MatrixForm a_form = MatrixForm::kPlain;
  MatrixForm b_form = MatrixForm::kPlain;
  ColumnMajorMatrix a;
  ColumnMajorMatrix b;
  ColumnMajorMatrix result;
  enum class Addend { kNone, kSame, kElsewhere } addend = Addend::kNone;
  // Of the bias, for each row; 0 for none.
  int64_t bias_alignment = 0;
  int64_t batch = 1;

  auto operator<=>(const ColumnMajorPlan&) const = default;
};

// A row-major product in the terms of a column-major library: of what it sees
// as the transposed matrices, in the other order. Its a is `product.b` and its
// b `product.a`; a bias for each column is one for each row. Pure.
ColumnMajorPlan InColumnMajor(const Product& product);

}  // namespace muster::cuda

#endif  // MUSTER_MODELS_CUDA_COLUMN_MAJOR_H_
