#include "rendezvous/wire/testing/full_messages.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include "base/channel_key.h"

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

JobSpec FullSpec() {
  JobSpec spec;
  spec.min_nodes = 2;
  spec.max_nodes = 9;
  spec.max_restarts = 3;
  spec.join_timeout = milliseconds(1001);
  spec.last_call = milliseconds(1002);
  spec.wait_for_replacement = milliseconds(1003);
  spec.shutdown_timeout = milliseconds(1004);
  spec.keep_alive_interval = milliseconds(1005);
  spec.keep_alive_misses = 7;
  spec.reconnect_grace = milliseconds(1006);
  spec.scale_up = ScaleUp::kNever;
  spec.scale_up_cool_down = milliseconds(1007);
  spec.store_host = StoreHost::kWorker;
  spec.preempt_grace = milliseconds(1008);
  spec.rejoin_timeout = milliseconds(1009);
  spec.command = "--nproc-per-node=8 train.py --name=\xff";
  spec.mixed_nodes = true;
  spec.evict_stragglers = true;
  spec.takeover = Takeover::kMajority;
  spec.encryption = Encryption::kWorkers;
  spec.network_check = NetworkCheckTime::kSuspicion;
  return spec;
}

NodeIdentity FullNode() {
  NodeIdentity node;
  node.node_id = "node-a";
  node.incarnation = 0xfedcba9876543210;
  node.host = "h\xff";  // host names may contain invalid UTF-8
  node.address = "10.0.0.7";
  node.pid = 4242;
  node.slots = 8;
  node.node_rank = 3;
  node.index = 4;
  node.topology = {"row1", "rack2"};
  node.role = "trainer";
  node.binding = "node: 0-15 | 16-31";
  node.gpus = {"0", "MIG-4f5a"};
  return node;
}

void Collect(const google::protobuf::Message& message,
             const std::string& prefix, std::vector<std::string>* unset) {
  const auto* reflection = message.GetReflection();
  const auto* descriptor = message.GetDescriptor();
  for (int i = 0; i < descriptor->field_count(); ++i) {
    const auto* field = descriptor->field(i);
    const std::string path = prefix + field->name();
    if (field->is_repeated()) {
      const int size = reflection->FieldSize(message, field);
      if (size == 0) unset->push_back(path);
      if (field->message_type() == nullptr) continue;
      for (int k = 0; k < size; ++k) {
        Collect(reflection->GetRepeatedMessage(message, field, k), path + ".",
                unset);
      }
      continue;
    }
    if (!reflection->HasField(message, field)) {
      unset->push_back(path);
    } else if (field->message_type() != nullptr) {
      Collect(reflection->GetMessage(message, field), path + ".", unset);
    }
  }
}

Place FullPlace(int round) {
  return {.round = round,
          .epoch = 0xfedcba9876543211,
          .group_rank = 2,
          .group_world_size = 3,
          .first_rank = 4,
          .world_size = 5,
          .role_first_rank = 6,
          .role_world_size = 7,
          .restart_count = 8,
          .reached_step = 1199,
          .master_address = "10.0.0.1",
          .master_port = 29501,
          .nccl_id = "2c3d",
          .run_tag = "3d4e",
          .store_clients = {"10.0.0.1", "10.0.0.7"},
          .members = {"n1", "n2", "n3"},
          .incarnations = {22, 0xfedcba9876543212, 23},
          .electorate = {.epoch = 20, .round = 21},
          .electors = 2,
          .channel_key = "sixteen bytes \xff\n of 32"};
}

NodeTime FullNodeTime() {
  NodeTime time;
  for (size_t i = 0; i < kActivities; ++i) {
    time.ledger.spent[i] = milliseconds(100 + i);
  }
  time.losses = {{.round = 3, .lost = milliseconds(41)},
                 {.round = 4, .lost = milliseconds(42)}};
  return time;
}

JobTime FullJobTime() {
  JobTime time;
  for (size_t i = 0; i < kActivities; ++i) {
    time.spent_s[i] = 0.5 * static_cast<double>(i + 1);
  }
  for (size_t i = 0; i < kLossCauses; ++i) {
    time.by_cause[i] = {.incidents = 7, .pause_s = 2.25};
  }
  time.newest = {{.round = 4,
                  .cause = LossCause::kHang,
                  .host = "h3",
                  .why = "rank 5 hung",
                  .nodes = 2,
                  .lost_s = 3.5}};
  time.by_host = {{.host = "h3"}};
  time.by_host[0].by_cause.fill({.incidents = 3, .pause_s = 1.25});
  return time;
}

}  // namespace

