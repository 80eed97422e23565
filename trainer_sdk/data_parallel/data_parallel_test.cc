#include "trainer_sdk/data_parallel/data_parallel.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using State = DataParallelOptions::State;

// A model of two tensors. The initial weight differs between ranks, the initial
// bias is 2 on all ranks.
struct Model {
  explicit Model(int rank)
      : weight(6, 1 + static_cast<float>(rank)), bias(3, 2) {}

  std::vector<Tensor> tensors(DType precision = DType::kFloat32) {
    std::vector<Tensor> tensors = {{"weight", {2, 3}, weight, weight_gradient},
                                   {"bias", {3}, bias, bias_gradient}};
    for (Tensor& tensor : tensors) tensor.precision = precision;
    return tensors;
  }

  // Sets the gradients of one backward pass; they differ between ranks.
  void Backward(int step, int rank) {
    for (size_t i = 0; i < weight.size(); ++i) {
      weight_gradient[i] = static_cast<float>(step * (rank + 1)) + weight[i];
    }
    for (size_t i = 0; i < bias.size(); ++i) {
      bias_gradient[i] = static_cast<float>(rank) - bias[i];
    }
  }

  std::vector<float> weight, weight_gradient = std::vector<float>(6);
  std::vector<float> bias, bias_gradient = std::vector<float>(3);
};

// Trains three steps and returns the weights after them.
absl::StatusOr<std::vector<float>> Train(ProcessGroup& world, State state,
                                         DType precision) {
  Model model(world.rank());
  auto training = DataParallel::Create(world, model.tensors(precision),
                                       AdamWRule({}), {.state = state});
  if (!training.ok()) return training.status();
  EXPECT_EQ(model.weight, std::vector<float>(6, 1)) << "rank 0's values";
  for (int step = 1; step <= 3; ++step) {
    absl::Status status = (*training)->Begin();
    model.Backward(step, world.rank());
    // In step 1, report no tensor as ready, and in later steps only tensor 1.
    // Finish must treat all other tensors as ready.
    if (step > 1) status.Update((*training)->MarkReady(1));
    status.Update((*training)->Finish());
    status.Update((*training)->Step({.step = step, .learning_rate = 0.1}));
    if (!status.ok()) return status;
  }
  std::vector<float> trained = model.weight;
  trained.insert(trained.end(), model.bias.begin(), model.bias.end());
  return trained;
}

class Precisions : public testing::TestWithParam<DType> {};

TEST_P(Precisions, RanksTrainAlikeHoweverTheStateIsKept) {
  std::vector<std::vector<float>> trained;
  for (const State state : {State::kReplicated, State::kSharded}) {
    std::vector<std::vector<float>> ranks(3);
    const absl::Status status =
        FirstFailure(RunWorld(3, [&](ProcessGroup& world) -> absl::Status {
          auto mine = Train(world, state, GetParam());
          if (!mine.ok()) return mine.status();
          ranks[static_cast<size_t>(world.rank())] = *std::move(mine);
          return absl::OkStatus();
        }));
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(ranks[1], ranks[0]);
    EXPECT_EQ(ranks[2], ranks[0]);
    EXPECT_NE(ranks[0][0], 1);
    trained.push_back(ranks[0]);
  }
  EXPECT_EQ(trained[0], trained[1]);
}

INSTANTIATE_TEST_SUITE_P(DataParallelTest, Precisions,
                         testing::Values(DType::kFloat32, DType::kBFloat16),
                         [](const auto& tested) { return Name(tested.param); });

TEST(DataParallelTest, ItsStateIsValuesAndTheOptimizers) {
  RunWorld(1, [](ProcessGroup& world) -> absl::Status {
    Model model(0);
    auto training =
        DataParallel::Create(world, model.tensors(), AdamWRule({})).value();
    std::vector<std::string> names;
    for (const CheckpointSlice& slice : training->State()) {
      names.push_back(slice.tensor.name);
    }
    EXPECT_THAT(names, ::testing::UnorderedElementsAre(
                           "weight", "bias", "adamw.exp_avg/weight",
                           "adamw.exp_avg/bias", "adamw.exp_avg_sq/weight",
                           "adamw.exp_avg_sq/bias"));
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace muster
