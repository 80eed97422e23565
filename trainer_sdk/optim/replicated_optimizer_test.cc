#include "trainer_sdk/optim/replicated_optimizer.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A number of elements that is larger than one conversion block (2048
// elements), and not a multiple of 2048.
constexpr int64_t kCount = 5001;

std::vector<float> Wave(int64_t count, double phase) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(
        static_cast<float>(std::sin(0.7 * static_cast<double>(i) + phase)));
  }
  return values;
}

std::vector<float> Rounded(const std::vector<float>& values, DType type) {
  std::vector<uint16_t> narrow(values.size());
  std::vector<float> wide(values.size());
  const auto count = static_cast<int64_t>(values.size());
  Narrow(values.data(), type, narrow.data(), count);
  Widen(type, narrow.data(), wide.data(), count);
  return wide;
}

TEST(ReplicatedOptimizerTest, AStepIsTheRulesOnScaledGradients) {
  for (const auto& rule : {AdamWRule({}), SgdRule({.momentum = 0.9})}) {
    std::vector<float> decayed = Wave(kCount, 0);
    std::vector<float> free = Wave(3, 1);
    std::vector<float> expected_decayed = decayed;
    std::vector<float> expected_free = free;
    std::vector<std::vector<float>> states(
        2, std::vector<float>(static_cast<size_t>(kCount + 3)));
    std::vector<float> gradient;
    std::vector<float> moved;
    // The gradients' addresses change between steps, so the optimizer must call
    // its GradientSource in each step.
    ReplicatedOptimizer optimizer(
        rule,
        {{.name = "w", .shape = {kCount}, .value = decayed},
         {.name = "b",
          .shape = {3},
          .value = free,
          .decay = WeightDecay::kNone}},
        [&](int i) { return TensorData(i == 0 ? gradient : moved); });
    for (int step = 1; step <= 3; ++step) {
      gradient = Wave(kCount, step);
      moved = Wave(3, 10 + step);
      const OptimizerStep plan{.step = step,
                               .learning_rate = 0.1,
                               .gradient_factor = step == 2 ? 0.3 : 1};
      const double squares =
          SumOfSquares(gradient.data(), kCount) + SumOfSquares(moved.data(), 3);
      const double bound = RoundingBound<double>(kCount + 3, squares);
      EXPECT_NEAR(*optimizer.SumOfSquares(), squares, bound);
      // The squares of `moved`, the gradient of the smaller tensor, must exceed
      // `bound`, the difference that this test permits. Otherwise the test
      // would also accept a sum in which this tensor is missing.
      EXPECT_GT(SumOfSquares(moved.data(), 3), bound);
      ASSERT_TRUE(optimizer.Step(plan).ok());
      if (step == 2) {
        Scale(gradient.data(), kCount, 0.3);
        Scale(moved.data(), 3, 0.3);
      }
      float* const first[] = {states[0].data(), states[1].data()};
      float* const second[] = {states[0].data() + kCount,
                               states[1].data() + kCount};
      rule->Update(plan, WeightDecay::kApplied, kCount, expected_decayed.data(),
                   gradient.data(), first);
      rule->Update(plan, WeightDecay::kNone, 3, expected_free.data(),
                   moved.data(), second);
      EXPECT_EQ(decayed, expected_decayed);
      EXPECT_EQ(free, expected_free);
    }
  }
}

TEST(ReplicatedOptimizerTest, StateIsNamedSlices) {
  std::vector<float> value(6, 1.0f);
  std::vector<float> gradient(6, 0.5f);
  ReplicatedOptimizer optimizer(
      AdamWRule({}), {{.name = "w", .shape = {2, 3}, .value = value}},
      [&](int) { return TensorData(gradient); });
  EXPECT_EQ(optimizer.bytes(), 2 * 6 * 4);
  ASSERT_TRUE(optimizer.Step({.step = 1, .learning_rate = 0.1}).ok());
  const std::vector<CheckpointSlice> state = optimizer.State();
  ASSERT_EQ(state.size(), 2u);
  EXPECT_EQ(state[0].tensor.name, "adamw.exp_avg/w");
  EXPECT_EQ(state[1].tensor.name, "adamw.exp_avg_sq/w");
  EXPECT_THAT(state[0].tensor.shape, ElementsAre(2, 3));
  EXPECT_EQ(state[0].begin, 0);
  EXPECT_EQ(state[0].end, 6);
  EXPECT_NEAR(static_cast<const float*>(state[0].data)[5], 0.05,
              RoundingBound<float>(3, 0.05));
}

TEST(ReplicatedOptimizerTest, MissingValueIsRefusedAndChangesNothing) {
  std::vector<float> value(6, 1.0f);
  std::vector<float> gradient(6, 0.5f);
  for (const auto& rule : {AdamWRule({}), SgdRule({.momentum = 0.9})}) {
    ReplicatedOptimizer optimizer(
        rule, {{.name = "w", .shape = {2, 3}, .value = value}},
        [&](int) { return TensorData(gradient); });
    for (const OptimizerStep& step :
         {OptimizerStep{.learning_rate = 0.1},
          OptimizerStep{.step = 0, .learning_rate = 0.1},
          OptimizerStep{.step = -1, .learning_rate = 0.1}}) {
      const absl::Status status = optimizer.Step(step);
      EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
      EXPECT_THAT(std::string(status.message()),
                  HasSubstr("updates count from 1"));
    }
    const absl::Status status = optimizer.Step({.step = 1});
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("learning_rate was not given"));
    EXPECT_TRUE(optimizer.Step({.step = 1, .learning_rate = 0}).ok());
    EXPECT_EQ(value, std::vector<float>(6, 1.0f));
  }
}

