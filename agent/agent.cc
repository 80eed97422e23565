#include "agent/agent.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/caught_signals.h"
#include "agent/gpus/gpu_watch.h"
#include "agent/gpus/job_files.h"
#include "agent/gpus/xid.h"
#include "agent/health_gate.h"
#include "agent/inquiry_answers.h"
#include "agent/lifecycle/agent_policy.h"
#include "agent/lifecycle/guardian_watch.h"
#include "agent/lifecycle/lifecycle.h"
#include "agent/lifecycle/lifecycle_step.h"
#include "agent/logs/log_paths.h"
#include "agent/logs/log_relay.h"
#include "agent/logs/old_rounds.h"
#include "agent/nccl_id/nccl_id_holder.h"
#include "agent/pair_check/gpu_pair.h"
#include "agent/pair_check/pair_meter.h"
#include "agent/preemption/preemption_announcer.h"
#include "agent/progress/progress_sockets.h"
#include "agent/round_workers.h"
#include "agent/signal_catcher.h"
#include "agent/stacks/kernel_stacks.h"
#include "agent/stacks/stack_taker.h"
#include "agent/store/round_store.h"
#include "agent/store/store_plan.h"
#include "agent/terminal/terminal_bridge.h"
#include "agent/timers/worker_timers.h"
#include "agent/workers/worker_input.h"
#include "base/channel_key.h"
#include "base/check.h"
#include "base/environment_value.h"
#include "base/monotonic_clock.h"
#include "base/net/socket_address.h"
#include "base/poll.h"
#include "base/subprocess.h"

namespace muster::agent {
namespace {

// A queue of events, from the threads of the coordinator link to the agent's
// loop. Thread-safe.
class Inbox {
 public:
  Inbox();
  ~Inbox();
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  void Post(LifecycleEvent event);

  // A descriptor that is readable while the queue is not empty.
  int fd() const { return fd_; }
  std::vector<LifecycleEvent> TakeAll();

 private:
  const int fd_;  // eventfd that is readable while events_ is not empty
  std::mutex mutex_;
  std::vector<LifecycleEvent> events_;
};

Inbox::Inbox() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  MUSTER_CHECK(fd_ >= 0) << "eventfd: " << std::strerror(errno);
}

Inbox::~Inbox() { close(fd_); }

void Inbox::Post(LifecycleEvent event) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    events_.push_back(std::move(event));
  }
  const uint64_t one = 1;
  // The result is not checked. A write to an eventfd fails only if its counter
  // would exceed 2^64 - 2, and this counter is the number of unread events.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof(one));
}

std::vector<LifecycleEvent> Inbox::TakeAll() {
  uint64_t posts;
  [[maybe_unused]] const ssize_t got = read(fd_, &posts, sizeof(posts));
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(events_, {});
}

// The longest delay of the agent's first report to the coordinator while a
// process of this node makes an NCCL id. The report offers this id for the next
// round. Loading NCCL takes tens of milliseconds if its file is cached in
// memory, hundreds of milliseconds from a disk.
constexpr Duration kNcclIdTimeout = std::chrono::seconds(5);
// The time limit for writing the job files at a round's start, and for removing
// them at the end of the run: their file system may hang. A job file tells
// dcgm-exporter which job uses a GPU.
constexpr Duration kJobFilesTimeout = std::chrono::seconds(1);
// The time limit at the end of the run for sending the last output to operators
// that follow the workers' output (launch logs -f).
constexpr Duration kTimeForLastOutput = std::chrono::seconds(2);

Lifecycle::Config ConfigOf(const AgentOptions& options, int check_port) {
  Lifecycle::Config config;
  config.run_id = options.run_id;
  config.node = options.node;
  config.place_key = options.place_key;
  config.spec = options.spec;
  config.endpoint = options.coordinator_endpoint;
  config.other_endpoints = options.other_endpoints;
  config.standby_endpoint = options.standby_endpoint;
  config.policy = options.policy;
  if (!options.nccl_id_program.empty()) {
    config.nccl_id_timeout = kNcclIdTimeout;
  }
  config.signals_to_preempt = options.preemption.signals;
  config.preempt_signal = options.preemption.worker_signal;
  if (options.health.Asked()) {
    config.health_interval = options.health.interval;
  }
  config.check_port = check_port;
  // The check by pairs (--network-check) measures one GPU per worker, but only
  // if the workers' connections are not encrypted: NCCL cannot encrypt its
  // connections.
  if (!options.gpu_pair_program.empty() &&
      options.spec.encryption != rendezvous::Encryption::kWorkers) {
    config.check_gpus = options.node.slots;
  }
  return config;
}

