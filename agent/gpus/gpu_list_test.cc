#include "agent/gpus/gpu_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<Gpu> kFour = {
    {"GPU-aa1", {}}, {"GPU-ab2", {}}, {"GPU-bb3", {}}, {"GPU-cc4", {}}};
const std::vector<Gpu> kDivided = {{"GPU-aa1", {"MIG-x1", "MIG-x2"}},
                                   {"GPU-bb2", {}}};

TEST(VisibleGpus, AllWhereTheVariableIsNotSet) {
  EXPECT_THAT(VisibleGpus(std::nullopt, kFour),
              ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(VisibleGpus(std::nullopt, kDivided),
              ElementsAre("MIG-x1", "MIG-x2", "1"));
  EXPECT_THAT(VisibleGpus(std::nullopt, {}), IsEmpty());
}

TEST(VisibleGpus, EmptyVariableOrInvalidDeviceHidesAll) {
  for (const char* value : {"", " ", "-1", "NoDevFiles", "none", ",", ",0"}) {
    EXPECT_THAT(VisibleGpus(value, kFour), IsEmpty()) << value;
  }
  EXPECT_THAT(VisibleGpus("0", {}), IsEmpty());
}

TEST(VisibleGpus, IndicesInTheirOrder) {
  EXPECT_THAT(VisibleGpus("2,0", kFour), ElementsAre("2", "0"));
  EXPECT_THAT(VisibleGpus(" 3 , +1", kFour), ElementsAre("3", "1"));
  EXPECT_THAT(VisibleGpus("1gpu2,2ampere", kFour), ElementsAre("1", "2"));
}

TEST(VisibleGpus, InvalidDeviceCutsTheList) {
  EXPECT_THAT(VisibleGpus("0,1,-1,2", kFour), ElementsAre("0", "1"));
  EXPECT_THAT(VisibleGpus("0,4,1", kFour), ElementsAre("0"));
  EXPECT_THAT(VisibleGpus("0,x,1", kFour), ElementsAre("0"));
  EXPECT_THAT(VisibleGpus("1,,2", kFour), ElementsAre("1"));
  EXPECT_THAT(VisibleGpus("1,99999999999999999999", kFour), ElementsAre("1"));
  EXPECT_THAT(VisibleGpus("1,GPU-aa1", kFour), ElementsAre("1"));
}

TEST(VisibleGpus, ADeviceNamedTwiceHidesAll) {
  EXPECT_THAT(VisibleGpus("0,1,0", kFour), IsEmpty());
  EXPECT_THAT(VisibleGpus("GPU-aa1,GPU-aa", kFour), IsEmpty());
  // Devices after an invalid one are ignored.
  EXPECT_THAT(VisibleGpus("0,-1,0", kFour), ElementsAre("0"));
}

TEST(VisibleGpus, IdsMayBeShortenedWhileUnique) {
  EXPECT_THAT(VisibleGpus("GPU-cc4,GPU-aa", kFour),
              ElementsAre("GPU-cc4", "GPU-aa"));
  EXPECT_THAT(VisibleGpus("GPU-bb3,GPU-a", kFour), ElementsAre("GPU-bb3"));
  EXPECT_THAT(VisibleGpus("GPU-zz", kFour), IsEmpty());
  EXPECT_THAT(VisibleGpus("GPU-bb3,1", kFour), ElementsAre("GPU-bb3"));
}

TEST(VisibleGpus, MigInstancesById) {
  EXPECT_THAT(VisibleGpus("MIG-x2,MIG-x1", kDivided),
              ElementsAre("MIG-x2", "MIG-x1"));
  EXPECT_THAT(VisibleGpus("MIG-x2,GPU-bb2", kDivided), ElementsAre("MIG-x2"));
  EXPECT_THAT(VisibleGpus("MIG-y", kDivided), IsEmpty());
}

TEST(PciAddresses, IndicesIdsAndInstancesAreFound) {
  const std::vector<Gpu> gpus = {{"GPU-aa1", {"MIG-x1", "MIG-x2"}, "0:1"},
                                 {"GPU-ab2", {}, "0:2"},
                                 {"GPU-bb3", {}, ""}};
  EXPECT_THAT(PciAddresses({"1", "0", "2"}, gpus),
              ElementsAre("0:2", "0:1", ""));
  EXPECT_THAT(PciAddresses({"GPU-ab", "GPU-aa1"}, gpus),
              ElementsAre("0:2", "0:1"));
  EXPECT_THAT(PciAddresses({"MIG-x2", "MIG-x1", "1"}, gpus),
              ElementsAre("0:1", "0:1", "0:2"));
  EXPECT_THAT(PciAddresses({"7", "GPU-a", "GPU-zz"}, gpus),
              ElementsAre("", "", ""));
}

}  // namespace
}  // namespace muster::agent
