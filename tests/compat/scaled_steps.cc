// Reads lines RATE INITIAL INTERVAL CLIP: learning rate, first loss scale,
// number of steps between its increases, norm to which gradients are clipped.
// For each line, runs kSteps AdamW steps over kCount weights with a loss scale
// and clipping. Prints the weights, the final scale, and the norm of the last
// step that was not skipped. The gradients are those of scaled_oracle.py; some
// of them are infinite.

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <limits>
#include <vector>

#include "trainer_sdk/optim/replicated_optimizer.h"
#include "trainer_sdk/optim/step_plan.h"

namespace {

constexpr int kCount = 50;
constexpr int kSteps = 30;

void Run(double rate, const muster::LossScalerOptions& options, double clip) {
  std::vector<float> weights(kCount);
  std::vector<float> gradient(kCount);
  for (int i = 0; i < kCount; ++i) {
    weights[i] = static_cast<float>(std::cos(0.3 * i));
  }
  muster::LossScaler scaler(options);
  muster::ReplicatedOptimizer optimizer(
      muster::AdamWRule({}),
      {{.name = "w", .shape = {kCount}, .value = weights}},
      [&](int) { return muster::TensorData(gradient); });
  int64_t updates = 0;
  double norm = 0;
  for (int n = 1; n <= kSteps; ++n) {
    for (int i = 0; i < kCount; ++i) {
      const auto value =
          static_cast<float>(std::sin(0.7 * i + n) * (i - 20) / 10);
      gradient[i] = value * static_cast<float>(scaler.scale());
    }
    if (n % 7 == 3) gradient[n] = std::numeric_limits<float>::infinity();
    const muster::StepPlan plan =
        muster::PlanStep(*optimizer.SumOfSquares(), clip, &scaler);
    if (plan.verdict == muster::LossScaler::Verdict::kSkip) continue;
    norm = plan.norm;
    const absl::Status status =
        optimizer.Step({.step = ++updates,
                        .learning_rate = rate,
                        .gradient_factor = plan.gradient_factor});
    if (!status.ok()) return;
  }
  for (const float weight : weights) {
    std::printf("%.9g ", static_cast<double>(weight));
  }
  std::printf("%.17g %.17g\n", scaler.scale(), norm);
}

}  // namespace

int main() {
  double rate = 0;
  double clip = 0;
  muster::LossScalerOptions options;
  while (std::cin >> rate >> options.initial >> options.growth_interval >>
         clip) {
    Run(rate, options, clip);
  }
  return 0;
}
