#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/etcd/etcd_client.h"
#include "rendezvous/journal/journal_backend.h"

namespace muster::rendezvous {

// A leader's term: every write of the leader is conditional on it. The election
// assigns it.
struct EtcdTerm {
  // The revision at which this leader set the key PREFIXelection/leader.
  int64_t revision = 0;
  uint64_t epoch = 0;  // greater than the epochs of all earlier leaders
};

// The job records of a leader in etcd, one key PREFIXjobs/RUN_ID each. Each
// write succeeds only while this process is the leader of its term, so no
// former leader can change a record after its successor has read it.
class EtcdRecords : public JournalBackend {
 public:
  // Reads all records. `client` must outlive the object. The errors are those
  // of EtcdClient, as one sentence.
  static absl::StatusOr<std::unique_ptr<EtcdRecords>> Open(EtcdClient* client,
                                                           EtcdTerm term);

  // Writes the batch in transactions. FailedPrecondition: another process
  // leads.
  absl::Status Write(const PendingRecords::Batch& batch) override;
  std::map<std::string, std::string> TakeRecords() override;
  uint64_t epoch() const override { return term_.epoch; }

 private:
  EtcdRecords(EtcdClient* client, EtcdTerm term)
      : client_(client), term_(term) {}
  absl::Status Commit(EtcdClient::Transaction transaction);

  EtcdClient* const client_;
  const EtcdTerm term_;
  std::map<std::string, std::string> records_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_RECORDS_H_
