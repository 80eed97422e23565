#include "agent/preemption/preemption_announcer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/commands/shell_command.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {
namespace {

// The extra time to kill a command after its deadline.
constexpr Duration kMargin = std::chrono::seconds(2);

}  // namespace

PreemptionAnnouncer::PreemptionAnnouncer(Options options)
    : options_(std::move(options)) {}

void PreemptionAnnouncer::Announce(const rendezvous::PreemptionNotice& notice,
                                   std::function<void()> done) {
  const absl::Status written = file_.Write(notice);
  if (!written.ok() && options_.on_notice) {
    options_.on_notice(std::string(written.message()));
  }
  if (options_.command.empty()) {
    done();
    return;
  }
  ShellCommand hook;
  hook.command = options_.command;
  hook.timeout = notice.left + options_.after_grace;
  hook.ignored_signals = options_.signals;
  hook.environment = {
      absl::StrCat("MUSTER_RUN_ID=", options_.run_id),
      absl::StrCat("MUSTER_NODE_ID=", options_.node_id),
      absl::StrCat("MUSTER_PREEMPTION_SIGNAL=",
                   rendezvous::SignalName(notice.signal)),
      absl::StrCat("MUSTER_PREEMPTION_HOST=", notice.host),
      absl::StrCat("MUSTER_PREEMPTION_GRACE=", ToSeconds(notice.left)),
  };
  if (!file_.path().empty()) {
    hook.environment.push_back(
        absl::StrCat("MUSTER_PREEMPTION_FILE=", file_.path()));
  }
  hook_.Start(
      [hook](int cancel_fd) mutable {
        hook.cancel_fd = cancel_fd;
        return RunShellCommand(hook);
      },
      hook.timeout + kMargin,
      [done = std::move(done),
       on_notice = options_.on_notice](const absl::Status& outcome) {
        if (!outcome.ok() && on_notice) {
          on_notice(absl::StrCat("--on-preempt failed: ",
                                 std::string(outcome.message())));
        }
        done();
      });
}

void PreemptionAnnouncer::End(const std::string& why) {
  if (hook_.Cancel() == TimedTask::Was::kUnderWay && options_.on_notice) {
    options_.on_notice(
        absl::StrCat("--on-preempt was ended before it was done: ", why));
  }
}

}  // namespace muster::agent
