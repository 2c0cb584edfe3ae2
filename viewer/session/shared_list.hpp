// A list that is cheap to copy while it grows: full chunks are immutable and shared by all copies, only the last,
// partly filled one is copied. Elements are in the order of push_back. A value. Threads: as std::vector; copies may be
// used anywhere.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <vector>

namespace pclscope::session {

template <class T, std::size_t chunk_size>
class SharedList {
 public:
  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;
    const_iterator() = default;
    const_iterator(const SharedList* list, std::size_t at) : list_(list), at_(static_cast<difference_type>(at)) {}
    reference operator*() const { return (*list_)[static_cast<std::size_t>(at_)]; }
    pointer operator->() const { return &**this; }
    reference operator[](difference_type n) const { return *(*this + n); }
    const_iterator& operator+=(difference_type n) {
      at_ += n;
      return *this;
    }
    const_iterator& operator-=(difference_type n) {
      at_ -= n;
      return *this;
    }
    const_iterator& operator++() {
      ++at_;
      return *this;
    }
    const_iterator& operator--() {
      --at_;
      return *this;
    }
    const_iterator operator++(int) {
      auto was = *this;
      ++at_;
      return was;
    }
    const_iterator operator--(int) {
      auto was = *this;
      --at_;
      return was;
    }
    friend const_iterator operator+(const_iterator i, difference_type n) { return i += n; }
    friend const_iterator operator+(difference_type n, const_iterator i) { return i += n; }
    friend const_iterator operator-(const_iterator i, difference_type n) { return i -= n; }
    friend difference_type operator-(const const_iterator& a, const const_iterator& b) { return a.at_ - b.at_; }
    bool operator==(const const_iterator& other) const { return at_ == other.at_; }
    auto operator<=>(const const_iterator& other) const { return at_ <=> other.at_; }

   private:
    const SharedList* list_ = nullptr;
    difference_type at_ = 0;
  };

  std::size_t size() const { return full_.size() * chunk_size + tail_.size(); }
  bool empty() const { return full_.empty() && tail_.empty(); }
  const T& operator[](std::size_t i) const {
    const std::size_t chunk = i / chunk_size;
    return chunk < full_.size() ? (*full_[chunk])[i % chunk_size] : tail_[i % chunk_size];
  }
  const T& front() const { return (*this)[0]; }
  const T& back() const { return (*this)[size() - 1]; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, size()}; }

  void push_back(const T& value) {
    tail_.push_back(value);
    if (tail_.size() < chunk_size) return;
    full_.push_back(std::make_shared<const std::vector<T>>(tail_));  // a copy, because it is exactly as large as needed
    tail_.clear();
  }
  // Keeps the first `count`.
  void truncate(std::size_t count) {
    if (count >= size()) return;
    if (const std::size_t chunks = count / chunk_size; chunks < full_.size()) {
      const std::shared_ptr<const std::vector<T>> last = full_[chunks];
      full_.resize(chunks);
      tail_.assign(last->begin(), last->end());
    }
    tail_.resize(count % chunk_size);
  }
  // About, all chunks counted.
  std::size_t bytes() const { return full_.size() * (chunk_size * sizeof(T) + 64) + tail_.size() * sizeof(T); }

 private:
  std::vector<std::shared_ptr<const std::vector<T>>> full_;
  std::vector<T> tail_;
};

}  // namespace pclscope::session
