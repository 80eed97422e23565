#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/etcd/etcd_client.h"
#include "rendezvous/journal/record_store.h"

namespace muster::rendezvous {

// The keys of a group of coordinators in etcd. EtcdAccess::prefix precedes each
// of them.

// Prefix of the keys of the leader election.
inline constexpr char kElectionFolder[] = "election/";
// Version of the keys and values. It is raised when the meaning of a key or
// value changes.
inline constexpr char kFormatKey[] = "election/format";
inline constexpr char kFormat[] = "1";
// The leader, for people: "HOST, process PID". Set when the leader takes the
// lock, and removed when the leader releases it.
inline constexpr char kLeaderKey[] = "election/leader";
// A key that the leader writes at each renewal of the lock. Its value is always
// empty; each write increases its revision.
inline constexpr char kRenewalKey[] = "election/renewal";
// The newest leader's epoch, a decimal number. Never removed.
inline constexpr char kEpochKey[] = "election/epoch";
// Prefix of the jobs' records: jobs/RUN_ID is the key of one job's record.
inline constexpr char kJobsFolder[] = "jobs/";
// The key of the coordinator's record of its machines' faults (kNodeMemoryKey
// in record_store.h).
inline constexpr char kMemoryKey[] = "memory/nodes";

// The period for which the election makes one process the leader. Each write of
// this leader to etcd succeeds only while its term lasts.
struct EtcdTerm {
  // The revision at which this leader set the key PREFIXelection/leader.
  int64_t revision = 0;
  uint64_t epoch = 0;  // this leader's epoch, greater than all earlier ones
};

// Splits a batch into pieces, so that each fits into one transaction of an etcd
// with default limits (--max-txn-ops 128, --max-request-bytes 1.5 MiB). A piece
// is larger only if it is a single record that is too large. The pieces have
// the order of the batch. Pure.
std::vector<PendingRecords::Batch> SplitBatch(
    const PendingRecords::Batch& batch);

// The job records of a leader in etcd. Each record has a key,
// PREFIXjobs/RUN_ID. A write succeeds only while this process is the leader of
// its term. So no former leader can change a record after its successor has
// read it.
class EtcdRecords : public JournalBackend {
 public:
  // Reads all records. `client` must outlive the object. The errors are those
  // of EtcdClient, as one sentence.
  static absl::StatusOr<std::unique_ptr<EtcdRecords>> Open(EtcdClient* client,
                                                           EtcdTerm term);

  // Maximum size of a record. etcd itself refuses requests of more than
  // --max-request-bytes, by default 1.5 MiB.
  static constexpr size_t kMaxRecordBytes = 4 << 20;

  // Writes the batch in one or more transactions, and returns the records that
  // are too large for etcd. FailedPrecondition: another process is the leader
  // now (EtcdTerm); the rest of the batch was not written.
  absl::StatusOr<PendingRecords::Refused> Write(
      const PendingRecords::Batch& batch) override;
  std::map<std::string, std::string> TakeRecords() override;
  uint64_t epoch() const override { return term_.epoch; }

 private:
  EtcdRecords(EtcdClient* client, EtcdTerm term)
      : client_(client), term_(term) {}
  // Writes `batch`, a result of SplitBatch. Adds the records that are too large
  // for etcd to `refused`.
  absl::Status WritePiece(const PendingRecords::Batch& batch,
                          PendingRecords::Refused& refused);
  // Writes `batch` in one transaction. OutOfRange: it is too large for etcd.
  absl::Status Commit(const PendingRecords::Batch& batch);

  EtcdClient* const client_;
  const EtcdTerm term_;
  std::map<std::string, std::string> records_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_
