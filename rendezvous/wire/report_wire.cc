#include "rendezvous/wire/report_wire.h"

#include <algorithm>

#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounds.h"
#include "rendezvous/wire/failure_wire.h"
#include "rendezvous/wire/node_state_wire.h"
#include "rendezvous/wire/progress_wire.h"
#include "rendezvous/wire/spec_wire.h"

namespace muster::rendezvous {

void ToWire(const std::vector<SignalNotice>& signals, WireSignals* wire) {
  const size_t most = kMaxSignalNotices;
  for (size_t i = signals.size() - std::min(signals.size(), most);
       i < signals.size(); ++i) {
    v1::SignalNotice* notice = wire->Add();
    notice->set_ordinal(signals[i].ordinal);
    notice->set_signal(signals[i].signal);
  }
}

void FromWire(const WireSignals& wire, BoundedReader* reader,
              std::vector<SignalNotice>* signals) {
  if (!reader->Count("signals", wire.size(), kMaxSignalNotices)) return;
  signals->resize(wire.size());
  for (int i = 0; i < wire.size(); ++i) {
    BoundedReader::Within within(reader, "signals", i);
    (*signals)[i].ordinal = wire[i].ordinal();
    reader->Integer("signal", wire[i].signal(), 1, kMaxSignal,
                    &(*signals)[i].signal);
  }
}

void ToWire(const NodeIdentity& node, v1::NodeIdentity* wire) {
  wire->set_node_id(node.node_id);
  wire->set_incarnation(node.incarnation);
  wire->set_host(node.host);
  wire->set_address(node.address);
  wire->set_pid(node.pid);
  wire->set_slots(node.slots);
  if (node.node_rank.has_value()) wire->set_node_rank(*node.node_rank);
  if (node.index.has_value()) wire->set_index(*node.index);
  for (const std::string& key : node.topology) wire->add_topology(key);
  wire->set_role(node.role);
  wire->set_binding(node.binding);
}

void FromWire(const v1::NodeIdentity& wire, BoundedReader* reader,
              NodeIdentity* node) {
  reader->Text("node_id", wire.node_id(), kMaxNameBytes, TextKind::kName,
               &node->node_id);
  node->incarnation = wire.incarnation();
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &node->host);
  reader->Text("address", wire.address(), kMaxNameBytes, TextKind::kName,
               &node->address);
  reader->Integer64("pid", wire.pid(), 0, &node->pid);
  reader->Integer("slots", wire.slots(), 0, kMaxSlots, &node->slots);
  if (wire.has_node_rank()) {
    reader->Integer("node_rank", wire.node_rank(), 0, kAnyInt32,
                    &node->node_rank.emplace());
  }
  if (wire.has_index()) {
    reader->Integer("index", wire.index(), 0, kAnyInt32,
                    &node->index.emplace());
  }
  const int keys = wire.topology_size();
  if (reader->Count("topology", keys, kMaxTopologyKeys)) {
    node->topology.resize(keys);
    for (int i = 0; i < keys; ++i) {
      reader->Text("topology", wire.topology(i), kMaxNameBytes, TextKind::kName,
                   &node->topology[i]);
    }
  }
  reader->Text("role", wire.role(), kMaxNameBytes, TextKind::kName,
               &node->role);
  reader->Text("binding", wire.binding(), kMaxBindingBytes, TextKind::kName,
               &node->binding);
}

