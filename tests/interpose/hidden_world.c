// Asks MPI everything it can tell about MPI_COMM_WORLD, and prints it, rank by rank: the output of a run with a
// hidden tool rank must be that of a bare run, line for line. Needs 4 ranks.
#define _GNU_SOURCE
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char report[65536];
static int used;
static int rank, size;

static void tell(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  used += vsnprintf(report + used, sizeof report - (size_t)used, format, arguments);
  va_end(arguments);
}

// What a communicator is: size, own rank, and the world ranks of all members (asked from them).
static void describe(const char* name, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) {
    tell("%s null\n", name);
    return;
  }
  int n, r, members[64];
  MPI_Comm_size(comm, &n);
  MPI_Comm_rank(comm, &r);
  MPI_Allgather(&rank, 1, MPI_INT, members, 1, MPI_INT, comm);
  tell("%s size %d rank %d members", name, n, r);
  for (int i = 0; i < n; i++) tell(" %d", members[i]);
  tell("\n");
}

static void groups(void) {
  MPI_Group world, half, other;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int n, r, result;
  MPI_Group_size(world, &n);
  MPI_Group_rank(world, &r);
  tell("group size %d rank %d\n", n, r);
  int first[2] = {0, 1}, where[2];
  MPI_Group_incl(world, 2, first, &half);
  MPI_Group_translate_ranks(half, 2, first, world, where);
  tell("half %d %d\n", where[0], where[1]);
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, half, &made);
  describe("create", made);
  if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  if (rank < 2) {
    MPI_Comm_create_group(MPI_COMM_WORLD, half, 3, &made);
    describe("create_group", made);
    MPI_Comm_group(made, &other);
    MPI_Group_compare(half, other, &result);
    tell("same group %d\n", result == MPI_IDENT);
    MPI_Group_free(&other);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&half);
  MPI_Group_free(&world);
}

static void splits(void) {
  MPI_Comm made, again;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  describe("dup", made);
  int result;
  MPI_Comm_compare(MPI_COMM_WORLD, made, &result);
  tell("compare dup %d\n", result == MPI_CONGRUENT);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
  tell("compare world %d\n", result == MPI_IDENT);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result);
  tell("compare self %d\n", result == MPI_UNEQUAL);
  MPI_Comm_free(&made);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
  describe("split", made);
  MPI_Comm_split(made, rank == 0 ? MPI_UNDEFINED : 0, 0, &again);
  describe("split undefined", again);
  if (again != MPI_COMM_NULL) MPI_Comm_free(&again);
  MPI_Comm_free(&made);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  describe("split_type", made);
  MPI_Comm_free(&made);
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  describe("idup", made);
  MPI_Comm_free(&made);
}

static void topologies(void) {
  MPI_Comm cart, sub, graph;
  int dims[2] = {0, 0}, periods[2] = {1, 0}, coords[2], source, dest, kind;
  MPI_Dims_create(size, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &cart);
  describe("cart", cart);
  MPI_Comm_rank(cart, &kind);
  MPI_Cart_coords(cart, kind, 2, coords);
  MPI_Cart_shift(cart, 0, 1, &source, &dest);
  tell("cart at %d %d from %d to %d\n", coords[0], coords[1], source, dest);
  int keep[2] = {1, 0};
  MPI_Cart_sub(cart, keep, &sub);
  describe("cart_sub", sub);
  MPI_Comm_free(&sub);
  MPI_Comm_free(&cart);
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  tell("topology %d\n", kind == MPI_UNDEFINED);
  int index[4] = {1, 2, 3, 4}, edges[4] = {1, 2, 3, 0};
  MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &graph);
  describe("graph", graph);
  MPI_Comm_free(&graph);
  int right = (rank + 1) % size, left = (rank + size - 1) % size, in, out, weighted;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph);
  MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
  tell("dist_graph %d %d\n", in, out);
  int value = rank, got = -1;
  MPI_Neighbor_alltoall(&value, 1, MPI_INT, &got, 1, MPI_INT, graph);
  tell("neighbor %d\n", got);
  MPI_Comm_free(&graph);
  MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &kind);
  tell("cart_map %d\n", kind);
}

static void between(void) {
  MPI_Comm half, inter, merged, dup;
  MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 5, &inter);
  int remote, flag;
  MPI_Comm_remote_size(inter, &remote);
  MPI_Comm_test_inter(inter, &flag);
  tell("inter %d remote %d\n", flag, remote);
  MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
  tell("world inter %d\n", flag);
  int sent = 100 + rank, got = -1, mine;
  MPI_Comm_rank(inter, &mine);
  MPI_Sendrecv(&sent, 1, MPI_INT, mine, 0, &got, 1, MPI_INT, mine, 0, inter, MPI_STATUS_IGNORE);
  tell("inter got %d\n", got);
  MPI_Comm_dup(inter, &dup);
  MPI_Intercomm_merge(dup, rank < 2 ? 1 : 0, &merged);
  describe("merge", merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static int copied, deleted;
static int copy(MPI_Comm c, int k, void* e, void* in, void* out, int* flag) {
  (void)c, (void)k, (void)e;
  copied++;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete (MPI_Comm c, int k, void* v, void* e) {
  (void)c, (void)k, (void)v, (void)e;
  deleted++;
  return MPI_SUCCESS;
}

static void attributes(void) {
  const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, MPI_LASTUSEDCODE};
  int* value;
  int flag, key;
  for (int i = 0; i < 6; i++) {
    MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag);
    tell("attribute %d: %d %d\n", i, flag, flag ? *value : 0);
  }
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &value, &flag);
  tell("universe %d\n", flag);
  MPI_Comm dup;
  MPI_Comm_create_keyval(copy, delete, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, report);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  tell("own attribute %d %d\n", flag, (char*)value == report);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_get_attr(dup, key, &value, &flag);
  tell("dup has %d\n", flag);
  MPI_Comm_get_attr(dup, MPI_TAG_UB, &value, &flag);
  tell("dup tag_ub %d\n", flag);
  MPI_Comm_free(&dup);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  tell("after delete %d copied %d deleted %d\n", flag, copied, deleted);
  MPI_Comm_free_keyval(&key);
}

