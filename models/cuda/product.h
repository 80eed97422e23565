#ifndef MUSTER_MODELS_CUDA_PRODUCT_H_
#define MUSTER_MODELS_CUDA_PRODUCT_H_

#include <cstdint>
#include <type_traits>

#include "models/cuda/kernels/short_floats.h"

namespace muster::models::cuda {

enum class ElementType { kFloat32, kBfloat16 };

template <typename T>
constexpr ElementType kElementType =
    std::is_same_v<T, float> ? ElementType::kFloat32 : ElementType::kBfloat16;

constexpr int64_t SizeOf(ElementType type) {
  return type == ElementType::kFloat32 ? 4 : 2;
}

// A row-major matrix in device memory, or one for each product of a batch.
// Strides are in elements.
struct Matrix {
  ElementType type = ElementType::kFloat32;
  const void* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  // From one row to the next.
  int64_t stride = 0;
  // From one product's matrix to the next's.
  int64_t batch_stride = 0;

  template <typename T>
  static Matrix Dense(const T* data, int64_t rows, int64_t columns) {
    return {kElementType<T>, data, rows, columns, columns, 0};
  }
};

enum class MatrixForm { kPlain, kTransposed };

// result = factor a b + addend + bias, where a and b are taken as they are or
// transposed, for each of `batch` products. Sums are in float32 and rounded
// once to the result's type.
struct Product {
  MatrixForm a_form = MatrixForm::kPlain;
  Matrix a;
  MatrixForm b_form = MatrixForm::kPlain;
  // Its type must be that of `a`.
  Matrix b;
  // The output.
  Matrix result;
  float factor = 1;
  // Laid out as the result, and may be the same memory; null: none.
  const void* addend = nullptr;
  // One element per column, of the result's type; null: none.
  const void* bias = nullptr;
  int64_t batch = 1;
};

}  // namespace muster::models::cuda

#endif  // MUSTER_MODELS_CUDA_PRODUCT_H_
