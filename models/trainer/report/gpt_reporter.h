#ifndef MUSTER_MODELS_TRAINER_REPORT_GPT_REPORTER_H_
#define MUSTER_MODELS_TRAINER_REPORT_GPT_REPORTER_H_

#include <cstdint>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "models/trainer/report/step_report.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {

// The destination of a training's reports: every rank's progress goes to its
// agent, rank 0's also to the console and the log.
class GptReporter {
 public:
  struct Options {
    // Prefix of warnings.
    std::string program = "gpt";
    // File to which JSON lines are appended; empty: none.
    std::string log;
    int64_t steps = 0;
    int64_t log_every = 1;
    int64_t tokens_per_step = 0;
    double flops_per_token = 0;
    // FLOP/s of all ranks; 0: unknown.
    double peak = 0;
  };

  // `session` must outlive it.
  GptReporter(const Options& options, Session& session);

  // Opens the log on rank 0. The training begins or resumes after `step`.
  absl::Status Begin(int64_t step);

  void Step(int64_t step, double loss, double learning_rate,
            double gradient_norm);
  void Validation(int64_t step, double loss);
  // The training stopped after this step, because it was asked to.
  void Stopped(int64_t step);

  // Other lines of rank 0; those of Warn go to stderr.
  void Say(const std::string& line);
  void Warn(const std::string& line);

 private:
  void Log(const std::string& json);

  const Options options_;
  Session& session_;
  Instant last_;
  int64_t last_step_ = 0;
  std::ofstream log_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_REPORT_GPT_REPORTER_H_
