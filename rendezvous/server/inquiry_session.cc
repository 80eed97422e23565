#include "rendezvous/server/inquiry_session.h"

#include <utility>
#include <vector>

namespace muster::rendezvous {

template <typename Change>
void InquirySession::Apply(Change change) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    change(open_);
  }
  on_news_();
}

// Calls the callback `on_room` (see Begin) of each node that waits to send the
// next part of its answer, if the buffer has room now. The buffer contains the
// parts of all answers that the operator has not read.
void InquirySession::WakeWaiting() {
  std::vector<std::function<void()>> wake;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!open_.HasRoom()) return;
    for (auto& [id, answerer] : answerers_) {
      if (std::exchange(answerer.waits, false)) {
        wake.push_back(answerer.on_room);
      }
    }
  }
  for (const auto& on_room : wake) on_room();
}

std::optional<InquiryUpdate> InquirySession::Next() {
  std::optional<InquiryUpdate> next;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    next = open_.Next();
  }
  if (next.has_value()) WakeWaiting();
  return next;
}

bool InquirySession::IsOver() {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsOver();
}

std::vector<std::string> InquirySession::Silent() {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.Silent();
}

void InquirySession::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    open_.Close();
  }
  WakeWaiting();
}

void InquirySession::Ask(uint64_t id, const std::string& node_id,
                         const std::string& host) {
  std::lock_guard<std::mutex> lock(mutex_);
  open_.Ask(id, node_id, host);
}

bool InquirySession::IsAsked(const std::string& node_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsAsked(node_id);
}

bool InquirySession::IsLost(const std::string& node_id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsLost(node_id);
}

bool InquirySession::IsPending(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.IsPending(id);
}

void InquirySession::Miss(const std::string& node_id, const std::string& host,
                          const std::string& why) {
  Apply([&](OpenInquiry& open) { open.Miss(node_id, host, why); });
}

void InquirySession::Lose(uint64_t id, const std::string& why) {
  Apply([&](OpenInquiry& open) { open.Lose(id, why); });
}

void InquirySession::LoseAll(const std::string& why) {
  Apply([&](OpenInquiry& open) { open.LoseAll(why); });
}

void InquirySession::AskNoMore() {
  Apply([&](OpenInquiry& open) { open.AskNoMore(); });
}

bool InquirySession::Begin(uint64_t id, std::function<void()> on_room) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!open_.Begin(id)) return false;
  answerers_[id] = {.on_room = std::move(on_room)};
  return true;
}

OpenInquiry::Taken InquirySession::Take(uint64_t id, AnswerPart part) {
  OpenInquiry::Taken taken = OpenInquiry::Taken::kUnwanted;
  const bool is_last = part.is_last;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    taken = open_.Take(id, std::move(part));
    if (taken == OpenInquiry::Taken::kUnwanted || is_last) {
      answerers_.erase(id);
    } else {
      answerers_[id].waits = taken == OpenInquiry::Taken::kFull;
    }
  }
  on_news_();
  return taken;
}

}  // namespace muster::rendezvous
