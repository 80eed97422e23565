// Runs training steps of `gpt train` on demand, with the same options as `gpt
// train`. For each number N on stdin, runs N steps and prints one line of JSON.
// The line has the time of each step, the exposed communication time of all N
// steps (waiting for gradients), the last loss, and the process's peak memory.
// With torchrun's variables (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT) this
// program is one rank of several.

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_join.h"
#include "base/monotonic_clock.h"
#include "models/trainer/host_gpt_trainer.h"
#include "models/trainer/text/gpt_text.h"
#include "models/trainer/training_flags.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

int64_t PeakKib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

absl::Status TakeSteps(models::HostGptTrainer& trainer) {
  int64_t step = 0;
  int64_t count = 0;
  while (std::cin >> count) {
    std::vector<double> seconds;
    double loss = 0;
    const Duration exposed = trainer.times().exposed;
    for (int64_t i = 0; i < count; ++i) {
      const Instant begin = MonotonicNow();
      const absl::StatusOr<models::GptStep> done = trainer.Step(step++);
      seconds.push_back(ToSeconds(MonotonicNow() - begin));
      if (!done.ok()) return done.status();
      loss = done->loss;
    }
    std::cout << "{\"seconds\": [" << absl::StrJoin(seconds, ", ")
              << "], \"loss\": " << loss << ", \"exposed\": "
              << ToSeconds(trainer.times().exposed - exposed)
              << ", \"peak_kib\": " << PeakKib() << "}" << std::endl;
  }
  return absl::OkStatus();
}

absl::Status Run(models::GptTrainingOptions options) {
  auto session = Session::FromEnvironment();
  if (!session.ok()) return session.status();
  const absl::StatusOr<models::GptText> text = models::LoadText(options.text);
  if (!text.ok()) return text.status();
  options.model.vocabulary = text->vocabulary->size();
  options.learning_rate.decay_until = options.steps;
  auto world = NewWorld(**session);
  if (!world.ok()) return world.status();
  auto trainer = models::HostGptTrainer::Create(options, text->tokens, **world);
  if (!trainer.ok()) return trainer.status();
  return TakeSteps(**trainer);
}

int Main(int argc, char** argv) {
  CLI::App app("Steps of a training, on demand.");
  models::GptTrainingOptions options;
  models::AddTrainingFlags(app, &options);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Run(options);
  if (!status.ok()) std::cerr << "steps: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
