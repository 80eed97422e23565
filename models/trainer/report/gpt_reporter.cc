#include "models/trainer/report/gpt_reporter.h"

#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::models {

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
  // The validation's time does not count as training.
  last_ = MonotonicNow();
  last_step_ = step;
  Say(ValidationLine(step, options_.steps, loss));
  Log(ValidationJson(step, loss));
}

void GptReporter::Stopped(int64_t step) {
  Say(absl::StrCat("asked to stop behind step ", step));
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
  // A full disk may have room again for the next line.
  log_.clear();
  Warn(absl::StrCat("cannot write a line of the log '", options_.log, "'"));
}

}  // namespace muster::models
