#include "launcher/admin_command.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "agent/logs/terminal_text.h"
#include "base/check.h"
#include "base/ignored_signals.h"
#include "base/resource_room.h"
#include "base/subprocess.h"
#include "base/unix_time.h"
#include "launcher/launch_help.h"
#include "launcher/local_token.h"
#include "launcher/progress_ticker.h"
#include "launcher/reader_watch.h"
#include "launcher/report/inquiry_text.h"
#include "launcher/report/progress_text.h"
#include "launcher/report/status_text.h"
#include "launcher/report/text_layout.h"
#include "launcher/slurm/slurm_steps.h"
#include "launcher/top_screen.h"
#include "rendezvous/client/admin_client.h"
#include "rendezvous/events/event_log.h"
#include "rendezvous/events/status_json.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/output_tail.h"
#include "rendezvous/tls/tls_files.h"
#include "rendezvous/tls/token_identity.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

// Returns the user who runs this program and this host, such as "ada@node1",
// for the reasons of cancelled jobs and of bans.
std::string Caller() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  const passwd* user = getpwuid(getuid());
  return absl::StrCat(user == nullptr ? absl::StrCat("uid ", getuid())
                                      : std::string(user->pw_name),
                      "@", host);
}

// Returns the run id that the request names. If the request names none, returns
// the coordinator's only unfinished job. If no job is unfinished, returns the
// coordinator's only job.
absl::StatusOr<std::string> ChosenJob(rendezvous::AdminClient& client,
                                      const AdminRequest& request) {
  if (!request.run_id.empty()) return request.run_id;
  absl::StatusOr<std::vector<rendezvous::JobStatus>> jobs = client.ListJobs();
  if (!jobs.ok()) return jobs.status();
  std::vector<std::string> running;
  std::string names;
  for (const rendezvous::JobStatus& job : *jobs) {
    if (job.phase != rendezvous::JobPhase::kFinished)
      running.push_back(job.run_id);
    absl::StrAppend(&names, names.empty() ? "" : ", ", job.run_id);
  }
  if (running.size() == 1) return running[0];
  if (jobs->size() == 1) return jobs->front().run_id;
  if (jobs->empty()) {
    return absl::NotFoundError(absl::StrCat(
        "the coordinator at ", rendezvous::EndpointsText(request.endpoints),
        " has no job"));
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the coordinator at ", rendezvous::EndpointsText(request.endpoints),
      " has several jobs (", names, "); choose with --run-id"));
}

// Adds to each of `jobs` the list of its nodes, which the answer of ListJobs
// omits. Leaves out a job that the coordinator has removed since that answer.
absl::StatusOr<std::vector<rendezvous::JobStatus>> WithNodes(
    rendezvous::AdminClient& client,
    const std::vector<rendezvous::JobStatus>& jobs) {
  std::vector<rendezvous::JobStatus> whole;
  for (const rendezvous::JobStatus& job : jobs) {
    absl::StatusOr<rendezvous::JobStatus> one = client.GetJob(job.run_id);
    if (absl::IsNotFound(one.status())) continue;
    if (!one.ok()) return one.status();
    whole.push_back(*std::move(one));
  }
  return whole;
}

absl::Status Status(rendezvous::AdminClient& client,
                    const AdminRequest& request) {
  const bool json = request.format == AdminFormat::kJson;
  const TextTarget target = TargetOf(STDOUT_FILENO);
  std::string run_id = request.run_id;
  if (run_id.empty()) {
    absl::StatusOr<std::vector<rendezvous::JobStatus>> jobs = client.ListJobs();
    if (!jobs.ok()) return jobs.status();
    // A text listing shows the nodes only if there is a single job. JSON always
    // has the nodes, so that its form does not depend on the number of jobs.
    if (json) {
      jobs = WithNodes(client, *jobs);
      if (!jobs.ok()) return jobs.status();
      Print(rendezvous::JobListJson(*jobs));
      return absl::OkStatus();
    }
    if (jobs->size() != 1) {
      Print(JobListTable(*jobs, target));
      return absl::OkStatus();
    }
    run_id = jobs->front().run_id;
  }
  absl::StatusOr<rendezvous::JobStatus> job = client.GetJob(run_id);
  if (!job.ok()) return job.status();
  Print(json ? rendezvous::StatusJson(*job) : StatusTable(*job, target));
  return absl::OkStatus();
}

