#include "rendezvous/server/watch_stream.h"

#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "proto/admin.pb.h"
#include "rendezvous/grpc/grpc_status.h"
#include "rendezvous/wire/bounds.h"
#include "rendezvous/wire/status_wire.h"

namespace muster::rendezvous {
namespace {

// Minimum interval of updates. Each update reads the state of the whole job,
// whose size grows with the number of nodes.
constexpr int64_t kLeastIntervalMs = 100;

// Always in one of three states: idle until a decision, waiting for the alarm
// (the minimum interval), or waiting for its write.
class WatchStream : public grpc::ServerWriteReactor<v1::JobUpdate> {
 public:
  WatchStream(Coordinator* coordinator, std::string run_id)
      : coordinator_(coordinator), run_id_(std::move(run_id)) {}

  // `self` keeps the stream alive until gRPC has finished with it.
  void Start(std::shared_ptr<WatchStream> self) {
    self_ = std::move(self);
    auto watch = coordinator_->Watch(
        run_id_, [this](const Decision& decision) { Note(decision); });
    if (!watch.ok()) {
      Finish(ToGrpc(watch.status()));
      return;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    watch_ = *watch;
    waiting_ = Waiting::kForTurn;
    Update();
  }

  void OnWriteDone(bool ok) override {
    std::lock_guard<std::mutex> lock(mutex_);
    update_.reset();
    if (ended_) return;
    if (!ok || last_) {
      End(grpc::Status::OK);
      return;
    }
    waiting_ = Waiting::kForDecision;
    if (!decisions_.empty()) SetAlarm();
  }

  void OnCancel() override {
    std::lock_guard<std::mutex> lock(mutex_);
    End(grpc::Status::CANCELLED);
  }

  void OnDone() override {
    if (watch_.has_value()) coordinator_->Unwatch(*watch_);
    alarm_.Cancel();
    // Deletes this object, unless the alarm still holds it.
    const std::shared_ptr<WatchStream> last = std::move(self_);
  }

 private:
  enum class Waiting { kForDecision, kForTurn, kForWrite };

  void Note(const Decision& decision) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ended_) return;
    decisions_.push_back(decision);
    if (decisions_.size() > kMaxDecisionsPerUpdate) {
      decisions_.pop_front();
      ++dropped_;
    }
    if (waiting_ == Waiting::kForDecision) SetAlarm();
  }

  // Requires mutex_. Sets an alarm even if an update is due now, because the
  // calling thread may be stepping the job and should not be delayed.
  void SetAlarm() {
    waiting_ = Waiting::kForTurn;
    // Not captured by the closure: the alarm owns the closure and this object
    // owns the alarm, so a capture would be a cycle.
    alarm_hold_ = self_;
    alarm_.Set(gpr_time_add(last_update_, gpr_time_from_millis(kLeastIntervalMs,
                                                               GPR_TIMESPAN)),
               [this](bool due) { OnAlarm(due); });
  }

  void OnAlarm(bool due) {
    std::shared_ptr<WatchStream> hold;  // destroyed after the lock
    std::lock_guard<std::mutex> lock(mutex_);
    hold = std::move(alarm_hold_);
    if (due && !ended_) Update();
  }

  // Requires mutex_.
  void Update() {
    absl::StatusOr<JobStatus> status = coordinator_->GetJob(run_id_);
    if (!status.ok()) {  // the finished job was dropped after keep_finished
      End(ToGrpc(status.status()));
      return;
    }
    status->nodes.clear();
    last_ = status->phase == JobPhase::kFinished;
    waiting_ = Waiting::kForWrite;
    update_ = std::make_unique<v1::JobUpdate>();
    for (const Decision& decision : decisions_) {
      ToWire(decision, update_->add_decisions());
    }
    decisions_.clear();
    update_->set_decisions_dropped(std::exchange(dropped_, 0));
    ToWire(*status, update_->mutable_status());
    last_update_ = gpr_now(GPR_CLOCK_MONOTONIC);
    StartWrite(update_.get());
  }

  // Requires mutex_.
  void End(const grpc::Status& status) {
    if (std::exchange(ended_, true)) return;
    Finish(status);
  }

  Coordinator* const coordinator_;
  const std::string run_id_;
  std::shared_ptr<WatchStream> self_;
  std::optional<Coordinator::WatchId> watch_;

  std::mutex mutex_;
  Waiting waiting_ = Waiting::kForTurn;
  bool ended_ = false;
  bool last_ = false;
  std::deque<Decision> decisions_;  // not yet written
  int dropped_ = 0;
  std::unique_ptr<v1::JobUpdate> update_;  // being written
  gpr_timespec last_update_;
  std::shared_ptr<WatchStream> alarm_hold_;  // set while the alarm is pending
  grpc::Alarm alarm_;
};

}  // namespace

grpc::ServerWriteReactor<v1::JobUpdate>* StartWatchStream(
    Coordinator* coordinator, const std::string& run_id) {
  auto stream = std::make_shared<WatchStream>(coordinator, run_id);
  stream->Start(stream);
  return stream.get();
}

}  // namespace muster::rendezvous
