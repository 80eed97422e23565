#include "models/cuda/kernels/kernels.h"
#include "trainer_sdk/cuda/testing/kernel_case.h"

namespace muster::models::cuda {
namespace {

template <typename Case>
class CudaColumnSumsTest : public KernelTest<Case> {};

TYPED_TEST_SUITE(CudaColumnSumsTest, KernelCases);

TYPED_TEST(CudaColumnSumsTest, AddsToWhatIsThere) {
  // With 1500 rows, some threads add several partial sums and others only one.
  for (const int64_t rows : {1, 5, 128, 300, 1500}) {
    constexpr int64_t kColumns = 39;
    const auto values = this->Numbers(rows * kColumns, 1);
    auto sums = this->Numbers(kColumns, 2);
    const std::vector<double> before(sums.begin(), sums.end());
    const auto own = this->Narrowed(values);
    std::vector<float> scratch(
        static_cast<size_t>(ColumnSumsScratchCount(rows, kColumns)));
    ColumnSums(own.data(), rows, kColumns, scratch.data(), sums.data(),
               nullptr);
    // A sum has as many successive additions as there are rows.
    this->ExpectRounded({{sums}}, static_cast<double>(rows),
                        [&](Disturbance disturb) {
                          std::vector<std::vector<double>> exact = {before};
                          for (size_t i = 0; i < values.size(); ++i) {
                            exact[0][i % kColumns] += disturb(values[i]);
                          }
                          disturb(exact[0]);
                          return exact;
                        });
  }
}

}  // namespace
}  // namespace muster::models::cuda
