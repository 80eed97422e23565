#include "trainer_sdk/ddp/power_sgd_state.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kRows = 4;
constexpr int64_t kColumns = 6;
constexpr int64_t kCount = kRows * kColumns;

std::vector<Tensor> Parameters() {
  return {{.name = "bias", .shape = {6}},
          {.name = "weight", .shape = {kRows, kColumns}},
          {.name = "narrow",
           .shape = {kRows, kColumns},
           .gradient = {nullptr, 0, DType::kBFloat16}},
          {.name = "small", .shape = {2, 2}}};
}

PowerSgdState StateOf(int rank, int ranks) {
  return PowerSgdState(
      {.rank = rank, .ranks = ranks, .approximation = 1, .least_rate = 1},
      Parameters());
}

// The content of a checkpoint: the tensors and, by name, their data.
struct Saved {
  std::vector<CheckpointTensor> tensors;
  std::map<std::string, std::vector<char>> bytes;

  char* at(const CheckpointSlice& slice) {
    return bytes.at(slice.tensor.name).data() +
           slice.begin * SizeOf(slice.tensor.dtype);
  }
  static size_t SizeOfSlice(const CheckpointSlice& slice) {
    return static_cast<size_t>((slice.end - slice.begin) *
                               SizeOf(slice.tensor.dtype));
  }
};

float LossOf(int rank, size_t i) {
  return static_cast<float>(rank + 1) + 0.25f * static_cast<float>(i);
}

// Makes a checkpoint of `ranks` ranks, each with its own compression errors
// (LossOf), which PowerSGD adds to the next gradients.
Saved SaveFrom(int ranks) {
  Saved saved;
  for (int rank = 0; rank < ranks; ++rank) {
    PowerSgdState state = StateOf(rank, ranks);
    PowerSgdMatrix& matrix = *state.Find(1);
    for (size_t i = 0; i < matrix.error.size(); ++i) {
      matrix.error[i] = LossOf(rank, i);
    }
    matrix.q.assign(matrix.q.size(), 7.0f);
    matrix.exact_steps = 10;
    for (const CheckpointSlice& slice : state.Slices()) {
      std::vector<char>& bytes = saved.bytes[slice.tensor.name];
      if (bytes.empty()) {
        bytes.resize(slice.tensor.count() * SizeOf(slice.tensor.dtype));
        saved.tensors.push_back(slice.tensor);
      }
      std::memcpy(saved.at(slice), slice.data, Saved::SizeOfSlice(slice));
    }
  }
  return saved;
}

TEST(PowerSgdStateTest, KeepsWhatIsWorthIt) {
  PowerSgdState state = StateOf(1, 3);
  EXPECT_EQ(state.Find(0), nullptr);
  EXPECT_EQ(state.Find(2), nullptr) << "reduced in another type";
  EXPECT_EQ(state.Find(3), nullptr);
  ASSERT_NE(state.Find(1), nullptr);
  std::vector<std::string> names;
  for (const CheckpointSlice& slice : state.Slices()) {
    names.push_back(slice.tensor.name);
    if (slice.tensor.name != "power_sgd/error/weight") continue;
    EXPECT_THAT(slice.tensor.shape, ElementsAre(3, kRows, kColumns));
    EXPECT_EQ(slice.begin, kCount);
    EXPECT_EQ(slice.end, 2 * kCount);
    EXPECT_EQ(slice.data, state.Find(1)->error.data());
  }
  EXPECT_THAT(names,
              ElementsAre("power_sgd/q/weight", "power_sgd/exact_steps/weight",
                          "power_sgd/error/weight"));
}

