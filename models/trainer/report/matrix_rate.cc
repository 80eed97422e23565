#include "models/trainer/report/matrix_rate.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/monotonic_clock.h"
#include "models/kernels/matrix_product.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster::models {

absl::StatusOr<double> MeasureMatrixRate(ProcessGroup& world) {
  // The number of rows of the multiplied matrices: large enough that the matrix
  // library reaches its maximum speed, small enough for the processor's cache.
  constexpr int64_t kSize = 384;
  constexpr int kTrials = 5;
  constexpr Duration kLongEnough = std::chrono::milliseconds(50);
  std::vector<float> a(kSize * kSize, 0.5f);
  std::vector<float> b(kSize * kSize, 0.25f);
  std::vector<float> c(kSize * kSize);
  const auto multiply = [&] {
    MatrixProduct(
        Form::kPlain, MatrixView<const float>::Dense(a.data(), kSize, kSize),
        Form::kPlain, MatrixView<const float>::Dense(b.data(), kSize, kSize), 1,
        0, MatrixView<float>::Dense(c.data(), kSize, kSize));
  };
  multiply();  // not measured: the first product starts the threads
  // The highest FLOP/s of several runs, because another program may slow down
  // some of the runs.
  double best = 0;
  for (int i = 0; i < kTrials; ++i) {
    // Wait for the other ranks, so that all ranks measure at the same time:
    // ranks on one machine share its processors.
    absl::Status status = world.Run(Barrier());
    if (!status.ok()) return status;
    const Instant begin = MonotonicNow();
    int64_t done = 0;
    Duration taken{};
    while (taken < kLongEnough) {
      multiply();
      ++done;
      taken = MonotonicNow() - begin;
    }
    double rate = static_cast<double>(2 * kSize * kSize * kSize * done) /
                  ToSeconds(taken);
    status = world.Run(AllReduce(&rate, &rate, 1, DType::kFloat64));
    if (!status.ok()) return status;
    best = std::max(best, rate);
  }
  return best;
}

}  // namespace muster::models
