#include "models/trainer/gpt_trainer.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/gpt/hugging_face.h"
#include "models/trainer/text/gpt_batches.h"
#include "trainer_sdk/ddp/broadcast_parameters.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster::models {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestLine = 16384;

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("this is no checkpoint of the GPT example: ",
                   absl::string_view(what.data(), what.size())));
}

// Reads members of a JSON object by name. Remembers the last member that was
// missing or had another type.
class Members {
 public:
  explicit Members(const Json& json) : json_(json) {}

  int64_t Integer(const char* name) {
    const auto at = json_.find(name);
    if (at != json_.end() && at->is_number_integer()) {
      return at->get<int64_t>();
    }
    missing_ = name;
    return 0;
  }
  double Number(const char* name) {
    const auto at = json_.find(name);
    if (at != json_.end() && at->is_number()) return at->get<double>();
    missing_ = name;
    return 0;
  }
  std::string Text(const char* name) {
    const auto at = json_.find(name);
    if (at != json_.end() && at->is_string()) return at->get<std::string>();
    missing_ = name;
    return "";
  }
  const std::string& missing() const { return missing_; }

 private:
  const Json& json_;
  std::string missing_;
};

absl::Status CheckForGpu(const GptTrainingOptions& options) {
  const char* not_there = nullptr;
  if (options.precision == DType::kFloat16) {
    not_there = "--precision fp16 (bf16 needs no loss scale)";
  } else if (options.order != GptTrainingOptions::GradientOrder::kByRank) {
    not_there = "--pairwise";
  }
  if (not_there == nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("--device cuda has no ", not_there));
}

}  // namespace

std::string ToBytes(const GptCheckpointState& state) {
  const Json json = {
      {"vocabulary", state.model.vocabulary},
      {"context", state.model.context},
      {"layers", state.model.layers},
      {"heads", state.model.heads},
      {"width", state.model.width},
      {"biases", state.model.biases == GptConfig::Biases::kAll ? 1 : 0},
      {"updates", state.progress.updates},
      {"loss_scale", state.progress.scaler.scale},
      {"good_steps", state.progress.scaler.good_steps},
      // The key "course" must not change, because existing checkpoints have it.
      {"course", state.hyperparameters}};
  return absl::StrCat(json.dump(), "\n", state.vocabulary);
}

absl::StatusOr<GptCheckpointState> ParseGptCheckpointState(
    std::string_view bytes) {
  const size_t end = bytes.substr(0, kLongestLine).find('\n');
  if (end == std::string_view::npos) return Wrong("it has no first line");
  const Json json = Json::parse(bytes.substr(0, end), nullptr, false);
  if (!json.is_object()) return Wrong("its first line is no JSON object");
  Members members(json);
  GptCheckpointState state;
  state.model = {.vocabulary = members.Integer("vocabulary"),
                 .context = members.Integer("context"),
                 .layers = members.Integer("layers"),
                 .heads = members.Integer("heads"),
                 .width = members.Integer("width"),
                 .biases = members.Integer("biases") == 1
                               ? GptConfig::Biases::kAll
                               : GptConfig::Biases::kNone};
  state.progress = {.updates = members.Integer("updates"),
                    .scaler = {.scale = members.Number("loss_scale"),
                               .good_steps = members.Integer("good_steps")}};
  state.hyperparameters = members.Text("course");
  if (!members.missing().empty()) {
    return Wrong(
        absl::StrCat("no '", members.missing(), "', or of another type"));
  }
  if (absl::Status wrong = state.model.Check(); !wrong.ok()) return wrong;
  if (state.progress.updates < 0 || state.progress.scaler.good_steps < 0 ||
      !(state.progress.scaler.scale > 0) ||
      !std::isfinite(state.progress.scaler.scale)) {
    return Wrong("its counts or its loss scale are negative");
  }
  state.vocabulary = bytes.substr(end + 1);
  return state;
}

absl::StatusOr<double> MeanLoss(ProcessGroup& world,
                                std::vector<double> losses) {
  // On each rank, `losses` has the losses that this rank computed, and 0 for
  // the micro-batches of other ranks. So the sum over the ranks has the loss of
  // every micro-batch.
  absl::Status status = world.Run(AllReduce(losses.data(), losses.data(),
                                            static_cast<int64_t>(losses.size()),
                                            DType::kFloat64));
  if (!status.ok()) return status;
  return std::accumulate(losses.begin(), losses.end(), 0.0) /
         static_cast<double>(losses.size());
}

absl::Status GradientIsNoNumber(int64_t step) {
  return absl::OutOfRangeError(
      absl::StrCat("step ", step, ": the gradient is no number, ",
                   "so weights would be none; a lower learning rate may help"));
}

absl::Status CheckTraining(const GptTrainingOptions& options,
                           const std::shared_ptr<const Tokens>& tokens,
                           ProcessGroup& world) {
  if (absl::Status wrong = options.model.Check(); !wrong.ok()) return wrong;
  if (options.micro_batches % world.size() != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--micro-batches=", options.micro_batches,
        " is not a multiple of the world size (", world.size(), ")"));
  }
  if (options.device == GptTrainingOptions::Device::kCuda) {
    if (absl::Status wrong = CheckForGpu(options); !wrong.ok()) return wrong;
  }
  const bool in_pairs =
      options.order == GptTrainingOptions::GradientOrder::kPairwise;
  if (in_pairs && options.precision != DType::kFloat32) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pairwise adds gradients in fp32 only, not in ",
                     Name(options.precision)));
  }
  if (in_pairs &&
      !std::has_single_bit(static_cast<uint64_t>(options.micro_batches))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pairwise needs a power of two as --micro-batches, not ",
                     options.micro_batches));
  }
  if (absl::Status wrong =
          GptBatches(tokens, options.seed, options.batch, options.model.context)
              .Check();
      !wrong.ok()) {
    return wrong;
  }
  return CheckSameHyperparameters(world,
                                  absl::StrCat(DescribeHyperparameters(options),
                                               DescribeJointWork(options)));
}

absl::Status FirstWeights(const GptTrainingOptions& options,
                          ProcessGroup& world, GptWeights* weights) {
  weights->Initialize(options.seed);
  if (!options.initial_weights.empty()) {
    absl::Status status =
        ReadHuggingFaceWeights(options.initial_weights, weights);
    if (!status.ok()) return status;
  }
  std::vector<Tensor> tensors;
  for (int i = 0; i < static_cast<int>(weights->tensors().size()); ++i) {
    tensors.push_back(weights->tensor(i));
  }
  // All ranks get rank 0's weights, because the file of initial weights may
  // differ between hosts.
  return BroadcastParameters(world, tensors);
}

}  // namespace muster::models