void ToWire(const Report& report, v1::Report* wire) {
  wire->set_protocol_version(report.protocol_version);
  wire->set_run_id(report.run_id);
  ToWire(report.node, wire->mutable_node());
  wire->set_sequence(report.sequence);
  wire->set_seen_epoch(report.seen_epoch);
  wire->set_seen_revision(report.seen_revision);
  ToWire(report.spec, wire->mutable_spec());
  wire->set_phase(static_cast<v1::NodePhase>(ToWire(report.phase)));
  wire->set_round(report.round);
  wire->set_run_tag(report.run_tag);
  const size_t failures =
      std::min<size_t>(report.failures.size(), kMaxFailuresPerReport);
  // Keep the first failures, since the cause may be among them.
  for (size_t i = 0; i < failures; ++i) {
    ToWire(report.failures[i], wire->add_failures());
  }
  wire->set_nccl_root_lost(report.nccl_root_lost.substr(0, kMaxLineBytes));
  wire->set_offered_master_port(report.offered_master_port);
  wire->set_offered_nccl_id(report.offered_nccl_id);
  if (report.leave.has_value()) wire->set_leave(*report.leave);
  if (report.cancel.has_value()) {
    wire->mutable_cancel()->set_signal(report.cancel->signal);
    wire->mutable_cancel()->set_at_once(report.cancel->at_once);
  }
  ToWire(report.signals, wire->mutable_signals());
  if (report.preemption.has_value()) {
    ToWire(*report.preemption, wire->mutable_preemption());
  }
  wire->set_waits_for_place(report.waits_for_place);
  wire->set_health(static_cast<v1::Health>(ToWire(report.health)));
  wire->set_unhealthy(report.unhealthy.substr(0, kMaxLineBytes));
  ToWire(report.progress, wire->mutable_progress());
}

absl::Status FromWire(const v1::Report& wire, Report* report) {
  report->protocol_version = wire.protocol_version();
  if (report->protocol_version != kProtocolVersion) return absl::OkStatus();
  BoundedReader reader("report");
  reader.Text("run_id", wire.run_id(), kMaxNameBytes, TextKind::kName,
              &report->run_id);
  reader.Present("node", wire.has_node());
  {
    BoundedReader::Within within(&reader, "node");
    FromWire(wire.node(), &reader, &report->node);
  }
  report->sequence = wire.sequence();
  report->seen_epoch = wire.seen_epoch();
  report->seen_revision = wire.seen_revision();
  reader.Present("spec", wire.has_spec());
  {
    BoundedReader::Within within(&reader, "spec");
    FromWire(wire.spec(), &reader, &report->spec);
  }
  FromWire(wire.phase(), &reader, &report->phase);
  reader.Integer("round", wire.round(), 0, kAnyInt32, &report->round);
  reader.Text("run_tag", wire.run_tag(), kMaxRunTagBytes, TextKind::kName,
              &report->run_tag);
  const int failures = wire.failures_size();
  if (reader.Count("failures", failures, kMaxFailuresPerReport)) {
    report->failures.resize(failures);
    for (int i = 0; i < failures; ++i) {
      BoundedReader::Within within(&reader, "failures", i);
      FromWire(wire.failures(i), &reader, &report->failures[i]);
    }
  }
  reader.Text("nccl_root_lost", wire.nccl_root_lost(), kMaxLineBytes,
              TextKind::kWords, &report->nccl_root_lost);
  reader.Integer("offered_master_port", wire.offered_master_port(), 0, kMaxPort,
                 &report->offered_master_port);
  reader.Text("offered_nccl_id", wire.offered_nccl_id(), kMaxNcclIdBytes,
              TextKind::kName, &report->offered_nccl_id);
  if (wire.has_leave()) {
    reader.Text("leave", wire.leave(), kMaxReasonBytes, TextKind::kWords,
                &report->leave.emplace());
  }
  if (wire.has_cancel()) {
    CancelWish& wish = report->cancel.emplace();
    wish.at_once = wire.cancel().at_once();
    reader.Integer("cancel.signal", wire.cancel().signal(), 0, kMaxSignal,
                   &wish.signal);
  }
  FromWire(wire.signals(), &reader, &report->signals);
  if (wire.has_preemption()) {
    BoundedReader::Within within(&reader, "preemption");
    FromWire(wire.preemption(), &reader, &report->preemption.emplace());
  }
  report->waits_for_place = wire.waits_for_place();
  FromWire(wire.health(), &reader, &report->health);
  reader.Text("unhealthy", wire.unhealthy(), kMaxLineBytes, TextKind::kWords,
              &report->unhealthy);
  FromWire(wire.progress(), &reader, &report->progress);
  return reader.status();
}

}  // namespace muster::rendezvous
