#include "luminal/base/os/loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <thread>

#include "luminal/base/errors.h"

namespace luminal::base {
namespace {

constexpr size_t kMostHead = 16 << 10;
constexpr int kMostAtOnce = 32;  // connections: browsers open some in advance

std::string response(std::string_view status, std::string_view type, const std::string& body,
                     bool with_body) {
  std::string out = "HTTP/1.1 " + std::string(status) + "\r\nContent-Type: " + std::string(type) +
                    "; charset=utf-8\r\nContent-Length: " + std::to_string(body.size()) +
                    "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
                    "Connection: close\r\n\r\n";
  return with_body ? out + body : out;
}

std::string refusal(std::string_view status) {
  return response(status, "text/plain", std::string(status) + "\n", true);
}

// The value of a header, without spaces around it; empty where there is none.
std::string header(const std::string& head, std::string_view name) {
  size_t at = head.find("\r\n");
  while (at != std::string::npos && at + 2 < head.size()) {
    const size_t begin = at + 2, end = head.find("\r\n", begin);
    const std::string line = head.substr(begin, end == std::string::npos ? end : end - begin);
    const size_t colon = line.find(':');
    if (colon == name.size() && strncasecmp(line.c_str(), name.data(), name.size()) == 0) {
      const size_t first = line.find_first_not_of(" \t", colon + 1);
      const size_t last = line.find_last_not_of(" \t");
      return first == std::string::npos ? "" : line.substr(first, last - first + 1);
    }
    at = end;
  }
  return {};
}

std::string read_head(int connection) {
  std::string head;
  char buffer[2048];
  while (head.size() < kMostHead && head.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = recv(connection, buffer, sizeof buffer, 0);
    if (count <= 0) return {};
    head.append(buffer, static_cast<size_t>(count));
  }
  return head;
}

void send_all(int connection, const std::string& text) {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<size_t>(count);
  }
}

void answer(int connection, uint16_t port, const std::string& html) {
  const timeval patience{.tv_sec = 10, .tv_usec = 0};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const std::string head = read_head(connection);
  if (!head.empty()) send_all(connection, answer_to(head, port, html));
  ::close(connection);
}

[[noreturn]] void fail(const std::string& what, uint16_t port) {
  const std::string reason = std::strerror(errno);
  throw DeviceError("can't serve a page on 127.0.0.1:" + std::to_string(port) + " (" + what + ": " +
                    reason + "); try another port, or 0 for one that is free");
}

}  // namespace

std::string answer_to(const std::string& head, uint16_t port, const std::string& html) {
  const size_t space = head.find(' ');
  const size_t end = space == std::string::npos ? space : head.find(' ', space + 1);
  if (end == std::string::npos) return refusal("400 Bad Request");
  const std::string method = head.substr(0, space);
  const std::string path = head.substr(space + 1, end - space - 1);
  const std::string host = header(head, "Host"), number = ":" + std::to_string(port);
  if (host != "127.0.0.1" + number && host != "localhost" + number) {
    return refusal("403 Forbidden");
  }
  if (method != "GET" && method != "HEAD") return refusal("405 Method Not Allowed");
  if (path != "/") return refusal("404 Not Found");
  return response("200 OK", "text/html", html, method == "GET");
}

LoopbackServer::LoopbackServer(uint16_t port) {
  socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) fail("socket", port);
  const int on = 1;
  setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const auto* as_general = reinterpret_cast<const sockaddr*>(&address);
  if (bind(socket_, as_general, size) != 0 || listen(socket_, kMostAtOnce) != 0 ||
      getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const int error = errno;
    ::close(socket_);
    errno = error;
    fail("bind", port);
  }
  port_ = ntohs(address.sin_port);
}

LoopbackServer::~LoopbackServer() { ::close(socket_); }

std::string LoopbackServer::address() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/";
}

void LoopbackServer::serve(std::string html) {
  const auto page = std::make_shared<const std::string>(std::move(html));
  const auto busy = std::make_shared<std::atomic<int>>(0);
  while (true) {
    const int connection = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      fail("accept", port_);
    }
    if (busy->fetch_add(1) >= kMostAtOnce) {
      --*busy;
      ::close(connection);
      continue;
    }
    // A thread each: a client that sends nothing must not block the others.
    std::thread([connection, page, busy, port = port_] {
      answer(connection, port, *page);
      --*busy;
    }).detach();
  }
}

}  // namespace luminal::base
