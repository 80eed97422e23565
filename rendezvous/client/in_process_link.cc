#include "rendezvous/client/in_process_link.h"

#include <utility>

#include "base/check.h"

namespace muster::rendezvous {

InProcessLink::InProcessLink(Coordinator* coordinator)
    : coordinator_(coordinator) {}

InProcessLink::~InProcessLink() { Close(); }

void InProcessLink::Open(LinkEvents events) {
  MUSTER_CHECK(!thread_.joinable()) << "opened twice";
  events_ = std::move(events);
  {
    std::lock_guard<std::mutex> lock(reporting_);
    stream_ = coordinator_->Attach(this);
  }
  thread_ = std::thread([this] { Run(); });
}

void InProcessLink::Send(const Report& report) {
  std::lock_guard<std::mutex> lock(reporting_);
  if (!stream_.has_value()) return;
  const absl::Status status = coordinator_->OnReport(*stream_, report);
  MUSTER_CHECK(status.ok()) << status.message();
}

void InProcessLink::Close() {
  {
    std::lock_guard<std::mutex> lock(reporting_);
    if (stream_.has_value()) coordinator_->Detach(*stream_);
    stream_.reset();
  }
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void InProcessLink::Deliver(const Directive& directive) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!order_.Admit(directive)) return;
  directive_ = directive;
  changed_.notify_all();
}

void InProcessLink::Run() {
  events_.on_connected("", "", "");
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || directive_.has_value(); });
    if (closing_) return;
    Directive directive = *std::exchange(directive_, std::nullopt);
    lock.unlock();
    events_.on_directive(std::move(directive));
    lock.lock();
  }
}

}  // namespace muster::rendezvous
