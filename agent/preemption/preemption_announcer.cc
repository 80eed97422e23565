#include "agent/preemption/preemption_announcer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/commands/tool_run.h"
#include "agent/guardian/socket_folder.h"
#include "base/owned_fd.h"
#include "base/write_all.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster::agent {

std::string PreemptionLine(const rendezvous::PreemptionNotice& notice) {
  const nlohmann::ordered_json line = {
      {"signal", rendezvous::SignalName(notice.signal)},
      {"host", notice.host},
      {"grace_s", ToSeconds(notice.left)}};
  // The host's name may contain bytes that are not UTF-8: the dump replaces
  // them.
  return line.dump(-1, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

PreemptionFile::~PreemptionFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

void PreemptionFile::PutInto(const std::string& folder) {
  path_ = folder.empty() ? "" : absl::StrCat(folder, "/", kFileAmongSockets);
}

absl::Status PreemptionFile::Write(const rendezvous::PreemptionNotice& notice) {
  if (path_.empty()) return absl::OkStatus();
  // Writes under another name and then renames the file, so that readers see
  // the whole file or none.
  const std::string draft = path_ + ".new";
  const std::string line = PreemptionLine(notice);
  bool written = false;
  {
    const OwnedFd file(
        open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    written = file.open() && WriteAll(file.get(), line);
  }
  if (written && rename(draft.c_str(), path_.c_str()) == 0) {
    return absl::OkStatus();
  }
  const int error = errno;
  unlink(draft.c_str());
  return absl::UnavailableError(
      absl::StrCat("workers do not find the notice of the preemption in ",
                   path_, ": ", std::strerror(error)));
}

namespace {

// RunShellCommand kills the user's command at its time limit, and then returns.
// If RunShellCommand has not returned within this margin after the time limit,
// its thread is abandoned.
constexpr Duration kKillMargin = std::chrono::seconds(2);

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
      hook.timeout + kKillMargin,
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
  if (hook_.Cancel() == TimedTask::CancelResult::kRunning &&
      options_.on_notice) {
    options_.on_notice(
        absl::StrCat("--on-preempt was ended before it was done: ", why));
  }
}

}  // namespace muster::agent
