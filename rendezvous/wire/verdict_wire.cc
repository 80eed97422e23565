#include "rendezvous/wire/verdict_wire.h"

#include <algorithm>
#include <cmath>

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/time_wire.h"

namespace muster::rendezvous {
namespace {

// The end of the year 9999 in seconds since 1970: the latest date that can be
// displayed.
constexpr double kLatestUnixTime = 253402300799.0;

v1::Failure::Kind ToWire(FailureKind kind) {
  switch (kind) {
    case FailureKind::kExitCode:
      return v1::Failure::EXIT_CODE;
    case FailureKind::kSignal:
      return v1::Failure::SIGNAL;
    case FailureKind::kStartFailed:
      return v1::Failure::START_FAILED;
    case FailureKind::kStoppedByUs:
      return v1::Failure::STOPPED_BY_US;
    case FailureKind::kNodeLost:
      return v1::Failure::NODE_LOST;
    case FailureKind::kHung:
      return v1::Failure::HUNG;
  }
  return v1::Failure::KIND_UNSPECIFIED;
}

void FromWire(v1::Failure::Kind wire, BoundedReader* reader,
              FailureKind* kind) {
  switch (wire) {
    case v1::Failure::EXIT_CODE:
      *kind = FailureKind::kExitCode;
      return;
    case v1::Failure::SIGNAL:
      *kind = FailureKind::kSignal;
      return;
    case v1::Failure::START_FAILED:
      *kind = FailureKind::kStartFailed;
      return;
    case v1::Failure::STOPPED_BY_US:
      *kind = FailureKind::kStoppedByUs;
      return;
    case v1::Failure::NODE_LOST:
      *kind = FailureKind::kNodeLost;
      return;
    case v1::Failure::HUNG:
      *kind = FailureKind::kHung;
      return;
    default:
      reader->Unknown("kind", wire);
  }
}

using WireLines = google::protobuf::RepeatedPtrField<std::string>;

void FromWire(const char* field, const WireLines& wire, int most,
              BoundedReader* reader, std::vector<std::string>* lines) {
  if (!reader->Count(field, wire.size(), most)) return;
  lines->resize(wire.size());
  for (int i = 0; i < wire.size(); ++i) {
    reader->Text(field, wire[i], kMaxLineBytes, TextKind::kWords, &(*lines)[i]);
  }
}

std::string Cut(const std::string& text, size_t most) {
  return text.size() <= most ? text : text.substr(0, most);
}

}  // namespace

void ToWire(const Failure& failure, v1::Failure* wire) {
  wire->set_kind(ToWire(failure.kind));
  wire->set_node_id(failure.node_id);
  wire->set_host(failure.host);
  wire->set_group_rank(failure.group_rank);
  wire->set_rank(failure.rank);
  wire->set_local_rank(failure.local_rank);
  wire->set_pid(failure.pid);
  wire->set_exit_code(failure.exit_code);
  wire->set_signal(failure.signal);
  wire->set_unix_time(failure.unix_time);
  wire->set_message(Cut(failure.message, kMaxLineBytes));
  wire->set_error_file(Cut(failure.error_file, kMaxPathBytes));
  wire->set_traceback(Cut(failure.traceback, kMaxTracebackBytes));
  const size_t lines = failure.stderr_tail.size();
  const size_t most = kMaxStderrLines;
  // If stderr_tail has too many lines, keep the last ones, because a worker
  // usually prints its error last.
  for (size_t i = lines - std::min(lines, most); i < lines; ++i) {
    wire->add_stderr_tail(Cut(failure.stderr_tail[i], kMaxLineBytes));
  }
  wire->set_raised_first(failure.raised_first);
  wire->set_silent_for(failure.silent_for.count());
  // If the stack has too many frames, keep the innermost ones, which come
  // first. They show where the worker was.
  const size_t frames = failure.stack.size();
  for (size_t i = 0; i < std::min<size_t>(frames, kMaxStackLines); ++i) {
    wire->add_stack(Cut(failure.stack[i], kMaxLineBytes));
  }
}

void FromWire(const v1::Failure& wire, BoundedReader* reader,
              Failure* failure) {
  FromWire(wire.kind(), reader, &failure->kind);
  reader->Text("node_id", wire.node_id(), kMaxNameBytes, TextKind::kName,
               &failure->node_id);
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &failure->host);
  reader->Integer("group_rank", wire.group_rank(), -1, kAnyInt32,
                  &failure->group_rank);
  reader->Integer("rank", wire.rank(), -1, kAnyInt32, &failure->rank);
  reader->Integer("local_rank", wire.local_rank(), -1, kAnyInt32,
                  &failure->local_rank);
  reader->Integer64("pid", wire.pid(), 0, &failure->pid);
  reader->Integer("exit_code", wire.exit_code(), 0, kMaxExitCode,
                  &failure->exit_code);
  reader->Integer("signal", wire.signal(), 0, kMaxSignal, &failure->signal);
  failure->unix_time = std::isfinite(wire.unix_time())
                           ? std::clamp(wire.unix_time(), 0.0, kLatestUnixTime)
                           : 0.0;
  reader->Text("message", wire.message(), kMaxLineBytes, TextKind::kWords,
               &failure->message);
  reader->Text("error_file", wire.error_file(), kMaxPathBytes, TextKind::kWords,
               &failure->error_file);
  reader->Text("traceback", wire.traceback(), kMaxTracebackBytes,
               TextKind::kWords, &failure->traceback);
  FromWire("stderr_tail", wire.stderr_tail(), kMaxStderrLines, reader,
           &failure->stderr_tail);
  failure->raised_first = wire.raised_first();
  reader->Span("silent_for", wire.silent_for(), &failure->silent_for);
  FromWire("stack", wire.stack(), kMaxStackLines, reader, &failure->stack);
}

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
  ToWire(verdict.time, wire->mutable_time());
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
  // Do not use BoundedReader::Span, which refuses a duration of more than one
  // year: a job may run longer.
  reader->Integer64("lasted", wire.lasted(), 0, &lasted);
  verdict->lasted = Duration(lasted);
  BoundedReader::Within within(reader, "time");
  FromWire(wire.time(), reader, &verdict->time);
}

}  // namespace muster::rendezvous
