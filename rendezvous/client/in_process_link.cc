#include "rendezvous/client/in_process_link.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "rendezvous/server/inquiry_session.h"

namespace muster::rendezvous {

namespace {

// Passes the local node's answer to an operator's question (Inquiry) to the
// coordinator in this process.
class InProcessAnswer : public AnswerSender {
 public:
  InProcessAnswer(std::shared_ptr<InquirySession> session, uint64_t id)
      : session_(std::move(session)),
        id_(id),
        room_(std::make_shared<Room>()) {}
  ~InProcessAnswer() override {
    // Report that this node's answer to the inquiry broke off. Lose does
    // nothing if the answer is complete.
    if (begun_) session_->Lose(id_, "its answer broke off");
  }

  // Begins the answer to the operator's question with the id `id_`. Returns
  // false if the answer is not wanted, for one of three reasons:
  //   - the coordinator has not sent a question with this id;
  //   - the answer has already begun;
  //   - the coordinator no longer waits for this node's answer.
  bool Begin() {
    begun_ = session_->Begin(id_, [room = room_] { room->Open(); });
    return begun_;
  }

  bool Send(const AnswerPart& part) override {
    {
      std::unique_lock<std::mutex> lock(room_->mutex);
      room_->opened.wait(lock,
                         [this] { return room_->is_open || room_->cancelled; });
      if (room_->cancelled) return false;
      // Reset is_open before calling Take. The coordinator may call Room::Open
      // before Take returns; a reset after Take would undo the effect of Open.
      room_->is_open = false;
    }
    const OpenInquiry::Taken taken = session_->Take(id_, part);
    if (taken == OpenInquiry::Taken::kYes) room_->Open();
    return taken != OpenInquiry::Taken::kUnwanted;
  }

  void Cancel() override {
    const std::lock_guard<std::mutex> lock(room_->mutex);
    room_->cancelled = true;
    room_->opened.notify_all();
  }

 private:
  // Whether the coordinator has room for the next part of this node's answer to
  // an inquiry. Shared with the InquirySession, which may outlive this
  // InProcessAnswer.
  struct Room {
    void Open() {
      const std::lock_guard<std::mutex> lock(mutex);
      is_open = true;
      opened.notify_all();
    }
    std::mutex mutex;  // guards the fields below
    std::condition_variable opened;
    bool is_open = true;
    bool cancelled = false;
  };

  const std::shared_ptr<InquirySession> session_;
  const uint64_t id_;
  const std::shared_ptr<Room> room_;
  bool begun_ = false;
};

}  // namespace

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

std::unique_ptr<AnswerSender> InProcessLink::Answer(const std::string& run_id,
                                                    uint64_t inquiry) {
  absl::StatusOr<std::shared_ptr<InquirySession>> session =
      coordinator_->FindInquiry(run_id, inquiry);
  if (!session.ok()) return nullptr;
  auto answer = std::make_unique<InProcessAnswer>(*std::move(session), inquiry);
  if (!answer->Begin()) return nullptr;
  return answer;
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