// The program that measures this node's GPUs, and its environment. The
// environment has the variables that otherwise only the workers get, such as
// NCCL_SOCKET_IFNAME of a configuration file, but not NCCL_COMM_ID: this
// variable fixes the address of NCCL's root, and each pair of nodes has a root
// of its own.
GpuPairProgram GpuProgramOf(const AgentOptions& options) {
  std::vector<std::string> changes = {"CUDA_CACHE_DISABLE=1"};
  for (const auto& [name, value] : options.environment.more) {
    if (name == "NCCL_COMM_ID" || name == "NCCL_DEBUG_FILE") continue;
    changes.push_back(absl::StrCat(name, "=", value));
  }
  return {.path = options.gpu_pair_program,
          .environment =
              EnvironmentWith(changes, {"NCCL_COMM_ID", "NCCL_DEBUG_FILE"})};
}

RoundStore::Options StoreOptions(
    const AgentOptions& options,
    const std::function<void(const std::string&)>& on_notice) {
  return {.host = options.spec.store_host,
          .path = options.store_path,
          .fixed_port = options.store_port,
          .fixed_by = options.store_port_flag,
          .node_host = options.node.host,
          .more_clients = options.store_clients,
          .on_notice = on_notice};
}

WorkerTimers::Options TimerOptions(
    const std::function<void(const std::string&)>& on_notice) {
  WorkerTimers::Options options =
      WorkerTimers::FromEnvironment(ReadEnvironment());
  options.on_notice = on_notice;
  return options;
}

PreemptionAnnouncer::Options AnnouncerOptions(
    const AgentOptions& options,
    const std::function<void(const std::string&)>& on_notice) {
  return {.command = options.preemption.command,
          .run_id = options.run_id,
          .node_id = options.node.node_id,
          .after_grace = options.spec.shutdown_timeout,
          .signals = options.preemption.signals,
          .on_notice = on_notice};
}

// Returns OK if the workers' connections need no encryption, or if the
// coordinator has sent the encryption key. Otherwise returns
// FailedPrecondition.
absl::Status CheckChannelKey(const AgentOptions& options,
                             const rendezvous::Place& place) {
  if (options.spec.encryption == rendezvous::Encryption::kNone ||
      place.channel_key.size() == kChannelKeyBytes) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("--encrypt=workers: ", options.node.host,
                   " got no key for the round: the coordinator is of an older "
                   "Muster; install the same Muster on every node"));
}

HealthGate::Options GateOptions(const AgentOptions& options) {
  return {.command = options.health.command,
          .environment = {"MUSTER_RUN_ID=" + options.run_id,
                          "MUSTER_NODE_ID=" + options.node.node_id},
          .built_in = options.health_checks,
          .timeout = options.health.timeout};
}

}  // namespace

ConsoleWriter::WaitLimits WaitLimitsAtEnd(ConsoleWriter::WaitLimits limits,
                                          JobEnd end) {
  if (end == JobEnd::kByItself) return limits;
  limits.end_signals = [later = std::move(limits.end_signals)] {
    return 1 + (later ? later() : 0);
  };
  return limits;
}

class Agent::Impl {
 public:
  Impl(AgentOptions options, Guardian* guardian,
       rendezvous::CoordinatorLink* link, Observer observer)
      : options_(std::move(options)),
        guardian_(guardian),
        link_(link),
        observer_(std::move(observer)),
        signals_(SignalsCaughtBy(options_)),
        logs_(options_.logs, observer_.console, observer_.log_account),
        progress_(options_.socket_parent),
        timers_(TimerOptions(observer_.on_notice)),
        terminal_([this](int fd, const TerminalModes* modes) {
          guardian_->RestoreAfterwards(fd, modes);
        }),
        workers_(&options_, guardian_, &logs_, &progress_, &terminal_,
                 observer_.on_notice),
        store_(StoreOptions(options_, observer_.on_notice)),
        nccl_ids_(options_.nccl_id_program),
        pair_meter_(options_.spec, GpuProgramOf(options_)),
        lifecycle_(ConfigOf(options_, pair_meter_.port()), MonotonicNow()),
        announcer_(AnnouncerOptions(options_, observer_.on_notice)),
        gate_(GateOptions(options_)),
        answers_(options_.run_id, link_, logs_.recent()) {
    if (observer_.gpus == nullptr) return;
    observer_.gpus->Follow([this](const XidSeen& seen) { OnXid(seen); });
  }

