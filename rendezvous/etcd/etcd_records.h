#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
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
// A key that each write of records changes. Its value is always empty; its
// revision is that of the newest write.
inline constexpr char kWrittenKey[] = "memory/written";

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
//
// The writes of one leader keep their order. A write that has timed out may
// still reach etcd, through a slow member, after later writes through another
// member. So each write succeeds only if no other write has come between: it
// names the revision of the newest write that this process knows of
// (kWrittenKey).
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
  // now (EtcdTerm); the rest of the batch was not written. Aborted: an earlier
  // write that had timed out was carried out meanwhile; write the batch again.
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
  // Sets newest_write_ to the revision of kWrittenKey.
  absl::Status ReadNewestWrite(Instant deadline);
  std::string Key(const char* name) const;

  EtcdClient* const client_;
  const EtcdTerm term_;
  std::map<std::string, std::string> records_;
  // Revision of the newest write; 0: none. nullopt: unknown, because the last
  // write has failed and may or may not have been carried out.
  std::optional<int64_t> newest_write_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_
