#include "models/kernels/matrix_product.h"

#include <cmath>
#include <tuple>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"

namespace muster::models {
namespace {

std::vector<float> Floats(int64_t count, int seed) {
  const std::vector<double> numbers = Numbers(count, seed);
  return {numbers.begin(), numbers.end()};
}

class AnyForm : public testing::TestWithParam<std::tuple<Form, Form>> {};

TEST_P(AnyForm, IsTheProduct) {
  const auto [a_form, b_form] = GetParam();
  constexpr int64_t kRows = 5;
  constexpr int64_t kInner = 7;
  constexpr int64_t kColumns = 3;
  constexpr int64_t kStride = 9;  // larger than a row, so rows are not adjacent
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
      double magnitude = 0;
      if (j < kColumns) {
        double sum = 0;
        for (int64_t k = 0; k < kInner; ++k) {
          const double term = a[plain_a ? i * kStride + k : k * kStride + i] *
                              b[plain_b ? k * kStride + j : j * kStride + k];
          sum += term;
          magnitude += 2 * std::abs(term);
        }
        magnitude += std::abs(0.5 * expected);
        expected = 2 * sum + 0.5 * expected;
      }
      // Elements outside of the product's result must be unchanged.
      EXPECT_NEAR(c[i * kStride + j], expected,
                  RoundingBound<double>(kInner + 3, magnitude))
          << i << ", " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, AnyForm,
    testing::Combine(testing::Values(Form::kPlain, Form::kTransposed),
                     testing::Values(Form::kPlain, Form::kTransposed)));

// The sizes are not multiples of the sizes of a kernel's tiles and packed
// panels, so the last tile or panel is incomplete. Each of the two factors is
// tested plain and transposed.
TEST_P(AnyForm, OfFloatsIsTheProductWithinRounding) {
  const auto [a_form, b_form] = GetParam();
  const bool plain_a = a_form == Form::kPlain;
  const bool plain_b = b_form == Form::kPlain;
  for (const int64_t rows : {1, 3, 13, 31, 97}) {
    for (const int64_t columns : {1, 15, 17, 33, 65}) {
      for (const int64_t inner : {1, 17, 257, 300}) {
        const std::vector<float> a = Floats(rows * inner, 1);
        const std::vector<float> b = Floats(inner * columns, 2);
        std::vector<float> c = Floats(rows * columns, 3);
        const std::vector<float> before = c;
        MatrixProduct(
            a_form,
            plain_a ? MatrixView<const float>::Dense(a.data(), rows, inner)
                    : MatrixView<const float>::Dense(a.data(), inner, rows),
            b_form,
            plain_b ? MatrixView<const float>::Dense(b.data(), inner, columns)
                    : MatrixView<const float>::Dense(b.data(), columns, inner),
            2.0f, 0.5f, MatrixView<float>::Dense(c.data(), rows, columns));
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) {
            double sum = 0.25 * before[i * columns + j];
            double magnitude = std::abs(sum);
            for (int64_t k = 0; k < inner; ++k) {
              const double term =
                  double{a[plain_a ? i * inner + k : k * rows + i]} *
                  b[plain_b ? k * columns + j : j * inner + k];
              sum += term;
              magnitude += std::abs(term);
            }
            const double bound = RoundingBound<float>(
                static_cast<double>(inner + 3), 2 * magnitude);
            ASSERT_NEAR(c[i * columns + j], 2 * sum, bound)
                << rows << " x " << inner << " x " << columns << ": " << i
                << ", " << j;
          }
        }
      }
    }
  }
}

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
}  // namespace muster::models
