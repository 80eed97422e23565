#ifndef MUSTER_MODELS_KERNELS_PRODUCT_AVX512_H_
#define MUSTER_MODELS_KERNELS_PRODUCT_AVX512_H_

#include <cstdint>

namespace muster::models {

// One of the two factors `a` and `b` of a product. Element (i, j) is data[i *
// row + j * column]; `row` or `column` is 1.
struct ProductFactor {
  const float* data;
  int64_t row;
  int64_t column;
};

// Computes c = alpha * a * b + beta * c on the calling thread, where `a` is a
// rows x inner matrix, `b` is an inner x columns matrix, and the rows of `c`
// are `stride` elements apart. Each element of `c` is bit-identical, whatever
// `rows` and `columns` are.
using SingleProduct = void (*)(int64_t rows, int64_t columns, int64_t inner,
                               float alpha, const ProductFactor& a,
                               const ProductFactor& b, float beta, float* c,
                               int64_t stride);

// Returns the function that multiplies on processors of kind kAvx512; null if
// the target is not x86.
SingleProduct Avx512Product();

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_PRODUCT_AVX512_H_
