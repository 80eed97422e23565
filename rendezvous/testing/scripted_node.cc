#include "rendezvous/testing/scripted_node.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace muster::rendezvous {
namespace {

constexpr std::chrono::seconds kEventTimeout(30);

}  // namespace

Report FirstReport(const std::string& run_id, const std::string& host,
                   int nodes) {
  Report report;
  report.run_id = run_id;
  report.node.node_id = host;
  report.node.incarnation = std::hash<std::string>()(host) | 1;
  report.node.host = host;
  report.node.address = "127.0.0.1";
  report.node.pid = 1;
  report.offered_master_port = 29500;
  report.spec.min_nodes = report.spec.max_nodes = nodes;
  report.spec.last_call = Duration::zero();
  return report;
}

ScriptedNode::ScriptedNode(std::unique_ptr<CoordinatorLink> link, Report first)
    : report_(std::move(first)), link_(std::move(link)) {
  LinkEvents events;
  events.on_connected = [this](std::string own, std::string peer,
                               std::string endpoint) {
    std::unique_lock<std::mutex> lock(mutex_);
    own_address_ = std::move(own);
    peer_address_ = std::move(peer);
    endpoint_ = std::move(endpoint);
    ++connections_;
    changed_.notify_all();
    Send(&lock);
  };
  events.on_directive = [this](Directive directive) {
    std::lock_guard<std::mutex> lock(mutex_);
    report_.seen_epoch = directive.epoch;
    report_.seen_revision = directive.revision;
    directive_ = std::move(directive);
    changed_.notify_all();
  };
  events.on_disconnected = [this](absl::Status status) {
    std::lock_guard<std::mutex> lock(mutex_);
    breaks_.push_back(std::move(status));
    changed_.notify_all();
  };
  link_->Open(std::move(events));
}

ScriptedNode::~ScriptedNode() { link_->Close(); }

void ScriptedNode::Close() { link_->Close(); }

void ScriptedNode::Tell(const std::function<void(Report*)>& change) {
  std::unique_lock<std::mutex> lock(mutex_);
  change(&report_);
  Send(&lock);
}

void ScriptedNode::Send(std::unique_lock<std::mutex>* lock) {
  ++report_.sequence;
  // Sends without holding the lock, because link_ may call this object before
  // Send returns. Another thread may send a newer report meanwhile, and link_
  // could then keep the older report as its newest. So the send is repeated
  // with the newest report.
  uint64_t sent = 0;
  while (sent != report_.sequence) {
    const Report report = report_;
    sent = report.sequence;
    lock->unlock();
    link_->Send(report);
    lock->lock();
  }
}

Directive ScriptedNode::WaitFor(DirectiveKind kind) {
  return WaitUntil(
      [kind](const Directive& directive) { return directive.kind == kind; });
}

Directive ScriptedNode::WaitUntil(
    const std::function<bool(const Directive&)>& wanted) {
  std::unique_lock<std::mutex> lock(mutex_);
  Await(
      "another directive",
      [&] { return directive_.has_value() && wanted(*directive_); }, &lock);
  return *directive_;
}

void ScriptedNode::WaitUntilConnected(int times) {
  std::unique_lock<std::mutex> lock(mutex_);
  Await(
      "a connection", [&] { return connections_ >= times; }, &lock);
}

std::string ScriptedNode::WaitUntilDisconnected(absl::StatusCode code,
                                                const std::string& words) {
  const std::string what = absl::StrCat(
      "a disconnection", words.empty() ? "" : " that says ", words);
  std::unique_lock<std::mutex> lock(mutex_);
  absl::Status found;
  Await(
      what.c_str(),
      [&] {
        for (const absl::Status& one : breaks_) {
          if (one.code() == code && absl::StrContains(one.message(), words)) {
            found = one;
          }
        }
        return !found.ok();
      },
      &lock);
  return std::string(found.message());
}

void ScriptedNode::Await(const char* what,
                         const std::function<bool()>& happened,
                         std::unique_lock<std::mutex>* lock) const {
  const bool in_time = changed_.wait_for(*lock, kEventTimeout, happened);
  MUSTER_CHECK(in_time)
      << report_.node.host << " waited in vain for " << what
      << "; connections: " << connections_ << "; newest directive: "
      << (directive_ ? static_cast<int>(directive_->kind) : -1) << " "
      << (directive_ ? directive_->reason : "none") << "; newest break: "
      << (breaks_.empty() ? "none" : std::string(breaks_.back().message()));
}

std::string ScriptedNode::own_address() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return own_address_;
}

std::string ScriptedNode::peer_address() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return peer_address_;
}

std::string ScriptedNode::endpoint() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return endpoint_;
}

int ScriptedNode::connections() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return connections_;
}

}  // namespace muster::rendezvous
