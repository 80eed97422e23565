#include "rendezvous/wire/directive_wire.h"

#include <algorithm>

#include "base/channel_key.h"
#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/time_ledger.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/inquiry_wire.h"
#include "rendezvous/wire/report_wire.h"
#include "rendezvous/wire/time_wire.h"
#include "rendezvous/wire/verdict_wire.h"

namespace muster::rendezvous {
namespace {

v1::Directive::Kind ToWire(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::kWait:
      return v1::Directive::WAIT;
    case DirectiveKind::kHold:
      return v1::Directive::HOLD;
    case DirectiveKind::kStandBy:
      return v1::Directive::STAND_BY;
    case DirectiveKind::kMoved:
      return v1::Directive::MOVED;
    case DirectiveKind::kRun:
      return v1::Directive::RUN;
    case DirectiveKind::kStop:
      return v1::Directive::STOP;
    case DirectiveKind::kFinished:
      return v1::Directive::FINISHED;
    case DirectiveKind::kReleased:
      return v1::Directive::RELEASED;
    case DirectiveKind::kRefused:
      return v1::Directive::REFUSED;
  }
  return v1::Directive::KIND_UNSPECIFIED;
}

void FromWire(v1::Directive::Kind wire, BoundedReader* reader,
              DirectiveKind* kind) {
  switch (wire) {
    case v1::Directive::WAIT:
      *kind = DirectiveKind::kWait;
      return;
    case v1::Directive::HOLD:
      *kind = DirectiveKind::kHold;
      return;
    case v1::Directive::STAND_BY:
      *kind = DirectiveKind::kStandBy;
      return;
    case v1::Directive::MOVED:
      *kind = DirectiveKind::kMoved;
      return;
    case v1::Directive::RUN:
      *kind = DirectiveKind::kRun;
      return;
    case v1::Directive::STOP:
      *kind = DirectiveKind::kStop;
      return;
    case v1::Directive::FINISHED:
      *kind = DirectiveKind::kFinished;
      return;
    case v1::Directive::RELEASED:
      *kind = DirectiveKind::kReleased;
      return;
    case v1::Directive::REFUSED:
      *kind = DirectiveKind::kRefused;
      return;
    default:
      reader->Unknown("kind", wire);
  }
}

void ToWire(const StopOrder& stop, v1::StopOrder* wire) {
  wire->set_round(stop.round);
  wire->set_signal(stop.signal);
  wire->set_grace(stop.grace.count());
  if (stop.exit_code.has_value()) wire->set_exit_code(*stop.exit_code);
  wire->set_cancelled(stop.cancelled);
  wire->set_cause(static_cast<v1::StopOrder::Cause>(ToWire(stop.cause)));
}

void FromWire(const v1::StopOrder& wire, BoundedReader* reader,
              StopOrder* stop) {
  reader->Integer("round", wire.round(), 0, kAnyInt32, &stop->round);
  reader->Integer("signal", wire.signal(), 0, kMaxSignal, &stop->signal);
  reader->Span("grace", wire.grace(), &stop->grace);
  FromWire(wire.cause(), reader, &stop->cause);
  stop->cancelled = wire.cancelled();
  if (wire.has_exit_code()) {
    reader->Integer("exit_code", wire.exit_code(), 0, kMaxExitCode,
                    &stop->exit_code.emplace());
  }
}

void ToWire(const PairCheck& check, v1::PairCheck* wire) {
  wire->set_number(check.number);
  wire->set_connects(check.role == PairCheck::Role::kConnect);
  wire->set_partner(check.partner);
  wire->set_address(check.address);
  wire->set_port(check.port);
  wire->set_key(check.key);
  wire->set_gpus(check.gpus);
}

void FromWire(const v1::PairCheck& wire, BoundedReader* reader,
              PairCheck* check) {
  check->number = wire.number();
  check->role =
      wire.connects() ? PairCheck::Role::kConnect : PairCheck::Role::kServe;
  reader->Text("partner", wire.partner(), kMaxNameBytes, TextKind::kName,
               &check->partner);
  reader->Text("address", wire.address(), kMaxNameBytes, TextKind::kName,
               &check->address);
  reader->Integer("port", wire.port(), 0, kMaxPort, &check->port);
  reader->Text("key", wire.key(), kChannelKeyBytes, TextKind::kWords,
               &check->key);
  reader->Integer("gpus", wire.gpus(), 0, kMaxSlots, &check->gpus);
}

void ToWire(const Handover& handover, v1::Handover* wire) {
  for (const Handover::Released& agent : handover.released) {
    v1::Handover::Released* const to = wire->add_released();
    to->set_node_id(agent.node_id);
    to->set_incarnation(agent.incarnation);
  }
  for (const Incident& incident : handover.incidents) {
    ToWire(incident, wire->add_incidents());
  }
  wire->set_check_is_due(handover.check_is_due);
  wire->set_machines(handover.machines);
  wire->set_number(handover.number);
}

void FromWire(const v1::Handover& wire, BoundedReader* reader,
              Handover* handover) {
  reader->Text("machines", wire.machines(), Handover::kMaxMachinesBytes,
               TextKind::kWords, &handover->machines);
  handover->number = wire.number();
  handover->check_is_due = wire.check_is_due();
  if (reader->Count("incidents", wire.incidents_size(), kMaxIncidents)) {
    handover->incidents.resize(wire.incidents_size());
    for (int i = 0; i < wire.incidents_size(); ++i) {
      BoundedReader::Within within(reader, "incidents", i);
      FromWire(wire.incidents(i), reader, &handover->incidents[i]);
    }
  }
  if (!reader->Count("released", wire.released_size(),
                     Handover::kMaxReleased)) {
    return;
  }
  handover->released.resize(wire.released_size());
  for (int i = 0; i < wire.released_size(); ++i) {
    BoundedReader::Within within(reader, "released", i);
    reader->Text("node_id", wire.released(i).node_id(), kMaxNameBytes,
                 TextKind::kName, &handover->released[i].node_id);
    handover->released[i].incarnation = wire.released(i).incarnation();
  }
}

bool Stops(DirectiveKind kind) {
  return kind == DirectiveKind::kStop || kind == DirectiveKind::kFinished ||
         kind == DirectiveKind::kReleased || kind == DirectiveKind::kRefused;
}

bool IsPrinted(DirectiveKind kind) {
  return kind == DirectiveKind::kWait || kind == DirectiveKind::kRun ||
         kind == DirectiveKind::kStop;
}

}  // namespace

