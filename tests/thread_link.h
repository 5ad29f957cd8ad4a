// Simulates the processes of a job with threads: each thread has a Link to the others.
#pragma once

#include "os/exchange.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace rankscope::test {

/// Messages that are sent and not yet received, by sender and receiver.
struct Letters {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<std::size_t, std::size_t>, std::deque<std::string>> boxes;
  std::size_t longest = 0, messages = 0;
};

class ThreadLink final : public Link {
public:
  ThreadLink(Letters& letters, std::size_t rank, std::size_t size)
      : letters_(letters), rank_(rank), size_(size) {}

  [[nodiscard]] std::size_t rank() const override { return rank_; }
  [[nodiscard]] std::size_t size() const override { return size_; }

  std::vector<std::uint64_t> swap_numbers(const std::vector<std::uint64_t>& to_each) override {
    EXPECT_EQ(to_each.size(), size_);
    std::vector<std::uint64_t> out;
    for (std::size_t r = 0; r < size_; ++r)
      post(std::to_string(to_each[r]), r);
    for (std::size_t r = 0; r < size_; ++r)
      out.push_back(std::stoull(take(r)));
    return out;
  }

  void send(std::string_view bytes, std::size_t to) override {
    EXPECT_FALSE(bytes.empty());
    post(std::string(bytes), to);
    const std::lock_guard lock(letters_.mutex);
    letters_.longest = std::max(letters_.longest, bytes.size());
    ++letters_.messages;
  }
  void receive(std::span<char> bytes, std::size_t from) override {
    const std::string got = take(from);
    ASSERT_EQ(got.size(), bytes.size()); // an MPI library would truncate the message
    std::copy(got.begin(), got.end(), bytes.begin());
  }

private:
  void post(std::string text, std::size_t to) {
    const std::lock_guard lock(letters_.mutex);
    letters_.boxes[{rank_, to}].push_back(std::move(text));
    letters_.arrived.notify_all();
  }
  std::string take(std::size_t from) {
    std::unique_lock lock(letters_.mutex);
    std::deque<std::string>& box = letters_.boxes[{from, rank_}];
    letters_.arrived.wait(lock, [&] { return !box.empty(); });
    std::string out = std::move(box.front());
    box.pop_front();
    return out;
  }

  Letters& letters_;
  std::size_t rank_, size_;
};

/// Runs `work` in one thread per process of a job; `letters` counts the messages.
inline void run_job(Letters& letters, std::size_t size, const std::function<void(Link&)>& work) {
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < size; ++r)
    threads.emplace_back([&letters, &work, r, size] {
      ThreadLink link(letters, r, size);
      work(link);
    });
  for (std::thread& thread : threads)
    thread.join();
  for (const auto& [who, box] : letters.boxes)
    EXPECT_TRUE(box.empty()) << who.first << " to " << who.second << ": never read";
}

} // namespace rankscope::test