  ~Impl() {
    if (observer_.gpus != nullptr) observer_.gpus->Follow(nullptr);
  }

  AgentResult Run() {
    const absl::Status writable = logs_.CheckWritable();
    if (absl::IsDeadlineExceeded(writable)) {
      // A log folder whose file system does not answer in time is no error: the
      // user gets a message, and the training starts.
      if (observer_.on_notice) {
        observer_.on_notice(absl::StrCat("log folder: ", writable.message()));
      }
    } else if (!writable.ok()) {
      return {.exit_code = 1, .reason = std::string(writable.message())};
    }
    OfferPort();
    OfferNcclId();
    link_->Open({
        .on_connected =
            [this](std::string own, std::string peer, std::string endpoint) {
              inbox_.Post(PeerKnown(std::move(own), std::move(peer),
                                    std::move(endpoint)));
            },
        .on_directive =
            [this](rendezvous::Directive directive) {
              inbox_.Post(DirectiveCame{std::move(directive)});
            },
        .on_disconnected =
            [this](absl::Status why) { inbox_.Post(LinkDown{std::move(why)}); },
    });
    while (!leave_.has_value()) WaitAndStep();
    terminal_.Release();
    if (!options_.job_files.names.empty()) {
      logs_.folders().Do(
          options_.job_files.folder,
          [files = options_.job_files] { RemoveJobFiles(files); },
          kJobFilesTimeout);
    }
    // Sends the last part of the output to operators that follow it (launch
    // logs -f).
    answers_.Finish(kTimeForLastOutput);
    // The `launch` that hosts the coordinator ends once all agents have
    // disconnected (Coordinator::WaitUntilDeserted). So disconnect before
    // logs_.Finish, which may have to wait for a slow console of this node.
    link_->Close();
    logs_.Finish(WaitLimitsAtEnd(observer_.limits, end_));
    return {.exit_code = leave_->exit_code,
            .never_ran = leave_->never_ran,
            .verdict = leave_->verdict,
            .reason = leave_->reason,
            .acts_for_job = leave_->acts_for_job,
            .log_folder = logs_.RunFolder(),
            .end = end_};
  }

 private:
  // Called on the thread that listens for Xids (error codes of NVIDIA's
  // driver).
  void OnXid(const XidSeen& seen) {
    const bool is_hardware = KindOf(seen.xid) == XidKind::kHardware;
    const auto& say = is_hardware ? observer_.on_loss : observer_.on_notice;
    if (say) say(XidText(seen));
    if (is_hardware) {
      inbox_.Post(NodeFaultSeen{.kind = rendezvous::FaultKind::kXid,
                                .text = XidText(seen)});
    }
  }

  LinkUp PeerKnown(std::string own, std::string peer, std::string endpoint) {
    std::lock_guard<std::mutex> lock(peer_mutex_);
    peer_address_ = std::move(peer);
    if (own_address_.empty()) own_address_ = own;
    return LinkUp{.own_address = std::move(own),
                  .addresses = ReportedAddresses(InterfaceAddresses()),
                  .coordinator = std::move(endpoint)};
  }

  // Kills the guardian, the workers' parent process, if it has been silent for
  // too long. Call this only after reading the guardian's pending notices,
  // because each notice shows that the guardian lives.
  void WatchGuardian() {
    const Instant now = MonotonicNow();
    if (guardian_->signs_of_life() != signs_of_life_) {
      signs_of_life_ = guardian_->signs_of_life();
      guardian_watch_.Heard(now);
    }
    if (!guardian_watch_.Look(now)) return;
    guardian_->Abandon(absl::StrCat("gave no sign of life for ",
                                    ToSeconds(GuardianWatch::kDeadline), " s"));
  }

