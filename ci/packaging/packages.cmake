# Packages, made by `cpack -G DEB` and `cpack -G TZST` in the build folder: Debian packages by component (one for each
# MPI, as nobody needs both), and a tree in one file that may be unpacked anywhere. Dependencies on libraries are what
# dpkg-shlibdeps finds; the others stand here.
set(CPACK_PACKAGE_NAME pclscope)
set(CPACK_PACKAGE_VENDOR pclscope)
set(CPACK_PACKAGE_CONTACT "pclscope developers <root@localhost>" CACHE STRING "Maintainer of the packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "where, when and why messages of MPI programs are late")
set(CPACK_PACKAGE_FILE_NAME ${PROJECT_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)

get_cmake_property(CPACK_COMPONENTS_ALL COMPONENTS)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)  # of the same version
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PCLSCOPE_PACKAGE_NAME pclscope)
set(CPACK_COMPONENT_PCLSCOPE_DESCRIPTION "The command line program, and what finds lines of source.
 A job's communication regions, its late messages and their causes, while it runs and from a file.")
list(TRANSFORM PCLSCOPE_MPIS PREPEND pclscope- OUTPUT_VARIABLE of_mpis)
list(JOIN of_mpis " | " any_mpi)
set(CPACK_DEBIAN_PCLSCOPE_PACKAGE_RECOMMENDS "${any_mpi}, libhwloc15")  # hwloc is opened at run time
set(CPACK_DEBIAN_PCLSCOPE_PACKAGE_SUGGESTS "pclscope-gui, openssh-client")

foreach(mpi ${PCLSCOPE_MPIS})
  string(TOUPPER ${mpi} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME pclscope-${mpi})
  set(CPACK_COMPONENT_${upper}_DEPENDS pclscope)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "The library that is preloaded into programs of ${mpi}, and the aggregator.")
endforeach()
set(CPACK_DEBIAN_OPENMPI_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_MPICH_PACKAGE_RECOMMENDS mpich)

set(CPACK_DEBIAN_GUI_PACKAGE_NAME pclscope-gui)
set(CPACK_COMPONENT_GUI_DEPENDS pclscope)
set(CPACK_COMPONENT_GUI_DESCRIPTION "The window of pclscope.")
set(CPACK_DEBIAN_GUI_PACKAGE_RECOMMENDS "fonts-dejavu-core, libgl1-mesa-dri, libegl-mesa0")
set(CPACK_DEBIAN_GUI_PACKAGE_SUGGESTS graphviz)  # places of nodes in large networks

set(CPACK_DEBIAN_DEV_PACKAGE_NAME pclscope-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_ARCHITECTURE all)
set(CPACK_COMPONENT_DEV_DESCRIPTION "The header by which MPI programs name their phases for pclscope.")

# The component of the Python module, where it is installed.
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-pclscope)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, python3-numpy, python3-h5py")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Dumps of pclscope in Python.")
include(CPack)
