#include "launcher/ssh/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

BeNode FullNode() {
  BeNode node;
  node.version = "1.2";
  node.run = "c0ffee";
  node.working_directory = "/data/run";
  node.environment = {{"A", "1"}, {"B", "two\nlines"}, {"EMPTY", ""}};
  node.flags = {"--nnodes=2", "--role=r"};
  node.program = {"train.py", "", "--x"};
  node.stop_timeout_ms = 30'000;
  node.ssh = {{"-p", "2222"}, 5'000, 32, "/opt/launch"};
  node.hosts = {{0, "a", "me@a", {"--node-rank=0"}, {{"C", "0,2"}}},
                {7, "b", "b", {}, {}}};
  return node;
}

TEST(Messages, EncodedMessagesAreDecodedUnchanged) {
  const std::vector<DownMessage> down = {
      FullNode(), StartAgent{3, {"--x=1"}, agent::JobMessages::kAssigned},
      SignalAgents{std::nullopt, 15}, SignalAgents{4, 2}, StillThere()};
  FrameReader reader(Greeting::kNone);
  for (const DownMessage& message : down) reader.Append(Encode(message));
  for (const DownMessage& message : down) {
    const auto frame = reader.Next();
    ASSERT_TRUE(frame.has_value());
    EXPECT_EQ(DecodeDown(*frame), message);
  }
  EXPECT_FALSE(reader.Next().has_value());
  const std::vector<UpMessage> up = {
      HostUp{1, "10.0.0.1", "10.0.0.2"},
      HostFailed{2, "no", 127},
      CoordinatorUp{0, "10.0.0.1", 29400},
      AgentWaits{3},
      AgentKilled{1, 137},
      OutputCame{1, OutputStream::kStderr, "a\nb\n"},
      AgentEnded{1, 7, "FAILED"},
      HostLost{3, "gone"}};
  for (const UpMessage& message : up) {
    EXPECT_EQ(DecodeUp(std::string_view(Encode(message)).substr(4)), message);
  }
}

TEST(Messages, TruncatedAndExtendedMessagesAreRejected) {
  const std::string whole = Encode(DownMessage(FullNode())).substr(4);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(DecodeDown(std::string_view(whole).substr(0, size)));
  }
  EXPECT_FALSE(DecodeDown(whole + "x"));
  EXPECT_FALSE(DecodeUp(whole));
  EXPECT_FALSE(DecodeDown(""));
}

TEST(Messages, NumbersOutOfRangeAreRejected) {
  const auto decoded = [](const DownMessage& message) {
    return DecodeDown(std::string_view(Encode(message)).substr(4));
  };
  EXPECT_FALSE(decoded(StartAgent{1, {}, static_cast<agent::JobMessages>(3)}));
  EXPECT_FALSE(decoded(SignalAgents{1, 0}));
  EXPECT_FALSE(decoded(SignalAgents{1, 65}));
  const auto decoded_up = [](const UpMessage& message) {
    return DecodeUp(std::string_view(Encode(message)).substr(4)).has_value();
  };
  EXPECT_TRUE(decoded_up(CoordinatorUp{0, "a", 65535}));
  EXPECT_FALSE(decoded_up(CoordinatorUp{0, "a", 0}));
  EXPECT_FALSE(decoded_up(CoordinatorUp{0, "a", 65536}));
  EXPECT_TRUE(decoded_up(AgentKilled{0, 255}));
  EXPECT_FALSE(decoded_up(AgentKilled{0, 256}));
  EXPECT_FALSE(decoded_up(AgentKilled{0, -1}));
}

TEST(FrameReader, FramesArriveInPiecesOfAnySize) {
  const std::string stream = GreetingLine() +
                             Encode(UpMessage(HostUp{1, "", ""})) +
                             Encode(UpMessage(HostLost{1, "x"}));
  FrameReader reader(Greeting::kExpected);
  int frames = 0;
  for (const char byte : stream) {
    reader.Append({&byte, 1});
    while (reader.Next()) ++frames;
  }
  EXPECT_EQ(frames, 2);
  EXPECT_EQ(reader.error(), "");
}

TEST(FrameReader, TextBeforeTheGreetingIsSkipped) {
  FrameReader reader(Greeting::kExpected);
  reader.Append("Welcome!\nhave fun");
  EXPECT_EQ(reader.before_greeting(), "Welcome!\nhave fun");
  reader.Append(GreetingLine() + Encode(UpMessage(HostUp{1, "", ""})));
  EXPECT_TRUE(reader.Next().has_value());
  EXPECT_EQ(reader.before_greeting(), "");
}

TEST(FrameReader, EndlessTextWithoutGreetingIsBounded) {
  FrameReader reader(Greeting::kExpected);
  for (int i = 0; i < 1000; ++i) reader.Append(std::string(1000, 'x'));
  EXPECT_LE(reader.before_greeting().size(), 64u << 10);
  reader.Append(GreetingLine());
  EXPECT_EQ(reader.before_greeting(), "");
}

TEST(FrameReader, AnotherProtocolNumberIsAnError) {
  FrameReader reader(Greeting::kExpected);
  reader.Append(std::string(kGreeting) + "999\n");
  EXPECT_THAT(reader.error(), testing::HasSubstr("another version"));
  EXPECT_FALSE(reader.Next().has_value());
}

TEST(FrameReader, ATooLargeLengthIsRejected) {
  FrameReader reader(Greeting::kNone);
  reader.Append("\xff\xff\xff\xff");
  EXPECT_FALSE(reader.Next().has_value());
  EXPECT_THAT(reader.error(), testing::HasSubstr("no message of ours"));
}

std::vector<size_t> Sizes(size_t hosts, size_t fan_out) {
  std::vector<RemoteHost> all(hosts);
  for (size_t i = 0; i < hosts; ++i) all[i].index = static_cast<uint32_t>(i);
  std::vector<size_t> sizes;
  uint32_t next = 0;
  for (const auto& group : PartHosts(all, fan_out)) {
    sizes.push_back(group.size());
    for (const RemoteHost& host : group) EXPECT_EQ(host.index, next++);
  }
  EXPECT_EQ(next, hosts);
  return sizes;
}

TEST(PartHosts, GroupsAreEvenAndInOrder) {
  using ::testing::ElementsAre;
  EXPECT_THAT(Sizes(0, 4), ElementsAre());
  EXPECT_THAT(Sizes(3, 4), ElementsAre(1, 1, 1));
  EXPECT_THAT(Sizes(7, 3), ElementsAre(3, 2, 2));
  EXPECT_THAT(Sizes(5, 1), ElementsAre(5));
}

size_t Depth(std::vector<RemoteHost> hosts, size_t fan_out) {
  size_t depth = 0;
  for (std::vector<RemoteHost>& group : PartHosts(std::move(hosts), fan_out)) {
    group.erase(group.begin());
    depth = std::max(depth, 1 + Depth(std::move(group), fan_out));
  }
  return depth;
}

TEST(PartHosts, AThousandHostsNeedTwoLevels) {
  EXPECT_EQ(Depth(std::vector<RemoteHost>(1000), 32), 2u);
  EXPECT_EQ(Depth(std::vector<RemoteHost>(32), 32), 1u);
  EXPECT_EQ(Depth(std::vector<RemoteHost>(10'000), 32), 3u);
}

}  // namespace
}  // namespace muster::launcher