// Called by MPI_Finalize: first for MPI_COMM_SELF, when everything still works, then for the world.
static int at_end(MPI_Comm c, int k, void* where, void* e) {
  (void)c, (void)k, (void)e;
  int one = 1, sum = 0;
  if (strcmp(where, "self") == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("at the end of %s: %d\n", (char*)where, sum);
  return MPI_SUCCESS;
}

static void set_ends(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, "world");
  MPI_Comm_set_attr(MPI_COMM_SELF, key, "self");
  MPI_Comm_free_keyval(&key);
}

static void names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  tell("name %s %d\n", name, length);
  MPI_Comm_set_name(MPI_COMM_WORLD, "everyone");
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  tell("name %s %d\n", name, length);
  MPI_Comm parent;
  MPI_Comm_get_parent(&parent);
  tell("parent %d\n", parent == MPI_COMM_NULL);
}

static int handled, handled_class;
static void handler(MPI_Comm* comm, int* code, ...) {
  int n;
  MPI_Comm_size(*comm, &n);
  MPI_Error_class(*code, &handled_class);
  handled += 1;
  tell("handler size %d class rank %d comm %d\n", n, handled_class == MPI_ERR_RANK, handled_class == MPI_ERR_COMM);
}

static void errors(void) {
  MPI_Errhandler old, mine, now;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &old);
  tell("fatal at first %d\n", old == MPI_ERRORS_ARE_FATAL);
  MPI_Comm_create_errhandler(handler, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, mine);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
  tell("mine %d\n", now == mine);
  int one = 1, class;
  int code = MPI_Send(&one, 1, MPI_INT, size, 0, MPI_COMM_WORLD);  // only the tool has that rank
  MPI_Error_class(code, &class);
  tell("send to size: %d handled %d\n", class == MPI_ERR_RANK, handled);
  code = MPI_Comm_size(MPI_COMM_NULL, &one);
  tell("null comm: error %d\n", code != MPI_SUCCESS);
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_RANK);
  tell("handled %d\n", handled > 1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = MPI_Barrier(MPI_COMM_NULL);
  tell("barrier null: error %d\n", code != MPI_SUCCESS);
  MPI_Datatype none = MPI_DATATYPE_NULL;
  code = MPI_Type_commit(&none);
  tell("bad type: error %d\n", code != MPI_SUCCESS);
  MPI_Comm self_made;
  MPI_Comm_dup(MPI_COMM_WORLD, &self_made);
  MPI_Comm_get_errhandler(self_made, &now);
  tell("dup inherits %d\n", now == MPI_ERRORS_RETURN);
  MPI_Comm_free(&self_made);
  MPI_Comm world = MPI_COMM_WORLD;
  code = MPI_Comm_free(&world);
  tell("freeing the world: error %d\n", code != MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, old);
  MPI_Errhandler_free(&mine);
}

static void windows(void) {
  int value = rank, got = -1, n;
  int* base;
  MPI_Win win;
  MPI_Group group;
  MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_group(win, &group);
  MPI_Group_size(group, &n);
  MPI_Group_free(&group);
  MPI_Win_fence(0, win);
  MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  tell("window of %d got %d\n", n, got);
  MPI_Win_free(&win);
  MPI_Win_allocate(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  *base = 10 * rank;
  MPI_Win_fence(0, win);
  MPI_Get(&got, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  tell("allocated got %d\n", got);
  MPI_Win_free(&win);
  MPI_Win_allocate_shared(sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_get_group(win, &group);
  MPI_Group_size(group, &n);
  MPI_Group_free(&group);
  tell("shared %d\n", n);
  MPI_Win_free(&win);
}

static void files(const char* path) {
  MPI_File file;
  MPI_Group group;
  int n, got = -1, where = (rank + 1) % size;
  if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    tell("no file\n");
    return;
  }
  MPI_File_get_group(file, &group);
  MPI_Group_size(group, &n);
  MPI_Group_free(&group);
  MPI_File_write_at_all(file, rank * (int)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  MPI_File_read_at_all(file, where * (int)sizeof rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
  tell("file of %d got %d\n", n, got);
  MPI_File_close(&file);
}

static void collectives(void) {
  int one = 1, sum = 0, all[64], position = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  tell("allreduce %d\n", sum);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
  tell("alltoall %d %d\n", all[0], all[size - 1]);
  int value = rank == size - 1 ? 42 : 0;
  MPI_Bcast(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD);
  MPI_Request request;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  tell("bcast %d\n", value);
  char packed[64];
  MPI_Pack(&value, 1, MPI_INT, packed, sizeof packed, &position, MPI_COMM_WORLD);
  tell("packed %d\n", position > 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 4 || argc < 2) return 3;
  describe("world", MPI_COMM_WORLD);
  describe("self", MPI_COMM_SELF);
  groups();
  splits();
  topologies();
  between();
  attributes();
  names();
  errors();
  windows();
  files(argv[1]);
  collectives();
  static char all[4][sizeof report];
  MPI_Gather(report, sizeof report, MPI_CHAR, all, sizeof report, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; i++) printf("--- rank %d\n%s", i, all[i]);
  set_ends();
  MPI_Finalize();
  return 0;
}
