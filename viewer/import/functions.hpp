// MPI functions as traces name them.
#pragma once

#include <cstdint>
#include <string_view>

namespace pclscope::importing {

// "MPI_Send", "MPI_Send()", "mpi_send_", "MPI_SEND" -> its number in functions.def; 0: none of MPI's.
std::uint16_t function_named(std::string_view name);

// What follows from the function that sent, completed or posted: record::flag of sends and receives.
std::uint32_t send_flags(std::uint16_t function, bool event_says_nonblocking);

enum class CallKind : std::uint8_t { plain, init, finalize, one_sided, file };
CallKind kind_of(std::uint16_t function);

bool is_prefix_scan(std::uint16_t function);

}  // namespace pclscope::importing
