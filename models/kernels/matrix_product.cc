#include "models/kernels/matrix_product.h"

#include <cblas.h>

#include <algorithm>

#include "base/check.h"
#include "base/processor_kind.h"
#include "models/kernels/matrix_threads.h"
#include "models/kernels/product_avx512.h"

namespace muster::models {
namespace {

CBLAS_TRANSPOSE Blas(Form form) {
  return form == Form::kPlain ? CblasNoTrans : CblasTrans;
}

// Checks the shapes, because BLAS reads beyond the end of matrices that are too
// small.
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

// Each thread gets a multiple of kGrain rows or columns of `c`, except the last
// thread. kGrain is a multiple of the tile sizes of Muster's and OpenBLAS's
// kernels.
constexpr int64_t kGrain = 96;
// Minimum number of multiplications per thread: a product is divided only into
// parts that have at least this number. OpenBLAS 0.3.21 computes a part of up
// to 100^3 multiplications by a kernel that rounds differently
// (sgemm_small_matrix_permit), so the minimum is greater.
constexpr int64_t kWorth = 1 << 20;

// Calls part(begin, end) for consecutive parts of [0, length), each on a thread
// of its own if there is enough work. `work`: multiplications per row or
// column.
template <typename Part>
void InParts(int64_t length, int64_t work, Part part) {
  const int64_t grains = std::max<int64_t>(1, length / kGrain);
  const int64_t least = (kWorth - 1) / std::max<int64_t>(1, work * kGrain) + 1;
  const int64_t parts = std::clamp<int64_t>(grains / least, 1, MatrixThreads());
  RunParts(static_cast<int>(parts), [&](int i) {
    const int64_t begin = grains * i / parts * kGrain;
    const int64_t end =
        i + 1 == parts ? length : grains * (i + 1) / parts * kGrain;
    part(begin, end);
  });
}

// Multiplies with OpenBLAS. Each thread computes some rows of `c`. A division
// into columns would change the rounding of OpenBLAS's kernel for Haswell.
template <typename T, typename Product>
void Multiply(Form a_form, const MatrixView<const T>& a, Form b_form,
              const MatrixView<const T>& b, T alpha, T beta,
              const MatrixView<T>& c, Product product) {
  CheckShapes(a_form, a, b_form, b, c);
  if (c.rows == 0 || c.columns == 0) return;
  const bool plain_a = a_form == Form::kPlain;
  const int64_t inner = plain_a ? a.columns : a.rows;
  InParts(c.rows, c.columns * inner, [&](int64_t begin, int64_t end) {
    product(CblasRowMajor, Blas(a_form), Blas(b_form),
            static_cast<int>(end - begin), static_cast<int>(c.columns),
            static_cast<int>(inner), alpha,
            a.data + begin * (plain_a ? a.stride : 1),
            static_cast<int>(a.stride), b.data, static_cast<int>(b.stride),
            beta, c.data + begin * c.stride, static_cast<int>(c.stride));
  });
}

ProductFactor Factor(Form form, const MatrixView<const float>& view) {
  const bool plain = form == Form::kPlain;
  return {view.data, plain ? view.stride : 1, plain ? 1 : view.stride};
}

// Returns Muster's own kernel for this processor; null: there is none, so
// OpenBLAS is used.
SingleProduct OwnProduct() {
  static const SingleProduct own =
      ChosenProcessorKind() == ProcessorKind::kAvx512 ? Avx512Product()
                                                      : nullptr;
  return own;
}

// Multiplies with Muster's own kernel. Each thread computes some rows of `c`,
// or some columns if `c` has more columns than rows. The result is
// bit-identical, however `c` is divided.
void MultiplyInParts(SingleProduct product, int64_t inner, float alpha,
                     const ProductFactor& a, const ProductFactor& b, float beta,
                     const MatrixView<float>& c) {
  if (c.rows >= c.columns) {
    InParts(c.rows, c.columns * inner, [&](int64_t begin, int64_t end) {
      product(end - begin, c.columns, inner, alpha,
              {a.data + begin * a.row, a.row, a.column}, b, beta,
              c.data + begin * c.stride, c.stride);
    });
  } else {
    InParts(c.columns, c.rows * inner, [&](int64_t begin, int64_t end) {
      product(c.rows, end - begin, inner, alpha, a,
              {b.data + begin * b.column, b.row, b.column}, beta,
              c.data + begin, c.stride);
    });
  }
}

}  // namespace

void MatrixProduct(Form a_form, MatrixView<const float> a, Form b_form,
                   MatrixView<const float> b, float alpha, float beta,
                   MatrixView<float> c) {
  const SingleProduct own = OwnProduct();
  if (own == nullptr) {
    Multiply<float>(a_form, a, b_form, b, alpha, beta, c, cblas_sgemm);
    return;
  }
  CheckShapes(a_form, a, b_form, b, c);
  if (c.rows == 0 || c.columns == 0) return;
  MultiplyInParts(own, a_form == Form::kPlain ? a.columns : a.rows, alpha,
                  Factor(a_form, a), Factor(b_form, b), beta, c);
}

void MatrixProduct(Form a_form, MatrixView<const double> a, Form b_form,
                   MatrixView<const double> b, double alpha, double beta,
                   MatrixView<double> c) {
  Multiply<double>(a_form, a, b_form, b, alpha, beta, c, cblas_dgemm);
}

}  // namespace muster::models
