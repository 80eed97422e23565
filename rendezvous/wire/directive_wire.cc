#include "rendezvous/wire/directive_wire.h"

#include "base/channel_key.h"
#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/report_wire.h"
#include "rendezvous/wire/verdict_wire.h"

namespace muster::rendezvous {
namespace {

v1::Directive::Kind ToWire(DirectiveKind kind) {
  switch (kind) {
    case DirectiveKind::kWait:
      return v1::Directive::WAIT;
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

void ToWire(const Place& place, v1::Place* wire) {
  wire->set_round(place.round);
  wire->set_group_rank(place.group_rank);
  wire->set_group_world_size(place.group_world_size);
  wire->set_first_rank(place.first_rank);
  wire->set_world_size(place.world_size);
  wire->set_role_first_rank(place.role_first_rank);
  wire->set_role_world_size(place.role_world_size);
  wire->set_restart_count(place.restart_count);
  wire->set_master_address(place.master_address);
  wire->set_master_port(place.master_port);
  wire->set_nccl_id(place.nccl_id);
  wire->set_run_tag(place.run_tag);
  for (const std::string& address : place.store_clients) {
    wire->add_store_clients(address);
  }
  wire->set_channel_key(place.channel_key);
}

void FromWire(const v1::Place& wire, BoundedReader* reader, Place* place) {
  reader->Integer("round", wire.round(), 0, kAnyInt32, &place->round);
  reader->Integer("group_rank", wire.group_rank(), 0, kAnyInt32,
                  &place->group_rank);
  reader->Integer("group_world_size", wire.group_world_size(), 1, kAnyInt32,
                  &place->group_world_size);
  reader->Integer("first_rank", wire.first_rank(), 0, kAnyInt32,
                  &place->first_rank);
  reader->Integer("world_size", wire.world_size(), 1, kAnyInt32,
                  &place->world_size);
  reader->Integer("role_first_rank", wire.role_first_rank(), 0, kAnyInt32,
                  &place->role_first_rank);
  reader->Integer("role_world_size", wire.role_world_size(), 0, kAnyInt32,
                  &place->role_world_size);
  reader->Integer("restart_count", wire.restart_count(), 0, kAnyInt32,
                  &place->restart_count);
  reader->Text("master_address", wire.master_address(), kMaxNameBytes,
               TextKind::kName, &place->master_address);
  reader->Integer("master_port", wire.master_port(), 0, kMaxPort,
                  &place->master_port);
  reader->Text("nccl_id", wire.nccl_id(), kMaxNcclIdBytes, TextKind::kName,
               &place->nccl_id);
  reader->Text("run_tag", wire.run_tag(), kMaxRunTagBytes, TextKind::kName,
               &place->run_tag);
  reader->Text("channel_key", wire.channel_key(), kChannelKeyBytes,
               TextKind::kWords, &place->channel_key);
  const int clients = wire.store_clients_size();
  if (reader->Count("store_clients", clients, kMaxStoreClients)) {
    place->store_clients.resize(clients);
    for (int i = 0; i < clients; ++i) {
      reader->Text("store_clients", wire.store_clients(i), kMaxNameBytes,
                   TextKind::kName, &place->store_clients[i]);
    }
  }
}

void ToWire(const StopOrder& stop, v1::StopOrder* wire) {
  wire->set_round(stop.round);
  wire->set_signal(stop.signal);
  wire->set_grace(stop.grace.count());
  switch (stop.cause) {
    case StopCause::kBroken:
      wire->set_cause(v1::StopOrder::BROKEN);
      break;
    case StopCause::kAsked:
      wire->set_cause(v1::StopOrder::ASKED);
      break;
    case StopCause::kCancelled:
      wire->set_cause(v1::StopOrder::CANCELLED);
      break;
  }
}

void FromWire(const v1::StopOrder& wire, BoundedReader* reader,
              StopOrder* stop) {
  reader->Integer("round", wire.round(), 0, kAnyInt32, &stop->round);
  reader->Integer("signal", wire.signal(), 0, kMaxSignal, &stop->signal);
  reader->Span("grace", wire.grace(), &stop->grace);
  switch (wire.cause()) {
    case v1::StopOrder::BROKEN:
      stop->cause = StopCause::kBroken;
      return;
    case v1::StopOrder::ASKED:
      stop->cause = StopCause::kAsked;
      return;
    case v1::StopOrder::CANCELLED:
      stop->cause = StopCause::kCancelled;
      return;
    default:
      reader->Unknown("cause", wire.cause());
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
  if (directive.kind == DirectiveKind::kRun) {
    ToWire(directive.place, wire->mutable_place());
    ToWire(directive.signals, wire->mutable_signals());
  }
  const bool to_members = directive.kind == DirectiveKind::kRun ||
                          directive.kind == DirectiveKind::kStop;
  if (to_members && directive.preemption.has_value()) {
    ToWire(*directive.preemption, wire->mutable_preemption());
  }
  if (IsPrinted(directive.kind)) {
    wire->set_prints_for_job(directive.prints_for_job);
  }
  if (Stops(directive.kind)) ToWire(directive.stop, wire->mutable_stop());
  if (directive.kind == DirectiveKind::kRefused) {
    wire->set_another_job(directive.another_job);
  }
  if (directive.kind == DirectiveKind::kFinished) {
    ToWire(directive.verdict, wire->mutable_verdict());
    wire->set_acts_for_job(directive.acts_for_job);
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
  directive->acts_for_job = wire.acts_for_job();
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
