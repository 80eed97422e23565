// Writes the initial state and the data of a training by `gpt train`, so that
// another program can run the same training. `start FOLDER`, with the options
// of `gpt train`, writes these files:
//
//   start.json          the model's size, the optimizer's numbers, the tensors
//   weights             float32, in the order of start.json
//   tokens, targets     int32[step, micro-batch, window, position], in the
//                       order in which `gpt train` uses them
//   validation_tokens, validation_targets     int32[micro-batch, window,
//                       position]

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "models/gpt/gpt_weights.h"
#include "models/trainer/text/gpt_batches.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/training_flags.h"

namespace muster {
namespace {

// A file to which arrays of numbers are appended.
class ArrayFile {
 public:
  explicit ArrayFile(const std::string& path) : file_(path, std::ios::binary) {}

  template <typename T>
  void Append(const T* values, int64_t count) {
    file_.write(reinterpret_cast<const char*>(values),
                static_cast<std::streamsize>(count * sizeof(T)));
  }
  void Append(const std::vector<int32_t>& values) {
    Append(values.data(), static_cast<int64_t>(values.size()));
  }

 private:
  std::ofstream file_;
};

std::string Json(const models::GptTrainingOptions& options,
                 const models::GptWeights& weights) {
  std::vector<std::string> tensors;
  for (const models::GptTensor& tensor : weights.tensors()) {
    tensors.push_back(absl::StrCat("[\"", tensor.name, "\", [",
                                   absl::StrJoin(tensor.shape, ", "), "]]"));
  }
  const models::GptConfig& model = options.model;
  return absl::StrCat(
      "{\"model\": {\"vocabulary\": ", model.vocabulary,
      ", \"context\": ", model.context, ", \"layers\": ", model.layers,
      ", \"heads\": ", model.heads, ", \"width\": ", model.width,
      "},\n\"batch\": ", options.batch,
      ", \"micro_batches\": ", options.micro_batches,
      ", \"steps\": ", options.steps, ", \"clip\": ", options.clip,
      ",\n\"learning_rate\": {\"peak\": ", options.learning_rate.peak,
      ", \"floor\": ", options.learning_rate.floor,
      ", \"warmup\": ", options.learning_rate.warmup,
      ", \"decay_until\": ", options.learning_rate.decay_until,
      "},\n\"adamw\": {\"beta1\": ", options.adamw.beta1,
      ", \"beta2\": ", options.adamw.beta2,
      ", \"epsilon\": ", options.adamw.epsilon,
      ", \"weight_decay\": ", options.adamw.weight_decay, "},\n\"tensors\": [",
      absl::StrJoin(tensors, ",\n"), "]}\n");
}

// The file of tokens and the file of targets, either of all training
// micro-batches or of all validation micro-batches.
class BatchFiles {
 public:
  explicit BatchFiles(const std::string& path)
      : tokens_(path + "tokens"), targets_(path + "targets") {}

  absl::Status Append(const absl::StatusOr<models::GptMicroBatch>& batch) {
    if (!batch.ok()) return batch.status();
    tokens_.Append(batch->tokens);
    targets_.Append(batch->targets);
    return absl::OkStatus();
  }

 private:
  ArrayFile tokens_;
  ArrayFile targets_;
};

absl::Status Write(const std::string& folder,
                   models::GptTrainingOptions options) {
  const absl::StatusOr<models::GptText> text = models::LoadText(options.text);
  if (!text.ok()) return text.status();
  options.model.vocabulary = text->vocabulary->size();
  options.learning_rate.decay_until = options.steps;
  models::GptWeights weights(options.model, {0, options.model.layers});
  weights.Initialize(options.seed);
  std::ofstream(folder + "/start.json") << Json(options, weights);
  ArrayFile(folder + "/weights").Append(weights.data(), weights.count());
  const models::GptBatches batches(text->tokens, options.seed, options.batch,
                                   options.model.context);
  if (absl::Status wrong = batches.Check(); !wrong.ok()) return wrong;
  BatchFiles training(folder + "/");
  for (int64_t step = 0; step < options.steps; ++step) {
    for (int64_t i = 0; i < options.micro_batches; ++i) {
      absl::Status status = training.Append(batches.Training(step, i));
      if (!status.ok()) return status;
    }
  }
  BatchFiles validation(folder + "/validation_");
  for (int64_t i = 0; i < options.validation_batches; ++i) {
    absl::Status status = validation.Append(batches.Validation(i));
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  CLI::App app("What a training starts from.");
  std::string folder;
  models::GptTrainingOptions options;
  app.add_option("folder", folder, "where it is written")->required();
  models::AddTrainingFlags(app, &options);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Write(folder, options);
  if (!status.ok()) std::cerr << "start: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
