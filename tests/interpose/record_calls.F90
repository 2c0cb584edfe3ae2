! The sections of record_calls.c in Fortran: the same calls, so the same record on paper (test_record.py). The line of
! each call names the MPI function, which test_fortran_record.py compares with the recorded call site.
#include "fortran_binding.h"
! Calls stay on one line, with a macro where one is too long: gfortran gives a continued one its last line.
#define ONE_WITH_NOBODY 1, MPI_INTEGER, MPI_PROC_NULL, 4
#define FOUR_FROM_ANYBODY 4, MPI_INTEGER, from, MPI_ANY_TAG
program record_calls
  MPI_MODULE
  implicit none
  MPI_INCLUDE
  integer :: rank, ranks, ierror, none, values(8)
  COMM_TYPE :: world
  character(len=32) :: section

  values = 0
  call MPI_Init(ierror)
  world = MPI_COMM_WORLD
  call MPI_Comm_rank(world, rank, ierror)
  call MPI_Comm_size(world, ranks, ierror)
  call check(ranks == 3 .and. command_argument_count() == 1, __LINE__)
  call get_command_argument(1, section)
  select case (section)
  case ('blocking');      call blocking
  case ('proc_null');     call proc_null
  case ('nonblocking');   call nonblocking
  case ('any_and_some');  call any_and_some
  case ('tests');         call tests
  case ('persistent');    call persistent
  case ('probes');        call probes
  case ('cancelled');     call cancelled
  case ('both_ways');     call both_ways
  case ('truncated');     call truncated
  case ('collectives');   call collectives
  case ('communicators'); call communicators
  case ('types');         call types
  case default;           call check(.false., __LINE__)
  end select
  call MPI_Finalize(ierror)

contains

  subroutine check(holds, line)
    logical, intent(in) :: holds
    integer, intent(in) :: line
    if (holds) return
    write (0, '(a,i0,a,i0)') 'record_calls.F90: rank ', rank, ' line ', line
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! Rank 1 lets rank 0 go on: one empty message, tag 1.
  subroutine go
    if (rank == 1) call MPI_Send(none, 0, MPI_INTEGER, 0, 1, world IERROR)
    if (rank == 0) call MPI_Recv(none, 0, MPI_INTEGER, 1, 1, world, MPI_STATUS_IGNORE IERROR)
  end subroutine

  subroutine send(tag, count)
    integer, intent(in) :: tag, count
    call MPI_Send(values, count, MPI_INTEGER, 1, tag, world IERROR)
  end subroutine

  subroutine blocking
    character, save :: buffer(4096)
    STATUS_TYPE :: status
    integer :: bytes
#if defined(USE_MPI_F08)
    block
      use iso_c_binding
      type(c_ptr) :: detached
#else
      integer :: detached(2)
#endif
      if (rank == 0) then
        call MPI_Buffer_attach(buffer, 4096 IERROR)
        call MPI_Send(values, 3, MPI_INTEGER, 1, 5, world IERROR)
        call MPI_Ssend(values, 2, MPI_INTEGER, 1, 6, world IERROR)
        call MPI_Bsend(values, 1, MPI_INTEGER, 1, 7, world IERROR)
        call MPI_Buffer_detach(detached, bytes IERROR)
      else if (rank == 1) then
        call MPI_Recv(values, 8, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE IERROR)
        call MPI_Recv(values, 8, MPI_INTEGER, 0, MPI_ANY_TAG, world, status IERROR)
        call check(SOURCE_OF(status) == 0 .and. TAG_OF(status) == 6, __LINE__)
        call MPI_Recv(values, 8, MPI_INTEGER, MPI_ANY_SOURCE, 7, world, MPI_STATUS_IGNORE IERROR)
      end if
#if defined(USE_MPI_F08)
    end block
