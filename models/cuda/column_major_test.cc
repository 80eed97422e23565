#include "models/cuda/column_major.h"

#include "gtest/gtest.h"

namespace muster::models::cuda {
namespace {

const float* At(uint64_t address) {
  return reinterpret_cast<const float*>(address);
}

TEST(ColumnMajorTest, TheFactorsChangePlacesAndEachIsTransposed) {
  const ColumnMajorPlan plan =
      InColumnMajor({.a_form = MatrixForm::kTransposed,
                     .a = Matrix::Dense(At(512), 5, 3),
                     .b = Matrix::Dense(At(1024), 5, 7),
                     .result = Matrix::Dense(At(2048), 3, 7)});
  EXPECT_EQ(plan.a_form, MatrixForm::kPlain);
  EXPECT_EQ(plan.b_form, MatrixForm::kTransposed);
  EXPECT_EQ(plan.a.rows, 7);
  EXPECT_EQ(plan.a.columns, 5);
  EXPECT_EQ(plan.a.stride, 7);
  EXPECT_EQ(plan.b.rows, 3);
  EXPECT_EQ(plan.b.columns, 5);
  EXPECT_EQ(plan.result.rows, 7);
  EXPECT_EQ(plan.result.columns, 3);
}

TEST(ColumnMajorTest, AlignmentIsThatOfEveryRowOfEveryMatrix) {
  Product product = {.a = Matrix::Dense(At(4096), 2, 64),
                     .b = Matrix::Dense(At(4096 + 16), 64, 64),
                     .result = Matrix::Dense(At(8192), 2, 64)};
  EXPECT_EQ(InColumnMajor(product).b.alignment, 256);
  EXPECT_EQ(InColumnMajor(product).a.alignment, 16);
  product.addend = At(8192 + 64);
  EXPECT_EQ(InColumnMajor(product).result.alignment, 64);
  // The batch stride matters only if there are several products: the second
  // matrix then begins 8 bytes after the first, which limits the alignment.
  product.a.batch_stride = 2;
  EXPECT_EQ(InColumnMajor(product).b.alignment, 256);
  product.batch = 2;
  EXPECT_EQ(InColumnMajor(product).b.alignment, 8);
  product.a.stride = 65;
  EXPECT_EQ(InColumnMajor(product).b.alignment, 4);
}

TEST(ColumnMajorTest, OtherAddendGivesAnotherPlan) {
  Product product = {.a = Matrix::Dense(At(4096), 2, 64),
                     .b = Matrix::Dense(At(4096), 64, 64),
                     .result = Matrix::Dense(At(8192), 2, 64)};
  const ColumnMajorPlan plain = InColumnMajor(product);
  EXPECT_EQ(InColumnMajor(product), plain);
  product.addend = At(8192);
  const ColumnMajorPlan same = InColumnMajor(product);
  product.addend = At(16384);
  EXPECT_NE(same, plain);
  EXPECT_NE(InColumnMajor(product), same);
  product.addend = nullptr;
  product.bias = At(20);
  EXPECT_NE(InColumnMajor(product), plain);
  EXPECT_EQ(InColumnMajor(product).bias_alignment, 4);
  // Another factor, or another address of `a` with the same alignment, must not
  // change the plan. `plain` is the plan of a product without a bias, so the
  // bias is removed first.
  product.bias = nullptr;
  product.factor = 2;
  product.a.data = At(65536);
  EXPECT_EQ(InColumnMajor(product), plain);
}

}  // namespace
}  // namespace muster::models::cuda
