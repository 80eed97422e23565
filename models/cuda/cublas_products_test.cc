#include "models/cuda/cublas_products.h"

#include <dlfcn.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "models/cuda/testing/emulated_device.h"

// Compares products by CublasProducts, which uses a fake of cuBLASLt on the
// host (fake_cublas_lt.cc), with products by the emulated device.

namespace muster::models::cuda {
namespace {

constexpr char kFake[] = "models/cuda/libfake_cublas_lt.so";

std::vector<float> Numbers(size_t count, int seed) {
  std::vector<float> numbers;
  for (size_t i = 0; i < count; ++i) {
    numbers.push_back(
        static_cast<float>(std::sin(12.9898 * double(i) + 78.233 * seed)));
  }
  return numbers;
}

class CublasProductsTest : public testing::Test {
 protected:
  CublasProductsTest() {
    auto lt = CublasLt::Load({"libthere-is-none.so", kFake});
    EXPECT_TRUE(lt.ok()) << lt.status();
    auto products =
        CublasProducts::Create(*std::move(lt), std::make_shared<char>());
    EXPECT_TRUE(products.ok()) << products.status();
    products_ = *std::move(products);
  }

  // Computes `product` by the fake of cuBLASLt and by the emulated device, and
  // compares the results. The product writes to `results`. The magnitude of
  // each input element must be at most 1.
  void Compare(const Product& product, std::vector<float>* results) {
    const std::vector<float> before = *results;
    const absl::Status status = products_->Multiply(product, nullptr);
    ASSERT_TRUE(status.ok()) << status;
    const std::vector<float> found = *results;
    *results = before;
    EmulatedDevice().Multiply(product);
    const int64_t inner = product.a_form == MatrixForm::kPlain
                              ? product.a.columns
                              : product.a.rows;
    // The bound of the rounding errors: each element of the result is a sum of
    // `inner` terms, and the factor, the bias and the addend cause one further
    // rounding each.
    const auto terms = static_cast<double>(inner);
    const double bound =
        RoundingBound<float>(terms + 3, product.factor * terms + 2);
    EXPECT_LE(Distance(found, *results), bound);
    std::vector<float> planted = found;
    for (float& value : planted) value *= 1.001f;
    EXPECT_GT(Distance(planted, *results), bound) << "planted";
  }

