#include "launcher/doctor/remote_nodes.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/environment_value.h"
#include "launcher/doctor/absent_nodes.h"
#include "launcher/doctor/captured_output.h"
#include "launcher/doctor/doctor_meeting.h"
#include "launcher/doctor/doctor_text.h"
#include "launcher/doctor/job_token.h"
#include "launcher/doctor/nodes_page.h"
#include "launcher/doctor/outcome_lines.h"
#include "launcher/report/text_style.h"
#include "launcher/ssh/read_front.h"
#include "launcher/ssh/ssh_front.h"
#include "rendezvous/token/token.h"

namespace muster::launcher {
namespace {

using Environment = std::map<std::string, std::string>;

absl::StatusOr<CapturedOutput> Capture(const Environment& environment) {
  return CapturedOutput::Begin(
      NonEmptyEnvironmentValue(environment, "TMPDIR").value_or("/tmp"));
}

// Decodes the page that a worker printed into `output`. No nodes: there is
// none.
NodesPage PageIn(const std::string& output) {
  const ReadOutcome outcome = ReadOutcomeLines(output);
  std::fputs(outcome.rest.c_str(), stderr);
  if (!outcome.text) return {};
  return ParseNodesJson(*outcome.text).value_or(NodesPage());
}

absl::StatusOr<int> Tell(const DoctorRequest& request,
                         const ExpectedNodes& expected, NodesPage page) {
  page.expected = expected.count;
  for (agent::Finding& absent : FindAbsent(expected, page.reports)) {
    page.between.push_back(std::move(absent));
  }
  // No node reported, although no host is known to have failed: the cause is
  // another one, which has been printed.
  if (page.reports.empty() && expected.why.empty()) {
    return absl::NotFoundError("no node has told anything");
  }
  const std::string text =
      request.format == DoctorFormat::kJson
          ? absl::StrCat(NodesJson(page), "\n")
          : NodesText(page, request.detail, TargetOf(STDOUT_FILENO));
  const bool printed =
      std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  return printed ? ExitCodeOf(WorstOfPage(page)) : 1;
}

// Changes the plan so that the job starts with all hosts that answer. Node
// ranks are removed: ranks of missing hosts would leave gaps.
void WithThoseThatAnswer(const RunOptions& options, RemotePlan& plan) {
  plan.least = 1;
  plan.beginning = Beginning::kWithAllThatAnswer;
  plan.rendezvous_conf = DoctorsRdzvConf(options);
  plan.node.flags.emplace_back("--scale-up=never");
  for (RemoteHost& host : plan.node.hosts) {
    host.flags.erase(std::remove_if(host.flags.begin(), host.flags.end(),
                                    [](const std::string& flag) {
                                      return absl::StartsWith(flag,
                                                              "--node-rank=");
                                    }),
                     host.flags.end());
  }
  const auto token = plan.node.environment.find(rendezvous::kTokenVariable);
  if (token != plan.node.environment.end()) {
    plan.node.environment[kWorkersTokenVariable] = token->second;
  }
}

}  // namespace

absl::StatusOr<int> RunOverSsh(const DoctorRequest& request,
                               const RunOptions& options,
                               const Environment& environment,
                               const Voice& voice) {
  absl::StatusOr<RemotePlan> plan = ReadFront(options, environment, voice);
  if (!plan.ok()) return plan.status();
  WithThoseThatAnswer(options, *plan);
  ExpectedNodes expected;
  for (const RemoteHost& host : plan->node.hosts) {
    expected.names.push_back(host.name);
  }
  expected.count = static_cast<int>(expected.names.size());
  absl::StatusOr<CapturedOutput> output = Capture(environment);
  if (!output.ok()) return output.status();
  RemoteEnd end = RunRemotePlan(*plan, options, "launch");
  NodesPage page = PageIn(output->End());
  expected.why = std::move(end.failed);
  return Tell(request, expected, std::move(page));
}

absl::StatusOr<int> RunOverSlurm(const DoctorRequest& request,
                                 const RunOptions& options,
                                 const std::vector<std::string>& arguments,
                                 const Environment& environment,
                                 const LaunchFunction& launch) {
  ExpectedNodes expected;
  std::vector<std::string> meeting = {
      absl::StrCat("--rdzv-conf=", DoctorsRdzvConf(options))};
  // A heterogeneous job has one node list for each component, which are not
  // read.
  if (!NonEmptyEnvironmentValue(environment, "SLURM_HET_SIZE")) {
    expected.names = SlurmNodes(environment);
    const bool is_given = options.remote.given.count("nnodes") > 0;
    expected.count = is_given ? ExpectedOf(options)
                              : static_cast<int>(expected.names.size());
    const int most = is_given ? options.spec.max_nodes : expected.count;
    meeting.emplace_back("--scale-up=never");
    if (most > 1) meeting.push_back(absl::StrCat("--nnodes=1:", most));
  }
  meeting.insert(meeting.end(), arguments.begin(), arguments.end());
  absl::StatusOr<CapturedOutput> output = Capture(environment);
  if (!output.ok()) return output.status();
  launch(meeting);
  NodesPage page = PageIn(output->End());
  return Tell(request, expected, std::move(page));
}

}  // namespace muster::launcher