  void WaitAndStep() {
    WatchGuardian();
    pollfd fds[] = {{.fd = guardian_->fd(), .events = POLLIN, .revents = 0},
                    {.fd = inbox_.fd(), .events = POLLIN, .revents = 0},
                    {.fd = signals_.fd(), .events = POLLIN, .revents = 0},
                    {.fd = nccl_ids_.fd(), .events = POLLIN, .revents = 0},
                    {.fd = nccl_ids_.root_fd(), .events = POLLIN, .revents = 0},
                    {.fd = progress_.fd(), .events = POLLIN, .revents = 0},
                    {.fd = timers_.fd(), .events = POLLIN, .revents = 0}};
    ShowState();
    const int ready = PollUntil(fds, NextDeadline());
    // Read the workers' progress reports before reading the clock. If this
    // process was suspended (SIGSTOP), reports may have arrived in the
    // meantime, and the workers that sent them must not count as silent.
    HearWorkers();
    timers_.Look();
    Tell(nccl_ids_.Look(MonotonicNow()));
    if (auto lost = nccl_ids_.LookAtRoot()) {
      Step(NcclRootLost{*std::move(lost)});
    }
    if (ready == 0) {
      Step(ClockTicked());
      return;
    }
    // Handle signals to this process before the exits of workers: a cluster may
    // send the same signal to the workers and to this process, and the signal
    // then explains the exits.
    for (int signal : signals_.TakeAll()) {
      if (TakeTerminalSignal(signal)) continue;
      if (EndsJob(signal, options_.signals_to_handle,
                  options_.policy.signals_to_forward,
                  options_.preemption.signals)) {
        end_ = JobEnd::kBySignal;
      }
      Step(SignalCaught{signal});
    }
    if (fds[0].revents != 0) {
      for (const GuardianEvent& event : guardian_->Next()) {
        std::visit([this](const auto& e) { On(e); }, event);
      }
    }
    if (fds[1].revents != 0) {
      for (LifecycleEvent& event : inbox_.TakeAll()) {
        AnswerInquiries(event);
        Step(event);
      }
    }
  }

  // Answers the inquiries of operators (`launch logs`, `launch stacks`) that
  // the newest directive contains. The lifecycle, the agent's state machine,
  // ignores inquiries, because they change no state.
  void AnswerInquiries(const LifecycleEvent& event) {
    if (const auto* const came = std::get_if<DirectiveCame>(&event)) {
      answers_.Follow(came->directive.inquiries);
    } else if (std::holds_alternative<LinkDown>(event)) {
      answers_.Follow({});
    }
  }

  // Handles a signal of the terminal's job control. Returns false for other
  // signals.
  bool TakeTerminalSignal(int signal) {
    if (!IsTerminalSignal(options_, signal)) return false;
    if (signal == SIGTSTP) {
      // Sends SIGSTOP instead of SIGTSTP. A worker's process group is orphaned
      // (its parent is in another session), and SIGTSTP does not stop an
      // orphaned process group.
      guardian_->SignalAll(SIGSTOP, Guardian::Reach::kProcessGroups);
      terminal_.Stop();
      guardian_->SignalAll(SIGCONT, Guardian::Reach::kProcessGroups);
    } else if (signal == SIGWINCH) {
      terminal_.Resized();
    } else {
      terminal_.Continued();
    }
    return true;
  }

  void ShowState() {
    if (observer_.view == nullptr) return;
    const HealthWatch& health = lifecycle_.health();
    const RecentOutput::Sums output = logs_.recent()->sums();
    observer_.view->Show(
        {.phase = lifecycle_.phase(),
         .round = lifecycle_.round(),
         .connected = lifecycle_.connected(),
         .reached = lifecycle_.reached(),
         .health = health.health(),
         .unhealthy = health.unhealthy(),
         .leaving = lifecycle_.leaving(),
         .time = lifecycle_.TimeAt(MonotonicNow()),
         .progress = lifecycle_.ProgressAt(MonotonicNow()),
         .output = {.written = output.written,
                    .console_missing = observer_.console == nullptr
                                           ? 0
                                           : observer_.console->missing(),
                    .follower_skipped = output.skipped},
         .store = store_.load(),
         .turned = MonotonicNow()});
  }

  Instant NextDeadline() {
    Instant next = lifecycle_.NextDeadline().value_or(kNoDeadline);
    for (const std::optional<Instant> other :
         {guardian_watch_.NextLook(), nccl_ids_.NextDeadline(),
          progress_.NextTake(), timers_.NextLook(MonotonicNow())}) {
      next = std::min(next, other.value_or(kNoDeadline));
    }
    if (observer_.view == nullptr) return next;
    return std::min(next, MonotonicNow() + kLongestTurn);
  }

