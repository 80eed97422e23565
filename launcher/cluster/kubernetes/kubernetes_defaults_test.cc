#include "launcher/cluster/kubernetes/kubernetes_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/cluster/defaults_fixture.h"
#include "launcher/options/run_options.h"

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Environment = std::map<std::string, std::string>;

// The environment of a pod of the Indexed Job in deploy/kubernetes.
Environment IndexedJobPod(const std::string& index) {
  return {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
          {"JOB_COMPLETION_INDEX", index},
          {"HOSTNAME", "trainer-" + index},
          {"MUSTER_NODES", "4"},
          {"MUSTER_JOB_NAME", "trainer"},
          {"MUSTER_JOB_UID", "0123456789-abcdef"},
          {"MUSTER_SERVICE", "trainer-pods"},
          {"MUSTER_POD_NAME", "trainer-" + index + "-x7k2p"},
          {"MUSTER_POD_IP", "10.1.0.7"},
          {"MUSTER_NODE_NAME", "node-9"},
          {"MUSTER_ZONE", "z1"},
          {"MUSTER_RACK", "r7"}};
}

class KubernetesDefaultsTest : public DefaultsFixture {
 protected:
  KubernetesDefaultsTest() : DefaultsFixture(KubernetesDefaults) {}
};

TEST_F(KubernetesDefaultsTest, AnIndexedJobNeedsNoAddresses) {
  const RunOptions options = Options(IndexedJobPod("2"));
  ASSERT_EQ(options.endpoints.size(), 1u);
  EXPECT_EQ(options.endpoints.front().ToString(),
            "trainer-0.trainer-pods:29400");
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_EQ(options.spec.min_nodes, 4);
  EXPECT_EQ(options.spec.max_nodes, 4);
  EXPECT_EQ(options.run_id, "trainer-01234567");
  EXPECT_EQ(options.node_id, "trainer-2");
  EXPECT_EQ(options.local_addr, "10.1.0.7");
  EXPECT_THAT(options.topology,
              ElementsAre("zone=z1", "rack=r7", "host=node-9"));
  EXPECT_THAT(options.preemption.signals, ElementsAre(SIGTERM));
  EXPECT_EQ(options.input.reader, agent::WorkerInput::Reader::kNone);
  EXPECT_THAT(options.remarks, IsEmpty());
}

TEST_F(KubernetesDefaultsTest, TimeoutsAreLongerThanTheLongestBackOff) {
  const auto waits = [this](const Environment& pod,
                            const std::vector<std::string>& args) {
    const RunOptions options = Options(pod, args);
    return std::vector<Duration>{
        options.policy.connect_timeout, options.policy.coordinator_timeout,
        options.spec.join_timeout, options.spec.rejoin_timeout};
  };
  Environment pod = IndexedJobPod("2");
  EXPECT_THAT(waits(pod, {}), Each(std::chrono::seconds(1800)));
  pod["MUSTER_POD_TIMEOUT"] = "7200";
  EXPECT_THAT(waits(pod, {}), Each(std::chrono::seconds(7200)));
  EXPECT_THAT(waits(pod, {"--connect-timeout=1", "--coordinator-timeout=2",
                          "--rdzv-conf=join_timeout=3,rejoin_timeout=4"}),
              ElementsAre(std::chrono::seconds(1), std::chrono::seconds(2),
                          std::chrono::seconds(3), std::chrono::seconds(4)));
  EXPECT_EQ(waits(pod, {"--rdzv-conf=timeout=9"})[2], std::chrono::seconds(9));
  for (const char* wrong : {"0", "-1", "soon", "1e400"}) {
    pod["MUSTER_POD_TIMEOUT"] = wrong;
    EXPECT_THAT(Refusal(pod), HasSubstr(std::string("MUSTER_POD_TIMEOUT=") +
                                        wrong + ": is no number of seconds"));
  }
}

TEST_F(KubernetesDefaultsTest, TheHintForMissingPodsNamesKubectl) {
  EXPECT_THAT(Options(IndexedJobPod("2")).absent_hint,
              StartsWith("kubectl get pods -l "
                         "batch.kubernetes.io/job-name=trainer shows which "));
  EXPECT_EQ(Options({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}}).absent_hint,
            "");
}