void SayReconnected(const rendezvous::AdminClient::Reconnected& now,
                    const Voice& voice) {
  voice.Error(PrintableLine(
      absl::StrFormat("coordinator lost; connected to %s after %.1f s",
                      now.endpoint, ToSeconds(now.after))));
}

// Interval at which `launch watch` asks for the job's progress.
constexpr Duration kProgressInterval = std::chrono::seconds(5);

absl::Status Watch(rendezvous::AdminClient& client, const AdminRequest& request,
                   const std::string& run_id, const Voice& voice) {
  const bool json = request.format == AdminFormat::kJson;
  const TextTarget target = TargetOf(STDOUT_FILENO);
  bool is_first = true;
  std::mutex printing;
  const ReaderWatch reader(STDOUT_FILENO, [] { std::_Exit(0); });
  const auto show = [&](const rendezvous::Decision& decision) {
    return Print(json
                     ? rendezvous::DecisionJson(run_id, decision, UnixSeconds())
                     : DecisionLine(decision, UnixSeconds(), target.style));
  };
  const ProgressTicker ticker(
      kProgressInterval,
      [&]() -> std::optional<rendezvous::JobStatus> {
        const absl::StatusOr<rendezvous::JobStatus> job = client.GetJob(run_id);
        return job.ok() ? std::optional(*job) : std::nullopt;
      },
      [&](const rendezvous::JobStatus& job) {
        const std::lock_guard<std::mutex> lock(printing);
        show({.kind = "progress",
              .round = job.round,
              .node_id = "",
              .reason = ProgressLine(job)});
        if (!json) Print(RankLines(job, target));
      });
  return client.WatchJob(
      run_id, [&](const rendezvous::AdminClient::Update& update) {
        const std::lock_guard<std::mutex> lock(printing);
        int ended = 0;
        if (is_first && !json) {
          // The updates of the watch stream omit the nodes, so GetJob reads the
          // nodes once. The stream has started before GetJob is called, so that
          // no change between the two calls is missed.
          const absl::StatusOr<rendezvous::JobStatus> job =
              client.GetJob(run_id);
          ended = Print(StatusTable(job.ok() ? *job : update.status, target));
        }
        is_first = false;
        if (update.reconnected) SayReconnected(*update.reconnected, voice);
        if (update.decisions_dropped > 0 && !json) {
          Print(absl::StrCat("(", update.decisions_dropped,
                             update.reconnected
                                 ? " decisions are missing here)\n"
                                 : " decisions came too fast to be shown)\n"));
        }
        for (const rendezvous::Decision& decision : update.decisions) {
          ended = show(decision);
        }
        return ended == 0 ? rendezvous::AdminClient::Watching::kGoOn
                          : rendezvous::AdminClient::Watching::kEnough;
      });
}

// Shows the job's state on the terminal and updates it until the user quits. If
// there is no terminal, prints the state once.
absl::Status Top(rendezvous::AdminClient& client, const std::string& run_id) {
  const auto read = [&] { return client.GetJob(run_id); };
  const auto inquire = [&](int rank, const std::stop_token& stop,
                           const RankOutput::Take& take) {
    return client.Inquire(
        run_id, /*node=*/"",
        {.ranks = {rank},
         .lines = static_cast<int>(rendezvous::OutputTail::kMaxLines),
         .follow = rendezvous::Inquiry::Follow::kYes},
        [&](const rendezvous::InquiryUpdate& update) {
          take(update);
          return rendezvous::AdminClient::Watching::kGoOn;
        },
        /*on_reconnect=*/nullptr, stop);
  };
  const absl::Status shown = ShowTop(read, inquire);
  if (!absl::IsFailedPrecondition(shown)) return shown;
  const absl::StatusOr<rendezvous::JobStatus> job = read();
  if (!job.ok()) return job.status();
  Print(StatusTable(*job, TargetOf(STDOUT_FILENO)));
  return absl::OkStatus();
}

// The nodes whose answers are missing or incomplete, each with the reason.
class MissingAnswers {
 public:
  void Add(const rendezvous::InquiryUpdate& update) {
    if (update.missing.empty()) return;
    absl::StrAppend(&text_, text_.empty() ? "" : "; ",
                    update.host.empty() ? update.node_id : update.host, ": ",
                    update.missing);
  }
  // OK if every node has answered completely. Otherwise Unavailable; the
  // message lists the nodes whose answers are missing or incomplete.
  absl::Status status() const {
    if (text_.empty()) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("nodes did not answer completely: ", text_));
  }

 private:
  std::string text_;
};

