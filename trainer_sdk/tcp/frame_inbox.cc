#include "trainer_sdk/tcp/frame_inbox.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace muster {
namespace {

constexpr Ticket kNobody = -1;
constexpr Ticket kToKept = -2;
constexpr size_t kMaxAnnounced = 64;
// Maximum number of frames, from all peers together, that are kept until they
// are received. A limit in bytes is not enough, because empty frames take
// memory, too.
constexpr int kMaxKeptFrames = 1 << 16;

std::string DescribeMessage(const MessageLabel& label) {
  return absl::StrCat(label.count, " ", Name(label.dtype), " with tag ",
                      label.tag);
}

}  // namespace

FrameInbox::FrameInbox(int rank, std::vector<PeerName> names,
                       int64_t keep_bytes)
    : rank_(rank),
      names_(std::move(names)),
      keep_bytes_(keep_bytes),
      waiting_(names_.size()),
      kept_(names_.size()),
      arriving_(names_.size(), kNobody),
      announced_(names_.size()) {}

absl::Status FrameInbox::Begin(const OperationSignature& signature) {
  receives_.clear();
  asked_ = signature;
  if (IsPointToPoint(signature.kind)) return absl::OkStatus();
  current_ = signature;
  history_[signature.sequence % kHistory] = signature;
  for (size_t peer = 0; peer < names_.size(); ++peer) {
    std::deque<OperationSignature>& announced = announced_[peer];
    while (!announced.empty() &&
           announced.front().sequence <= signature.sequence) {
      absl::Status s = Compare(static_cast<int>(peer), announced.front());
      if (!s.ok()) return s;
      announced.pop_front();
    }
  }
  return absl::OkStatus();
}

Ticket FrameInbox::Post(int peer, void* data, int64_t bytes) {
  Posted posted;
  posted.peer = peer;
  posted.data = static_cast<char*>(data);
  posted.bytes = bytes;
  return Add(std::move(posted));
}

Ticket FrameInbox::PostMessage(int peer, const MessageLabel& label,
                               void* data) {
  Posted posted;
  posted.peer = peer;
  posted.message = true;
  posted.label = label;
  posted.data = static_cast<char*>(data);
  posted.bytes = label.count * SizeOf(label.dtype);
  return Add(std::move(posted));
}

Ticket FrameInbox::Add(Posted posted) {
  const int peer = posted.peer;
  const Ticket ticket = static_cast<Ticket>(receives_.size());
  receives_.push_back(std::move(posted));
  waiting_[peer].push_back(ticket);
  // The new receive may match a frame that arrived earlier and was kept. Kept
  // frames are taken in the order of their arrival.
  std::deque<Kept>& kept = kept_[peer];
  for (auto early = kept.begin(); early != kept.end(); ++early) {
    if (!early->complete || FirstFor(peer, early->header) != ticket) continue;
    Posted& mine = receives_[ticket];
    mine.status = early->header.type == FrameType::kPart
                      ? Compare(peer, early->header.signature)
                      : absl::OkStatus();
    if (mine.status.ok()) mine.status = Fits(mine, early->header);
    if (!mine.status.ok()) return ticket;
    if (mine.bytes > 0) {
      std::memcpy(mine.data, early->data.data(), early->data.size());
    }
    kept_bytes_ -= mine.bytes;
    --kept_frames_;
    kept.erase(early);
    Complete(ticket);
    return ticket;
  }
  return ticket;
}

Ticket FrameInbox::FirstFor(int peer, const FrameHeader& header) const {
  for (const Ticket ticket : waiting_[peer]) {
    const Posted& posted = receives_[ticket];
    if (posted.placed) continue;
    if (header.type == FrameType::kMessage) {
      if (posted.message && posted.label.tag == header.label.tag) return ticket;
    } else if (!posted.message &&
               header.signature.sequence == current_.sequence) {
      return ticket;
    }
  }
  return kNobody;
}

