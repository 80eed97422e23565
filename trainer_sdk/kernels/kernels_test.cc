#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/kernels/finite_difference.h"
#include "trainer_sdk/kernels/kernels_avx2.h"
#include "trainer_sdk/kernels/kernels_baseline.h"

namespace muster {
namespace {

std::vector<float> Floats(int64_t count, int seed) {
  const std::vector<double> numbers = Numbers(count, seed);
  return {numbers.begin(), numbers.end()};
}

void ExpectNear(const std::vector<float>& got,
                const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i],
                2e-6 * std::max(1.0f, std::abs(expected[i])))
        << "entry " << i;
  }
}

// What a table's kernels make of the same numbers.
std::vector<float> AttentionBy(const KernelTable<float>& kernels,
                               const AttentionShape& shape) {
  const int64_t count = shape.batch * shape.time * shape.width;
  const std::vector<float> qkv = Floats(3 * count, 1);
  const std::vector<float> upstream = Floats(count, 2);
  std::vector<float> scratch(AttentionScratchCount(shape));
  std::vector<float> probabilities(ProbabilitiesCount(shape), 99);
  std::vector<float> output(count, 99);
  std::vector<float> gradient(3 * count, 99);
  kernels.attention_forward(shape, qkv.data(), scratch.data(),
                            probabilities.data(), output.data());
  kernels.attention_backward(shape, qkv.data(), probabilities.data(),
                             upstream.data(), scratch.data(), gradient.data());
  std::vector<float> all = probabilities;
  all.insert(all.end(), output.begin(), output.end());
  all.insert(all.end(), gradient.begin(), gradient.end());
  return all;
}

// By its definition, in double, one number after the other.
std::vector<float> PlainAttention(const AttentionShape& shape) {
  const int64_t time = shape.time;
  const int64_t width = shape.width;
  const int64_t head_width = width / shape.heads;
  const std::vector<double> qkv = Numbers(3 * shape.batch * time * width, 1);
  const std::vector<double> upstream = Numbers(shape.batch * time * width, 2);
  std::vector<double> probabilities(ProbabilitiesCount(shape));
  std::vector<double> output(upstream.size());
  std::vector<double> gradient(qkv.size());
  for (int64_t n = 0; n < shape.batch * shape.heads; ++n) {
    const int64_t row = n / shape.heads * time;
    const int64_t column = n % shape.heads * head_width;
    const auto place = [&](int64_t part, int64_t t, int64_t c) {
      return (row + t) * 3 * width + part * width + column + c;
    };
    const double scale = 1 / std::sqrt(static_cast<double>(head_width));
    for (int64_t i = 0; i < time; ++i) {
      double* const p = probabilities.data() + (n * time + i) * time;
      double whole = 0;
      for (int64_t j = 0; j <= i; ++j) {
        double score = 0;
        for (int64_t c = 0; c < head_width; ++c) {
          score += qkv[place(0, i, c)] * qkv[place(1, j, c)];
        }
        p[j] = std::exp(scale * score);
        whole += p[j];
      }
      std::vector<double> slope(i + 1);
      double mean = 0;
      for (int64_t j = 0; j <= i; ++j) {
        p[j] /= whole;
        for (int64_t c = 0; c < head_width; ++c) {
          const int64_t at = (row + i) * width + column + c;
          output[at] += p[j] * qkv[place(2, j, c)];
          slope[j] += upstream[at] * qkv[place(2, j, c)];
          gradient[place(2, j, c)] += p[j] * upstream[at];
        }
        mean += p[j] * slope[j];
      }
      for (int64_t j = 0; j <= i; ++j) {
        const double score = scale * p[j] * (slope[j] - mean);
        for (int64_t c = 0; c < head_width; ++c) {
          gradient[place(0, i, c)] += score * qkv[place(1, j, c)];
          gradient[place(1, j, c)] += score * qkv[place(0, i, c)];
        }
      }
    }
  }
  std::vector<float> all(probabilities.begin(), probabilities.end());
  all.insert(all.end(), output.begin(), output.end());
  all.insert(all.end(), gradient.begin(), gradient.end());
  return all;
}

std::vector<float> RestBy(const KernelTable<float>& kernels, int64_t rows,
                          int64_t width) {
  const int64_t count = rows * width;
  const std::vector<float> input = Floats(count, 3);
  const std::vector<float> upstream = Floats(count, 4);
  const std::vector<float> gain = Floats(width, 5);
  const std::vector<float> bias = Floats(width, 6);
  std::vector<std::vector<float>> made(8, std::vector<float>(count));
  std::vector<float> mean(rows);
  std::vector<float> scale(rows);
  kernels.gelu_forward(input.data(), count, made[0].data(), made[1].data());
  kernels.layer_norm_forward(input.data(), gain.data(), bias.data(), rows,
                             width, made[2].data(), mean.data(), scale.data());
  kernels.layer_norm_backward(upstream.data(), input.data(), gain.data(),
                              mean.data(), scale.data(), rows, width,
                              made[3].data(), made[4].data(), made[5].data());
  made[6] = input;
  std::vector<int32_t> targets;
  for (int64_t i = 0; i < rows; ++i) {
    targets.push_back(static_cast<int32_t>((7 * i + 3) % width));
  }
  made[7][0] = static_cast<float>(
      kernels.cross_entropy(input.data(), targets.data(), rows, width));
  made[7][1 % count] = static_cast<float>(kernels.cross_entropy_with_gradient(
      made[6].data(), targets.data(), rows, width, 2.0f));
  std::vector<float> all;
  for (const std::vector<float>& each : made) {
    all.insert(all.end(), each.begin(), each.end());
  }
  return all;
}

constexpr AttentionShape kShapes[] = {
    {.batch = 1, .time = 1, .heads = 1, .width = 1},
    {.batch = 2, .time = 7, .heads = 3, .width = 9},
    {.batch = 1, .time = 16, .heads = 2, .width = 32},
    {.batch = 2, .time = 37, .heads = 2, .width = 42},
    {.batch = 1, .time = 64, .heads = 4, .width = 128},
};

TEST(KernelsTest, AttentionIsItsDefinition) {
  for (const AttentionShape& shape : kShapes) {
    SCOPED_TRACE(shape.time);
    const std::vector<float> expected = PlainAttention(shape);
    ExpectNear(AttentionBy(BaselineKernels<float>(), shape), expected);
    if (Avx2Kernels<float>() == nullptr) continue;
    ExpectNear(AttentionBy(*Avx2Kernels<float>(), shape), expected);
  }
}

TEST(KernelsTest, ProcessorsDifferByRoundingAlone) {
  if (Avx2Kernels<float>() == nullptr) GTEST_SKIP() << "no AVX2 or FMA here";
  for (const int64_t width : {5, 8, 61, 128}) {
    SCOPED_TRACE(width);
    ExpectNear(RestBy(*Avx2Kernels<float>(), 3, width),
               RestBy(BaselineKernels<float>(), 3, width));
  }
}

}  // namespace
}  // namespace muster
