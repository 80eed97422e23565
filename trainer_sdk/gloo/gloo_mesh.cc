#include "trainer_sdk/gloo/gloo_mesh.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/seconds_text.h"
#include "trainer_sdk/gloo/gloo_slot.h"
#include "trainer_sdk/gloo/without_sigpipe.h"

namespace muster {
namespace {

// Time for Gloo to deliver data that a peer sent before its end, and to detect
// most ends by itself.
constexpr Duration kGrace = std::chrono::milliseconds(250);

std::string Describe(const MessageLabel& label) {
  return absl::StrCat(label.count, " ", Name(label.dtype), " with tag ",
                      label.tag);
}

}  // namespace

GlooMesh::GlooMesh(std::shared_ptr<gloo::Context> context,
                   std::vector<PeerName> names)
    : context_(std::move(context)),
      names_(std::move(names)),
      sent_(names_.size()),
      received_(names_.size()) {}

absl::Status GlooMesh::Watch(
    std::vector<OwnedFd> sockets,
    std::function<void(const absl::Status& gone)> on_gone) {
  auto watch = PeerWatch::Start(
      std::move(sockets), kGrace,
      [this, on_gone = std::move(on_gone)](int peer) { on_gone(Gone(peer)); });
  if (!watch.ok()) return watch.status();
  watch_ = *std::move(watch);
  return absl::OkStatus();
}

absl::Status GlooMesh::Gone(int peer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  gone_ = absl::UnavailableError(
      absl::StrCat(muster::Describe(names_[peer]),
                   " died or broke its connection: it has ended"));
  Interrupt();
  return gone_;
}

void GlooMesh::Interrupt() {
  if (waited_for_ == nullptr) return;
  waited_for_->abortWaitRecv();
  waited_for_->abortWaitSend();
}

// Buffers are destroyed first, because they refer to the context's connections.
GlooMesh::~GlooMesh() {
  const WithoutSigpipe guard;
  watch_.reset();
  outgoing_.clear();
  incoming_.clear();
  context_.reset();
}

absl::Status GlooMesh::Begin(const OperationSignature& signature,
                             Instant deadline) {
  signature_ = signature;
  begun_ = MonotonicNow();
  deadline_ = deadline;
  incoming_.clear();
  std::fill(sent_.begin(), sent_.end(), 0);
  std::fill(received_.begin(), received_.end(), 0);
  if (IsPointToPoint(signature.kind) || size() == 1) return absl::OkStatus();
  const int next = (rank() + 1) % size();
  const int previous = (rank() + size() - 1) % size();
  const uint64_t slot = AnnouncementSlot(signature.sequence);
  Note theirs{};
  const std::unique_ptr<Buffer> buffer =
      PostReceive(previous, slot, theirs.data(), kNoteBytes);
  PostNote(next, slot, Encoded(signature));
  if (absl::Status s = WaitFor(previous, buffer.get()); !s.ok()) return s;
  theirs.back() = '\0';
  const absl::StatusOr<OperationSignature> heard =
      DecodeSignature(theirs.data());
  if (!heard.ok()) return heard.status();
  if (SameCollective(*heard, signature)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "the ranks called different things: ", muster::Describe(names_[previous]),
      " called ", muster::Describe(*heard), " where ",
      muster::Describe(names_[rank()]), " called ",
      muster::Describe(signature)));
}