  std::unique_ptr<CublasProducts> products_;
};

TEST_F(CublasProductsTest, AllForms) {
  constexpr int64_t kRows = 3;
  constexpr int64_t kInner = 5;
  constexpr int64_t kColumns = 4;
  const auto a = Numbers(kRows * kInner, 1);
  const auto b = Numbers(kInner * kColumns, 2);
  const auto bias = Numbers(kColumns, 3);
  const auto elsewhere = Numbers(kRows * kColumns, 4);
  for (const auto a_form : {MatrixForm::kPlain, MatrixForm::kTransposed}) {
    for (const auto b_form : {MatrixForm::kPlain, MatrixForm::kTransposed}) {
      std::vector<float> results = Numbers(kRows * kColumns, 5);
      const bool a_plain = a_form == MatrixForm::kPlain;
      const bool b_plain = b_form == MatrixForm::kPlain;
      Product product = {
          .a_form = a_form,
          .a = Matrix::Dense(a.data(), a_plain ? kRows : kInner,
                             a_plain ? kInner : kRows),
          .b_form = b_form,
          .b = Matrix::Dense(b.data(), b_plain ? kInner : kColumns,
                             b_plain ? kColumns : kInner),
          .result = Matrix::Dense(results.data(), kRows, kColumns),
          .factor = 0.5f};
      Compare(product, &results);
      product.bias = bias.data();
      Compare(product, &results);
      product.addend = results.data();
      Compare(product, &results);
      product.addend = elsewhere.data();
      Compare(product, &results);
    }
  }
}

// The matrices of a batch lie side by side in the same rows of memory, like the
// heads of attention. So there is a gap between two rows of one matrix.
TEST_F(CublasProductsTest, BatchesWithGaps) {
  constexpr int64_t kTime = 3;
  constexpr int64_t kHeads = 2;
  constexpr int64_t kWidth = 4;
  const auto rows = Numbers(kTime * 3 * kHeads * kWidth, 1);
  std::vector<float> scores = Numbers(kHeads * kTime * kTime, 2);
  const auto heads = [&](int64_t part) {
    return Matrix{.type = ElementType::kFloat32,
                  .data = rows.data() + part * kHeads * kWidth,
                  .rows = kTime,
                  .columns = kWidth,
                  .stride = 3 * kHeads * kWidth,
                  .batch_stride = kWidth};
  };
  Compare({.a = heads(0),
           .b_form = MatrixForm::kTransposed,
           .b = heads(1),
           .result = {.type = ElementType::kFloat32,
                      .data = scores.data(),
                      .rows = kTime,
                      .columns = kTime,
                      .stride = kTime,
                      .batch_stride = kTime * kTime},
           .batch = kHeads},
          &scores);
}

// The products below differ only in the alignment of their matrices. The fake
// of cuBLASLt aborts if an algorithm that was chosen for well-aligned matrices
// is used for matrices with a smaller alignment.
TEST_F(CublasProductsTest, EachAlignmentHasAWayOfItsOwn) {
  const auto a = Numbers(64 + 64, 1);
  const auto bias = Numbers(64 + 64, 2);
  std::vector<float> results(64);
  for (const size_t shift : {size_t{0}, size_t{1}, size_t{2}, size_t{16}}) {
    Compare({.a = Matrix::Dense(a.data() + shift, 8, 8),
             .b = Matrix::Dense(a.data() + shift, 8, 8),
             .result = Matrix::Dense(results.data(), 8, 8),
             .bias = bias.data() + shift},
            &results);
  }
}

TEST_F(CublasProductsTest, GradientsOfBfloat16AreFloat32) {
  // the numbers 1, 2, 3, 4 as bfloat16
  const std::vector<uint16_t> halves = {0x3f80, 0x4000, 0x4040, 0x4080};
  const auto* const data = reinterpret_cast<const Bfloat16*>(halves.data());
  std::vector<float> results(4, 100);
  ASSERT_TRUE(products_
                  ->Multiply({.a_form = MatrixForm::kTransposed,
                              .a = Matrix::Dense(data, 2, 2),
                              .b = Matrix::Dense(data, 2, 2),
                              .result = Matrix::Dense(results.data(), 2, 2),
                              .addend = results.data()},
                             nullptr)
                  .ok());
  EXPECT_EQ(results, (std::vector<float>{110, 114, 114, 120}));
}

TEST_F(CublasProductsTest, UnsupportedProductIsUnimplemented) {
  const auto a = Numbers(4, 1);
  std::vector<uint16_t> results(4);
  const absl::Status status = products_->Multiply(
      {.a = Matrix::Dense(a.data(), 2, 2),
       .b = Matrix::Dense(a.data(), 2, 2),
       .result =
           Matrix::Dense(reinterpret_cast<Bfloat16*>(results.data()), 2, 2)},
      nullptr);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(status.message(),
            "cuBLASLt knows no way to multiply 2 x 2 of float32 by 2 x 2 of "
            "float32 into 2 x 2 of bfloat16");
}

TEST_F(CublasProductsTest, MoreShapesThanItRemembers) {
  const auto a = Numbers(2048, 1);
  std::vector<float> results(1);
  for (int64_t inner = 1; inner <= 1100; ++inner) {
    ASSERT_TRUE(products_
                    ->Multiply({.a = Matrix::Dense(a.data(), 1, inner),
                                .b = Matrix::Dense(a.data(), inner, 1),
                                .result = Matrix::Dense(results.data(), 1, 1)},
                               nullptr)
                    .ok());
  }
  const auto count = reinterpret_cast<int (*)()>(
      dlsym(dlopen(kFake, RTLD_NOW), "FakeCublasLtThings"));
  ASSERT_NE(count, nullptr);
  // At most 1024 shapes are cached, with four cuBLASLt objects each. The
  // library's handle is one more object.
  EXPECT_LE(count(), 4 * 1024 + 1);
  products_.reset();
  EXPECT_EQ(count(), 0);
}

TEST(CublasLtTest, WhereThereIsNone) {
  const auto lt = CublasLt::Load({"libthere-is-none.so"});
  EXPECT_EQ(lt.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(lt.status().message().find("libthere-is-none.so"),
            absl::string_view::npos);
  EXPECT_EQ(CublasLt::Load({"libm.so.6"}).status().message(),
            "this cuBLASLt has no cublasLtGetStatusString");
}

}  // namespace
}  // namespace muster::models::cuda
