#include "models/cuda/kernels/column_sums.h"

#include "models/cuda/kernels/kernel_case.h"

namespace muster::cuda {
namespace {

template <typename Case>
class CudaColumnSumsTest : public KernelTest<Case> {};

TYPED_TEST_SUITE(CudaColumnSumsTest, KernelCases);

TYPED_TEST(CudaColumnSumsTest, AddsToWhatIsThere) {
  // With the largest number of rows, some threads have several parts and others
  // one.
  for (const int64_t rows : {1, 5, 128, 300, 1500}) {
    constexpr int64_t kColumns = 39;
    const auto values = this->Numbers(rows * kColumns, 1);
    auto sums = this->Numbers(kColumns, 2);
    auto expected = sums;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t j = 0; j < kColumns; ++j) {
        expected[static_cast<size_t>(j)] +=
            values[static_cast<size_t>(row * kColumns + j)];
      }
    }
    const auto own = this->Narrowed(values);
    std::vector<float> scratch(
        static_cast<size_t>(ColumnSumsScratchCount(rows, kColumns)));
    ColumnSums(own.data(), rows, kColumns, scratch.data(), sums.data(),
               nullptr);
    this->ExpectNear(sums, expected);
  }
}

}  // namespace
}  // namespace muster::cuda
