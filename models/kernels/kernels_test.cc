#include <cmath>
#include <cstdint>
#include <vector>

#include "base/processor_kind.h"
#include "base/testing/rounding.h"
#include "gtest/gtest.h"
#include "models/kernels/finite_difference.h"
#include "models/kernels/kernel_table.h"

namespace muster::models {
namespace {

template <typename T>
std::vector<T> Some(int64_t count, int seed) {
  const std::vector<double> numbers = Numbers(count, seed);
  return {numbers.begin(), numbers.end()};
}

template <typename T>
using Lists = std::vector<std::vector<T>>;

// Runs attention with the kernels of one kind of processor and returns the
// results. The inputs depend only on the shape.
template <typename T>
Lists<T> AttentionBy(const KernelTable<T>& kernels,
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
  return {probabilities, output, gradient};
}

// A defect planted in the reference, which the test must detect.
enum class Planted { kNone, kForgottenTerm };

// Computes attention by its definition, in double, one element at a time.
Lists<double> PlainAttention(const AttentionShape& shape, Disturbance disturb,
                             Planted planted = Planted::kNone) {
  const int64_t time = shape.time;
  const int64_t width = shape.width;
  const int64_t head_width = width / shape.heads;
  std::vector<double> qkv = Numbers(3 * shape.batch * time * width, 1);
  std::vector<double> upstream = Numbers(shape.batch * time * width, 2);
  disturb(qkv);
  disturb(upstream);
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
        const int64_t terms =
            planted == Planted::kForgottenTerm && i == time / 2 && j == 0
                ? head_width - 1
                : head_width;
        for (int64_t c = 0; c < terms; ++c) {
          score += qkv[place(0, i, c)] * qkv[place(1, j, c)];
        }
        p[j] = std::exp(disturb(scale * score));
        whole += p[j];
      }
      std::vector<double> slope(i + 1);
      double mean = 0;
      for (int64_t j = 0; j <= i; ++j) {
        p[j] = disturb(p[j] / whole);
        for (int64_t c = 0; c < head_width; ++c) {
          const int64_t at = (row + i) * width + column + c;
          output[at] += p[j] * qkv[place(2, j, c)];
          slope[j] += upstream[at] * qkv[place(2, j, c)];
          gradient[place(2, j, c)] += p[j] * upstream[at];
        }
        slope[j] = disturb(slope[j]);
        mean += p[j] * slope[j];
      }
      for (int64_t j = 0; j <= i; ++j) {
        const double score = disturb(scale * p[j] * (slope[j] - mean));
        for (int64_t c = 0; c < head_width; ++c) {
          gradient[place(0, i, c)] += score * qkv[place(1, j, c)];
          gradient[place(1, j, c)] += score * qkv[place(0, i, c)];
        }
      }
    }
  }
  disturb(probabilities);
  disturb(output);
  disturb(gradient);
  return {probabilities, output, gradient};
}

// Returns the results of all kernels except attention.
template <typename T>
Lists<T> RestBy(const KernelTable<T>& kernels, int64_t rows, int64_t width,
                Disturbance disturb = Disturbance()) {
  const int64_t count = rows * width;
  const auto some = [&](int64_t size, int seed) {
    // The numbers are rounded to float, so that T and double have the same
    // inputs.
    std::vector<double> numbers = Some<double>(size, seed);
    for (double& number : numbers) number = static_cast<float>(number);
    disturb(numbers);
    return std::vector<T>(numbers.begin(), numbers.end());
  };
  const std::vector<T> input = some(count, 3);
  const std::vector<T> upstream = some(count, 4);
  const std::vector<T> gain = some(width, 5);
  const std::vector<T> bias = some(width, 6);
  Lists<T> made(8, std::vector<T>(count));
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
  return made;
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
    // Maximum number of successive roundings in one result: those of a score's
    // sum, the softmax, and a sum over the positions.
    const auto operations =
        static_cast<double>(HeadWidth(shape) + 2 * shape.time + 12);
    const RoundingReference exact(
        [&](Disturbance disturb) { return PlainAttention(shape, disturb); });
    for (const ProcessorKind kind : ProcessorKinds()) {
      SCOPED_TRACE(Name(kind));
      EXPECT_EQ(exact.WrongList<TypeParam>(
                    operations, AttentionBy(KernelsOf<TypeParam>(kind), shape)),
                -1);
    }
    // With a single position, the planted defect has no effect: the probability
    // is 1 whatever the score is.
    if (shape.time == 1) continue;
    EXPECT_NE(exact.WrongList<TypeParam>(
                  operations, PlainAttention(shape, Disturbance(),
                                             Planted::kForgottenTerm)),
              -1)
        << "planted";
  }
}

// The kernels for every kind of processor must equal the reference up to
// rounding. The reference is computed in double by the baseline kernels. Other
// tests compare the baseline kernels with finite differences.
TYPED_TEST(KernelsTest, ProcessorsDifferByRoundingAlone) {
  for (const int64_t width : {5, 8, 61, 128}) {
    SCOPED_TRACE(width);
    // Maximum number of successive roundings in one result: those of two sums
    // over a row, an exponential, and products.
    const double operations = 2 * static_cast<double>(width) + 20;
    const RoundingReference exact([&](Disturbance disturb) {
      return RestBy(KernelsOf<double>(ProcessorKind::kBaseline), 3, width,
                    disturb);
    });
    for (const ProcessorKind kind : ProcessorKinds()) {
      SCOPED_TRACE(Name(kind));
      EXPECT_EQ(exact.WrongList<TypeParam>(
                    operations, RestBy(KernelsOf<TypeParam>(kind), 3, width)),
                -1);
    }
    Lists<double> planted = exact.lists();
    planted[3][1] *= 1.001;
    EXPECT_EQ(exact.WrongList<TypeParam>(operations, planted), 3) << "planted";
  }
}

}  // namespace
}  // namespace muster::models
