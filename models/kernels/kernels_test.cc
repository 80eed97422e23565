#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/processor_kind.h"
#include "gtest/gtest.h"
#include "models/kernels/best_kernels.h"
#include "models/kernels/finite_difference.h"

namespace muster {
namespace {

template <typename T>
std::vector<T> Some(int64_t count, int seed) {
  const std::vector<double> numbers = Numbers(count, seed);
  return {numbers.begin(), numbers.end()};
}

template <typename T, typename Expected>
void ExpectNear(const std::vector<T>& got,
                const std::vector<Expected>& expected) {
  constexpr double kWithin = sizeof(T) == sizeof(float) ? 2e-6 : 1e-13;
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double wanted = expected[i];
    ASSERT_NEAR(got[i], wanted, kWithin * std::max(1.0, std::abs(wanted)))
        << "entry " << i;
  }
}

// What a table's kernels make of the same numbers.
template <typename T>
std::vector<T> AttentionBy(const KernelTable<T>& kernels,
                           const AttentionShape& shape) {
  const int64_t count = shape.batch * shape.time * shape.width;
  const std::vector<T> qkv = Some<T>(3 * count, 1);
  const std::vector<T> upstream = Some<T>(count, 2);
  std::vector<T> scratch(AttentionScratchCount(shape));
  std::vector<T> probabilities(ProbabilitiesCount(shape), 99);
  std::vector<T> output(count, 99);
  std::vector<T> gradient(3 * count, 99);
  kernels.attention_forward(shape, qkv.data(), scratch.data(),
                            probabilities.data(), output.data());
  kernels.attention_backward(shape, qkv.data(), probabilities.data(),
                             upstream.data(), scratch.data(), gradient.data());
  std::vector<T> all = probabilities;
  all.insert(all.end(), output.begin(), output.end());
  all.insert(all.end(), gradient.begin(), gradient.end());
  return all;
}

// By its definition, in double, one number after the other.
std::vector<double> PlainAttention(const AttentionShape& shape) {
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
  std::vector<double> all = probabilities;
  all.insert(all.end(), output.begin(), output.end());
  all.insert(all.end(), gradient.begin(), gradient.end());
  return all;
}

template <typename T>
std::vector<T> RestBy(const KernelTable<T>& kernels, int64_t rows,
                      int64_t width) {
  const int64_t count = rows * width;
  const std::vector<T> input = Some<T>(count, 3);
  const std::vector<T> upstream = Some<T>(count, 4);
  const std::vector<T> gain = Some<T>(width, 5);
  const std::vector<T> bias = Some<T>(width, 6);
  std::vector<std::vector<T>> made(8, std::vector<T>(count));
  std::vector<T> mean(rows);
  std::vector<T> scale(rows);
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
  made[7][0] = static_cast<T>(
      kernels.cross_entropy(input.data(), targets.data(), rows, width));
  made[7][1 % count] = static_cast<T>(kernels.cross_entropy_with_gradient(
      made[6].data(), targets.data(), rows, width, T{2}));
  std::vector<T> all;
  for (const std::vector<T>& each : made) {
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

template <typename T>
class KernelsTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsTest, Types);

TYPED_TEST(KernelsTest, AttentionIsItsDefinition) {
  for (const AttentionShape& shape : kShapes) {
    SCOPED_TRACE(shape.time);
    const std::vector<double> expected = PlainAttention(shape);
    for (const ProcessorKind kind : ProcessorKinds()) {
      SCOPED_TRACE(Name(kind));
      ExpectNear(AttentionBy(KernelsOf<TypeParam>(kind), shape), expected);
    }
  }
}

TYPED_TEST(KernelsTest, ProcessorsDifferByRoundingAlone) {
  for (const ProcessorKind kind : ProcessorKinds()) {
    for (const int64_t width : {5, 8, 61, 128}) {
      SCOPED_TRACE(Name(kind));
      SCOPED_TRACE(width);
      ExpectNear(
          RestBy(KernelsOf<TypeParam>(kind), 3, width),
          RestBy(KernelsOf<TypeParam>(ProcessorKind::kBaseline), 3, width));
    }
  }
}

}  // namespace
}  // namespace muster
