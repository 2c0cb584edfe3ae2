// Sections of numbers.c: sends, receives, both at once, probes.
#include "numbers.h"

typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static void wait_for(Side* s, MPI_Request* request) {
  RIGHT(MPI_Wait(request, MPI_STATUS_IGNORE));
  CHECK(*request == MPI_REQUEST_NULL);
}

// Posts the receives of `count` and of 0 numbers before anybody sends: a ready send needs that.
static void expect_two(Side* s, MPI_Request* posted) {
  RIGHT(MPI_Irecv(s->in, room, MPI_INT, s->other, 1, s->comm, &posted[0]));
  RIGHT(MPI_Irecv(s->in + 10, 1, MPI_INT, MPI_ANY_SOURCE, 2, s->comm, &posted[1]));
  TOGETHER();
}
static void got_two(Side* s, MPI_Request* posted) {
  MPI_Status statuses[2];
  int count = -1;
  RIGHT(MPI_Waitall(2, posted, statuses));
  MPI_Get_count(&statuses[0], MPI_INT, &count);
  CHECK(count == 3 && s->in[0] == 100 + s->other && s->in[2] == 102 + s->other);
  MPI_Get_count(&statuses[1], MPI_INT, &count);
  CHECK(count == 0 && statuses[1].MPI_SOURCE == s->other);
}

void sends(Side* s) {
  Send* blocking[] = {MPI_Send, MPI_Bsend, MPI_Rsend, MPI_Ssend};
  Isend* posting[] = {MPI_Isend, MPI_Ibsend, MPI_Irsend, MPI_Issend};
  MPI_Request posted[2], request, more;
  for (int i = 0; i < 3; i++) s->out[i] = 100 + i + s->me;
  for (int kind = 0; kind < 4; kind++) {
    // A synchronous send of both to each other would wait for ever, if the receives were not posted.
    expect_two(s, posted);
    RIGHT(blocking[kind](s->out, 3, MPI_INT, s->other, 1, s->comm));
    RIGHT(blocking[kind](NULL, 0, MPI_INT, s->other, 2, s->comm));
    RIGHT(blocking[kind](s->out, 3, MPI_INT, nobody, 1, s->comm));
    REFUSED(blocking[kind](s->out, 3, MPI_INT, bad_rank, 1, s->comm));
    REFUSED(blocking[kind](s->out, 3, MPI_INT, s->other, bad_tag, s->comm));
    REFUSED(blocking[kind](s->out, -1, MPI_INT, s->other, 1, s->comm));
    REFUSED(blocking[kind](s->out, 1, MPI_DATATYPE_NULL, s->other, 1, s->comm));
    got_two(s, posted);
    expect_two(s, posted);
    RIGHT(posting[kind](s->out, 3, MPI_INT, s->other, 1, s->comm, &request));
    RIGHT(posting[kind](NULL, 0, MPI_INT, s->other, 2, s->comm, &more));
    wait_for(s, &request);
    wait_for(s, &more);
    RIGHT(posting[kind](s->out, 3, MPI_INT, nobody, 1, s->comm, &request));
    wait_for(s, &request);
    REFUSED(posting[kind](s->out, 3, MPI_INT, bad_rank, 1, s->comm, &request));
    REFUSED(posting[kind](s->out, 3, MPI_INT, s->other, bad_tag, s->comm, &request));
    REFUSED(posting[kind](s->out, -1, MPI_INT, s->other, 1, s->comm, &request));
    got_two(s, posted);
  }
}