  void HearWorkers() {
    std::vector<WorkerSaid> said = progress_.Take(MonotonicNow());
    if (!said.empty()) Step(WorkersReported{std::move(said)});
  }

  void On(const WorkerStarted& event) {
    answers_.WorkerUp(first_rank_ + event.local_rank, event.pid);
    Step(WorkerUp{.local_rank = event.local_rank, .pid = event.pid});
  }
  void On(const WorkerNotStarted& event) { Step(workers_.NotStarted(event)); }
  void On(const WorkerEnded& event) {
    answers_.WorkerGone(first_rank_ + event.local_rank);
    Step(workers_.Ended(event, timers_.ExpiredScope(event.pid)));
  }
  void On(const AllGone& event) {
    terminal_.Release();
    Step(WorkersGone{event.left_behind});
  }
  void On(const GuardianLost& event) { Step(GuardianDied{event.reason}); }

  void Step(const LifecycleEvent& event) {
    LifecycleStep step = lifecycle_.Step(MonotonicNow(), event);
    // If this step announces a preemption, announce it before all other
    // actions: the announcement writes a file for the workers. The cluster may
    // already have sent its signal to the workers, and their signal handlers
    // look for this file. The other actions and the report to the coordinator
    // may block.
    for (const auto& action : step.actions) {
      const auto* const announce = std::get_if<AnnouncePreemption>(&action);
      if (announce != nullptr) Do(*announce);
    }
    for (const std::string& line : step.notices) {
      if (observer_.on_notice) observer_.on_notice(line);
    }
    for (const std::string& line : step.losses) {
      if (observer_.on_loss) observer_.on_loss(line);
    }
    // Write the file with the workers' exits before sending the report: as soon
    // as the coordinator has the report, another node may read the file.
    if (!step.ends.empty()) Keep(step.ends);
    if (step.report.has_value()) link_->Send(*step.report);
    if (step.standbys.has_value()) link_->SetStandbys(*step.standbys);
    if (step.reconnect.has_value()) {
      link_->Reconnect(step.reconnect->pause, step.reconnect->endpoint);
    }
    if (step.leave.has_value() && !leave_.has_value()) leave_ = step.leave;
    for (const auto& action : step.actions) {
      if (std::holds_alternative<AnnouncePreemption>(action)) continue;
      std::visit([this](const auto& a) { Do(a); }, action);
    }
  }

  void Keep(const std::vector<rendezvous::Failure>& ends) {
    const absl::Status kept = workers_.Keep(ends);
    if (!kept.ok() && observer_.on_notice) {
      observer_.on_notice(std::string(kept.message()));
    }
  }

  void RemoveOldRound(int round) {
    if (logs_.RunFolder().empty()) return;
    const std::string old =
        kept_rounds_.Begin(AttemptFolder(logs_.RunFolder(), round - 1));
    if (old.empty()) return;
    remover_.Remove(old);
    if (std::exchange(said_removal_, true) || !observer_.on_notice) return;
    observer_.on_notice(
        absl::StrCat("the log folders of old rounds are removed from now on, "
                     "beginning with ",
                     old, "; those of the first and of the newest ",
                     kMaxKeptRounds, " rounds are kept"));
  }

