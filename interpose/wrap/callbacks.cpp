#include "interpose/wrap/callbacks.hpp"

#include <pthread.h>
#include <stdlib.h>

#include <utility>

#include "interpose/process/options.hpp"
#include "real_functions.hpp"

namespace pclscope {

namespace {

using ErrorFunction = MPI_Comm_errhandler_function;
using CopyFunction = MPI_Comm_copy_attr_function;
using DeleteFunction = MPI_Comm_delete_attr_function;

// Error handlers may be made before MPI_Init, when nobody knows yet whether there is a world to hide.
bool world_is_hidden() { return options().job && options().tool_ranks > 0; }

MPI_Comm as_application_sees(MPI_Comm comm) { return comm == process.app_world ? process.real_world : comm; }

pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;  // guards the tables below; entries never change nor go

// An error handler knows nothing but the communicator: one function of ours for each of the application's.
constexpr int error_functions_limit = 64;
ErrorFunction* error_functions[error_functions_limit];
int error_function_count = 0;

template <int Number>
void handle_error(MPI_Comm* comm, int* code, ...) {
  MPI_Comm seen = as_application_sees(*comm);
  error_functions[Number](&seen, code, nullptr);
}

template <int... Numbers>
ErrorFunction* handler_number(int number, std::integer_sequence<int, Numbers...>) {
  static ErrorFunction* const all[] = {handle_error<Numbers>...};
  return all[number];
}

// Beyond the limit handlers see the communicator that MPI shows them.
ErrorFunction* handler_for(ErrorFunction* function) {
  if (!world_is_hidden() || function == nullptr) return function;
  pthread_mutex_lock(&making);
  int number = 0;
  while (number < error_function_count && error_functions[number] != function) ++number;
  if (number == error_function_count && number < error_functions_limit) {
    error_functions[number] = function;
    ++error_function_count;
  }
  pthread_mutex_unlock(&making);
  if (number == error_functions_limit) return function;
  return handler_number(number, std::make_integer_sequence<int, error_functions_limit>{});
}

// Attribute callbacks get an extra state of the application's, in place of which they get this.
struct Attribute {
  CopyFunction* copy;
  DeleteFunction* remove;
  void* extra;
};
constexpr int attributes_limit = 256;
Attribute* attributes[attributes_limit];
int attribute_count = 0;

int copy_attribute(MPI_Comm comm, int keyval, void* state, void* value, void* made, int* flag) {
  const auto* attribute = static_cast<const Attribute*>(state);
  return attribute->copy(as_application_sees(comm), keyval, attribute->extra, value, made, flag);
}

int delete_attribute(MPI_Comm comm, int keyval, void* value, void* state) {
  const auto* attribute = static_cast<const Attribute*>(state);
  return attribute->remove(as_application_sees(comm), keyval, value, attribute->extra);
}

// The entry of these three, for ever: attributes live longer than their keys. nullptr beyond the limit.
Attribute* attribute_of(CopyFunction* copy, DeleteFunction* remove, void* extra) {
  pthread_mutex_lock(&making);
  Attribute* found = nullptr;
  for (int i = 0; i < attribute_count && found == nullptr; ++i) {
    Attribute* a = attributes[i];
    if (a->copy == copy && a->remove == remove && a->extra == extra) found = a;
  }
  if (found == nullptr && attribute_count < attributes_limit) {
    found = static_cast<Attribute*>(malloc(sizeof(Attribute)));
    if (found != nullptr) {
      *found = {copy, remove, extra};
      attributes[attribute_count++] = found;
    }
  }
  pthread_mutex_unlock(&making);
  return found;
}

// MPI's own functions (in MPICH null pointers) know what to do with any communicator and take no extra state.
template <class Real>
int create_keyval(Real real_create, CopyFunction* copy, DeleteFunction* remove, int* keyval, void* extra) {
  Attribute* attribute = world_is_hidden() ? attribute_of(copy, remove, extra) : nullptr;
  if (attribute == nullptr) return real_create(copy, remove, keyval, extra);
  CopyFunction* own_copy = copy != nullptr ? copy_attribute : nullptr;
  DeleteFunction* own_delete = remove != nullptr ? delete_attribute : nullptr;
  return real_create(own_copy, own_delete, keyval, attribute);
}

}  // namespace

int hand_Comm_create_errhandler(Caller, ErrorFunction* function, MPI_Errhandler* handler) {
  return real.Comm_create_errhandler(handler_for(function), handler);
}

int hand_Errhandler_create(Caller, ErrorFunction* function, MPI_Errhandler* handler) {
  return real.Errhandler_create(handler_for(function), handler);
}

int hand_Comm_create_keyval(Caller, CopyFunction* copy, DeleteFunction* remove, int* keyval, void* extra) {
  return create_keyval(real.Comm_create_keyval, copy, remove, keyval, extra);
}

int hand_Keyval_create(Caller, CopyFunction* copy, DeleteFunction* remove, int* keyval, void* extra) {
  return create_keyval(real.Keyval_create, copy, remove, keyval, extra);
}

}  // namespace pclscope
