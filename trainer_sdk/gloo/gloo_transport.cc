#include "trainer_sdk/gloo/gloo_transport.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/check.h"
#include "base/message_text.h"
#include "base/monotonic_clock.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/gloo/gloo_plugin.h"
#include "trainer_sdk/gloo/peer_watch.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/process_group/store_exchange.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/tcp/rendezvous.h"

namespace muster {
namespace {

// Deletes an object that the plugin made, with the plugin's matching function.
struct GlooDelete {
  void (*function)(void*) = nullptr;
  void operator()(void* made) const { function(made); }
};

using GlooHandle = std::unique_ptr<void, GlooDelete>;

// A mesh of Gloo pairs (connections); a thread of Gloo moves the data. At the
// beginning of a collective, each rank sends the signature of its operation to
// the next rank, which compares this signature with that of its own operation.
// The label of a message (tag, type and count) is sent before the message's
// data. In an all_to_all with counts, the length of each part is sent before
// the part.
class GlooMesh final : public Mesh {
 public:
  // `plugin` made `context`. `names` has the names of all ranks, indexed by
  // rank.
  GlooMesh(const GlooPlugin& plugin, GlooHandle context, int rank,
           std::vector<PeerName> names);
  ~GlooMesh() override;

  // Starts to detect the death of peers by `sockets`, one connection to each
  // other rank. Call it once, before anything is sent. The first death fails
  // the running operation and all later ones. Then `on_gone`, which may block,
  // is called with the error, on the thread of the PeerWatch that this call
  // starts.
  absl::Status Watch(std::vector<OwnedFd> sockets,
                     std::function<void(const absl::Status& gone)> on_gone);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(names_.size()); }
  const PeerName& name(int peer) const override { return names_[peer]; }
  absl::Status Begin(const OperationSignature& signature,
                     Instant deadline) override;
  void Send(int peer, const void* data, int64_t bytes) override;
  void SendMessage(int peer, const MessageLabel& label,
                   const void* data) override;
  Ticket Receive(int peer, void* data, int64_t bytes) override;
  Ticket ReceiveMessage(int peer, const MessageLabel& label,
                        void* data) override;
  absl::Status Wait(Ticket ticket) override;
  absl::Status Flush() override;
  absl::Status Finish() override;
  bool PeerHungUp() override {
    return watch_ != nullptr && watch_->PeerHungUp();
  }
  void Close() override;

  // Prepares the destruction of a mesh that could not be connected completely;
  // called instead of Close. Sends no goodbye message (see PeerWatch) and
  // resets no connection (see GlooPlugin::reset_connections for the reason).
  void Abandon();

 private:
  // The size in bytes of a note: a short text that is sent before a collective
  // or the data of a message.
  static constexpr int kNoteBytes = 192;
  using Note = std::array<char, kNoteBytes>;

  struct Outgoing {
    int peer = 0;
    // The memory that `buffer` uses; null: `buffer` uses memory of the caller.
    std::unique_ptr<Note> note;
    GlooHandle buffer;
  };
  struct Incoming {
    int peer = 0;
    void* data = nullptr;
    int64_t bytes = 0;
    uint64_t slot = 0;
    bool message = false;
    MessageLabel label;
    // The note that the peer sends before the data. Null if the peer sends no
    // note, or if the note has been read and the receive of the data posted.
    std::unique_ptr<Note> note;
    // Gloo's handle of the pending receive: first that of the peer's note (a
    // short text that precedes the data), later that of the data itself.
    GlooHandle buffer;
  };