  void Do(const StartWorkers& action) {
    rendezvous::Place place = action.place;
    first_rank_ = place.first_rank;
    if (logs_.BeginRound(place.run_tag)) {
      logs_.folders().Post(
          options_.logs.directory,
          [run = logs_.RunFolder(), directory = options_.logs.directory] {
            PointLatestAt(run, directory);
          });
    }
    RemoveOldRound(place.round);
    place.master_address = ReachableAddress(place.master_address);
    std::string node_address = options_.node.address;
    {
      std::lock_guard<std::mutex> lock(peer_mutex_);
      if (node_address.empty()) node_address = own_address_;
    }
    // If the agent runs in the coordinator's process, it has no network
    // connection to the coordinator, and node_address is empty. Then use the
    // local address on the route to the node of group rank 0.
    if (const auto master = NumericAddress(place.master_address, 0);
        node_address.empty() && master.has_value()) {
      node_address = LocalAddressTowards(*master);
    }
    // If --stdin names a rank that does not exist, the node of group rank 0
    // prints a message about it.
    const std::string unread =
        UnreadInputRemark(options_.input, place.round, place.world_size);
    if (!unread.empty() && place.group_rank == 0 && observer_.on_notice) {
      observer_.on_notice(unread);
    }
    if (observer_.on_round) observer_.on_round();
    const absl::Status opened =
        progress_.Open(MonotonicNow(), place.round, options_.node.slots);
    announcer_.file().PutInto(progress_.folder());
    // If this process is killed, the guardian removes the folder of the
    // progress sockets.
    if (opened.ok()) guardian_->RemoveAfterwards(progress_.folder());
    if (!opened.ok() && observer_.on_notice) {
      observer_.on_notice(std::string(opened.message()));
    }
    WriteJobFilesOfRound();
    timers_.Open(progress_.folder(), guardian_->pid());
    const absl::Status key = CheckChannelKey(options_, place);
    const absl::StatusOr<rendezvous::Endpoint> master =
        key.ok() ? store_.Begin(place) : key;
    std::vector<WorkerDown> failed;
    if (master.ok()) {
      place.master_address = master->host;
      place.master_port = master->port;
      failed =
          workers_.Start(place, {.node_address = node_address,
                                 .preemption_file = announcer_.file().path(),
                                 .timer_file = timers_.path()});
    } else {
      workers_.Refuse(place);
    }
    OfferPort();
    const bool root_here = nccl_ids_.BeginRound(place.nccl_id);
    if (!root_here && place.group_rank == 0 && !place.nccl_id.empty()) {
      Step(NcclRootLost{
          "the process that hosts the root of this round's NCCL id died "
          "before the round began"});
    }
    OfferNcclId();
    for (const WorkerDown& down : failed) Step(down);
    if (!master.ok())
      Step(RoundRefused{std::string(master.status().message())});
  }

  // Writes the job files, which tell dcgm-exporter the job of this node's GPUs.
  void WriteJobFilesOfRound() {
    const JobFiles& files = options_.job_files;
    if (files.names.empty()) return;
    guardian_->RemoveAfterwards(files);
    const auto written = std::make_shared<absl::Status>();
    const bool done = logs_.folders().Do(
        files.folder, [files, written] { *written = WriteJobFiles(files); },
        kJobFilesTimeout);
    const absl::Status status =
        done ? *written
             : absl::DeadlineExceededError(absl::StrCat(
                   files.folder, ": its file system does not answer"));
    if (status.ok() || std::exchange(said_no_job_files_, true) ||
        !observer_.on_notice) {
      return;
    }
    observer_.on_notice(absl::StrCat(
        "--dcgm-job-mapping-dir: the job of the GPUs cannot be told: ",
        status.message()));
  }

  void Do(const SignalWorkers& action) {
    if (action.local_rank) {
      guardian_->SignalOne(*action.local_rank, action.signal);
      return;
    }
    guardian_->SignalAll(action.signal, action.everything
                                            ? Guardian::Reach::kEverything
                                            : Guardian::Reach::kProcessGroups);
  }

  void Do(const RenewNcclId&) {
    nccl_ids_.Discard();
    OfferNcclId();
  }

  void Do(const LookAtWorkers& action) {
    WorkersSeen seen{.round = action.round,
                     .records = workers_.RecordsFolder()};
    for (const LookAtWorkers::Worker& worker : action.workers) {
      seen.workers.push_back({worker.local_rank, ReadWorkerState(worker.pid)});
    }
    Step(seen);
  }

  void Do(const TakeStacks& action) {
    std::vector<StackTaker::Subject> subjects;
    for (const TakeStacks::Worker& worker : action.workers) {
      subjects.push_back(
          {.pid = worker.pid, .folder = workers_.FolderOf(worker.local_rank)});
    }
    const int local_rank = action.workers.front().local_rank;
    stacks_.Take(std::move(subjects), [this, round = action.round, local_rank](
                                          std::vector<std::string> lines) {
      inbox_.Post(workers_.Hanging(round, local_rank, std::move(lines)));
    });
  }

