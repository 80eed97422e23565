#ifndef MUSTER_MODELS_TRAINER_REPORT_GPT_REPORTER_H_
#define MUSTER_MODELS_TRAINER_REPORT_GPT_REPORTER_H_

#include <cstdint>
#include <fstream>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {

// A report of a training's progress, for the console and the log.
struct StepReport {
  int64_t step = 0;          // number of steps done so far
  int64_t steps = 0;         // number of steps of the whole training
  double loss = 0;           // loss of the last step
  double learning_rate = 0;  // learning rate of the last step
  double gradient_norm = 0;  // gradient norm of the last step
  // Training speed of all ranks together, since the previous report.
  double tokens_per_second = 0;
  // Model FLOPs utilisation: the model's FLOP/s divided by the peak; 0: the
  // peak is unknown.
  double mfu = 0;
  // Estimated time until the end of the training, at the current speed.
  Duration left{};
};

// Formats a line for the console, with aligned columns:
//   step   100/2000  loss 2.4512  lr 9.9e-04  norm 1.234  14,473 tokens/s
//   MFU 41.2 %  1:02 left
std::string ProgressLine(const StepReport& report);
std::string ValidationLine(int64_t step, int64_t steps, double loss);

// Format lines for the log. Each line is a JSON object, whose numbers have
// enough digits to be read back exactly.
//   {"event":"start","step":40,"world_size":4,"restart":1}
std::string StartJson(int64_t step, int world_size, int restart);
// Formats the line for a requested stop:
//   {"event":"stop","step":60}
std::string StopJson(int64_t step);
std::string StepJson(const StepReport& report);
std::string ValidationJson(int64_t step, double loss);

// Reports the progress of a training. Every rank reports to its node's agent;
// rank 0 also writes to the console and the log.
class GptReporter {
 public:
  struct Options {
    // Name of the program, which begins each warning.
    std::string program = "gpt";
    // File to which rank 0 appends the progress as JSON lines; empty: none.
    std::string log;
    int64_t steps = 0;
    int64_t log_every = 1;
    int64_t tokens_per_step = 0;
    double flops_per_token = 0;
    // Peak FLOP/s of all ranks together; 0: unknown.
    double peak = 0;
  };

  // `session` must outlive the reporter.
  GptReporter(const Options& options, Session& session);

  // Opens the log on rank 0. `step`: number of steps that the training has
  // already done; 0: a new training.
  absl::Status Begin(int64_t step);

  void Step(int64_t step, double loss, double learning_rate,
            double gradient_norm);
  void Validation(int64_t step, double loss);
  // CheckpointBegins reports to the agent that the training waits for a
  // checkpoint from now on; CheckpointEnded reports that the wait is over.
  void CheckpointBegins();
  void CheckpointEnded();
  // Reports that the training stopped after `step` steps, because a stop was
  // requested.
  void Stopped(int64_t step);

  // Print a line on rank 0: Say to stdout, Warn to stderr.
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
