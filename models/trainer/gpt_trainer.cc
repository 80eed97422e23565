#include "models/trainer/gpt_trainer.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
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

}  // namespace muster::models