Inquiry FullInquiry() {
  return {.id = 0xfedcba9876543214,
          .kind = Inquiry::Kind::kStacks,
          .ranks = {3, 5},
          .lines = -1,
          .since = seconds(61),
          .follow = Inquiry::Follow::kYes,
          .pattern = "loss\\s+nan\xff",
          .frames = Inquiry::Frames::kNative};
}

AnswerPart FullAnswerPart() {
  return {.lines = {{.rank = 3,
                     .round = 2,
                     .stream = OutputLine::Stream::kErr,
                     .text = "step 7\x1b[31m\xff",
                     .position = 77}},
          .stacks = {{.rank = 5, .pid = 99, .lines = {"f (a.py:3)", "\xff"}}},
          .notes = {"7 bytes are missing"},
          .is_last = true};
}

WorkerProgress FullProgress(int seed) {
  WorkerProgress progress;
  progress.local_rank = seed;
  progress.step = 1200;
  progress.loss = 2.25;
  progress.tokens_per_s = 51000;
  progress.status = "epoch 2";
  progress.silent_for = milliseconds(8);
  progress.deadline = milliseconds(9);
  return progress;
}

Failure FullFailure(int seed) {
  Failure failure;
  failure.kind = FailureKind::kSignal;
  failure.node_id = "node-" + std::to_string(seed);
  failure.host = "host";
  failure.group_rank = 1;
  failure.rank = 2;
  failure.local_rank = 3;
  failure.pid = 99;
  failure.exit_code = 4;
  failure.signal = 9;
  failure.unix_time = 1.5;
  failure.message = "killed";
  failure.error_file = "/tmp/e\xfe.json";
  failure.traceback = "Traceback\n\xff";
  failure.raised_first = true;
  failure.stderr_tail = {"one", "two\x1b[31m"};
  failure.silent_for = milliseconds(31);
  failure.stack = {"main.py:3", "\xff"};
  return failure;
}

Report FullReport() {
  Report report;
  report.run_id = "run";
  report.node = FullNode();
  report.sequence = 11;
  report.seen_epoch = 12;
  report.seen_revision = 13;
  report.promised_epoch = 0x7edcba9876543212;
  report.standby_endpoint = "10.0.0.7:29400";
  report.electorate = {.epoch = 31,
                       .world = {.epoch = 30, .round = 13},
                       .nodes = 2,
                       .rank = 1,
                       .is_spare = true,
                       .members = {"n1", "n2"},
                       .incarnations = {25, 0xfedcba9876543214}};
  report.previous_world = {.epoch = 0xfedcba9876543213, .round = 12};
  report.previous_rank = 4;
  report.host_rank = 3;
  report.spec = FullSpec();
  report.phase = NodePhase::kStopping;
  report.round = 14;
  report.place = FullPlace(14);
  report.round_end =
      RoundEnd{19, StopCause::kCancelled, 130, "Ctrl-C\xff", true, 17, 18};
  report.forwarded_signal = 15;
  report.restarts_used = 16;
  report.job_age = hours(24 * 800);
  report.place_key = "4e5f";
  report.failures = {FullFailure(1), FullFailure(2)};
  report.offered_master_port = 29500;
  report.offered_nccl_id = "0a1b";
  report.addresses = {"10.0.0.7", "fd00::7"};
  report.nccl_root_lost = "it was killed";
  report.waits_for_place = true;
  report.leave = "drained";
  report.cancel = CancelWish{2, true};
  report.signals = {{1, 10}, {2, 12}};
  report.preemption = PreemptionNotice{10, "h2", milliseconds(1500)};
  report.health = Health::kUnhealthy;
  report.unhealthy = "disk full\xff";
  report.faults = {{.ordinal = 1, .kind = FaultKind::kXid, .text = "XID 79"},
                   {.ordinal = 2, .kind = FaultKind::kLost, .text = "no"}};
  report.check_port = 29502;
  report.check_gpus = 8;
  report.measurement = PairMeasurement{.epoch = 33,
                                       .number = 34,
                                       .failure = "timed out\xff",
                                       .round_trip_s = 0.5,
                                       .bytes_per_s = 1.5,
                                       .compute_s = 2.5,
                                       .gpu_kind = "8 x fake",
                                       .gpu_failure = "no memory",
                                       .gpu_bytes_per_s = 3.5,
                                       .gpu_compute_s = 4.5};
  report.check_fault = "slow with h2";
  report.progress = {FullProgress(1), FullProgress(2)};
  report.times = {{.local_rank = 1,
                   .own = milliseconds(10),
                   .blocked = milliseconds(11),
                   .data = milliseconds(12),
                   .links = {{.peer = 3, .limited = milliseconds(13)},
                             {.peer = 1, .limited = milliseconds(14)}},
                   .sent = 15}};
  report.time = FullNodeTime();
  return report;
}