  void Post(int peer, uint64_t slot, const void* data, int64_t bytes,
            std::unique_ptr<Note> note);
  GlooHandle PostReceive(int peer, uint64_t slot, void* data, int64_t bytes);
  GlooHandle NewBuffer(const void* data, int64_t bytes);
  // Converts the outcome of a call of the plugin to a status. An error names
  // `peer`.
  absl::Status StatusOf(GlooOutcome outcome, int peer,
                        const GlooText& why) const;
  absl::Status WaitFor(int peer, void* buffer);
  // Waits until a transfer with `peer` is complete. `wait`: the plugin's
  // wait_send or wait_receive. Close and the death of a peer end the wait.
  absl::Status WaitAt(int peer, void* buffer,
                      GlooOutcome (*wait)(void*, int64_t, GlooText*));
  // Records that `peer` has died, ends the running wait, and returns the error.
  absl::Status Gone(int peer);
  // Ends the wait for a transfer, if one is running. The caller holds mutex_.
  void Interrupt();
  int64_t TimeoutMs() const;  // milliseconds until deadline_, at least 1
  bool PartsAreNoted() const;
  void PostNote(int peer, uint64_t slot, const std::string& text);
  void PostNoteReceive(Incoming& incoming, uint64_t slot);
  // Waits for the note of `incoming`: a short text that the peer sends before
  // the data. Checks that the note states what this rank expects, and then
  // posts the receive of the data. Does nothing if there is no note.
  absl::Status FollowNote(Incoming& incoming);
  absl::Status CompareLabel(const Incoming& incoming) const;
  absl::Status CompareLength(const Incoming& incoming) const;

  // Sent instead of an empty message, because Gloo cannot send 0 bytes. The
  // value has no meaning.
  char nothing_ = 0;
  const GlooPlugin& plugin_;
  GlooHandle context_;
  const int rank_;
  const std::vector<PeerName> names_;

  OperationSignature signature_;
  Instant begun_;
  Instant deadline_;
  // number of parts that this rank has sent to, and received from, each peer in
  // the current operation; indexed by peer
  std::vector<uint64_t> sent_, received_;
  std::deque<Outgoing> outgoing_;
  // the receives that were posted in the current operation; the index is the
  // ticket that Receive returned
  std::vector<Incoming> incoming_;
  // error of a call that cannot return a status, such as Send
  absl::Status failed_;

  std::mutex mutex_;  // guards closed_, gone_ and waited_for_
  bool closed_ = false;
  absl::Status gone_;  // error that names the peer that died
  void* waited_for_ = nullptr;

  // Declared last, because its thread uses the other members.
  std::unique_ptr<PeerWatch> watch_;
};

// The time between the end of a peer's connection and the report of the peer's
// death. During this time Gloo can deliver data that the peer sent before, and
// detects most deaths itself.
constexpr Duration kGrace = std::chrono::milliseconds(250);

std::string Describe(const MessageLabel& label) {
  return absl::StrCat(label.count, " ", Name(label.dtype), " with tag ",
                      label.tag);
}

// Gloo matches a send with a receive of the same slot number. If the send is
// longer than the receive, Gloo aborts the process. To prevent an abort, the
// slot number is a hash of everything on which both sides must agree. Ranks
// that disagree use different slots, and wait for each other until the group
// breaks.

// The kinds of data that are sent over Gloo. The kind is the first of the
// numbers from which Hash computes a slot number.
enum Purpose : uint64_t {
  kAnnouncement = 1,
  kPart,
  kPartNote,
  kLabel,
  kMessage
};

// FNV-1a over integers, with a finalizer, so that similar numbers give very
// different slot numbers.
uint64_t Hash(std::initializer_list<uint64_t> numbers) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const uint64_t number : numbers) {
    hash = (hash ^ number) * 0x100000001b3u;
    hash ^= hash >> 32;
    hash *= 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  return hash;
}

// The slot number of the message with which a rank announces collective number
// `sequence`. Gloo matches a send with the receive of the same slot number.
uint64_t AnnouncementSlot(uint64_t sequence) {
  return Hash({kAnnouncement, sequence});
}

// Slot numbers for the n-th part that one rank sends to another in a
// collective. PartSlot: for the part itself. PartNoteSlot: for the note with
// the part's length, which is sent before the part.
uint64_t PartSlot(const OperationSignature& signature, uint64_t n,
                  int64_t bytes) {
  return Hash({kPart, signature.sequence, static_cast<uint64_t>(signature.kind),
               n, static_cast<uint64_t>(bytes)});
}