void GlooMesh::Post(int peer, uint64_t slot, const void* data, int64_t bytes,
                    std::unique_ptr<Note> note) {
  if (!failed_.ok()) return;
  Outgoing outgoing;
  outgoing.peer = peer;
  outgoing.note = std::move(note);
  outgoing.buffer = context_->createUnboundBuffer(
      bytes > 0 ? const_cast<void*>(data) : &nothing_,
      static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  failed_ = Guard(peer, [&] {
    outgoing.buffer->send(peer, slot);
    return true;
  });
  if (failed_.ok()) outgoing_.push_back(std::move(outgoing));
}

std::unique_ptr<GlooMesh::Buffer> GlooMesh::PostReceive(int peer, uint64_t slot,
                                                        void* data,
                                                        int64_t bytes) {
  std::unique_ptr<Buffer> buffer = context_->createUnboundBuffer(
      bytes > 0 ? data : &nothing_,
      static_cast<size_t>(std::max<int64_t>(bytes, 1)));
  if (!failed_.ok()) return buffer;
  failed_ = Guard(peer, [&] {
    buffer->recv(peer, slot);
    return true;
  });
  return buffer;
}

// For an all_to_all with counts, only the sender and the receiver of a part
// know its length, and they may disagree.
bool GlooMesh::PartsAreNoted() const {
  return signature_.kind == OperationKind::kAllToAll &&
         signature_.counts_hash != 0;
}

void GlooMesh::PostNote(int peer, uint64_t slot, const std::string& text) {
  auto note = std::make_unique<Note>();
  note->fill('\0');
  MUSTER_CHECK(text.size() < note->size()) << "a note without bounds";
  std::memcpy(note->data(), text.data(), text.size());
  const char* const data = note->data();
  Post(peer, slot, data, kNoteBytes, std::move(note));
}

void GlooMesh::Send(int peer, const void* data, int64_t bytes) {
  const uint64_t n = sent_[peer]++;
  if (PartsAreNoted()) {
    PostNote(peer, PartNoteSlot(signature_, n), absl::StrCat(bytes));
  }
  Post(peer, PartSlot(signature_, n, bytes), data, bytes, nullptr);
}

void GlooMesh::SendMessage(int peer, const MessageLabel& label,
                           const void* data) {
  PostNote(peer, LabelSlot(label.tag),
           absl::StrCat(static_cast<int>(label.dtype), " ", label.count));
  const int64_t bytes = label.count * SizeOf(label.dtype);
  Post(peer, MessageSlot(label.tag, bytes), data, bytes, nullptr);
}

Ticket GlooMesh::Receive(int peer, void* data, int64_t bytes) {
  Incoming incoming;
  incoming.peer = peer;
  incoming.data = data;
  incoming.bytes = bytes;
  const uint64_t n = received_[peer]++;
  incoming.slot = PartSlot(signature_, n, bytes);
  if (PartsAreNoted()) {
    PostNoteReceive(incoming, PartNoteSlot(signature_, n));
  } else {
    incoming.buffer = PostReceive(peer, incoming.slot, data, bytes);
  }
  incoming_.push_back(std::move(incoming));
  return static_cast<Ticket>(incoming_.size()) - 1;
}

void GlooMesh::PostNoteReceive(Incoming& incoming, uint64_t slot) {
  incoming.note = std::make_unique<Note>();
  incoming.buffer =
      PostReceive(incoming.peer, slot, incoming.note->data(), kNoteBytes);
}

Ticket GlooMesh::ReceiveMessage(int peer, const MessageLabel& label,
                                void* data) {
  Incoming incoming;
  incoming.peer = peer;
  incoming.data = data;
  incoming.bytes = label.count * SizeOf(label.dtype);
  incoming.message = true;
  incoming.label = label;
  incoming.slot = MessageSlot(label.tag, incoming.bytes);
  PostNoteReceive(incoming, LabelSlot(label.tag));
  incoming_.push_back(std::move(incoming));
  return static_cast<Ticket>(incoming_.size()) - 1;
}

absl::Status GlooMesh::Wait(Ticket ticket) {
  // Notes of all parts at once, so that no part waits for another's data.
  const auto last = PartsAreNoted() ? incoming_.size() : ticket + size_t{1};
  for (size_t i = ticket; i < last; ++i) {
    if (absl::Status s = FollowNote(incoming_[i]); !s.ok()) return s;
  }
  const Incoming& incoming = incoming_[ticket];
  return WaitFor(incoming.peer, incoming.buffer.get());
}

// The data stays at its sender until its receive is posted.
absl::Status GlooMesh::FollowNote(Incoming& incoming) {
  if (incoming.note == nullptr) return absl::OkStatus();
  absl::Status s = WaitFor(incoming.peer, incoming.buffer.get());
  if (s.ok()) {
    s = incoming.message ? CompareLabel(incoming) : CompareLength(incoming);
  }
  if (!s.ok()) return s;
  incoming.buffer =
      PostReceive(incoming.peer, incoming.slot, incoming.data, incoming.bytes);
  incoming.note = nullptr;
  return absl::OkStatus();
}

absl::Status GlooMesh::CompareLength(const Incoming& incoming) const {
  Note note = *incoming.note;
  note.back() = '\0';
  int64_t bytes = 0;
  if (!absl::SimpleAtoi(note.data(), &bytes)) {
    return absl::InternalError(absl::StrCat(
        muster::Describe(names_[incoming.peer]), " sent no part's length"));
  }
  if (bytes == incoming.bytes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(muster::Describe(names_[incoming.peer]), " sent ", bytes,
                   " bytes where ", muster::Describe(names_[rank()]),
                   " receives ", incoming.bytes, " bytes"));
}

absl::Status GlooMesh::CompareLabel(const Incoming& incoming) const {
  Note note = *incoming.note;
  note.back() = '\0';
  const std::vector<std::string> words =
      absl::StrSplit(std::string(note.data()), ' ');
  MessageLabel theirs = incoming.label;
  int32_t dtype = -1;
  if (words.size() != 2 || !absl::SimpleAtoi(words[0], &dtype) || dtype < 0 ||
      dtype >= kDTypes || !absl::SimpleAtoi(words[1], &theirs.count)) {
    return absl::InternalError(absl::StrCat(
        muster::Describe(names_[incoming.peer]), " sent no message's label"));
  }
  theirs.dtype = static_cast<DType>(dtype);
  if (theirs.dtype == incoming.label.dtype &&
      theirs.count == incoming.label.count) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      muster::Describe(names_[incoming.peer]), " sent ", Describe(theirs),
      " where ", muster::Describe(names_[rank()]), " receives ",
      Describe(incoming.label)));
}

