#include "rendezvous/etcd/etcd_records.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster::rendezvous {
namespace {

constexpr Duration kReadTimeout = std::chrono::seconds(10);
constexpr Duration kWriteTimeout = std::chrono::milliseconds(500);
// Limits of one transaction. The limits are below etcd's own default limits:
// 128 changes and 1.5 MiB.
constexpr size_t kMaxChanges = 64;
constexpr size_t kMaxBytes = 1 << 20;

// The etcd key of a record, without the prefix.
std::string KeyOf(const std::string& run_id) {
  return run_id == kNodeMemoryKey ? kMemoryKey
                                  : absl::StrCat(kJobsFolder, run_id);
}

}  // namespace

std::vector<PendingRecords::Batch> SplitBatch(
    const PendingRecords::Batch& batch) {
  std::vector<PendingRecords::Batch> pieces;
  size_t bytes = 0;
  for (const auto& [run_id, record] : batch) {
    const size_t size = run_id.size() + (record ? record->size() : 0);
    if (pieces.empty() || pieces.back().size() == kMaxChanges ||
        bytes + size > kMaxBytes) {
      pieces.emplace_back();
      bytes = 0;
    }
    bytes += size;
    pieces.back().emplace(run_id, record);
  }
  return pieces;
}

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
  const std::string memory = absl::StrCat(client->access().prefix, kMemoryKey);
  auto remembered = client->Read(memory, MonotonicNow() + kReadTimeout);
  if (!remembered.ok()) {
    return absl::Status(
        remembered.status().code(),
        absl::StrCat("cannot read ", client->access().ToString(), ": ",
                     std::string(remembered.status().message())));
  }
  const auto kept = remembered->find(memory);
  if (kept != remembered->end()) {
    records->records_.emplace(kNodeMemoryKey, std::move(kept->second.bytes));
  }
  const absl::Status read =
      records->ReadNewestWrite(MonotonicNow() + kReadTimeout);
  if (!read.ok()) return read;
  return records;
}

std::string EtcdRecords::Key(const char* name) const {
  return absl::StrCat(client_->access().prefix, name);
}

absl::Status EtcdRecords::ReadNewestWrite(Instant deadline) {
  const std::string key = Key(kWrittenKey);
  const auto found = client_->Read(key, deadline);
  if (!found.ok()) {
    return absl::Status(
        found.status().code(),
        absl::StrCat("cannot read ", client_->access().ToString(), ": ",
                     std::string(found.status().message())));
  }
  const auto written = found->find(key);
  newest_write_ = written == found->end() ? 0 : written->second.revision;
  return absl::OkStatus();
}

std::map<std::string, std::string> EtcdRecords::TakeRecords() {
  return std::exchange(records_, {});
}

absl::StatusOr<PendingRecords::Refused> EtcdRecords::Write(
    const PendingRecords::Batch& batch) {
  PendingRecords::Refused refused;
  for (const PendingRecords::Batch& piece : SplitBatch(batch)) {
    const absl::Status written = WritePiece(piece, refused);
    if (!written.ok()) return written;
  }
  return refused;
}

absl::Status EtcdRecords::WritePiece(const PendingRecords::Batch& batch,
                                     PendingRecords::Refused& refused) {
  const auto& [run_id, record] = *batch.begin();
  const bool is_too_large = batch.size() == 1 && record.has_value() &&
                            record->size() > kMaxRecordBytes;
  const absl::Status written =
      is_too_large ? absl::OutOfRangeError(absl::StrCat(
                         "its limit is ", kMaxRecordBytes, " bytes"))
                   : Commit(batch);
  if (!absl::IsOutOfRange(written)) return written;
  if (batch.size() > 1) {
    // A batch within etcd's default limits was too large, so this etcd has a
    // lower limit. Find the records that exceed it.
    for (const auto& change : batch) {
      const absl::Status alone = WritePiece({change}, refused);
      if (!alone.ok()) return alone;
    }
    return absl::OkStatus();
  }
  if (!record.has_value()) return written;
  refused[run_id] = absl::StrCat(
      "the job's record of ", record->size(), " bytes is too large for ",
      client_->access().ToString(), " (", std::string(written.message()),
      "): raise --max-request-bytes of etcd; until then, the next coordinator "
      "will know the job from its nodes alone");
  return Commit({{run_id, std::nullopt}});
}

absl::Status EtcdRecords::Commit(const PendingRecords::Batch& batch) {
  const Instant deadline = MonotonicNow() + kWriteTimeout;
  if (!newest_write_.has_value()) {
    const absl::Status read = ReadNewestWrite(deadline);
    if (!read.ok()) return read;
  }
  EtcdClient::Transaction transaction;
  for (const auto& [run_id, record] : batch) {
    transaction.changes.emplace(
        absl::StrCat(client_->access().prefix, KeyOf(run_id)), record);
  }
  transaction.changes[Key(kWrittenKey)] = "";
  transaction.expected = {{Key(kLeaderKey), term_.revision},
                          {Key(kWrittenKey), *newest_write_}};
  newest_write_.reset();
  const auto committed = client_->Commit(transaction, deadline);
  if (!committed.ok()) {
    return absl::Status(
        committed.status().code(),
        absl::StrCat("cannot write ", client_->access().ToString(), ": ",
                     std::string(committed.status().message())));
  }
  if (committed->has_value()) {
    newest_write_ = **committed;
    return absl::OkStatus();
  }
  const std::string what =
      absl::StrCat("cannot write ", client_->access().ToString(), ": ");
  const auto found = client_->Read(Key(kLeaderKey), deadline);
  if (!found.ok()) {
    return absl::Status(
        found.status().code(),
        absl::StrCat(what, std::string(found.status().message())));
  }
  const auto leader = found->find(Key(kLeaderKey));
  if (leader != found->end() && leader->second.revision == term_.revision) {
    return absl::AbortedError(absl::StrCat(
        what, "an earlier write, which had timed out, came between"));
  }
  return absl::FailedPreconditionError(
      absl::StrCat(what, "another coordinator leads"));
}

}  // namespace muster::rendezvous
