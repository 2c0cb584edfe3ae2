#include "interpose/wrap/windows_and_files.hpp"

#include "interpose/recorder/handle_table.hpp"

namespace pclscope {

namespace {

struct WindowEntry {
  std::uint64_t key;
  Communicator* comm;  // held
  std::int32_t index;
  std::uint64_t collectives, starts, posts;
};
struct FileEntry {
  std::uint64_t key;
  FileOrigin origin;
};

std::atomic<bool> lock;  // guards both tables
constinit HandleTable<WindowEntry> windows;
constinit HandleTable<FileEntry> files;

}  // namespace

std::int32_t remember_window(MPI_Win window, Communicator& c) {
  Communicator* before = nullptr;
  const std::int32_t index = add_to<std::int32_t>(c.windows, 1);
  hold(&c);
  {
    Guard guard(lock);
    WindowEntry* entry = windows.insert(key_of(window));
    before = entry != nullptr ? entry->comm : &c;  // without memory it stays unknown
    if (entry != nullptr) *entry = {entry->key, &c, index, 0, 0, 0};
  }
  if (before != nullptr) release(before);
  return index;
}

WindowOrigin count_sync(MPI_Win window, SyncKind kind) {
  Guard guard(lock);
  WindowEntry* entry = windows.find(key_of(window));
  if (entry == nullptr) return {&no_communicator, -1, 0};
  std::uint64_t number = 0;
  switch (kind) {
    case SyncKind::none: break;
    case SyncKind::collective: number = ++entry->collectives; break;
    case SyncKind::start: number = ++entry->starts; break;
    case SyncKind::post: number = ++entry->posts; break;
    case SyncKind::complete: number = entry->starts; break;
    case SyncKind::wait: number = entry->posts; break;
  }
  return {entry->comm, entry->index, number};
}

Communicator& window_communicator(MPI_Win window) {
  Guard guard(lock);
  const WindowEntry* entry = windows.find(key_of(window));
  return entry != nullptr ? *entry->comm : no_communicator;
}

void forget_window(MPI_Win window) {
  Communicator* c = nullptr;
  {
    Guard guard(lock);
    WindowEntry* entry = windows.find(key_of(window));
    if (entry == nullptr) return;
    c = entry->comm;
    windows.erase(entry);
  }
  release(c);
}

void remember_file(MPI_File file, const FileOrigin& origin) {
  Guard guard(lock);
  if (FileEntry* entry = files.insert(key_of(file))) entry->origin = origin;
}

FileOrigin origin_of(MPI_File file) {
  Guard guard(lock);
  const FileEntry* entry = files.find(key_of(file));
  return entry != nullptr ? entry->origin : FileOrigin{0, 0, -1, 0};
}

void count_collective(MPI_File file) {
  Guard guard(lock);
  if (FileEntry* entry = files.find(key_of(file))) ++entry->origin.number;
}

void forget_file(MPI_File file) {
  Guard guard(lock);
  if (FileEntry* entry = files.find(key_of(file))) files.erase(entry);
}

}  // namespace pclscope
