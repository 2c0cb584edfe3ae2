// Prints everything an application can learn about its world. Under pclscope it must not differ from a bare run.
// On paper: bare and traced output are equal byte for byte. Nothing printed depends on process ids, times or addresses.
// Every rank builds its lines, rank 0 prints them in rank order; 2 * (n - 1) messages at most (lengths and texts).
#include <stdarg.h>
#include <string.h>

#include "answer.h"

static char text[16384];
static int used;

__attribute__((format(printf, 1, 2))) static void say(const char* format, ...) {
  va_list values;
  va_start(values, format);
  used += vsnprintf(text + used, sizeof text - (size_t)used, format, values);
  va_end(values);
}

static void describe(const char* what, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) {
    say("  %s: null\n", what);
    return;
  }
  int size, rank, length, compare;
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_get_name(comm, name, &length);
  MPI_Comm_compare(comm, MPI_COMM_WORLD, &compare);
  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int group_size, first = 0, in_world = -1;
  MPI_Group_size(group, &group_size);
  MPI_Group_translate_ranks(group, 1, &first, world, &in_world);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  const char* const relation = compare == MPI_IDENT       ? "ident"
                               : compare == MPI_CONGRUENT ? "congruent"
                               : compare == MPI_SIMILAR   ? "similar"
                                                          : "unequal";
  say("  %s: rank %d of %d, group %d, first is %d, name '%.*s', to world: %s\n", what, rank, size, group_size, in_world,
      length, name, relation);
}

static void attributes(void) {
  int* value;
  int flag;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  say("  tag_ub %d\n", flag ? *value : -1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag);
  say("  host %d\n", flag && *value != MPI_PROC_NULL);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag);
  say("  wtime_is_global %d\n", flag ? *value : -1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag);
  say("  appnum %d\n", flag ? *value : -1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag);
  say("  lastusedcode %d\n", flag ? *value >= MPI_ERR_LASTCODE : -1);

  static int mine = 4711;  // an attribute of our own survives, also across a duplicate
  int key;
  MPI_Comm dup;
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &mine);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_get_attr(dup, key, &value, &flag);
  say("  own attribute on a duplicate %d\n", flag ? *value : -1);
  MPI_Comm_free(&dup);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  say("  after its deletion %d\n", flag);
  MPI_Comm_free_keyval(&key);
}

static void communicators(int rank, int size) {
  MPI_Comm comm, parent;
  MPI_Group group, part;
  describe("world", MPI_COMM_WORLD);
  describe("self", MPI_COMM_SELF);
  MPI_Comm_get_parent(&parent);
  describe("parent", parent);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  describe("dup", comm);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
  describe("split", comm);
  MPI_Comm_free(&comm);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  describe("shared", comm);
  MPI_Comm_free(&comm);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  describe("create", comm);
  MPI_Comm_free(&comm);
  int last[1][3] = {{size - 1, size - 1, 1}};
  MPI_Group_range_excl(group, 1, last, &part);
  MPI_Comm_create(MPI_COMM_WORLD, part, &comm);
  describe("all but the last", comm);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  MPI_Group_free(&part);
  MPI_Group_free(&group);
  int extent[2] = {0, 0}, periodic[2] = {0, 1}, at[2];
  MPI_Dims_create(size, 2, extent);
  MPI_Cart_create(MPI_COMM_WORLD, 2, extent, periodic, 0, &comm);
  MPI_Cart_coords(comm, rank, 2, at);
  describe("grid", comm);
  say("  at %d,%d of %dx%d\n", at[0], at[1], extent[0], extent[1]);
  MPI_Comm_free(&comm);
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm_set_name(MPI_COMM_WORLD, "renamed");
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  say("  renamed: '%s'\n", name);
  MPI_Comm_set_name(MPI_COMM_WORLD, "MPI_COMM_WORLD");
}

// A window and a file on the world: their groups have as many members as the world.
static void windows_and_files(int size) {
  int* memory;
  int members;
  MPI_Win window;
  MPI_Group group;
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Win_get_group(window, &group);
  MPI_Group_size(group, &members);
  say("  window over %d\n", members);
  REQUIRE(members == size);
  MPI_Group_free(&group);
  MPI_Win_free(&window);
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_File_get_group(file, &group);
  MPI_Group_size(group, &members);
  say("  file over %d\n", members);
  MPI_Group_free(&group);
  MPI_File_close(&file);
}

static void errors(int size) {
  int code, class = -1, data = 0;
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler);
  say("  errors are fatal %d\n", handler == MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  code = MPI_Send(&data, 1, MPI_INT, size, 0, MPI_COMM_WORLD);  // the rank behind the last one does not exist
  MPI_Error_class(code, &class);
  say("  sending to rank n: %s\n", class == MPI_ERR_RANK ? "MPI_ERR_RANK" : "something else");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  int provided, rank, size, flag;
  MPI_Initialized(&flag);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  say("rank %d of %d: initialized before %d, arguments %d, thread level %d\n", rank, size, flag, argc - 1,
      provided >= MPI_THREAD_FUNNELED);
  for (int i = 1; i < argc; i++) say("  argument '%s'\n", argv[i]);
  attributes();
  communicators(rank, size);
  windows_and_files(size);
  errors(size);
  if (rank == 0) {
    fputs(text, stdout);
    for (int r = 1; r < size; r++) {
      MPI_Recv(text, sizeof text, MPI_CHAR, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      fputs(text, stdout);
    }
  } else {
    MPI_Send(text, used + 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  MPI_Finalized(&flag);
  return flag ? 0 : 1;
}
