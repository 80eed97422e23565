#ifndef MUSTER_MODELS_TRAINER_REPORT_STEP_REPORT_H_
#define MUSTER_MODELS_TRAINER_REPORT_STEP_REPORT_H_

#include <cstdint>
#include <string>

#include "base/time.h"

namespace muster::models {

// A report on a training after some of its steps.
struct StepReport {
  // Steps done so far, and in total.
  int64_t step = 0;
  int64_t steps = 0;
  // The last step's results.
  double loss = 0;
  double learning_rate = 0;
  double gradient_norm = 0;
  // Since the previous report.
  double tokens_per_second = 0;
  // Model FLOP/s divided by the peak; 0: the peak is unknown.
  double mfu = 0;
  // Estimated remaining time at this speed.
  Duration left{};
};

// Lines for the console, with aligned columns:
//   step   100/2000  loss 2.4512  lr 9.9e-04  norm 1.234  14,473 tokens/s
//   MFU 41.2 %  1:02 left
std::string ProgressLine(const StepReport& report);
std::string ValidationLine(int64_t step, int64_t steps, double loss);

// Lines for the log: JSON objects, with numbers that are exact when parsed.
//   {"event":"start","step":40,"world_size":4,"restart":1}
std::string StartJson(int64_t step, int world_size, int restart);
//   {"event":"stop","step":60}
std::string StopJson(int64_t step);
std::string StepJson(const StepReport& report);
std::string ValidationJson(int64_t step, double loss);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_REPORT_STEP_REPORT_H_
