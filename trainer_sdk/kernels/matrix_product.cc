#include "trainer_sdk/kernels/matrix_product.h"

#include <cblas.h>

#include "base/check.h"

namespace muster {
namespace {

CBLAS_TRANSPOSE Blas(Form form) {
  return form == Form::kPlain ? CblasNoTrans : CblasTrans;
}

// The shape of the product's factor; BLAS reads past the end of one that does
// not fit.
template <typename T>
void CheckShapes(Form a_form, const MatrixView<const T>& a, Form b_form,
                 const MatrixView<const T>& b, const MatrixView<T>& c) {
  const bool plain_a = a_form == Form::kPlain;
  const bool plain_b = b_form == Form::kPlain;
  const int64_t rows = plain_a ? a.rows : a.columns;
  const int64_t inner = plain_a ? a.columns : a.rows;
  const int64_t inner_b = plain_b ? b.rows : b.columns;
  const int64_t columns = plain_b ? b.columns : b.rows;
  MUSTER_CHECK(rows == c.rows && columns == c.columns && inner == inner_b)
      << "a product of " << rows << " x " << inner << " and " << inner_b
      << " x " << columns << " into " << c.rows << " x " << c.columns;
}

template <typename T, typename Product>
void Multiply(Form a_form, const MatrixView<const T>& a, Form b_form,
              const MatrixView<const T>& b, T alpha, T beta,
              const MatrixView<T>& c, Product product) {
  CheckShapes(a_form, a, b_form, b, c);
  if (c.rows == 0 || c.columns == 0) return;
  const int64_t inner = a_form == Form::kPlain ? a.columns : a.rows;
  product(CblasRowMajor, Blas(a_form), Blas(b_form), static_cast<int>(c.rows),
          static_cast<int>(c.columns), static_cast<int>(inner), alpha, a.data,
          static_cast<int>(a.stride), b.data, static_cast<int>(b.stride), beta,
          c.data, static_cast<int>(c.stride));
}

}  // namespace

void MatrixProduct(Form a_form, MatrixView<const float> a, Form b_form,
                   MatrixView<const float> b, float alpha, float beta,
                   MatrixView<float> c) {
  Multiply<float>(a_form, a, b_form, b, alpha, beta, c, cblas_sgemm);
}

void MatrixProduct(Form a_form, MatrixView<const double> a, Form b_form,
                   MatrixView<const double> b, double alpha, double beta,
                   MatrixView<double> c) {
  Multiply<double>(a_form, a, b_form, b, alpha, beta, c, cblas_dgemm);
}

}  // namespace muster
