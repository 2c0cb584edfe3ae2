! What a Fortran program sees of its world: the number of ranks, and the sum of all ranks by a collective.
! On paper, with n ranks: "world_size: ranks n sum n*(n-1)/2".
program world_size
  use MODULE
  implicit none
  integer :: rank, ranks, total, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a,i0,a,i0)', 'world_size: ranks ', ranks, ' sum ', total
  call MPI_Finalize(ierror)
end program
