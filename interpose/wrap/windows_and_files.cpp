#include "interpose/wrap/windows_and_files.hpp"

#include "interpose/recorder/handle_table.hpp"

namespace pclscope {

namespace {

struct WindowEntry {
  std::uint64_t key;
  Communicator* comm;  // held
};
struct FileEntry {
  std::uint64_t key;
  FileOrigin origin;
};

std::atomic<bool> lock;  // guards both tables
constinit HandleTable<WindowEntry> windows;
constinit HandleTable<FileEntry> files;

}  // namespace

void remember_window(MPI_Win window, Communicator& c) {
  Communicator* before = nullptr;
  hold(&c);
  {
    Guard guard(lock);
    WindowEntry* entry = windows.insert(key_of(window));
    before = entry != nullptr ? entry->comm : &c;  // without memory it stays unknown
    if (entry != nullptr) entry->comm = &c;
  }
  if (before != nullptr) release(before);
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
  return entry != nullptr ? entry->origin : FileOrigin{0, 0};
}

void forget_file(MPI_File file) {
  Guard guard(lock);
  if (FileEntry* entry = files.find(key_of(file))) files.erase(entry);
}

}  // namespace pclscope
