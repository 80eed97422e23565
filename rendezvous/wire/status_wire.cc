#include "rendezvous/wire/status_wire.h"

#include <algorithm>

#include "proto/admin.pb.h"
#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/inquiry_wire.h"
#include "rendezvous/wire/memory_wire.h"
#include "rendezvous/wire/report_wire.h"
#include "rendezvous/wire/time_wire.h"
#include "rendezvous/wire/verdict_wire.h"

namespace muster::rendezvous {
namespace {

v1::JobStatus::Phase ToWire(JobPhase phase) {
  switch (phase) {
    case JobPhase::kGathering:
      return v1::JobStatus::GATHERING;
    case JobPhase::kRunning:
      return v1::JobStatus::JOB_RUNNING;
    case JobPhase::kStopping:
      return v1::JobStatus::JOB_STOPPING;
    case JobPhase::kFinished:
      return v1::JobStatus::FINISHED;
  }
  return v1::JobStatus::PHASE_UNSPECIFIED;
}

void FromWire(v1::JobStatus::Phase wire, BoundedReader* reader,
              JobPhase* phase) {
  switch (wire) {
    case v1::JobStatus::GATHERING:
      *phase = JobPhase::kGathering;
      return;
    case v1::JobStatus::JOB_RUNNING:
      *phase = JobPhase::kRunning;
      return;
    case v1::JobStatus::JOB_STOPPING:
      *phase = JobPhase::kStopping;
      return;
    case v1::JobStatus::FINISHED:
      *phase = JobPhase::kFinished;
      return;
    default:
      reader->Unknown("phase", wire);
  }
}

void ToWire(const WorkerTimes& times, v1::WorkerTimes* wire) {
  wire->set_local_rank(times.local_rank);
  wire->set_work(times.work.count());
  wire->set_data(times.data.count());
  wire->set_collectives(times.collectives.count());
  wire->set_wait(times.wait.count());
  wire->set_transfer(times.transfer.count());
}

void FromWire(const v1::WorkerTimes& wire, BoundedReader* reader,
              WorkerTimes* times) {
  reader->Integer("local_rank", wire.local_rank(), 0, kMaxSlots - 1,
                  &times->local_rank);
  const auto read = [reader](const char* field, int64_t value, Duration* time) {
    int64_t nanoseconds = 0;
    reader->Integer64(field, value, 0, &nanoseconds);
    *time = Duration(nanoseconds);
  };
  read("work", wire.work(), &times->work);
  read("data", wire.data(), &times->data);
  read("collectives", wire.collectives(), &times->collectives);
  read("wait", wire.wait(), &times->wait);
  read("transfer", wire.transfer(), &times->transfer);
}

void ToWire(const NodeStatus& node, v1::NodeStatus* wire) {
  muster::rendezvous::ToWire(node.node, wire->mutable_node());
  wire->set_phase(
      static_cast<v1::NodePhase>(muster::rendezvous::ToWire(node.phase)));
  wire->set_round(node.round);
  if (node.group_rank.has_value()) wire->set_group_rank(*node.group_rank);
  wire->set_connected(node.connected);
  wire->set_draining(node.draining);
  wire->set_silent_for(node.silent_for.count());
  ToWire(node.progress, wire->mutable_progress());
  wire->set_health(
      static_cast<v1::Health>(muster::rendezvous::ToWire(node.health)));
  wire->set_unhealthy(node.unhealthy.substr(0, kMaxLineBytes));
  ToWire(node.judgement, wire->mutable_judgement());
  ToWire(node.time, wire->mutable_time());
  for (const WorkerTimes& times : node.times) ToWire(times, wire->add_times());
}

void FromWire(const v1::NodeStatus& wire, BoundedReader* reader,
              NodeStatus* node) {
  muster::rendezvous::FromWire(wire.node(), reader, &node->node);
  muster::rendezvous::FromWire(wire.phase(), reader, &node->phase);
  reader->Integer("round", wire.round(), 0, kAnyInt32, &node->round);
  if (wire.has_group_rank()) {
    reader->Integer("group_rank", wire.group_rank(), 0, kAnyInt32,
                    &node->group_rank.emplace());
  }
  node->connected = wire.connected();
  node->draining = wire.draining();
  int64_t silent_for = 0;
  reader->Integer64("silent_for", wire.silent_for(), 0, &silent_for);
  node->silent_for = Duration(silent_for);
  FromWire(wire.progress(), reader, &node->progress);
  muster::rendezvous::FromWire(wire.health(), reader, &node->health);
  reader->Text("unhealthy", wire.unhealthy(), kMaxLineBytes, TextKind::kWords,
               &node->unhealthy);
  FromWire(wire.judgement(), reader, &node->judgement);
  if (reader->Count("times", wire.times_size(), kMaxProgressPerReport)) {
    node->times.resize(wire.times_size());
    for (int i = 0; i < wire.times_size(); ++i) {
      BoundedReader::Within within(reader, "times", i);
      FromWire(wire.times(i), reader, &node->times[i]);
    }
  }
  BoundedReader::Within within(reader, "time");
  FromWire(wire.time(), reader, &node->time);
}

void ToWire(const SlowRank& slow, v1::SlowRank* wire) {
  wire->set_rank(slow.rank);
  wire->set_node_id(slow.node_id);
  wire->set_host(slow.host);
  wire->set_local_rank(slow.local_rank);
  wire->set_gpu(slow.gpu);
  switch (slow.phase) {
    case SlowPhase::kCompute:
      wire->set_phase(v1::SlowRank::COMPUTE);
      break;
    case SlowPhase::kData:
      wire->set_phase(v1::SlowRank::DATA);
      break;
    case SlowPhase::kNetwork:
      wire->set_phase(v1::SlowRank::NETWORK);
      break;
  }
  wire->set_ratio(slow.ratio);
  wire->set_is_persistent(slow.is_persistent);
  if (slow.max_gain.has_value()) wire->set_max_gain(*slow.max_gain);
}

void FromWire(const v1::SlowRank& wire, BoundedReader* reader, SlowRank* slow) {
  reader->Integer("rank", wire.rank(), 0, kAnyInt32, &slow->rank);
  reader->Text("node_id", wire.node_id(), kMaxNameBytes, TextKind::kName,
               &slow->node_id);
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &slow->host);
  reader->Integer("local_rank", wire.local_rank(), 0, kMaxSlots - 1,
                  &slow->local_rank);
  reader->Text("gpu", wire.gpu(), kMaxGpuNameBytes, TextKind::kName,
               &slow->gpu);
  switch (wire.phase()) {
    case v1::SlowRank::COMPUTE:
      slow->phase = SlowPhase::kCompute;
      break;
    case v1::SlowRank::DATA:
      slow->phase = SlowPhase::kData;
      break;
    case v1::SlowRank::NETWORK:
      slow->phase = SlowPhase::kNetwork;
      break;
    default:
      reader->Unknown("phase", wire.phase());
  }
  slow->ratio = wire.ratio();
  slow->is_persistent = wire.is_persistent();
  if (wire.has_max_gain()) slow->max_gain = wire.max_gain();
}

using WireEndpoints = google::protobuf::RepeatedPtrField<std::string>;

void ToWire(const std::vector<std::string>& standbys, WireEndpoints* wire) {
  const size_t count = std::min(standbys.size(), kMaxStandbys);
  for (size_t i = 0; i < count; ++i) *wire->Add() = standbys[i];
}

void FromWire(const WireEndpoints& wire, BoundedReader* reader,
              std::vector<std::string>* standbys) {
  if (!reader->Count("standbys", wire.size(), kMaxStandbys)) return;
  standbys->resize(wire.size());
  for (int i = 0; i < wire.size(); ++i) {
    reader->Text("standbys", wire[i], kMaxEndpointBytes, TextKind::kName,
                 &(*standbys)[i]);
  }
}

}  // namespace

