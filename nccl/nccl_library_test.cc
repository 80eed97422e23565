#include "nccl/nccl_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <numeric>
#include <type_traits>

// These declarations are those of nccl.h and cuda.h. nccl_library.h must
// compile together with those headers.
struct ncclComm;
struct CUstream_st;

namespace muster::nccl {
namespace {

static_assert(std::is_same_v<NcclComm, ::ncclComm*>);
static_assert(std::is_same_v<CudaStream, ::CUstream_st*>);

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kFakeNccl[] = "nccl/libfake_nccl.so";
constexpr char kFakeOldNccl[] = "nccl/libfake_old_nccl.so";

std::string Why(const absl::Status& status) {
  return std::string(status.message());
}

TEST(NcclLibraryTest, WhereThereIsNoneTheReasonIsSaid) {
  const auto nccl = NcclLibrary::Load("libno-such-nccl.so.2");
  EXPECT_TRUE(absl::IsNotFound(nccl.status()));
  EXPECT_THAT(Why(nccl.status()),
              AllOf(HasSubstr("libno-such-nccl.so.2"), HasSubstr("install"),
                    HasSubstr("MUSTER_NCCL_LIBRARY")));
}

TEST(NcclLibraryTest, AnotherLibraryIsNoNccl) {
  EXPECT_THAT(Why(NcclLibrary::Load("libm.so.6").status()),
              HasSubstr("libm.so.6 is no NCCL"));
}

TEST(NcclLibraryTest, ReportsTheFeaturesOfItsVersion) {
  const auto nccl = NcclLibrary::Load(kFakeNccl);
  ASSERT_TRUE(nccl.ok()) << nccl.status();
  EXPECT_EQ((*nccl)->VersionText(), "2.28.9");
  EXPECT_TRUE((*nccl)->can_split());
  EXPECT_TRUE((*nccl)->can_allocate());
  EXPECT_TRUE((*nccl)->can_register());
  EXPECT_EQ((*nccl)->Explain(2, nullptr),
            "unhandled system error: the fake's last words");
}

TEST(NcclLibraryTest, AnOlderLibraryLacksNewFeatures) {
  const auto nccl = NcclLibrary::Load(kFakeOldNccl);
  ASSERT_TRUE(nccl.ok()) << nccl.status();
  EXPECT_FALSE((*nccl)->can_split());
  EXPECT_FALSE((*nccl)->can_allocate());
  EXPECT_FALSE((*nccl)->can_register());
}

TEST(NcclLibraryTest, TheEnvironmentNamesItsFile) {
  EXPECT_EQ(NcclLibrary::DefaultName(), "libnccl.so.2");
  setenv("MUSTER_NCCL_LIBRARY", "/opt/nccl.so", 1);
  EXPECT_EQ(NcclLibrary::DefaultName(), "/opt/nccl.so");
  unsetenv("MUSTER_NCCL_LIBRARY");
}

// Uses the real NCCL, if it is installed on this machine. Creating ids needs no
// GPU.
TEST(RealNcclTest, IsLoadedAndMakesIds) {
  setenv("NCCL_SOCKET_IFNAME", "lo", 1);
  absl::StatusOr<std::shared_ptr<const NcclLibrary>> nccl =
      NcclLibrary::Load("libnccl.so.2");
  if (!nccl.ok()) nccl = NcclLibrary::Load("/usr/local/cuda/lib/libnccl.so.2");
  if (!nccl.ok()) GTEST_SKIP() << nccl.status().message();
  EXPECT_GE((*nccl)->version(), NcclVersion(2, 14, 0));
  EXPECT_EQ((*nccl)->can_split(), (*nccl)->version() >= NcclVersion(2, 18, 1));
  NcclUniqueId one;
  NcclUniqueId other;
  ASSERT_EQ((*nccl)->GetUniqueId(&one), kNcclSuccess);
  ASSERT_EQ((*nccl)->GetUniqueId(&other), kNcclSuccess);
  EXPECT_NE(HexOf(one), HexOf(other));
  EXPECT_EQ(HexOf(*NcclUniqueIdOf(HexOf(one))), HexOf(one));
}

TEST(NcclUniqueIdTest, ComesBackFromItsDigits) {
  NcclUniqueId id;
  std::iota(id.internal, id.internal + kNcclUniqueIdBytes, -64);
  const std::string hex = HexOf(id);
  EXPECT_EQ(hex.size(), 256u);
  EXPECT_THAT(hex, StartsWith("c0c1c2"));
  const auto back = NcclUniqueIdOf(hex);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(HexOf(*back), hex);
}

TEST(NcclUniqueIdTest, RefusesInvalidIds) {
  const std::string zeros(256, '0');
  EXPECT_TRUE(NcclUniqueIdOf(zeros).ok());
  for (std::string wrong :
       {std::string(), zeros.substr(1), zeros + "0", "G" + zeros.substr(1),
        "A" + zeros.substr(1), std::string(1, '\0') + zeros.substr(1)}) {
    EXPECT_TRUE(absl::IsInvalidArgument(NcclUniqueIdOf(wrong).status()));
  }
}

}  // namespace
}  // namespace muster::nccl
