#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_KEYS_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_KEYS_H_

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

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_KEYS_H_