  void Do(const AnnouncePreemption& action) {
    announcer_.Announce(action.notice,
                        [this] { inbox_.Post(PreemptionAnnounced()); });
  }
  void Do(const EndAnnouncement& action) { announcer_.End(action.why); }

  void Do(const StartCheck& action) {
    gate_.Check([this, check = action.check](std::string unhealthy) {
      inbox_.Post(HealthChecked{check, std::move(unhealthy)});
    });
  }
  void Do(const DropCheck&) { gate_.Drop(); }

  void Do(const MeasurePair& action) {
    rendezvous::PairCheck check = action.check;
    check.address = ReachableAddress(check.address);
    pair_meter_.Measure(action.epoch, check,
                        [this](rendezvous::PairMeasurement measurement) {
                          inbox_.Post(PairMeasured{std::move(measurement)});
                        });
  }
  void Do(const DropMeasurement&) { pair_meter_.Drop(); }

  // Returns the address at which this node can connect to a node that reported
  // `address`. Usually the result is `address`. Exception: a node on the
  // coordinator's host may report a loopback address, which is useless on other
  // hosts. If this node reaches the coordinator at an address that is not
  // loopback, the result is the coordinator's address.
  std::string ReachableAddress(const std::string& address) {
    std::lock_guard<std::mutex> lock(peer_mutex_);
    const bool replaces = IsLoopback(address) && !peer_address_.empty() &&
                          !IsLoopback(peer_address_);
    return replaces ? peer_address_ : address;
  }

  void Do(const CloseStore& action) { store_.Close(action.reason); }

  // Reserves a port for the next round's store and offers it to the
  // coordinator. If no port can be reserved, offers none. If this node then
  // becomes the master (the node of group rank 0, which serves the store), it
  // cannot serve the round, and the failure message gives the reason.
  void OfferPort() {
    const absl::StatusOr<int> port = store_.Prepare();
    if (port.ok()) Step(PortHeld{*port});
  }

  void OfferNcclId() { Tell(nccl_ids_.Make(MonotonicNow())); }

  void Tell(const std::optional<NcclIdHolder::Outcome>& outcome) {
    if (!outcome.has_value()) return;
    if (outcome->id.empty()) {
      Step(NcclIdMissing{outcome->why});
    } else {
      Step(NcclIdReady{outcome->id});
    }
  }

  const AgentOptions options_;
  Guardian* const guardian_;
  rendezvous::CoordinatorLink* const link_;
  const Observer observer_;
  SignalCatcher signals_;
  Inbox inbox_;
  LogRelay logs_;
  KeptRounds kept_rounds_;
  FolderRemover remover_;
  // whether the user was notified that log folders were removed
  bool said_removal_ = false;
  // whether the user was notified that the job files for dcgm-exporter cannot
  // be written
  bool said_no_job_files_ = false;
  ProgressSockets progress_;
  // timers that workers set with PyTorch's FileTimerClient; the workers send
  // their requests through a pipe in the folder of progress_
  WorkerTimers timers_;
  TerminalBridge terminal_;
  RoundWorkers workers_;
  RoundStore store_;
  NcclIdHolder nccl_ids_;
  PairMeter pair_meter_;
  Lifecycle lifecycle_;
  GuardianWatch guardian_watch_{MonotonicNow()};
  // number of the guardian's notices (Guardian::signs_of_life) that had arrived
  // at the last call of WatchGuardian
  uint64_t signs_of_life_ = 0;
  int first_rank_ = 0;  // this node's first rank in the newest round
  std::optional<Leave> leave_;
  JobEnd end_ = JobEnd::kByItself;

  // The next four members are declared last, so that their threads end before
  // the objects that these threads use are destroyed.
  PreemptionAnnouncer announcer_;
  HealthGate gate_;
  StackTaker stacks_;
  InquiryAnswers answers_;

  std::mutex peer_mutex_;
  // address at which this node reaches the coordinator; guarded by peer_mutex_
  std::string peer_address_;
  // local address of the first connection to the coordinator; guarded by
  // peer_mutex_
  std::string own_address_;
};

Agent::Agent(AgentOptions options, Guardian* guardian,
             rendezvous::CoordinatorLink* link, Observer observer)
    : impl_(std::make_unique<Impl>(std::move(options), guardian, link,
                                   std::move(observer))) {}

Agent::~Agent() = default;

AgentResult Agent::Run() { return impl_->Run(); }

}  // namespace muster::agent
