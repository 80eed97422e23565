// Tests checkpoints of a pipeline-parallel training, which are resumed by the
// same ranks, by other numbers of ranks, and by a training without pipelines.

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/rounding.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/pipeline_trainer/pipeline_options.h"
#include "models/pipeline_trainer/pipeline_trainer.h"
#include "models/trainer/gpt_checkpoint.h"
#include "models/trainer/host_gpt_trainer.h"
#include "models/trainer/testing/small_training.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster::models {
namespace {

using Sharding = GptTrainingOptions::Sharding;

// All tensors of a checkpoint, by name.
using Tensors = std::map<std::string, std::vector<float>>;

// The distribution of a training over ranks.
struct Mesh {
  int pipelines = 1;
  int ranks = 1;
  int chunks = 1;
  std::string schedule = "1f1b";
  Sharding sharding = Sharding::kNone;

  int world() const { return pipelines * ranks; }
};

// Returns the options of a training that is distributed over ranks as `mesh`
// says. In any distribution, a step has eight micro-batches in total.
PipelineTrainingOptions OptionsOf(const Mesh& mesh) {
  PipelineTrainingOptions options;
  options.training = SmallTraining();
  options.training.model.layers = 4;
  options.training.sharding = mesh.sharding;
  options.ranks = mesh.ranks;
  options.chunks = mesh.chunks;
  options.schedule = mesh.schedule;
  options.micro_batches = 8 / mesh.pipelines;
  return options;
}

TransportFactory Tcp() {
  return [](GroupPlace place, Instant deadline) {
    return NewTransport(std::move(place), TransportChoice::kTcp, deadline);
  };
}

class PipelineCheckpoint : public testing::Test {
 protected:
  PipelineCheckpoint() {
    std::string pattern = testing::TempDir() + "/pipelineXXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~PipelineCheckpoint() override { std::filesystem::remove_all(folder_); }

  // Resumes from the newest checkpoint in the folder `name`, trains to step
  // `last` and saves a checkpoint there. Returns the losses.
  std::vector<double> TrainTo(
      int64_t last, const std::string& name,
      const PipelineTrainingOptions& options, int world,
      const TransportFactory& transport = SharedMemory()) {
    ResumedTraining result;
    Run(
        world,
        [&](ProcessGroup& group) -> absl::Status {
          auto schedule = ChosenSchedule(options, world);
          if (!schedule.ok()) return schedule.status();
          auto trainer = PipelineTrainer::Create(options, *std::move(schedule),
                                                 LearnableText(), group);
          if (!trainer.ok()) return trainer.status();
          return Steps(last, name, (*trainer)->training(), **trainer, group,
                       &result);
        },
        transport);
    other_options_ = result.other_options;
    return result.losses;
  }
  std::vector<double> TrainTo(int64_t last, const std::string& name,
                              const Mesh& mesh) {
    return TrainTo(last, name, OptionsOf(mesh), mesh.world());
  }

  // Trains without pipelines to step `last` and returns the losses. Calls
  // `disturb`, unless it is null, on the state after each step.
  std::vector<double> TrainWholeTo(int64_t last, const std::string& name,
                                   Sharding sharding, int world,
                                   Disturbance* disturb = nullptr) {
    ResumedTraining result;
    const GptTrainingOptions options =
        AsWhole(OptionsOf({.sharding = sharding}), {1, 1, 8}, 1);
    Run(
        world,
        [&](ProcessGroup& group) -> absl::Status {
          auto trainer =
              HostGptTrainer::Create(options, LearnableText(), group);
          if (!trainer.ok()) return trainer.status();
          return Steps(last, name, options, **trainer, group, &result, disturb);
        },
        SharedMemory());
    other_options_ = result.other_options;
    return result.losses;
  }

  // Reads all tensors of the newest checkpoint in the folder `name`.
  Tensors ReadAll(const std::string& name) const {
    Tensors tensors;
    const auto opened = CheckpointReader::OpenNewest(FolderOf(name));
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (!opened.ok()) return tensors;
    std::vector<CheckpointSlice> slices;
    for (const CheckpointTensor& tensor : (*opened)->tensors()) {
      std::vector<float>& values = tensors[tensor.name];
      values.resize(static_cast<size_t>(tensor.count()));
      slices.push_back(WholeTensor({tensor.name, tensor.shape, values}));
    }
    const absl::Status status = (*opened)->Read(slices);
    EXPECT_TRUE(status.ok()) << status;
    return tensors;
  }

  const std::string& other_options() const { return other_options_; }
  std::string FolderOf(const std::string& name) const {
    return folder_ + "/" + name;
  }

 private:
  template <typename Body>
  void Run(int world, Body body, const TransportFactory& transport) {
    const auto statuses = RunWorld(world, body, transport);
    EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  }

  absl::Status Steps(int64_t last, const std::string& name,
                     GptTrainingOptions options, ResumableTrainer& trainer,
                     ProcessGroup& group, ResumedTraining* result,
                     Disturbance* disturb = nullptr) {
    options.checkpoint_directory = FolderOf(name);
    return GoOnTo(last, options, trainer, group, result, disturb);
  }

  std::string folder_;
  std::string other_options_;
};

std::vector<double> Joined(std::vector<double> first,
                           const std::vector<double>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_F(PipelineCheckpoint, TheSameRanksGoOnAsIfNothingHadHappened) {
  for (const Mesh& mesh : {Mesh{.pipelines = 2, .ranks = 2},
                           Mesh{.pipelines = 2,
                           .ranks = 2,
                           .chunks = 2,
                           .schedule = "interleaved_1f1b",
                           .sharding = Sharding::kZero1},
                           Mesh{.ranks = 3, .schedule = "zb1p"}}) {
    SCOPED_TRACE(mesh.schedule);
    const std::vector<double> undisturbed =
        TrainTo(8, mesh.schedule + " undisturbed", mesh);
    ASSERT_EQ(undisturbed.size(), 8u);
    const std::vector<double> first = TrainTo(3, mesh.schedule, mesh);
    EXPECT_EQ(Joined(first, TrainTo(8, mesh.schedule, mesh)), undisturbed);
    EXPECT_EQ(other_options(), "");
  }
}

// The weights of a resumed training must be bit-identical to those of an
// uninterrupted training. Over a network, the order in which the gradients of
// three ranks are added depends on the gradients' positions in a bucket. So the
// resumed training must form the same buckets.
TEST_F(PipelineCheckpoint, SoTheyDoOverANetwork) {
  PipelineTrainingOptions options = OptionsOf({.ranks = 1});
  options.training.model.width = 64;
  options.training.batch = 1;
  options.micro_batches = 1;
  TrainTo(5, "undisturbed", options, 3, Tcp());
  TrainTo(3, "disturbed", options, 3, Tcp());
  TrainTo(5, "disturbed", options, 3, Tcp());
  const Tensors undisturbed = ReadAll("undisturbed");
  // A checkpoint has 52 weight tensors, and two optimizer tensors for each of
  // them.
  EXPECT_EQ(undisturbed.size(), 3 * 52u);
  for (const auto& [name, values] : ReadAll("disturbed")) {
    EXPECT_TRUE(values == undisturbed.at(name)) << name;
  }
}

// A training is resumed with another split into stages, another number of
// pipelines and ranks, sharded or replicated state, or the whole model on each
// rank. In each case the losses must be the same up to the order of sums.
TEST_F(PipelineCheckpoint, AnyRanksGoOnWhereOthersStopped) {
  int runs = 0;
  const RoundingReference whole([&](Disturbance disturb) {
    return std::vector<std::vector<double>>{TrainWholeTo(
        12, absl::StrCat("whole ", runs++), Sharding::kNone, 1, &disturb)};
  });
  std::vector<double> losses = TrainTo(2, "mixed",
                                       {.pipelines = 2,
                                        .ranks = 2,
                                        .chunks = 2,
                                        .schedule = "interleaved_1f1b",
                                        .sharding = Sharding::kZero1});
  EXPECT_EQ(other_options(), "");
  losses = Joined(losses, TrainTo(4, "mixed", {.ranks = 3}));
  EXPECT_EQ(other_options(), "");
  losses = Joined(losses, TrainWholeTo(6, "mixed", Sharding::kZero1, 2));
  EXPECT_EQ(other_options(), "");
  losses = Joined(
      losses,
      TrainTo(8, "mixed", {.pipelines = 4, .sharding = Sharding::kZero1}));
  losses = Joined(
      losses,
      TrainTo(10, "mixed", {.pipelines = 2, .ranks = 2, .schedule = "zb1p"}));
  losses = Joined(losses, TrainWholeTo(12, "mixed", Sharding::kNone, 1));
  const double operations = RoundingsOf(OptionsOf({}).training) + 8;
  using Lists = std::vector<std::vector<double>>;
  EXPECT_EQ(whole.WrongList<float>(operations, Lists{losses}), -1);
  for (double& loss : losses) loss *= 1.001;
  EXPECT_EQ(whole.WrongList<float>(operations, Lists{losses}), 0) << "planted";
}

// A checkpoint of a pipeline must have the tensor names and types of a
// checkpoint without pipelines, so that each kind of training can resume the
// other.
TEST_F(PipelineCheckpoint, HoldsWhatOneWithoutPipelinesHolds) {
  // The tensors' values as lists, in the order of the tensors' names.
  const auto lists = [](const Tensors& tensors) {
    std::vector<std::vector<double>> values;
    for (const auto& [name, list] : tensors) {
      values.emplace_back(list.begin(), list.end());
    }
    return values;
  };
  std::string newest;
  const RoundingReference reference([&](Disturbance disturb) {
    newest += "whole ";
    TrainWholeTo(3, newest, Sharding::kNone, 1, &disturb);
    return lists(ReadAll(newest));
  });
  TrainTo(3, "split", {.pipelines = 2, .ranks = 2});
  const Tensors whole = ReadAll(newest);
  const Tensors split = ReadAll("split");
  ASSERT_EQ(split.size(), whole.size());
  for (const auto& [name, values] : whole) {
    EXPECT_TRUE(split.contains(name)) << name;
  }
  const double operations = RoundingsOf(OptionsOf({}).training) + 8;
  auto found = lists(split);
  EXPECT_EQ(reference.WrongList<float>(operations, found), -1);
  for (double& value : found[0]) value *= 1.001;
  EXPECT_EQ(reference.WrongList<float>(operations, found), 0) << "planted";
  const absl::StatusOr<TrainedGpt> trained = OpenTrainedGpt(FolderOf("split"));
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_EQ(trained->step, 3);
  EXPECT_EQ(trained->weights->config(), OptionsOf({}).training.model);
  EXPECT_EQ(trained->vocabulary->size(), 11);
}

}  // namespace
}  // namespace muster::models
