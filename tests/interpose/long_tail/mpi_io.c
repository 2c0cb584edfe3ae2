// MPI-IO on 2 ranks, in the file named by the first argument. Each rank: open, set_view, write_at_all 4 ints, write 2
// ints, sync, read_at 4 ints, iread_at 4 ints + wait, iwrite_at_all 4 ints + wait, read_all_begin/_end 2 ints,
// seek_shared, write_ordered 1 int, close; then MPI_COMM_SELF on rank 0: open, read 1 int, close, delete.
#include "check.h"

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  CHECK(argc == 2);
  int out[4] = {4 * rank, 4 * rank + 1, 4 * rank + 2, 4 * rank + 3}, in[4] = {-1, -1, -1, -1}, two[2] = {7, 8};
  MPI_File file;
  MPI_Status status;
  MPI_Request request;
  MPI_Offset length = -1;
  CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_at_all(file, 4 * rank, out, 4, MPI_INT, &status);
  MPI_File_seek(file, 8 + 2 * rank, MPI_SEEK_SET);
  MPI_File_write(file, two, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_read_at(file, 4 * (1 - rank), in, 4, MPI_INT, &status);
  CHECK(in[0] == 4 * (1 - rank) && in[3] == 4 * (1 - rank) + 3);
  MPI_File_iread_at(file, 4 * rank, in, 4, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(in[0] == 4 * rank);
  MPI_File_iwrite_at_all(file, 12 + 4 * rank, out, 4, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_seek(file, 8, MPI_SEEK_SET);
  MPI_File_read_all_begin(file, in, 2, MPI_INT);
  MPI_File_read_all_end(file, in, &status);
  CHECK(in[0] == 7 && in[1] == 8);
  MPI_File_seek_shared(file, 20, MPI_SEEK_SET);
  MPI_File_write_ordered(file, out, 1, MPI_INT, &status);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_get_size(file, &length);
  MPI_File_close(&file);
  if (rank == 0) {
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_read(file, in, 1, MPI_INT, &status);
    CHECK(in[0] == 0);
    MPI_File_close(&file);
    MPI_File_delete(argv[1], MPI_INFO_NULL);
    printf("file of %lld bytes: right\n", (long long)length);
  }
  MPI_Finalize();
  return 0;
}
