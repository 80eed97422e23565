#include "rendezvous/server/host_watch.h"

#include <limits>
#include <utility>

#include "rendezvous/protocol/directive.h"
#include "rendezvous/wire/memory_wire.h"

namespace muster::rendezvous {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

HostWatch::HostWatch(Options options)
    : options_(std::move(options)), due_(kNever), memory_(options_.quarantine) {
  memory_.Restore(options_.kept);
  const std::lock_guard<std::mutex> lock(mutex_);
  const Duration now = options_.clock();
  Show(now);
  number_ = view_->empty() ? 0 : 1;
}

void HostWatch::Record(const std::vector<HostFault>& faults) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Duration now = options_.clock();
  std::vector<NodeMemory::Change> changes;
  for (const HostFault& fault : faults) {
    for (NodeMemory::Change& change : memory_.Record(now, nodes_, fault)) {
      changes.push_back(std::move(change));
    }
  }
  Publish(now, changes);
}

absl::Status HostWatch::Free(const std::string& host, const std::string& by,
                             std::function<void()> kept) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Duration now = options_.clock();
  const absl::Status status = memory_.Free(now, host, by);
  // Only a part of the nodes may be quarantined at a time. If the freed machine
  // was quarantined, Refresh may quarantine another machine now.
  if (status.ok()) Publish(now, memory_.Refresh(now, nodes_), std::move(kept));
  return status;
}

absl::Status HostWatch::Ban(const std::string& host, const std::string& reason,
                            std::function<void()> kept) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Duration now = options_.clock();
  const absl::Status status = memory_.Ban(now, host, reason);
  if (status.ok()) Publish(now, {}, std::move(kept));
  return status;
}

std::optional<HostWatch::Version> HostWatch::NewerThan(uint64_t known) {
  const Duration now = options_.clock();
  if (number_ == known && now.count() < due_) return std::nullopt;
  const std::lock_guard<std::mutex> lock(mutex_);
  RefreshIfDue(now);
  if (number_ == known) return std::nullopt;
  return Version{.number = number_, .view = view_, .machines = machines_};
}

std::vector<HostStatus> HostWatch::List() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Duration now = options_.clock();
  RefreshIfDue(now);
  return memory_.List(now);
}

absl::Status HostWatch::Inherit(const std::string& machines) {
  absl::StatusOr<NodeMemory::Kept> kept = MemoryFromBytes(machines);
  if (!kept.ok()) return kept.status();
  const std::lock_guard<std::mutex> lock(mutex_);
  memory_.Restore(*std::move(kept));
  Publish(options_.clock(), {});
  return absl::OkStatus();
}

void HostWatch::Show(Duration now) {
  view_ = std::make_shared<HostView>(memory_.View(now));
  due_ = memory_.NextChange(now).value_or(Duration(kNever)).count();
  std::string bytes;
  for (size_t most = kMaxHandedOver;; most /= 2) {
    bytes = ToBytes(memory_.KeepWorst(now, most));
    if (bytes.size() <= Handover::kMaxMachinesBytes) break;
  }
  machines_ = std::make_shared<const std::string>(std::move(bytes));
}

void HostWatch::RefreshIfDue(Duration now) {
  if (now.count() < due_) return;
  const std::vector<NodeMemory::Change> changes = memory_.Refresh(now, nodes_);
  // With --quarantine=off, no machine's state changes, so `changes` is empty.
  // But the score of a machine may have fallen below kSuspectAt. Publish then
  // removes the machine from view_, the list of suspected machines that the
  // jobs get.
  if (!changes.empty() || options_.quarantine == Quarantine::kOff) {
    Publish(now, changes);
  } else {
    due_ = memory_.NextChange(now).value_or(Duration(kNever)).count();
  }
}

void HostWatch::Publish(Duration now,
                        const std::vector<NodeMemory::Change>& changes,
                        std::function<void()> kept) {
  Show(now);
  ++number_;
  if (options_.records != nullptr) {
    options_.records->Put(kNodeMemoryKey, ToBytes(memory_.Keep()),
                          std::move(kept));
  }
  if (!options_.on_quarantine) return;
  for (const NodeMemory::Change& change : changes) {
    if (change.after.state != HostState::kQuarantined) continue;
    Notice notice{.key = change.key, .judgement = change.after};
    for (const HostStatus& status : memory_.List(now)) {
      if (status.key == change.key) notice.run_id = status.run_id;
    }
    options_.on_quarantine(notice);
  }
}

}  // namespace muster::rendezvous
