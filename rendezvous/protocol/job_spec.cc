#include "rendezvous/protocol/job_spec.h"

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kLongest = std::chrono::hours(24 * 365);

absl::Status CheckSpan(const char* name, Duration value, Duration least) {
  if (value >= least && value <= kLongest) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(name, " is ", ToSeconds(value), " s; it must be between ",
                   ToSeconds(least), " s and one year"));
}

constexpr char kWhatToDo[] =
    "; start every node of one job with the same command, or with "
    "--rdzv-conf=mixed_nodes=1 where commands are meant to differ; give "
    "another job an --rdzv-endpoint of its own (on one machine: --standalone), "
    "or an --rdzv-id of its own at a rendezvousd";

const char* NameOf(Takeover takeover) {
  switch (takeover) {
    case Takeover::kAuto:
      return "auto";
    case Takeover::kMajority:
      return "majority";
    case Takeover::kNever:
      return "never";
  }
  return "?";
}

const char* NameOf(NetworkCheckTime when) {
  switch (when) {
    case NetworkCheckTime::kNever:
      return "never";
    case NetworkCheckTime::kStart:
      return "start";
    case NetworkCheckTime::kSuspicion:
      return "suspicion";
  }
  return "?";
}

// Compares the settings that must be equal on all nodes, such as the world size
// and the restart budget. Returns a clause about the first setting that
// differs; nullopt: none differs.
std::optional<std::string> OtherShape(const JobSpec& job,
                                      const JobSpec& asked) {
  if (job.min_nodes != asked.min_nodes || job.max_nodes != asked.max_nodes) {
    return absl::StrCat("this job runs with --nnodes=", job.min_nodes, ":",
                        job.max_nodes, ", but this node was started with ",
                        asked.min_nodes, ":", asked.max_nodes);
  }
  if (job.max_restarts != asked.max_restarts) {
    return absl::StrCat("this job runs with --max-restarts=", job.max_restarts,
                        ", but this node was started with ",
                        asked.max_restarts);
  }
  if (job.encryption != asked.encryption) {
    const auto how = [](Encryption encryption) {
      return encryption == Encryption::kWorkers ? "workers" : "none";
    };
    return absl::StrCat(
        "this job runs with --encrypt=", how(job.encryption),
        ", but this node was started with --encrypt=", how(asked.encryption));
  }
  if (job.store_host != asked.store_host) {
    const auto how = [](StoreHost host) {
      return host == StoreHost::kWorker ? "with" : "without";
    };
    return absl::StrCat("this job runs ", how(job.store_host),
                        " --worker-store, but this node was started ",
                        how(asked.store_host), " it");
  }
  if (job.network_check != asked.network_check) {
    return absl::StrCat(
        "this job runs with --network-check=", NameOf(job.network_check),
        ", but this node was started with --network-check=",
        NameOf(asked.network_check));
  }
  if (job.takeover != asked.takeover) {
    return absl::StrCat(
        "this job runs with --takeover=", NameOf(job.takeover),
        ", but this node was started with --takeover=", NameOf(asked.takeover));
  }
  return std::nullopt;
}

}  // namespace

absl::Status JobSpec::Validate() const {
  if (min_nodes < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("the least number of nodes is ", min_nodes,
                     "; a job needs at least 1"));
  }
  if (max_nodes < min_nodes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the least number of nodes, ", min_nodes,
                     ", is greater than the most, ", max_nodes));
  }
  if (max_nodes > kMaxNodes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "at most ", max_nodes, " nodes; no more than ", kMaxNodes));
  }
  if (max_restarts < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("max restarts is ", max_restarts, "; 0 or more"));
  }
  if (keep_alive_misses < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "keep-alive misses is ", keep_alive_misses, "; 1 or more"));
  }
  const struct {
    const char* name;
    Duration value;
    Duration least;
  } spans[] = {
      {"the join time-out", join_timeout, std::chrono::milliseconds(1)},
      {"the time-out of coming back", rejoin_timeout, Duration::zero()},
      {"the last call", last_call, Duration::zero()},
      {"the wait for a replacement", wait_for_replacement, Duration::zero()},
      {"the shutdown time-out", shutdown_timeout, Duration::zero()},
      {"the keep-alive interval", keep_alive_interval,
       std::chrono::milliseconds(1)},
      {"the reconnect grace", reconnect_grace, Duration::zero()},
      {"the scale-up cool-down", scale_up_cool_down, Duration::zero()},
      {"the preemption's grace", preempt_grace, Duration::zero()},
  };
  for (const auto& span : spans) {
    absl::Status status = CheckSpan(span.name, span.value, span.least);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::optional<Objection> Disagreement(const JobSpec& job,
                                      const JobSpec& asked) {
  const bool told_both = !job.command.empty() && !asked.command.empty();
  const bool other_command = told_both && job.command != asked.command;
  std::optional<std::string> difference = OtherShape(job, asked);
  if (!difference.has_value() && other_command &&
      !(job.mixed_nodes && asked.mixed_nodes)) {
    difference = "this job runs another command than this node";
  }
  if (!difference.has_value()) return std::nullopt;
  return Objection{
      .told = absl::StrCat(
          *difference,
          other_command ? absl::StrCat("; the job: \"", job.command,
                                       "\", this node: \"", asked.command, "\"")
                        : "",
          kWhatToDo),
      .noted = *difference,
      .another_job = true,
  };
}

}  // namespace muster::rendezvous
