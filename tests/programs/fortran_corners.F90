! What is special about calling MPI from Fortran: texts, logicals, attributes, callbacks, MPI_BOTTOM, MPI_IN_PLACE,
! array sections, windows, files, neighbourhoods, indices. Prints what rank 0 sees; needs 3 ranks and a file name.
! On paper, messages between ranks 0 and 1: see `messages` (tags 20 to 25); all else sends none.
#include "fortran_binding.h"
module corners
  MPI_MODULE
  implicit none
  MPI_INCLUDE
  integer :: rank, ranks, ierror, copied = 0, deleted = 0, handled = 0

contains

  subroutine check(holds, line)
    logical, intent(in) :: holds
    integer, intent(in) :: line
    if (holds) return
    write (0, '(a,i0,a,i0)') 'fortran_corners: rank ', rank, ' line ', line
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  subroutine copy_attribute(comm, keyval, extra, value_in, value_out, flag, error)
    COMM_TYPE :: comm
    integer :: keyval, error
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    copied = copied + 1
    value_out = value_in + extra
    flag = .true.
    error = MPI_SUCCESS
  end subroutine

  subroutine delete_attribute(comm, keyval, value, extra, error)
    COMM_TYPE :: comm
    integer :: keyval, error
    integer(MPI_ADDRESS_KIND) :: value, extra
    deleted = deleted + 1
    error = MPI_SUCCESS
  end subroutine

  subroutine handle_error(comm, error)
    COMM_TYPE :: comm
    integer :: error
    handled = handled + 1
  end subroutine

#if defined(USE_MPI_F08)
  subroutine longest(a, b, length, datatype)
    use iso_c_binding
    type(c_ptr), value :: a, b
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: x(:), y(:)
    call c_f_pointer(a, x, [length])
    call c_f_pointer(b, y, [length])
    where (abs(x) > abs(y)) y = x
  end subroutine
#else
  subroutine longest(x, y, length, datatype)
    integer :: length, datatype, x(length), y(length)
    where (abs(x) > abs(y)) y = x
  end subroutine
