#include "rendezvous/etcd/etcd_records.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "rendezvous/etcd/etcd_keys.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kReadTimeout = std::chrono::seconds(10);
constexpr Duration kWriteTimeout = std::chrono::milliseconds(500);
// Limits of one transaction, within those of etcd: 128 changes and 1.5 MiB.
constexpr size_t kMaxChanges = 64;
constexpr size_t kMaxBytes = 1 << 20;

}  // namespace

absl::StatusOr<std::unique_ptr<EtcdRecords>> EtcdRecords::Open(
    EtcdClient* client, EtcdTerm term) {
  std::unique_ptr<EtcdRecords> records(new EtcdRecords(client, term));
  const std::string folder = absl::StrCat(client->access().prefix, kJobsFolder);
  auto found = client->Read(folder, MonotonicNow() + kReadTimeout);
  if (!found.ok()) {
    return absl::Status(
        found.status().code(),
        absl::StrCat("cannot read ", client->access().ToString(), ": ",
                     std::string(found.status().message())));
  }
  for (auto& [key, value] : *found) {
    records->records_.emplace(key.substr(folder.size()),
                              std::move(value.bytes));
  }
  return records;
}

std::map<std::string, std::string> EtcdRecords::TakeRecords() {
  return std::exchange(records_, {});
}

absl::Status EtcdRecords::Write(const PendingRecords::Batch& batch) {
  EtcdClient::Transaction transaction;
  size_t bytes = 0;
  for (const auto& [run_id, record] : batch) {
    const size_t size = run_id.size() + (record ? record->size() : 0);
    if (!transaction.changes.empty() &&
        (transaction.changes.size() == kMaxChanges ||
         bytes + size > kMaxBytes)) {
      absl::Status written =
          Commit(std::exchange(transaction, EtcdClient::Transaction()));
      if (!written.ok()) return written;
      bytes = 0;
    }
    bytes += size;
    transaction.changes.emplace(
        absl::StrCat(client_->access().prefix, kJobsFolder, run_id), record);
  }
  return Commit(std::move(transaction));
}

absl::Status EtcdRecords::Commit(EtcdClient::Transaction transaction) {
  transaction.expected[absl::StrCat(client_->access().prefix, kLeaderKey)] =
      term_.revision;
  const auto committed =
      client_->Commit(transaction, MonotonicNow() + kWriteTimeout);
  if (!committed.ok()) {
    return absl::Status(
        committed.status().code(),
        absl::StrCat("cannot write ", client_->access().ToString(), ": ",
                     std::string(committed.status().message())));
  }
  if (!committed->has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot write ", client_->access().ToString(),
                     ": another coordinator leads"));
  }
  return absl::OkStatus();
}

}  // namespace muster::rendezvous
