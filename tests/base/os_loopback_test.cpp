// A page for this machine alone: what is answered to whom.
#include "luminal/base/os/loopback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "luminal/base/errors.h"

namespace luminal::base {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string request(const std::string& line, const std::string& host) {
  return line + " HTTP/1.1\r\nAccept: */*\r\nhOsT:  " + host + " \r\n\r\n";
}

TEST(Loopback, ThePageIsAtTheRoot) {
  const std::string answer = answer_to(request("GET /", "127.0.0.1:81"), 81, "<p>page</p>");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answer, HasSubstr("Content-Length: 11\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n<p>page</p>"));
  EXPECT_THAT(answer_to(request("GET /", "localhost:81"), 81, ""), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer_to(request("HEAD /", "localhost:81"), 81, "<p>page</p>"),
              EndsWith("\r\n\r\n"));
}

TEST(Loopback, OtherNamesOfThisMachineAreRefused) {
  for (const char* host : {"evil.example", "127.0.0.1", "127.0.0.1:82", "127.0.0.1:81.evil", ""}) {
    const std::string answer = answer_to(request("GET /", host), 81, "page");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403")) << host;
    EXPECT_THAT(answer, Not(HasSubstr("page"))) << host;
  }
  EXPECT_THAT(answer_to("GET / HTTP/1.1\r\n\r\n", 81, "page"), StartsWith("HTTP/1.1 403"));
}

TEST(Loopback, NothingElseIsThere) {
  EXPECT_THAT(answer_to(request("GET /../etc/passwd", "localhost:81"), 81, "page"),
              StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(answer_to(request("POST /", "localhost:81"), 81, "page"), StartsWith("HTTP/1.1 405"));
  for (const char* head : {"", "GET", "GET /", "\r\n\r\n", "GET\r\n / x\r\n"}) {
    EXPECT_THAT(answer_to(head, 81, "page"), StartsWith("HTTP/1.1 4")) << head;
  }
}

TEST(Loopback, APortThatIsTakenIsAnErrorWithAWayOut) {
  const LoopbackServer first(0);
  EXPECT_GT(first.port(), 0);
  EXPECT_EQ(first.address(), "http://127.0.0.1:" + std::to_string(first.port()) + "/");
  try {
    LoopbackServer second(first.port());
    FAIL() << "two servers on one port";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("0 for one that is free"));
  }
}

}  // namespace
}  // namespace luminal::base
