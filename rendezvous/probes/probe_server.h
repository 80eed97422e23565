#ifndef MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_
#define MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/time.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::rendezvous {

// The text of a page. Several responses share it without copies.
using Page = std::shared_ptr<const std::string>;

// The parts of an HTTP request that a page reads.
struct PageRequest {
  std::string method;
  std::string target;         // path and query string
  std::string host;           // value of the header "Host"
  std::string authorization;  // value of "Authorization"; empty: no such header
};

// An HTTP response without the headers that all responses have.
struct ProbeAnswer {
  int status = 200;
  Page body;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
  // If set, the response continues after `body` until the client closes the
  // connection. The server's thread calls `more` several times a second for the
  // next bytes. null: no bytes at this time. nullopt: the response is over.
  // `more` is destroyed soon after the client has closed the connection. A
  // client that does not read for 10 s is disconnected.
  std::function<std::optional<Page>()> more;
};

// The three probes of Kubernetes. Each function returns OK or a one-line
// reason. They must not block, and must be callable from any thread.
struct Probes {
  // Liveness probe: on an error Kubernetes restarts the container.
  std::function<absl::Status()> live;
  // Startup probe: until it is OK, Kubernetes makes no other probe.
  std::function<absl::Status()> started;
  // readiness probe: OK while the program accepts work; otherwise Kubernetes
  // sends it no traffic
  std::function<absl::Status()> ready;
  // Returns the page /metrics, the text of an Exposition. Made by CachedPage.
  // Null: there is no such page.
  std::function<Page()> metrics;
  // Answers requests for further pages. Called before all other pages are
  // tried. nullopt: there is no such page. Null function: there are no further
  // pages.
  std::function<std::optional<ProbeAnswer>(const PageRequest&)> pages;
  // Function that the server's thread calls once a second, whether or not there
  // are requests. Null: none.
  std::function<void()> tick;
};

// Answers GET and HEAD requests. /livez, /startupz and /readyz (a query string
// is ignored): 200, or 503 and the reason. /metrics: the metrics, if there is
// such a page. Other paths get 404, other methods 405.
ProbeAnswer AnswerProbe(const Probes& probes, const std::string& method,
                        const std::string& target);

// Returns a function that calls `make` and caches its result (AnswerCache). The
// result is reused for a time that is proportional to the duration of the call,
// so requests for a page cannot keep a core busy. All clients share the cached
// page, so slow clients need no memory for copies. `now`: the clock. Not
// thread-safe.
std::function<Page()> CachedPage(std::function<std::string()> make,
                                 std::function<Instant()> now);

// Answers probes over HTTP/1.1 on its own thread. Does not authenticate
// clients: probes and metrics contain no secrets, and requests change nothing.
// (The dashboard authenticates its callers itself.)
//
// A client has 5 s for its request. At most 64 clients are served at a time. If
// one more connects, the server disconnects the oldest client of the network
// that has the most clients. So slow clients do not keep the kubelet out.
class ProbeServer {
 public:
  // Starts the server, which listens when Start returns. Port 0: any free port.
  // Host 0.0.0.0: all addresses, IPv6 included. The server's thread calls
  // `probes` until the server is destroyed.
  //
  // Unavailable: the server cannot listen there; the message gives the reason
  // in one line.
  static absl::StatusOr<std::unique_ptr<ProbeServer>> Start(
      const Endpoint& listen, Probes probes);

  ~ProbeServer();
  ProbeServer(const ProbeServer&) = delete;
  ProbeServer& operator=(const ProbeServer&) = delete;

  // The address on which the server listens, with the actual port.
  const Endpoint& address() const { return address_; }

 private:
  class Impl;
  ProbeServer(std::unique_ptr<Impl> impl, Endpoint address);

  const std::unique_ptr<Impl> impl_;
  const Endpoint address_;
};

// The addresses at which a process serves its HTTP pages; nullopt: the page is
// not served.
struct PageAddresses {
  std::optional<Endpoint> probes;
  std::optional<Endpoint> metrics;
  std::optional<Endpoint> dashboard;
};

// Starts the HTTP servers for a process's pages; none if `addresses` is empty.
// Every server answers probes. Pages with the same address share one server.
// `pages`: the functions that answer; only the dashboard's server uses
// Probes::pages and Probes::tick. `metrics`: returns the text of /metrics;
// called from a server's thread. `say`: called with the address of each server;
// may be empty.
//
// Unavailable: a server cannot listen on its address. The message names the
// flag: --probe-listen, --metrics-listen or --dashboard-listen.
absl::StatusOr<std::vector<std::unique_ptr<ProbeServer>>> ServePages(
    const PageAddresses& addresses, const Probes& pages,
    std::function<std::string()> metrics,
    const std::function<void(const std::string&)>& say);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROBES_PROBE_SERVER_H_
