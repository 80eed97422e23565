#include "rendezvous/wire/report_wire.h"

#include <algorithm>
#include <chrono>

#include "base/channel_key.h"
#include "proto/coordinator.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/time_wire.h"
#include "rendezvous/wire/verdict_wire.h"

namespace muster::rendezvous {
namespace {

void ToWire(const WorkerProgress& progress, v1::WorkerProgress* wire) {
  wire->set_local_rank(progress.local_rank);
  if (progress.step.has_value()) wire->set_step(*progress.step);
  if (progress.loss.has_value()) wire->set_loss(*progress.loss);
  if (progress.tokens_per_s.has_value()) {
    wire->set_tokens_per_s(*progress.tokens_per_s);
  }
  wire->set_status(progress.status.substr(0, kMaxStatusBytes));
  wire->set_silent_for(progress.silent_for.count());
  wire->set_deadline(progress.deadline.count());
}

void ToWire(const RankTimes& times, v1::RankTimes* wire) {
  wire->set_local_rank(times.local_rank);
  wire->set_own(times.own.count());
  wire->set_blocked(times.blocked.count());
  wire->set_data(times.data.count());
  wire->set_sent(times.sent);
  const size_t count = std::min(times.links.size(), kMaxLinksPerRank);
  for (size_t i = 0; i < count; ++i) {
    v1::LinkTime* const link = wire->add_links();
    link->set_peer(times.links[i].peer);
    link->set_limited(times.links[i].limited.count());
  }
}

void ToWire(const PairMeasurement& measurement, v1::PairMeasurement* wire) {
  wire->set_epoch(measurement.epoch);
  wire->set_number(measurement.number);
  wire->set_failure(measurement.failure.substr(0, kMaxLineBytes));
  wire->set_round_trip_s(measurement.round_trip_s);
  wire->set_bytes_per_s(measurement.bytes_per_s);
  wire->set_compute_s(measurement.compute_s);
  wire->set_gpu_kind(measurement.gpu_kind.substr(0, kMaxNameBytes));
  wire->set_gpu_failure(measurement.gpu_failure.substr(0, kMaxLineBytes));
  wire->set_gpu_bytes_per_s(measurement.gpu_bytes_per_s);
  wire->set_gpu_compute_s(measurement.gpu_compute_s);
}

void FromWire(const v1::PairMeasurement& wire, BoundedReader* reader,
              PairMeasurement* measurement) {
  measurement->epoch = wire.epoch();
  measurement->number = wire.number();
  reader->Text("failure", wire.failure(), kMaxLineBytes, TextKind::kWords,
               &measurement->failure);
  // Any value is valid here, because NetworkCheck ignores measurements that are
  // not finite and positive.
  measurement->round_trip_s = wire.round_trip_s();
  measurement->bytes_per_s = wire.bytes_per_s();
  measurement->compute_s = wire.compute_s();
  reader->Text("gpu_kind", wire.gpu_kind(), kMaxNameBytes, TextKind::kWords,
               &measurement->gpu_kind);
  reader->Text("gpu_failure", wire.gpu_failure(), kMaxLineBytes,
               TextKind::kWords, &measurement->gpu_failure);
  measurement->gpu_bytes_per_s = wire.gpu_bytes_per_s();
  measurement->gpu_compute_s = wire.gpu_compute_s();
}

void FromWire(const v1::RankTimes& wire, BoundedReader* reader,
              RankTimes* times) {
  reader->Integer("local_rank", wire.local_rank(), 0, kMaxSlots - 1,
                  &times->local_rank);
  const auto read = [reader](const char* field, int64_t value, Duration* time) {
    int64_t nanoseconds = 0;
    reader->Integer64(field, value, 0, &nanoseconds);
    *time = Duration(nanoseconds);
  };
  read("own", wire.own(), &times->own);
  read("blocked", wire.blocked(), &times->blocked);
  read("data", wire.data(), &times->data);
  reader->Integer64("sent", wire.sent(), 0, &times->sent);
  if (!reader->Count("links", wire.links_size(), kMaxLinksPerRank)) return;
  for (const v1::LinkTime& link : wire.links()) {
    LinkTime& one = times->links.emplace_back();
    reader->Integer("peer", link.peer(), 0, kAnyInt32, &one.peer);
    read("limited", link.limited(), &one.limited);
  }
}

void FromWire(const v1::WorkerProgress& wire, BoundedReader* reader,
              WorkerProgress* progress) {
  reader->Integer("local_rank", wire.local_rank(), 0, kMaxSlots - 1,
                  &progress->local_rank);
  if (wire.has_step()) {
    reader->Integer64("step", wire.step(), 0, &progress->step.emplace());
  }
  // Any loss (a training loss that a worker reports) is valid, because Muster
  // only displays it.
  if (wire.has_loss()) progress->loss = wire.loss();
  if (wire.has_tokens_per_s()) progress->tokens_per_s = wire.tokens_per_s();
  reader->Text("status", wire.status(), kMaxStatusBytes, TextKind::kWords,
               &progress->status);
  reader->Span("silent_for", wire.silent_for(), &progress->silent_for);
  reader->Span("deadline", wire.deadline(), &progress->deadline);
}

}  // namespace

void ToWire(const std::vector<WorkerProgress>& progress, WireProgress* wire) {
  const size_t count = std::min<size_t>(progress.size(), kMaxProgressPerReport);
  wire->Reserve(static_cast<int>(count));
  for (size_t i = 0; i < count; ++i) ToWire(progress[i], wire->Add());
}

void FromWire(const WireProgress& wire, BoundedReader* reader,
              std::vector<WorkerProgress>* progress) {
  if (!reader->Count("progress", wire.size(), kMaxProgressPerReport)) return;
  progress->resize(wire.size());
  for (int i = 0; i < wire.size(); ++i) {
    BoundedReader::Within within(reader, "progress", i);
    FromWire(wire[i], reader, &(*progress)[i]);
  }
}

Duration AgeFromWire(int64_t nanoseconds) {
  constexpr Duration kLongest = std::chrono::hours(24 * 36'500);
  return std::clamp(Duration(nanoseconds), Duration::zero(), kLongest);
}

void ToWire(const PreemptionNotice& notice, v1::PreemptionNotice* wire) {
  wire->set_signal(notice.signal);
  wire->set_host(notice.host);
  wire->set_left(notice.left.count());
}

void FromWire(const v1::PreemptionNotice& wire, BoundedReader* reader,
              PreemptionNotice* notice) {
  reader->Integer("signal", wire.signal(), 1, kMaxSignal, &notice->signal);
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &notice->host);
  reader->Span("left", wire.left(), &notice->left);
}

int ToWire(NodePhase phase) {
  switch (phase) {
    case NodePhase::kIdle:
      return v1::IDLE;
    case NodePhase::kRunning:
      return v1::RUNNING;
    case NodePhase::kStopping:
      return v1::STOPPING;
    case NodePhase::kSucceeded:
      return v1::SUCCEEDED;
  }
  return v1::NODE_PHASE_UNSPECIFIED;
}

void FromWire(int wire, BoundedReader* reader, NodePhase* phase) {
  switch (wire) {
    case v1::IDLE:
      *phase = NodePhase::kIdle;
      return;
    case v1::RUNNING:
      *phase = NodePhase::kRunning;
      return;
    case v1::STOPPING:
      *phase = NodePhase::kStopping;
      return;
    case v1::SUCCEEDED:
      *phase = NodePhase::kSucceeded;
      return;
    default:
      reader->Unknown("phase", wire);
  }
}

int ToWire(Health health) {
  switch (health) {
    case Health::kHealthy:
      return v1::FIT;
    case Health::kUnchecked:
      return v1::UNCHECKED;
    case Health::kUnhealthy:
      return v1::UNHEALTHY;
  }
  return v1::HEALTH_UNSPECIFIED;
}

void FromWire(int wire, BoundedReader* reader, Health* health) {
  switch (wire) {
    case v1::FIT:
      *health = Health::kHealthy;
      return;
    case v1::UNCHECKED:
      *health = Health::kUnchecked;
      return;
    case v1::UNHEALTHY:
      *health = Health::kUnhealthy;
      return;
    default:
      reader->Unknown("health", wire);
  }
}

void FromWire(int wire, BoundedReader* reader, FaultKind* kind) {
  int value = 0;
  reader->Integer("kind", wire, static_cast<int>(FaultKind::kWorker),
                  static_cast<int>(FaultKind::kStraggler), &value);
  *kind = static_cast<FaultKind>(value);
}

void ToWire(const JobSpec& spec, v1::JobSpec* wire) {
  wire->set_min_nodes(spec.min_nodes);
  wire->set_max_nodes(spec.max_nodes);
  wire->set_max_restarts(spec.max_restarts);
  wire->set_join_timeout(spec.join_timeout.count());
  wire->set_last_call(spec.last_call.count());
  wire->set_wait_for_replacement(spec.wait_for_replacement.count());
  wire->set_shutdown_timeout(spec.shutdown_timeout.count());
  wire->set_keep_alive_interval(spec.keep_alive_interval.count());
  wire->set_keep_alive_misses(spec.keep_alive_misses);
  wire->set_reconnect_grace(spec.reconnect_grace.count());
  switch (spec.scale_up) {
    case ScaleUp::kNever:
      wire->set_scale_up(v1::JobSpec::NEVER);
      break;
    case ScaleUp::kRestart:
      wire->set_scale_up(v1::JobSpec::RESTART);
      break;
  }
  wire->set_scale_up_cool_down(spec.scale_up_cool_down.count());
  wire->set_preempt_grace(spec.preempt_grace.count());
  wire->set_rejoin_timeout(spec.rejoin_timeout.count());
  wire->set_command(spec.command);
  wire->set_mixed_nodes(spec.mixed_nodes);
  wire->set_evict_stragglers(spec.evict_stragglers);
  switch (spec.takeover) {
    case Takeover::kAuto:
      wire->set_takeover(v1::JobSpec::AUTO);
      break;
    case Takeover::kMajority:
      wire->set_takeover(v1::JobSpec::MAJORITY);
      break;
    case Takeover::kNever:
      wire->set_takeover(v1::JobSpec::TAKEOVER_NEVER);
      break;
  }
  wire->set_encrypt_workers(spec.encryption == Encryption::kWorkers);
  switch (spec.network_check) {
    case NetworkCheckTime::kNever:
      wire->set_network_check(v1::JobSpec::NETWORK_CHECK_NEVER);
      break;
    case NetworkCheckTime::kStart:
      wire->set_network_check(v1::JobSpec::NETWORK_CHECK_START);
      break;
    case NetworkCheckTime::kSuspicion:
      wire->set_network_check(v1::JobSpec::NETWORK_CHECK_SUSPICION);
      break;
  }
  switch (spec.store_host) {
    case StoreHost::kAgent:
      wire->set_store_host(v1::JobSpec::AGENT);
      break;
    case StoreHost::kWorker:
      wire->set_store_host(v1::JobSpec::WORKER);
      break;
  }
}

void FromWire(const v1::JobSpec& wire, BoundedReader* reader, JobSpec* spec) {
  reader->Integer("min_nodes", wire.min_nodes(), 0, kAnyInt32,
                  &spec->min_nodes);
  reader->Integer("max_nodes", wire.max_nodes(), 0, kAnyInt32,
                  &spec->max_nodes);
  reader->Integer("max_restarts", wire.max_restarts(), 0, kAnyInt32,
                  &spec->max_restarts);
  reader->Span("join_timeout", wire.join_timeout(), &spec->join_timeout);
  reader->Span("last_call", wire.last_call(), &spec->last_call);
  reader->Span("wait_for_replacement", wire.wait_for_replacement(),
               &spec->wait_for_replacement);
  reader->Span("shutdown_timeout", wire.shutdown_timeout(),
               &spec->shutdown_timeout);
  reader->Span("keep_alive_interval", wire.keep_alive_interval(),
               &spec->keep_alive_interval);
  // The lease is keep_alive_interval times keep_alive_misses. Both factors are
  // limited, so the product cannot overflow.
  reader->Integer("keep_alive_misses", wire.keep_alive_misses(), 0, 200,
                  &spec->keep_alive_misses);
  reader->Span("reconnect_grace", wire.reconnect_grace(),
               &spec->reconnect_grace);
  switch (wire.scale_up()) {
    case v1::JobSpec::NEVER:
      spec->scale_up = ScaleUp::kNever;
      break;
    case v1::JobSpec::RESTART:
      spec->scale_up = ScaleUp::kRestart;
      break;
    default:
      reader->Unknown("scale_up", wire.scale_up());
  }
  reader->Span("scale_up_cool_down", wire.scale_up_cool_down(),
               &spec->scale_up_cool_down);
  reader->Span("preempt_grace", wire.preempt_grace(), &spec->preempt_grace);
  reader->Span("rejoin_timeout", wire.rejoin_timeout(), &spec->rejoin_timeout);
  reader->Text("command", wire.command(), kMaxCommandBytes, TextKind::kName,
               &spec->command);
  spec->mixed_nodes = wire.mixed_nodes();
  spec->evict_stragglers = wire.evict_stragglers();
  spec->encryption =
      wire.encrypt_workers() ? Encryption::kWorkers : Encryption::kNone;
  switch (wire.takeover()) {
    case v1::JobSpec::AUTO:
      spec->takeover = Takeover::kAuto;
      break;
    case v1::JobSpec::MAJORITY:
      spec->takeover = Takeover::kMajority;
      break;
    case v1::JobSpec::TAKEOVER_NEVER:
      spec->takeover = Takeover::kNever;
      break;
    default:
      reader->Unknown("takeover", wire.takeover());
  }
  switch (wire.network_check()) {
    case v1::JobSpec::NETWORK_CHECK_NEVER:
      spec->network_check = NetworkCheckTime::kNever;
      break;
    case v1::JobSpec::NETWORK_CHECK_START:
      spec->network_check = NetworkCheckTime::kStart;
      break;
    case v1::JobSpec::NETWORK_CHECK_SUSPICION:
      spec->network_check = NetworkCheckTime::kSuspicion;
      break;
    default:
      reader->Unknown("network_check", wire.network_check());
  }
  switch (wire.store_host()) {
    case v1::JobSpec::AGENT:
      spec->store_host = StoreHost::kAgent;
      break;
    case v1::JobSpec::WORKER:
      spec->store_host = StoreHost::kWorker;
      break;
    default:
      reader->Unknown("store_host", wire.store_host());
  }
}

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
  const size_t gpus = std::min<size_t>(node.gpus.size(), kMaxGpuNames);
  for (size_t i = 0; i < gpus; ++i) {
    wire->add_gpus(node.gpus[i].substr(0, kMaxGpuNameBytes));
  }
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
  if (reader->Count("gpus", wire.gpus_size(), kMaxGpuNames)) {
    node->gpus.resize(wire.gpus_size());
    for (int i = 0; i < wire.gpus_size(); ++i) {
      reader->Text("gpus", wire.gpus(i), kMaxGpuNameBytes, TextKind::kName,
                   &node->gpus[i]);
    }
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
  wire->set_epoch(place.epoch);
  if (place.reached_step >= 0) wire->set_reached_step(place.reached_step);
  for (const std::string& member : place.members) wire->add_members(member);
  for (const uint64_t one : place.incarnations) wire->add_incarnations(one);
  wire->set_electors(place.electors);
  wire->set_electorate_epoch(place.electorate.epoch);
  wire->set_electorate_round(place.electorate.round);
}

namespace {

void MembersFromWire(
    const google::protobuf::RepeatedPtrField<std::string>& wire,
    BoundedReader* reader, std::vector<std::string>* members) {
  const int count = wire.size();
  if (!reader->Count("members", count, kMaxListedElectors)) return;
  members->resize(count);
  for (int i = 0; i < count; ++i) {
    reader->Text("members", wire.Get(i), kMaxNameBytes, TextKind::kName,
                 &(*members)[i]);
  }
}

void IncarnationsFromWire(const google::protobuf::RepeatedField<uint64_t>& wire,
                          BoundedReader* reader,
                          std::vector<uint64_t>* incarnations) {
  if (!reader->Count("incarnations", wire.size(), kMaxListedElectors)) return;
  incarnations->assign(wire.begin(), wire.end());
}

}  // namespace

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
  place->epoch = wire.epoch();
  if (wire.has_reached_step()) {
    reader->Integer64("reached_step", wire.reached_step(), 0,
                      &place->reached_step);
  }
  MembersFromWire(wire.members(), reader, &place->members);
  IncarnationsFromWire(wire.incarnations(), reader, &place->incarnations);
  reader->Integer("electors", wire.electors(), 0, kMaxNodes, &place->electors);
  place->electorate.epoch = wire.electorate_epoch();
  reader->Integer("electorate_round", wire.electorate_round(), 0, kAnyInt32,
                  &place->electorate.round);
  const int clients = wire.store_clients_size();
  if (reader->Count("store_clients", clients, kMaxStoreClients)) {
    place->store_clients.resize(clients);
    for (int i = 0; i < clients; ++i) {
      reader->Text("store_clients", wire.store_clients(i), kMaxNameBytes,
                   TextKind::kName, &place->store_clients[i]);
    }
  }
}

