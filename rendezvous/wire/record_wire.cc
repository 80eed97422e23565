#include "rendezvous/wire/record_wire.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/channel_key.h"
#include "proto/journal.pb.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/wire/bounded_reader.h"
#include "rendezvous/wire/report_wire.h"
#include "rendezvous/wire/time_wire.h"
#include "rendezvous/wire/verdict_wire.h"

namespace muster::rendezvous {
namespace {

// Maximum lengths of lists and keys in a record of the journal. They are far
// above the lengths that a job writes.
constexpr int kMaxMembers = kMaxNodes;
constexpr int kMaxPastNodes = 1 << 16;
constexpr size_t kMaxKeyBytes = 256;
// Maximum time since a job or a round began, far above any real one. The sum of
// two such times does not overflow.
constexpr Duration kMaxAge = std::chrono::hours(24 * 365 * 100);

template <typename Enum>
void FromWire(const char* field, int wire, Enum last, BoundedReader* reader,
              Enum* value) {
  int number = 0;
  reader->Integer(field, wire, 0, static_cast<int>(last), &number);
  *value = static_cast<Enum>(number);
}

void Age(const char* field, int64_t wire, BoundedReader* reader,
         Duration* value) {
  // Read the duration as a plain integer. BoundedReader::Span would refuse more
  // than one year, but a job may run longer.
  int64_t nanoseconds = 0;
  reader->Integer64(field, wire, 0, &nanoseconds);
  *value = std::min(Duration(nanoseconds), kMaxAge);
}

void ToWire(const JobRecord::Member& member, v1::JobRecord::Member* wire) {
  muster::rendezvous::ToWire(member.identity, wire->mutable_identity());
  wire->set_place_key(member.place_key);
  wire->set_peer(member.peer);
  wire->set_phase(
      static_cast<v1::NodePhase>(muster::rendezvous::ToWire(member.phase)));
  wire->set_round(member.round);
  wire->set_newest_signal(member.newest_signal);
  wire->set_failures_taken(member.failures_taken);
  wire->set_going(member.going);
  wire->set_going_why(member.going_why.substr(0, kMaxReasonBytes));
  wire->set_part(static_cast<int>(member.part));
  wire->set_group_rank(member.group_rank);
}

void FromWire(const v1::JobRecord::Member& wire, BoundedReader* reader,
              JobRecord::Member* member) {
  muster::rendezvous::FromWire(wire.identity(), reader, &member->identity);
  reader->Text("place_key", wire.place_key(), kMaxKeyBytes, TextKind::kWords,
               &member->place_key);
  reader->Text("peer", wire.peer(), kMaxNameBytes, TextKind::kName,
               &member->peer);
  muster::rendezvous::FromWire(wire.phase(), reader, &member->phase);
  reader->Integer("round", wire.round(), 0, kAnyInt32, &member->round);
  member->newest_signal = wire.newest_signal();
  reader->Integer("failures_taken", wire.failures_taken(), 0, kAnyInt32,
                  &member->failures_taken);
  member->going = wire.going();
  reader->Text("going_why", wire.going_why(), kMaxReasonBytes, TextKind::kWords,
               &member->going_why);
  FromWire("part", wire.part(), Part::kStopped, reader, &member->part);
  reader->Integer("group_rank", wire.group_rank(), -1, kAnyInt32,
                  &member->group_rank);
}

void ToWire(const World& world, v1::JobRecord::World* wire) {
  for (const World::Member& member : world.members) {
    v1::JobRecord::World::Member* const one = wire->add_members();
    one->set_node_id(member.node_id);
    one->set_host(member.host);
    one->set_first_rank(member.first_rank);
    one->set_role_first_rank(member.role_first_rank);
    one->set_role_world_size(member.role_world_size);
    one->set_slots(member.slots);
    one->set_departure(member.departure.substr(0, kMaxReasonBytes));
  }
  wire->set_world_size(world.world_size);
  wire->set_master_address(world.master_address);
  wire->set_master_port(world.master_port);
  wire->set_nccl_id(world.nccl_id);
  for (const std::string& address : world.store_clients) {
    wire->add_store_clients(address);
  }
  wire->set_nccl_root_lost(world.nccl_root_lost.substr(0, kMaxReasonBytes));
  wire->set_restart_count(world.restart_count);
  wire->set_succeeded(world.succeeded);
  wire->set_epoch(world.epoch);
  if (world.reached_step >= 0) wire->set_reached_step(world.reached_step);
}

void FromWire(const v1::JobRecord::World::Member& wire, BoundedReader* reader,
              World::Member* member) {
  reader->Text("node_id", wire.node_id(), kMaxNameBytes, TextKind::kName,
               &member->node_id);
  reader->Text("host", wire.host(), kMaxNameBytes, TextKind::kName,
               &member->host);
  reader->Integer("first_rank", wire.first_rank(), 0, kAnyInt32,
                  &member->first_rank);
  reader->Integer("role_first_rank", wire.role_first_rank(), 0, kAnyInt32,
                  &member->role_first_rank);
  reader->Integer("role_world_size", wire.role_world_size(), 0, kAnyInt32,
                  &member->role_world_size);
  reader->Integer("slots", wire.slots(), 0, kMaxSlots, &member->slots);
  reader->Text("departure", wire.departure(), kMaxReasonBytes, TextKind::kWords,
               &member->departure);
}

void FromWire(const v1::JobRecord::World& wire, BoundedReader* reader,
              World* world) {
  if (reader->Count("members", wire.members_size(), kMaxMembers)) {
    world->members.resize(wire.members_size());
    for (int i = 0; i < wire.members_size(); ++i) {
      BoundedReader::Within within(reader, "members", i);
      FromWire(wire.members(i), reader, &world->members[i]);
    }
  }
  world->epoch = wire.epoch();
  if (wire.has_reached_step()) {
    reader->Integer64("reached_step", wire.reached_step(), 0,
                      &world->reached_step);
  }
  reader->Integer("world_size", wire.world_size(), 0, kAnyInt32,
                  &world->world_size);
  reader->Text("master_address", wire.master_address(), kMaxNameBytes,
               TextKind::kName, &world->master_address);
  reader->Integer("master_port", wire.master_port(), 0, kMaxPort,
                  &world->master_port);
  reader->Text("nccl_id", wire.nccl_id(), kMaxNcclIdBytes, TextKind::kName,
               &world->nccl_id);
  if (reader->Count("store_clients", wire.store_clients_size(),
                    kMaxStoreClients)) {
    world->store_clients.resize(wire.store_clients_size());
    for (int i = 0; i < wire.store_clients_size(); ++i) {
      reader->Text("store_clients", wire.store_clients(i), kMaxNameBytes,
                   TextKind::kName, &world->store_clients[i]);
    }
  }
  reader->Text("nccl_root_lost", wire.nccl_root_lost(), kMaxReasonBytes,
               TextKind::kWords, &world->nccl_root_lost);
  reader->Integer("restart_count", wire.restart_count(), 0, kAnyInt32,
                  &world->restart_count);
  reader->Integer("succeeded", wire.succeeded(), 0, kAnyInt32,
                  &world->succeeded);
}

void ToWire(const Stopping& stopping, v1::JobRecord::Stopping* wire) {
  wire->set_signal(stopping.signal);
  wire->set_at_once(stopping.at_once);
  wire->set_cause(static_cast<int>(stopping.cause));
  const Consequence& consequence = stopping.consequence;
  if (const auto& verdict = consequence.verdict(); verdict.has_value()) {
    muster::rendezvous::ToWire(*verdict, wire->mutable_verdict());
  }
  if (const auto& verdict = consequence.otherwise(); verdict.has_value()) {
    muster::rendezvous::ToWire(*verdict, wire->mutable_otherwise());
  }
  wire->set_restarts_spent(consequence.restarts_spent());
}

void FromWire(const v1::JobRecord::Stopping& wire, BoundedReader* reader,
              Stopping* stopping) {
  reader->Integer("signal", wire.signal(), 0, kMaxSignal, &stopping->signal);
  stopping->at_once = wire.at_once();
  FromWire("cause", wire.cause(), StopCause::kCancelled, reader,
           &stopping->cause);
  std::optional<Verdict> verdict;
  std::optional<Verdict> otherwise;
  if (wire.has_verdict()) {
    BoundedReader::Within within(reader, "verdict");
    muster::rendezvous::FromWire(wire.verdict(), reader, &verdict.emplace());
  }
  if (wire.has_otherwise()) {
    BoundedReader::Within within(reader, "otherwise");
    muster::rendezvous::FromWire(wire.otherwise(), reader,
                                 &otherwise.emplace());
  }
  int restarts_spent = 0;
  reader->Integer("restarts_spent", wire.restarts_spent(), 0, 1,
                  &restarts_spent);
  stopping->consequence =
      Consequence(std::move(verdict), std::move(otherwise), restarts_spent);
}

void FromWire(const v1::JobRecord::PastNode& wire, BoundedReader* reader,
              PastNode* past) {
  reader->Text("node_id", wire.node_id(), kMaxNameBytes, TextKind::kName,
               &past->node_id);
  past->incarnation = wire.incarnation();
  FromWire("memory", wire.memory(), Membership::Memory::kReleased, reader,
           &past->memory);
  past->sequence = wire.sequence();
  reader->Text("place_key", wire.place_key(), kMaxKeyBytes, TextKind::kWords,
               &past->place_key);
  BoundedReader::Within within(reader, "time");
  muster::rendezvous::FromWire(wire.time(), reader, &past->time);
}

FailureLog FailuresFrom(const v1::JobRecord& wire, BoundedReader* reader) {
  std::optional<Failure> cause;
  if (wire.has_cause()) {
    BoundedReader::Within within(reader, "cause");
    muster::rendezvous::FromWire(wire.cause(), reader, &cause.emplace());
  }
  std::vector<Failure> collateral;
  if (reader->Count("collateral", wire.collateral_size(), kMaxCollateral)) {
    collateral.resize(wire.collateral_size());
    for (int i = 0; i < wire.collateral_size(); ++i) {
      BoundedReader::Within within(reader, "collateral", i);
      muster::rendezvous::FromWire(wire.collateral(i), reader, &collateral[i]);
    }
  }
  int omitted = 0;
  reader->Integer("collateral_omitted", wire.collateral_omitted(), 0, kAnyInt32,
                  &omitted);
  return {std::move(cause), std::move(collateral), omitted};
}

void FromWire(const v1::JobRecord& wire, BoundedReader* reader,
              JobRecord* job) {
  reader->Text("run_id", wire.run_id(), kMaxNameBytes, TextKind::kName,
               &job->run_id);
  muster::rendezvous::FromWire(wire.spec(), reader, &job->spec);
  reader->Text("run_tag", wire.run_tag(), kMaxRunTagBytes, TextKind::kName,
               &job->run_tag);
  Age("age", wire.age(), reader, &job->age);
  FromWire("phase", wire.phase(), JobPhase::kFinished, reader, &job->phase);
  reader->Text("why", wire.why(), kMaxReasonBytes, TextKind::kWords, &job->why);
  reader->Integer("round", wire.round(), 0, kAnyInt32 - 1, &job->round);
  reader->Integer("claimed_round", wire.claimed_round(), 0, kAnyInt32 - 1,
                  &job->claimed_round);
  reader->Integer("restarts_used", wire.restarts_used(), 0, kAnyInt32,
                  &job->restarts_used);
  reader->Integer("failures_in_row", wire.failures_in_row(), 0, kAnyInt32,
                  &job->failures_in_row);
  job->check_is_due = wire.check_is_due();
  reader->Span("backoff_left", wire.backoff_left(), &job->backoff_left);
  muster::rendezvous::FromWire(wire.signals(), reader, &job->signals);
  job->newest_signal = wire.newest_signal();
  reader->Text("speaker", wire.speaker(), kMaxNameBytes, TextKind::kName,
               &job->speaker);
  if (wire.has_preemption()) {
    BoundedReader::Within within(reader, "preemption");
    muster::rendezvous::FromWire(wire.preemption(), reader,
                                 &job->preemption.emplace());
  }
  if (wire.has_verdict()) {
    BoundedReader::Within within(reader, "verdict");
    muster::rendezvous::FromWire(wire.verdict(), reader,
                                 &job->verdict.emplace());
  }
  {
    BoundedReader::Within within(reader, "world");
    FromWire(wire.world(), reader, &job->world);
  }
  Age("ran", wire.ran(), reader, &job->ran);
  if (reader->Count("members", wire.members_size(), kMaxMembers)) {
    job->members.resize(wire.members_size());
    for (int i = 0; i < wire.members_size(); ++i) {
      BoundedReader::Within within(reader, "members", i);
      FromWire(wire.members(i), reader, &job->members[i]);
    }
  }
  if (reader->Count("past", wire.past_size(), kMaxPastNodes)) {
    job->past.resize(wire.past_size());
    for (int i = 0; i < wire.past_size(); ++i) {
      BoundedReader::Within within(reader, "past", i);
      FromWire(wire.past(i), reader, &job->past[i]);
    }
  }
  {
    BoundedReader::Within within(reader, "stopping");
    FromWire(wire.stopping(), reader, &job->stopping);
  }
  job->failures = FailuresFrom(wire, reader);
  reader->Text("blamed", wire.blamed(), kMaxReasonBytes, TextKind::kWords,
               &job->blamed);
  BoundedReader::Within within(reader, "time");
  muster::rendezvous::FromWire(wire.time(), reader, &job->time);
}

}  // namespace

Duration AgeOf(const KeptJob& kept, Duration now) {
  return std::max(now - kept.written_at, Duration::zero());
}

std::string ToBytes(const KeptJob& kept) {
  const JobRecord& job = kept.job;
  v1::JobRecord wire;
  wire.set_run_id(job.run_id);
  muster::rendezvous::ToWire(job.spec, wire.mutable_spec());
  wire.set_run_tag(job.run_tag);
  wire.set_age(job.age.count());
  wire.set_phase(static_cast<int>(job.phase));
  wire.set_why(job.why.substr(0, kMaxReasonBytes));
  wire.set_round(job.round);
  wire.set_claimed_round(job.claimed_round);
  wire.set_restarts_used(job.restarts_used);
  wire.set_failures_in_row(job.failures_in_row);
  wire.set_check_is_due(job.check_is_due);
  wire.set_backoff_left(job.backoff_left.count());
  muster::rendezvous::ToWire(job.signals, wire.mutable_signals());
  wire.set_newest_signal(job.newest_signal);
  wire.set_speaker(job.speaker);
  if (job.preemption.has_value()) {
    muster::rendezvous::ToWire(*job.preemption, wire.mutable_preemption());
  }
  if (job.verdict.has_value()) {
    muster::rendezvous::ToWire(*job.verdict, wire.mutable_verdict());
  }
  ToWire(job.world, wire.mutable_world());
  wire.set_ran(job.ran.count());
  for (const JobRecord::Member& member : job.members) {
    ToWire(member, wire.add_members());
  }
  for (const PastNode& past : job.past) {
    v1::JobRecord::PastNode* const one = wire.add_past();
    one->set_node_id(past.node_id);
    one->set_incarnation(past.incarnation);
    one->set_memory(static_cast<int>(past.memory));
    one->set_sequence(past.sequence);
    one->set_place_key(past.place_key);
    muster::rendezvous::ToWire(past.time, one->mutable_time());
  }
  ToWire(job.stopping, wire.mutable_stopping());
  if (const auto& cause = job.failures.cause(); cause.has_value()) {
    muster::rendezvous::ToWire(*cause, wire.mutable_cause());
  }
  for (const Failure& failure : job.failures.collateral()) {
    muster::rendezvous::ToWire(failure, wire.add_collateral());
  }
  wire.set_collateral_omitted(job.failures.omitted());
  wire.set_blamed(job.blamed.substr(0, kMaxReasonBytes));
  muster::rendezvous::ToWire(job.time, wire.mutable_time());
  wire.set_written_at(kept.written_at.count());
  wire.set_channel_key(kept.channel_key);
  wire.set_principal(kept.owner.principal);
  wire.set_owner_peer(kept.owner.peer);
  return wire.SerializeAsString();
}

absl::StatusOr<KeptJob> FromBytes(const std::string& bytes) {
  v1::JobRecord wire;
  if (!wire.ParseFromString(bytes)) {
    return absl::DataLossError("the job's record is damaged");
  }
  KeptJob kept;
  BoundedReader reader("record");
  FromWire(wire, &reader, &kept.job);
  int64_t written_at = 0;
  reader.Integer64("written_at", wire.written_at(), 0, &written_at);
  kept.written_at = Duration(written_at);
  reader.Text("channel_key", wire.channel_key(), kChannelKeyBytes,
              TextKind::kWords, &kept.channel_key);
  reader.Text("principal", wire.principal(), kMaxNameBytes, TextKind::kName,
              &kept.owner.principal);
  reader.Text("owner_peer", wire.owner_peer(), kMaxNameBytes, TextKind::kName,
              &kept.owner.peer);
  if (!reader.status().ok()) return reader.status();
  if (const absl::Status sound = CheckRecord(kept.job); !sound.ok()) {
    return sound;
  }
  return kept;
}

}  // namespace muster::rendezvous
