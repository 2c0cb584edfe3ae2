# Fortran programs, built by the MPIs' own compiler drivers, which alone know their modules.
foreach(mpi ${PCLSCOPE_MPIS})
  find_program(PCLSCOPE_MPIF90_${mpi} mpif90.${mpi})
  if(NOT PCLSCOPE_MPIF90_${mpi})
    message(STATUS "pclscope: no mpif90.${mpi}: building without Fortran test programs for ${mpi}")
  endif()
endforeach()

# pclscope_fortran_programs(NAME SOURCE DIRECTORY): NAME_{mpif_h,mpi,mpi_f08}-MPI from one source with the macros of
# programs/fortran_binding.h. Not position-independent: recorded call sites are then addresses in the file.
function(pclscope_fortran_programs name source directory)
  foreach(mpi ${PCLSCOPE_MPIS})
    if(NOT PCLSCOPE_MPIF90_${mpi})
      continue()
    endif()
    foreach(binding mpif_h mpi mpi_f08)
      string(TOUPPER ${binding} macro)
      set(program ${directory}/${name}_${binding}-${mpi})
      set(modules ${CMAKE_CURRENT_BINARY_DIR}/modules/${binding}-${mpi})
      file(MAKE_DIRECTORY ${directory} ${modules})
      add_custom_command(OUTPUT ${program}
        COMMAND ${PCLSCOPE_MPIF90_${mpi}} -cpp -DUSE_${macro} -I${PROJECT_SOURCE_DIR}/tests/programs -g -O0 -no-pie
                -ffree-line-length-none -fallow-argument-mismatch -w -J ${modules} -o ${program}
                ${CMAKE_CURRENT_SOURCE_DIR}/${source}
        DEPENDS ${source} ${PROJECT_SOURCE_DIR}/tests/programs/fortran_binding.h VERBATIM)
      add_custom_target(fortran_${name}_${binding}_${mpi} ALL DEPENDS ${program})
    endforeach()
  endforeach()
endfunction()
