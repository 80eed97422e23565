#ifndef MUSTER_RENDEZVOUS_ETCD_ETCD_KEYS_H_
#define MUSTER_RENDEZVOUS_ETCD_ETCD_KEYS_H_

namespace muster::rendezvous {

// The keys of a group of coordinators in etcd, after EtcdAccess::prefix.

// The keys of the election begin with this.
inline constexpr char kElectionFolder[] = "election/";
// Version of the keys and values. A change of their meaning raises it.
inline constexpr char kFormatKey[] = "election/format";
inline constexpr char kFormat[] = "1";
// The leader, as people read it: "HOST, process PID". Set when the leader takes
// the lock, and removed when it gives the lock back.
inline constexpr char kLeaderKey[] = "election/leader";
// Changed by each renewal of the lock.
inline constexpr char kRenewalKey[] = "election/renewal";
// The newest leader's epoch, a decimal number. Never removed.
inline constexpr char kEpochKey[] = "election/epoch";
// PREFIXjobs/RUN_ID: a job's record.
inline constexpr char kJobsFolder[] = "jobs/";

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_ETCD_ETCD_KEYS_H_
