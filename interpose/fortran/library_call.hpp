// What a Fortran shim hands to the templates of wrap_*.hpp in place of the C function `real.X`: a call of the MPI
// library's Fortran routine with the program's own arguments.
#pragma once

#include <cstddef>
#include <tuple>
#include <utility>

#include "interpose/fortran/arguments.hpp"
#include "interpose/fortran/inside.hpp"

namespace pclscope::fortran {

// Fortran passes the lengths of texts by value behind all other arguments.
template <int Count>
struct Lengths {
  std::size_t length[Count];
};
template <>
struct Lengths<0> {};

template <int Texts, class... Arguments>
class LibraryCall {
 public:
  LibraryCall(void* routine, const Lengths<Texts>& lengths, Arguments&... arguments)
      : routine_(routine), lengths_(lengths), arguments_(arguments...) {}

  // The template gives all arguments of the C function, or none: then those stay that were given last.
  template <class... Given>
  int operator()(Given... given) {
    static_assert(sizeof...(Given) == 0 || sizeof...(Given) == sizeof...(Arguments));
    if constexpr (sizeof...(Given) != 0)
      std::apply([&](auto&... arguments) { (arguments.use(given), ...); }, arguments_);
    const int result = call(std::index_sequence_for<Arguments...>{}, std::make_index_sequence<Texts>{});
    std::apply([&](auto&... arguments) { (arguments.returned(result), ...); }, arguments_);
    return result;
  }

 private:
  template <std::size_t>
  using Pointer = void*;
  template <std::size_t>
  using Length = std::size_t;

  template <std::size_t... A, std::size_t... T>
  int call(std::index_sequence<A...>, std::index_sequence<T...>) {
    InsideFortran inside;
    MPI_Fint error = MPI_SUCCESS;  // in mpi_f08 the program may have no variable for it
    auto* routine = reinterpret_cast<void (*)(Pointer<A>..., MPI_Fint*, Length<T>...)>(routine_);
    routine(std::get<A>(arguments_).fortran()..., &error, lengths_.length[T]...);
    return error;
  }

  void* routine_;
  [[no_unique_address]] Lengths<Texts> lengths_;
  std::tuple<Arguments&...> arguments_;
};

template <int Texts, class... Arguments>
LibraryCall(void*, const Lengths<Texts>&, Arguments&...) -> LibraryCall<Texts, Arguments...>;

inline void give(void* ierror, int result) {
  if (ierror != nullptr) *static_cast<MPI_Fint*>(ierror) = result;
}

}  // namespace pclscope::fortran
