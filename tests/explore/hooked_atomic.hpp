// std::atomic with something done before every access: explore_before() and explore_saw() are to be declared by who
// includes this. Afterwards `atomic` means it, in all that is compiled from here on.
#pragma once

namespace std {

template <class T>
struct explored_atomic : atomic<T> {
  using Order = memory_order;
  constexpr explored_atomic() noexcept = default;
  constexpr explored_atomic(T value) noexcept : atomic<T>(value) {}
  explored_atomic(const explored_atomic&) = delete;

  T load(Order order = memory_order_seq_cst) const {
    explore_before(this, 0);
    return seen(atomic<T>::load(order));
  }
  operator T() const { return load(); }
  void store(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    atomic<T>::store(value, order);
  }
  T operator=(T value) {
    store(value);
    return value;
  }
  T exchange(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::exchange(value, order));
  }
  T fetch_add(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::fetch_add(value, order));
  }
  T fetch_sub(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::fetch_sub(value, order));
  }
  T fetch_or(T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    return seen(atomic<T>::fetch_or(value, order));
  }
  bool compare_exchange_strong(T& expected, T value, Order order = memory_order_seq_cst) {
    explore_before(this, 1);
    const bool done = atomic<T>::compare_exchange_strong(expected, value, order);
    seen(expected);
    return done;
  }
  bool compare_exchange_weak(T& expected, T value, Order order = memory_order_seq_cst) {
    return compare_exchange_strong(expected, value, order);
  }

 private:
  static T seen(T value) {
    if constexpr (is_pointer_v<T>) {
      explore_saw(value != nullptr);
    } else {
      explore_saw(static_cast<unsigned long>(value));
    }
    return value;
  }
};

}  // namespace std

#define atomic explored_atomic
