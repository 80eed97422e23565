// Compares a training that resumes from a checkpoint with PowerSGD's state to a
// training that was not interrupted.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/ddp/power_sgd_hook.h"
#include "trainer_sdk/ddp/reducer.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

constexpr int64_t kInputs = 12;
constexpr int64_t kHidden = 10;
constexpr int64_t kOutputs = 8;
constexpr int kSaved = 9;
constexpr int kSteps = 16;

// Whether the checkpoint contains PowerSGD's state (kSaved) or lacks it
// (kForgotten).
enum class Hooks { kSaved, kForgotten };

float Noise(int64_t a, int64_t b, int64_t c) {
  const auto mixed = static_cast<uint64_t>(a * 7919 + b * 104729 + c * 1299709);
  return static_cast<float>((mixed * 0x9e3779b97f4a7c15u) >> 40) / (1 << 23) -
         1.0f;
}

// Trains the linear map y = second * (first * x) by gradient descent without
// momentum, so that y approximates the first elements of x.
class Training {
 public:
  explicit Training(ProcessGroup& group) : group_(group) {
    for (size_t i = 0; i < first_.size(); ++i) first_[i] = Noise(1, 0, i);
    for (size_t i = 0; i < second_.size(); ++i) second_[i] = Noise(2, 0, i);
  }

  // Makes the reducer. Its bucket limits are so small that the buckets change
  // after the first step.
  absl::Status Prepare() {
    DdpOptions options;
    options.limits = {.first_bytes = 1, .bytes = 1};
    options.hook = hook_;
    auto made = Reducer::Create(
        group_,
        {{.name = "first", .shape = {kHidden, kInputs}, .gradient = d_first_},
         {.name = "second",
          .shape = {kOutputs, kHidden},
          .gradient = d_second_}},
        options);
    if (!made.ok()) return made.status();
    reducer_ = *std::move(made);
    return absl::OkStatus();
  }

  // Trains one step: forward and backward pass, reduction, and update of the
  // weights. Returns the loss of this rank's example.
  absl::StatusOr<float> Step(int step) {
    std::vector<float> x(kInputs), h(kHidden), dy(kOutputs), dh(kHidden);
    for (int64_t i = 0; i < kInputs; ++i) {
      x[i] = Noise(step + 10, group_.rank(), i);
    }
    absl::Status status = reducer_->Begin(GradientSync::kReduce);
    float loss = 0;
    for (int64_t i = 0; i < kHidden; ++i) {
      for (int64_t j = 0; j < kInputs; ++j) {
        h[i] += first_[i * kInputs + j] * x[j];
      }
    }
    for (int64_t o = 0; o < kOutputs; ++o) {
      float y = 0;
      for (int64_t i = 0; i < kHidden; ++i) {
        y += second_[o * kHidden + i] * h[i];
      }
      dy[o] = y - x[o];
      loss += dy[o] * dy[o];
    }
    for (int64_t o = 0; o < kOutputs; ++o) {
      for (int64_t i = 0; i < kHidden; ++i) {
        d_second_[o * kHidden + i] = dy[o] * h[i];
        dh[i] += dy[o] * second_[o * kHidden + i];
      }
    }
    for (int64_t i = 0; i < kHidden; ++i) {
      for (int64_t j = 0; j < kInputs; ++j) {
        d_first_[i * kInputs + j] = dh[i] * x[j];
      }
    }
    // Report the gradients in the order 0, 1. The buckets of the first step are
    // in the reverse order, so the buckets change after the first step.
    for (const int parameter : {0, 1}) {
      status.Update(reducer_->MarkReady(parameter));
    }
    status.Update(reducer_->Finish());
    if (!status.ok()) return status;
    SgdStep({}, 0.01, step, kHidden * kInputs, first_.data(), d_first_.data(),
            nullptr);
    SgdStep({}, 0.01, step, kOutputs * kHidden, second_.data(),
            d_second_.data(), nullptr);
    return loss;
  }

  std::vector<CheckpointSlice> Weights() {
    return {WholeTensor({"first", {kHidden, kInputs}, first_}),
            WholeTensor({"second", {kOutputs, kHidden}, second_})};
  }
  CommHook& hook() { return *hook_; }
  // The losses of all steps, followed by the weights.
  std::vector<float> Curve() const {
    std::vector<float> all = losses;
    all.insert(all.end(), first_.begin(), first_.end());
    all.insert(all.end(), second_.begin(), second_.end());
    return all;
  }

  std::vector<float> losses;

 private:
  ProcessGroup& group_;
  const std::shared_ptr<PowerSgdHook> hook_ = std::make_shared<PowerSgdHook>(
      PowerSgdOptions{.rank = 1, .exact_steps = 4, .least_rate = 1});
  std::vector<float> first_ = std::vector<float>(kHidden * kInputs);
  std::vector<float> second_ = std::vector<float>(kOutputs * kHidden);
  std::vector<float> d_first_ = first_, d_second_ = second_;
  std::unique_ptr<Reducer> reducer_;
};

