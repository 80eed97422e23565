#include "launcher/local_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace muster::launcher {
namespace {

namespace fs = std::filesystem;
using rendezvous::Endpoint;
using Kept = std::unique_ptr<LocalToken>;

class LocalTokenTest : public ::testing::Test {
 protected:
  LocalTokenTest() {
    std::string pattern = ::testing::TempDir() + "/parent.XXXXXX";
    parent_ = mkdtemp(pattern.data());
    own_ = parent_ + "/muster_" + std::to_string(geteuid());
    folder_ = own_ + "/tokens";
  }

  Kept Keep(const Endpoint& listen, const std::string& token) {
    absl::StatusOr<Kept> kept = LocalToken::Keep(listen, token, {parent_});
    EXPECT_TRUE(kept.ok()) << kept.status();
    return kept.ok() ? *std::move(kept) : nullptr;
  }
  std::optional<LocalCoordinator> Find(const Endpoint& endpoint) {
    return FindLocalCoordinator(endpoint, {parent_ + "/none", parent_});
  }
  std::vector<fs::path> Files() {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      files.push_back(entry.path());
    }
    return files;
  }

  std::string parent_, own_, folder_;
};

TEST_F(LocalTokenTest, IsFoundByTheEndpointWhileItsOwnerLives) {
  Kept kept = Keep({"127.0.0.1", 4711}, "secret");
  const auto found = Find({"127.0.0.1", 4711});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->token, "secret");
  EXPECT_EQ(found->endpoint, (Endpoint{"127.0.0.1", 4711}));
  EXPECT_FALSE(Find({"127.0.0.1", 4712}).has_value());
  kept.reset();
  EXPECT_FALSE(Find({"127.0.0.1", 4711}).has_value());
  EXPECT_FALSE(fs::exists(own_)) << "nothing is left";
}

TEST_F(LocalTokenTest, TheFileIsItsUsersAlone) {
  const Kept kept = Keep({"127.0.0.1", 4711}, "secret");
  ASSERT_EQ(Files().size(), 1u);
  struct stat info;
  ASSERT_EQ(stat(Files()[0].c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777u, 0600u);
}

// The coordinator's own address is returned, because localhost may also mean an
// address at which another user listens.
TEST_F(LocalTokenTest, ANameBecomesTheCoordinatorsAddress) {
  const Kept kept = Keep({"127.0.0.1", 4711}, "secret");
  const auto found = Find({"localhost", 4711});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->endpoint.host, "127.0.0.1");
}

TEST_F(LocalTokenTest, IsNotForAnotherAddress) {
  const Kept kept = Keep({"127.0.0.1", 4711}, "secret");
  EXPECT_FALSE(Find({"127.0.0.2", 4711}).has_value());
}

TEST_F(LocalTokenTest, AnyAddressOfThisMachineLeadsToOneThatListensOnAll) {
  const Kept kept = Keep({"::", 4711}, "secret");
  EXPECT_TRUE(Find({"127.0.0.1", 4711}).has_value());
  // Find finds no token of a coordinator at 192.0.2.1, because this is not an
  // address of this machine (RFC 5737: no machine has it).
  EXPECT_FALSE(Find({"192.0.2.1", 4711}).has_value());
}

TEST_F(LocalTokenTest, OneOfTwoGetsAnAddress) {
  const Kept first = Keep({"::", 4711}, "first");
  EXPECT_TRUE(absl::IsAlreadyExists(
      LocalToken::Keep({"::", 4711}, "second", {parent_}).status()));
  EXPECT_EQ(Find({"127.0.0.1", 4711})->token, "first");
}

TEST_F(LocalTokenTest, FilesOfKilledProcessesDoNotCountAndAreRemoved) {
  Keep({"127.0.0.1", 1}, "other");
  const Kept live = Keep({"127.0.0.1", 4712}, "live");
  const std::string name = Files()[0].filename();
  const std::string left =
      folder_ + "/" + name.substr(0, name.size() - 1) + "1";
  std::ofstream(left) << "left";
  ASSERT_EQ(chmod(left.c_str(), 0600), 0);
  EXPECT_FALSE(Find({"127.0.0.1", 4711}).has_value());
  EXPECT_EQ(Files().size(), 2u);
  const Kept another = Keep({"127.0.0.1", 4713}, "another");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_EQ(Files().size(), 2u);
}

// Files that another user may have created or can read are refused.
TEST_F(LocalTokenTest, LinksAndOpenFilesAreRefused) {
  Kept kept = Keep({"127.0.0.1", 4711}, "secret");
  const std::string path = Files()[0];
  ASSERT_EQ(chmod(path.c_str(), 0644), 0);
  EXPECT_FALSE(Find({"127.0.0.1", 4711}).has_value());
  kept.reset();
  fs::create_directories(folder_);
  ASSERT_EQ(chmod(own_.c_str(), 0700), 0);
  const std::string target = parent_ + "/target";
  std::ofstream(target) << "old";
  ASSERT_EQ(symlink(target.c_str(), path.c_str()), 0);
  EXPECT_FALSE(LocalToken::Keep({"127.0.0.1", 4711}, "secret", {parent_}).ok());
  EXPECT_EQ(fs::file_size(target), 3u);
}

TEST_F(LocalTokenTest, TheNextFolderIsTakenWhereTheFirstCannotBe) {
  const absl::StatusOr<Kept> kept = LocalToken::Keep(
      {"127.0.0.1", 4711}, "secret", {parent_ + "/missing", parent_});
  ASSERT_TRUE(kept.ok());
  EXPECT_TRUE(Find({"127.0.0.1", 4711}).has_value());
  EXPECT_FALSE(
      LocalToken::Keep({"127.0.0.1", 4711}, "x", {parent_ + "/missing"}).ok());
}

}  // namespace
}  // namespace muster::launcher
