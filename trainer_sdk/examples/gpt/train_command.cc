#include "trainer_sdk/examples/gpt/train_command.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "trainer_sdk/data/char_vocabulary.h"
#include "trainer_sdk/examples/gpt/gpt_reporter.h"
#include "trainer_sdk/examples/gpt/gpt_sampler.h"
#include "trainer_sdk/examples/gpt/gpt_trainer.h"
#include "trainer_sdk/examples/gpt/matrix_rate.h"
#include "trainer_sdk/session/stop_request.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster {
namespace {

absl::StatusOr<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file),
                   std::istreambuf_iterator<char>()};
  if (!file || text.empty()) {
    return absl::NotFoundError(
        absl::StrCat("cannot read a text from '", path, "'"));
  }
  return text;
}

absl::StatusOr<std::unique_ptr<ProcessGroup>> World(Session& session) {
  GroupPlace place;
  place.rank = session.rank();
  place.size = session.world_size();
  place.store = std::make_shared<PrefixStore>("world", session.store());
  place.name = "world";
  return NewProcessGroup(place, TransportChoice::kAutomatic);
}

// The steps from `step` on.
absl::Status Run(const GptTrainingOptions& options, int64_t step,
                 GptTrainer& trainer, ProcessGroup& world,
                 GptReporter& reporter) {
  while (step < options.steps) {
    const absl::StatusOr<GptStep> done = trainer.Step(step++);
    if (!done.ok()) return done.status();
    reporter.Step(step, done->loss, done->learning_rate, done->gradient_norm);
    const absl::StatusOr<bool> stop = StopRequest::AskedAnyone(world);
    if (!stop.ok()) return stop.status();
    if (*stop) {
      reporter.Say(absl::StrCat("asked to stop behind step ", step));
      return absl::OkStatus();
    }
    if (options.validate_every > 0 &&
        (step == options.steps || step % options.validate_every == 0)) {
      const absl::StatusOr<double> loss = trainer.Validate();
      if (!loss.ok()) return loss.status();
      reporter.Validation(step, *loss);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TrainGpt(GptTrainingOptions options, Session& session) {
  StopRequest::Listen();
  const absl::StatusOr<std::string> text = ReadText(options.data);
  if (!text.ok()) return text.status();
  const CharVocabulary vocabulary(*text);
  options.model.vocabulary = vocabulary.size();
  auto world = World(session);
  if (!world.ok()) return world.status();
  auto trainer =
      GptTrainer::Create(options, *vocabulary.Encode(*text), **world);
  if (!trainer.ok()) return trainer.status();
  const absl::StatusOr<double> peak = MeasureMatrixRate(**world);
  if (!peak.ok()) return peak.status();
  GptReporter reporter(
      {.log = options.log,
       .steps = options.steps,
       .log_every = options.log_every,
       .tokens_per_step =
           options.micro_batches * options.batch * options.model.context,
       .flops_per_token = options.model.FlopsPerToken(),
       .peak = *peak},
      session);
  reporter.Say(absl::StrFormat(
      "%d parameters, %d tokens, %d ranks over %s", options.model.Parameters(),
      text->size(), session.world_size(), (*world)->transport_name()));
  reporter.Say(absl::StrFormat(
      "MFU is tokens/s x %.3g FLOP a token (6 N + 6 L C T) over %.1f GFLOP/s, "
      "which matrix products alone reach here",
      options.model.FlopsPerToken(), *peak / 1e9));
  absl::Status status = reporter.Begin(0);
  if (status.ok()) status = Run(options, 0, **trainer, **world, reporter);
  if (!status.ok()) return status;
  if (session.rank() == 0 && options.sample > 0) {
    reporter.Say(vocabulary.Decode(
        Sample((*trainer)->weights(), {.count = options.sample}, {0})));
  }
  return absl::OkStatus();
}

}  // namespace muster
