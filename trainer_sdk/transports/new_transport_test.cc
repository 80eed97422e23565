#include "trainer_sdk/transports/new_transport.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/rank_threads.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

// Sums over a world and over its halves; the world's transport.
absl::StatusOr<std::string> SumTwice(GroupPlace place, TransportChoice choice) {
  ProcessGroupOptions options;
  options.timeout = std::chrono::seconds(30);
  const int size = place.size, rank = place.rank;
  auto world = NewProcessGroup(std::move(place), choice, options);
  if (!world.ok()) return world.status();
  float sum = static_cast<float>(rank);
  absl::Status status =
      (*world)->Run(AllReduce(&sum, &sum, 1, DType::kFloat32));
  if (!status.ok()) return status;
  EXPECT_EQ(sum, static_cast<float>(size * (size - 1) / 2));
  auto half = (*world)->Split(rank % 2, 0);
  if (!half.ok()) return half.status();
  sum = 1;
  status = (*half)->Run(AllReduce(&sum, &sum, 1, DType::kFloat32));
  if (!status.ok()) return status;
  EXPECT_EQ(sum, static_cast<float>((*half)->size()));
  return std::string((*world)->transport_name());
}

void Expect(TransportChoice choice, int size, const std::string& name) {
  auto store = std::make_shared<InProcessStore>();
  const absl::Status status = FirstFailure(RunRanks(size, [&](int rank) {
    GroupPlace place;
    place.rank = rank;
    place.size = size;
    place.store = store;
    place.name = "world";
    const absl::StatusOr<std::string> used = SumTwice(place, choice);
    if (!used.ok()) return used.status();
    EXPECT_EQ(*used, name);
    return absl::OkStatus();
  }));
  EXPECT_TRUE(status.ok()) << Name(choice) << ": " << status;
}

TEST(NewTransportTest, PicksByItselfWhatSuitsOneHost) {
  Expect(TransportChoice::kAutomatic, 1, "local");
  Expect(TransportChoice::kAutomatic, 3, "shm");
}

TEST(NewTransportTest, MakesWhatIsAskedFor) {
  Expect(TransportChoice::kSharedMemory, 3, "shm");
  Expect(TransportChoice::kTcp, 3, "tcp");
  Expect(TransportChoice::kGloo, 3, "gloo");
  Expect(TransportChoice::kHierarchical, 3, "shm");
}

TEST(NewTransportTest, LocalIsForOne) {
  GroupPlace place;
  place.size = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(
      NewProcessGroup(place, TransportChoice::kLocal).status()));
}

}  // namespace
}  // namespace muster