Directive FullDirective(DirectiveKind kind) {
  Directive directive;
  directive.epoch = 21;
  directive.revision = 22;
  directive.kind = kind;
  directive.reason = "because";
  directive.place = FullPlace(1);
  directive.stop = {1, 15, milliseconds(30), StopCause::kAsked, 3, true};
  directive.verdict.outcome = Outcome::kFailed;
  directive.verdict.exit_code = 137;
  directive.verdict.reason = "rank 2 was killed";
  directive.verdict.cause = FullFailure(1);
  directive.verdict.collateral = {FullFailure(2)};
  directive.verdict.collateral_omitted = 5;
  directive.verdict.restarts_used = 1;
  directive.verdict.max_restarts = 2;
  directive.verdict.rounds = 3;
  directive.verdict.lasted = milliseconds(4);
  directive.verdict.time = FullJobTime();
  directive.waits_for = WaitsFor::kPlace;
  directive.answered_report = 26;
  directive.signals = {{1, 10}};
  directive.preemption = PreemptionNotice{10, "h2", milliseconds(1400)};
  directive.acts_for_job = true;
  directive.took_part = true;
  directive.prints_for_job = true;
  directive.another_job = true;
  directive.restarts_used = 23;
  directive.job_age = hours(24 * 800);
  directive.electorate = {.epoch = 32,
                          .world = {.epoch = 20, .round = 13},
                          .nodes = 2,
                          .rank = 1,
                          .is_spare = true,
                          .members = {"n1", "n2"},
                          .incarnations = {25, 0xfedcba9876543214}};
  directive.standbys = {"10.0.0.8:29400", "[fd00::9]:1234"};
  directive.handover =
      Handover{.number = 34,
               .released = {{.node_id = "n3", .incarnation = 33}},
               .machines = "memory\xff",
               .incidents = {{.round = 11,
                              .cause = LossCause::kHang,
                              .host = "h4",
                              .why = "rank 5 hangs",
                              .nodes = 3,
                              .lost_s = 1.5}},
               .check_is_due = true};
  directive.host_rank = 3;
  directive.pair_check = PairCheck{.number = 24,
                                   .role = PairCheck::Role::kConnect,
                                   .partner = "h2",
                                   .address = "10.0.0.8",
                                   .port = 29503,
                                   .gpus = 4,
                                   .key = "sixteen bytes \xff\n of 32"};
  directive.check_fault = "slow with h2";
  directive.inquiries = {FullInquiry()};
  return directive;
}

