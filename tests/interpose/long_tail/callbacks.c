// Attribute callbacks see MPI_COMM_WORLD and their own extra state: when copied, deleted, and at the end. 1 or more
// ranks.
#include "check.h"

static int state_a = 1, state_b = 2;

static int copy_attribute(MPI_Comm comm, int keyval, void* extra, void* value, void* made, int* flag) {
  (void)keyval;
  if (rank == 0) printf("copy %d: world %d value %d\n", *(int*)extra, comm == MPI_COMM_WORLD, *(int*)value);
  *(void**)made = value;
  *flag = *(int*)extra == 1;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)keyval;
  int n = -1;
  MPI_Comm_size(comm, &n);
  if (rank == 0)
    printf("delete %d: world %d value %d, %d ranks\n", *(int*)extra, comm == MPI_COMM_WORLD, *(int*)value, n);
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  start_mpi(&argc, &argv);
  int key_a, key_b, key_plain, key_null, value = 5, other = 6, found = 0;
  void* got = NULL;
  MPI_Comm copy;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key_a, &state_a);
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key_b, &state_b);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key_plain, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &key_null, &state_a);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key_a, &value);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key_b, &other);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key_plain, &value);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key_null, &value);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  const int keys[4] = {key_a, key_b, key_plain, key_null};
  for (int i = 0; i < 4; i++) {
    MPI_Comm_get_attr(copy, keys[i], &got, &found);
    if (rank == 0) printf("key %d in the copy: %d\n", i, found);
  }
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key_b);
  MPI_Comm_free(&copy);
  MPI_Comm_free_keyval(&key_a);
  MPI_Finalize();
  return 0;
}
