// Trains a small transformer on a text: a Session, a process group, DDP. Runs
// under `launch`, torchrun, mpirun and srun, and alone:
//
//   bazel build --config=opt //trainer_sdk/examples/gpt
//   cd bazel-bin/trainer_sdk/examples/gpt
//   launch --standalone --nproc-per-node 2 gpt --data text --micro-batches 2

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/data/char_vocabulary.h"
#include "trainer_sdk/examples/gpt/gpt_options.h"
#include "trainer_sdk/examples/gpt/gpt_trainer.h"
#include "trainer_sdk/session/session.h"
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

// What rank 0 says of the steps.
class Reporter {
 public:
  Reporter(const GptTrainingOptions& options, Session& session)
      : options_(options), session_(session), last_(MonotonicNow()) {
    if (session.rank() == 0 && !options.log.empty()) log_.open(options.log);
  }

  void Report(int64_t step, const GptStep& done) {
    if ((step + 1) % options_.log_every != 0) return;
    const Instant now = MonotonicNow();
    const double seconds = ToSeconds(now - last_);
    last_ = now;
    const double tokens =
        static_cast<double>(options_.log_every * options_.micro_batches *
                            options_.batch * options_.model.context) /
        seconds;
    session_.progress().Send(
        {.step = step + 1, .loss = done.loss, .tokens_per_second = tokens});
    if (session_.rank() != 0) return;
    std::printf(
        "step %5lld  loss %.4f  lr %.2e  norm %.3f  %.0f tokens/s  "
        "%.2f GFLOP/s\n",
        static_cast<long long>(step + 1), done.loss, done.learning_rate,
        done.gradient_norm, tokens,
        tokens * options_.model.FlopsPerToken() / 1e9);
    std::fflush(stdout);
    if (!log_.is_open()) return;
    log_ << "{\"step\": " << step + 1 << ", \"loss\": " << done.loss
         << ", \"learning_rate\": " << done.learning_rate
         << ", \"gradient_norm\": " << done.gradient_norm
         << ", \"tokens_per_s\": " << tokens << "}\n"
         << std::flush;
  }

  void ReportValidation(int64_t step, double loss) {
    // Its time is not the training's.
    last_ = MonotonicNow();
    if (session_.rank() != 0) return;
    std::printf("step %5lld  validation loss %.4f\n",
                static_cast<long long>(step), loss);
    std::fflush(stdout);
    if (!log_.is_open()) return;
    log_ << "{\"step\": " << step << ", \"validation_loss\": " << loss << "}\n"
         << std::flush;
  }

 private:
  const GptTrainingOptions& options_;
  Session& session_;
  Instant last_;
  std::ofstream log_;
};

absl::Status Train(GptTrainingOptions options, Session& session) {
  const absl::StatusOr<std::string> text = ReadText(options.data);
  if (!text.ok()) return text.status();
  const CharVocabulary vocabulary(*text);
  options.model.vocabulary = vocabulary.size();
  auto world = World(session);
  if (!world.ok()) return world.status();
  auto trainer =
      GptTrainer::Create(options, *vocabulary.Encode(*text), **world);
  if (!trainer.ok()) return trainer.status();
  if (session.rank() == 0) {
    std::printf("%lld parameters, %lld tokens, %d ranks, %s\n",
                static_cast<long long>(options.model.Parameters()),
                static_cast<long long>(text->size()), session.world_size(),
                (*world)->transport_name());
  }
  Reporter reporter(options, session);
  for (int64_t step = 0; step < options.steps; ++step) {
    const absl::StatusOr<GptStep> done = (*trainer)->Step(step);
    if (!done.ok()) return done.status();
    reporter.Report(step, *done);
    const bool last = step + 1 == options.steps;
    if (options.validate_every > 0 &&
        (last || (step + 1) % options.validate_every == 0)) {
      const absl::StatusOr<double> loss = (*trainer)->Validate();
      if (!loss.ok()) return loss.status();
      reporter.ReportValidation(step + 1, *loss);
    }
  }
  if (session.rank() == 0 && options.sample > 0) {
    std::cout << vocabulary.Decode((*trainer)->Sample({0}, options.sample))
              << std::endl;
  }
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  int exit_code = 2;
  const auto options = ReadGptOptions(argc, argv, &exit_code);
  if (!options.ok()) {
    (exit_code == 0 ? std::cout : std::cerr) << options.status().message();
    return exit_code;
  }
  auto session = Session::FromEnvironment();
  if (!session.ok()) {
    std::cerr << "gpt: " << session.status().message() << "\n";
    return 1;
  }
  const absl::Status status = Train(*options, **session);
  if (!status.ok()) {
    std::cerr << "gpt: rank " << (*session)->rank() << ": " << status.message()
              << "\n";
  }
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
