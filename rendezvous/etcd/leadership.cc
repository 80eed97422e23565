#include "rendezvous/etcd/leadership.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace muster::rendezvous {

uint64_t NextEpoch(uint64_t newest, uint64_t unix_ms) {
  return std::max(newest + 1, unix_ms);
}

Duration Leadership::Limits::takeover_after() const {
  return lease + lease / 4;
}

Leadership::Request Leadership::Next(Instant now) {
  if (stage_ == Stage::kLeading && now >= leads_until_) stage_ = Stage::kOver;
  if (stage_ == Stage::kOver || in_flight_ != Request::kNone) {
    return Request::kNone;
  }
  Request next = Request::kNone;
  if (stage_ == Stage::kLeading) {
    if (now >= due_) next = Request::kRenew;
  } else if (seen_.has_value() &&
             (seen_->holding == 0 ||
              now >= seen_since_ + limits_.takeover_after())) {
    next = Request::kClaim;
  } else if (now >= due_) {
    next = Request::kRead;
  }
  if (next == Request::kNone) return next;
  in_flight_ = next;
  sent_ = now;
  due_ = now + limits_.renew_every;
  return next;
}

std::optional<Instant> Leadership::NextDeadline() const {
  switch (stage_) {
    case Stage::kOver:
      return std::nullopt;
    case Stage::kLeading:
      return in_flight_ == Request::kNone ? std::min(due_, leads_until_)
                                          : leads_until_;
    case Stage::kStandby:
      break;
  }
  if (in_flight_ != Request::kNone) return std::nullopt;
  if (!seen_.has_value()) return due_;
  if (seen_->holding == 0) return sent_;
  return std::min(due_, seen_since_ + limits_.takeover_after());
}

void Leadership::OnRead(Instant now, const Lock& lock) {
  MUSTER_CHECK(std::exchange(in_flight_, Request::kNone) == Request::kRead);
  if (seen_ == lock) return;
  seen_ = lock;
  seen_since_ = now;
}

void Leadership::OnClaimed(int64_t term) {
  MUSTER_CHECK(std::exchange(in_flight_, Request::kNone) == Request::kClaim);
  stage_ = Stage::kLeading;
  term_ = term;
  leads_until_ = sent_ + limits_.lease;
}

void Leadership::OnRenewed() {
  MUSTER_CHECK(std::exchange(in_flight_, Request::kNone) == Request::kRenew);
  leads_until_ = sent_ + limits_.lease;
}

void Leadership::OnRefused() {
  in_flight_ = Request::kNone;
  seen_.reset();
  if (stage_ == Stage::kLeading) stage_ = Stage::kOver;
}

void Leadership::OnFailed(Instant now) {
  // A claim that failed may still have been carried out by the store, so the
  // lock must be read again.
  if (std::exchange(in_flight_, Request::kNone) == Request::kClaim) {
    seen_.reset();
  }
  due_ = std::max(due_, now);
}

}  // namespace muster::rendezvous
