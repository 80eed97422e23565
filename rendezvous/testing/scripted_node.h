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

namespace muster {

// A report as an agent on `host` would send it first, for a job of exactly
// `nodes` nodes.
Report FirstReport(const std::string& run_id, const std::string& host,
                   int nodes);

// For tests: an agent without workers. It reports when its stream is up, and
// when the test says so, and keeps what it was told. Every wait gives up after
// 30 s and says what had come until then.
class ScriptedNode {
 public:
  // Takes the link and opens it.
  ScriptedNode(std::unique_ptr<CoordinatorLink> link, Report first);
  ~ScriptedNode();  // closes the link

  // Changes the report and sends it.
  void Tell(const std::function<void(Report*)>& change);
  void Close();

  // The newest directive, once it is of `kind`.
  Directive WaitFor(DirectiveKind kind);
  // Waits until the stream has come up `times` times.
  void WaitUntilConnected(int times);
  // What the newest end of a stream or failed attempt with that code said,
  // once there has been one.
  std::string WaitUntilDisconnected(absl::StatusCode code);

  std::string own_address() const;
  std::string peer_address() const;
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
  int connections_ = 0;
  const std::unique_ptr<CoordinatorLink> link_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_TESTING_SCRIPTED_NODE_H_
