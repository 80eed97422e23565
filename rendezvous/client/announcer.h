#ifndef MUSTER_RENDEZVOUS_CLIENT_ANNOUNCER_H_
#define MUSTER_RENDEZVOUS_CLIENT_ANNOUNCER_H_

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/net/resolve.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/tls/tls_files.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace muster::rendezvous {

// Sends announcements, by which the coordinators and standbys of a job find out
// which process coordinates it. While Coordinator::Announcing returns a
// message, sends it once per `interval` to the job's configured endpoints and
// to the standbys. A receiver answers with the endpoint of the job's
// coordinator if it knows one. The announcer passes this endpoint to the
// coordinator in this process. Failed calls are ignored, because the next call
// follows soon. A host name is called at each of its addresses: while a
// Kubernetes pod is replaced, its name resolves to the old and the new pod.
// Owns one thread.
class Announcer {
 public:
  struct Options {
    std::vector<Endpoint> endpoints;  // the job's endpoints, as configured
    TlsFiles tls;                     // files for TLS; empty: no encryption
    // the job token for each call; empty: none
    std::string token;
    // Time between two announcements. Must be at most a third of
    // Standby::kToldFor, the time for which a standby relies on an announcement
    // that it has received.
    Duration interval = std::chrono::seconds(1);
    LookUp look_up = SystemLookUp;
  };

  // `coordinator` must outlive the announcer.
  Announcer(Coordinator* coordinator, Options options);
  ~Announcer();

  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

 private:
  void Run();
  void Announce(const Coordinator::Announcement& announcement);
  // Connects to each of `targets` that has no connection yet. All look-ups of
  // names together take at most kResolveTimeout. A look-up that takes longer
  // still occupies a thread. So this name is not looked up again for 5 s
  // (kHangingPause).
  void Connect(const std::vector<Endpoint>& targets);

  Coordinator* const coordinator_;
  const Options options_;
  // Key: HOST:PORT of an endpoint. Value: the connections to the endpoint's
  // addresses whose newest call succeeded. Used by thread_ only.
  std::map<std::string, std::vector<std::shared_ptr<grpc::Channel>>> channels_;
  // Key: HOST:PORT of an endpoint whose look-up did not end in time. Value: the
  // earliest time of its next look-up. Used by thread_ only.
  std::map<std::string, Instant> hanging_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_ANNOUNCER_H_
