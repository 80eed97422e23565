#include "trainer_sdk/nccl/stream_watch.h"

#include "absl/strings/str_cat.h"
#include "base/message_text.h"

namespace muster {

StreamWatch::~StreamWatch() {
  for (const InFlight& operation : in_flight_) {
    cuda_->DestroyEvent(operation.event);
  }
  for (CudaEvent event : free_) cuda_->DestroyEvent(event);
}

absl::StatusOr<uint64_t> StreamWatch::Add(nccl::CudaStream stream,
                                          const Watched& watched) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (free_.empty()) {
    const absl::StatusOr<CudaEvent> event = cuda_->NewEvent();
    if (!event.ok()) return event.status();
    free_.push_back(*event);
  }
  CudaEvent event = free_.back();
  const absl::Status recorded = cuda_->Record(event, stream);
  if (!recorded.ok()) return recorded;
  free_.pop_back();
  in_flight_.push_back({watched, event});
  return done_ + in_flight_.size();
}

bool StreamWatch::Done(uint64_t number) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_ >= number;
}

absl::Status StreamWatch::Look(Instant now) {
  std::lock_guard<std::mutex> lock(mutex_);
  while (!in_flight_.empty()) {
    const InFlight& oldest = in_flight_.front();
    const absl::StatusOr<bool> happened = cuda_->HasHappened(oldest.event);
    if (!happened.ok()) {
      return absl::UnavailableError(
          absl::StrCat(Describe(oldest.watched.signature), ": ",
                       happened.status().message()));
    }
    if (!*happened) return Lateness(now);
    free_.push_back(oldest.event);
    last_done_ = oldest.watched.signature;
    in_flight_.pop_front();
    ++done_;
  }
  return absl::OkStatus();
}

absl::Status StreamWatch::Lateness(Instant now) const {
  const Watched& oldest = in_flight_.front().watched;
  for (const InFlight& operation : in_flight_) {
    const Watched& watched = operation.watched;
    if (now < watched.deadline) continue;
    std::string message = absl::StrCat(
        Describe(watched.signature), " has not been done on the GPU ",
        SecondsText(now - watched.since), " after it was asked for: ");
    if (&watched == &oldest) {
      absl::StrAppend(&message,
                      "a peer has not come to it, or asked for something "
                      "else, or the stream is held up before it");
    } else {
      absl::StrAppend(&message, "it waits behind ", Describe(oldest.signature),
                      ", which a peer has not come to, or asked for something "
                      "else");
    }
    return absl::DeadlineExceededError(message);
  }
  return absl::OkStatus();
}

std::optional<OperationSignature> StreamWatch::Current() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!in_flight_.empty()) return in_flight_.front().watched.signature;
  if (done_ == 0) return std::nullopt;
  return last_done_;
}

std::optional<Instant> StreamWatch::OldestSince() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (in_flight_.empty()) return std::nullopt;
  return in_flight_.front().watched.since;
}

}  // namespace muster
