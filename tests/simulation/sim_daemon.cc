#include "tests/simulation/sim_daemon.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::simulation {
namespace {

using rendezvous::Leadership;
using rendezvous::PendingRecords;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Time limits of calls to etcd, as in leader_election.cc and etcd_records.cc.
constexpr Duration kCallTimeout = milliseconds(300);
constexpr Duration kWriteTimeout = milliseconds(500);
constexpr Duration kReadTimeout = seconds(10);
// A daemon that has lost the leadership stands by again after this time at
// most.
constexpr Duration kSlowestEnd = milliseconds(50);
constexpr Duration kSimulationBegins = std::chrono::hours(24 * 365 * 50);
const char kRunId[] = "sim";

}  // namespace

Duration SimDaemon::WallTime() const {
  return kSimulationBegins + wall_offset_ +
         stage_->queue.now().time_since_epoch();
}

void SimDaemon::Post(uint64_t turn, std::function<void()> event) {
  if (turn != turn_) return;
  if (paused_) {
    inbox_.emplace_back([this, turn, event = std::move(event)] {
      if (turn == turn_) event();
    });
  } else {
    event();
  }
}

void SimDaemon::At(Instant when, std::function<void()> event) {
  stage_->queue.At(
      clock_.When(when),
      [this, turn = turn_, event = std::move(event)] { Post(turn, event); });
}

void SimDaemon::Call(Duration timeout, const SimEtcd::Request& request,
                     const std::function<void()>& fail) {
  const uint64_t call = ++calls_;
  open_.insert(call);
  At(Now() + timeout, [this, call, fail] {
    if (open_.erase(call) > 0) fail();
  });
  etcd_->Call(number_, [this, call, turn = turn_, request] {
    return [this, call, turn, answer = request()] {
      Post(turn, [this, call, answer] {
        if (open_.erase(call) > 0) answer();
      });
    };
  });
}

void SimDaemon::Start() {
  if (alive()) return;
  Random& random = stage_->takeover_random;
  const Plan& plan = stage_->plan;
  clock_ = SimClock(stage_->queue.now(),
                    random.Between(Duration::zero(), seconds(1000)),
                    random.Between(-plan.clock_ppm, plan.clock_ppm));
  wall_offset_ = random.Between(-plan.max_skew, plan.max_skew);
  stage_->Note(absl::StrCat("d", number_, " starts"));
  StandBy();
}

void SimDaemon::Kill() {
  if (!alive()) return;
  stage_->Note(absl::StrCat("d", number_, " is killed"));
  EndTurn();
  core_.reset();
  paused_ = false;
}

void SimDaemon::Terminate() {
  if (!alive() || paused_) return;
  stage_->Note(absl::StrCat("d", number_, " ends"));
  GiveBack();
  EndTurn();
  core_.reset();
}

void SimDaemon::Pause() {
  if (!alive() || paused_) return;
  stage_->Note(absl::StrCat("d", number_, " is paused"));
  paused_ = true;
  coordinator_->Pause();
}

void SimDaemon::Resume() {
  if (!alive() || !paused_) return;
  stage_->Note(absl::StrCat("d", number_, " goes on"));
  paused_ = false;
  std::deque<std::function<void()>> inbox;
  inbox.swap(inbox_);
  // The threads of the election, of the journal and of the streams wake in any
  // order.
  const bool is_job_first = stage_->takeover_random.Chance(500);
  if (is_job_first) coordinator_->Resume();
  for (const auto& event : inbox) event();
  coordinator_->Resume();
}

void SimDaemon::EndTurn() {
  ++turn_;
  open_.clear();
  inbox_.clear();
  armed_.reset();
  write_armed_.reset();
  pending_.reset();
  records_.clear();
  waiting_.clear();
  if (std::exchange(serves_, false)) coordinator_->EndTerm();
}

void SimDaemon::GiveBack() {
  if (core_->stage() != Leadership::Stage::kLeading) return;
  etcd_->Call(number_, [etcd = etcd_, term = core_->term()] {
    etcd->Release(term);
    return [] {};
  });
}

void SimDaemon::StandBy() {
  EndTurn();
  core_ = std::make_unique<Leadership>(Leadership::Limits());
  Look();
}

void SimDaemon::Look() {
  const Leadership::Request request = core_->Next(Now());
  if (request != Leadership::Request::kNone) Send(request);
  if (core_->stage() == Leadership::Stage::kOver) {
    stage_->Note(absl::StrCat("d", number_, " no longer leads"));
    ++stage_->census["leadership lost"];
    if (std::exchange(serves_, false)) coordinator_->EndTerm();
    At(Now() + stage_->takeover_random.Between(Duration::zero(), kSlowestEnd),
       [this] { StandBy(); });
    return;
  }
  const std::optional<Instant> next = core_->NextDeadline();
  if (armed_ == next) return;
  armed_ = next;
  if (!next.has_value()) return;
  At(*next, [this, when = *next] {
    if (armed_ != when) return;
    armed_.reset();
    Look();
  });
}

