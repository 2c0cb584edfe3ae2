// MPI functions in the terms of OTF2, by their numbers in functions.def. Knows nothing of libotf2: the numbers are
// those of its format, which never change.
#pragma once

#include <cstdint>
#include <string_view>

#include "interpose/record/functions.hpp"

namespace pclscope::exporting {

// OTF2_CollectiveOp; -1: no collective operation.
int collective_op_of(std::uint16_t function);
bool has_root(int collective_op);  // Bcast, Gather(v), Scatter(v), Reduce

enum class Rma : std::uint8_t { none, put, get, accumulate, fetch_and_add, compare_and_swap };
Rma rma_of(std::uint16_t function);

// OTF2_RegionRole.
int region_role_of(std::uint16_t function);

// The function without the prefix, the I of nonblocking ones and the endings of other forms: "Bcast" for MPI_Ibcast_c.
std::string_view plain_name(std::string_view name, char (&buffer)[64]);

}  // namespace pclscope::exporting