void ToWire(const Directive& directive, v1::Directive* wire) {
  wire->set_protocol_version(directive.protocol_version);
  wire->set_epoch(directive.epoch);
  wire->set_revision(directive.revision);
  wire->set_kind(ToWire(directive.kind));
  if (directive.reason.size() <= kMaxReasonBytes) {
    wire->set_reason(directive.reason);
  } else {
    wire->set_reason(directive.reason.substr(0, kMaxReasonBytes));
  }
  if (directive.kind == DirectiveKind::kWait) {
    wire->set_waits_for(directive.waits_for == WaitsFor::kPlace
                            ? v1::Directive::PLACE
                            : v1::Directive::NODES);
  }
  if (directive.kind == DirectiveKind::kRun) {
    ToWire(directive.place, wire->mutable_place());
    wire->set_answered_report(directive.answered_report);
    ToWire(directive.signals, wire->mutable_signals());
  }
  const bool to_members = directive.kind == DirectiveKind::kRun ||
                          directive.kind == DirectiveKind::kStop;
  if (to_members && directive.preemption.has_value()) {
    ToWire(*directive.preemption, wire->mutable_preemption());
  }
  if (directive.restarts_used.has_value()) {
    wire->set_restarts_used(*directive.restarts_used);
  }
  wire->set_job_age(directive.job_age.count());
  if (IsPrinted(directive.kind)) {
    wire->set_prints_for_job(directive.prints_for_job);
  }
  ToWire(directive.electorate, wire->mutable_electorate());
  const size_t standbys = std::min(directive.standbys.size(), kMaxStandbys);
  for (size_t i = 0; i < standbys; ++i) {
    wire->add_standbys(directive.standbys[i]);
  }
  if (directive.handover.has_value()) {
    ToWire(*directive.handover, wire->mutable_handover());
  }
  if (directive.host_rank >= 0) wire->set_host_rank(directive.host_rank);
  const size_t inquiries = std::min(directive.inquiries.size(), kMaxInquiries);
  for (size_t i = 0; i < inquiries; ++i) {
    ToWire(directive.inquiries[i], wire->add_inquiries());
  }
  if (directive.kind == DirectiveKind::kWait &&
      directive.pair_check.has_value()) {
    ToWire(*directive.pair_check, wire->mutable_pair_check());
  }
  wire->set_check_fault(directive.check_fault.substr(0, kMaxCheckFaultBytes));
  if (Stops(directive.kind)) ToWire(directive.stop, wire->mutable_stop());
  if (directive.kind == DirectiveKind::kRefused) {
    wire->set_another_job(directive.another_job);
  }
  if (directive.kind == DirectiveKind::kFinished) {
    ToWire(directive.verdict, wire->mutable_verdict());
    wire->set_acts_for_job(directive.acts_for_job);
    wire->set_took_part(directive.took_part);
  }
}