TEST(ReplicatedOptimizerTest, AGradientOfAnotherLengthIsRefused) {
  std::vector<float> value(6, 1.0f);
  std::vector<float> gradient(3, 0.5f);
  ReplicatedOptimizer optimizer(
      SgdRule({}), {{.name = "w", .shape = {2, 3}, .value = value}},
      [&](int) { return TensorData(gradient); });
  for (const absl::Status& status :
       {optimizer.Step({.step = 1, .learning_rate = 0.1}),
        optimizer.SumOfSquares().status()}) {
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("parameter 'w' has the shape [2,3], 6 elements, and "
                          "a gradient of 3"));
  }
  EXPECT_EQ(value, std::vector<float>(6, 1.0f));
}

// Test parameters: the type in which values are stored, and the type to which
// they are rounded.
class Precisions : public testing::TestWithParam<std::pair<DType, DType>> {};

TEST_P(Precisions, MastersKeepWhatRoundingLoses) {
  const auto [dtype, precision] = GetParam();
  const std::vector<float> begin = Rounded(Wave(kCount, 0), precision);
  std::vector<float> floats = begin;
  std::vector<uint16_t> narrow(static_cast<size_t>(kCount));
  Narrow(floats.data(), precision, narrow.data(), kCount);
  std::vector<uint16_t> gradient(static_cast<size_t>(kCount));
  ReplicatedOptimizer optimizer(
      SgdRule({}),
      {{.name = "w",
        .shape = {kCount},
        .value = {dtype == DType::kFloat32 ? static_cast<void*>(floats.data())
                                           : narrow.data(),
                  kCount, dtype},
        .precision = precision}},
      [&, type = precision](int) {
        return TensorData(gradient.data(), kCount, type);
      });
  // For most weights, the change in one step is too small for the type
  // `precision`: alone, it would be rounded away. So the optimizer must sum up
  // the changes in the float32 master weights.
  std::vector<float> master = begin;
  for (int step = 1; step <= 40; ++step) {
    const std::vector<float> exact = Wave(kCount, step);
    Narrow(exact.data(), precision, gradient.data(), kCount);
    std::vector<float> scaled = Rounded(exact, precision);
    EXPECT_EQ(*optimizer.SumOfSquares() > 0, true);
    Scale(scaled.data(), kCount, 1.0 / 1024);
    const OptimizerStep plan{
        .step = step, .learning_rate = 0.05, .gradient_factor = 1.0 / 1024};
    ASSERT_TRUE(optimizer.Step(plan).ok());
    SgdStep({}, 0.05, step, kCount, master.data(), scaled.data(), nullptr);
  }
  if (dtype != DType::kFloat32) {
    Widen(precision, narrow.data(), floats.data(), kCount);
  }
  EXPECT_EQ(floats, Rounded(master, precision));
  // State() must return the master weights, and OnStateLoaded must compute the
  // values from the master weights.
  const std::vector<CheckpointSlice> state = optimizer.State();
  ASSERT_EQ(state.size(), 1u);
  EXPECT_EQ(state[0].tensor.name, "master/w");
  auto* const kept = static_cast<float*>(state[0].data);
  EXPECT_EQ(std::vector<float>(kept, kept + kCount), master);
  std::fill(kept, kept + kCount, 1.0f / 3);
  ASSERT_TRUE(optimizer.OnStateLoaded().ok());
  if (dtype != DType::kFloat32) {
    Widen(precision, narrow.data(), floats.data(), kCount);
  }
  EXPECT_EQ(floats,
            Rounded(std::vector<float>(static_cast<size_t>(kCount), 1.0f / 3),
                    precision));
}

INSTANTIATE_TEST_SUITE_P(
    All, Precisions,
    testing::Values(std::pair(DType::kBFloat16, DType::kBFloat16),
                    std::pair(DType::kFloat32, DType::kBFloat16),
                    std::pair(DType::kFloat16, DType::kFloat16),
                    std::pair(DType::kFloat32, DType::kFloat16)));

TEST(ReplicatedOptimizerTest, AnInfiniteGradientShowsInTheSum) {
  std::vector<float> value(9);
  std::vector<float> gradient(9);
  ReplicatedOptimizer optimizer(SgdRule({}),
                                {{.name = "w", .shape = {9}, .value = value}},
                                [&](int) { return TensorData(gradient); });
  EXPECT_EQ(*optimizer.SumOfSquares(), 0);
  gradient[8] = -std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(*optimizer.SumOfSquares()));
  gradient[8] = std::nanf("");
  EXPECT_FALSE(std::isfinite(*optimizer.SumOfSquares()));
  // The square of the largest float must not make the sum infinite.
  gradient[8] = std::numeric_limits<float>::max();
  EXPECT_TRUE(std::isfinite(*optimizer.SumOfSquares()));
}

}  // namespace
}  // namespace muster