uint64_t PartNoteSlot(const OperationSignature& signature, uint64_t n) {
  return Hash({kPartNote, signature.sequence,
               static_cast<uint64_t>(signature.kind), n});
}

// Slot numbers for the next point-to-point message with tag `tag`. LabelSlot:
// for its label (tag, type and count), which is sent first. MessageSlot: for
// its data.
uint64_t LabelSlot(int tag) {
  return Hash({kLabel, static_cast<uint64_t>(tag)});
}

uint64_t MessageSlot(int tag, int64_t bytes) {
  return Hash(
      {kMessage, static_cast<uint64_t>(tag), static_cast<uint64_t>(bytes)});
}

GlooMesh::GlooMesh(const GlooPlugin& plugin, GlooHandle context, int rank,
                   std::vector<PeerName> names)
    : plugin_(plugin),
      context_(std::move(context)),
      rank_(rank),
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
  if (waited_for_ != nullptr) plugin_.interrupt(waited_for_);
}

// Destroys the buffers before the context, because the buffers refer to the
// context's connections.
GlooMesh::~GlooMesh() {
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
  const GlooHandle buffer =
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

GlooHandle GlooMesh::NewBuffer(const void* data, int64_t bytes) {
  return GlooHandle(
      plugin_.new_buffer(context_.get(),
                         bytes > 0 ? const_cast<void*>(data) : &nothing_,
                         static_cast<size_t>(std::max<int64_t>(bytes, 1))),
      GlooDelete{plugin_.delete_buffer});
}

void GlooMesh::Post(int peer, uint64_t slot, const void* data, int64_t bytes,
                    std::unique_ptr<Note> note) {
  if (!failed_.ok()) return;
  Outgoing outgoing{peer, std::move(note), NewBuffer(data, bytes)};
  GlooText why;
  failed_ = StatusOf(plugin_.send(outgoing.buffer.get(), peer, slot, &why),
                     peer, why);
  if (failed_.ok()) outgoing_.push_back(std::move(outgoing));
}

GlooHandle GlooMesh::PostReceive(int peer, uint64_t slot, void* data,
                                 int64_t bytes) {
  GlooHandle buffer = NewBuffer(data, bytes);
  if (!failed_.ok()) return buffer;
  GlooText why;
  failed_ =
      StatusOf(plugin_.receive(buffer.get(), peer, slot, &why), peer, why);
  return buffer;
}

// Whether the length of each part is sent in a note before the part, so that
// the receiver can check the length. An all_to_all with counts needs these
// notes, because only the sender and the receiver of a part know its length.
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
  // If the peers send the length of each part in a note before the part, read
  // the notes of all later parts now, and post the receives of these parts.
  // Gloo sends a part only after its receive was posted. So the later parts can
  // arrive while this rank still waits for the part of `ticket`.
  const auto last = PartsAreNoted() ? incoming_.size() : ticket + size_t{1};
  for (size_t i = ticket; i < last; ++i) {
    if (absl::Status s = FollowNote(incoming_[i]); !s.ok()) return s;
  }
  const Incoming& incoming = incoming_[ticket];
  return WaitFor(incoming.peer, incoming.buffer.get());
}

// A note is a short text that the peer sends before the data: the length of the
// data, or its type and count. The receive of the data is posted only after the
// note has arrived and states what this rank expects. Until then Gloo keeps the
// data at the sender.
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
    absl::Status s = WaitAt(first.peer, first.buffer.get(), plugin_.wait_send);
    if (!s.ok()) return s;
    outgoing_.pop_front();
  }
  return failed_;
}

absl::Status GlooMesh::Finish() { return Flush(); }

absl::Status GlooMesh::WaitFor(int peer, void* buffer) {
  if (!failed_.ok()) return failed_;
  return WaitAt(peer, buffer, plugin_.wait_receive);
}

int64_t GlooMesh::TimeoutMs() const {
  return std::chrono::ceil<std::chrono::milliseconds>(
             std::max<Duration>(deadline_ - MonotonicNow(),
                                std::chrono::milliseconds(1)))
      .count();
}

