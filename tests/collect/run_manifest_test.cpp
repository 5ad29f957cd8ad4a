#include "base/time_text.h"
#include "collect/run_manifest.h"
#include "collect/secrets.h"
#include "temp_folder.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(RunManifest, SecretsAreMaskedAndTheRestIsNot) {
  for (const char* name :
       {"HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "my_password", "OPENAI_API_KEY", "WANDB_API_KEY",
        "GITHUB_PAT", "SSH_PRIVATE_KEY", "DB_PWD", "DB_PASS", "SSHPASS", "REDIS_AUTH", "pass"})
    EXPECT_TRUE(is_secret(name, "x")) << name;
  for (const char* name :
       {"PATH", "NCCL_DEBUG", "PWD", "OLDPWD", "KEYBOARD", "TOKENIZERS_PARALLELISM", "SECRETARY",
        "MONKEY", "BYPASS", "COMPASS", "AUTHOR", "SSH_AUTH_SOCK", "DB_PASSES"})
    EXPECT_FALSE(is_secret(name, "x")) << name;
  EXPECT_TRUE(is_secret("HTTPS_PROXY", "http://me:pw@proxy:80"));
  EXPECT_FALSE(is_secret("HTTPS_PROXY", "http://proxy:80/a@b"));
  EXPECT_TRUE(is_secret("INDEX", "https://a.org/simple https://bob:pw@b.org/simple"));
  EXPECT_TRUE(is_secret("INDEX", "https://a.org,https://bob:pw@b.org/simple"));
  EXPECT_FALSE(is_secret("INDEX", "https://a.org git@b.org"));
  EXPECT_EQ(masked_argument("https://u:pw@h/x"), "https://***@h/x");
  EXPECT_EQ(masked_argument("https://u:p@w@h/x?token=y"), "https://***@h/x?token=***");
  EXPECT_EQ(masked_argument("curl http://a/b ftp://u:pw@h; wget https://u:pw@h/c=d"),
            "curl http://a/b ftp://***@h; wget https://***@h/c=d");
  EXPECT_EQ(masked_argument("--url=https://u:pw@h/x"), "--url=***");
  EXPECT_EQ(masked_argument("https://h/a@b"), "https://h/a@b");
  EXPECT_EQ(masked_argument("HF_TOKEN=abc"), "HF_TOKEN=***");
  EXPECT_EQ(masked_argument("--api-key=abc"), "--api-key=***");
  EXPECT_EQ(masked_argument("--size=3"), "--size=3");
  EXPECT_EQ(masked_argument("echo the TOKEN = x"), "echo the TOKEN = x");
  EXPECT_EQ(masked_argument("--"), "--");
  using Words = std::vector<std::string>;
  EXPECT_EQ(masked_arguments({"x", "--password", "hunter2", "--size", "3", "--hf-token", "-v"}),
            (Words{"x", "--password", "***", "--size", "3", "--hf-token", "-v"})); // HA-B24
  EXPECT_EQ(masked_arguments({"x", "--db-pass", "hunter2", "--url", "https://u:pw@h/x"}),
            (Words{"x", "--db-pass", "***", "--url", "https://***@h/x"}));
  JsonWriter json;
  json.begin_object();
  write_environment(json, "e", {"B=2", "A_TOKEN=hidden", "=C:", "A=x=y"});
  json.end_object();
  const std::string text = json.take();
  EXPECT_EQ(text.find("hidden"), std::string::npos);
  EXPECT_NE(text.find("\"A\": \"x=y\""), std::string::npos) << text;
}

TEST(RunManifest, WhatIsNoneOfOursIsNone) {
  const test::TempFolder folder;
  EXPECT_EQ(read_run_manifest(folder.path("none")).status, "");
  for (const char* text : {"", "{", "[]", "{\"status\": \"success\"}", "{\"rankscope_run\": 3}"})
    EXPECT_EQ(read_run_manifest(folder.write("m.json", text)).status, "") << text;
  const SavedRun run = read_run_manifest(folder.write(
      "m.json", R"({"rankscope_run": "ab", "status": "failed", "seconds": 1.5, "exit_code": 3,
                   "findings": ["x"]})"));
  EXPECT_EQ(run.status, "failed");
  EXPECT_EQ(run.mark, "ab");
  EXPECT_EQ(run.seconds, 1.5);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.findings, std::vector<std::string>{"x"});
}

TEST(RunManifest, TheHostIsDescribed) {
  const HostFacts host = read_host_facts();
  EXPECT_FALSE(host.host.empty());
  EXPECT_FALSE(host.kernel.empty());
  EXPECT_GE(host.processors, 1);
  EXPECT_GT(host.memory_bytes, 1 << 20);
  EXPECT_EQ(utc_text(std::chrono::system_clock::from_time_t(1'770'091'506)),
            "2026-02-03T04:05:06Z");
}

} // namespace
} // namespace rankscope