using Watching = rendezvous::AdminClient::Watching;

absl::Status Logs(rendezvous::AdminClient& client, const AdminRequest& request,
                  const std::string& run_id, const Voice& voice) {
  const bool follows =
      request.question.follow == rendezvous::Inquiry::Follow::kYes;
  OutputText text(TargetOf(STDOUT_FILENO).style);
  MissingAnswers missing;
  const ReaderWatch reader(STDOUT_FILENO, [] { std::_Exit(0); });
  const absl::Status status = client.Inquire(
      run_id, request.node, request.question,
      [&](const rendezvous::InquiryUpdate& update) {
        for (const std::string& note : update.part.notes) {
          voice.Error(PrintableLine(absl::StrCat(update.host, ": ", note)));
        }
        // With --follow, prints at once why a node sends no more output.
        if (follows && !update.missing.empty()) {
          voice.Error(
              PrintableLine(absl::StrCat(update.host, ": ", update.missing)));
        }
        if (!follows) missing.Add(update);
        const std::string lines = text.Format(update);
        return lines.empty() || Print(lines) == 0 ? Watching::kGoOn
                                                  : Watching::kEnough;
      },
      [&](const auto& reconnected) { SayReconnected(reconnected, voice); });
  return status.ok() ? missing.status() : status;
}

absl::Status Stacks(rendezvous::AdminClient& client,
                    const AdminRequest& request, const std::string& run_id,
                    const Voice& voice) {
  std::vector<HostStack> stacks;
  MissingAnswers missing;
  const absl::Status status = client.Inquire(
      run_id, request.node, request.question,
      [&](const rendezvous::InquiryUpdate& update) {
        for (const std::string& note : update.part.notes) {
          voice.Error(PrintableLine(absl::StrCat(update.host, ": ", note)));
        }
        missing.Add(update);
        for (const rendezvous::RankStack& stack : update.part.stacks) {
          stacks.push_back({.host = update.host, .stack = stack});
        }
        return Watching::kGoOn;
      });
  if (!stacks.empty()) {
    Print(StacksText(FoldStacks(stacks), TargetOf(STDOUT_FILENO)));
  }
  return status.ok() ? missing.status() : status;
}

absl::Status Nodes(rendezvous::AdminClient& client,
                   const AdminRequest& request) {
  if (!request.free.empty()) {
    const absl::Status freed = client.FreeNode(request.free);
    if (freed.ok()) {
      Print(agent::ForTerminal(
          absl::StrCat("node ", request.free, " is freed\n")));
    }
    return freed;
  }
  if (!request.ban.empty()) {
    const absl::Status banned = client.BanNode(
        request.ban,
        absl::StrCat(request.reason.empty() ? "" : request.reason + ", ",
                     "banned by ", Caller()));
    if (banned.ok()) {
      Print(agent::ForTerminal(
          absl::StrCat("node ", request.ban, " is banned\n")));
    }
    return banned;
  }
  const absl::StatusOr<std::vector<rendezvous::HostStatus>> nodes =
      client.ListNodes();
  if (!nodes.ok()) return nodes.status();
  Print(request.format == AdminFormat::kJson ? rendezvous::HostListJson(*nodes)
                                             : HostTable(*nodes));
  return absl::OkStatus();
}

absl::Status Cancel(rendezvous::AdminClient& client,
                    const std::string& run_id) {
  const absl::Status status = client.CancelJob(
      run_id, absl::StrCat("asked by ", Caller(), " (launch cancel)"));
  if (status.ok()) {
    Print(
        agent::ForTerminal(absl::StrCat("job ", run_id, " is being ended\n")));
  }
  return status;
}

absl::Status Drain(rendezvous::AdminClient& client, const std::string& run_id,
                   const std::string& node) {
  const absl::Status status = client.DrainNode(run_id, node);
  if (status.ok()) {
    Print(agent::ForTerminal(
        absl::StrCat("node ", node, " leaves job ", run_id, "\n")));
  }
  return status;
}

