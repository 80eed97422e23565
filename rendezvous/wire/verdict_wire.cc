#include "rendezvous/wire/verdict_wire.h"

#include <algorithm>

#include "proto/coordinator.pb.h"
#include "rendezvous/wire/bounds.h"
#include "rendezvous/wire/failure_wire.h"

namespace muster::rendezvous {
namespace {

v1::Verdict::Outcome ToWire(Outcome outcome) {
  switch (outcome) {
    case Outcome::kSucceeded:
      return v1::Verdict::SUCCEEDED;
    case Outcome::kFailed:
      return v1::Verdict::FAILED;
    case Outcome::kCancelled:
      return v1::Verdict::CANCELLED;
    case Outcome::kTimedOut:
      return v1::Verdict::TIMED_OUT;
    case Outcome::kPreempted:
      return v1::Verdict::PREEMPTED;
  }
  return v1::Verdict::OUTCOME_UNSPECIFIED;
}

void FromWire(v1::Verdict::Outcome wire, BoundedReader* reader,
              Outcome* outcome) {
  switch (wire) {
    case v1::Verdict::SUCCEEDED:
      *outcome = Outcome::kSucceeded;
      return;
    case v1::Verdict::FAILED:
      *outcome = Outcome::kFailed;
      return;
    case v1::Verdict::CANCELLED:
      *outcome = Outcome::kCancelled;
      return;
    case v1::Verdict::TIMED_OUT:
      *outcome = Outcome::kTimedOut;
      return;
    case v1::Verdict::PREEMPTED:
      *outcome = Outcome::kPreempted;
      return;
    default:
      reader->Unknown("outcome", wire);
  }
}

}  // namespace

void ToWire(const Verdict& verdict, v1::Verdict* wire) {
  wire->set_outcome(ToWire(verdict.outcome));
  wire->set_exit_code(verdict.exit_code);
  wire->set_reason(verdict.reason.substr(0, kMaxReasonBytes));
  if (verdict.cause.has_value()) ToWire(*verdict.cause, wire->mutable_cause());
  const int known = static_cast<int>(verdict.collateral.size());
  const int sent = std::min(known, kMaxCollateral);
  for (int i = 0; i < sent; ++i) {
    ToWire(verdict.collateral[i], wire->add_collateral());
  }
  wire->set_collateral_omitted(verdict.collateral_omitted + known - sent);
  wire->set_restarts_used(verdict.restarts_used);
  wire->set_max_restarts(verdict.max_restarts);
  wire->set_rounds(verdict.rounds);
  wire->set_lasted(verdict.lasted.count());
}

void FromWire(const v1::Verdict& wire, BoundedReader* reader,
              Verdict* verdict) {
  FromWire(wire.outcome(), reader, &verdict->outcome);
  reader->Integer("exit_code", wire.exit_code(), 0, kMaxExitCode,
                  &verdict->exit_code);
  reader->Text("reason", wire.reason(), kMaxReasonBytes, TextKind::kWords,
               &verdict->reason);
  if (wire.has_cause()) {
    BoundedReader::Within within(reader, "cause");
    FromWire(wire.cause(), reader, &verdict->cause.emplace());
  }
  const int collateral = wire.collateral_size();
  if (reader->Count("collateral", collateral, kMaxCollateral)) {
    verdict->collateral.resize(collateral);
    for (int i = 0; i < collateral; ++i) {
      BoundedReader::Within within(reader, "collateral", i);
      FromWire(wire.collateral(i), reader, &verdict->collateral[i]);
    }
  }
  reader->Integer("collateral_omitted", wire.collateral_omitted(), 0, kAnyInt32,
                  &verdict->collateral_omitted);
  reader->Integer("restarts_used", wire.restarts_used(), 0, kAnyInt32,
                  &verdict->restarts_used);
  reader->Integer("max_restarts", wire.max_restarts(), 0, kAnyInt32,
                  &verdict->max_restarts);
  reader->Integer("rounds", wire.rounds(), 0, kAnyInt32, &verdict->rounds);
  int64_t lasted = 0;
  // Not Span, because a job may run for more than a year.
  reader->Integer64("lasted", wire.lasted(), 0, &lasted);
  verdict->lasted = Duration(lasted);
}

}  // namespace muster::rendezvous
