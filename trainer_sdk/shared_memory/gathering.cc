#include "trainer_sdk/shared_memory/gathering.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/monotonic_clock.h"
#include "base/poll.h"
#include "trainer_sdk/process_group/formation.h"
#include "trainer_sdk/shared_memory/layout.h"
#include "trainer_sdk/shared_memory/local_socket.h"
#include "trainer_sdk/shared_memory/memory_file.h"

namespace muster {

absl::StatusOr<LifeSign> MakeLifeSign() {
  LifeSign sign;
  sign.told = OwnedFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  if (sign.told.open()) {
    fcntl(sign.told.get(), F_SETFD, FD_CLOEXEC);
    return sign;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cannot create a pipe: ", std::strerror(errno)));
  }
  sign.told = OwnedFd(ends[0]);
  sign.kept = OwnedFd(ends[1]);
  return sign;
}

std::vector<int> Gone(const std::vector<int>& told) {
  std::vector<pollfd> polled;
  polled.reserve(told.size());
  for (const int fd : told) polled.push_back({fd, POLLIN, 0});
  std::vector<int> gone;
  if (PollUntil(polled, kAtOnce) == 0) return gone;
  for (size_t i = 0; i < polled.size(); ++i) {
    if ((polled[i].revents & (POLLIN | POLLHUP)) != 0) {
      gone.push_back(static_cast<int>(i));
    }
  }
  return gone;
}

namespace {

constexpr char kKey[] = "shared_memory/address";
// A constant that identifies this version of the shared memory's layout;
// changed whenever the layout changes.
constexpr uint64_t kMagic = 0x4d75737465723031;

struct Hello {
  uint64_t magic = kMagic;
  int32_t rank = 0;
  int32_t size = 0;
  char secret[32] = {};
};

struct Welcome {
  uint64_t magic = kMagic;
  Dimensions dimensions;
};

template <class T>
std::string Bytes(const T& message) {
  return std::string(reinterpret_cast<const char*>(&message), sizeof(message));
}

template <class T>
bool Read(const std::string& bytes, T* message) {
  if (bytes.size() != sizeof(T)) return false;
  std::memcpy(static_cast<void*>(message), bytes.data(), sizeof(T));
  return message->magic == kMagic;
}

absl::StatusOr<std::string> RandomHex() {
  char bytes[16];
  if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes)) {
    return absl::UnavailableError("the system has no random numbers");
  }
  return absl::BytesToHexString(absl::string_view(bytes, sizeof(bytes)));
}

