#include "rendezvous/job/blame.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

// Lower-case texts that occur in messages about failed communication: from
// PyTorch (DistError and its subclasses), Gloo, the c10d store and sockets.
constexpr std::string_view kPhrases[] = {
    "connection closed",
    "connection reset",
    "connection refused",
    "connection aborted",
    "connection timed out",
    "closed its connection",
    "broke its connection",
    // occurs in the error message with which the SDK's shared-memory transport
    // reports the death of another rank
    "died; noticed by",
    "connectionerror",
    "connectionreseterror",
    "connectionrefusederror",
    "brokenpipeerror",
    "broken pipe",
    "connectionabortederror",
    "disterror",
    "distbackenderror",
    "distnetworkerror",
    "diststoreerror",
    "nccl",
    "gloo",
    "socket timeout",
    "watchdog caught",
    "remote process exited",
    "no route to host",
    "network is unreachable",
};

// Whether a worker exited because its connection to a peer broke. Looks in the
// failure's message and in the last lines of stderr: if a program writes no
// error file, only stderr shows the reason.
bool LostItsPeer(const Failure& failure) {
  return failure.kind == FailureKind::kExitCode &&
         (IsCommunicationError(failure.message) ||
          std::ranges::any_of(failure.stderr_tail, IsCommunicationError));
}

// Whether a signal killed the worker, and the loss of a peer cannot be the
// reason. Such signals come from the out-of-memory killer, or from a defect of
// the machine or the program. SIGABRT and SIGTERM do not count: if a worker's
// peer is gone, PyTorch's watchdog aborts the worker, and launchers terminate
// it.
bool WasKilled(const Failure& failure) {
  constexpr int kSignals[] = {SIGKILL, SIGBUS, SIGILL, SIGFPE, SIGSEGV};
  return failure.kind == FailureKind::kSignal &&
         std::ranges::find(kSignals, failure.signal) != std::end(kSignals);
}

// Whether `cause` may be a consequence of an exception that a worker on node
// `raised_on` raised earlier. It may be one in two cases:
// - `cause` comes from the same node, and its worker exited with any code or
//   died of SIGABRT (PyTorch's watchdog ends a worker with this signal).
// - `cause` comes from another node, and a connection of its worker broke. Any
//   other failure may have come before the exception: the clocks of two nodes
//   cannot be compared.
bool MayFollow(const Failure& cause, const std::string& raised_on) {
  const bool same_node = cause.node_id == raised_on;
  if (cause.kind == FailureKind::kSignal) {
    return same_node && cause.signal == SIGABRT;
  }
  return cause.kind == FailureKind::kExitCode &&
         (same_node || LostItsPeer(cause));
}

// Whether `why`, the reason of a break, is `cause` or adds remarks to it after
// a semicolon.
bool BeginsWith(const std::string& why, const std::string& cause) {
  return absl::StartsWith(why, cause) &&
         (why.size() == cause.size() || why[cause.size()] == ';');
}

}  // namespace

std::string Describe(const Failure& failure) {
  if (failure.rank < 0) return failure.message;
  return absl::StrCat("rank ", failure.rank, " on ", failure.host, ": ",
                      failure.message);
}

FailureLog::FailureLog(std::optional<Failure> cause,
                       std::vector<Failure> collateral, int omitted)
    : cause_(std::move(cause)),
      collateral_(std::move(collateral)),
      omitted_(omitted) {}

void FailureLog::Clear() { *this = FailureLog(); }

void FailureLog::Add(const Failure& failure) {
  if (!cause_.has_value() && failure.kind != FailureKind::kStoppedByUs) {
    cause_ = failure;
  } else {
    AddCollateral(failure);
  }
}

void FailureLog::AddCollateral(const Failure& failure) {
  if (static_cast<int>(collateral_.size()) < kMaxCollateral) {
    collateral_.push_back(failure);
    // Drop the details of this collateral failure: the verdict shows only one
    // line for it.
    collateral_.back().traceback.clear();
    collateral_.back().stderr_tail.clear();
    collateral_.back().stack.clear();
  } else {
    ++omitted_;
  }
}

bool FailureLog::Has(const Failure& failure) const {
  const auto is_same = [&failure](const Failure& other) {
    return other.node_id == failure.node_id && other.rank == failure.rank &&
           other.message == failure.message;
  };
  return (cause_.has_value() && is_same(*cause_)) ||
         std::ranges::any_of(collateral_, is_same);
}

void FailureLog::Blame(const Failure& cause) {
  FailureLog blamed;
  blamed.cause_ = cause;
  if (cause_.has_value()) blamed.Add(*cause_);
  for (const Failure& failure : collateral_) blamed.Add(failure);
  blamed.omitted_ += omitted_;
  *this = std::move(blamed);
}

void FailureLog::Tell(Verdict& verdict) const {
  verdict.cause = cause_;
  verdict.collateral = collateral_;
  verdict.collateral_omitted = omitted_;
}

bool IsCommunicationError(std::string_view message) {
  const std::string lower = absl::AsciiStrToLower(std::string(message));
  return std::any_of(std::begin(kPhrases), std::end(kPhrases),
                     [&](std::string_view phrase) {
                       return lower.find(phrase) != std::string::npos;
                     });
}

