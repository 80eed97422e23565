#include "models/trainer/training_options.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trainer_sdk/optim/learning_rate.h"
#include "trainer_sdk/process_group/dtype.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster::models {
namespace {

// Parses lines of the form "name value". Key of the map: the name.
std::map<std::string, std::string> ByName(const std::string& text) {
  std::map<std::string, std::string> values;
  for (const auto& line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    values.insert(parts);
  }
  return values;
}

// Returns rank 0's text on every rank.
absl::StatusOr<std::string> OfRank0(ProcessGroup& world,
                                    const std::string& text) {
  auto bytes = static_cast<int64_t>(text.size());
  absl::Status status =
      world.Run(Broadcast(&bytes, &bytes, 1, DType::kInt64, 0));
  if (!status.ok()) return status;
  std::string theirs = text;
  theirs.resize(static_cast<size_t>(bytes));
  status = world.Run(
      Broadcast(theirs.data(), theirs.data(), bytes, DType::kInt8, 0));
  if (!status.ok()) return status;
  return theirs;
}

// Builds a text that describes a run's settings, one line per option.
class Lines {
 public:
  template <typename T>
  void Add(const char* name, const T& value) {
    absl::StrAppend(&text_, name, " ", value, "\n");
  }
  void AddFlag(const char* name, bool given) {
    Add(name, given ? "on" : "off");
  }
  void Append(const std::string& lines) { text_ += lines; }
  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

const char* PrecisionFlag(DType precision) {
  switch (precision) {
    case DType::kFloat32:
      return "fp32";
    case DType::kBFloat16:
      return "bf16";
    case DType::kFloat16:
      return "fp16";
    default:
      return Name(precision);
  }
}

// Describes the decay of the learning rate. Without a decay, the description
// does not contain the number of steps, so that a training can be resumed with
// a larger number of steps.
std::string DescribeDecay(const LearningRateSchedule& schedule) {
  if (schedule.decay == LearningRateSchedule::Decay::kNone) return "none";
  const bool is_cosine = schedule.decay == LearningRateSchedule::Decay::kCosine;
  return absl::StrCat(is_cosine ? "cosine" : "linear", " over ",
                      schedule.decay_until, " steps");
}

}  // namespace

std::string DescribeModel(const GptConfig& model) {
  Lines lines;
  lines.Add("vocabulary", model.vocabulary);
  lines.Add("context", model.context);
  lines.Add("layers", model.layers);
  lines.Add("heads", model.heads);
  lines.Add("width", model.width);
  lines.AddFlag("biases", model.biases == GptConfig::Biases::kAll);
  return lines.Take();
}

std::string DescribePrecision(const GptTrainingOptions& options) {
  Lines lines;
  lines.Add("precision", PrecisionFlag(options.precision));
  return lines.Take();
}

std::string DescribeHyperparameters(const GptTrainingOptions& options) {
  Lines lines;
  lines.Append(DescribeModel(options.model));
  lines.Add("device", options.device == GptTrainingOptions::Device::kCuda
                          ? "cuda"
                          : "cpu");
  lines.Append(DescribePrecision(options));
  lines.AddFlag("pairwise",
                options.order == GptTrainingOptions::GradientOrder::kPairwise);
  lines.Add("text", options.text_fingerprint);
  lines.Add("batch", options.batch);
  lines.Add("micro-batches", options.micro_batches);
  lines.Add("learning-rate", options.learning_rate.peak);
  lines.Add("last-learning-rate", options.learning_rate.floor);
  lines.Add("decay", DescribeDecay(options.learning_rate));
  lines.Add("warmup", options.learning_rate.warmup);
  lines.Add("weight-decay", options.adamw.weight_decay);
  lines.Add("beta2", options.adamw.beta2);
  lines.Add("clip", options.clip);
  lines.Add("seed", options.seed);
  return lines.Take();
}

std::string DescribeJointWork(const GptTrainingOptions& options) {
  Lines lines;
  lines.AddFlag("zero",
                options.sharding == GptTrainingOptions::Sharding::kZero1);
  // The initial loss scale must be equal on all ranks. It is not one of the
  // hyperparameters in a checkpoint, because a training that resumes uses the
  // scale in the checkpoint instead.
  lines.Add("loss-scale", options.loss_scale.initial);
  lines.Add("steps", options.steps);
  lines.Add("validate-every", options.validate_every);
  lines.Add("validation-batches", options.validation_batches);
  lines.Add("checkpoint-every", options.checkpoint_every);
  lines.Add("checkpoints",
            options.checkpoint_directory.empty() ? "none" : "some");
  return lines.Take();
}

std::string HyperparameterDifference(const std::string& is,
                                     const std::string& was,
                                     const char* between) {
  const std::map<std::string, std::string> before = ByName(was);
  std::vector<std::string> differences;
  for (const auto& [name, value] : ByName(is)) {
    const auto at = before.find(name);
    const std::string old = at == before.end() ? "not known" : at->second;
    if (old != value) {
      differences.push_back(absl::StrCat(name, " ", value, between, old));
    }
  }
  return absl::StrJoin(differences, "; ");
}

absl::Status CheckSameHyperparameters(ProcessGroup& world,
                                      const std::string& text) {
  const absl::StatusOr<std::string> first = OfRank0(world, text);
  if (!first.ok()) return first.status();
  const std::string difference =
      HyperparameterDifference(text, *first, ", on rank 0 ");
  std::vector<int32_t> others(static_cast<size_t>(world.size()));
  const int32_t other = difference.empty() ? 0 : 1;
  absl::Status status =
      world.Run(AllGather(&other, others.data(), 1, DType::kInt32));
  if (!status.ok()) return status;
  std::vector<int> ranks;
  for (int rank = 0; rank < world.size(); ++rank) {
    if (others[static_cast<size_t>(rank)] != 0) ranks.push_back(rank);
  }
  if (ranks.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("rank ", absl::StrJoin(ranks, ", "),
                   " was started with other options than rank 0",
                   difference.empty() ? "" : ": ", difference));
}

}  // namespace muster::models