absl::Status GlooMesh::WaitAt(int peer, void* buffer,
                              GlooOutcome (*wait)(void*, int64_t, GlooText*)) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return absl::AbortedError("the transport was closed");
    if (!gone_.ok()) return gone_;
    waited_for_ = buffer;
  }
  GlooText why;
  absl::Status s = StatusOf(wait(buffer, TimeoutMs(), &why), peer, why);
  const std::lock_guard<std::mutex> lock(mutex_);
  waited_for_ = nullptr;
  // If the death of a peer interrupted the wait, return the error that names
  // that peer. If Close interrupted the wait, return Aborted.
  return absl::IsAborted(s) && !gone_.ok() ? gone_ : s;
}

absl::Status GlooMesh::StatusOf(GlooOutcome outcome, int peer,
                                const GlooText& why) const {
  if (outcome == GlooOutcome::kDone) return absl::OkStatus();
  if (outcome == GlooOutcome::kInterrupted) {
    return absl::AbortedError("the transport was closed");
  }
  if (MonotonicNow() >= deadline_) {
    return absl::DeadlineExceededError(
        absl::StrCat("waited ", SecondsText(MonotonicNow() - begun_), " for ",
                     muster::Describe(names_[peer])));
  }
  return absl::UnavailableError(
      absl::StrCat(muster::Describe(names_[peer]),
                   " died, left or broke its connection: ", why.Text()));
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
  plugin_.reset_connections(context_.get());
}

std::string RankKey(int rank) { return absl::StrCat("gloo/rank/", rank); }

absl::Status Failed(const std::string& what, Instant deadline) {
  return MonotonicNow() >= deadline ? absl::DeadlineExceededError(what)
                                    : absl::UnavailableError(what);
}

// Publishes this rank's addresses, one for each peer. Returns the addresses
// that the peers have published for this rank.
absl::StatusOr<std::vector<std::string>> ExchangeAddresses(
    const GroupPlace& place, const std::vector<std::string>& own,
    Instant deadline) {
  absl::Status s = place.store->Set(RankKey(place.rank), EncodeTexts(own));
  if (!s.ok()) return s;
  std::vector<std::string> keys;
  keys.reserve(static_cast<size_t>(place.size));
  for (int rank = 0; rank < place.size; ++rank) keys.push_back(RankKey(rank));
  // If some ranks do not publish their addresses in time, the error from Wait
  // names them.
  if (s = place.store->Wait(keys, deadline); !s.ok()) return s;
  std::vector<std::string> addresses;
  for (int rank = 0; rank < place.size; ++rank) {
    const absl::StatusOr<std::string> value =
        place.store->Get(keys[rank], deadline);
    if (!value.ok()) return value.status();
    auto texts = DecodeTexts(*value, place.size);
    if (!texts.ok()) return texts.status();
    addresses.push_back(std::move((*texts)[place.rank]));
  }
  return addresses;
}

absl::Status ConnectPairs(const GroupPlace& place,
                          const std::vector<PeerName>& names, Instant deadline,
                          const GlooPlugin& gloo, void* context) {
  std::vector<std::string> own(place.size);
  for (int peer = 0; peer < place.size; ++peer) {
    if (peer == place.rank) continue;
    GlooText address;
    gloo.address(context, peer, &address);
    own[peer] = address.Text();
  }
  const auto addresses = ExchangeAddresses(place, own, deadline);
  if (!addresses.ok()) return addresses.status();
  const FormationReaction interruption(
      place.formation,
      [&](const absl::Status&) { gloo.interrupt_connect(context); });
  for (int peer = 0; peer < place.size; ++peer) {
    // If the creation of the group was interrupted, return the cause. `connect`
    // cannot report the cause: after an interruption it does nothing and
    // returns no error.
    if (absl::Status s = FormationStatus(place); !s.ok()) return s;
    if (peer == place.rank) continue;
    const std::string& address = (*addresses)[peer];
    GlooText why;
    if (gloo.connect(context, peer, address.data(), address.size(), &why) ==
        GlooOutcome::kDone) {
      continue;
    }
    // If an interruption made `connect` fail, return the cause of the
    // interruption, which Gloo's own message does not contain.
    if (absl::Status s = FormationStatus(place); !s.ok()) return s;
    return Failed(
        absl::StrCat("with ", Describe(names[peer]), ": ", why.Text()),
        deadline);
  }
  return FormationStatus(place);
}