JobStatus FullStatus() {
  JobStatus status;
  status.run_id = "run";
  status.spec = FullSpec();
  status.phase = JobPhase::kFinished;
  status.reason = "over";
  status.round = 2;
  status.world_size = 16;
  status.restarts_used = 1;
  status.master_address = "10.0.0.1";
  status.master_port = 29501;
  status.age = milliseconds(5);
  status.phase_age = milliseconds(6);
  NodeStatus node;
  node.node = FullNode();
  node.phase = NodePhase::kSucceeded;
  node.round = 2;
  node.group_rank = 1;
  node.connected = true;
  node.draining = true;
  node.silent_for = milliseconds(7);
  node.progress = {FullProgress(1)};
  node.times = {{.local_rank = 1,
                 .work = milliseconds(32),
                 .data = milliseconds(33),
                 .collectives = milliseconds(34),
                 .wait = milliseconds(20),
                 .transfer = milliseconds(13)}};
  node.health = Health::kUnhealthy;
  node.unhealthy = "no GPU";
  node.judgement = {
      .state = HostState::kQuarantined, .score = 2.5, .reason = "lost"};
  node.time = FullNodeTime();
  status.preemption = PreemptionNotice{10, "h2", milliseconds(1300)};
  status.not_durable = "the disk is full";
  status.not_durable_for = milliseconds(1200);
  status.time = FullJobTime();
  status.slow_ranks = {{.rank = 3,
                        .node_id = "n2",
                        .host = "h2",
                        .local_rank = 1,
                        .gpu = "MIG-4f5a",
                        .phase = SlowPhase::kData,
                        .ratio = 1.5,
                        .max_gain = 0.75,
                        .is_persistent = true},
                       {.rank = 4,
                        .node_id = "n3",
                        .host = "h3",
                        .local_rank = 2,
                        .gpu = "2",
                        .phase = SlowPhase::kNetwork,
                        .ratio = 2.5,
                        .max_gain = 0.125,
                        .is_persistent = true}};
  status.slow_ranks_gain = 0.25;
  status.standbys = {"10.0.0.8:29400", "[fd00::9]:1234"};
  status.nodes = {node};
  status.verdict = FullDirective(DirectiveKind::kFinished).verdict;
  return status;
}

KeptJob FullJob() {
  const Report report = FullReport();
  const JobStatus status = FullStatus();
  KeptJob kept;
  JobRecord& job = kept.job;
  job.run_id = "train";
  job.spec = report.spec;
  job.run_tag = "1a2b";
  job.age = hours(24 * 800);
  job.phase = JobPhase::kFinished;
  job.why = "every worker succeeded";
  job.round = 3;
  job.claimed_round = 2;
  job.restarts_used = 1;
  job.failures_in_row = 4;
  job.check_is_due = true;
  job.backoff_left = seconds(2);
  job.signals = report.signals;
  job.newest_signal = 9;
  job.speaker = "n0";
  job.preemption = report.preemption;
  job.verdict = status.verdict;
  job.world.members = {{.node_id = report.node.node_id,
                        .host = "h0",
                        .first_rank = 8,
                        .role_first_rank = 4,
                        .role_world_size = 16,
                        .slots = 8,
                        .departure = "lost: it was silent"}};
  job.world.world_size = 16;
  job.world.master_address = "10.0.0.1";
  job.world.master_port = 29500;
  job.world.nccl_id = "abcdef";
  job.world.store_clients = {"10.0.0.1", "10.0.0.2"};
  job.world.nccl_root_lost = "killed by SIGKILL on h0";
  job.world.restart_count = 1;
  job.world.succeeded = 1;
  job.world.reached_step = 1198;
  job.world.epoch = 0xfedcba9876543213;
  job.ran = seconds(77);
  job.members = {{.identity = report.node,
                  .place_key = std::string("\0\xff key", 6),
                  .peer = "10.0.0.1",
                  .phase = NodePhase::kSucceeded,
                  .round = 3,
                  .newest_signal = 5,
                  .failures_taken = 2,
                  .going = true,
                  .going_why = "drained by ada",
                  .part = Part::kStopped}};
  job.members[0].group_rank = 0;
  job.past = {{.node_id = "n7",
               .incarnation = 17,
               .memory = Membership::Memory::kReleased,
               .sequence = 18,
               .place_key = "another key",
               .time = FullNodeTime()}};
  job.stopping.signal = 10;
  job.stopping.at_once = true;
  job.stopping.cause = StopCause::kCancelled;
  job.stopping.consequence = Consequence(status.verdict, status.verdict, 1);
  job.failures = FailureLog(FullFailure(1), {FullFailure(2)}, 3);
  job.time = FullJobTime();
  job.blamed = "rank 3 on h1: exit code 1";
  kept.written_at = seconds(1'700'000'000);
  kept.owner = {.principal = "ada", .peer = "10.0.0.9"};
  kept.channel_key = std::string(kChannelKeyBytes, '\7');
  return kept;
}

std::vector<std::string> UnsetFields(const google::protobuf::Message& message) {
  std::vector<std::string> unset;
  Collect(message, "", &unset);
  return unset;
}

}  // namespace muster::rendezvous