absl::Status FrameInbox::Fits(const Posted& posted,
                              const FrameHeader& header) const {
  const std::string who = Describe(names_[posted.peer]);
  if (posted.message && (posted.label.dtype != header.label.dtype ||
                         posted.label.count != header.label.count)) {
    return absl::FailedPreconditionError(absl::StrCat(
        who, " sent ", DescribeMessage(header.label), " where ",
        Describe(names_[rank_]), " receives ", DescribeMessage(posted.label)));
  }
  if (posted.bytes != header.bytes) {
    return absl::FailedPreconditionError(absl::StrCat(
        who, " sent ", header.bytes, " bytes where ", Describe(names_[rank_]),
        " receives ", posted.bytes, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status FrameInbox::Compare(int peer,
                                 const OperationSignature& theirs) const {
  const OperationSignature& ours = history_[theirs.sequence % kHistory];
  // If `ours` has another sequence number, the operations cannot be compared:
  // this rank has not yet called the operation with the number of `theirs`, or
  // called it too long ago.
  if (ours.sequence != theirs.sequence || SameCollective(ours, theirs)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "the ranks called different things: ", Describe(names_[peer]), " called ",
      Describe(theirs), " where ", Describe(names_[rank_]), " called ",
      Describe(ours)));
}

absl::Status FrameInbox::Overtaken(int peer,
                                   const OperationSignature& theirs) const {
  return absl::FailedPreconditionError(absl::StrCat(
      "the ranks called different things: ", Describe(names_[peer]), " is at ",
      Describe(theirs), " and never sent its part of ", Describe(current_)));
}

bool FrameInbox::AwaitsPart(int peer) const {
  return std::any_of(
      waiting_[peer].begin(), waiting_[peer].end(), [&](Ticket ticket) {
        return !receives_[ticket].message && !receives_[ticket].placed;
      });
}

bool FrameInbox::AwaitsMessage(int peer) const {
  return std::any_of(
      waiting_[peer].begin(), waiting_[peer].end(), [&](Ticket ticket) {
        return receives_[ticket].message && !receives_[ticket].placed;
      });
}

int64_t FrameInbox::AwaitedBytes(int peer) const {
  int64_t bytes = 0;
  for (const Ticket ticket : waiting_[peer]) bytes += receives_[ticket].bytes;
  return bytes;
}

absl::StatusOr<FramePlace> FrameInbox::Place(int peer,
                                             const FrameHeader& header) {
  if (header.type == FrameType::kAnnounce) {
    return PlaceAnnouncement(peer, header);
  }
  if (header.type == FrameType::kPart) {
    absl::Status s = Compare(peer, header.signature);
    if (!s.ok()) return s;
    if (header.signature.sequence < current_.sequence) {
      return absl::FailedPreconditionError(absl::StrCat(
          Describe(names_[peer]), " sent more for ", Describe(header.signature),
          " than ", Describe(names_[rank_]), " received"));
    }
    if (header.signature.sequence > current_.sequence) {
      if (AwaitsPart(peer)) return Overtaken(peer, header.signature);
      return AwaitsMessage(peer) ? Keep(peer, header) : FramePlace{};
    }
  }
  const Ticket ticket = FirstFor(peer, header);
  if (ticket == kNobody) {
    // No receive matches the frame. A part of a collective then stays on the
    // connection until its receive is posted. But if a receive waits for a
    // message of this peer, the part must be kept in this object, because it
    // may block that message on the connection.
    if (header.type == FrameType::kPart && !AwaitsMessage(peer)) {
      return FramePlace{};
    }
    return Keep(peer, header);
  }
  Posted& posted = receives_[ticket];
  absl::Status s = Fits(posted, header);
  if (!s.ok()) return s;
  posted.placed = true;
  arriving_[peer] = ticket;
  return FramePlace{FramePlace::Kind::kThere, posted.data};
}

absl::StatusOr<FramePlace> FrameInbox::PlaceAnnouncement(
    int peer, const FrameHeader& header) {
  absl::Status s = Compare(peer, header.signature);
  if (!s.ok()) return s;
  if (header.signature.sequence > current_.sequence) {
    if (AwaitsPart(peer)) return Overtaken(peer, header.signature);
    if (announced_[peer].size() >= kMaxAnnounced) return FramePlace{};
    announced_[peer].push_back(header.signature);
  }
  arriving_[peer] = kNobody;
  return FramePlace{FramePlace::Kind::kThere, nullptr};
}

absl::StatusOr<FramePlace> FrameInbox::Keep(int peer,
                                            const FrameHeader& header) {
  if (header.bytes > keep_bytes_ - kept_bytes_ ||
      kept_frames_ >= kMaxKeptFrames) {
    if (!Awaits(peer)) return FramePlace{};
    return absl::FailedPreconditionError(absl::StrCat(
        Describe(names_[peer]), " sent ",
        header.type == FrameType::kMessage ? DescribeMessage(header.label)
                                           : Describe(header.signature),
        " (", header.bytes, " bytes) before what ", Describe(names_[rank_]),
        " awaits in ", Describe(asked_),
        ", and nobody receives it: more than the ", keep_bytes_, " bytes and ",
        kMaxKeptFrames, " frames that are kept of such"));
  }
  kept_bytes_ += header.bytes;
  ++kept_frames_;
  kept_[peer].push_back(
      Kept{header, std::vector<char>(static_cast<size_t>(header.bytes))});
  arriving_[peer] = kToKept;
  return FramePlace{FramePlace::Kind::kThere, kept_[peer].back().data.data()};
}

void FrameInbox::Placed(int peer, const FrameHeader& header) {
  const Ticket ticket = std::exchange(arriving_[peer], kNobody);
  // the frame was an announcement, which has no data
  if (ticket == kNobody) return;
  if (ticket != kToKept) {
    Complete(ticket);
    return;
  }
  // The frame is now complete. When it began to arrive, no receive matched it,
  // so it was kept. A matching receive may have been posted since then.
  Kept& early = kept_[peer].back();
  early.complete = true;
  const Ticket wanted = FirstFor(peer, header);
  if (wanted == kNobody) return;
  Posted& posted = receives_[wanted];
  posted.status = Fits(posted, header);
  if (!posted.status.ok()) return;
  if (posted.bytes > 0) {
    std::memcpy(posted.data, early.data.data(), early.data.size());
  }
  kept_bytes_ -= posted.bytes;
  --kept_frames_;
  kept_[peer].pop_back();
  Complete(wanted);
}

void FrameInbox::Complete(Ticket ticket) {
  Posted& posted = receives_[ticket];
  posted.placed = true;
  posted.done = true;
  std::deque<Ticket>& waiting = waiting_[posted.peer];
  const auto place = std::find(waiting.begin(), waiting.end(), ticket);
  MUSTER_CHECK(place != waiting.end()) << "received twice";
  waiting.erase(place);
}

}  // namespace muster
