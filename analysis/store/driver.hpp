// HDF5's virtual file driver over CommitFile. Private to analysis/store.
#pragma once

#include "analysis/store/commit_file.hpp"
#include "analysis/store/hdf5_handle.hpp"

namespace pclscope::store {

// File access properties with which HDF5 reads and writes `file`, which the caller owns and keeps until HDF5 has
// closed its side. Written changes become durable at file.commit(), called after H5Fflush() or H5Fclose().
// No file locks: a reader may open what is being written, or what a killed writer left.
Hdf5Handle access_through(CommitFile& file);

}  // namespace pclscope::store