void ToWire(const JobStatus& status, v1::JobStatus* wire) {
  wire->set_run_id(status.run_id);
  ToWire(status.spec, wire->mutable_spec());
  wire->set_phase(ToWire(status.phase));
  wire->set_reason(status.reason.substr(0, kMaxReasonBytes));
  wire->set_round(status.round);
  wire->set_world_size(status.world_size);
  wire->set_restarts_used(status.restarts_used);
  wire->set_master_address(status.master_address);
  wire->set_master_port(status.master_port);
  wire->set_age(status.age.count());
  wire->set_phase_age(status.phase_age.count());
  if (status.preemption.has_value()) {
    ToWire(*status.preemption, wire->mutable_preemption());
  }
  wire->set_not_durable(status.not_durable.substr(0, kMaxReasonBytes));
  wire->set_not_durable_for(status.not_durable_for.count());
  ToWire(status.time, wire->mutable_time());
  for (const SlowRank& slow : status.slow_ranks) {
    ToWire(slow, wire->add_slow_ranks());
  }
  wire->set_slow_ranks_gain(status.slow_ranks_gain);
  ToWire(status.standbys, wire->mutable_standbys());
  for (const NodeStatus& node : status.nodes) ToWire(node, wire->add_nodes());
  if (status.verdict.has_value()) {
    ToWire(*status.verdict, wire->mutable_verdict());
  }
}

