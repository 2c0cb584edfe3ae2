! Halo exchange on a grid that is not periodic, MPI_PROC_NULL at its borders. Argument: iterations (10).
! On paper, n ranks in the grid of MPI_Dims_create, per iteration:
! - each pair of neighbours exchanges a face of 32 doubles, tag 0 to 3 = direction (first dimension down, up, second
!   down, up), by Irecv, Isend and Waitall, with statuses in odd iterations and MPI_STATUSES_IGNORE in even ones;
! - in each dimension d everybody sends a face up by Sendrecv, tag 10 + d;
! - the ring of all ranks, by persistent requests, tag 20, 8 bytes.
! Every value that arrives is compared with what its sender must have sent.
#include "fortran_binding.h"
! A call with a mark stays on one line, with a macro where it is too long: gfortran gives a continued one its last line.
#define ONE_FACE face, MPI_DOUBLE_PRECISION
#define FACE_UP up, ONE_FACE, neighbours(2 * d), 10 + d - 1
#define FACE_FROM_BELOW down, ONE_FACE, neighbours(2 * d - 1), MPI_ANY_TAG
program fortran_halo
  MPI_MODULE
  implicit none
  MPI_INCLUDE
  integer, parameter :: face = 32
  integer :: rank, ranks, iterations, i, d, n, ierror, dims(2), coordinates(2), neighbours(4), left, right
  logical :: periods(2)
  COMM_TYPE :: grid
  REQUEST_TYPE :: requests(8), ring(2)
  STATUS_TYPE :: status
  STATUSES(statuses, 8)
  double precision :: faces_in(face, 4), faces_out(face, 4), up(face), down(face), token, got
  character(len=20) :: argument

  iterations = 10
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) iterations
  end if
  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks IERROR)
  dims = 0
  periods = .false.
  call MPI_Dims_create(ranks, 2, dims IERROR)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid IERROR)
  call MPI_Comm_rank(grid, rank IERROR)
  call MPI_Cart_coords(grid, rank, 2, coordinates IERROR)
  do d = 1, 2
    call MPI_Cart_shift(grid, d - 1, 1, neighbours(2 * d - 1), neighbours(2 * d) IERROR)
  end do
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  call MPI_Recv_init(got, 1, MPI_DOUBLE_PRECISION, left, 20, MPI_COMM_WORLD, ring(1) IERROR)
  call MPI_Send_init(token, 1, MPI_DOUBLE_PRECISION, right, 20, MPI_COMM_WORLD, ring(2) IERROR)

  do i = 1, iterations
    do d = 1, 4  ! the opposite direction of d is the other one of its pair
      faces_out(:, d) = value_of(rank, i, d)
      call MPI_Irecv(faces_in(1, d), ONE_FACE, neighbours(d), ieor(d - 1, 1), grid, requests(d) IERROR)  ! site: irecv
    end do
    do d = 1, 4
      call MPI_Isend(faces_out(1, d), ONE_FACE, neighbours(d), d - 1, grid, requests(4 + d) IERROR)  ! site: isend
    end do
    if (mod(i, 2) == 0) then
      call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE IERROR)
    else
      call MPI_Waitall(8, requests, statuses IERROR)
      do d = 1, 4
        if (neighbours(d) /= MPI_PROC_NULL) call check(SOURCE_OF_NTH(statuses, d) == neighbours(d))
      end do
    end if
    do d = 1, 4
      if (neighbours(d) == MPI_PROC_NULL) cycle
      call check(all(faces_in(:, d) == value_of(neighbours(d), i, ieor(d - 1, 1) + 1)))
    end do

    do d = 1, 2
      up = value_of(rank, i, 4 + d)
      down = -1
      call MPI_Sendrecv(FACE_UP, FACE_FROM_BELOW, grid, status IERROR)  ! site: sendrecv
      call MPI_Get_count(status, MPI_DOUBLE_PRECISION, n IERROR)
      if (neighbours(2 * d - 1) == MPI_PROC_NULL) then
        call check(n == 0 .and. all(down == -1))
      else
        call check(n == face .and. TAG_OF(status) == 10 + d - 1)
        call check(all(down == value_of(neighbours(2 * d - 1), i, 4 + d)))
      end if
    end do

    token = value_of(rank, i, 0)
    call MPI_Startall(2, ring IERROR)  ! site: startall
    call MPI_Waitall(2, ring, MPI_STATUSES_IGNORE IERROR)
    call check(got == value_of(left, i, 0))
  end do
  do d = 1, 2
    call MPI_Request_free(ring(d) IERROR)
  end do
  call MPI_Comm_free(grid IERROR)
  call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERROR)
  if (rank == 0) print '(a,2(1x,i0),a,i0,a,f0.1)', 'fortran_halo: grid', dims, ' iterations ', iterations, ' sum ', got
  call MPI_Finalize(ierror)

contains

  double precision function value_of(from, iteration, what)
    integer, intent(in) :: from, iteration, what
    value_of = from + 100 * iteration + 0.125d0 * what
  end function

  subroutine check(holds)
    logical, intent(in) :: holds
    if (holds) return
    write (0, '(a,i0,a,i0)') 'fortran_halo: wrong value on rank ', rank, ' in iteration ', i
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine
end program