void receives(Side* s) {
  MPI_Request request, sending[3];
  MPI_Status status;
  for (int i = 0; i < 3; i++) {
    s->out[i] = 7 + i;
    RIGHT(MPI_Isend(&s->out[i], i != 2, MPI_INT, s->other, 3 + i, s->comm, &sending[i]));
  }
  REFUSED(MPI_Recv(s->in, 1, MPI_INT, bad_rank, 3, s->comm, &status));
  REFUSED(MPI_Recv(s->in, 1, MPI_INT, s->other, bad_tag, s->comm, &status));
  REFUSED(MPI_Recv(s->in, -1, MPI_INT, s->other, 3, s->comm, &status));
  RIGHT(MPI_Recv(s->in, 1, MPI_INT, s->other, 3, s->comm, MPI_STATUS_IGNORE));
  CHECK(s->in[0] == 7);
  RIGHT(MPI_Recv(s->in, 1, MPI_INT, MPI_ANY_SOURCE, 4, s->comm, &status));
  CHECK(s->in[0] == 8 && status.MPI_SOURCE == s->other);
  RIGHT(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &status));
  CHECK(status.MPI_TAG == 5);
  RIGHT(MPI_Recv(s->in, 1, MPI_INT, nobody, 3, s->comm, &status));
  CHECK(status.MPI_SOURCE == nobody);
  RIGHT(MPI_Waitall(3, sending, MPI_STATUSES_IGNORE));
  REFUSED(MPI_Irecv(s->in, 1, MPI_INT, bad_rank, 3, s->comm, &request));
  REFUSED(MPI_Irecv(s->in, 1, MPI_INT, s->other, bad_tag, s->comm, &request));
  REFUSED(MPI_Irecv(s->in, -1, MPI_INT, s->other, 3, s->comm, &request));
  RIGHT(MPI_Irecv(s->in, 1, MPI_INT, nobody, 3, s->comm, &request));
  wait_for(s, &request);
  RIGHT(MPI_Irecv(s->in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, s->comm, &request));
  RIGHT(MPI_Isend(s->out, 1, MPI_INT, s->other, 6, s->comm, sending));
  RIGHT(MPI_Wait(&request, &status));
  CHECK(s->in[0] == 7 && status.MPI_TAG == 6);
  wait_for(s, sending);
  TOGETHER();  // a receive with MPI_ANY_TAG must not take the next section's
}

static int sendrecv(Side* s, int count, int to, int tag, int from) {
  maybe_switch(s);
  return MPI_Sendrecv(s->out, count, MPI_INT, to, tag, s->in, 4, MPI_INT, from, tag, s->comm, MPI_STATUS_IGNORE);
}
static int replace(Side* s, int count, int to, int tag, int from) {
  maybe_switch(s);
  return MPI_Sendrecv_replace(s->in, count, MPI_INT, to, tag, from, tag, s->comm, MPI_STATUS_IGNORE);
}

void exchanges(Side* s) {
  int (*const both[])(Side*, int, int, int, int) = {sendrecv, replace};
  for (int kind = 0; kind < 2; kind++) {
    s->out[0] = s->in[0] = 50 + s->me;
    RIGHT(both[kind](s, 2, s->other, 8, s->other));
    CHECK(s->in[0] == 50 + s->other);
    RIGHT(both[kind](s, 0, s->other, 8, MPI_ANY_SOURCE));
    RIGHT(both[kind](s, 2, nobody, 8, nobody));
    RIGHT(both[kind](s, 2, s->me == 0 ? s->other : nobody, 8, s->me == 0 ? nobody : s->other));
    RIGHT(both[kind](s, 2, s->me == 1 ? s->other : nobody, 8, s->me == 1 ? nobody : MPI_ANY_SOURCE));
    REFUSED(both[kind](s, 2, bad_rank, 8, s->other));
    REFUSED(both[kind](s, 2, s->other, 8, bad_rank));
    REFUSED(both[kind](s, 2, s->other, bad_tag, s->other));
    REFUSED(both[kind](s, -1, s->other, 8, s->other));
    RIGHT(both[kind](s, 1, s->other, 8, s->other));
  }
}