// Starts to detect the death of peers. If a peer dies, interrupts
// place.formation (the creation of the group on all ranks; may be null), so
// that no rank waits for the dead peer.
absl::Status WatchWhileForming(const GroupPlace& place,
                               std::vector<StreamSocket> sockets,
                               GlooMesh& mesh) {
  std::vector<OwnedFd> watched;
  watched.reserve(sockets.size());
  for (StreamSocket& socket : sockets) watched.push_back(std::move(socket.fd));
  return mesh.Watch(std::move(watched),
                    [formation = place.formation](const absl::Status& gone) {
                      if (formation != nullptr) formation->Interrupt(gone);
                    });
}

absl::StatusOr<std::unique_ptr<Mesh>> Connect(const GroupPlace& place,
                                              const GlooPlugin& gloo,
                                              ConnectedRanks ranks,
                                              const std::string& address,
                                              Instant deadline) {
  // A fifth of the time that is left until the deadline, because Gloo waits up
  // to five times its timeout for a connection.
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(
      std::max<Duration>(deadline - MonotonicNow(),
                         std::chrono::milliseconds(5)) /
      5);
  GlooText why;
  void* const context = gloo.new_context(address.c_str(), place.rank,
                                         place.size, timeout.count(), &why);
  std::unique_ptr<GlooMesh> mesh;
  absl::Status failure;
  if (context == nullptr) {
    failure = FormationStatus(place);
    if (failure.ok()) failure = Failed(why.Text(), deadline);
  } else {
    mesh = std::make_unique<GlooMesh>(
        gloo, GlooHandle(context, GlooDelete{gloo.delete_context}), place.rank,
        ranks.names);
    // Start to detect deaths before connecting the pairs: Gloo itself would
    // wait for a dead peer until the deadline.
    failure = WatchWhileForming(place, std::move(ranks.sockets), *mesh);
    if (failure.ok()) {
      failure = ConnectPairs(place, ranks.names, deadline, gloo, context);
    }
  }
  if (failure.ok()) return std::unique_ptr<Mesh>(std::move(mesh));
  // Publish the cause before this rank closes its connections, so that peers
  // that notice the closed connections find the cause.
  failure = FailFormation(
      place,
      absl::Status(
          failure.code(),
          absl::StrCat(place.name, ": connecting the ranks over Gloo at ",
                       address, ": ", std::string(failure.message()))));
  if (mesh != nullptr) mesh->Abandon();
  return failure;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NetworkTransport>> NewGlooTransport(
    GroupPlace place, const GlooOptions& options, Instant deadline) {
  const absl::StatusOr<const GlooPlugin*> gloo = LoadGlooPlugin();
  if (!gloo.ok()) return gloo.status();
  const absl::StatusOr<std::string> address = LocalAddress(options.address);
  if (!address.ok()) return address.status();
  // Exchange the ranks' names, and make the TCP connections by which a rank's
  // death is detected.
  GroupPlace watched = place;
  watched.store = std::make_shared<PrefixStore>("watch", place.store);
  absl::StatusOr<ConnectedRanks> ranks =
      ConnectRanks(watched, *address, std::nullopt, deadline);
  if (!ranks.ok()) return ranks.status();
  MUSTER_CHECK(options.ranks_in_errors.empty() ||
               options.ranks_in_errors.size() == ranks->names.size())
      << "every rank is told as one";
  for (size_t rank = 0; rank < options.ranks_in_errors.size(); ++rank) {
    ranks->names[rank].rank = options.ranks_in_errors[rank];
  }
  absl::StatusOr<std::unique_ptr<Mesh>> mesh =
      Connect(place, **gloo, *std::move(ranks), *address, deadline);
  if (!mesh.ok()) return mesh.status();
  return std::make_unique<NetworkTransport>("gloo", std::move(place),
                                            *std::move(mesh));
}

}  // namespace muster
