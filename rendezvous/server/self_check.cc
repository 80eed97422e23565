#include "rendezvous/server/self_check.h"

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {

absl::Status SelfCheck::Ask(Instant now) {
  if (!asked_.has_value()) asked_ = now;
  if (now - *asked_ > kMaxDelay) {
    return absl::DeadlineExceededError(
        absl::StrCat("the coordinator's listener has stood still for ",
                     ToSeconds(now - *asked_), " s"));
  }
  if (failures_ < kMaxFailures) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("the coordinator's listener does not answer: ", why_));
}

bool SelfCheck::IsDue(Instant now) const {
  return asked_.has_value() && !running_.has_value() &&
         (!last_.has_value() || now - *last_ >= kInterval);
}

void SelfCheck::Started(Instant now) { running_ = last_ = now; }

void SelfCheck::Answered() {
  running_.reset();
  asked_.reset();
  failures_ = 0;
}

void SelfCheck::Failed(const std::string& why) {
  running_.reset();
  asked_.reset();
  ++failures_;
  why_ = why;
}

std::optional<Instant> SelfCheck::NextDeadline() const {
  if (running_.has_value()) return *running_ + kTimeout;
  if (!asked_.has_value()) return std::nullopt;
  return last_.has_value() ? *last_ + kInterval : *asked_;
}

}  // namespace muster::rendezvous
