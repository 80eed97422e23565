#include "rendezvous/etcd/etcd_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

TEST(EtcdAccessTest, ReadsMembersAndPrefix) {
  const struct {
    const char* url;
    const char* whole;
  } cases[] = {
      {"etcd://a", "etcd://a:2379/muster"},
      {"etcd://a:1,b,10.0.0.1:3", "etcd://a:1,b:2379,10.0.0.1:3/muster"},
      {"etcd://[::1]:5,[fd00::2]/", "etcd://[::1]:5,[fd00::2]:2379/muster"},
      {"etcd://a/team-1/prod/", "etcd://a:2379/team-1/prod"},
  };
  for (const auto& [url, whole] : cases) {
    const auto access = ParseEtcdUrl(url);
    ASSERT_TRUE(access.ok()) << url << access.status();
    EXPECT_EQ(access->ToString(), whole);
    EXPECT_EQ(access->prefix.front(), '/');
    EXPECT_EQ(access->prefix.back(), '/');
  }
}

TEST(EtcdAccessTest, RefusesOtherUrls) {
  for (const char* url :
       {"", "/tmp/state", "http://a:2379", "etcd://", "etcd://a,,b",
        "etcd://a:0x", "etcd://a/pre fix", "etcd://a/pre\nfix"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseEtcdUrl(url).status())) << url;
  }
}

TEST(EtcdAccessTest, ReadsTheUser) {
  const std::string path = testing::TempDir() + "/user";
  const auto read = [&](const std::string& text) {
    std::ofstream(path) << text;
    chmod(path.c_str(), 0600);
    EtcdAccess access;
    const absl::Status status = ReadEtcdUser(path, access);
    return status.ok() ? access.user + " " + access.password
                       : std::string(status.message());
  };
  EXPECT_EQ(read("root:p:w\n"), "root p:w");
  EXPECT_THAT(read("root"), HasSubstr("is not NAME:PASSWORD"));
  EXPECT_THAT(read(":p"), HasSubstr("is not NAME:PASSWORD"));
  EXPECT_THAT(read("root:\n"), HasSubstr("is not NAME:PASSWORD"));
  EXPECT_THAT(read(""), HasSubstr("cannot read a line"));
}

TEST(EtcdAccessTest, AUserFileThatOthersCanReadIsRefused) {
  const std::string path = testing::TempDir() + "/readable";
  std::ofstream(path) << "root:secret\n";
  EtcdAccess access;
  ASSERT_EQ(chmod(path.c_str(), 0604), 0);
  const absl::Status refused = ReadEtcdUser(path, access);
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("chmod 600 " + path));
  EXPECT_EQ(access.password, "");
  // A secret file as Kubernetes gives it to a pod: root owns the file, and the
  // pod's group may read it. With this mode, ReadEtcdUser accepts the file only
  // if root owns it.
  ASSERT_EQ(chmod(path.c_str(), 0440), 0);
  EXPECT_EQ(ReadEtcdUser(path, access).ok(), geteuid() == 0);
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "needs root";
  EXPECT_FALSE(ReadEtcdUser(path, access).ok());
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  EXPECT_TRUE(ReadEtcdUser(path, access).ok());
}

TEST(EtcdAccessTest, APasswordInClearTextIsSaid) {
  EtcdAccess access = *ParseEtcdUrl("etcd://127.0.0.1,e2:2380");
  EXPECT_EQ(ClearTextPassword(access), "") << "no user";
  access.user = "root";
  EXPECT_THAT(ClearTextPassword(access),
              HasSubstr("the password of root and the jobs' records go to etcd "
                        "at e2:2380 in clear text"));
  access.tls.authority = "ca.crt";
  EXPECT_EQ(ClearTextPassword(access), "");
  access = *ParseEtcdUrl("etcd://127.0.0.1,localhost:2380");
  access.user = "root";
  EXPECT_EQ(ClearTextPassword(access), "");
}

}  // namespace
}  // namespace muster::rendezvous