#endif

  subroutine attributes
    integer(MPI_ADDRESS_KIND) :: value
    integer :: keyval
    logical :: flag
    COMM_TYPE :: dup
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag IERROR)
    call check(flag .and. value >= 32767, __LINE__)
    if (rank == 0) print '(a,i0)', 'tag_ub ', value
    call MPI_Comm_create_keyval(copy_attribute, delete_attribute, keyval, 5_MPI_ADDRESS_KIND IERROR)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, 37_MPI_ADDRESS_KIND IERROR)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup IERROR)
    call MPI_Comm_get_attr(dup, keyval, value, flag IERROR)
    call check(flag .and. value == 42, __LINE__)
    call MPI_Comm_free(dup IERROR)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, flag IERROR)
    call check(flag .and. value == 37, __LINE__)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval IERROR)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, value, flag IERROR)
    call check(.not. flag, __LINE__)
    call MPI_Comm_free_keyval(keyval IERROR)
    if (rank == 0) print '(a,i0,a,i0)', 'attributes copied ', copied, ' deleted ', deleted
  end subroutine

  subroutine names_and_groups
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: length, comparison, world_ranks(2)
    COMM_TYPE :: dup, pair, merged
    GROUP_TYPE :: all, some
    logical :: inter
    call MPI_Comm_get_name(MPI_COMM_WORLD, name, length IERROR)
    if (rank == 0) print '(a,a,a,i0)', 'world is called "', trim(name), '" ', length
    call MPI_Comm_dup(MPI_COMM_WORLD, dup IERROR)
    call MPI_Comm_set_name(dup, 'an  own name   ' IERROR)
    call MPI_Comm_get_name(dup, name, length IERROR)
    if (rank == 0) print '(a,a,a,i0)', 'its copy is called "', trim(name), '" ', length
    call MPI_Comm_compare(MPI_COMM_WORLD, dup, comparison IERROR)
    call check(comparison == MPI_CONGRUENT, __LINE__)
    call MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, comparison IERROR)
    call check(comparison == MPI_IDENT, __LINE__)
    call MPI_Comm_group(MPI_COMM_WORLD, all IERROR)
    call MPI_Group_size(all, length IERROR)
    call MPI_Group_incl(all, 2, [2, 0], some IERROR)
    call MPI_Group_translate_ranks(some, 2, [0, 1], all, world_ranks IERROR)
    if (rank == 0) print '(a,i0,a,2(1x,i0))', 'group of ', length, ' contains', world_ranks
    call MPI_Group_free(some IERROR)
    call MPI_Group_free(all IERROR)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, pair IERROR)
    call MPI_Comm_test_inter(pair, inter IERROR)
    call check(.not. inter, __LINE__)
    call MPI_Intercomm_create(pair, 0, MPI_COMM_WORLD, merge(1, 0, mod(rank, 2) == 0), 3, merged IERROR)
    call MPI_Comm_test_inter(merged, inter IERROR)
    call check(inter, __LINE__)
    call MPI_Comm_remote_size(merged, length IERROR)
    call check(length == merge(1, 2, mod(rank, 2) == 0), __LINE__)
    call MPI_Comm_free(merged IERROR)
    call MPI_Comm_free(pair IERROR)
    call MPI_Comm_free(dup IERROR)
  end subroutine

  ! From 0 to 1: 20: a vector of 3 x 2 integers; 21: an integer and a double at absolute addresses; 22: every other
  ! integer of an array; 23: on a duplicate; from 1 to 0: 24: matched by a probe; 25: 0 bytes to each other by Waitany.
  subroutine messages
    DATATYPE_TYPE :: vector, absolute
    COMM_TYPE :: dup
    REQUEST_TYPE :: requests(2)
    MESSAGE_TYPE :: message
    STATUS_TYPE :: status
    integer :: values(12), whole, i, which, count
    integer(MPI_ADDRESS_KIND) :: places(2)
    double precision :: real
    logical :: flag
    values = [(i + 100 * rank, i = 1, 12)]
    whole = 7 + rank
    real = 0.5d0 + rank
    call MPI_Type_vector(3, 2, 4, MPI_INTEGER, vector IERROR)
    call MPI_Type_commit(vector IERROR)
    call MPI_Get_address(whole, places(1) IERROR)
    call MPI_Get_address(real, places(2) IERROR)
    call MPI_Type_create_struct(2, [1, 1], places, [MPI_INTEGER, MPI_DOUBLE_PRECISION], absolute IERROR)
    call MPI_Type_commit(absolute IERROR)
    call MPI_Comm_dup(MPI_COMM_WORLD, dup IERROR)
    if (rank == 0) then
      call MPI_Send(values, 1, vector, 1, 20, MPI_COMM_WORLD IERROR)
      call MPI_Send(MPI_BOTTOM, 1, absolute, 1, 21, MPI_COMM_WORLD IERROR)
      call MPI_Send(values(1:9:2), 5, MPI_INTEGER, 1, 22, MPI_COMM_WORLD IERROR)
      call MPI_Send(values, 3, MPI_INTEGER, 1, 23, dup IERROR)
      flag = .false.
      do while (.not. flag)
        call MPI_Improbe(MPI_ANY_SOURCE, 24, MPI_COMM_WORLD, flag, message, status IERROR)
      end do
      call MPI_Get_count(status, MPI_INTEGER, count IERROR)
      call MPI_Mrecv(values, 12, MPI_INTEGER, message, MPI_STATUS_IGNORE IERROR)
      print '(a,i0,a,4(1x,i0))', 'probed ', count, ' got', values(1:4)
    else if (rank == 1) then
      call MPI_Recv(values, 1, vector, 0, 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
      call check(all(values == [1, 2, 103, 104, 5, 6, 107, 108, 9, 10, 111, 112]), __LINE__)
      call MPI_Recv(MPI_BOTTOM, 1, absolute, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status IERROR)
      call check(whole == 7 .and. real == 0.5d0 .and. TAG_OF(status) == 21, __LINE__)
      values = 0
      call MPI_Recv(values(2:10:2), 5, MPI_INTEGER, 0, 22, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)
      call check(all(values == [0, 1, 0, 3, 0, 5, 0, 7, 0, 9, 0, 0]), __LINE__)
      call MPI_Recv(values, 12, MPI_INTEGER, MPI_ANY_SOURCE, 23, dup, status IERROR)
      call MPI_Get_count(status, MPI_INTEGER, count IERROR)
      call check(count == 3, __LINE__)
      call MPI_Send([4, 3, 2, 1], 4, MPI_INTEGER, 0, 24, MPI_COMM_WORLD IERROR)
    end if
    if (rank < 2) then
      call MPI_Irecv(whole, 0, MPI_INTEGER, 1 - rank, 25, dup, requests(1) IERROR)
      call MPI_Isend(whole, 0, MPI_INTEGER, 1 - rank, 25, dup, requests(2) IERROR)
      do i = 1, 2
        call MPI_Waitany(2, requests, which, status IERROR)
      end do
    end if
    call MPI_Comm_free(dup IERROR)
    call MPI_Type_free(absolute IERROR)
    call MPI_Type_free(vector IERROR)
  end subroutine

  subroutine collectives
    OP_TYPE :: op
    integer :: values(6), sums(6), mine(2), i
    DATATYPE_TYPE :: types(3)
    integer :: counts(3), places(3)
    values = 0
    values(1) = merge(-9, rank, rank == 1)
    call MPI_Op_create(longest, .true., op IERROR)
    call MPI_Allreduce(MPI_IN_PLACE, values, 1, MPI_INTEGER, op, MPI_COMM_WORLD IERROR)
    call check(values(1) == -9, __LINE__)
    call MPI_Op_free(op IERROR)
    values = [(rank + i, i = 0, 5)]
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, values, 6, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD IERROR)
      print '(a,6(1x,i0))', 'reduced', values
      call MPI_Scatter(values, 2, MPI_INTEGER, MPI_IN_PLACE, 2, MPI_INTEGER, 0, MPI_COMM_WORLD IERROR)
      mine = values(1:2)
    else
      call MPI_Reduce(values, sums, 6, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD IERROR)
      call MPI_Scatter(values, 2, MPI_INTEGER, mine, 2, MPI_INTEGER, 0, MPI_COMM_WORLD IERROR)
    end if
    values = 0
    values(2 * rank + 1:2 * rank + 2) = mine
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 2, MPI_INTEGER, MPI_COMM_WORLD IERROR)
    call check(all(values == [3, 6, 9, 12, 15, 18]), __LINE__)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 2, MPI_INTEGER, MPI_COMM_WORLD IERROR)
    call check(all(values == [mine, mine, mine]), __LINE__)
    types = MPI_INTEGER
    counts = 1
    places = [0, 4, 8]
    call MPI_Alltoallw(values, counts, places, types, sums, counts, places, types, MPI_COMM_WORLD IERROR)
    call MPI_Scan(MPI_IN_PLACE, mine, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
    if (rank == 2) call check(all(mine == [27, 36]), __LINE__)
    call MPI_Barrier(MPI_COMM_WORLD IERROR)
  end subroutine

  subroutine topologies
    COMM_TYPE :: ring, graph, sub
    REQUEST_TYPE :: request
    integer :: from(2), to, dims(1), coordinates(1), in, out, neighbours(1), weights(1), left, right
    logical :: periods(1), weighted
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .true., ring IERROR)
    call MPI_Cart_get(ring, 1, dims, periods, coordinates IERROR)
    call check(periods(1) .and. dims(1) == ranks, __LINE__)
    from = -1
    call MPI_Neighbor_allgather(coordinates, 1, MPI_INTEGER, from, 1, MPI_INTEGER, ring IERROR)
    call check(all(from == [mod(coordinates(1) + ranks - 1, ranks), mod(coordinates(1) + 1, ranks)]), __LINE__)
    call MPI_Cart_sub(ring, [.true.], sub IERROR)
    call MPI_Comm_size(sub, out IERROR)
    call check(out == ranks, __LINE__)
    left = mod(rank + ranks - 1, ranks)
    right = mod(rank + 1, ranks)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, &
                                        MPI_INFO_NULL, .false., graph IERROR)
    call MPI_Dist_graph_neighbors_count(graph, in, out, weighted IERROR)
    call check(in == 1 .and. out == 1, __LINE__)
    if (rank == 0) print '(a,l1)', 'weighted ', weighted  ! MPICH 4.0 says so
    call MPI_Neighbor_alltoall(rank, 1, MPI_INTEGER, to, 1, MPI_INTEGER, graph IERROR)
    call check(to == left, __LINE__)
    call MPI_Comm_free(graph IERROR)
    call MPI_Comm_free(sub IERROR)
    call MPI_Comm_free(ring IERROR)
  end subroutine

  subroutine windows_and_files
    character(len=200) :: name
    integer :: part, total
    integer, save :: window_memory(1024)
