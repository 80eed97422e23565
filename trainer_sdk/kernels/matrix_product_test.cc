#include "trainer_sdk/kernels/matrix_product.h"

#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/kernels/finite_difference.h"

namespace muster {
namespace {

class AnyForm : public testing::TestWithParam<std::tuple<Form, Form>> {};

TEST_P(AnyForm, IsTheProduct) {
  const auto [a_form, b_form] = GetParam();
  constexpr int64_t kRows = 5;
  constexpr int64_t kInner = 7;
  constexpr int64_t kColumns = 3;
  constexpr int64_t kStride = 9;  // Rows do not follow one another.
  const std::vector<double> a = Numbers(kStride * 9, 1);
  const std::vector<double> b = Numbers(kStride * 9, 2);
  std::vector<double> c = Numbers(kStride * kRows, 3);
  const std::vector<double> before = c;
  const bool plain_a = a_form == Form::kPlain;
  const bool plain_b = b_form == Form::kPlain;
  MatrixProduct(
      a_form,
      {a.data(), plain_a ? kRows : kInner, plain_a ? kInner : kRows, kStride},
      b_form,
      {b.data(), plain_b ? kInner : kColumns, plain_b ? kColumns : kInner,
       kStride},
      2.0, 0.5, MatrixView<double>{c.data(), kRows, kColumns, kStride});
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kStride; ++j) {
      double expected = before[i * kStride + j];
      if (j < kColumns) {
        double sum = 0;
        for (int64_t k = 0; k < kInner; ++k) {
          sum += a[plain_a ? i * kStride + k : k * kStride + i] *
                 b[plain_b ? k * kStride + j : j * kStride + k];
        }
        expected = 2 * sum + 0.5 * expected;
      }
      EXPECT_NEAR(c[i * kStride + j], expected, 1e-12) << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, AnyForm,
    testing::Combine(testing::Values(Form::kPlain, Form::kTransposed),
                     testing::Values(Form::kPlain, Form::kTransposed)));

TEST(MatrixProductDeathTest, ShapesMustFit) {
  const std::vector<float> a(6);
  std::vector<float> c(6);
  EXPECT_DEATH(MatrixProduct(
                   Form::kPlain, MatrixView<const float>::Dense(a.data(), 2, 3),
                   Form::kPlain, MatrixView<const float>::Dense(a.data(), 2, 3),
                   1, 0, MatrixView<float>::Dense(c.data(), 2, 3)),
               "a product of 2 x 3 and 2 x 3 into 2 x 3");
}

}  // namespace
}  // namespace muster
