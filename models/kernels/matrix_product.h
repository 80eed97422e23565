#ifndef MUSTER_MODELS_KERNELS_MATRIX_PRODUCT_H_
#define MUSTER_MODELS_KERNELS_MATRIX_PRODUCT_H_

#include <cstdint>

namespace muster {

// A row-major matrix in memory; rows are `stride` elements apart.
template <typename T>
struct MatrixView {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0;

  static MatrixView Dense(T* data, int64_t rows, int64_t columns) {
    return {data, rows, columns, columns};
  }
};

enum class Form { kPlain, kTransposed };

// c = alpha a b + beta c, where a and b are taken as they are or transposed.
// OpenBLAS does it, on as many threads as it was given (matrix_threads.h;
// OPENBLAS_NUM_THREADS, or OMP_NUM_THREADS, which launch sets). Products of
// floats on a processor with AVX-512 are product_avx512.h's, on as many
// threads.
void MatrixProduct(Form a_form, MatrixView<const float> a, Form b_form,
                   MatrixView<const float> b, float alpha, float beta,
                   MatrixView<float> c);
void MatrixProduct(Form a_form, MatrixView<const double> a, Form b_form,
                   MatrixView<const double> b, double alpha, double beta,
                   MatrixView<double> c);

}  // namespace muster

#endif  // MUSTER_MODELS_KERNELS_MATRIX_PRODUCT_H_
