! A token goes around the ring; every rank adds one. Argument: rounds (20).
! On paper: as ring.c with 64 bytes. n ranks make n * rounds messages, rank r to (r + 1) mod n, tag 7, and the token
! ends at n * rounds. The marks are looked for by test_fortran.py: there the calls are made.
#include "fortran_binding.h"
! A call with a mark stays on one line, with a macro where it is too long: gfortran gives a continued one its last line.
#define FROM_ANYBODY MPI_ANY_SOURCE, MPI_ANY_TAG
program fortran_ring
  MPI_MODULE
  implicit none
  MPI_INCLUDE
  integer :: rank, ranks, rounds, i, left, right, ierror
  integer, parameter :: long = selected_int_kind(15)
  integer(long) :: token(8)
  character(len=20) :: argument
  STATUS_TYPE :: status

  rounds = 20
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) rounds
  end if
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks IERROR)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  token = 0
  do i = 1, rounds
    if (rank == 0) then
      token(1) = token(1) + 1
      call MPI_Send(token, 64, MPI_BYTE, right, 7, MPI_COMM_WORLD IERROR)  ! site: send of rank 0
      call MPI_Recv(token, 64, MPI_BYTE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE IERROR)  ! site: recv of rank 0
    else
      call MPI_Recv(token, 64, MPI_BYTE, FROM_ANYBODY, MPI_COMM_WORLD, status IERROR)  ! site: recv of others
      if (SOURCE_OF(status) /= left .or. TAG_OF(status) /= 7) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
      token(1) = token(1) + 1
      call MPI_Send(token, 64, MPI_BYTE, right, 7, MPI_COMM_WORLD IERROR)  ! site: send of others
    end if
  end do
  if (rank == 0) print '(a,i0,a,i0,a,i0)', 'fortran_ring: ranks ', ranks, ' rounds ', rounds, ' token ', token(1)
  call MPI_Finalize(ierror)
end program