absl::Status FromWire(const v1::JobStatus& wire, JobStatus* status) {
  BoundedReader reader("status");
  reader.Text("run_id", wire.run_id(), kMaxNameBytes, TextKind::kName,
              &status->run_id);
  {
    BoundedReader::Within within(&reader, "spec");
    FromWire(wire.spec(), &reader, &status->spec);
  }
  FromWire(wire.phase(), &reader, &status->phase);
  reader.Text("reason", wire.reason(), kMaxReasonBytes, TextKind::kWords,
              &status->reason);
  reader.Integer("round", wire.round(), 0, kAnyInt32, &status->round);
  reader.Integer("world_size", wire.world_size(), 0, kAnyInt32,
                 &status->world_size);
  reader.Integer("restarts_used", wire.restarts_used(), 0, kAnyInt32,
                 &status->restarts_used);
  reader.Text("master_address", wire.master_address(), kMaxNameBytes,
              TextKind::kName, &status->master_address);
  reader.Integer("master_port", wire.master_port(), 0, kMaxPort,
                 &status->master_port);
  int64_t age = 0;
  reader.Integer64("age", wire.age(), 0, &age);
  status->age = Duration(age);
  reader.Integer64("phase_age", wire.phase_age(), 0, &age);
  status->phase_age = Duration(age);
  if (wire.has_preemption()) {
    BoundedReader::Within within(&reader, "preemption");
    FromWire(wire.preemption(), &reader, &status->preemption.emplace());
  }
  reader.Text("not_durable", wire.not_durable(), kMaxReasonBytes,
              TextKind::kWords, &status->not_durable);
  reader.Integer64("not_durable_for", wire.not_durable_for(), 0, &age);
  status->not_durable_for = Duration(age);
  {
    BoundedReader::Within within(&reader, "time");
    FromWire(wire.time(), &reader, &status->time);
  }
  if (reader.Count("slow_ranks", wire.slow_ranks_size(), kMaxSlowRanks)) {
    status->slow_ranks.resize(wire.slow_ranks_size());
    for (int i = 0; i < wire.slow_ranks_size(); ++i) {
      BoundedReader::Within within(&reader, "slow_ranks", i);
      FromWire(wire.slow_ranks(i), &reader, &status->slow_ranks[i]);
    }
  }
  status->slow_ranks_gain = wire.slow_ranks_gain();
  FromWire(wire.standbys(), &reader, &status->standbys);
  if (reader.Count("nodes", wire.nodes_size(), kMaxListedNodes)) {
    status->nodes.resize(wire.nodes_size());
    for (int i = 0; i < wire.nodes_size(); ++i) {
      BoundedReader::Within within(&reader, "nodes", i);
      FromWire(wire.nodes(i), &reader, &status->nodes[i]);
    }
  }
  if (wire.has_verdict()) {
    BoundedReader::Within within(&reader, "verdict");
    FromWire(wire.verdict(), &reader, &status->verdict.emplace());
  }
  return reader.status();
}

void ToWire(const InquiryUpdate& update, v1::InquiryUpdate* wire) {
  wire->set_node_id(update.node_id);
  wire->set_host(update.host);
  ToWire(update.part, wire->mutable_part());
  wire->set_missing(update.missing);
  ToWire(update.standbys, wire->mutable_standbys());
}

absl::Status FromWire(const v1::InquiryUpdate& wire, InquiryUpdate* update) {
  BoundedReader reader("update");
  reader.Text("node_id", wire.node_id(), kMaxNameBytes, TextKind::kWords,
              &update->node_id);
  reader.Text("host", wire.host(), kMaxNameBytes, TextKind::kWords,
              &update->host);
  reader.Text("missing", wire.missing(), kMaxReasonBytes, TextKind::kWords,
              &update->missing);
  FromWire(wire.standbys(), &reader, &update->standbys);
  BoundedReader::Within within(&reader, "part");
  FromWire(wire.part(), &reader, &update->part);
  return reader.status();
}

void ToWire(const Decision& decision, v1::Decision* wire) {
  wire->set_kind(decision.kind);
  wire->set_round(decision.round);
  wire->set_node_id(decision.node_id);
  wire->set_reason(decision.reason.substr(0, kMaxReasonBytes));
}

absl::Status FromWire(const v1::Decision& wire, Decision* decision) {
  BoundedReader reader("decision");
  reader.Text("kind", wire.kind(), kMaxNameBytes, TextKind::kName,
              &decision->kind);
  reader.Integer("round", wire.round(), 0, kAnyInt32, &decision->round);
  reader.Text("node_id", wire.node_id(), kMaxNameBytes, TextKind::kName,
              &decision->node_id);
  reader.Text("reason", wire.reason(), kMaxReasonBytes, TextKind::kWords,
              &decision->reason);
  return reader.status();
}

}  // namespace muster::rendezvous