void ToWire(const Electorate& electorate, v1::Electorate* wire) {
  wire->set_epoch(electorate.epoch);
  wire->set_world_epoch(electorate.world.epoch);
  wire->set_round(electorate.world.round);
  wire->set_nodes(electorate.nodes);
  wire->set_rank(electorate.rank);
  wire->set_is_spare(electorate.is_spare);
  for (const std::string& member : electorate.members) {
    wire->add_members(member);
  }
  for (const uint64_t one : electorate.incarnations) {
    wire->add_incarnations(one);
  }
}

void FromWire(const v1::Electorate& wire, BoundedReader* reader,
              Electorate* electorate) {
  electorate->epoch = wire.epoch();
  electorate->world.epoch = wire.world_epoch();
  reader->Integer("round", wire.round(), 0, kAnyInt32,
                  &electorate->world.round);
  reader->Integer("nodes", wire.nodes(), 0, kMaxNodes, &electorate->nodes);
  reader->Integer("rank", wire.rank(), -1, kMaxNodes - 1, &electorate->rank);
  electorate->is_spare = wire.is_spare();
  MembersFromWire(wire.members(), reader, &electorate->members);
  IncarnationsFromWire(wire.incarnations(), reader, &electorate->incarnations);
}

int ToWire(StopCause cause) {
  switch (cause) {
    case StopCause::kBroken:
      return v1::StopOrder::BROKEN;
    case StopCause::kAsked:
      return v1::StopOrder::ASKED;
    case StopCause::kCancelled:
      return v1::StopOrder::CANCELLED;
  }
  return v1::StopOrder::CAUSE_UNSPECIFIED;
}

