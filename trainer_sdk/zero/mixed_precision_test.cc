// Compares 16-bit training with a simple reference computation that does the
// work of all ranks in one thread. The float32 master weights are replicated or
// sharded.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/element.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/zero/toy_training.h"

namespace muster {
namespace {

constexpr int kSteps = 30;
constexpr double kClip = 1.5;
// The initial loss scale is so high that float16 gradients overflow in the
// first steps. The scale then shrinks, and grows again until the gradients
// overflow once more.
const LossScalerOptions kScale = {.initial = 65536, .growth_interval = 4};

float RoundedTo(DType type, float value) {
  uint64_t bits = 0;
  EncodeElement(value, type, &bits);
  return static_cast<float>(DecodeElement(type, &bits));
}

// The values and the loss scale after one training step.
struct After {
  std::vector<float> values;
  double loss_scale = 1;
};

// Whether training with this type uses a loss scale: float16 does, bfloat16
// does not.
bool IsScaled(DType type) { return type == DType::kFloat16; }

// The reference computation: trains `plan` in one thread, with the elements of
// all parameters in one list. Returns the result of each step, which every rank
// must reproduce.
std::vector<After> Plain(DType type, int world, const ToyPlan& plan) {
  struct Weight {
    size_t parameter;
    size_t k;
    float master;
    float mean = 0;
    float square = 0;
  };
  std::vector<Weight> weights;
  for (size_t i = 0; i < plan.counts.size(); ++i) {
    for (size_t k = 0; k < static_cast<size_t>(plan.counts[i]); ++k) {
      weights.push_back({i, k, ToyValue(i, k)});
    }
  }
  double scale = IsScaled(type) ? kScale.initial : 1;
  int good = 0;
  int64_t updates = 0;
  std::vector<After> all;
  for (int step = 0; step < kSteps; ++step) {
    std::vector<float> gradients;
    double squares = 0;
    for (const Weight& weight : weights) {
      float sum = 0;
      for (int rank = 0; rank < world; ++rank) {
        const int mine = plan.micro_batches / world;
        float of_rank = 0;
        for (int n = rank * mine; n < (rank + 1) * mine; ++n) {
          of_rank += static_cast<float>(
              ToyGradient(RoundedTo(type, weight.master), n, step, weight.k) *
              scale);
        }
        sum += RoundedTo(type, of_rank);
      }
      gradients.push_back(RoundedTo(type, sum / static_cast<float>(world)));
      squares += double{gradients.back()} * gradients.back();
    }
    if (!std::isfinite(squares)) {
      scale /= 2;
      good = 0;
    } else {
      ++updates;
      const double factor =
          1 / scale * ClipCoefficient(squares / scale / scale, kClip);
      for (size_t i = 0; i < weights.size(); ++i) {
        Weight& weight = weights[i];
        const float gradient = gradients[i] * static_cast<float>(factor);
        AdamWOptions options;
        if (weight.parameter % 2 == 1) options.weight_decay = 0;
        AdamWStep(options, 0.05, updates, 1, &weight.master, &gradient,
                  &weight.mean, &weight.square);
      }
      if (IsScaled(type) && ++good == kScale.growth_interval) {
        scale *= 2;
        good = 0;
      }
    }
    After after{.values = {}, .loss_scale = scale};
    for (const Weight& weight : weights) {
      after.values.push_back(RoundedTo(type, weight.master));
    }
    all.push_back(after);
  }
  return all;
}

std::vector<float> InOneList(const std::vector<std::vector<float>>& values) {
  std::vector<float> list;
  for (const std::vector<float>& each : values) {
    list.insert(list.end(), each.begin(), each.end());
  }
  return list;
}

std::vector<char> BitsOf(const std::vector<CheckpointSlice>& state) {
  std::vector<char> bits;
  for (const CheckpointSlice& slice : state) {
    const char* const data = static_cast<const char*>(slice.data);
    bits.insert(bits.end(), data,
                data + (slice.end - slice.begin) * SizeOf(slice.tensor.dtype));
  }
  return bits;
}

class MixedPrecision
    : public testing::TestWithParam<std::tuple<DType, int, ToyPlan::State>> {};

TEST_P(MixedPrecision, IsThePlainOneBitForBit) {
  const auto [type, world, state] = GetParam();
  ToyPlan plan;
  plan.precision = type;
  plan.state = state;
  plan.clip = kClip;
  if (IsScaled(type)) plan.loss_scale = kScale;
  const std::vector<After> expected = Plain(type, world, plan);
  int skipped = 0;
  for (size_t step = 1; step < expected.size(); ++step) {
    if (expected[step].loss_scale < expected[step - 1].loss_scale) ++skipped;
  }
  // With a loss scale, the run must have skipped more than two steps, so that
  // the test covers skipped steps.
  ASSERT_EQ(skipped > 2, IsScaled(type));
  const absl::Status failure = FirstFailure(RunWorld(
      world,
      [&](ProcessGroup& group) -> absl::Status {
        auto toy = ToyTraining::Create(plan, group);
        if (!toy.ok()) return toy.status();
        for (int step = 0; step < kSteps; ++step) {
          const double scale = (*toy)->loss_scale();
          const auto values = (*toy)->values();
          const auto before = BitsOf((*toy)->optimizer().State());
          const absl::StatusOr<double> squares = (*toy)->Step(step);
          if (!squares.ok()) return squares.status();
          const After& after = expected[static_cast<size_t>(step)];
          if ((*toy)->loss_scale() != after.loss_scale) {
            return absl::InternalError(
                absl::StrCat("step ", step, ": scale ", (*toy)->loss_scale()));
          }
          if (InOneList((*toy)->values()) != after.values) {
            return absl::InternalError(absl::StrCat("step ", step, ": values"));
          }
          // A lower loss scale shows that the step was skipped. A skipped step
          // must change neither the values nor the optimizer's state.
          if (after.loss_scale < scale &&
              (BitsOf((*toy)->optimizer().State()) != before ||
               (*toy)->values() != values)) {
            return absl::InternalError(absl::StrCat("step ", step, ": state"));
          }
        }
        return absl::OkStatus();
      },
      [](GroupPlace place, Instant deadline) {
        return NewSharedMemoryTransport(place, {}, deadline);
      }));
  EXPECT_TRUE(failure.ok()) << failure;
}

INSTANTIATE_TEST_SUITE_P(
    All, MixedPrecision,
    testing::Combine(testing::Values(DType::kBFloat16, DType::kFloat16),
                     testing::Values(1, 2, 3, 4),
                     testing::Values(ToyPlan::State::kReplicated,
                                     ToyPlan::State::kSharded)),
    [](const auto& tested) {
      return absl::StrCat(Name(std::get<0>(tested.param)), "_",
                          std::get<1>(tested.param),
                          std::get<2>(tested.param) == ToyPlan::State::kSharded
                              ? "_sharded"
                              : "_replicated");
    });

}  // namespace
}  // namespace muster