absl::Status FromWire(const v1::Directive& wire, Directive* directive) {
  directive->protocol_version = wire.protocol_version();
  if (directive->protocol_version != kProtocolVersion) return absl::OkStatus();
  BoundedReader reader("directive");
  directive->epoch = wire.epoch();
  directive->revision = wire.revision();
  FromWire(wire.kind(), &reader, &directive->kind);
  reader.Text("reason", wire.reason(), kMaxReasonBytes, TextKind::kWords,
              &directive->reason);
  if (directive->kind == DirectiveKind::kRun) {
    reader.Present("place", wire.has_place());
    BoundedReader::Within within(&reader, "place");
    FromWire(wire.place(), &reader, &directive->place);
  }
  FromWire(wire.signals(), &reader, &directive->signals);
  if (wire.has_preemption()) {
    BoundedReader::Within within(&reader, "preemption");
    FromWire(wire.preemption(), &reader, &directive->preemption.emplace());
  }
  if (wire.has_restarts_used()) {
    reader.Integer("restarts_used", wire.restarts_used(), 0, kAnyInt32,
                   &directive->restarts_used.emplace());
  }
  directive->job_age = AgeFromWire(wire.job_age());
  if (wire.has_electorate()) {
    BoundedReader::Within within(&reader, "electorate");
    FromWire(wire.electorate(), &reader, &directive->electorate);
  }
  if (reader.Count("standbys", wire.standbys_size(), kMaxStandbys)) {
    directive->standbys.resize(wire.standbys_size());
    for (int i = 0; i < wire.standbys_size(); ++i) {
      reader.Text("standbys", wire.standbys(i), kMaxEndpointBytes,
                  TextKind::kName, &directive->standbys[i]);
    }
  }
  if (directive->kind == DirectiveKind::kMoved) {
    reader.Present("standbys", !directive->standbys.empty());
  }
  if (wire.has_handover()) {
    BoundedReader::Within within(&reader, "handover");
    FromWire(wire.handover(), &reader, &directive->handover.emplace());
  }
  if (wire.has_host_rank()) {
    reader.Integer("host_rank", wire.host_rank(), 0, kAnyInt32,
                   &directive->host_rank);
  }
  if (reader.Count("inquiries", wire.inquiries_size(), kMaxInquiries)) {
    directive->inquiries.resize(wire.inquiries_size());
    for (int i = 0; i < wire.inquiries_size(); ++i) {
      BoundedReader::Within within(&reader, "inquiries", i);
      FromWire(wire.inquiries(i), &reader, &directive->inquiries[i]);
    }
  }
  if (wire.has_pair_check()) {
    BoundedReader::Within within(&reader, "pair_check");
    FromWire(wire.pair_check(), &reader, &directive->pair_check.emplace());
  }
  reader.Text("check_fault", wire.check_fault(), kMaxCheckFaultBytes,
              TextKind::kWords, &directive->check_fault);
  directive->waits_for = wire.waits_for() == v1::Directive::PLACE
                             ? WaitsFor::kPlace
                             : WaitsFor::kNodes;
  directive->answered_report = wire.answered_report();
  directive->acts_for_job = wire.acts_for_job();
  directive->took_part = wire.took_part();
  directive->prints_for_job = wire.prints_for_job();
  directive->another_job = wire.another_job();
  if (Stops(directive->kind)) {
    reader.Present("stop", wire.has_stop());
    BoundedReader::Within within(&reader, "stop");
    FromWire(wire.stop(), &reader, &directive->stop);
  }
  if (directive->kind == DirectiveKind::kFinished) {
    reader.Present("verdict", wire.has_verdict());
    BoundedReader::Within within(&reader, "verdict");
    FromWire(wire.verdict(), &reader, &directive->verdict);
  }
  return reader.status();
}

}  // namespace muster::rendezvous
