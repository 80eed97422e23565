// Reads one line for each case, in one of the two forms below. For each line,
// runs kSteps optimizer steps over kCount weights, with the same gradients as
// optimizer_oracle.py, and prints the weights.
//
//   adamw RATE BETA1 BETA2 EPSILON DECAY
//   sgd RATE MOMENTUM NESTEROV DECAY

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "trainer_sdk/optim/update_rule.h"

namespace {

constexpr int kCount = 50;
constexpr int kSteps = 30;

template <typename Step>
void Run(Step step) {
  std::vector<float> weights(kCount);
  std::vector<float> first(kCount);
  std::vector<float> second(kCount);
  for (int i = 0; i < kCount; ++i) {
    weights[i] = static_cast<float>(std::cos(0.3 * i));
  }
  for (int n = 1; n <= kSteps; ++n) {
    std::vector<float> gradient(kCount);
    for (int i = 0; i < kCount; ++i) {
      gradient[i] = static_cast<float>(std::sin(0.7 * i + n) * (i - 20) / 10);
    }
    step(n, weights.data(), gradient.data(), first.data(), second.data());
  }
  for (const float weight : weights) {
    std::printf("%.9g ", static_cast<double>(weight));
  }
  std::printf("\n");
}

}  // namespace

int main() {
  std::string name;
  double rate = 0;
  while (std::cin >> name >> rate) {
    if (name == "adamw") {
      muster::AdamWOptions options;
      std::cin >> options.beta1 >> options.beta2 >> options.epsilon >>
          options.weight_decay;
      Run([&](int n, float* w, const float* g, float* m, float* v) {
        muster::AdamWStep(options, rate, n, kCount, w, g, m, v);
      });
    } else {
      muster::SgdOptions options;
      int nesterov = 0;
      std::cin >> options.momentum >> nesterov >> options.weight_decay;
      options.lookahead = nesterov ? muster::SgdOptions::Lookahead::kNesterov
                                   : muster::SgdOptions::Lookahead::kNone;
      Run([&](int n, float* w, const float* g, float* v, float*) {
        muster::SgdStep(options, rate, n, kCount, w, g, v);
      });
    }
  }
  return 0;
}