std::string Host() {
  char name[64] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

absl::Status In(const GroupPlace& place, const absl::Status& status) {
  return absl::Status(
      status.code(),
      absl::StrCat("group \"", place.name, "\", rank ", place.rank, " of ",
                   place.size,
                   ", shared memory: ", std::string(status.message())));
}

LocalWaitLimits WaitLimitsOf(const GroupPlace& place, Instant deadline) {
  return {deadline, [&place] { return FormationStatus(place); }};
}

// Rank 0's part of Gather: accepts the connections of all other ranks.
class RankZeroGatherer {
 public:
  RankZeroGatherer(const GroupPlace& place, std::string secret)
      : place_(place), secret_(std::move(secret)) {
    joined_.resize(place.size);
    lives_.resize(place.size);
  }

  absl::Status WaitForAll(int listener, Instant deadline) {
    int absent = place_.size - 1;
    while (absent > 0) {
      if (absl::Status s = FormationStatus(place_); !s.ok()) return s;
      std::vector<pollfd> polled = {{listener, POLLIN, 0}};
      for (const OwnedFd& one : strangers_) {
        polled.push_back({one.get(), POLLIN, 0});
      }
      const Instant now = MonotonicNow();
      if (now >= deadline) return Absent();
      polled.push_back({FormationWakeFd(place_), POLLIN, 0});
      PollUntil(polled, std::min(deadline, now + std::chrono::minutes(1)));
      std::vector<OwnedFd> still_strangers;
      for (size_t i = 0; i < strangers_.size(); ++i) {
        if (polled[i + 1].revents == 0) {
          still_strangers.push_back(std::move(strangers_[i]));
        } else if (Admit(std::move(strangers_[i]))) {
          --absent;
        }
      }
      strangers_ = std::move(still_strangers);
      if (polled[0].revents != 0) {
        absl::StatusOr<OwnedFd> fd = AcceptLocal(listener);
        if (absl::IsPermissionDenied(fd.status())) continue;
        if (!fd.ok()) return fd.status();
        if (fd->open()) strangers_.push_back(*std::move(fd));
      }
    }
    return absl::OkStatus();
  }

  std::vector<OwnedFd> TakeConnections() { return std::move(joined_); }
  std::vector<OwnedFd> TakeLives() { return std::move(lives_); }

 private:
  // Admits the rank whose greeting arrived on `connection`. Returns false, and
  // closes the connection, if the secret or the rank in the greeting is wrong.
  bool Admit(OwnedFd connection) {
    Hello hello;
    absl::StatusOr<LocalMessage> message =
        ReceiveLocal(connection.get(), sizeof(hello), {MonotonicNow(), {}});
    if (!message.ok() || !Read(message->bytes, &hello) ||
        std::string(hello.secret, sizeof(hello.secret)) != secret_ ||
        hello.size != place_.size || hello.rank <= 0 ||
        hello.rank >= place_.size || joined_[hello.rank].open() ||
        message->descriptors.size() != 1) {
      return false;
    }
    joined_[hello.rank] = std::move(connection);
    lives_[hello.rank] = std::move(message->descriptors[0]);
    return true;
  }

  absl::Status Absent() const {
    std::vector<int> absent;
    for (int rank = 1; rank < place_.size; ++rank) {
      if (!joined_[rank].open()) absent.push_back(rank);
    }
    return absl::DeadlineExceededError(
        absl::StrCat("the deadline passed before these ranks came: ",
                     absl::StrJoin(absent, ", ")));
  }

  const GroupPlace& place_;
  const std::string secret_;
  std::vector<OwnedFd> joined_;
  std::vector<OwnedFd> lives_;
  // connections on which no valid greeting has arrived yet
  std::vector<OwnedFd> strangers_;
};

// Sends rank `to` the descriptor of the shared memory and, for each rank, a
// descriptor that shows when the process of that rank ends (LifeSign::told).
absl::Status Welcomes(const Gathered& gathered, int to,
                      const LocalWaitLimits& limits) {
  const int socket = gathered.connections[to].get();
  Welcome welcome;
  welcome.dimensions = gathered.dimensions;
  absl::Status sent =
      SendLocal(socket, Bytes(welcome), {gathered.memory.get()}, limits);
  std::vector<int> lives;
  for (size_t rank = 0; sent.ok() && rank < gathered.lives.size(); ++rank) {
    lives.push_back(rank == 0 ? gathered.own_life.told.get()
                              : gathered.lives[rank].get());
    if (static_cast<int>(lives.size()) == kMaxDescriptors ||
        rank + 1 == gathered.lives.size()) {
      sent = SendLocal(socket, "lives", lives, limits);
      lives.clear();
    }
  }
  return sent;
}

absl::Status Invite(const GroupPlace& place, Instant deadline,
                    Gathered* gathered) {
  const absl::StatusOr<std::string> name = RandomHex();
  const absl::StatusOr<std::string> secret = RandomHex();
  if (!name.ok()) return name.status();
  if (!secret.ok()) return secret.status();
  const std::string address = absl::StrCat("muster/", *name);
  absl::StatusOr<OwnedFd> listener = ListenLocal(address);
  if (!listener.ok()) return listener.status();

  const Layout layout(place.size, gathered->dimensions.slot_bytes,
                      gathered->dimensions.channel_bytes);
  absl::StatusOr<OwnedFd> memory = CreateMemoryFile(layout.total_bytes());
  if (!memory.ok()) return memory.status();
  absl::Status done = ReservePages(memory->get(), 0, layout.common_bytes());
  if (!done.ok()) return done;
  gathered->memory = *std::move(memory);
  gathered->lives.resize(1);
  if (place.size == 1) return absl::OkStatus();

  done = place.store->Set(
      kKey, absl::StrCat("at ", address, " ", *secret, " ", Host()));
  if (!done.ok()) return done;
  RankZeroGatherer host(place, *secret);
  done = host.WaitForAll(listener->get(), deadline);
  if (!done.ok()) return done;
  gathered->connections = host.TakeConnections();
  gathered->lives = host.TakeLives();
  for (int rank = 1; rank < place.size; ++rank) {
    done = Welcomes(*gathered, rank, WaitLimitsOf(place, deadline));
    if (!done.ok()) {
      return absl::Status(
          done.code(),
          absl::StrCat("rank ", rank, ": ", std::string(done.message())));
    }
  }
  // Delete the key: all ranks have read it, and the next group with this name
  // will set it again.
  return place.store->Delete(kKey).status();
}

absl::Status AcceptInvitation(const GroupPlace& place, Instant deadline,
                              Gathered* gathered) {
  const absl::StatusOr<std::string> value = place.store->Get(kKey, deadline);
  if (!value.ok()) return value.status();
  const std::vector<std::string> words =
      absl::StrSplit(*value, absl::MaxSplits(' ', 3));
  if (words.size() != 4 || words[0] != "at" ||
      words[2].size() != sizeof(Hello::secret)) {
    return absl::UnavailableError(absl::StrCat("rank 0: ", *value));
  }
  const LocalWaitLimits limits = WaitLimitsOf(place, deadline);
  absl::StatusOr<OwnedFd> connection = ConnectLocal(words[1], limits);
  if (absl::Status s = FormationStatus(place); !s.ok()) return s;
  if (!connection.ok()) {
    return absl::Status(
        connection.status().code(),
        absl::StrCat("rank 0 on host ", words[3], " cannot be reached from ",
                     Host(), " (", std::string(connection.status().message()),
                     "): gone, on another host, or in another network "
                     "namespace"));
  }
  Hello hello;
  hello.rank = place.rank;
  hello.size = place.size;
  std::memcpy(hello.secret, words[2].data(), sizeof(hello.secret));
  absl::Status sent = SendLocal(connection->get(), Bytes(hello),
                                {gathered->own_life.told.get()}, limits);
  if (!sent.ok()) return sent;

  const auto receive = [&](size_t max_bytes) {
    absl::StatusOr<LocalMessage> message =
        ReceiveLocal(connection->get(), max_bytes, limits);
    if (absl::Status s = FormationStatus(place); !s.ok()) {
      return absl::StatusOr<LocalMessage>(s);
    }
    if (message.ok()) return message;
    return absl::StatusOr<LocalMessage>(absl::Status(
        message.status().code(),
        absl::StrCat("rank 0 on host ", words[3],
                     " has not brought the group together (",
                     std::string(message.status().message()), ")")));
  };
  Welcome welcome;
  absl::StatusOr<LocalMessage> message = receive(sizeof(welcome));
  if (!message.ok()) return message.status();
  if (!Read(message->bytes, &welcome) || message->descriptors.size() != 1) {
    return absl::UnavailableError("rank 0 speaks another version of Muster");
  }
  gathered->dimensions = welcome.dimensions;
  gathered->memory = std::move(message->descriptors[0]);
  while (static_cast<int>(gathered->lives.size()) < place.size) {
    message = receive(16);
    if (!message.ok()) return message.status();
    if (message->descriptors.empty()) {
      return absl::UnavailableError("rank 0 sent something else than lives");
    }
    for (OwnedFd& life : message->descriptors) {
      gathered->lives.push_back(std::move(life));
    }
  }
  gathered->lives.resize(place.size);
  gathered->lives[place.rank].Close();
  gathered->connections.push_back(*std::move(connection));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Gathered> Gather(const GroupPlace& place,
                                const Dimensions& dimensions,
                                Instant deadline) {
  Gathered gathered;
  gathered.dimensions = dimensions;
  absl::StatusOr<LifeSign> life = MakeLifeSign();
  if (!life.ok()) return FailFormation(place, In(place, life.status()));
  gathered.own_life = *std::move(life);
  absl::Status done;
  if (place.rank == 0) {
    done = Invite(place, deadline, &gathered);
    // If rank 0 has failed, set kKey to its error message, for the ranks that
    // wait for kKey in the store. Ranks that have already read kKey wait at
    // rank 0's socket instead.
    if (!done.ok() && place.size > 1) {
      place.store->Set(kKey, std::string(done.message())).IgnoreError();
    }
  } else {
    done = AcceptInvitation(place, deadline, &gathered);
  }
  if (done.ok()) return gathered;
  // Publish the cause of the failure before this rank's connections close, so
  // that a peer that sees a closed connection finds the cause.
  return FailFormation(place, In(place, done));
}

}  // namespace muster