#endif
  end subroutine

  subroutine proc_null
    REQUEST_TYPE :: requests(2)
    STATUS_TYPE :: status
    MESSAGE_TYPE :: message
    logical :: flag
    if (rank /= 0) return
    call MPI_Send(values, 2, MPI_INTEGER, MPI_PROC_NULL, 3, world IERROR)
    call MPI_Recv(values, 2, MPI_INTEGER, MPI_PROC_NULL, 3, world, status IERROR)
    call check(SOURCE_OF(status) == MPI_PROC_NULL, __LINE__)
    call MPI_Irecv(values, 2, MPI_INTEGER, MPI_PROC_NULL, 3, world, requests(1) IERROR)
    call MPI_Isend(values, 2, MPI_INTEGER, MPI_PROC_NULL, 3, world, requests(2) IERROR)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERROR)
    call MPI_Sendrecv(values, ONE_WITH_NOBODY, values(5), ONE_WITH_NOBODY, world, status IERROR)
    call MPI_Probe(MPI_PROC_NULL, 3, world, MPI_STATUS_IGNORE IERROR)
    call MPI_Mprobe(MPI_PROC_NULL, 3, world, message, MPI_STATUS_IGNORE IERROR)
    call MPI_Mrecv(values, 2, MPI_INTEGER, message, MPI_STATUS_IGNORE IERROR)
    call MPI_Improbe(MPI_PROC_NULL, 3, world, flag, message, MPI_STATUS_IGNORE IERROR)
    call check(flag, __LINE__)
    call MPI_Imrecv(values, 2, MPI_INTEGER, message, requests(1) IERROR)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE IERROR)
  end subroutine

  subroutine nonblocking
    REQUEST_TYPE :: requests(3)
    if (rank == 1) then
      call MPI_Irecv(values, 8, MPI_INTEGER, 0, 20, world, requests(1) IERROR)
      call MPI_Irecv(values, 8, MPI_INTEGER, MPI_ANY_SOURCE, 21, world, requests(2) IERROR)
      call MPI_Irecv(values, 8, MPI_INTEGER, 0, MPI_ANY_TAG, world, requests(3) IERROR)
    end if
    call go
    if (rank == 0) then
      call MPI_Isend(values, 4, MPI_INTEGER, 1, 20, world, requests(1) IERROR)
      call MPI_Issend(values, 5, MPI_INTEGER, 1, 21, world, requests(2) IERROR)
      call MPI_Irsend(values, 6, MPI_INTEGER, 1, 22, world, requests(3) IERROR)
    end if
    if (rank < 2) call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE IERROR)
  end subroutine

  subroutine any_and_some
    REQUEST_TYPE :: requests(2)
    STATUS_TYPE :: status
    STATUSES(statuses, 2)
    integer :: form, tag, turn, which, done, indices(2), origin
    logical :: flag
    origin = 1
#if defined(USE_MPI_F08)
    if (index_origin_is_0()) origin = 0