TEST_F(KubernetesDefaultsTest, PodZeroHostsTheCoordinatorWithAnyAddress) {
  EXPECT_EQ(Options(IndexedJobPod("0")).hosting, Hosting::kAlways);
}

TEST_F(KubernetesDefaultsTest, TheHostNameGivesTheJobNameToo) {
  Environment pod = IndexedJobPod("2");
  pod.erase("MUSTER_JOB_NAME");
  EXPECT_EQ(Options(pod).endpoints.front().host, "trainer-0.trainer-pods");
  // With hostNetwork, HOSTNAME is the machine's name and does not contain the
  // Job's name. So MUSTER_JOB_NAME is needed.
  pod["HOSTNAME"] = "node-9";
  EXPECT_THAT(Refusal(pod), HasSubstr("MUSTER_JOB_NAME"));
}

TEST_F(KubernetesDefaultsTest, PodsWithoutAMeetingPointAreRejected) {
  for (const char* name : {"trainer-1", "pod", "agents-6d4cf56db6-b9f2k"}) {
    Environment pod = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                       {"HOSTNAME", name},
                       {"MUSTER_NODES", "2"}};
    EXPECT_THAT(Refusal(pod),
                AllOf(HasSubstr("MUSTER_NODES=2: nothing says "
                                "where the pods meet"),
                      HasSubstr("MUSTER_SERVICE"), HasSubstr("MUSTER_JOB_NAME"),
                      HasSubstr("MUSTER_COORDINATOR")));
    EXPECT_EQ(Options(pod, {"--rdzv-endpoint=other:7"}).endpoints.front().port,
              7);
    EXPECT_EQ(Options(pod, {"--master-addr=a", "--node-rank=1"}).node_rank, 1);
    EXPECT_EQ(Options(pod, {"--nnodes=1"}).spec.max_nodes, 1);
    pod["PET_RDZV_ENDPOINT"] = "other:8";
    EXPECT_EQ(Options(pod).endpoints.front().port, 8);
  }
  EXPECT_THAT(
      Refusal({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}}, {"--nnodes=1:3"}),
      HasSubstr("--nnodes=1:3: nothing says where"));
  EXPECT_THAT(Refusal({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                       {"MUSTER_NODES", "many"}}),
              AllOf(HasSubstr("MUSTER_NODES=many: "), Not(HasSubstr("meet"))));
}

TEST_F(KubernetesDefaultsTest, WithoutAServiceTheJobNameIsTheDomain) {
  Environment pod = IndexedJobPod("1");
  pod.erase("MUSTER_SERVICE");
  const RunOptions options = Options(pod);
  EXPECT_EQ(options.endpoints.front().host, "trainer-0.trainer");
  EXPECT_THAT(options.remarks, Contains(HasSubstr("MUSTER_SERVICE")));
}

TEST_F(KubernetesDefaultsTest, GivenFlagsOverrideDefaults) {
  const RunOptions options =
      Options(IndexedJobPod("0"),
              {"--nnodes=2:3", "--rdzv-endpoint=other:7", "--rdzv-id=mine",
               "--node-id=me", "--topology=rack=r1", "--connect-timeout=5",
               "--signals-to-leave=SIGUSR1"});
  EXPECT_EQ(options.spec.min_nodes, 2);
  EXPECT_EQ(options.endpoints.front().ToString(), "other:7");
  EXPECT_EQ(options.hosting, Hosting::kIfOwner);
  EXPECT_EQ(options.run_id, "mine");
  EXPECT_EQ(options.node_id, "me");
  EXPECT_THAT(options.topology, ElementsAre("rack=r1"));
  EXPECT_EQ(options.policy.connect_timeout, std::chrono::seconds(5));
  EXPECT_THAT(options.preemption.signals, IsEmpty());
  EXPECT_EQ(Options(IndexedJobPod("0"), {"--rdzv-conf=is_host=0"}).hosting,
            Hosting::kNever);
}

