# Tests that run the built programs, most of them in real jobs: one ctest entry per script. Each runs apart from all
# others (tests/apart), so that they can run side by side, and says in its head what it depends on:
# "Depends on: launcher, time." These words are its labels: `launcher` for real MPI jobs, `time` for durations that are
# compared, `quiet` for those that judge only what the machine let run at its own speed (they run one at a time),
# `display`. All have the label `job`, too.
find_program(PCLSCOPE_PYTHON3 python3 REQUIRED)
find_program(PCLSCOPE_SYSTEM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)  # Debian's: it has h5py and mpi4py
if(NOT PCLSCOPE_SYSTEM_PYTHON)
  find_program(PCLSCOPE_SYSTEM_PYTHON python3 REQUIRED)
endif()
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/tests/apart --possible RESULT_VARIABLE together OUTPUT_QUIET ERROR_QUIET)
list(JOIN PCLSCOPE_MPIS " " mpis)
set(PCLSCOPE_JOB_ENVIRONMENT
    "PCLSCOPE_BUILD=${PROJECT_BINARY_DIR};PCLSCOPE_SOURCE=${PROJECT_SOURCE_DIR};PCLSCOPE_MPIS=${mpis}")

# pclscope_job_test(NAME SCRIPT SECONDS COMMAND...). SECONDS: some times what it takes alone on two cores; the long ones
# begin first. The limit only ends what hangs: nothing that is waited for inside a test takes half as long.
function(pclscope_job_test name script seconds)
  file(STRINGS ${script} depends REGEX "Depends on: [a-z, ]+\\." LIMIT_COUNT 1)
  if(NOT depends MATCHES "Depends on: ([a-z, ]+)\\.")
    message(FATAL_ERROR "${script} does not say what it depends on")
  endif()
  string(REPLACE ", " ";" labels "job, ${CMAKE_MATCH_1}")
  add_test(NAME ${name} COMMAND ${PROJECT_SOURCE_DIR}/tests/apart ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" COST ${seconds} SKIP_RETURN_CODE 77 TIMEOUT 1800
                       ENVIRONMENT "${PCLSCOPE_JOB_ENVIRONMENT}")
  if(NOT together EQUAL 0 OR "quiet" IN_LIST labels)
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
