#include "models/trainer/report/gpt_reporter.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"

namespace muster::models {
namespace {

using Json = nlohmann::ordered_json;

// Rounds to an integer and inserts commas: 14473.2 gives "14,473".
std::string WithCommas(double number) {
  std::string digits = absl::StrCat(std::llround(number));
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

// Formats a duration as "1:02" or "2:00:05".
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

GptReporter::GptReporter(const Options& options, Session& session)
    : options_(options), session_(session), last_(MonotonicNow()) {}

absl::Status GptReporter::Begin(int64_t step) {
  last_ = MonotonicNow();
  last_step_ = step;
  if (session_.rank() != 0 || options_.log.empty()) return absl::OkStatus();
  log_.open(options_.log, std::ios::app);
  if (!log_) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write the log '", options_.log, "'"));
  }
  Log(StartJson(step, session_.world_size(), session_.restart_count()));
  return absl::OkStatus();
}

void GptReporter::Step(int64_t step, double loss, double learning_rate,
                       double gradient_norm) {
  if (step % options_.log_every != 0 && step != options_.steps) {
    session_.progress().Send({.step = step, .loss = loss});
    return;
  }
  const Instant now = MonotonicNow();
  const double seconds = ToSeconds(now - last_);
  const auto steps = static_cast<double>(step - last_step_);
  StepReport report{.step = step,
                    .steps = options_.steps,
                    .loss = loss,
                    .learning_rate = learning_rate,
                    .gradient_norm = gradient_norm};
  report.tokens_per_second =
      steps * static_cast<double>(options_.tokens_per_step) / seconds;
  if (options_.peak > 0) {
    report.mfu =
        report.tokens_per_second * options_.flops_per_token / options_.peak;
  }
  report.left =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(
          seconds / steps * static_cast<double>(options_.steps - step)));
  last_ = now;
  last_step_ = step;
  session_.progress().Send({.step = step,
                            .loss = loss,
                            .tokens_per_second = report.tokens_per_second});
  Say(ProgressLine(report));
  Log(StepJson(report));
}

void GptReporter::Validation(int64_t step, double loss) {
  // Restart the measurement of the training speed here, so that the time of the
  // validation does not count.
  last_ = MonotonicNow();
  last_step_ = step;
  Say(ValidationLine(step, options_.steps, loss));
  Log(ValidationJson(step, loss));
}

void GptReporter::CheckpointBegins() {
  session_.progress().Send({.checkpoint = true});
}

void GptReporter::CheckpointEnded() {
  session_.progress().Send({.checkpoint = false});
}

void GptReporter::Stopped(int64_t step) {
  Say(absl::StrCat("asked to stop after step ", step));
  Log(StopJson(step));
}

void GptReporter::Say(const std::string& line) {
  if (session_.rank() != 0) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

void GptReporter::Warn(const std::string& line) {
  if (session_.rank() != 0) return;
  std::fprintf(stderr, "%s: %s\n", options_.program.c_str(), line.c_str());
}

void GptReporter::Log(const std::string& json) {
  if (!log_.is_open()) return;
  log_ << json << '\n' << std::flush;
  if (log_) return;
  // The write failed, for example because the disk is full. Clear the stream's
  // error state, so that later lines are written if the disk has space again.
  log_.clear();
  Warn(absl::StrCat("cannot write a line of the log '", options_.log, "'"));
}

}  // namespace muster::models