#endif
    requests = MPI_REQUEST_NULL
    do form = 0, 3  ! Waitany Waitsome Testany Testsome
      tag = 30 + 2 * form
      if (rank == 1) then
        call MPI_Irecv(values, 8, MPI_INTEGER, 0, tag, world, requests(1) IERROR)
        call MPI_Irecv(values, 8, MPI_INTEGER, MPI_ANY_SOURCE, tag + 1, world, requests(2) IERROR)
      end if
      do turn = 0, 1  ! the second first
        call go
        if (rank == 0) call send(tag + 1 - turn, 1 + turn)
        if (rank /= 1) cycle
        indices = -1
        select case (form)
        case (0)
          call MPI_Waitany(2, requests, which, MPI_STATUS_IGNORE IERROR)
        case (1)
          call MPI_Waitsome(2, requests, done, indices, statuses IERROR)
          call check(done == 1 .and. SOURCE_OF_NTH(statuses, 1) == 0, __LINE__)
          which = indices(1)
        case (2)
          flag = .false.
          do while (.not. flag)
            call MPI_Testany(2, requests, which, flag, status IERROR)
          end do
          call check(SOURCE_OF(status) == 0 .and. TAG_OF(status) == tag + 1 - turn, __LINE__)
        case (3)
          done = 0
          do while (done == 0)
            call MPI_Testsome(2, requests, done, indices, MPI_STATUSES_IGNORE IERROR)
          end do
          which = indices(1)
        end select
        call check(which == origin + 1 - turn, __LINE__)
        call check(requests(2 - turn) == MPI_REQUEST_NULL, __LINE__)
      end do
    end do
    if (rank /= 1) return  ! nothing left to complete
    call MPI_Waitany(2, requests, which, status IERROR)
    call check(which < 0, __LINE__)  ! MPICH 4.0 gives MPI_UNDEFINED + 1 here
    call MPI_Waitsome(2, requests, done, indices, MPI_STATUSES_IGNORE IERROR)
    call check(done == MPI_UNDEFINED, __LINE__)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE IERROR)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERROR)
    call MPI_Waitall(0, requests, MPI_STATUSES_IGNORE IERROR)
    call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE IERROR)
    call MPI_Testany(2, requests, which, flag, MPI_STATUS_IGNORE IERROR)
    call check(flag .and. which < 0, __LINE__)
  end subroutine

  ! MPICH 4.0 counts requests from 0 in mpi_f08.
  logical function index_origin_is_0()
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    integer :: length
    call MPI_Get_library_version(version, length, ierror)
    index_origin_is_0 = index(version, '4.0.') > 0 .and. index(version, 'MPICH') > 0
  end function

  subroutine tests
    REQUEST_TYPE :: requests(3), many(100)
    logical :: flag
    integer :: i
    flag = .false.
    if (rank == 1) then
      call MPI_Irecv(values, 8, MPI_INTEGER, 0, 40, world, requests(1) IERROR)
      call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE IERROR)
      call check(.not. flag, __LINE__)
    end if
    call go
    if (rank == 0) call send(40, 1)
    if (rank == 1) then
      do while (.not. flag)
        call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE IERROR)
      end do
      call MPI_Irecv(values, 8, MPI_INTEGER, 0, 41, world, requests(1) IERROR)
      call MPI_Irecv(values(5), 4, MPI_INTEGER, 0, 42, world, requests(3) IERROR)
      requests(2) = MPI_REQUEST_NULL
    end if
    call go
    if (rank == 0) then
      call send(42, 2)
      call send(41, 1)
    end if
    if (rank == 1) then
      flag = .false.
      do while (.not. flag)
        call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE IERROR)
      end do
      do i = 1, 100  ! more than the shims keep on the stack
        call MPI_Irecv(values(1), 1, MPI_INTEGER, MPI_ANY_SOURCE, 999 + i, world, many(i) IERROR)
      end do
    end if
    call go
    if (rank == 0) then
      do i = 99, 0, -1
        call MPI_Send(values(1), 1, MPI_INTEGER, 1, 1000 + i, world IERROR)
      end do
    end if
    if (rank == 1) call MPI_Waitall(100, many, MPI_STATUSES_IGNORE IERROR)
  end subroutine

  subroutine persistent
    REQUEST_TYPE :: requests(2)
    integer :: turn, i
    if (rank == 0) then
      call MPI_Send_init(values, 3, MPI_INTEGER, 1, 50, world, requests(1) IERROR)
      call MPI_Ssend_init(values, 2, MPI_INTEGER, 1, 51, world, requests(2) IERROR)
    else if (rank == 1) then
      call MPI_Recv_init(values, 4, MPI_INTEGER, 0, MPI_ANY_TAG, world, requests(1) IERROR)
      call MPI_Recv_init(values(5), 4, MPI_INTEGER, MPI_ANY_SOURCE, 51, world, requests(2) IERROR)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERROR)  ! inactive: nothing completes
    end if
    do turn = 0, 1
      if (rank == 1 .and. turn == 0) call MPI_Startall(2, requests IERROR)
      if (rank == 1 .and. turn == 1) then
        call MPI_Start(requests(1) IERROR)
        call MPI_Start(requests(2) IERROR)
      end if
      call go
      if (rank == 0) call MPI_Startall(2, requests IERROR)
      if (rank < 2) call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERROR)
    end do
    do i = 1, 2
      if (rank < 2) call MPI_Request_free(requests(i) IERROR)
    end do
  end subroutine

  subroutine probes
    MESSAGE_TYPE :: message
    REQUEST_TYPE :: request
    STATUS_TYPE :: status
    logical :: flag
    integer :: i, count
    if (rank == 0) then
      do i = 1, 4
        call send(59 + i, i)
      end do
    else if (rank == 1) then
      call MPI_Probe(MPI_ANY_SOURCE, 60, world, MPI_STATUS_IGNORE IERROR)
      call MPI_Recv(values, 8, MPI_INTEGER, 0, 60, world, MPI_STATUS_IGNORE IERROR)
      flag = .false.
      do while (.not. flag)
        call MPI_Iprobe(0, 61, world, flag, status IERROR)
      end do
      call MPI_Get_count(status, MPI_INTEGER, count IERROR)
      call check(count == 2, __LINE__)
      call MPI_Recv(values, 8, MPI_INTEGER, 0, 61, world, MPI_STATUS_IGNORE IERROR)
      call MPI_Mprobe(MPI_ANY_SOURCE, 62, world, message, MPI_STATUS_IGNORE IERROR)
      call MPI_Mrecv(values, 8, MPI_INTEGER, message, MPI_STATUS_IGNORE IERROR)
      flag = .false.
      do while (.not. flag)
        call MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, flag, message, MPI_STATUS_IGNORE IERROR)
      end do
      call MPI_Imrecv(values, 8, MPI_INTEGER, message, request IERROR)
      call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    end if
  end subroutine

  subroutine cancelled
    REQUEST_TYPE :: request
    STATUS_TYPE :: status
    logical :: flag
    if (rank == 1) then
      call MPI_Irecv(values, 8, MPI_INTEGER, MPI_ANY_SOURCE, 99, world, request IERROR)
      call MPI_Cancel(request IERROR)
      call MPI_Wait(request, status IERROR)
      call MPI_Test_cancelled(status, flag IERROR)
      call check(flag, __LINE__)
      call MPI_Recv_init(values, 8, MPI_INTEGER, 0, 98, world, request IERROR)
      call MPI_Start(request IERROR)
      call MPI_Cancel(request IERROR)
      call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
      call MPI_Request_free(request IERROR)
      call MPI_Irecv(values, 8, MPI_INTEGER, 0, 70, world, request IERROR)
      call MPI_Request_free(request IERROR)
    end if
    call go
    if (rank == 0) call send(70, 1)
    ! A cancelled send: whether it becomes a message is up to MPI. Rank 0 says which.
    if (rank == 1) call MPI_Irecv(values, 8, MPI_INTEGER, 0, 71, world, request IERROR)
    if (rank == 0) then
      call MPI_Issend(values, 2, MPI_INTEGER, 1, 71, world, request IERROR)
      call MPI_Cancel(request IERROR)
      call MPI_Wait(request, status IERROR)
      call MPI_Test_cancelled(status, flag IERROR)
      values(1) = merge(1, 0, flag)
      call send(72, 1)
    end if
    if (rank == 1) then
      block
        integer :: was_cancelled(8)
        call MPI_Recv(was_cancelled, 8, MPI_INTEGER, 0, 72, world, MPI_STATUS_IGNORE IERROR)
        if (was_cancelled(1) /= 0) call MPI_Cancel(request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
      end block
    end if
  end subroutine

  subroutine both_ways
    REQUEST_TYPE :: request
    STATUS_TYPE :: status
    integer :: other, tag, from
    if (rank > 1) return
    other = 1 - rank
    tag = 80 + rank
    from = MPI_ANY_SOURCE
    call MPI_Sendrecv(values, 1 + rank, MPI_INTEGER, other, tag, values(5), FOUR_FROM_ANYBODY, world, status IERROR)
    call check(SOURCE_OF(status) == other .and. TAG_OF(status) == 81 - rank, __LINE__)
    call MPI_Sendrecv_replace(values, 2, MPI_INTEGER, other, 82, other, 82, world, MPI_STATUS_IGNORE IERROR)
    call MPI_Isend(values, 1, MPI_INTEGER, 0, 83, MPI_COMM_SELF, request IERROR)
    call MPI_Recv(values(5), 1, MPI_INTEGER, 0, 83, MPI_COMM_SELF, MPI_STATUS_IGNORE IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
  end subroutine

  subroutine truncated
    REQUEST_TYPE :: requests(2)
    STATUSES(statuses, 2)
    integer :: class, error
    requests = MPI_REQUEST_NULL
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
    if (rank == 1) call MPI_Irecv(values, 1, MPI_INTEGER, 0, 91, world, requests(2) IERROR)
    call go
    if (rank == 0) then
      call send(90, 3)
      call send(91, 3)
      call MPI_Send(values, 1, MPI_INTEGER, 77, 0, world, error)
      call check(error /= MPI_SUCCESS, __LINE__)
    else if (rank == 1) then
      call MPI_Recv(values, 1, MPI_INTEGER, 0, 90, world, MPI_STATUS_IGNORE, error)
      call MPI_Error_class(error, class, ierror)
      call check(class == MPI_ERR_TRUNCATE, __LINE__)
      call MPI_Waitall(2, requests, statuses, error)
      call check(error == MPI_ERR_IN_STATUS, __LINE__)
      call MPI_Recv(values, 1, MPI_INTEGER, 77, 0, world, MPI_STATUS_IGNORE, error)
      call check(error /= MPI_SUCCESS, __LINE__)
      call MPI_Irecv(values, 1, MPI_INTEGER, 77, 0, world, requests(1), error)
      call check(error /= MPI_SUCCESS, __LINE__)
    end if
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL, ierror)
  end subroutine

  subroutine collectives
    integer :: all(24), counts(3), places(3), part
    double precision :: pair(2), sums(2)
    REQUEST_TYPE :: request
    counts = [1, 2, 3]
    places = [0, 1, 3]
    all = 0
    pair = 0
    part = counts(rank + 1)
    call MPI_Barrier(world IERROR)
    call MPI_Bcast(values, 4, MPI_INTEGER, 1, world IERROR)
    call MPI_Reduce(pair, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, 2, world IERROR)
    call MPI_Allreduce(MPI_IN_PLACE, pair, 2, MPI_DOUBLE_PRECISION, MPI_SUM, world IERROR)
    if (rank == 0) then
      call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INTEGER, 0, world IERROR)
      call MPI_Scatterv(all, counts, places, MPI_INTEGER, values, 1, MPI_INTEGER, 0, world IERROR)
    else
      call MPI_Gather(values, 2, MPI_INTEGER, none, 0, MPI_DATATYPE_NULL, 0, world IERROR)
      call MPI_Scatterv(none, counts, places, MPI_DATATYPE_NULL, values, part, MPI_INTEGER, 0, world IERROR)
    end if
    call MPI_Allgatherv(values, part, MPI_INTEGER, all, counts, places, MPI_INTEGER, world IERROR)
    call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, places, MPI_INTEGER, world IERROR)
    call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 2, MPI_INTEGER, world IERROR)
    call MPI_Reduce_scatter(all, values, counts, MPI_INTEGER, MPI_SUM, world IERROR)
    call MPI_Exscan(values, all, 1, MPI_INTEGER, MPI_SUM, world IERROR)
    call MPI_Iallreduce(pair, sums, 2, MPI_DOUBLE_PRECISION, MPI_SUM, world, request IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    call MPI_Ibcast(values, 1, MPI_INTEGER, 2, world, request IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    call MPI_Ibarrier(MPI_COMM_SELF, request IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
  end subroutine

  subroutine communicators
    COMM_TYPE :: split, dup, inter, merged, idup, created, again
    GROUP_TYPE :: group, pair
    REQUEST_TYPE :: request
    integer :: n, colour, leader, root
    colour = merge(1, 0, rank == 1)
    leader = merge(2, 1, rank == 1)
    root = 0
    if (rank == 1) root = MPI_ROOT
    call MPI_Comm_split(MPI_COMM_WORLD, colour, -rank, split IERROR)  ! {2, 0} and {1}
    call MPI_Comm_dup(split, dup IERROR)
    if (rank == 2) call MPI_Send(values, 1, MPI_INTEGER, 1, 100, dup IERROR)
    if (rank == 0) call MPI_Recv(values, 1, MPI_INTEGER, MPI_ANY_SOURCE, 100, dup, MPI_STATUS_IGNORE IERROR)
    call MPI_Intercomm_create(split, 0, MPI_COMM_WORLD, leader, 9, inter IERROR)
    if (rank == 1) call MPI_Send(values, 1, MPI_INTEGER, 1, 101, inter IERROR)  ! remote rank 1 is world rank 0
    if (rank == 0) then
      call MPI_Irecv(values, 1, MPI_INTEGER, 0, MPI_ANY_TAG, inter, request IERROR)
      call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    end if
    call MPI_Bcast(values, 1, MPI_INTEGER, root, inter IERROR)
    call MPI_Intercomm_merge(inter, rank /= 1, merged IERROR)  ! 1 first
    call MPI_Comm_size(merged, n IERROR)
    call check(n == 3, __LINE__)
    call MPI_Allreduce(MPI_IN_PLACE, values, 1, MPI_INTEGER, MPI_SUM, merged IERROR)
    call MPI_Comm_idup(world, idup, request IERROR)
    call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
    call MPI_Comm_group(world, group IERROR)
    call MPI_Group_incl(group, 2, [0, 1], pair IERROR)
    call MPI_Comm_create(world, pair, created IERROR)
    call check((created == MPI_COMM_NULL) .eqv. (rank == 2), __LINE__)
    if (rank < 2) then
      if (rank == 1) call MPI_Irecv(values, 1, MPI_INTEGER, 0, 102, created, request IERROR)
      call go
      again = created  ! freed while a receive is pending
      call MPI_Comm_free(again IERROR)
      if (rank == 0) call send(102, 0)
      if (rank == 1) then
        call MPI_Recv(values, 1, MPI_INTEGER, 0, 102, world, MPI_STATUS_IGNORE IERROR)
        call MPI_Cancel(request IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
      end if
    end if
    call MPI_Group_free(pair IERROR)
    call MPI_Group_free(group IERROR)
    call MPI_Comm_free(idup IERROR)
    call MPI_Comm_free(merged IERROR)
    call MPI_Comm_free(inter IERROR)
    call MPI_Comm_free(dup IERROR)
    call MPI_Comm_free(split IERROR)
  end subroutine

  subroutine types
    DATATYPE_TYPE :: kind
    integer :: n
    if (rank /= 0) return
    do n = 1, 3  ! MPI may give each the same handle
      call MPI_Type_contiguous(n, MPI_DOUBLE_PRECISION, kind IERROR)
      call MPI_Type_commit(kind IERROR)
      call MPI_Send(values, 1, kind, MPI_PROC_NULL, n, world IERROR)
      call MPI_Type_free(kind IERROR)
    end do
  end subroutine
end program
