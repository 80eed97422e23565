#include "rendezvous/etcd/leader_election.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::rendezvous {
namespace {

// Time limit of one call. Less than a third of a lease: if one etcd member does
// not answer, the leader can still renew its lease through another one.
constexpr Duration kCallTimeout = std::chrono::milliseconds(300);
constexpr Duration kFirstReadTimeout = std::chrono::seconds(2);
constexpr size_t kMaxName = 200;
constexpr Duration kReleaseTimeout = std::chrono::milliseconds(500);

// Returns the wall clock's time in milliseconds.
uint64_t MillisecondsSince1970() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::system_clock::now().time_since_epoch())
          .count());
}

// Returns `text` in a form that can be printed: shortened, and with unprintable
// characters replaced. The text comes from another process.
std::string Printable(std::string text) {
  text.resize(std::min(text.size(), kMaxName));
  for (char& c : text) {
    if (!absl::ascii_isprint(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

}  // namespace

absl::Status LeaderElection::Check(EtcdClient* client) {
  const absl::StatusOr<Seen> seen =
      Read(client, MonotonicNow() + kFirstReadTimeout);
  if (seen.ok() || absl::IsUnavailable(seen.status())) return absl::OkStatus();
  return absl::Status(seen.status().code(),
                      absl::StrCat("cannot use ", client->access().ToString(),
                                   ": ", std::string(seen.status().message())));
}

absl::StatusOr<std::unique_ptr<LeaderElection>> LeaderElection::Begin(
    EtcdClient* client, Options options) {
  std::unique_ptr<LeaderElection> election(
      new LeaderElection(client, std::move(options)));
  if (!election->changed_fd_.open()) {
    return absl::ResourceExhaustedError("no descriptor is left");
  }
  try {
    election->thread_ = std::thread([self = election.get()] { self->Run(); });
  } catch (const std::system_error&) {
    return absl::ResourceExhaustedError(
        "cannot start the thread of the election");
  }
  return election;
}

LeaderElection::LeaderElection(EtcdClient* client, Options options)
    : client_(client),
      options_(std::move(options)),
      changed_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      core_(options_.limits) {}

LeaderElection::~LeaderElection() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (core_.stage() != Leadership::Stage::kLeading) return;
  // Release the lock. An error does no harm: a standby takes the lock over once
  // the lease has expired.
  client_
      ->Commit({.expected = {{Key(kLeaderKey), core_.term()}},
                .changes = {{Key(kLeaderKey), std::nullopt}}},
               MonotonicNow() + kReleaseTimeout)
      .status()
      .IgnoreError();
}

LeaderElection::Stage LeaderElection::stage() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return stage_;
}

bool LeaderElection::Leads() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stage_ == Stage::kLeading && MonotonicNow() >= leads_until_) {
    Publish(Stage::kOver);
  }
  return stage_ == Stage::kLeading;
}

EtcdTerm LeaderElection::term() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return term_;
}

std::string LeaderElection::leader() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return leader_;
}

void LeaderElection::Drain() {
  uint64_t count = 0;
  (void)!read(changed_fd_.get(), &count, sizeof(count));
}

std::string LeaderElection::Key(const char* name) const {
  return absl::StrCat(client_->access().prefix, name);
}

absl::StatusOr<LeaderElection::Seen> LeaderElection::Read(EtcdClient* client,
                                                          Instant deadline) {
  const auto key = [client](const char* name) {
    return absl::StrCat(client->access().prefix, name);
  };
  auto keys = client->Read(key(kElectionFolder), deadline);
  if (!keys.ok()) return keys.status();
  Seen seen;
  const auto format = keys->find(key(kFormatKey));
  if (format != keys->end() && format->second.bytes != kFormat) {
    return absl::FailedPreconditionError(absl::StrCat(
        "another version of Muster uses these keys (format ",
        format->second.bytes.substr(0, 20), ", and this one knows ", kFormat,
        "); end its coordinators, or name another prefix"));
  }
  const auto epoch = keys->find(key(kEpochKey));
  if (epoch != keys->end() &&
      !absl::SimpleAtoi(epoch->second.bytes, &seen.epoch)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the key ", key(kEpochKey),
                     " is not a number; restore it, or name another prefix"));
  }
  if (const auto leader = keys->find(key(kLeaderKey)); leader != keys->end()) {
    seen.lock.holding = leader->second.revision;
    seen.leader = Printable(leader->second.bytes);
  }
  if (const auto renewal = keys->find(key(kRenewalKey));
      renewal != keys->end()) {
    seen.lock.renewal = renewal->second.revision;
  }
  return seen;
}

