#include "models/trainer/training_loop.h"

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/vocabulary.h"
#include "models/trainer/testing/small_training.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Limits the size of files that this process may write, to simulate a full
// disk.
void LimitFiles(rlim_t bytes) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = bytes == RLIM_INFINITY ? limit.rlim_max : bytes;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

// A trainer with one tensor, which does not fit into a file of the size that
// LimitFiles sets. Each element counts the steps of the training, including
// those before it was resumed.
class CountingTrainer : public ResumableTrainer {
 public:
  explicit CountingTrainer(std::function<void(int64_t)> on_step)
      : on_step_(std::move(on_step)), values_(50000) {
    progress_.scaler = {.scale = 1, .good_steps = 0};
  }

  absl::StatusOr<GptStep> Step(int64_t step) override {
    on_step_(step);
    taken_.push_back(step);
    for (float& value : values_) value += 1;
    ++progress_.updates;
    return GptStep{.loss = values_[0]};
  }
  absl::StatusOr<double> Validate() override {
    ++validations_;
    return values_[0];
  }
  absl::StatusOr<std::vector<CheckpointSlice>> State() override {
    return std::vector<CheckpointSlice>{
        WholeTensor({"w", {static_cast<int64_t>(values_.size())}, values_})};
  }
  const GptProgress& progress() const override { return progress_; }
  absl::Status Restore(const GptProgress& progress) override {
    progress_ = progress;
    return absl::OkStatus();
  }

  const std::vector<int64_t>& taken() const { return taken_; }
  int validations() const { return validations_; }
  float value() const { return values_.back(); }

 private:
  const std::function<void(int64_t)> on_step_;
  std::vector<float> values_;
  GptProgress progress_;
  std::vector<int64_t> taken_;
  int validations_ = 0;
};

class TrainingLoop : public testing::Test {
 protected:
  TrainingLoop() {
    std::string pattern = testing::TempDir() + "/loopXXXXXX";
    folder_ = mkdtemp(pattern.data());
    options_ = SmallTraining();
    options_.checkpoint_directory = folder_ + "/checkpoints";
    options_.log = folder_ + "/log";
    options_.checkpoint_every = 2;
    options_.validate_every = 3;
    setenv("MUSTER_PREEMPTION_FILE", notice().c_str(), 1);
  }
  ~TrainingLoop() override {
    LimitFiles(RLIM_INFINITY);
    unsetenv("MUSTER_PREEMPTION_FILE");
    std::filesystem::remove_all(folder_);
  }

  // Trains to step `last` and returns the trainer. `on_step` is called in each
  // step.
  std::unique_ptr<CountingTrainer> TrainTo(
      int64_t last, std::function<void(int64_t)> on_step = [](int64_t) {}) {
    options_.steps = options_.learning_rate.decay_until = last;
    auto trainer = std::make_unique<CountingTrainer>(std::move(on_step));
    const CharVocabulary vocabulary("abcdefghijk");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const absl::Status status =
        FirstFailure(RunWorld(1, [&](ProcessGroup& world) -> absl::Status {
          const auto session = Session::Start({});
          if (!session.ok()) return session.status();
          GptReporter reporter({.log = options_.log, .steps = last}, **session);
          return RunTraining({options_, vocabulary, *trainer, world, reporter});
        }));
    said_ = testing::internal::GetCapturedStdout();
    warned_ = testing::internal::GetCapturedStderr();
    EXPECT_TRUE(status.ok()) << status;
    return trainer;
  }

  // The path of the file that requests the trainer to stop.
  std::string notice() const { return folder_ + "/notice"; }
  const std::string& said() const { return said_; }
  const std::string& warned() const { return warned_; }
  std::string Log() const {
    std::ifstream file(options_.log);
    return {std::istreambuf_iterator<char>(file),
            std::istreambuf_iterator<char>()};
  }
  int64_t NewestStep() const {
    const auto opened =
        CheckpointReader::OpenNewest(options_.checkpoint_directory);
    return opened.ok() ? (*opened)->step() : -1;
  }

  GptTrainingOptions options_;

 private:
  std::string folder_;
  std::string said_;
  std::string warned_;
};

TEST_F(TrainingLoop, GoesOnBehindItsLastStep) {
  EXPECT_THAT(TrainTo(5)->taken(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(NewestStep(), 5);
  const auto second = TrainTo(7);
  EXPECT_THAT(second->taken(), ElementsAre(5, 6));
  EXPECT_EQ(second->value(), 7);
  EXPECT_EQ(second->progress().updates, 7);
  // The second training runs steps 6 and 7. It validates twice: after step 6,
  // because validate_every is 3, and at the end.
  EXPECT_EQ(second->validations(), 2);
  EXPECT_THAT(said(), HasSubstr("resuming after step 5 from "));
  EXPECT_THAT(warned(), HasSubstr("no longer the training that was begun: "
                                  "decay cosine over 7 steps, was cosine "
                                  "over 5 steps\n"));
  const auto third = TrainTo(7);
  EXPECT_THAT(third->taken(), IsEmpty());
  EXPECT_THAT(said(), HasSubstr("nothing to do: --steps is 7"));
}

TEST_F(TrainingLoop, StopsBehindTheStepInWhichItIsAskedTo) {
  const auto first = TrainTo(9, [&](int64_t step) {
    if (step == 2) std::ofstream(notice()) << "soon";
  });
  EXPECT_THAT(first->taken(), ElementsAre(0, 1, 2));
  EXPECT_EQ(first->validations(), 0);
  EXPECT_EQ(NewestStep(), 3);
  EXPECT_THAT(said(), HasSubstr("asked to stop after step 3"));
  EXPECT_THAT(Log(), HasSubstr(R"({"event":"stop","step":3})"));
  std::filesystem::remove(notice());
  EXPECT_THAT(TrainTo(5)->taken(), ElementsAre(3, 4));
}

TEST_F(TrainingLoop, AFullDiskIsSaidAndTrainedOn) {
  const auto trainer = TrainTo(8, [](int64_t step) {
    if (step == 2) LimitFiles(64 << 10);
    if (step == 6) LimitFiles(RLIM_INFINITY);
  });
  EXPECT_EQ(trainer->taken().size(), 8u);
  EXPECT_EQ(NewestStep(), 8);
  EXPECT_THAT(warned(), HasSubstr("gpt: the last checkpoint failed: "));
}

TEST_F(TrainingLoop, WithoutAFolderNothingIsKept) {
  options_.checkpoint_directory.clear();
  EXPECT_EQ(TrainTo(3)->taken().size(), 3u);
  EXPECT_EQ(TrainTo(3)->taken().size(), 3u);
}

}  // namespace
}  // namespace muster::models
