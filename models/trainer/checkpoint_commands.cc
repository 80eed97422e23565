#include "models/trainer/checkpoint_commands.h"

#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "models/gpt/gpt_stage.h"
#include "models/gpt/hugging_face.h"
#include "models/trainer/gpt_checkpoint.h"
#include "models/trainer/gpt_sampler.h"
#include "models/trainer/text/gpt_batches.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/text/tokens_in_vocabulary.h"

namespace muster::models {
namespace {

// Also prints which checkpoint it is, separately from the output.
absl::StatusOr<TrainedGpt> Open(const std::string& directory) {
  absl::StatusOr<TrainedGpt> trained = OpenTrainedGpt(directory);
  if (trained.ok()) {
    std::fprintf(stderr, "gpt: from %s\n", trained->from.c_str());
  }
  return trained;
}

}  // namespace

absl::Status ValidateGpt(const GptValidation& validation) {
  const auto trained = Open(validation.checkpoint_directory);
  if (!trained.ok()) return trained.status();
  const absl::StatusOr<GptText> text = LoadText(validation.text);
  if (!text.ok()) return text.status();
  const auto tokens = TokensInVocabulary(*text, *trained->vocabulary);
  if (!tokens.ok()) {
    return absl::Status(
        tokens.status().code(),
        absl::StrCat("the checkpoint's model (",
                     trained->vocabulary->Describe(), ") cannot read '",
                     validation.text.data, "': ", tokens.status().message(),
                     "; give a text of the characters that it was trained on"));
  }
  const GptBatches batches(*tokens, validation.seed, validation.batch,
                           trained->weights->config().context);
  if (absl::Status wrong = batches.Check(); !wrong.ok()) return wrong;
  const GptStage model(*trained->weights, validation.batch,
                       trained->weights->config().context);
  double loss = 0;
  for (int64_t i = 0; i < validation.batches; ++i) {
    absl::StatusOr<GptMicroBatch> batch = batches.Validation(i);
    if (!batch.ok()) return batch.status();
    std::vector<float> stream;
    model.Forward(&*batch, &stream);
    loss += model.LossOnly(&*batch, stream);
  }
  std::printf("step %lld  validation loss %.4f\n",
              static_cast<long long>(trained->step),
              loss / static_cast<double>(validation.batches));
  return absl::OkStatus();
}

absl::Status WriteWithGpt(const GptWriting& writing) {
  const auto trained = Open(writing.checkpoint_directory);
  if (!trained.ok()) return trained.status();
  const auto prompt = trained->vocabulary->Encode(writing.prompt);
  if (!prompt.ok()) return prompt.status();
  if (prompt->empty()) {
    return absl::InvalidArgumentError("--prompt is empty: what to go on from?");
  }
  const std::string text = trained->vocabulary->Decode(
      Sample(*trained->weights, writing.sampling, *prompt));
  std::printf("%s\n", text.c_str());
  return absl::OkStatus();
}

absl::Status ExportGpt(const GptExport& exported) {
  const auto trained = Open(exported.checkpoint_directory);
  if (!trained.ok()) return trained.status();
  absl::Status status = WriteHuggingFaceModel(*trained->weights, exported.out);
  if (!status.ok()) return status;
  std::printf("step %lld as model.safetensors and config.json in %s\n",
              static_cast<long long>(trained->step), exported.out.c_str());
  return absl::OkStatus();
}

}  // namespace muster::models
