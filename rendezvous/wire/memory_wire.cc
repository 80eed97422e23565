#include "rendezvous/wire/memory_wire.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "proto/admin.pb.h"
#include "proto/journal.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/report_wire.h"

namespace muster::rendezvous {
namespace {

void FromWire(int wire, BoundedReader* reader, HostState* state) {
  int value = 0;
  reader->Integer("state", wire, 0, static_cast<int>(HostState::kFreed),
                  &value);
  *state = static_cast<HostState>(value);
}

void Name(const char* field, const std::string& value, BoundedReader* reader,
          std::string* out) {
  reader->Text(field, value, kMaxNameBytes, TextKind::kName, out);
}

void Words(const char* field, const std::string& value, BoundedReader* reader,
           std::string* out) {
  reader->Text(field, value, kMaxFaultBytes, TextKind::kWords, out);
}

void Time(const char* field, int64_t wire, BoundedReader* reader,
          Duration* time) {
  int64_t nanoseconds = 0;
  reader->Integer64(field, wire, 0, &nanoseconds);
  *time = Duration(nanoseconds);
}

void ToWire(const NodeMemory::Kept::Fault& kept, v1::NodeMemory::Fault* wire) {
  const HostFault& fault = kept.fault;
  wire->set_kind(static_cast<int>(fault.kind));
  wire->set_run_id(fault.run_id);
  wire->set_rank(fault.rank);
  wire->set_signature(fault.signature);
  wire->set_text(fault.text);
  wire->set_incarnation(fault.incarnation);
  wire->set_ordinal(fault.ordinal);
  wire->set_at(kept.when.count());
  wire->set_is_void(kept.is_void);
}

void FromWire(const v1::NodeMemory::Fault& wire, const HostKey& key,
              BoundedReader* reader, NodeMemory::Kept::Fault* kept) {
  HostFault& fault = kept->fault;
  fault.host = key;
  muster::rendezvous::FromWire(wire.kind(), reader, &fault.kind);
  Name("run_id", wire.run_id(), reader, &fault.run_id);
  reader->Integer("rank", wire.rank(), -1, kAnyInt32, &fault.rank);
  Words("signature", wire.signature(), reader, &fault.signature);
  Words("text", wire.text(), reader, &fault.text);
  fault.incarnation = wire.incarnation();
  fault.ordinal = wire.ordinal();
  Time("at", wire.at(), reader, &kept->when);
  kept->is_void = wire.is_void();
}

void FromWire(const v1::NodeMemory::Host& wire, BoundedReader* reader,
              NodeMemory::Kept::Host* host) {
  Name("host", wire.host(), reader, &host->key.host);
  Name("ip", wire.ip(), reader, &host->key.ip);
  FromWire(wire.state(), reader, &host->state);
  Time("ordered_at", wire.ordered_at(), reader, &host->ordered_at);
  Words("order", wire.order(), reader, &host->order);
  if (!reader->Count("faults", wire.faults_size(), NodeMemory::kMaxFaults)) {
    return;
  }
  host->faults.resize(wire.faults_size());
  for (int i = 0; i < wire.faults_size(); ++i) {
    BoundedReader::Within within(reader, "faults", i);
    FromWire(wire.faults(i), host->key, reader, &host->faults[i]);
  }
}

}  // namespace

std::string ToBytes(const NodeMemory::Kept& kept) {
  v1::NodeMemory wire;
  for (const NodeMemory::Kept::Host& host : kept.hosts) {
    v1::NodeMemory::Host* const to = wire.add_hosts();
    to->set_host(host.key.host);
    to->set_ip(host.key.ip);
    to->set_state(static_cast<int>(host.state));
    to->set_ordered_at(host.ordered_at.count());
    to->set_order(host.order);
    for (const NodeMemory::Kept::Fault& fault : host.faults) {
      ToWire(fault, to->add_faults());
    }
  }
  return wire.SerializeAsString();
}

absl::StatusOr<NodeMemory::Kept> MemoryFromBytes(const std::string& bytes) {
  v1::NodeMemory wire;
  if (!wire.ParseFromString(bytes)) {
    return absl::DataLossError("the memory of the nodes is damaged");
  }
  NodeMemory::Kept kept;
  BoundedReader reader("memory");
  if (reader.Count("hosts", wire.hosts_size(), NodeMemory::kMaxHosts)) {
    kept.hosts.resize(wire.hosts_size());
    for (int i = 0; i < wire.hosts_size(); ++i) {
      BoundedReader::Within within(&reader, "hosts", i);
      FromWire(wire.hosts(i), &reader, &kept.hosts[i]);
    }
  }
  if (!reader.status().ok()) return reader.status();
  return kept;
}

void ToWire(const HostJudgement& judgement, v1::Judgement* wire) {
  wire->set_state(static_cast<int>(judgement.state));
  wire->set_score(judgement.score);
  wire->set_reason(judgement.reason);
}

void FromWire(const v1::Judgement& wire, BoundedReader* reader,
              HostJudgement* judgement) {
  FromWire(wire.state(), reader, &judgement->state);
  judgement->score = std::isfinite(wire.score()) ? wire.score() : 0;
  Words("reason", wire.reason(), reader, &judgement->reason);
}

void ToWire(const HostStatus& status, v1::HostStatus* wire) {
  wire->set_host(status.key.host);
  wire->set_ip(status.key.ip);
  ToWire(status.judgement, wire->mutable_judgement());
  wire->set_run_id(status.run_id);
  wire->set_faults(status.faults);
  wire->set_age(status.age.count());
}

absl::Status FromWire(const v1::HostStatus& wire, HostStatus* status) {
  BoundedReader reader("node");
  Name("host", wire.host(), &reader, &status->key.host);
  Name("ip", wire.ip(), &reader, &status->key.ip);
  FromWire(wire.judgement(), &reader, &status->judgement);
  Name("run_id", wire.run_id(), &reader, &status->run_id);
  reader.Integer("faults", wire.faults(), 0, kAnyInt32, &status->faults);
  Time("age", wire.age(), &reader, &status->age);
  return reader.status();
}

}  // namespace muster::rendezvous
