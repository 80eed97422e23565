#include "agent/binding/near_nic.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

PciDevice At(std::vector<std::string> bridges) {
  return {.address = "0000:3b:00.0",
          .bridges = std::move(bridges),
          .numa_nodes = {}};
}

Nic Named(const std::string& name, NicKind kind,
          std::vector<std::string> bridges) {
  return {.name = name, .kind = kind, .at = At(std::move(bridges))};
}

TEST(NearNic, TheOneBehindTheSameSwitch) {
  const PciDevice gpu = At({"host 0", "00:01.0", "17:00.0"});
  EXPECT_EQ(NearNic(gpu, {Named("mlx5_0", NicKind::kInfiniBand,
                                {"host 0", "00:02.0", "27:00.0"}),
                          Named("mlx5_1", NicKind::kInfiniBand,
                                {"host 0", "00:01.0", "18:00.0"})}),
            "mlx5_1");
}

TEST(NearNic, NoneWhereTwoAreEquallyNear) {
  const PciDevice gpu = At({"host 0", "00:01.0"});
  EXPECT_EQ(
      NearNic(gpu,
              {Named("mlx5_0", NicKind::kInfiniBand, {"host 0", "00:01.0"}),
               Named("mlx5_1", NicKind::kInfiniBand, {"host 0", "00:01.0"})}),
      "");
}

TEST(NearNic, AFartherPairDoesNotHideTheNearest) {
  const PciDevice gpu = At({"host 0", "00:01.0"});
  EXPECT_EQ(
      NearNic(gpu, {Named("a", NicKind::kInfiniBand, {"host 0"}),
                    Named("b", NicKind::kInfiniBand, {"host 0"}),
                    Named("c", NicKind::kInfiniBand, {"host 0", "00:01.0"})}),
      "c");
}

TEST(NearNic, NoneBehindAnotherHostBridge) {
  EXPECT_EQ(
      NearNic(At({"host 0"}), {Named("eth0", NicKind::kEthernet, {"host 1"})}),
      "");
  EXPECT_EQ(NearNic(At({}), {Named("eth0", NicKind::kEthernet, {})}), "");
  EXPECT_EQ(NearNic(At({"host 0"}), {}), "");
}

TEST(NearNic, AnInterfaceWhereThereIsNoInfiniBand) {
  const PciDevice gpu = At({"host 0", "00:01.0"});
  EXPECT_EQ(
      NearNic(gpu, {Named("eth0", NicKind::kEthernet, {"host 0", "00:01.0"}),
                    Named("eth1", NicKind::kEthernet, {"host 0"})}),
      "eth0");
  EXPECT_EQ(
      NearNic(gpu, {Named("eth0", NicKind::kEthernet, {"host 0", "00:01.0"}),
                    Named("mlx5_0", NicKind::kInfiniBand, {"host 0"})}),
      "mlx5_0");
}

}  // namespace
}  // namespace muster::agent