#if defined(USE_MPI_F08)
    type(MPI_Win) :: window
    type(MPI_File) :: file
#else
    integer :: window, file
#endif
    integer(MPI_ADDRESS_KIND) :: bytes
    integer(MPI_OFFSET_KIND) :: at
    bytes = 4096
    window_memory = -1
    call MPI_Win_create(window_memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window IERROR)
    call MPI_Win_fence(0, window IERROR)
    call MPI_Put(rank, 1, MPI_INTEGER, mod(rank + 1, ranks), 5_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window IERROR)
    call MPI_Win_fence(0, window IERROR)
    call MPI_Win_free(window IERROR)
    call check(window_memory(6) == mod(rank + ranks - 1, ranks), __LINE__)
    call get_command_argument(1, name)
    call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_CREATE, MPI_MODE_RDWR), MPI_INFO_NULL, file IERROR)
    at = 4 * rank
    call MPI_File_write_at_all(file, at, rank, 1, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
    at = 4 * mod(rank + 1, ranks)
    call MPI_File_sync(file IERROR)
    call MPI_Barrier(MPI_COMM_WORLD IERROR)
    call MPI_File_read_at_all(file, at, part, 1, MPI_INTEGER, MPI_STATUS_IGNORE IERROR)
    call MPI_File_close(file IERROR)
    call check(part == mod(rank + 1, ranks), __LINE__)
    call MPI_Allreduce(part, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD IERROR)
    if (rank == 0) print '(a,i0)', 'file sum ', total
  end subroutine

  subroutine errors
    integer :: error
#if defined(USE_MPI_F08)
    type(MPI_Errhandler) :: handler
#else
    integer :: handler
#endif
    call MPI_Comm_create_errhandler(handle_error, handler IERROR)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler IERROR)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, error)
    call check(handled == 1, __LINE__)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN IERROR)
    call MPI_Send(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, error)
    call check(handled == 1 .and. error /= MPI_SUCCESS, __LINE__)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL IERROR)
    call MPI_Errhandler_free(handler IERROR)
  end subroutine
end module

program fortran_corners
  use corners
  implicit none
  integer :: provided
  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided IERROR)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks IERROR)
  call check(ranks == 3 .and. command_argument_count() == 1, __LINE__)
  call attributes
  call names_and_groups
  call messages
  call collectives
  call topologies
  call windows_and_files
  call errors
  if (rank == 0) print '(a)', 'fortran_corners: done'
  call MPI_Finalize(ierror)
end program
