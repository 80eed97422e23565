#include "trainer_sdk/network/primitives.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/check.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {

RankParts::RankParts(const std::vector<int64_t>& counts, int64_t count,
                     int size) {
  MUSTER_CHECK(counts.empty() || counts.size() == static_cast<size_t>(size));
  begins_.reserve(size + 1);
  begins_.push_back(0);
  for (int part = 0; part < size; ++part) {
    begins_.push_back(begins_.back() + (counts.empty() ? count : counts[part]));
  }
}

RankParts RankParts::Even(int64_t total, int size) {
  RankParts parts;
  for (int part = 0; part <= size; ++part) {
    // Divide `total` by `size` before multiplying by `part`, because total *
    // part could overflow.
    const int64_t rest = total % size;
    parts.begins_.push_back(total / size * part + (rest < part ? rest : part));
  }
  return parts;
}

namespace {

const char* At(const void* base, int64_t bytes) {
  return static_cast<const char*>(base) + bytes;
}
char* At(void* base, int64_t bytes) { return static_cast<char*>(base) + bytes; }

}  // namespace

void CopyUnlessSame(void* to, const void* from, int64_t bytes) {
  if (to != from && bytes > 0) std::memmove(to, from, bytes);
}

absl::Status GatherToAll(Mesh& mesh, const RankParts& parts, int64_t element,
                         void* whole) {
  const int rank = mesh.rank(), size = mesh.size();
  std::vector<Ticket> tickets;
  // In step s, rank r receives from rank r - s and sends to rank r + s. If all
  // ranks began with the same peer, that peer would be overloaded.
  for (int step = 1; step < size; ++step) {
    const int from = (rank - step + size) % size;
    tickets.push_back(mesh.Receive(from, At(whole, parts.begin(from) * element),
                                   parts.count(from) * element));
  }
  for (int step = 1; step < size; ++step) {
    mesh.Send((rank + step) % size, At(whole, parts.begin(rank) * element),
              parts.count(rank) * element);
  }
  for (const Ticket ticket : tickets) {
    if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status GatherToRoot(Mesh& mesh, const RankParts& parts, int64_t element,
                          int root, const void* own, void* whole) {
  const int rank = mesh.rank(), size = mesh.size();
  if (rank != root) {
    mesh.Send(root, own, parts.count(rank) * element);
    return absl::OkStatus();
  }
  std::vector<Ticket> tickets;
  for (int step = 1; step < size; ++step) {
    const int from = (rank + step) % size;
    tickets.push_back(mesh.Receive(from, At(whole, parts.begin(from) * element),
                                   parts.count(from) * element));
  }
  CopyUnlessSame(At(whole, parts.begin(rank) * element), own,
                 parts.count(rank) * element);
  for (const Ticket ticket : tickets) {
    if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status ScatterFromRoot(Mesh& mesh, const RankParts& parts,
                             int64_t element, int root, const void* whole,
                             void* own) {
  const int rank = mesh.rank(), size = mesh.size();
  if (rank != root) {
    return mesh.Wait(mesh.Receive(root, own, parts.count(rank) * element));
  }
  for (int step = 1; step < size; ++step) {
    const int to = (rank + step) % size;
    mesh.Send(to, At(whole, parts.begin(to) * element),
              parts.count(to) * element);
  }
  CopyUnlessSame(own, At(whole, parts.begin(rank) * element),
                 parts.count(rank) * element);
  return absl::OkStatus();
}

absl::Status ReduceToOwners(Mesh& mesh, const RankParts& parts,
                            Reduction reduction, const void* input,
                            void* output, Scratch& scratch) {
  const int rank = mesh.rank(), size = mesh.size();
  const int64_t element = SizeOf(reduction.dtype);
  const int64_t segment = kSegmentBytes / element;
  // Exchange the first segment of every rank's part, then the second segment,
  // and so on, until the end of the longest part. So all ranks get data at the
  // same rate.
  int64_t longest = 0;
  for (int part = 0; part < size; ++part) {
    longest = std::max(longest, parts.count(part));
  }
  for (int64_t at = 0; at < longest; at += segment) {
    for (int step = 1; step < size; ++step) {
      const int to = (rank + step) % size;
      const int64_t count = std::min(segment, parts.count(to) - at);
      if (count <= 0) continue;
      mesh.Send(to, At(input, (parts.begin(to) + at) * element),
                count * element);
    }
  }
  const int64_t own = parts.count(rank);
  const int64_t stride = std::min(segment, own) * element;
  char* const received = scratch.Get(stride * size);
  std::vector<const void*> sources(size);
  std::vector<Ticket> tickets(size);
  for (int64_t at = 0; at < own; at += segment) {
    const int64_t count = std::min(segment, own - at);
    for (int step = 1; step < size; ++step) {
      const int from = (rank - step + size) % size;
      sources[from] = received + stride * from;
      tickets[from] =
          mesh.Receive(from, received + stride * from, count * element);
    }
    sources[rank] = At(input, (parts.begin(rank) + at) * element);
    for (int from = 0; from < size; ++from) {
      if (from == rank) continue;
      if (absl::Status s = mesh.Wait(tickets[from]); !s.ok()) return s;
    }
    void* const destination = At(output, at * element);
    Reduce(reduction.dtype, reduction.op, sources.data(), size, &destination, 1,
           count);
  }
  return absl::OkStatus();
}

absl::Status BroadcastDownTree(Mesh& mesh, int root, void* data,
                               int64_t bytes) {
  const int size = mesh.size();
  const int place = (mesh.rank() - root + size) % size;
  // The distance from this rank to its parent in the binomial tree. It is the
  // lowest set bit of `place`, the number that this rank has if the root counts
  // as rank 0.
  int reach = 1;
  while (reach < size && (place & reach) == 0) reach <<= 1;
  for (int64_t at = 0; at == 0 || at < bytes; at += kSegmentBytes) {
    const int64_t length = std::min(kSegmentBytes, bytes - at);
    if (place != 0) {
      const int parent = (place - reach + root) % size;
      const Ticket ticket = mesh.Receive(parent, At(data, at), length);
      if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
    }
    for (int below = reach >> 1; below > 0; below >>= 1) {
      if (place + below >= size) continue;
      mesh.Send((place + below + root) % size, At(data, at), length);
    }
  }
  return absl::OkStatus();
}

absl::Status Disseminate(Mesh& mesh) {
  const int rank = mesh.rank(), size = mesh.size();
  for (int distance = 1; distance < size; distance <<= 1) {
    mesh.Send((rank + distance) % size, nullptr, 0);
    const Ticket ticket =
        mesh.Receive((rank - distance + size) % size, nullptr, 0);
    if (absl::Status s = mesh.Wait(ticket); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace muster