Instant SilentSince(const Failure& hang, Instant now) {
  return now - std::max(hang.silent_for, Duration::zero());
}

bool IsStopped(const Failure& hang) { return hang.signal == SIGSTOP; }

void Blame::Clear() { *this = Blame(); }

void Blame::Restore(FailureLog failures, std::string why) {
  *this = Blame();
  failures_ = std::move(failures);
  why_ = std::move(why);
}

void Blame::Tell(std::string why) {
  const FailureLog known = std::exchange(failures_, {});
  *this = Blame();
  why_ = std::move(why);
  is_told_ = true;
  if (known.cause().has_value()) Add(*known.cause());
  for (const Failure& failure : known.collateral()) Add(failure);
}

void Blame::Add(const Failure& failure) {
  if (!is_told_) {
    failures_.Add(failure);
  } else if (!failures_.Has(failure)) {
    if (BeginsWith(why_, Describe(failure))) {
      failures_.Blame(failure);
    } else {
      failures_.AddCollateral(failure);
    }
  }
}

void Blame::Break(Instant now, uint64_t revision, std::string why,
                  const Failure* failure) {
  FailureLog failures = std::move(failures_);
  *this = Blame();
  failures_ = std::move(failures);
  why_ = std::move(why);
  broken_at_ = now;
  revision_ = revision;
  if (failure == nullptr) return;
  provisional_ = true;
  failed_on_ = failure->node_id;
  if (failure->kind != FailureKind::kHung) return;
  silent_since_ = SilentSince(*failure, now);
  stopped_ = IsStopped(*failure);
}

bool Blame::HasNotSeenBreak(const Node& node) const {
  return node.seen <= revision_;
}

bool Blame::LossExplains(const Node& lost, Instant now) const {
  const bool gone =
      lost.stream == 0 || lost.deadline <= now || lost.heard <= broken_at_;
  if (!provisional_ || !gone) return false;
  const std::string& id = lost.identity.node_id;
  if (id == killed_on_ && lost.stream == 0 && lost.broken_since <= outlived_) {
    return true;
  }
  return id != failed_on_ && lost.part != Part::kStopped &&
         HasNotSeenBreak(lost);
}

bool Blame::LeaveExplains(const Node& leaving, int round) const {
  const bool had_succeeded =
      leaving.phase == NodePhase::kSucceeded && leaving.round == round;
  return provisional_ && !had_succeeded && leaving.part != Part::kNone &&
         HasNotSeenBreak(leaving);
}

bool Blame::PreemptionExplains(const Node& node) const {
  return provisional_ && node.part != Part::kNone && HasNotSeenBreak(node);
}

void Blame::MoveToLoss(const Failure& loss) {
  failures_.Blame(loss);
  Settle();
}

std::optional<Blame::Move> Blame::MovesTo(const Failure& failure,
                                          Instant now) const {
  if (!provisional_) return std::nullopt;
  if (failure.kind == FailureKind::kHung && silent_since_.has_value()) {
    const bool stopped = IsStopped(failure);
    const bool earlier = SilentSince(failure, now) < *silent_since_;
    if (stopped == stopped_ ? earlier : stopped) {
      return Move{"hang", stopped ? ", which is stopped; not by "
                                  : ", which fell silent first; not by "};
    }
  }
  const std::optional<Failure>& cause = failures_.cause();
  if (failure.raised_first && !IsCommunicationError(failure.message) &&
      cause.has_value() && MayFollow(*cause, failure.node_id)) {
    return Move{"blame", ", which was raised before; not by "};
  }
  if (WasKilled(failure) && cause.has_value() && LostItsPeer(*cause)) {
    return Move{"blame", ", whose connections broke; not by "};
  }
  return std::nullopt;
}

void Blame::MoveTo(const Failure& failure, std::string why, Instant now) {
  failed_on_ = failure.node_id;
  failures_.Blame(failure);
  why_ = std::move(why);
  if (failure.kind != FailureKind::kHung) return;
  silent_since_ = SilentSince(failure, now);
  stopped_ = IsStopped(failure);
}

void Blame::SuspectKill(const Node& node, const Failure& failure, Instant now) {
  if (!provisional_ || !HasNotSeenBreak(node) || !killed_on_.empty() ||
      failure.kind != FailureKind::kSignal || failure.signal != SIGKILL) {
    return;
  }
  killed_on_ = failure.node_id;
  outlived_ = now + kKillSpread;
}

bool Blame::AwaitsProofOfLife(const Membership& nodes, Instant now) const {
  if (!provisional_ || killed_on_.empty()) return false;
  const Node* const killed = nodes.Find(killed_on_);
  if (killed == nullptr) return false;
  return killed->stream == 0 || now < outlived_;
}

std::optional<Instant> Blame::NextDeadline(Instant now) const {
  if (killed_on_.empty() || now >= outlived_) return std::nullopt;
  return outlived_;
}

void Blame::ForgiveStandstill(Instant due, Instant now) {
  if (killed_on_.empty() || outlived_ < due || forgiven_) return;
  forgiven_ = true;
  outlived_ = now + kKillSpread;
}

}  // namespace muster::rendezvous
