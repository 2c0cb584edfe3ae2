! One Fortran source for all three bindings: compiled with -DUSE_MPIF_H, -DUSE_MPI or -DUSE_MPI_F08. With mpi_f08 calls
! leave the optional ierror out: write `call MPI_Barrier(comm IERROR)`. MPI_MODULE goes before `implicit none`,
! MPI_INCLUDE behind it.
#if defined(USE_MPI_F08)
#define MPI_MODULE use mpi_f08
#define MPI_INCLUDE
#define IERROR
#define COMM_TYPE type(MPI_Comm)
#define GROUP_TYPE type(MPI_Group)
#define REQUEST_TYPE type(MPI_Request)
#define MESSAGE_TYPE type(MPI_Message)
#define DATATYPE_TYPE type(MPI_Datatype)
#define OP_TYPE type(MPI_Op)
#define STATUS_TYPE type(MPI_Status)
#define STATUSES(name, n) type(MPI_Status)::name(n)
#define SOURCE_OF(status) status % MPI_SOURCE
#define TAG_OF(status) status % MPI_TAG
#define SOURCE_OF_NTH(statuses, i) statuses(i) % MPI_SOURCE
#else
#if defined(USE_MPI)
#define MPI_MODULE use mpi
#define MPI_INCLUDE
#else
#define MPI_MODULE
#define MPI_INCLUDE include 'mpif.h'
#endif
#define IERROR , ierror
#define COMM_TYPE integer
#define GROUP_TYPE integer
#define REQUEST_TYPE integer
#define MESSAGE_TYPE integer
#define DATATYPE_TYPE integer
#define OP_TYPE integer
#define STATUS_TYPE integer, dimension(MPI_STATUS_SIZE)
#define STATUSES(name, n) integer ::name(MPI_STATUS_SIZE, n)
#define SOURCE_OF(status) status(MPI_SOURCE)
#define TAG_OF(status) status(MPI_TAG)
#define SOURCE_OF_NTH(statuses, i) statuses(MPI_SOURCE, i)
#endif