TEST(PowerSgdStateTest, AnyNumberOfRanksTakesOverWhatAnyLost) {
  for (int ranks = 1; ranks <= 5; ++ranks) {
    Saved saved = SaveFrom(ranks);
    for (int readers = 1; readers <= 5; ++readers) {
      SCOPED_TRACE(testing::Message() << ranks << " to " << readers);
      std::vector<int> read(static_cast<size_t>(ranks), 0);
      std::vector<double> sum(kCount, 0.0);
      for (int rank = 0; rank < readers; ++rank) {
        PowerSgdState state = StateOf(rank, readers);
        // Give the state a compression error, as after earlier steps. Loading
        // the checkpoint must replace this error, not add to it.
        state.Find(1)->error.assign(kCount, 5.0f);
        const auto slices = state.SlicesIn(saved.tensors);
        ASSERT_TRUE(slices.ok()) << slices.status();
        for (const CheckpointSlice& slice : *slices) {
          if (slice.tensor.name == "power_sgd/error/weight") {
            ++read[static_cast<size_t>(slice.begin / kCount)];
          }
          std::memcpy(slice.data, saved.at(slice), Saved::SizeOfSlice(slice));
        }
        state.OnLoaded();
        const PowerSgdMatrix& matrix = *state.Find(1);
        EXPECT_THAT(matrix.q, testing::Each(7.0f));
        EXPECT_EQ(matrix.exact_steps, 10);
        for (size_t i = 0; i < sum.size(); ++i) {
          sum[i] += matrix.error[i];
          if (readers == ranks) {
            EXPECT_EQ(matrix.error[i], LossOf(rank, i));
          }
        }
      }
      EXPECT_THAT(read, testing::Each(1)) << "each once";
      for (size_t i = 0; i < sum.size(); ++i) {
        double lost = 0;
        for (int rank = 0; rank < ranks; ++rank) lost += LossOf(rank, i);
        // The bound allows for two roundings: of the factor (new number of
        // ranks divided by the old one), and of the product of an error with
        // this factor. The errors and their sums are exact.
        const double bound = RoundingGrowth<float>(2) * lost / ranks;
        EXPECT_NEAR(sum[i] / readers, lost / ranks, bound) << "of the average";
        EXPECT_GT(0.001 * sum[i] / readers, bound) << "planted";
      }
    }
  }
}

TEST(PowerSgdStateTest, AnotherReadingForgetsTheOneBefore) {
  Saved two = SaveFrom(2), one = SaveFrom(1);
  PowerSgdState state = StateOf(0, 1);
  ASSERT_TRUE(state.SlicesIn(two.tensors).ok());
  const auto slices = state.SlicesIn(one.tensors);
  ASSERT_TRUE(slices.ok()) << slices.status();
  for (const CheckpointSlice& slice : *slices) {
    std::memcpy(slice.data, one.at(slice), Saved::SizeOfSlice(slice));
  }
  state.OnLoaded();
  EXPECT_EQ(state.Find(1)->error[0], LossOf(0, 0));
}

TEST(PowerSgdStateTest, SaysThatThereIsNothingOfIt) {
  PowerSgdState state = StateOf(0, 2);
  const absl::Status none = state.SlicesIn({{.name = "weight"}}).status();
  EXPECT_TRUE(absl::IsNotFound(none)) << none;
  EXPECT_THAT(std::string(none.message()), HasSubstr("begins anew"));
  // If no matrix is compressed, the checkpoint need not contain any state, and
  // loading must succeed.
  PowerSgdState empty({}, {{.name = "bias", .shape = {6}}});
  EXPECT_TRUE(empty.SlicesIn({}).ok());
}

TEST(PowerSgdStateTest, RefusesTheStateOfAnotherMatrix) {
  Saved saved = SaveFrom(2);
  for (CheckpointTensor& tensor : saved.tensors) {
    if (tensor.name == "power_sgd/error/weight") tensor.shape = {2, 6, 4};
  }
  PowerSgdState state = StateOf(0, 1);
  const absl::Status other = state.SlicesIn(saved.tensors).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(other)) << other;
  EXPECT_THAT(std::string(other.message()),
              HasSubstr("'power_sgd/error/weight'"));
}

}  // namespace
}  // namespace muster
