#include "models/trainer/gpt_checkpoint.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/text/stored_vocabulary.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"

namespace muster::models {
namespace {

std::string Described(const std::string& vocabulary) {
  const auto parsed = ParseVocabulary(vocabulary);
  return parsed.ok() ? (*parsed)->Describe() : "of no known kind";
}

// Returns all differences from the checkpoint's `state` that prevent the
// training from resuming, such as "layers 3, there 2" (3 in the options, 2 in
// the checkpoint); empty: the training can resume.
std::string Obstacle(const GptTrainingOptions& options,
                     const std::string& vocabulary,
                     const GptCheckpointState& state) {
  constexpr char kThere[] = ", there ";
  GptConfig there = state.model;
  std::vector<std::string> obstacles;
  if (state.vocabulary != vocabulary) {
    // The vocabularies differ, which `obstacles` reports with the number of
    // tokens in each. To keep the comparison of the models below from reporting
    // these numbers again, set the same number in both models.
    there.vocabulary = options.model.vocabulary;
    obstacles.push_back(absl::StrCat("vocabulary ", Described(vocabulary),
                                     kThere, Described(state.vocabulary)));
  }
  for (const std::string& difference :
       {HyperparameterDifference(DescribeModel(options.model),
                                 DescribeModel(there), kThere),
        HyperparameterDifference(DescribePrecision(options),
                                 state.hyperparameters, kThere)}) {
    if (!difference.empty()) obstacles.push_back(difference);
  }
  return absl::StrJoin(obstacles, "; ");
}

// Returns a text with the checkpoint's folder and the newer checkpoints that
// were skipped because they are damaged.
std::string DescribeSource(const CheckpointReader& reader) {
  std::string told = reader.folder();
  for (const SkippedCheckpoint& skipped : reader.skipped()) {
    absl::StrAppend(&told, "; passed over ", skipped.folder, ": ",
                    skipped.reason);
  }
  return told;
}

}  // namespace

GptCheckpoints::GptCheckpoints(const GptTrainingOptions& options,
                               const Vocabulary& vocabulary,
                               ResumableTrainer& trainer, ProcessGroup& world)
    : options_(options),
      vocabulary_(vocabulary.Serialize()),
      trainer_(trainer),
      world_(world) {}

absl::StatusOr<std::unique_ptr<GptCheckpoints>> GptCheckpoints::Create(
    const GptTrainingOptions& options, const Vocabulary& vocabulary,
    ResumableTrainer& trainer, ProcessGroup& world) {
  std::unique_ptr<GptCheckpoints> checkpoints(
      new GptCheckpoints(options, vocabulary, trainer, world));
  auto group = world.Split(0, world.rank(), "checkpoints");
  if (!group.ok()) return group.status();
  checkpoints->group_ = *std::move(group);
  auto writer = CheckpointWriter::Create(
      *checkpoints->group_, {.directory = options.checkpoint_directory,
                             .keep = options.keep_checkpoints});
  if (!writer.ok()) return writer.status();
  checkpoints->writer_ = *std::move(writer);
  return checkpoints;
}

absl::StatusOr<int64_t> GptCheckpoints::Resume() {
  const auto opened = OpenNewestTogether(world_, options_.checkpoint_directory);
  if (opened.status().code() == absl::StatusCode::kNotFound) return 0;
  if (!opened.ok()) return opened.status();
  const CheckpointReader& reader = **opened;
  const auto state = ParseGptCheckpointState(reader.state());
  if (!state.ok()) return state.status();
  const std::string obstacle = Obstacle(options_, vocabulary_, *state);
  if (!obstacle.empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the checkpoint '", reader.folder(), "' is of another model than this ",
        "training: ", obstacle, "; give what it was begun with, or another ",
        "--checkpoint-dir"));
  }
  other_options_ = HyperparameterDifference(DescribeHyperparameters(options_),
                                            state->hyperparameters);
  const auto places = trainer_.State();
  if (!places.ok()) return places.status();
  absl::Status status = ReadTogether(world_, reader, *places);
  if (status.ok()) status = trainer_.Restore(state->progress);
  if (!status.ok()) return status;
  resumed_from_ = DescribeSource(reader);
  return reader.step();
}

absl::Status GptCheckpoints::Save(int64_t step) {
  const auto slices = trainer_.State();
  if (!slices.ok()) return slices.status();
  return writer_->Save(
      step, *slices,
      ToBytes({.model = options_.model,
               .progress = trainer_.progress(),
               .hyperparameters = DescribeHyperparameters(options_),
               .vocabulary = vocabulary_}));
}

absl::StatusOr<TrainedGpt> OpenTrainedGpt(const std::string& directory) {
  const auto opened = CheckpointReader::OpenNewest(directory);
  if (!opened.ok()) return opened.status();
  const auto state = ParseGptCheckpointState((*opened)->state());
  if (!state.ok()) return state.status();
  auto vocabulary = ParseVocabulary(state->vocabulary);
  if (!vocabulary.ok()) return vocabulary.status();
  if ((*vocabulary)->size() > state->model.vocabulary) {
    return absl::InvalidArgumentError(
        absl::StrCat("the checkpoint '", (*opened)->folder(), "' has ",
                     (*vocabulary)->size(), " tokens for a model of ",
                     state->model.vocabulary));
  }
  TrainedGpt trained{.step = (*opened)->step(),
                     .from = DescribeSource(**opened),
                     .weights = std::make_unique<GptWeights>(
                         state->model, GptLayers{0, state->model.layers}),
                     .vocabulary = *std::move(vocabulary)};
  std::vector<CheckpointSlice> slices;
  for (int i = 0; i < static_cast<int>(trained.weights->tensors().size());
       ++i) {
    slices.push_back(WholeTensor(trained.weights->tensor(i)));
  }
  if (absl::Status status = (*opened)->Read(slices); !status.ok()) {
    return status;
  }
  return trained;
}

}  // namespace muster::models
