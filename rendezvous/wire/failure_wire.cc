#include "rendezvous/wire/failure_wire.h"

#include <algorithm>
#include <cmath>

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounds.h"

namespace muster::rendezvous {
namespace {

// The end of the year 9999: the latest date that can be shown.
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
  // Keep the last lines, which are the most informative.
  for (size_t i = lines - std::min(lines, most); i < lines; ++i) {
    wire->add_stderr_tail(Cut(failure.stderr_tail[i], kMaxLineBytes));
  }
  wire->set_raised_first(failure.raised_first);
  wire->set_silent_for(failure.silent_for.count());
  // Keep the first frames, which are the innermost.
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

}  // namespace muster::rendezvous