TEST_F(KubernetesDefaultsTest, WithAMasterAddressTheIndexIsTheNodeRank) {
  const RunOptions options =
      Options(IndexedJobPod("3"), {"--master-addr=trainer-0.pods"});
  EXPECT_TRUE(options.endpoints.empty());
  EXPECT_EQ(options.node_rank, 3);
  EXPECT_EQ(options.hosting, Hosting::kIfOwner);
}

TEST_F(KubernetesDefaultsTest, WithoutANumberOfNodesAPodRunsAlone) {
  Environment pod = IndexedJobPod("2");
  pod.erase("MUSTER_NODES");
  const RunOptions options = Options(pod);
  EXPECT_TRUE(options.endpoints.empty());
  EXPECT_EQ(options.run_id, "none");
  EXPECT_EQ(options.spec.max_nodes, 1);
  EXPECT_THAT(options.remarks, ElementsAre(HasSubstr("runs alone")));
  // If the user gives --nnodes=1, the pod runs alone on purpose: there is no
  // notice.
  EXPECT_THAT(Options(pod, {"--nnodes=1"}).remarks, IsEmpty());
  EXPECT_THAT(Options({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"}}).remarks,
              IsEmpty());
}

TEST_F(KubernetesDefaultsTest, AStatefulSetPodsNameEndsWithItsOrdinal) {
  const RunOptions options = Options({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                                      {"HOSTNAME", "trainer-11"},
                                      {"MUSTER_SERVICE", "pods"},
                                      {"MUSTER_NODES", "12"}});
  EXPECT_EQ(options.endpoints.front().host, "trainer-0.pods");
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_EQ(options.node_id, "trainer-11");
  EXPECT_EQ(options.run_id, "trainer");
}

TEST_F(KubernetesDefaultsTest, ElasticAgentsUseTheDaemonAndLeaveOnEviction) {
  const RunOptions options =
      Options({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
               {"HOSTNAME", "agents-6d4cf56db6-b9f2k"},
               {"MUSTER_POD_NAME", "agents-6d4cf56db6-b9f2k"},
               {"MUSTER_COORDINATOR", "rendezvousd:29400"},
               {"MUSTER_RUN_ID", "job-7"},
               {"MUSTER_NODES", "2:4"}});
  EXPECT_EQ(options.endpoints.front().ToString(), "rendezvousd:29400");
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_EQ(options.node_id, "agents-6d4cf56db6-b9f2k");
  EXPECT_EQ(options.run_id, "job-7");
  EXPECT_THAT(options.policy.signals_to_leave, ElementsAre(SIGTERM));
  EXPECT_THAT(options.preemption.signals, IsEmpty());
}

TEST_F(KubernetesDefaultsTest, TheJobSetControllerNamesTheFirstPod) {
  Environment pod = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                     {"JOB_COMPLETION_INDEX", "0"},
                     {"HOSTNAME", "set-worker-1-0"},
                     {"MUSTER_JOB_NAME", "set-worker-1"},
                     {"MUSTER_JOB_UID", "0123456789"},
                     {"MUSTER_JOBSET_NAME", "set"},
                     {"MUSTER_JOBSET_ATTEMPT", "2"},
                     {"MUSTER_JOBSET_COORDINATOR", "set-worker-0-0.set"},
                     {"MUSTER_NODES", "4"}};
  RunOptions options = Options(pod);
  EXPECT_EQ(options.endpoints.front().host, "set-worker-0-0.set");
  EXPECT_EQ(options.hosting, Hosting::kNever);
  EXPECT_EQ(options.node_id, "set-worker-1-0");
  EXPECT_EQ(options.run_id, "set-2");
  // A JobSet that is deleted and created again has the same name and counts its
  // attempts from 0 again. The JobSet's uid makes the run id different.
  pod["MUSTER_JOBSET_UID"] = "abcdef012345";
  EXPECT_EQ(Options(pod).run_id, "set-abcdef01-2");
  pod["HOSTNAME"] = "set-worker-0-0";
  pod["MUSTER_JOB_NAME"] = "set-worker-0";
  EXPECT_EQ(Options(pod).hosting, Hosting::kAlways);
}

TEST_F(KubernetesDefaultsTest, DevicePluginGpusGetAWorkerEach) {
  const auto workers = [this](const std::string& devices) {
    return Options({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                    {"NVIDIA_VISIBLE_DEVICES", devices}})
        .workers_per_node;
  };
  EXPECT_EQ(workers("GPU-1,GPU-2"), "gpu");
  EXPECT_EQ(workers("/var/run/nvidia-container-devices"), "gpu");
  EXPECT_EQ(workers("all"), "1");
  EXPECT_EQ(workers("void"), "1");
  EXPECT_EQ(workers(""), "1");
}

TEST_F(KubernetesDefaultsTest, APodIndexBeyondTheNodesIsRejected) {
  EXPECT_THAT(Refusal(IndexedJobPod("4")),
              HasSubstr("JOB_COMPLETION_INDEX=4: of 4 pods none"));
  EXPECT_THAT(Refusal(IndexedJobPod("2"), {"--nnodes=1:2"}),
              HasSubstr("JOB_COMPLETION_INDEX=2: of 2 pods none"));
  EXPECT_EQ(Options(IndexedJobPod("3")).node_id, "trainer-3");
  // With a separate coordinator the pod may be a spare, so an index beyond the
  // number of nodes is accepted.
  Environment pod = IndexedJobPod("4");
  EXPECT_EQ(Options(pod, {"--rdzv-endpoint=other:7"}).node_id, "trainer-4");
  pod["MUSTER_COORDINATOR"] = "rendezvousd:29400";
  EXPECT_EQ(Options(pod).node_id, "trainer-4");
}

TEST_F(KubernetesDefaultsTest, ErrorsNameTheVariable) {
  Environment pod = IndexedJobPod("2");
  pod["JOB_COMPLETION_INDEX"] = "two";
  EXPECT_THAT(Refusal(pod), HasSubstr("JOB_COMPLETION_INDEX=two: "));
  pod = IndexedJobPod("2");
  pod["MUSTER_NODES"] = "4:2";
  EXPECT_THAT(Refusal(pod), HasSubstr("MUSTER_NODES=4:2: "));
  pod = IndexedJobPod("2");
  pod["MUSTER_POD_IP"] = "10.0.0.1:7";
  EXPECT_THAT(Refusal(pod), HasSubstr("MUSTER_POD_IP=10.0.0.1:7: "));
  pod["MUSTER_POD_IP"] = "garbage";
  EXPECT_THAT(Refusal(pod), HasSubstr("MUSTER_POD_IP=garbage: is no IP"));
  pod["MUSTER_POD_IP"] = "fd00::7";
  EXPECT_EQ(Options(pod).local_addr, "fd00::7");
  pod = IndexedJobPod("2");
  pod["MUSTER_SERVICE"] = "bad/name";
  EXPECT_THAT(Refusal(pod), AllOf(HasSubstr("MUSTER_SERVICE=bad/name: "),
                                  HasSubstr("called trainer-0.bad/name")));
  EXPECT_EQ(Options(pod, {"--rdzv-endpoint=other:7"}).endpoints.front().port,
            7);
  pod.erase("MUSTER_SERVICE");
  pod["MUSTER_JOB_NAME"] = "a b";
  EXPECT_THAT(Refusal(pod), HasSubstr("MUSTER_JOB_NAME=a b: "));
  pod = IndexedJobPod("2");
  pod["MUSTER_JOBSET_COORDINATOR"] = "a/b";
  EXPECT_THAT(Refusal(pod), HasSubstr("MUSTER_JOBSET_COORDINATOR=a/b: "));
  for (const char* no_label : {"r,7", " "}) {
    pod = IndexedJobPod("2");
    pod["MUSTER_RACK"] = no_label;
    EXPECT_THAT(Refusal(pod),
                HasSubstr(std::string("MUSTER_RACK=") + no_label + ": "));
    EXPECT_THAT(Options(pod, {"--topology=rack=r1"}).topology,
                ElementsAre("rack=r1"));
  }
}

}  // namespace
}  // namespace muster::launcher