absl::Status Save(ProcessGroup& group, const std::string& folder, int step,
                  Hooks hooks, Training& training) {
  auto writer = CheckpointWriter::Create(group, {.directory = folder});
  if (!writer.ok()) return writer.status();
  std::vector<CheckpointSlice> slices = training.Weights();
  if (hooks == Hooks::kSaved) {
    for (const CheckpointSlice& slice : training.hook().State()) {
      slices.push_back(slice);
    }
  }
  absl::Status status = (*writer)->Save(step, slices, "");
  if (status.ok()) status = (*writer)->Wait();
  return status;
}

absl::Status Load(ProcessGroup& group, const std::string& folder, Hooks hooks,
                  Training& training) {
  const auto reader = OpenNewestTogether(group, folder);
  if (!reader.ok()) return reader.status();
  std::vector<CheckpointSlice> slices = training.Weights();
  const auto state = training.hook().StateIn((*reader)->tensors());
  if (absl::IsNotFound(state.status()) != (hooks == Hooks::kForgotten)) {
    return absl::InternalError(
        absl::StrCat("state: ", state.status().message()));
  }
  if (state.ok()) slices.insert(slices.end(), state->begin(), state->end());
  absl::Status status = ReadTogether(group, **reader, slices);
  if (status.ok() && state.ok()) training.hook().OnStateLoaded();
  return status;
}

// Trains on `ranks` ranks. If `save_to` is not empty, saves a checkpoint after
// step 9 (the constant kSaved) in this folder. If `load_from` is not empty,
// resumes from the checkpoint in this folder, at step 10. `curve` receives rank
// 0's losses of the steps after step 9, followed by its weights.
absl::Status Train(int ranks, const std::string& save_to,
                   const std::string& load_from, Hooks hooks,
                   std::vector<float>* curve) {
  return FirstFailure(RunWorld(ranks, [&](ProcessGroup& group) {
    auto own = group.Split(0, group.rank());
    if (!own.ok()) return own.status();
    Training training(**own);
    absl::Status status = training.Prepare();
    if (status.ok() && !load_from.empty()) {
      status = Load(group, load_from, hooks, training);
    }
    for (int step = load_from.empty() ? 1 : kSaved + 1;
         status.ok() && step <= kSteps; ++step) {
      const auto loss = training.Step(step);
      status = loss.status();
      if (status.ok() && step > kSaved) training.losses.push_back(*loss);
      if (status.ok() && step == kSaved && !save_to.empty()) {
        status = Save(group, save_to, step, hooks, training);
      }
    }
    if (group.rank() == 0) *curve = training.Curve();
    return status;
  }));
}

std::string NewFolder() {
  std::string path = testing::TempDir() + "/power-sgd-XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  return path;
}

TEST(PowerSgdResumeTest, GoesOnBitForBit) {
  for (const int ranks : {1, 2, 3}) {
    const std::string folder = NewFolder();
    std::vector<float> undisturbed, resumed;
    absl::Status status = Train(ranks, folder, "", Hooks::kSaved, &undisturbed);
    ASSERT_TRUE(status.ok()) << status;
    status = Train(ranks, "", folder, Hooks::kSaved, &resumed);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_THAT(resumed, testing::ElementsAreArray(undisturbed));
  }
}

// Without PowerSGD's state in the checkpoint, the resumed training must differ
// from the uninterrupted one. This shows that the other tests would detect
// missing state.
TEST(PowerSgdResumeTest, WithoutItsStateItIsAnotherTraining) {
  const std::string folder = NewFolder();
  std::vector<float> undisturbed, resumed;
  absl::Status status = Train(2, folder, "", Hooks::kForgotten, &undisturbed);
  ASSERT_TRUE(status.ok()) << status;
  status = Train(2, "", folder, Hooks::kForgotten, &resumed);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_NE(resumed, undisturbed);
}

// Three ranks save, each with its compression error. Then 1, 2 or 4 ranks
// resume, and divide the three saved errors among themselves. ReadTogether
// checks that the ranks together read all three errors.
TEST(PowerSgdResumeTest, GoesOnOnAnotherNumberOfRanks) {
  const std::string folder = NewFolder();
  std::vector<float> curve;
  absl::Status status = Train(3, folder, "", Hooks::kSaved, &curve);
  ASSERT_TRUE(status.ok()) << status;
  for (const int ranks : {1, 2, 4}) {
    status = Train(ranks, "", folder, Hooks::kSaved, &curve);
    EXPECT_TRUE(status.ok()) << ranks << ": " << status;
  }
}

}  // namespace
}  // namespace muster