absl::Status Perform(rendezvous::AdminClient& client,
                     const AdminRequest& request, const Voice& voice) {
  using enum SubcommandId;
  if (request.verb == kStatus) return Status(client, request);
  if (request.verb == kNodes) return Nodes(client, request);
  const absl::StatusOr<std::string> run_id = ChosenJob(client, request);
  if (!run_id.ok()) return run_id.status();
  switch (request.verb) {
    case kWatch:
      return Watch(client, request, *run_id, voice);
    case kTop:
      return Top(client, *run_id);
    case kLogs:
      return Logs(client, request, *run_id, voice);
    case kStacks:
      return Stacks(client, request, *run_id, voice);
    case kCancel:
      return Cancel(client, *run_id);
    case kDrain:
      return Drain(client, *run_id, request.node);
    default:
      break;
  }
  MUSTER_CHECK(false) << "this subcommand asks no coordinator";
  return absl::OkStatus();
}

}  // namespace

namespace {

// Number of threads that the name resolver and gRPC start. If the limit on
// threads is reached, the resolver and gRPC wait forever, so AdminCommand
// checks the limit first.
constexpr ResourceNeed kNeed = {.threads = 8};

// Replaces this process by srun, which runs the same subcommand on the
// coordinator's host. The token that `launch --slurm` made is in a file on that
// host only. Returns only on failure, with the reason.
absl::Status AskOnItsHost(const SlurmCoordinator& coordinator,
                          const std::vector<std::string>& args) {
  const std::string program = OwnProgram();
  std::vector<std::string> command = {
      program.empty() ? "launch" : program, args[0],
      "--endpoint=" + coordinator.endpoint.ToString()};
  command.insert(command.end(), args.begin() + 1, args.end());
  const std::vector<std::string> there = OnHostOf(coordinator, command);
  const std::vector<char*> argv = ExecPointers(there);
  RestoreFileSizeSignal();
  execvp(argv[0], argv.data());
  return absl::UnauthenticatedError(absl::StrCat(
      "the job has a token that is known on ", coordinator.endpoint.host,
      " only, and srun cannot be run: ", std::strerror(errno)));
}

}  // namespace

int AdminCommand(AdminRequest request, const Voice& voice) {
  if (request.help == AdminHelpAsked::kYes) return Print(AdminHelp());
  const absl::Status room = CheckRoom(kNeed);
  if (!room.ok()) {
    voice.Error(std::string(room.message()));
    return 1;
  }
  absl::StatusOr<std::string> token = rendezvous::ReadCallerToken(
      request.token_file,
      [&](const std::string& sentence) { voice.Error(sentence); });
  if (!token.ok()) {
    return voice.Refuse(absl::InvalidArgumentError(token.status().message()));
  }
  const absl::Status tls = rendezvous::CheckTlsFiles(
      request.tls, std::time(nullptr),
      [&](const std::string& sentence) { voice.Error(sentence); });
  if (!tls.ok()) return voice.Refuse(tls);
  std::optional<SlurmCoordinator> of_slurm;
  if (!request.slurm_job.empty()) {
    absl::StatusOr<SlurmCoordinator> found =
        FindCoordinator(request.slurm_job, request.slurm_step);
    if (!found.ok()) {
      voice.Error(std::string(found.status().message()));
      return 1;
    }
    of_slurm = *std::move(found);
    request.endpoints = {of_slurm->endpoint};
  }
  rendezvous::AdminClient::Options options;
  options.endpoints = request.endpoints;
  options.tls = request.tls;
  options.token = *std::move(token);
  // With a single endpoint, look for the token file of its coordinator. Several
  // endpoints belong to daemons, which do not store their token in such a file.
  if (options.token.empty() && options.endpoints.size() == 1) {
    std::optional<LocalCoordinator> local =
        FindLocalCoordinator(options.endpoints.front(), LocalTokenParents());
    if (local) {
      if (!options.tls.given()) options.endpoints = {local->endpoint};
      options.token = std::move(local->token);
    }
  }
  const bool has_access = options.tls.given() || !options.token.empty();
  rendezvous::AdminClient client(std::move(options));
  absl::Status status = Perform(client, request, voice);
  if (status.ok()) return OutputWasLost() ? 1 : 0;
  if (absl::IsUnauthenticated(status) && of_slurm && !has_access) {
    status = AskOnItsHost(*of_slurm, request.args);
  }
  voice.Error(std::string(status.message()));
  return 1;
}

}  // namespace muster::launcher