void FromWire(int wire, BoundedReader* reader, StopCause* cause) {
  switch (wire) {
    case v1::StopOrder::BROKEN:
      *cause = StopCause::kBroken;
      return;
    case v1::StopOrder::ASKED:
      *cause = StopCause::kAsked;
      return;
    case v1::StopOrder::CANCELLED:
      *cause = StopCause::kCancelled;
      return;
    default:
      reader->Unknown("cause", wire);
  }
}

void ToWire(const Report& report, v1::Report* wire) {
  wire->set_protocol_version(report.protocol_version);
  wire->set_run_id(report.run_id);
  ToWire(report.node, wire->mutable_node());
  wire->set_sequence(report.sequence);
  wire->set_seen_epoch(report.seen_epoch);
  wire->set_seen_revision(report.seen_revision);
  wire->set_promised_epoch(report.promised_epoch);
  wire->set_standby_endpoint(report.standby_endpoint);
  ToWire(report.electorate, wire->mutable_electorate());
  wire->set_previous_epoch(report.previous_world.epoch);
  wire->set_previous_round(report.previous_world.round);
  if (report.previous_rank >= 0) {
    wire->set_previous_rank(report.previous_rank);
  }
  if (report.host_rank >= 0) wire->set_host_rank(report.host_rank);
  ToWire(report.spec, wire->mutable_spec());
  wire->set_phase(static_cast<v1::NodePhase>(ToWire(report.phase)));
  wire->set_round(report.round);
  if (report.place.has_value()) ToWire(*report.place, wire->mutable_place());
  if (report.round_end.has_value()) {
    v1::RoundEnd* const end = wire->mutable_round_end();
    end->set_cause(
        static_cast<v1::StopOrder::Cause>(ToWire(report.round_end->cause)));
    if (report.round_end->exit_code.has_value()) {
      end->set_exit_code(*report.round_end->exit_code);
    }
    end->set_reason(report.round_end->reason.substr(0, kMaxReasonBytes));
    end->set_cancelled(report.round_end->cancelled);
    end->set_epoch(report.round_end->epoch);
    end->set_revision(report.round_end->revision);
    end->set_round(report.round_end->round);
  }
  wire->set_forwarded_signal(report.forwarded_signal);
  wire->set_restarts_used(report.restarts_used);
  wire->set_job_age(report.job_age.count());
  wire->set_place_key(report.place_key);
  const size_t failures =
      std::min<size_t>(report.failures.size(), kMaxFailuresPerReport);
  // A message holds at most kMaxFailuresPerReport failures. If the report has
  // more, send the earliest ones, because later failures are often their
  // consequences.
  for (size_t i = 0; i < failures; ++i) {
    ToWire(report.failures[i], wire->add_failures());
  }
  wire->set_nccl_root_lost(report.nccl_root_lost.substr(0, kMaxLineBytes));
  wire->set_offered_master_port(report.offered_master_port);
  wire->set_offered_nccl_id(report.offered_nccl_id);
  const size_t addresses =
      std::min<size_t>(report.addresses.size(), kMaxNodeAddresses);
  for (size_t i = 0; i < addresses; ++i) {
    wire->add_addresses(report.addresses[i]);
  }
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
  const size_t faults = report.faults.size();
  for (size_t i = faults - std::min<size_t>(faults, kMaxNodeFaults); i < faults;
       ++i) {
    v1::NodeFault* const fault = wire->add_faults();
    fault->set_ordinal(report.faults[i].ordinal);
    fault->set_kind(static_cast<int>(report.faults[i].kind));
    fault->set_text(report.faults[i].text.substr(0, kMaxFaultBytes));
  }
  wire->set_check_port(report.check_port);
  wire->set_check_gpus(report.check_gpus);
  if (report.measurement.has_value()) {
    ToWire(*report.measurement, wire->mutable_measurement());
  }
  wire->set_check_fault(report.check_fault.substr(0, kMaxCheckFaultBytes));
  ToWire(report.progress, wire->mutable_progress());
  ToWire(report.time, wire->mutable_time());
  const size_t measured =
      std::min<size_t>(report.times.size(), kMaxProgressPerReport);
  for (size_t i = 0; i < measured; ++i) {
    ToWire(report.times[i], wire->add_times());
  }
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
  reader.Epoch("promised_epoch", wire.promised_epoch(),
               &report->promised_epoch);
  reader.Text("standby_endpoint", wire.standby_endpoint(), kMaxEndpointBytes,
              TextKind::kName, &report->standby_endpoint);
  if (wire.has_electorate()) {
    BoundedReader::Within within(&reader, "electorate");
    FromWire(wire.electorate(), &reader, &report->electorate);
  }
  report->previous_world.epoch = wire.previous_epoch();
  reader.Integer("previous_round", wire.previous_round(), 0, kAnyInt32,
                 &report->previous_world.round);
  if (wire.has_previous_rank()) {
    reader.Integer("previous_rank", wire.previous_rank(), 0, kMaxNodes - 1,
                   &report->previous_rank);
  }
  if (wire.has_host_rank()) {
    reader.Integer("host_rank", wire.host_rank(), 0, kAnyInt32,
                   &report->host_rank);
  }
  reader.Present("spec", wire.has_spec());
  {
    BoundedReader::Within within(&reader, "spec");
    FromWire(wire.spec(), &reader, &report->spec);
  }
  FromWire(wire.phase(), &reader, &report->phase);
  reader.Integer("round", wire.round(), 0, kAnyInt32, &report->round);
  if (wire.has_place()) {
    BoundedReader::Within within(&reader, "place");
    FromWire(wire.place(), &reader, &report->place.emplace());
  }
  if (wire.has_round_end()) {
    BoundedReader::Within within(&reader, "round_end");
    RoundEnd& end = report->round_end.emplace();
    FromWire(wire.round_end().cause(), &reader, &end.cause);
    if (wire.round_end().has_exit_code()) {
      reader.Integer("exit_code", wire.round_end().exit_code(), 0, kMaxExitCode,
                     &end.exit_code.emplace());
    }
    reader.Text("reason", wire.round_end().reason(), kMaxReasonBytes,
                TextKind::kWords, &end.reason);
    // An order that cancels the job has an exit code. So ignore the field
    // `cancelled` if there is no exit code.
    end.cancelled = wire.round_end().cancelled() && end.exit_code.has_value();
    end.epoch = wire.round_end().epoch();
    end.revision = wire.round_end().revision();
    reader.Integer("round", wire.round_end().round(), 0, kAnyInt32, &end.round);
  }
  report->forwarded_signal = wire.forwarded_signal();
  report->job_age = AgeFromWire(wire.job_age());
  reader.Integer("restarts_used", wire.restarts_used(), 0, kAnyInt32,
                 &report->restarts_used);
  reader.Text("place_key", wire.place_key(), kMaxPlaceKeyBytes, TextKind::kName,
              &report->place_key);
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
  const int addresses = wire.addresses_size();
  if (reader.Count("addresses", addresses, kMaxNodeAddresses)) {
    report->addresses.resize(addresses);
    for (int i = 0; i < addresses; ++i) {
      reader.Text("addresses", wire.addresses(i), kMaxAddressBytes,
                  TextKind::kName, &report->addresses[i]);
    }
  }
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
  if (reader.Count("faults", wire.faults_size(), kMaxNodeFaults)) {
    report->faults.resize(wire.faults_size());
    for (int i = 0; i < wire.faults_size(); ++i) {
      BoundedReader::Within within(&reader, "faults", i);
      NodeFault& fault = report->faults[i];
      fault.ordinal = wire.faults(i).ordinal();
      FromWire(wire.faults(i).kind(), &reader, &fault.kind);
      reader.Text("text", wire.faults(i).text(), kMaxFaultBytes,
                  TextKind::kWords, &fault.text);
    }
  }
  reader.Integer("check_port", wire.check_port(), 0, kMaxPort,
                 &report->check_port);
  reader.Integer("check_gpus", wire.check_gpus(), 0, kMaxSlots,
                 &report->check_gpus);
  if (wire.has_measurement()) {
    BoundedReader::Within within(&reader, "measurement");
    FromWire(wire.measurement(), &reader, &report->measurement.emplace());
  }
  reader.Text("check_fault", wire.check_fault(), kMaxCheckFaultBytes,
              TextKind::kWords, &report->check_fault);
  FromWire(wire.progress(), &reader, &report->progress);
  if (reader.Count("times", wire.times_size(), kMaxProgressPerReport)) {
    report->times.resize(wire.times_size());
    for (int i = 0; i < wire.times_size(); ++i) {
      BoundedReader::Within within(&reader, "times", i);
      FromWire(wire.times(i), &reader, &report->times[i]);
    }
  }
  {
    BoundedReader::Within within(&reader, "time");
    FromWire(wire.time(), &reader, &report->time);
  }
  return reader.status();
}

}  // namespace muster::rendezvous