void LeaderElection::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closing_) {
    lock.unlock();
    const Leadership::Request request = core_.Next(MonotonicNow());
    if (request != Leadership::Request::kNone) Perform(request);
    Publish();
    const std::optional<Instant> next = core_.NextDeadline();
    lock.lock();
    if (!next.has_value()) return;  // no deadline: the leadership is over
    changed_.wait_until(lock, ToSteady(*next), [this] { return closing_; });
  }
}

void LeaderElection::Perform(Leadership::Request request) {
  Instant deadline = MonotonicNow() + kCallTimeout;
  switch (request) {
    case Leadership::Request::kClaim:
      return Claim(deadline);
    case Leadership::Request::kRenew:
      return Renew(std::min(deadline, core_.leads_until()));
    case Leadership::Request::kRead:
    case Leadership::Request::kNone:
      break;
  }
  absl::StatusOr<Seen> seen = Read(client_, deadline);
  if (!seen.ok()) return Fail(seen.status());
  seen_ = *std::move(seen);
  core_.OnRead(MonotonicNow(), seen_.lock);
}

void LeaderElection::Claim(Instant deadline) {
  epoch_ = NextEpoch(seen_.epoch, MillisecondsSince1970());
  const auto claimed =
      client_->Commit({.expected = {{Key(kLeaderKey), core_.seen().holding},
                                    {Key(kRenewalKey), core_.seen().renewal}},
                       .changes = {{Key(kLeaderKey), options_.self},
                                   {Key(kRenewalKey), ""},
                                   {Key(kEpochKey), absl::StrCat(epoch_)},
                                   {Key(kFormatKey), kFormat}}},
                      deadline);
  if (!claimed.ok()) return Fail(claimed.status());
  if (!claimed->has_value()) return core_.OnRefused();
  core_.OnClaimed(**claimed);
}

void LeaderElection::Renew(Instant deadline) {
  const auto renewed =
      client_->Commit({.expected = {{Key(kLeaderKey), core_.term()}},
                       .changes = {{Key(kRenewalKey), ""}}},
                      deadline);
  if (!renewed.ok()) return Fail(renewed.status());
  if (!renewed->has_value()) return core_.OnRefused();
  core_.OnRenewed();
}

void LeaderElection::Fail(const absl::Status& status) {
  const Instant now = MonotonicNow();
  core_.OnFailed(now);
  const std::string trouble(status.message());
  if (!troubles_.Admit(now, trouble)) return;
  options_.say(absl::StrCat(trouble, "; trying again"));
}

void LeaderElection::Publish() {
  Stage stage = Stage::kStandby;
  if (core_.stage() == Leadership::Stage::kOver) {
    stage = Stage::kOver;
  } else if (core_.stage() == Leadership::Stage::kLeading) {
    stage = core_.Leads(MonotonicNow()) ? Stage::kLeading : Stage::kOver;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool is_news = stage != stage_ || leader_ != seen_.leader;
  leads_until_ = core_.leads_until();
  if (!is_news || stage_ == Stage::kOver) return;
  leader_ = seen_.leader;
  if (stage == Stage::kLeading && term_.epoch == 0) {
    term_ = {.revision = core_.term(), .epoch = epoch_};
  }
  Publish(stage);
}

void LeaderElection::Publish(Stage stage) {
  stage_ = stage;
  const uint64_t one = 1;
  (void)!write(changed_fd_.get(), &one, sizeof(one));
}

}  // namespace muster::rendezvous
