#ifndef MUSTER_MODELS_TRAINER_REPORT_STEP_REPORT_H_
#define MUSTER_MODELS_TRAINER_REPORT_STEP_REPORT_H_

#include <cstdint>
#include <string>

#include "base/time.h"

namespace muster {

// What is said of a training after some of its steps.
struct StepReport {
  // Done so far, and of how many.
  int64_t step = 0;
  int64_t steps = 0;
  // Of the last one.
  double loss = 0;
  double learning_rate = 0;
  double gradient_norm = 0;
  // Since the report before.
  double tokens_per_second = 0;
  // Model FLOP/s over the peak; 0: no peak is known.
  double mfu = 0;
  // At this speed.
  Duration left{};
};

// Lines of the console, columns below one another:
//   step   100/2000  loss 2.4512  lr 9.9e-04  norm 1.234  14,473 tokens/s
//   MFU 41.2 %  1:02 left
std::string ProgressLine(const StepReport& report);
std::string ValidationLine(int64_t step, int64_t steps, double loss);

// Lines of the log, JSON objects; numbers can be read back exactly.
//   {"event":"start","step":40,"world_size":4,"restart":1}
std::string StartJson(int64_t step, int world_size, int restart);
//   {"event":"stop","step":60}
std::string StopJson(int64_t step);
std::string StepJson(const StepReport& report);
std::string ValidationJson(int64_t step, double loss);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_REPORT_STEP_REPORT_H_
