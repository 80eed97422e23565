#include "models/trainer/report/step_report.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster::models {
namespace {

using Json = nlohmann::ordered_json;

// 14473.2 is "14,473".
std::string WithCommas(double number) {
  std::string digits = absl::StrCat(std::llround(number));
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

// "1:02", "2:00:05".
std::string Clock(Duration duration) {
  const int64_t seconds = std::llround(ToSeconds(duration));
  const int64_t hours = seconds / 3600;
  const int64_t minutes = seconds / 60 % 60;
  return hours > 0
             ? absl::StrFormat("%d:%02d:%02d", hours, minutes, seconds % 60)
             : absl::StrFormat("%d:%02d", minutes, seconds % 60);
}

std::string StepOf(int64_t step, int64_t steps) {
  const std::string all = absl::StrCat(steps);
  return absl::StrFormat("step %*d/%s", static_cast<int>(all.size()), step,
                         all);
}

}  // namespace

std::string ProgressLine(const StepReport& report) {
  std::string line = absl::StrFormat(
      "%s  loss %.4f  lr %.1e  norm %.3f  %9s tokens/s",
      StepOf(report.step, report.steps), report.loss, report.learning_rate,
      report.gradient_norm, WithCommas(report.tokens_per_second));
  if (report.mfu > 0) {
    absl::StrAppendFormat(&line, "  MFU %4.1f %%", 100 * report.mfu);
  }
  absl::StrAppend(&line, "  ", Clock(report.left), " left");
  return line;
}

std::string ValidationLine(int64_t step, int64_t steps, double loss) {
  return absl::StrFormat("%s  validation loss %.4f", StepOf(step, steps), loss);
}

std::string StartJson(int64_t step, int world_size, int restart) {
  return Json{{"event", "start"},
              {"step", step},
              {"world_size", world_size},
              {"restart", restart}}
      .dump();
}

std::string StopJson(int64_t step) {
  return Json{{"event", "stop"}, {"step", step}}.dump();
}

std::string StepJson(const StepReport& report) {
  Json json = {{"step", report.step},
               {"loss", report.loss},
               {"learning_rate", report.learning_rate},
               {"gradient_norm", report.gradient_norm},
               {"tokens_per_s", report.tokens_per_second}};
  if (report.mfu > 0) json["mfu"] = report.mfu;
  return json.dump();
}

std::string ValidationJson(int64_t step, double loss) {
  return Json{{"step", step}, {"validation_loss", loss}}.dump();
}

}  // namespace muster::models
