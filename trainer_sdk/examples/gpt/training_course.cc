#include "trainer_sdk/examples/gpt/training_course.h"

#include <cstdint>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

// What is behind the name in each line, by name.
std::map<std::string, std::string> ByName(const std::string& course) {
  std::map<std::string, std::string> values;
  for (const auto& line : absl::StrSplit(course, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    values.insert(parts);
  }
  return values;
}

// Rank 0's text, on every rank.
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

}  // namespace

std::string DescribeCourse(const GptTrainingOptions& options) {
  const GptConfig& model = options.model;
  std::string course;
  const auto add = [&course](const char* name, const auto& value) {
    absl::StrAppend(&course, name, " ", value, "\n");
  };
  add("vocabulary", model.vocabulary);
  add("context", model.context);
  add("layers", model.layers);
  add("heads", model.heads);
  add("width", model.width);
  add("biases", model.biases == GptConfig::Biases::kAll ? "all" : "none");
  add("precision", Name(options.precision));
  add("loss-scale", options.loss_scale.initial);
  add("optimizer state", static_cast<int>(options.sharding));
  add("gradient order", static_cast<int>(options.order));
  add("batch", options.batch);
  add("micro-batches", options.micro_batches);
  add("steps", options.steps);
  add("learning-rate", options.learning_rate.peak);
  add("last-learning-rate", options.learning_rate.floor);
  add("decay", static_cast<int>(options.learning_rate.decay));
  add("warmup", options.learning_rate.warmup);
  add("weight-decay", options.adamw.weight_decay);
  add("beta2", options.adamw.beta2);
  add("clip", options.clip);
  add("seed", options.seed);
  add("validate-every", options.validate_every);
  add("validation-batches", options.validation_batches);
  add("checkpoint-every", options.checkpoint_every);
  add("checkpoints", options.checkpoint_directory.empty() ? "none" : "some");
  return course;
}

std::string CourseDifference(const std::string& is, const std::string& was) {
  const std::map<std::string, std::string> before = ByName(was);
  std::vector<std::string> differences;
  for (const auto& [name, value] : ByName(is)) {
    const auto at = before.find(name);
    const std::string old = at == before.end() ? "not known" : at->second;
    if (old != value) {
      differences.push_back(absl::StrCat(name, " ", value, ", was ", old));
    }
  }
  return absl::StrJoin(differences, "; ");
}

absl::Status CheckSameCourse(ProcessGroup& world, const std::string& course) {
  const absl::StatusOr<std::string> first = OfRank0(world, course);
  if (!first.ok()) return first.status();
  const std::string difference = CourseDifference(course, *first);
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
  return absl::FailedPreconditionError(absl::StrCat(
      "rank ", absl::StrJoin(ranks, ", "),
      " was started with other options than rank 0",
      difference.empty() ? "" : ": ",
      absl::StrJoin(absl::StrSplit(difference, ", was "), ", on rank 0 ")));
}

}  // namespace muster