void SimDaemon::Send(Leadership::Request request) {
  if (request == Leadership::Request::kClaim) return Claim();
  if (request == Leadership::Request::kRenew) return Renew();
  Call(
      kCallTimeout,
      [this] {
        return [this, lock = etcd_->keys().lock, epoch = etcd_->keys().epoch] {
          seen_epoch_ = epoch;
          core_->OnRead(Now(), lock);
          Look();
        };
      },
      [this] {
        core_->OnFailed(Now());
        Look();
      });
}

void SimDaemon::Claim() {
  const uint64_t epoch = rendezvous::NextEpoch(
      seen_epoch_,
      static_cast<uint64_t>(
          std::chrono::duration_cast<milliseconds>(WallTime()).count()));
  Call(
      kCallTimeout,
      [this, epoch, seen = core_->seen()]() -> std::function<void()> {
        const std::optional<int64_t> term = etcd_->Claim(seen, epoch);
        if (!term.has_value()) {
          return [this] {
            core_->OnRefused();
            Look();
          };
        }
        stage_->Note(absl::StrCat("d", number_, " holds the lock, epoch ",
                                  epoch, ", term ", *term));
        elected_(epoch);
        return [this, epoch, term] {
          core_->OnClaimed(*term);
          epoch_ = epoch;
          Open();
          Look();
        };
      },
      [this] {
        core_->OnFailed(Now());
        Look();
      });
}

void SimDaemon::Renew() {
  Call(
      std::min(kCallTimeout, core_->leads_until() - Now()),
      [this, term = core_->term()]() -> std::function<void()> {
        const bool renewed = etcd_->Renew(term);
        return [this, renewed] {
          if (renewed) {
            core_->OnRenewed();
          } else {
            core_->OnRefused();
          }
          Look();
        };
      },
      [this] {
        core_->OnFailed(Now());
        Look();
      });
}

void SimDaemon::Open() {
  Call(
      kReadTimeout,
      [this] {
        return [this, kept = etcd_->keys().kept,
                written = etcd_->keys().written] {
          newest_write_ = written;
          stage_->Note(absl::StrCat("d", number_, " leads with epoch ", epoch_,
                                    kept.has_value() ? "" : ", without a job"));
          PendingRecords::Limits limits;
          limits.on_trouble = PendingRecords::OnTrouble::kHold;
          limits.hung_after = seconds(10);
          limits.retry_after = milliseconds(100);
          pending_ = std::make_unique<PendingRecords>("etcd", limits);
          serves_ = true;
          coordinator_->Lead(
              {.number = core_->term(),
               .epoch = epoch_,
               .etcd = etcd_,
               .clock = &clock_,
               .leads = [this] { return core_->Leads(Now()); },
               .put = [this](SimEtcd::Kept one) { Put(std::move(one)); }},
              kept,
              kept.has_value()
                  ? std::max(WallTime() - kept->written_at, Duration::zero())
                  : Duration::zero());
        };
      },
      [this] {
        GiveBack();
        StandBy();
      });
}

void SimDaemon::Put(SimEtcd::Kept kept) {
  kept.written_at = WallTime();
  const int number = records_.empty() ? 1 : records_.rbegin()->first + 1;
  records_.emplace(number, std::move(kept));
  waiting_.push_back(pending_->Add(kRunId, absl::StrCat(number)));
  Write();
}

void SimDaemon::Write() {
  pending_->Look(Now());
  if (pending_->MayWrite(Now())) {
    pending_->Begin(Now());
    if (newest_write_.has_value()) {
      Commit(*std::exchange(newest_write_, std::nullopt));
    } else {
      Call(
          kWriteTimeout,
          [this] {
            return [this, written = etcd_->keys().written] { Commit(written); };
          },
          [this] { WriteFailed("no answer"); });
    }
  }
  const std::optional<Instant> next = pending_->NextLook();
  if (write_armed_ == next) return;
  write_armed_ = next;
  if (!next.has_value()) return;
  At(*next, [this, when = *next] {
    if (write_armed_ != when) return;
    write_armed_.reset();
    Write();
  });
}

void SimDaemon::Commit(int64_t after) {
  const int number = std::stoi(*pending_->batch().at(kRunId));
  records_.erase(records_.begin(), records_.find(number));
  Call(
      kWriteTimeout,
      [this, term = core_->term(), after,
       kept = records_.at(number)]() -> std::function<void()> {
        const std::optional<int64_t> written = etcd_->Write(term, after, kept);
        if (!written.has_value()) return [this] { WriteFailed("refused"); };
        return [this, written] {
          newest_write_ = written;
          pending_->Succeeded();
          Written();
        };
      },
      [this] { WriteFailed("no answer"); });
}

void SimDaemon::WriteFailed(const char* why) {
  ++stage_->census["record not written"];
  pending_->Failed(Now(), why);
  Written();
}

void SimDaemon::Written() {
  const uint64_t turn = turn_;
  while (turn == turn_ && !waiting_.empty() &&
         waiting_.front() <= pending_->released()) {
    waiting_.pop_front();
    if (serves_) coordinator_->RecordIsDurable();
  }
  if (turn == turn_) Write();
}

}  // namespace muster::simulation
