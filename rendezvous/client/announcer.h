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

#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"
#include "rendezvous/server/coordinator.h"
#include "rendezvous/tls/tls_files.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace muster::rendezvous {

// While the coordinator of this process has something to announce or to ask
// (Coordinator::Announcing), calls the endpoints at which nodes look for the
// job first, and its standbys, and tells it what they answer. Owns one thread.
// A call that fails is not told: the next one follows.
class Announcer {
 public:
  struct Options {
    std::vector<Endpoint>
        endpoints;      // those that the nodes are configured with
    TlsFiles tls;       // not given: clear text
    std::string token;  // the job's token; empty: none
    // At most a third of Standby::kToldFor.
    Duration interval = std::chrono::seconds(1);
  };

  // `coordinator` must outlive the announcer.
  Announcer(Coordinator* coordinator, Options options);
  ~Announcer();

  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;

 private:
  void Run();
  void Announce(const Coordinator::Announcement& announcement);
  // The connection to `endpoint`, made if there is none; null: its name does
  // not resolve.
  std::shared_ptr<grpc::Channel> ChannelTo(const Endpoint& endpoint);

  Coordinator* const coordinator_;
  const Options options_;
  // The connections whose newest call succeeded, by HOST:PORT; used on thread_
  // only.
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_CLIENT_ANNOUNCER_H_