void probes(Side* s) {
  MPI_Message message, none;
  MPI_Request request, sending[9];
  MPI_Status status;
  int found = 1, n = 0;
  RIGHT(MPI_Improbe(s->other, 30, s->comm, &found, &message, &status));
  CHECK(!found);
  TOGETHER();
  for (int tag = 30; tag < 36; tag++) RIGHT(MPI_Isend(s->out, 3, MPI_INT, s->other, tag, s->comm, &sending[n++]));
  RIGHT(MPI_Isend(s->out, 0, MPI_INT, s->other, 36, s->comm, &sending[n++]));
  // Refused, and then received all the same.
  REFUSED(MPI_Mprobe(bad_rank, 30, s->comm, &message, &status));
  REFUSED(MPI_Improbe(bad_rank, 30, s->comm, &found, &message, &status));
  REFUSED(MPI_Mprobe(s->other, bad_tag, s->comm, &message, &status));
  REFUSED(MPI_Probe(bad_rank, 30, s->comm, &status));
  REFUSED(MPI_Iprobe(bad_rank, 30, s->comm, &found, &status));
  RIGHT(MPI_Probe(MPI_ANY_SOURCE, 30, s->comm, &status));
  for (found = 0; !found;) RIGHT(MPI_Iprobe(s->other, 30, s->comm, &found, MPI_STATUS_IGNORE));
  RIGHT(MPI_Mprobe(MPI_ANY_SOURCE, 30, s->comm, &message, &status));
  REFUSED(MPI_Mrecv(s->in, -1, MPI_INT, &message, &status));
  CHECK(message != MPI_MESSAGE_NULL);
  REFUSED(MPI_Mrecv(s->in, 3, MPI_DATATYPE_NULL, &message, &status));
  REFUSED(MPI_Imrecv(s->in, -1, MPI_INT, &message, &request));
  RIGHT(MPI_Mrecv(s->in, 3, MPI_INT, &message, &status));
  CHECK(s->in[0] == s->out[0] && message == MPI_MESSAGE_NULL);
  for (found = 0; !found;) RIGHT(MPI_Improbe(s->other, 31, s->comm, &found, &message, MPI_STATUS_IGNORE));
  REFUSED(MPI_Imrecv(s->in, -1, MPI_INT, &message, &request));
  RIGHT(MPI_Imrecv(s->in, 3, MPI_INT, &message, &request));
  wait_for(s, &request);
  RIGHT(MPI_Mprobe(s->other, 32, s->comm, &message, MPI_STATUS_IGNORE));
  TRUNCATED(MPI_Mrecv(s->in, 1, MPI_INT, &message, &status));
  for (found = 0; !found;) RIGHT(MPI_Improbe(MPI_ANY_SOURCE, 33, s->comm, &found, &message, &status));
  RIGHT(MPI_Imrecv(s->in, 1, MPI_INT, &message, &request));
  TRUNCATED(MPI_Wait(&request, &status));
  RIGHT(MPI_Mprobe(MPI_ANY_SOURCE, 36, s->comm, &message, &status));
  RIGHT(MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE));
  // Two messages of one channel in hand at once, taken in the other order.
  RIGHT(MPI_Mprobe(s->other, 35, s->comm, &message, &status));
  RIGHT(MPI_Mprobe(s->other, 34, s->comm, &none, &status));
  RIGHT(MPI_Mrecv(s->in, 3, MPI_INT, &none, &status));
  RIGHT(MPI_Imrecv(s->in, 3, MPI_INT, &message, &request));
  wait_for(s, &request);
  RIGHT(MPI_Waitall(n, sending, MPI_STATUSES_IGNORE));
  // Nobody.
  RIGHT(MPI_Probe(nobody, 30, s->comm, &status));
  RIGHT(MPI_Mprobe(nobody, 30, s->comm, &message, &status));
  CHECK(message == MPI_MESSAGE_NO_PROC);
  RIGHT(MPI_Mrecv(s->in, 1, MPI_INT, &message, &status));
  RIGHT(MPI_Improbe(nobody, 30, s->comm, &found, &message, &status));
  CHECK(found && message == MPI_MESSAGE_NO_PROC);
  RIGHT(MPI_Imrecv(s->in, 1, MPI_INT, &message, &request));
  wait_for(s, &request);
  RIGHT(MPI_Improbe(s->other, 30, s->comm, &found, &message, &status));
  CHECK(!found);
  TOGETHER();
}
