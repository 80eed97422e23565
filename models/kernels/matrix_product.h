#ifndef MUSTER_MODELS_KERNELS_MATRIX_PRODUCT_H_
#define MUSTER_MODELS_KERNELS_MATRIX_PRODUCT_H_

#include <cstdint>

namespace muster::models {

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

// Computes c = alpha * a * b + beta * c, where `a` and `b` are used as they are
// or transposed (Form). Runs on MatrixThreads() threads (matrix_threads.h),
// each of which computes some rows or columns of `c`. Uses product_avx512.h for
// floats on a processor with AVX-512, otherwise OpenBLAS, which then runs on
// one thread per part. The result does not depend on the number of threads, bit
// for bit.
void MatrixProduct(Form a_form, MatrixView<const float> a, Form b_form,
                   MatrixView<const float> b, float alpha, float beta,
                   MatrixView<float> c);
void MatrixProduct(Form a_form, MatrixView<const double> a, Form b_form,
                   MatrixView<const double> b, double alpha, double beta,
                   MatrixView<double> c);

}  // namespace muster::models

#endif  // MUSTER_MODELS_KERNELS_MATRIX_PRODUCT_H_