absl::Status GlooMesh::Flush() {
  while (!outgoing_.empty()) {
    Outgoing& first = outgoing_.front();
    Buffer* const buffer = first.buffer.get();
    absl::Status s = WaitAt(first.peer, buffer,
                            [&] { return buffer->waitSend(Patience()); });
    if (!s.ok()) return s;
    outgoing_.pop_front();
  }
  return failed_;
}

absl::Status GlooMesh::Finish() { return Flush(); }

absl::Status GlooMesh::WaitFor(int peer, Buffer* buffer) {
  if (!failed_.ok()) return failed_;
  return WaitAt(peer, buffer, [&] { return buffer->waitRecv(Patience()); });
}

std::chrono::milliseconds GlooMesh::Patience() const {
  return std::chrono::ceil<std::chrono::milliseconds>(std::max<Duration>(
      deadline_ - MonotonicNow(), std::chrono::milliseconds(1)));
}

absl::Status GlooMesh::WaitAt(int peer, Buffer* buffer,
                              const std::function<bool()>& wait) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return absl::AbortedError("the transport was closed");
    if (!gone_.ok()) return gone_;
    waited_for_ = buffer;
  }
  absl::Status s = Guard(peer, wait);
  const std::lock_guard<std::mutex> lock(mutex_);
  waited_for_ = nullptr;
  // The error that interrupted the wait, unless Close did.
  return absl::IsAborted(s) && !gone_.ok() ? gone_ : s;
}

absl::Status GlooMesh::Guard(int peer, const std::function<bool()>& call) {
  const WithoutSigpipe guard;
  std::string thrown;
  try {
    if (call()) return absl::OkStatus();
    return absl::AbortedError("the transport was closed");
  } catch (const std::exception& e) {
    thrown = e.what();
  }
  if (MonotonicNow() >= deadline_) {
    return absl::DeadlineExceededError(
        absl::StrCat("waited ", SecondsText(MonotonicNow() - begun_), " for ",
                     muster::Describe(names_[peer])));
  }
  return absl::UnavailableError(
      absl::StrCat(muster::Describe(names_[peer]),
                   " died, left or broke its connection: ", thrown));
}

void GlooMesh::Abandon() {
  if (watch_ != nullptr) watch_->Cut();
}

void GlooMesh::Close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    Interrupt();
  }
  if (watch_ != nullptr) watch_->Cut();
  const WithoutSigpipe guard;
  try {
    context_->closeConnections();
  } catch (const std::exception&) {
    // Ignored: the connections are closed anyway.
  }
}

}  // namespace muster
