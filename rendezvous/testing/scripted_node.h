#ifndef MUSTER_RENDEZVOUS_TESTING_SCRIPTED_NODE_H_
#define MUSTER_RENDEZVOUS_TESTING_SCRIPTED_NODE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "rendezvous/client/coordinator_link.h"
#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Returns the first report of an agent on `host`, for a job of exactly `nodes`
// nodes.
Report FirstReport(const std::string& run_id, const std::string& host,
                   int nodes);

// An agent without workers, for tests. It reports when its stream comes up and
// when the test calls Tell, and keeps the newest directive. Every wait fails
// after 30 s with a message that lists what has arrived.
class ScriptedNode {
 public:
  // Opens `link` and sends `first` as the first report.
  ScriptedNode(std::unique_ptr<CoordinatorLink> link, Report first);
  ~ScriptedNode();  // closes the link

  // Calls `change` on the report that this agent sent last, and sends the
  // changed report to the coordinator.
  void Tell(const std::function<void(Report*)>& change);
  void Close();
  CoordinatorLink& link() { return *link_; }

  // Waits until the newest directive from the coordinator is of `kind`, and
  // returns this directive.
  Directive WaitFor(DirectiveKind kind);
  // Waits until `wanted` returns true for the newest directive, and returns
  // that directive.
  Directive WaitUntil(const std::function<bool(const Directive&)>& wanted);
  // Waits until `times` streams to a coordinator have come up since this object
  // was made. Streams that have ended count, too.
  void WaitUntilConnected(int times);
  // Waits until a stream has ended, or an attempt to connect has failed, with
  // `code` and with a message that contains `words`. Returns the newest such
  // message.
  std::string WaitUntilDisconnected(absl::StatusCode code,
                                    const std::string& words = "");

  std::string own_address() const;
  std::string peer_address() const;
  std::string endpoint() const;  // endpoint of the newest stream's coordinator
  int connections() const;

 private:
  void Await(const char* what, const std::function<bool()>& happened,
             std::unique_lock<std::mutex>* lock) const;
  void Send(std::unique_lock<std::mutex>* lock);

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  Report report_;
  std::optional<Directive> directive_;
  std::vector<absl::Status> breaks_;
  std::string own_address_;
  std::string peer_address_;
  std::string endpoint_;
  int connections_ = 0;
  const std::unique_ptr<CoordinatorLink> link_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_TESTING_SCRIPTED_NODE_H_
