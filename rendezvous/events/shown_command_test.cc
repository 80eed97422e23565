#include "rendezvous/events/shown_command.h"

#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

TEST(ShownCommand, CommandWithoutSecretsStays) {
  const char kCommand[] =
      "2 workers: python3 train.py --lr=0.1 --tokenizer gpt2 --max-tokens=9 "
      "'a b' --key-dim=64 s3://bucket/a@b";
  EXPECT_EQ(ShownCommand(kCommand), kCommand);
  EXPECT_EQ(ShownCommand(""), "");
}

TEST(ShownCommand, ValuesOfSecretNamesAreLeftOut) {
  EXPECT_EQ(ShownCommand("t.py --api-key=k1 --hf_token t1 --lr 1"),
            "t.py --api-key=[left out] --hf_token [left out] --lr 1");
  EXPECT_EQ(ShownCommand("env PASSWORD=p WANDB_API_KEY=w t.py"),
            "env PASSWORD=[left out] WANDB_API_KEY=[left out] t.py");
  EXPECT_EQ(ShownCommand("t.py --password 'two words' --x"),
            "t.py --password [left out] --x");
}

TEST(ShownCommand, FlagAfterASecretSwitchStays) {
  EXPECT_EQ(ShownCommand("t.py --auth --lr 1"), "t.py --auth --lr 1");
}

TEST(ShownCommand, TokensOfKnownServicesAreLeftOut) {
  EXPECT_EQ(ShownCommand("t.py hf_abc --hub=ghp_abc 'sk-1'"),
            "t.py [left out] --hub=[left out] [left out]");
}

TEST(ShownCommand, PasswordOfAnAddressIsLeftOut) {
  EXPECT_EQ(ShownCommand("t.py --data=s3://me:pw@host/x http://host:80/a@b"),
            "t.py --data=s3://[left out]@host/x http://host:80/a@b");
}

TEST(ShownCommand, UnfinishedQuoteIsOneWord) {
  EXPECT_EQ(ShownCommand("t.py --token 'a b c"), "t.py --token [left out]");
}

}  // namespace
}  // namespace muster::rendezvous
